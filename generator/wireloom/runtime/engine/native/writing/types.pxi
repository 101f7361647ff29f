# Encoding, the mirror of reading: its instructions, the columns that it reads, and the state of its machine (Builder).
#
# A record is written at the end of the output. Then the format's own reading program decodes it, and the result is
# compared with the columns, so that a record which a reader would refuse or misread is never returned. A record needs no
# read-back if the program itself checks all that a reader would (encoder/certainty.py). If a value is irregular, the
# output is cut back to the start of the record and the record is marked: the builders write it, or report the error.

cdef enum:
    MALFORMED = 5  # the columns contradict each other: the caller's error, not a record's

# The instructions; the compiler knows them by these names. writing/checks.pxi states their operands.
cpdef enum WritingOp:
    E_RETURN = 0
    E_ENTER
    E_LOAD
    E_COMPUTE
    E_WHEN
    E_BRANCH
    E_BRANCH_IN
    E_ARITHMETIC
    E_CONSTANT
    E_INTEGER
    E_INTEGERS
    E_PUT
    E_FLOAT
    E_BOOLEAN
    E_BYTES
    E_ENDED
    E_BLOCKS
    E_HOLD
    E_PATCH
    E_MARK
    E_PAD
    E_FILL
    E_CHECKSUMS
    E_PASSES
    E_REPEAT
    E_REPEAT_BLOCKS
    E_SIZE_BEGIN
    E_SIZE_END
    E_MAP
    E_BITS
    E_BITS_MAPPED
    E_PRESENT
    E_ABSENT
    E_ONLY
    E_KINDS
    E_SWITCH
    E_JUMP
    E_FAIL
    E_ACCEPT
    E_CHOOSE
    E_PACK_INTEGER
    E_PACK_PUT
    E_PACK_FLOAT
    E_PACK_BOOLEAN
    E_PACK_BYTES
    E_NULL
    E_PACK_OPEN
    E_PACK_COUNT
    E_PACK_EXT
    E_PACK_REPEAT
    E_PROTO_INTEGER
    E_PROTO_PUT
    E_PROTO_FLOAT
    E_PROTO_BYTES
    E_PACK_MEMBERS
    E_PROTO_REPEAT
    E_PROTO_BEGIN
    E_PROTO_END
    E_PROTO_TABLES
    E_PROTO_ENTRY
    E_PROTO_DUMP
    E_PROTO_SEGMENT
    E_PROTO_ORDER
    E_PACKED
    E_JSON_INTEGER
    E_JSON_PUT
    E_JSON_FLOAT
    E_JSON_BOOLEAN
    E_JSON_TEXT
    E_JSON_BYTES
    E_JSON_RAW
    E_JSON_REPEAT
    E_JSON_OPEN
    E_JSON_CLOSE
    E_NOTHING
    E_UNIQUE
    E_DOUBT
    E_AGREES
    E_AGREES_HELD

# What a load reads from a column into a register.
cdef enum:
    LOAD_INTEGER = 0
    LOAD_BOOLEAN
    LOAD_SYMBOL  # of bytes
    LOAD_SIZE  # of bytes
    LOAD_COUNT  # 1 if there is a value of any kind
    LOAD_PRESENT  # the same for alternatives
    LOAD_CHOICE  # the same of alternatives
    LOAD_REAL  # the bits of a float
    LOAD_SUM  # of the integers in a list, or in a member of its elements
    LOAD_FORMS

cdef struct Source:
    int kind
    int space  # the index of the current row: 0 the record's, then one for each list
    bint missing  # the caller has no such column: all rows are null
    int parent
    int child
    int sibling
    const uint8_t *validity
    const uint8_t *offsets
    const uint8_t *data
    int64_t size  # bytes in `data`
    int64_t first  # the array's own offset
    int64_t length

cdef struct Interned:  # the entries of a table, in the order of their first use
    Stack entries  # of Span
    Stack places  # an open-addressing table of indices + 1, for many entries

cdef struct Seal:  # a digest that is computed together with those of other records; positions in the output
    int64_t first
    int64_t size
    int64_t at

cdef enum:
    CHECKSUM_LIMIT = 8
    HELD_LIMIT = 64  # the most bytes of a number that is compared after it was filled in
    CHECKSUM_WIDTH = 8  # CRC (for an MD5 -1, or -2 if it is computed at once), first and last expression, register of the position, reserved bytes, its form

cdef enum:  # flags of a column of the caller
    DETERMINED = 1  # the format may give it a value that the caller omitted
    ALTERNATIVES = 2  # it has a value if one of its members has
    OPEN = 4  # a VARIANT, which readers show as its wire bytes
    FILLED = 8  # null may read back as the value that is written for it

cdef struct Match:
    int64_t reader  # the reader's column; -1: none
    int64_t form
    int64_t filled  # the filled column, with the wire value for each null; -1: none


cdef struct Opened:  # an open value that was written: its column and row, and its position in the output
    int64_t column
    int64_t row
    int64_t first
    int64_t size

cdef enum:  # how many records are compared at once, and about how many bytes
    COMPARED = 64
    COMPARED_BYTES = 1 << 18

cdef struct Known:  # the number of the text in a row of a column
    int64_t at
    int64_t symbol

cdef struct Builder:
    Machine m  # registers and everything else that expressions read
    const Source *sources
    int64_t *rows  # the current row of each space
    Known *known  # for each column
    Interned *interned
    Buffer output
    int64_t size  # bytes written in all records
    int64_t base  # the start of the record
    Buffer scratch
    const uint32_t *symbols  # an open-addressing table of indices in `symbol_list` + 1
    int64_t symbol_mask
    const int64_t *symbol_list
    int64_t guessing  # the number of current first passes, in which positions are unknown and count as zero
    uint64_t seed
    bint certain  # only rows in doubt are read back, and open values one by one
    bint doubtful  # the current row is in doubt
    int64_t read_first  # the first row that was read back and not yet compared
    int64_t read_count
    int64_t read_base  # the start of its record
    const uint8_t *read_data  # the address of the output when they were read
    Stack opened  # of Opened, in all these records
    Stack replaced  # bytes with open values that were replaced by other bytes: compressed, or base64
    Stack settled  # of Opened, in `replaced`
    int64_t next_settled
    int64_t settled_column  # the column whose value was last found there; -1: none
    int64_t next_opened  # the likely index of the next open value to be looked for
    Seal seals[DEFERRED]
    int64_t seal_count
    int64_t sealed  # the bytes that they cover

# Encoding, the mirror of reading: its instructions, the columns that it reads, and the state of its machine (Builder).
#
# A record is written at the end of the output. Then the format's own reading program decodes it, and the result is
# compared with the columns, so that a record which a reader would refuse or misread never leaves. A record needs no
# read-back if the program itself checks all that a reader would (encoder/certainty.py). If a value is irregular, the
# output is cut back to the start of the record and the record is marked: the builders write it, or report the error.

cdef enum:
    MALFORMED = 5  # the columns contradict themselves: the caller's error, not a record's

# Instructions, by whose names the compiler knows them; what each takes is stated in writing/checks.pxi.
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

# What a load takes from a column to a register.
cdef enum:
    LOAD_INTEGER = 0
    LOAD_BOOLEAN
    LOAD_SYMBOL  # the number of a text of the format, -1 for any other text
    LOAD_SIZE  # of bytes
    LOAD_COUNT  # of a list
    LOAD_PRESENT  # 1, where there is a value of any kind
    LOAD_CHOICE  # the same of alternatives
    LOAD_REAL  # the bits of a float
    LOAD_SUM  # of the integers that a list has, or that its elements have as one of their members
    LOAD_FORMS

cdef struct Source:
    int kind
    int space  # whose row is read: 0 the record's, then one for each list
    bint missing  # the caller has no such column: null in every row
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
    Stack places  # an open-addressing table of places + 1, once there are many

cdef struct Seal:  # a digest that is written together with those of other records; places in the output
    int64_t first
    int64_t size
    int64_t at

cdef enum:
    CHECKSUM_LIMIT = 8
    HELD_LIMIT = 64  # bytes of a number that is compared where it was written later
    CHECKSUM_WIDTH = 8  # CRC (of an MD5 -1, or -2 where it is written at once), first and last expression, register of the place, bytes held, its form

cdef enum:  # of a column of the caller's
    DETERMINED = 1  # the format may give it a value that the caller left out
    ALTERNATIVES = 2  # there if one of its members is
    OPEN = 4  # a VARIANT, which readers show as its bytes on the wire
    FILLED = 8  # null may come back as what is written for it

cdef struct Match:
    int64_t reader  # the reader's column; -1: it has none
    int64_t form
    int64_t filled  # the column beside it with what stands on the wire for each null; -1: none


cdef struct Opened:  # an open value that was written: from which row of which column, and where it stands in the output
    int64_t column
    int64_t row
    int64_t first
    int64_t size

cdef enum:  # records that are compared at once: so many, and about so many bytes
    COMPARED = 64
    COMPARED_BYTES = 1 << 18

cdef struct Known:  # the number of the text that a column has in a row
    int64_t at
    int64_t symbol

cdef struct Builder:
    Machine m  # registers and all that expressions read
    const Source *sources
    int64_t *rows  # the row in force of each space
    Known *known  # of each column
    Interned *interned
    Buffer output
    int64_t size  # bytes written, all records
    int64_t base  # where the record begins
    Buffer scratch
    const uint32_t *symbols  # an open-addressing table of places in `symbol_list` + 1
    int64_t symbol_mask
    const int64_t *symbol_list
    int64_t guessing  # passes at hand that know no places yet: what follows from these is zero
    uint64_t seed
    bint certain  # nothing is read back but open values, each by itself, and rows that are in doubt
    bint doubtful  # this one is
    int64_t read_first  # the first row that was read back and is yet to be compared
    int64_t read_count
    int64_t read_base  # where its record begins
    const uint8_t *read_data  # where the output was when they were read
    Stack opened  # of Opened, all of those records
    Stack replaced  # bytes with such values in them in whose place others were written: packed, or base64
    Stack settled  # of Opened, those in there
    int64_t next_settled
    int64_t settled_column  # the column whose value was found there last; -1: none was
    int64_t next_opened  # where the one to be looked for next mostly stands
    Seal seals[DEFERRED]
    int64_t seal_count
    int64_t sealed  # bytes they are over

# What all parts of the engine share: the instructions, the state of the machine, and the codes that stop a record.
#
# An instruction is WIDTH words: its number, up to six operands, and the index of the next instruction. A register is 64
# bits with a flag for null, and a pointer if it holds bytes. Machine holds all state that changes while a record is
# read; a program never changes. Functions return OK or the code that stops the record.

from libc.stdint cimport INT32_MAX, INT64_MAX, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, qsort, realloc
from libc.string cimport memchr, memcmp, memcpy, memmove, memset, strlen

cdef extern from "digests.h" nogil:
    ctypedef struct wl_fold:
        int ready
    ctypedef struct wl_crc:
        wl_fold fold
    void wl_crc_prepare(wl_crc *crc, int width, uint64_t poly, uint64_t init, uint64_t xorout, int reflected)
    void wl_sum_prepare(wl_crc *sum, int rule, int width, uint64_t modulus, uint64_t init, uint64_t xorout)
    uint64_t wl_crc_value(const wl_crc *crc, const uint8_t *data, int64_t size)
    ctypedef struct wl_digest:
        const uint8_t *data
        int64_t size
        const uint8_t *expected
        int64_t row
        int good
    void wl_md5(const uint8_t *data, int64_t size, uint8_t *digest)
    void wl_md5_check(wl_digest *digests, int64_t count)
    void wl_md5_write(wl_digest *digests, int64_t count)
    int wl_is_utf8(const uint8_t *data, int64_t size)

cdef extern from "bytes.h" nogil:
    enum:
        SLACK "WL_SLACK"
    uint64_t wl_load8(const uint8_t *p)
    uint64_t wl_short_word(const uint8_t *p, int64_t size)
    int64_t wl_lowest(uint64_t word)
    void wl_copy(uint8_t *to, const uint8_t *start, int64_t size, int64_t readable)
    const uint8_t *wl_stop(const uint8_t *p, const uint8_t *end, const int64_t *stops, int64_t count)
    int64_t wl_unescape(uint8_t *to, const uint8_t *p, int64_t size, int escape, const uint8_t *meanings)
    void wl_shift(uint8_t *to, const uint8_t *start, int64_t size)
    bint wl_is_short_ascii(const uint8_t *p, int64_t size, int64_t readable)

cdef extern from "heads.h" nogil:
    const uint8_t[256] wl_family
    bint wl_take_integer(const uint8_t **position, const uint8_t *end, int64_t *value, int *wide)
    bint wl_take_float(const uint8_t **position, const uint8_t *end, double *value)
    bint wl_take_text(const uint8_t **position, const uint8_t *end, int64_t *size)
    bint wl_take_bytes(const uint8_t **position, const uint8_t *end, int64_t *size)
    bint wl_take_array(const uint8_t **position, const uint8_t *end, int64_t *count)

cdef extern from "shapes.h" nogil:
    enum:
        WL_PLANNED
    ctypedef struct wl_shapes:
        pass
    ctypedef struct wl_plan:
        int32_t members
        int32_t absent
        int32_t *slots
        int32_t *empty
    wl_plan *wl_plan_of(wl_shapes *shapes, uint64_t key, bint make)

cdef extern from "json.h" nogil:
    enum:
        WL_NULL, WL_BOOLEAN, WL_INTEGER, WL_FLOAT, WL_TEXT, WL_LIST, WL_OBJECT
        WL_ESCAPED, WL_NEGATIVE, WL_WIDE, WL_BEYOND, WL_NAME, WL_SHAPED
        SMALLEST_POWER "WL_SMALLEST_POWER"
        LARGEST_POWER "WL_LARGEST_POWER"
        WL_OPEN
    ctypedef struct wl_node:
        uint32_t start
        uint32_t end
        uint32_t next
        uint8_t kind
        uint8_t flags
        int16_t power
        uint64_t value
    ctypedef struct wl_json:
        wl_node *nodes
        int64_t count
        const uint8_t *text
        uint64_t seed
        int64_t noted
        wl_shapes shapes
    uint64_t[1302] wl_powers
    uint64_t HIGH_BITS "WL_HIGH_BITS"
    uint8_t[256] wl_sextets
    bint wl_json_without(wl_json *json, int64_t object, const int64_t *names, int64_t left_out)
    int wl_json_read(wl_json *json, const uint8_t *text, int64_t size, int64_t depth)
    void wl_json_learn(wl_json *json, const wl_node *object)
    void wl_json_free(wl_json *json)
    const uint8_t *wl_text_of(const wl_json *json, const wl_node *node, int64_t *size)
    bint wl_same_text(const uint8_t *a, int64_t a_size, const uint8_t *b, int64_t b_size)
    int64_t wl_members(const wl_node *node)
    int64_t wl_height(const wl_node *node)
    bint wl_node_real(const wl_node *node, double *real)
    int64_t wl_from_base64(wl_json *json, const uint8_t *text, int64_t size, int lines, int wanted, const uint8_t **bytes)

cdef extern from "elements.h" nogil:
    ctypedef struct wl_element:
        int64_t position
        int64_t depth
        bint quoted
    int64_t wl_element_end(wl_element *element, const uint8_t *data, int64_t size)

cdef extern from "json_text.h" nogil:
    uint16_t[100] wl_two_digits
    uint16_t[4096] wl_two_sextets
    uint8_t *wl_put_integer(uint8_t *to, int64_t number, bint wide)
    uint8_t *wl_put_real(uint8_t *to, double value)
    uint8_t *wl_put_escaped(uint8_t *to, const uint8_t *p, int64_t size, uint64_t *high)
    uint8_t *wl_put_base64(uint8_t *to, const uint8_t *p, int64_t size)

cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>
    #if defined(__GNUC__) /* what is declared inline is inlined, however large the caller has become */
    #undef CYTHON_INLINE
    #define CYTHON_INLINE inline __attribute__((always_inline))
    #endif
    static inline int wl_add(int64_t a, int64_t b, int64_t *r) { return __builtin_add_overflow(a, b, r); }
    static inline int wl_sub(int64_t a, int64_t b, int64_t *r) { return __builtin_sub_overflow(a, b, r); }
    static inline int wl_mul(int64_t a, int64_t b, int64_t *r) { return __builtin_mul_overflow(a, b, r); }
    static inline uint16_t wl_swap16(uint16_t v) { return __builtin_bswap16(v); }
    static inline uint32_t wl_swap32(uint32_t v) { return __builtin_bswap32(v); }
    static inline uint64_t wl_swap64(uint64_t v) { return __builtin_bswap64(v); }
    static inline uint32_t wl_u32(const uint8_t *p) { uint32_t v; memcpy(&v, p, 4); return v; }
    static inline uint64_t wl_u64(const uint8_t *p) { uint64_t v; memcpy(&v, p, 8); return v; }
    static inline uint16_t wl_u16(const uint8_t *p) { uint16_t v; memcpy(&v, p, 2); return v; }
    static inline double wl_double(uint64_t v) { double d; memcpy(&d, &v, 8); return d; }
    static inline int wl_negative(double v) { return __builtin_signbit(v) != 0; }
    static inline double wl_float(uint32_t v) { float f; memcpy(&f, &v, 4); return f; }
    """
    int wl_add(int64_t a, int64_t b, int64_t *r) nogil
    int wl_sub(int64_t a, int64_t b, int64_t *r) nogil
    int wl_mul(int64_t a, int64_t b, int64_t *r) nogil
    uint16_t wl_swap16(uint16_t v) nogil
    uint32_t wl_swap32(uint32_t v) nogil
    uint64_t wl_swap64(uint64_t v) nogil
    uint16_t wl_u16(const uint8_t *p) nogil
    uint32_t wl_u32(const uint8_t *p) nogil
    uint64_t wl_u64(const uint8_t *p) nogil
    double wl_double(uint64_t v) nogil
    int wl_negative(double v) nogil
    double wl_float(uint32_t v) nogil


# Why a record stops. Codes from FIRST_CODE on are error codes of the format; each format has BAD_SIZE.
cdef enum:
    OK = 0
    IRREGULAR = 1  # the construct parser decides
    TRUNCATED = 2
    FULL = 3  # an output buffer is at Arrow's 2 GiB: the batch ends before this record
    EXHAUSTED = 4  # no memory
    FIRST_CODE = 5
    BAD_SIZE = 5

cdef enum:
    WIDTH = 8  # words of an instruction
    NEXT = 7  # the word with the index of the next instruction
    FRAMES = 64  # lists within lists

# The instructions; the compiler knows them by these names. checks.pxi states their operands.
cpdef enum Op:
    OP_RETURN = 0
    OP_ENTER
    OP_INTEGER
    OP_FLOAT
    OP_BOOLEAN
    OP_BYTES
    OP_CONSTANT
    OP_CONSTANT_BYTES
    OP_RANGE
    OP_MAPPING
    OP_BITS
    OP_WHEN
    OP_CHECK
    OP_COMPUTE
    OP_MAKE
    OP_VERIFY_CRC
    OP_VERIFY_DIGEST
    OP_MARK
    OP_NEED
    OP_FRAME
    OP_UNFRAME
    OP_SEEK
    OP_REACH
    OP_LEAVE
    OP_WINDOW
    OP_HOLE
    OP_REGION
    OP_UNREGION
    OP_END
    OP_BEGIN
    OP_FINISH
    OP_PEEK
    OP_SWITCH
    OP_JUMP
    OP_REPEAT
    OP_ATTEMPT
    OP_FAIL
    OP_PACK_INTEGER
    OP_PACK_FLOAT
    OP_PACK_BOOLEAN
    OP_PACK_NIL
    OP_PACK_TEXT
    OP_PACK_BYTES
    OP_PACK_NIL_JUMP
    OP_PACK_OPEN
    OP_PACK_FAMILY
    OP_PACK_ARITY
    OP_PACK_REPEAT
    OP_PROTO_MESSAGE
    OP_PROTO_ABSENT
    OP_PROTO_INTEGER
    OP_PROTO_FLOAT
    OP_PROTO_BYTES
    OP_PROTO_SUB
    OP_PROTO_UNSUB
    OP_PROTO_REPEAT
    OP_PROTO_ENTRY
    OP_PROTO_TABLE
    OP_PACK_CONSTANT
    OP_PACK_MAPPED
    OP_BRANCH
    OP_BRANCH_IN
    OP_FIXED
    OP_VALUE
    OP_MATCH
    OP_ARITHMETIC
    OP_PACK_COUNT
    OP_TEXT
    OP_REAL
    OP_CHARSET
    OP_SPELLING
    OP_PACK_OBJECT
    OP_PACK_MEMBER
    OP_PACK_CLOSE
    OP_JSON_DOCUMENT
    OP_JSON_OBJECT
    OP_JSON_CLOSE
    OP_JSON_REST
    OP_JSON_MEMBER
    OP_JSON_FIND
    OP_JSON_AT
    OP_JSON_ARRAY
    OP_JSON_ELEMENT
    OP_JSON_NO_MORE
    OP_JSON_NEXT
    OP_JSON_INTEGER
    OP_JSON_FLOAT
    OP_JSON_BOOLEAN
    OP_JSON_NULL
    OP_JSON_TEXT
    OP_JSON_BYTES
    OP_JSON_RAW
    OP_JSON_NULL_JUMP
    OP_JSON_KIND
    OP_JSON_REPEAT
    OP_JSON_COUNT
    OP_JSON_OPEN
    OP_WIDE_DECIMAL
    OP_WIDE_MD5
    OP_WIDE_BRANCH
    OP_DISCARD
    OP_PACK_EXT
    OP_UNIQUE_OPEN
    OP_UNIQUE
    OP_UNIQUE_CLOSE
    OP_PROTO_ENTRIES
    OP_UNPACK
    OP_UNPACKED

cdef enum:  # flags of instructions
    WIDE_TOO = 1  # also integers beyond int64
    NIL_TOO = 2  # also nil
    NARROW = 4  # floats are rounded to 32 bits, whatever the column's type

cdef enum:
    FEW = 16  # up to so many unique members are compared one by one

cdef enum:
    KIND_INT8 = 0
    KIND_INT16
    KIND_INT32
    KIND_INT64
    KIND_DECIMAL
    KIND_FLOAT
    KIND_DOUBLE
    KIND_BOOLEAN
    KIND_BYTES
    KIND_STRUCT
    KIND_LIST
    KIND_COUNT

cdef extern from "memory.h" nogil:
    ctypedef struct Buffer "wl_block":
        uint8_t *data
        int64_t capacity
    bint wl_grow(Buffer *block, int64_t size)
    void wl_trim(Buffer *block, int64_t size)
    void wl_return(uint8_t *data, int64_t capacity)

cdef enum:
    FORESEEN = 1 << 16  # the size of records from which on memory is reserved ahead
    FORESEEN_ROWS = 64  # the same for rows to be written
    FORESEEN_OUTPUT = 1 << 28  # the most output for which memory is reserved ahead
    FAVOUR = 16  # the most memory reserved for a column, in units of the records' size
    SPARE = 16  # the fraction that is reserved in addition, for records that differ

cdef enum:
    WAITING = 128  # the most rows of a run that wait

cdef struct Column

cdef struct Wait:  # runs of numbers at fixed offsets that are written column by column (reading/run_queue.pxi)
    Column *columns
    const int64_t *run
    int64_t first  # the first waiting row
    int64_t count
    int64_t room  # rows that fit into every column
    const uint8_t *positions[WAITING]

cdef struct Column:
    int kind
    int parent  # the struct with the current row; -1: an element column, which is appended to
    int child  # first child
    int sibling  # next child of the same parent
    int64_t length
    int64_t room  # rows that fit into every buffer
    const int64_t *row  # the current row: the length of the parent, or the column's own
    int64_t size  # bytes in `data` of KIND_BYTES
    int64_t limit  # the most bytes before more must be reserved
    bint nullable  # a validity bitmap exists
    Wait *wait  # the run that waits to be written; meanwhile `room` is 0, so that every other write takes the slow path
    int64_t kept  # the actual room
    Buffer data
    Buffer offsets
    Buffer validity

cdef struct Span:
    const uint8_t *data
    int64_t size

cdef struct Name:  # a member that must be unique in its list
    uint64_t head  # its first bytes
    const uint8_t *data
    int64_t size

cdef struct Frame:  # a list whose elements are being read
    const int64_t *instruction
    int64_t n
    int64_t count
    int64_t base  # elements in the column before the list
    int64_t names  # the offset of the unique members on the stack
    Column *elements  # NULL: not requested
    int64_t checkpoint

cdef struct Checkpoint:  # a list for the parser's checkpoints, see checkpoints.py
    int64_t start
    int64_t count
    int64_t is_open
    int64_t position
    int64_t again
    int64_t furthest
    int64_t expanded
    int64_t packed
    int64_t unpacked
    int64_t text  # for lists in a JSON text: the number of the text, else 0; negative if the structure was not checked
    int64_t total  # for these the number of elements, and the end of the last one; 0: unknown
    int64_t last

cdef struct Slot:  # what a scan found of one field (JSON: the index of its node, and whether a step has read it)
    const uint8_t *data
    int64_t size
    uint64_t number
    bint found
    int64_t first  # of a repeated field: its occurrences on the stack
    int64_t last
    int64_t count

cdef struct Occurrence:
    int64_t start
    int64_t size
    uint64_t number
    int64_t next

cdef struct Stack:
    uint8_t *data
    int64_t capacity
    int64_t length

cdef enum:
    HOP = 16  # the cost of following a pointer in bytes, as in cursor.py

cdef enum:
    DEFERRED = 64  # the most digests that wait to be checked together

cdef struct Deferral:  # digests to be checked together (reading/digest_queue.pxi)
    wl_digest waiting[DEFERRED]
    int64_t count
    int64_t size  # the bytes that they cover
    int64_t row  # the current record
    int64_t known  # records before this one are read again, with known results of their digests
    int64_t plain  # records before this one are read without deferring
    int64_t caution  # how many records that was the last time

cdef enum:
    UNPACKED = 8  # the deepest nesting of compressed regions

cdef struct Around:  # the state to restore after a compressed region
    const uint8_t *base
    const uint8_t *end
    const uint8_t *stop
    const uint8_t *readable
    const uint8_t *furthest
    int64_t again

cdef struct Chunk:
    Chunk *before
    int64_t size
    int64_t used  # how many of the bytes after this are used

cdef struct Machine:
    const int64_t *code
    const int64_t *expressions
    const int64_t *tables
    const uint8_t *texts
    int64_t text_size
    const wl_crc *crcs
    const uint8_t *base
    const uint8_t *position
    const uint8_t *end
    const uint8_t *stop  # the end of the record, across all regions
    const uint8_t *readable  # the end of the readable memory, which may be after the record
    int64_t largest  # the largest record of an array
    int64_t awaited  # bytes of a stream that must be available before a record is read in the other byte order
    const uint8_t *given_end  # the end of the memory with all records; NULL: each record has memory of its own
    int64_t next  # the index of the next instruction
    Frame frames[FRAMES]
    int64_t frame_count
    int overrun
    bint cut_off  # the data ended within a value
    int64_t *registers
    uint8_t *absent
    const uint8_t **pointers
    Column *columns
    Slot *slots
    int64_t value
    bint wide  # `value` is an unsigned number beyond int64
    bint none
    int64_t depth
    int64_t limit
    int64_t again  # how many bytes of the record were read again, and
    const uint8_t *furthest  # the end of what was read
    int64_t retried  # the number of enclosing regions that are, or may be, read again
    int64_t expanded  # bytes that table entries and computed texts have made of the record so far
    int64_t packed  # bytes of the record that were decompressed
    int64_t unpacked  # their decompressed size, including nested regions
    int unpacking  # the number of compressed regions being read
    bint notes  # whether checkpoints are noted
    bint scattered  # checkpoints are incomplete, because fields were read out of order
    Stack noted  # the checkpoints
    int64_t register_count
    Chunk *chunks  # texts.pxi: texts that were computed or unescaped
    int64_t scanned  # bytes scanned to find parts of texts
    Around around[UNPACKED]  # reading/compressed_regions.pxi
    int opened  # compressed regions being read
    void *kept  # a Python list of the decompressed regions of the record; NULL: none
    int64_t piece_first  # for the next message to be scanned: its pieces on the stack, and
    int64_t piece_count  # their number; 0: the message is in one piece
    Stack spans  # unique names, entries of repeated fields, keys
    Stack extents  # containers of an open value: end offset and the number of containers in it
    Stack output  # VARIANT bytes
    Stack keys  # the dictionary of the VARIANT
    Stack work
    Stack covered  # a copy of the data under a checksum that covers itself
    int64_t hole  # the position of that checksum plus 1; 0: it does not cover itself
    int64_t hole_width  # its size
    Deferral deferral
    Wait wait
    wl_json json  # the nodes of the text
    int64_t node  # the current JSON value

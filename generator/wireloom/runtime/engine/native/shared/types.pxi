# What all parts of the engine share: the instructions, the state of the machine, and the codes that stop a record.
#
# An instruction is WIDTH words: its number, up to six operands, and which instruction comes next. A register is 64 bits
# with a flag for null, and a pointer if it holds bytes. Machine holds all that changes while a record is read; a
# program never changes. Functions return OK or the code that stops the record.

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


# Why a record stops. Codes from FIRST_CODE on are error codes of the format, of which every one has BAD_SIZE.
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
    NEXT = 7  # the word that says which instruction comes next
    FRAMES = 64  # lists within lists

# Instructions, by whose names the compiler knows them; what each takes is stated in checks.pxi.
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
    WIDE_TOO = 1  # integers beyond int64, too
    NIL_TOO = 2  # nil, too
    NARROW = 4  # floats are rounded to 32 bits, whatever the column holds

cdef enum:
    FEW = 16  # so many unique members are compared one by one

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
    FORESEEN = 1 << 16  # bytes of records from which on room for what they come to is foreseen
    FORESEEN_ROWS = 64  # and rows to be written from which on
    FORESEEN_OUTPUT = 1 << 28  # bytes of output that are foreseen at most
    FAVOUR = 16  # times the records' bytes that one column may get so
    SPARE = 16  # and a part of what is foreseen, for records that differ

cdef enum:
    WAITING = 128  # rows of a run that wait

cdef struct Column

cdef struct Wait:  # runs of numbers at fixed distances, to be written column by column (reading/run_queue.pxi)
    Column *columns
    const int64_t *run
    int64_t first  # the row of the first
    int64_t count
    int64_t room  # rows that every column has room for
    const uint8_t *positions[WAITING]

cdef struct Column:
    int kind
    int parent  # the struct whose row is being written; -1: elements of a list, appended
    int child  # first child
    int sibling  # next child of the same parent
    int64_t length
    int64_t room  # rows that every buffer has room for
    const int64_t *row  # the row that is being written: the length of the parent, or the column's own
    int64_t size  # bytes in `data` of KIND_BYTES
    int64_t limit  # how many there may be before more room is needed
    bint nullable  # a validity bitmap exists
    Wait *wait  # what waits to be written; `room` is 0 meanwhile, so that nobody writes beside it
    int64_t kept  # the room there is
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
    int64_t base  # elements in the column before it
    int64_t names  # where the unique members stand on the stack
    Column *elements  # NULL: not asked for
    int64_t checkpoint

cdef struct Checkpoint:  # a list that is being read, or was: what the parser is told, see checkpoints.py
    int64_t start
    int64_t count
    int64_t is_open
    int64_t position
    int64_t again
    int64_t furthest
    int64_t expanded
    int64_t packed
    int64_t unpacked
    int64_t text  # of what stands in a text of JSON: which one, else 0; negative where the structure was not looked at
    int64_t total  # and there all elements, and where the last one ends; 0: not known
    int64_t last

cdef struct Slot:  # what a scan of a message found of one field (JSON: which node it is, and whether it was looked at)
    const uint8_t *data
    int64_t size
    uint64_t number
    bint found
    int64_t first  # of a repeated field: where its occurrences stand on the stack
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
    HOP = 16  # bytes that following a pointer counts for, as in cursor.py

cdef enum:
    DEFERRED = 64  # digests that may wait for each other

cdef struct Deferral:  # digests to be checked together (reading/digest_queue.pxi)
    wl_digest waiting[DEFERRED]
    int64_t count
    int64_t size  # bytes they are over
    int64_t row  # the record that is being read
    int64_t known  # records before this one are read again, with what is known of their digests
    int64_t plain  # records before this one are read without deferring
    int64_t caution  # so many records the last time

cdef enum:
    UNPACKED = 8  # such regions within one another

cdef struct Around:  # where reading goes on after a region that is unpacked
    const uint8_t *base
    const uint8_t *end
    const uint8_t *stop
    const uint8_t *readable
    const uint8_t *furthest
    int64_t again

cdef struct Chunk:
    Chunk *before
    int64_t size
    int64_t used  # of the bytes after this

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
    const uint8_t *stop  # the end of the record, whatever region is in force
    const uint8_t *readable  # the end of the memory that may be read, though it is not the record's
    int64_t largest  # bytes that a record of an array may have
    int64_t awaited  # bytes of a stream that have to be there before a record is one of the other byte order
    const uint8_t *given_end  # the end of the memory that all records lie in; NULL: each lies in memory of its own
    int64_t next  # the instruction after the one that is executed
    Frame frames[FRAMES]
    int64_t frame_count
    int overrun
    bint cut_off  # a value ended nowhere in what there is
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
    int64_t again  # bytes of the record that were gone over again, and
    const uint8_t *furthest  # where doing so ended
    int64_t retried  # stretches around that are read again, or that may be
    int64_t expanded  # bytes that the entries of tables, and texts that are made, made of the record so far
    int64_t packed  # bytes of the record that were unpacked
    int64_t unpacked  # and what they became, with all that was unpacked in it
    int unpacking  # regions that are being read of what they unpack to
    bint notes  # whether lists are noted
    bint scattered  # fields stood elsewhere: what is noted does not tell all
    Stack noted  # the lists
    int64_t register_count
    Chunk *chunks  # texts.pxi: texts that are not in the record as they stand
    int64_t scanned  # bytes that were gone over to find parts of texts
    Around around[UNPACKED]  # reading/compressed_regions.pxi
    int opened  # regions that are being read of what they unpack to
    void *kept  # a list of what regions of the record unpacked to; NULL: none did
    int64_t piece_first  # of the message to be scanned next: where its pieces stand on the stack, and
    int64_t piece_count  # how many there are; 0: it stands in one piece
    Stack spans  # unique names, entries of repeated fields, keys
    Stack extents  # containers of an open value: end offset and the number of containers in it
    Stack output  # VARIANT bytes being made
    Stack keys  # the dictionary of the VARIANT being made
    Stack work
    Stack covered  # what a checksum covers that stands there itself
    int64_t hole  # one more than the place of that checksum; 0: it covers nothing of itself
    int64_t hole_width  # its bytes
    Deferral deferral
    Wait wait
    wl_json json  # the nodes of the text
    int64_t node  # the JSON value at hand

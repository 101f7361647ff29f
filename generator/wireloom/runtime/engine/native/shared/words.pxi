# The numbers that programs use for operations of expressions, forms of numbers and digests. Compilers, machine and
# validators know them by these names, so a number is defined once.

cdef enum:
    X_END = 0
    X_CONST
    X_NULL
    X_LOAD
    X_HERE
    X_TEXT
    X_ADD
    X_SUBTRACT
    X_MULTIPLY
    X_AND
    X_OR
    X_XOR
    X_DIVIDE
    X_REMAINDER
    X_LEFT
    X_RIGHT
    X_EQUAL
    X_UNEQUAL
    X_LESS
    X_LESS_EQUAL
    X_GREATER
    X_GREATER_EQUAL
    X_NEGATE
    X_INVERT
    X_NOT
    X_PRESENT
    X_ZERO_IF_NULL
    X_IN
    X_JUMP
    X_JUMP_IF_FALSE_KEEP
    X_JUMP_IF_TRUE_KEEP
    X_JUMP_IF_FALSE
    X_RANGE_NAME
    X_PART
    X_TOGETHER
    X_KNOWN
    X_SIZE
    X_NUMBER
    X_MINIMUM  # from here on operations of two values, as from X_ADD to X_GREATER_EQUAL
    X_MAXIMUM
    X_BOTH
    X_EITHER
    X_SAME
    X_COUNT

cdef enum:
    STACK = 32
    X_WITH_CONST = 64  # added to an operation of two values: the right one is its argument
    X_WITH_LOAD = 128  # ... or the register that its argument names
    X_WITH_HERE = 192  # ... or the distance of the position from the register that its argument names

cdef enum:
    MARKERS = 7  # bytes that say how many bytes of a number follow, at most


cdef inline int64_t digits_width(int64_t form, int64_t digits, bint signed) noexcept nogil:
    """The bytes of digits: 6 two a byte, 7 the same and the sign, others a byte each, and up to 14 the sign."""
    return (digits + 1) // 2 if form == 6 else (digits // 2 + 1 if form == 7 else digits + (signed and form < 15))


cdef enum:
    DIGEST_MD5 = 1
    DIGEST_COUNT = 4
    DIGEST_LONGEST = 64
    DIGEST_TOGETHER = DIGEST_MD5 | 16 << 16  # the one word of which several records may be checked or written together

cdef int64_t[DIGEST_COUNT + 1] digest_sizes = [0, 16, 20, 32, 64]


cdef inline bint in_digits(int64_t word) noexcept nogil:
    return word >> 24 & 1


cdef inline int64_t digest_held(int64_t word) noexcept nogil:
    """The bytes that a digest takes in a record."""
    return (word >> 16 & 0xFF) << in_digits(word)


cdef bint is_digest_word(int64_t word) noexcept nogil:
    """Whether a program may have the word."""
    cdef int64_t names = word & 0xFFFF, last = 0
    if word < 0 or word >= 1 << 26 or not names:
        return False
    while names:
        last = names & 15
        if last < 1 or last > DIGEST_COUNT:
            return False
        names >>= 4
    return 0 < (word >> 16 & 0xFF) <= digest_sizes[last]

# The numbers that programs use for operations of expressions and forms of numbers. Compilers, machine and
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
    X_KNOWN
    X_NUMBER
    X_MINIMUM  # from here on operations on two values, as from X_ADD to X_GREATER_EQUAL
    X_MAXIMUM
    X_BOTH
    X_EITHER
    X_COUNT

cdef enum:
    STACK = 32
    X_WITH_CONST = 64  # added to an operation on two values: the right one is its argument
    X_WITH_LOAD = 128  # ... or the register that its argument names
    X_WITH_HERE = 192  # ... or the offset of the position from the register in its argument

cdef enum:
    MARKERS = 7  # the most marker bytes of a number form


cdef inline int64_t digits_width(int64_t form, int64_t digits, bint signed) noexcept nogil:
    """The width of digits: form 6 has two a byte, 7 also a sign, others one a byte, and up to 14 a sign."""
    return (digits + 1) // 2 if form == 6 else (digits // 2 + 1 if form == 7 else digits + (signed and form < 15))


cdef enum:
    DIGEST = 16  # bytes of an MD5

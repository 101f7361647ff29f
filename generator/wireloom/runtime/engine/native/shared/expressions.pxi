# Expressions: a stack machine over registers, used for reading and for writing.
#
# Arithmetic and ordering with null give null; `and` and `or` are three-valued; equality treats null as a value. A
# result beyond 64 bits, a shift by a negative or too large count, and a division by zero make the record irregular: the
# construct path computes those. The validator has checked that the stack never overflows or runs empty.


cdef inline bint is_among(const int64_t *table, int64_t value) noexcept nogil:
    """Whether a counted list of numbers has the value."""
    cdef int64_t n
    for n in range(1, table[0] + 1):
        if table[n] == value:
            return True
    return False


cdef inline bint in_ranges(const int64_t *entry, int64_t value) noexcept nogil:
    return (entry[0] == 0 or value >= entry[1]) and (entry[2] == 0 or value <= entry[3])


cdef inline bint is_between(const int64_t *ends, int64_t value, bint wide) noexcept nogil:
    """Whether a number is in an inclusive range. ends: form of the minimum (0 none, 1 of 63 bits, 2 beyond), minimum, the same for the maximum"""
    if ends[0] and (wide < ends[0] - 1 or (wide == ends[0] - 1 and value < ends[1])):
        return False
    return ends[2] == 0 or wide < ends[2] - 1 or (wide == ends[2] - 1 and value <= ends[3])


cdef inline int divided(int op, int64_t left, int64_t right, int64_t *result) noexcept nogil:
    """A quotient rounded down, or the remainder; IRREGULAR for division by zero or a result beyond 64 bits."""
    cdef int64_t remainder
    cdef bint down
    if right == 0 or (right == -1 and left < -INT64_MAX):
        return IRREGULAR
    remainder = left % right
    down = remainder != 0 and (remainder < 0) != (right < 0)
    result[0] = left // right - down if op == X_DIVIDE else remainder + (right if down else 0)
    return OK


cdef inline int combine(int op, int64_t left, int64_t right, int64_t *result) noexcept nogil:
    """Compute with two numbers; OK, or IRREGULAR if there is no result of 64 bits."""
    if op == X_ADD:
        return wl_add(left, right, result)
    elif op == X_SUBTRACT:
        return wl_sub(left, right, result)
    elif op == X_AND:
        result[0] = left & right
    elif op == X_MULTIPLY:
        return wl_mul(left, right, result)
    elif op == X_OR:
        result[0] = left | right
    elif op == X_XOR:
        result[0] = left ^ right
    elif op == X_DIVIDE or op == X_REMAINDER:
        return divided(op, left, right, result)
    elif op == X_LEFT:
        return IRREGULAR if right < 0 or right > 62 else wl_mul(left, <int64_t>1 << right, result)
    else:
        if right < 0 or right > 127:
            return IRREGULAR
        result[0] = left >> (63 if right > 63 else right)
    return OK


cdef inline bint right_of(const Machine *m, int op, int64_t *right) noexcept nogil:
    """Load the right value of an operation that includes it; returns whether it is null."""
    cdef int64_t place = right[0]
    if op < X_WITH_LOAD:
        return False
    right[0] = m.registers[place] if op < X_WITH_HERE else (m.position - m.base) - m.registers[place]
    return m.absent[place]


cdef inline bint name_of(const int64_t *table, int64_t *value) noexcept nogil:
    """Replace a number by the name of the first range that contains it; returns whether there is none."""
    cdef int64_t n
    for n in range(table[0]):
        if in_ranges(table + 1 + 5 * n, value[0]):
            value[0] = table[5 + 5 * n]
            return False
    return True


cdef inline int64_t unsigned_of(const uint8_t *data, int64_t size, bint big) noexcept nogil:
    """The unsigned number in up to eight bytes; negative beyond 63 bits."""
    cdef uint64_t number = 0
    cdef int64_t n
    for n in range(size):
        number = number << 8 | data[n if big else size - 1 - n]
    return <int64_t>number


cdef int evaluate(Machine *m, int64_t start, int64_t *result, bint *none) noexcept nogil:
    """The value of the expression at `start`; OK or IRREGULAR.

    The top of the stack is `value` and `null`; `values` and `nulls` hold what is below it.
    """
    cdef int64_t values[STACK]
    cdef bint nulls[STACK]
    cdef int below = 0, op
    cdef bint null = False, other_null
    cdef int64_t value = 0, right, size
    cdef const uint8_t *data = NULL
    cdef const int64_t *at = m.expressions + start
    while True:
        op = <int>at[0]
        right = at[1]
        at += 2
        if op >= X_WITH_CONST:
            other_null = right_of(m, op, &right)
            op &= X_WITH_CONST - 1
        elif op < X_ADD:
            if op == X_END:
                result[0] = value
                none[0] = null
                return OK
            values[below] = value
            nulls[below] = null
            below += 1
            if below >= STACK:
                return IRREGULAR
            null = op == X_NULL
            if op == X_LOAD:
                value = m.registers[right]
                null = m.absent[right]
            elif op == X_HERE:
                value = (m.position - m.base) - m.registers[right]
            elif op == X_TEXT:
                value = -2 - right
                null = m.absent[right]
            else:
                value = right
            continue
        elif op <= X_GREATER_EQUAL or op >= X_MINIMUM:
            below -= 1
            right = value
            other_null = null
            value = values[below]
            null = nulls[below]
        else:
            other_null = False
        if op == X_EQUAL or op == X_UNEQUAL:
            value = (null == other_null and (null or value == right)) == (op == X_EQUAL)
            null = False
        elif op == X_BOTH:
            null = (null or value) and (other_null or right) and (null or other_null)
            value = not null and value != 0 and right != 0
        elif op == X_EITHER:
            null = (null or not value) and (other_null or not right) and (null or other_null)
            value = not null and (value != 0 or right != 0)
        elif op <= X_INVERT or op == X_NOT or op == X_MINIMUM or op == X_MAXIMUM:
            null = null or other_null
            if null:
                value = 0
            elif op <= X_RIGHT:
                if combine(op, value, right, &value):
                    return IRREGULAR
            elif op == X_LESS:
                value = value < right
            elif op == X_LESS_EQUAL:
                value = value <= right
            elif op == X_GREATER:
                value = value > right
            elif op == X_GREATER_EQUAL:
                value = value >= right
            elif op == X_MINIMUM:
                value = value if value < right else right
            elif op == X_MAXIMUM:
                value = value if value > right else right
            elif op == X_NEGATE:
                if wl_sub(0, value, &value):
                    return IRREGULAR
            elif op == X_INVERT:
                value = ~value
            else:
                value = value == 0
        elif op == X_PRESENT:
            value = not null
            null = False
        elif op == X_ZERO_IF_NULL:
            if null:
                value = 0
            null = False
        elif op == X_IN:
            value = not null and is_among(m.tables + right, value)
            null = False
        elif op == X_RANGE_NAME:
            null = null or name_of(m.tables + right, &value)
        elif op == X_KNOWN:
            if not null:
                value = known_text(m, m.tables + right, value)
        elif op == X_NUMBER:  # bytes; the argument is 1 for big-endian
            if not null:
                if text_of(m, value, &data, &size):
                    return IRREGULAR
                null = size > 8
                value = 0 if null else unsigned_of(data, size, right)
                if value < 0:
                    return IRREGULAR
        elif op == X_PART:  # a text, an offset, and the end
            below -= 2
            null = null or nulls[below] or nulls[below + 1]
            if null:
                value = 0
            elif part_of(m, m.tables + right, values[below], values[below + 1], value, &value):
                return IRREGULAR
        elif op == X_JUMP:
            at = m.expressions + right
        elif op == X_JUMP_IF_FALSE_KEEP or op == X_JUMP_IF_TRUE_KEEP:
            if not null and (value != 0) == (op == X_JUMP_IF_TRUE_KEEP):
                at = m.expressions + right
        elif op == X_JUMP_IF_FALSE:
            if null or value == 0:
                at = m.expressions + right
            below -= 1
            value = values[below]
            null = nulls[below]
        else:
            return IRREGULAR


cdef int chain_of(Machine *m, int64_t start, int64_t *result, bint *none) noexcept nogil:
    """`evaluate` without its stack, for an expression in which each operation includes its right value."""
    cdef const int64_t *words = m.expressions + start
    cdef int64_t value = 0, right
    cdef bint null = False, other_null, begins = True  # no value is below the next one
    cdef int op
    while True:
        op = <int>words[0]
        right = words[1]
        words += 2
        if begins:
            null = op == X_NULL
            value = right
            if op == X_LOAD:
                null = m.absent[right]
                value = m.registers[right]
            elif op != X_CONST and op != X_NULL:
                return evaluate(m, start, result, none)
            begins = False
        elif op == X_END:
            result[0] = value
            none[0] = null
            return OK
        elif op >= X_WITH_CONST:
            other_null = right_of(m, op, &right)
            op &= X_WITH_CONST - 1
            if op == X_EQUAL or op == X_UNEQUAL:
                value = (null == other_null and (null or value == right)) == (op == X_EQUAL)
                null = False
            elif op > X_RIGHT:
                return evaluate(m, start, result, none)
            elif null or other_null:
                null = True
            elif combine(op, value, right, &value):
                return IRREGULAR
        elif op == X_JUMP_IF_FALSE:
            begins = True
            if null or value == 0:
                words = m.expressions + right
        elif op == X_JUMP:
            words = m.expressions + right
        elif op == X_PRESENT:
            value = not null
            null = False
        elif op == X_ZERO_IF_NULL:
            if null:
                value = 0
            null = False
        elif op == X_NOT:
            value = value == 0
        elif op == X_RANGE_NAME:
            null = null or name_of(m.tables + right, &value)
        else:
            return evaluate(m, start, result, none)


cdef inline int number_of(Machine *m, int64_t start, int64_t *result, bint *none) noexcept nogil:
    """The value of an expression; fast for a register or a constant."""
    cdef const int64_t *words = m.expressions + start
    if words[2] == X_END and words[0] == X_LOAD:
        result[0] = m.registers[words[1]]
        none[0] = m.absent[words[1]]
        return OK
    if words[2] == X_END and words[0] == X_CONST:
        result[0] = words[1]
        none[0] = False
        return OK
    return chain_of(m, start, result, none)


cdef inline int holds(Machine *m, int64_t start, bint *result) noexcept nogil:
    """Whether a condition holds; null counts as false."""
    cdef int64_t value = 0
    cdef bint none = False
    cdef int code = number_of(m, start, &value, &none)
    result[0] = not none and value != 0
    return code

# Expressions: a stack machine over registers. Computing with an absent value gives null for the whole expression, as
# in the construct path; a result beyond 64 bits makes the record irregular.

cdef enum:
    X_END = 0
    X_CONST
    X_NULL
    X_LOAD
    X_HERE
    X_ADD
    X_SUBTRACT
    X_MULTIPLY
    X_AND
    X_OR
    X_XOR
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
    X_MINIMUM
    X_MAXIMUM
    X_COUNT

cdef enum:
    STACK = 32


cdef inline bint in_ranges(const int64_t *entry, int64_t value) noexcept nogil:
    return (entry[0] == 0 or value >= entry[1]) and (entry[2] == 0 or value <= entry[3])


cdef int evaluate(Machine *m, int64_t start, int64_t *result, bint *none) noexcept nogil:
    """The value of the expression at `start`; OK or IRREGULAR."""
    cdef int64_t values[STACK]
    cdef bint nones[STACK]
    cdef int top = -1
    cdef int64_t at = start, argument, left, right, value = 0
    cdef int op
    cdef const int64_t *table
    cdef int64_t i
    while True:
        op = <int>m.expressions[at]
        argument = m.expressions[at + 1]
        at += 2
        if op == X_END:
            if top != 0:
                return IRREGULAR
            result[0] = values[0]
            none[0] = nones[0]
            return OK
        elif op == X_CONST or op == X_NULL or op == X_LOAD or op == X_HERE:
            top += 1
            if top >= STACK:
                return IRREGULAR
            nones[top] = False
            values[top] = 0
            if op == X_CONST:
                values[top] = argument
            elif op == X_NULL:
                nones[top] = True
            elif op == X_LOAD:
                values[top] = m.registers[argument]
                nones[top] = m.absent[argument]
            else:
                values[top] = (m.position - m.base) - m.registers[argument]
        elif (
            op == X_ADD or op == X_SUBTRACT or op == X_MULTIPLY or op == X_AND or op == X_OR or op == X_XOR
            or op == X_LEFT or op == X_RIGHT or op == X_EQUAL or op == X_UNEQUAL or op == X_LESS or op == X_LESS_EQUAL
            or op == X_GREATER or op == X_GREATER_EQUAL or op == X_MINIMUM or op == X_MAXIMUM
        ):
            if top < 1:
                return IRREGULAR
            top -= 1
            left = values[top]
            right = values[top + 1]
            if op == X_EQUAL or op == X_UNEQUAL:
                value = (nones[top] == nones[top + 1]) and (nones[top] or left == right)
                values[top] = value if op == X_EQUAL else not value
                nones[top] = False
                continue
            if nones[top] or nones[top + 1]:
                result[0] = 0
                none[0] = True
                return OK
            if op == X_ADD:
                if wl_add(left, right, &value):
                    return IRREGULAR
            elif op == X_SUBTRACT:
                if wl_sub(left, right, &value):
                    return IRREGULAR
            elif op == X_MULTIPLY:
                if wl_mul(left, right, &value):
                    return IRREGULAR
            elif op == X_AND:
                value = left & right
            elif op == X_OR:
                value = left | right
            elif op == X_XOR:
                value = left ^ right
            elif op == X_LEFT:
                if right < 0 or right > 62 or wl_mul(left, <int64_t>1 << right, &value):
                    return IRREGULAR
            elif op == X_RIGHT:
                if right < 0:
                    return IRREGULAR
                value = left >> (63 if right > 63 else right)
            elif op == X_LESS:
                value = left < right
            elif op == X_LESS_EQUAL:
                value = left <= right
            elif op == X_GREATER:
                value = left > right
            elif op == X_GREATER_EQUAL:
                value = left >= right
            elif op == X_MINIMUM:
                value = left if left < right else right
            else:
                value = left if left > right else right
            values[top] = value
        elif op == X_NEGATE or op == X_INVERT:
            if nones[top]:
                result[0] = 0
                none[0] = True
                return OK
            if op == X_INVERT:
                values[top] = ~values[top]
            elif wl_sub(0, values[top], &values[top]):
                return IRREGULAR
        elif op == X_NOT:
            values[top] = nones[top] or values[top] == 0
            nones[top] = False
        elif op == X_PRESENT:
            values[top] = not nones[top]
            nones[top] = False
        elif op == X_ZERO_IF_NULL:
            if nones[top]:
                values[top] = 0
            nones[top] = False
        elif op == X_IN:
            table = m.tables + argument
            value = 0
            if not nones[top]:
                for i in range(1, table[0] + 1):
                    if table[i] == values[top]:
                        value = 1
            values[top] = value
            nones[top] = False
        elif op == X_RANGE_NAME:
            if not nones[top]:
                table = m.tables + argument
                nones[top] = True
                for i in range(table[0]):
                    if in_ranges(table + 1 + 5 * i, values[top]):
                        values[top] = table[5 + 5 * i]
                        nones[top] = False
                        break
        elif op == X_JUMP:
            at = argument
        elif op == X_JUMP_IF_FALSE_KEEP:
            if nones[top] or values[top] == 0:
                at = argument
            else:
                top -= 1
        elif op == X_JUMP_IF_TRUE_KEEP:
            if nones[top] or values[top] == 0:
                top -= 1
            else:
                at = argument
        elif op == X_JUMP_IF_FALSE:
            top -= 1
            if nones[top + 1] or values[top + 1] == 0:
                at = argument
        else:
            return IRREGULAR


cdef inline int number_of(Machine *m, int64_t start, int64_t *result, bint *none) noexcept nogil:
    """`evaluate`, without its stack where the expression is a register or a constant."""
    cdef const int64_t *words = m.expressions + start
    if words[0] <= X_LOAD and words[2] == X_END:
        if words[0] == X_LOAD:
            result[0] = m.registers[words[1]]
            none[0] = m.absent[words[1]]
            return OK
        if words[0] == X_CONST:
            result[0] = words[1]
            none[0] = False
            return OK
    return evaluate(m, start, result, none)


cdef inline int holds(Machine *m, int64_t start, bint *result) noexcept nogil:
    """Whether a condition holds; null does not."""
    cdef int64_t value = 0
    cdef bint none = False
    cdef int code = number_of(m, start, &value, &none)
    result[0] = not none and value != 0
    return code

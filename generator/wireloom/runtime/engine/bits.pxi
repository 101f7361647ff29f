# Lists of what is no whole number of bytes: the elements stand one behind the other, and no instruction reads each.

cdef inline int64_t bits_size(int64_t count, int64_t width) noexcept nogil:
    """The bytes of so many elements, which are not more than 2 ** 31 bytes have."""
    return (count * width + 7) >> 3


cdef int repeat_bits(Machine *m, const int64_t *i) noexcept nogil:
    """i: form of the count (0 to the end, 1 number, 2 expression, 3 in front), count, form of the elements (see `bits_word`),
    list column, register, register of the sum"""
    cdef int64_t width = i[3] & 0xFF, count = 0, size
    cdef bint none = False
    cdef int code = OK
    if i[1] == 1:
        count = i[2]
    elif i[1] == 2:
        code = evaluate(m, i[2], &count, &none)
        if none or count < 0:
            code = IRREGULAR
    elif i[1] == 3:
        code = read_prefix(m, i[2], &count, &none)
        if none:
            if i[5] >= 0:
                m.absent[i[5]] = True
            return code
    else:
        count = 8 * (m.end - m.position) // width
    if code:
        return code
    if count > 8 * (m.end - m.position) // width:
        return m.overrun
    size = bits_size(count, width)
    if i[1] == 0 and size < m.end - m.position:
        return m.overrun
    if i[4] >= 0 or i[6] >= 0:
        code = put_bits(m, i, count)
        if code:
            return code
    m.position += size
    if i[5] >= 0:
        m.registers[i[5]] = count
        m.absent[i[5]] = False
    return put_list(m.columns, i[4]) if i[4] >= 0 else OK


cdef int put_bits(Machine *m, const int64_t *i, int64_t count) noexcept nogil:
    """i: as in `repeat_bits`. The elements go to their column, and are added up."""
    cdef int64_t width = i[3] & 0xFF, element = -1, column = -1, total = 0, value, shift, size, n
    cdef bint signed = i[3] >> 8 & 1, big = i[3] >> 9 & 1
    cdef int code = OK
    if i[4] >= 0:
        if ready(m.columns, i[4]) == NULL:
            return EXHAUSTED
        element = m.columns[i[4]].child
        column = (i[3] >> 16) - 1 if i[3] >> 16 else element
        if count > INT32_MAX - m.columns[element].length:
            return FULL
    for n in range(count):
        shift = n * width & 7
        size = (shift + width + 7) >> 3
        value = <int64_t>window(m.position + (n * width >> 3), size, 8 * size - shift - width if big else shift, big)
        value &= (<int64_t>1 << width) - 1
        if signed and value >> (width - 1):
            value -= <int64_t>1 << width
        if i[6] >= 0 and wl_add(total, value, &total):
            return IRREGULAR
        if column != element and ready(m.columns, element) == NULL:
            return EXHAUSTED
        if column >= 0:
            code = put_boolean(m.columns, column, value) if width == 1 else put_integer(m.columns, column, value, False)
        if column != element and not code:
            code = finish_row(m.columns + element)
        if code:
            return code
    if i[6] >= 0:
        m.registers[i[6]] = total
        m.absent[i[6]] = False
    return OK

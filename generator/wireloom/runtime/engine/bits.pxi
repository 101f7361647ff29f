# Lists of what is no whole number of bytes: the elements stand one behind the other, and no instruction reads each.

cdef inline int64_t bits_size(int64_t count, int64_t width) noexcept nogil:
    """The bytes of so many elements, which are not more than 2 ** 31 bytes have."""
    return (count * width + 7) >> 3


cdef inline uint8_t turned(uint8_t byte) noexcept nogil:
    """A byte with its bits in the other order."""
    return <uint8_t>((byte * <uint64_t>0x0202020202 & <uint64_t>0x010884422010) % 1023)


cdef inline int64_t packed_at(const uint8_t *data, const uint8_t *end, int64_t before, int64_t form) noexcept nogil:
    """An integer that has so many bits before it, of the form that `bits_word` has."""
    cdef int64_t width = form & 0xFF, shift = before & 7, size = (shift + width + 7) >> 3
    cdef uint64_t bits
    data += before >> 3
    if size > 8 or end - data < 8:
        bits = window(data, size, 8 * size - shift - width if form >> 9 & 1 else shift, form >> 9 & 1) << (64 - width)
    elif form >> 9 & 1:
        bits = wl_swap64(wl_u64(data)) << shift
    else:
        bits = wl_u64(data) << (64 - width - shift)
    return <int64_t>bits >> (64 - width) if form >> 8 & 1 else <int64_t>(bits >> (64 - width))


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
        if not code and (none or count < 0):
            code = BAD_SIZE
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
    code = put_elements(m, i, count)
    if code:
        return code
    m.position += size
    if i[5] >= 0:
        m.registers[i[5]] = count
        m.absent[i[5]] = False
    return put_list(m.columns, i[4]) if i[4] >= 0 else OK


cdef int put_elements(Machine *m, const int64_t *i, int64_t count) noexcept nogil:
    """i: as in `repeat_bits`. The elements go to their column, and are added up."""
    cdef int64_t element
    cdef int code = OK
    if i[4] >= 0:
        if ready(m.columns, i[4]) == NULL:
            return EXHAUSTED
        element = m.columns[i[4]].child
        if count > INT32_MAX - m.columns[element].length:
            return FULL
        if i[3] >> 16:
            code = put_alternatives(m, i[3], element, count)
        elif i[3] & 0xFF == 1:
            code = put_flags(m, i[3], element, count)
        else:
            code = put_integers(m, i[3], element, count)
    return add_up(m, i, count) if i[6] >= 0 and not code else code


cdef int put_flags(Machine *m, int64_t form, int64_t element, int64_t count) noexcept nogil:
    """Booleans, a byte of them at once."""
    cdef Column *column = ready(m.columns, element)
    cdef int64_t first, size = bits_size(count, 1), n
    cdef uint8_t *target
    cdef uint8_t byte
    if column == NULL:
        return EXHAUSTED
    first = column.length
    if first + count > column.room and make_room(column, max(first + count, 2 * column.room)):
        return EXHAUSTED
    target = column.data.data + (first >> 3)
    for n in range(size):
        byte = turned(m.position[n]) if form >> 9 & 1 else m.position[n]
        if n == size - 1 and count & 7:
            byte &= <uint8_t>((1 << (count & 7)) - 1)
        target[n] |= <uint8_t>(byte << (first & 7))
        target[n + 1] |= <uint8_t>(byte >> (8 - (first & 7)))
    if column.nullable:
        fill_bits(column.validity.data, first, first + count)
    column.length += count
    return OK


cdef int put_integers(Machine *m, int64_t form, int64_t element, int64_t count) noexcept nogil:
    cdef int64_t width = form & 0xFF, n
    cdef int code
    for n in range(count):
        code = put_integer(m.columns, element, packed_at(m.position, m.end, n * width, form), False)
        if code:
            return code
    return OK


cdef int put_alternatives(Machine *m, int64_t form, int64_t element, int64_t count) noexcept nogil:
    """Elements that are one of several kinds, each in the column of its kind."""
    cdef int64_t width = form & 0xFF, column = (form >> 16) - 1, value, n
    cdef int code
    for n in range(count):
        value = packed_at(m.position, m.end, n * width, form)
        if ready(m.columns, element) == NULL:
            return EXHAUSTED
        code = put_boolean(m.columns, column, value) if width == 1 else put_integer(m.columns, column, value, False)
        if not code:
            code = finish_row(m.columns + element)
        if code:
            return code
    return OK


cdef int add_up(Machine *m, const int64_t *i, int64_t count) noexcept nogil:
    """i: as in `repeat_bits`"""
    cdef int64_t width = i[3] & 0xFF, total = 0, n
    for n in range(count):
        if wl_add(total, packed_at(m.position, m.end, n * width, i[3]), &total):
            return IRREGULAR
    m.registers[i[6]] = total
    m.absent[i[6]] = False
    return OK

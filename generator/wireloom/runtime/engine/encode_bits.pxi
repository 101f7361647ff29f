# Writing lists of what is no whole number of bytes.

cdef int write_bits(Builder *k, const int64_t *i) noexcept nogil:
    """i: list column, count or -1, number in front or 0, form of the elements (see `bits_word`)"""
    cdef int64_t first = 0, last = 0, width = i[4] & 0xFF, size, n
    cdef uint8_t *target
    cdef int code
    if not there(k, i[1]):
        return put_prefix(k, i[3], -1) if i[3] >> 6 & 1 else IRREGULAR
    code = list_at(k, i[1], &first, &last)
    size = bits_size(last - first, width)
    if code or (i[2] >= 0 and last - first != i[2]):
        return code if code else IRREGULAR
    if i[4] >> 10 & 1 and 8 * size // width > last - first:  # readers would find another element
        return IRREGULAR
    if i[3]:
        code = put_prefix(k, i[3], last - first)
    if not code:
        code = room(k, size + 8)
    if code:
        return code
    target = k.output.data + k.size
    memset(target, 0, <size_t>size)
    k.size += size
    if width == 1 and not i[4] >> 16:
        return set_flags(k, i, first, last, target)
    for n in range(last - first):
        code = set_element(k, i, first + n, target, n * width)
        if code:
            return code
    return OK


cdef int set_flags(Builder *k, const int64_t *i, int64_t first, int64_t last, uint8_t *target) noexcept nogil:
    """i: as in `write_bits`. Booleans, a byte of them at once."""
    cdef const Source *source = k.sources + k.sources[i[1]].child
    cdef int64_t at, left = last - first, shift = (source.first + first) & 7, n
    cdef const uint8_t *data
    cdef uint8_t byte
    if left == 0 or source.missing:
        return IRREGULAR if left else OK
    for at in range(source.first + first, source.first + last if source.validity != NULL else 0):
        if not source.validity[at >> 3] >> (at & 7) & 1:
            return IRREGULAR
    data = source.data + ((source.first + first) >> 3)
    for n in range(bits_size(left, 1)):
        byte = data[n] >> shift
        if left > 8 - shift:
            byte |= <uint8_t>(data[n + 1] << (8 - shift))
        if left < 8:
            byte &= <uint8_t>((1 << left) - 1)
        target[n] = turned(byte) if i[4] >> 9 & 1 else byte
        left -= 8
    return OK


cdef inline int set_element(Builder *k, const int64_t *i, int64_t row, uint8_t *target, int64_t before) noexcept nogil:
    """i: as in `write_bits`. Set the bits of an element, which has so many before it, among zeros, with room behind them."""
    cdef int64_t width = i[4] & 0xFF, element = k.sources[i[1]].child, column = element, child = -1, value = 0
    cdef int64_t shift = before & 7
    cdef bint wide = False
    cdef uint64_t bits, word
    k.rows[k.sources[element].space] = row
    if i[4] >> 16:
        column = (i[4] >> 16) - 1
        chosen(k, element, &child)
        if child != column:
            return IRREGULAR
    if not there(k, column):
        return IRREGULAR
    if width == 1:
        value = boolean_at(k, column)
    elif integer_at(k, column, &value, &wide) or not fits_bits(value, wide, width, i[4] >> 8 & 1):
        return IRREGULAR
    target += before >> 3
    bits = <uint64_t>value << (64 - width)
    if i[4] >> 9 & 1:  # the highest bit first
        word = wl_swap64(bits >> shift)
        if shift + width > 64:
            target[8] = <uint8_t>(bits << (8 - shift) & 0xFF)
    else:
        bits >>= 64 - width
        word = bits << shift
        if shift + width > 64:
            target[8] = <uint8_t>(bits >> (64 - shift))
    word |= wl_u64(target)
    memcpy(target, &word, 8)
    return OK

# Writing lists of what is no whole number of bytes.

cdef int write_bits(Builder *k, const int64_t *i) noexcept nogil:
    """i: list column, count or -1, number in front or 0, form of the elements (see `bits_word`)"""
    cdef int64_t first = 0, last = 0, width = i[4] & 0xFF, size, n
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
        code = pad_to(k, k.size + size)
    for n in range(last - first):
        if code:
            break
        code = set_element(k, i, first + n, k.output.data + k.size - size, n * width)
    return code


cdef int set_element(Builder *k, const int64_t *i, int64_t row, uint8_t *target, int64_t before) noexcept nogil:
    """i: as in `write_bits`. Set the bits of an element, which has so many before it, among zeros."""
    cdef int64_t width = i[4] & 0xFF, element = k.sources[i[1]].child, column = element, child = -1, value = 0
    cdef int64_t shift = before & 7, size = (shift + width + 7) >> 3, up, n
    cdef bint signed = i[4] >> 8 & 1, big = i[4] >> 9 & 1, wide = False
    cdef uint64_t bits
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
    elif integer_at(k, column, &value, &wide) or not fits_bits(value, wide, width, signed):
        return IRREGULAR
    bits = <uint64_t>value & ((<uint64_t>1 << width) - 1)
    up = 8 * size - shift - width if big else shift
    target += before >> 3
    for n in range(size):
        target[size - 1 - n if big else n] |= <uint8_t>(bits << up if n == 0 else bits >> (8 * n - up))
    return OK

# Bytes at offsets that the record says: zeros before them, or what stands elsewhere, which is written behind everything,
# taken up, and laid down once the struct that it is of has been written.

cdef enum:
    GAP = 1 << 24  # bytes that nothing names, before others


cdef int pad_by(Builder *k, const int64_t *i) noexcept nogil:
    """Zeros up to an offset. i: expression, start register"""
    cdef int64_t offset = 0, start = k.base + k.m.registers[i[2]]
    cdef bint none = False
    if number_of(&k.m, i[1], &offset, &none) or none or start < k.base or start > k.size or not 0 <= offset <= INT32_MAX:
        return IRREGULAR
    return pad_to(k, start + offset) if start + offset - k.size <= GAP else IRREGULAR


cdef int lift_apart(Builder *k, const int64_t *i) noexcept nogil:
    """Take up what was just written. i: expression of its offset, register of where it begins, from a start register; start register of the struct that it is of"""
    cdef int64_t begin = k.base + k.m.registers[i[3]] + k.m.registers[i[2]]
    cdef bint none = False
    cdef Apart apart
    if number_of(&k.m, i[1], &apart.offset, &none) or none or not 0 <= apart.offset <= INT32_MAX or begin < k.base or begin > k.size:
        return IRREGULAR
    apart.owner, apart.place, apart.size = i[4], k.apart_bytes.length, k.size - begin
    if push(&k.apart_bytes, k.output.data + begin, apart.size) or push(&k.aparts, &apart, sizeof(Apart)):
        return EXHAUSTED
    k.size = begin
    return OK


cdef inline bint is_free(const uint8_t *there, const uint8_t *data, int64_t size) noexcept nogil:
    """Whether bytes may stand where others do: what is another byte there is a zero, which may be a gap; reading back tells."""
    cdef int64_t n
    for n in range(size):
        if there[n] and there[n] != data[n]:
            return False
    return True


cdef int place_aparts(Builder *k, int64_t owner) noexcept nogil:
    """Lay down what stands at offsets of a struct that has been written, in the order in which it was taken up."""
    cdef int64_t start = k.base + k.m.registers[owner], count = k.aparts.length // <int64_t>sizeof(Apart), n, target, end
    cdef Apart *found = <Apart *>k.aparts.data
    cdef const uint8_t *data
    cdef int code
    if start < k.base or start > k.size:
        return IRREGULAR
    for n in range(count):
        if found[n].owner != owner:
            continue
        target = start + found[n].offset
        end = target + found[n].size
        data = k.apart_bytes.data + found[n].place
        if target - k.size > GAP:
            return IRREGULAR
        if target < k.size and not is_free(k.output.data + target, data, min(end, k.size) - target):
            return IRREGULAR
        if end > k.size:
            code = pad_to(k, end)
            if code:
                return code
        memcpy(k.output.data + target, data, <size_t>found[n].size)
        found[n].owner = -1
    while count and found[count - 1].owner < 0:
        count -= 1
        k.apart_bytes.length = found[count].place
    k.aparts.length = count * <int64_t>sizeof(Apart)
    return OK

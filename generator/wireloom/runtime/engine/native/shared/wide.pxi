# Unsigned 128-bit integers in two registers, the low half first; and lists that are discarded by conditions on such
# integers.

cdef extern from "wide.h" nogil:
    ctypedef struct wl_wide:
        uint64_t low
        uint64_t high
    bint wl_decimal(const uint8_t *text, int64_t size, int64_t bits, wl_wide *value)
    int wl_wide_order(wl_wide a, wl_wide b)


cdef inline wl_wide wide_at(const int64_t *words) noexcept nogil:
    cdef wl_wide value
    value.low, value.high = <uint64_t>words[0], <uint64_t>words[1]
    return value


cdef inline void keep_wide(Machine *m, int64_t target, uint64_t low, uint64_t high, bint none) noexcept nogil:
    m.registers[target] = <int64_t>low
    m.registers[target + 1] = <int64_t>high
    m.absent[target] = m.absent[target + 1] = none


cdef int read_decimal(Machine *m, const int64_t *i) noexcept nogil:
    """i: register of a text, bits, pair of registers. Null if the text is not a number of so many bits."""
    cdef wl_wide value
    cdef bint none = True
    value.low = value.high = 0
    if not m.absent[i[1]]:
        none = wl_decimal(m.pointers[i[1]], m.registers[i[1]], i[2], &value)
    keep_wide(m, i[3], value.low, value.high, none)
    return OK


cdef int read_digest(Machine *m, const int64_t *i) noexcept nogil:
    """i: register of a text or of bytes, pair of registers for their MD5, big-endian"""
    cdef uint8_t digest[16]
    if m.absent[i[1]]:
        keep_wide(m, i[2], 0, 0, True)
        return OK
    wl_md5(m.pointers[i[1]], m.registers[i[1]], digest)
    keep_wide(m, i[2], wl_swap64(wl_u64(digest + 8)), wl_swap64(wl_u64(digest)), False)
    return OK


cdef int branch_wide(Machine *m, const int64_t *i) noexcept nogil:
    """i: relation (1 less, 2 equal, 4 greater), pair, pair or -1, table of the two halves, target if false, target if null"""
    cdef wl_wide other
    if m.absent[i[2]] or (i[3] >= 0 and m.absent[i[3]]):
        m.next = i[6]
        return OK
    other = wide_at(m.registers + i[3] if i[3] >= 0 else m.tables + i[4])
    if not i[1] >> (1 + wl_wide_order(wide_at(m.registers + i[2]), other)) & 1:
        m.next = i[5]
    return OK


cdef int discard(Machine *m, const int64_t *i) noexcept nogil:
    """i: register that is true if an element must be dropped, count of the list, list column, count's register and column"""
    cdef int64_t count = m.registers[i[2]]
    cdef Column *column
    if m.absent[i[1]] or m.absent[i[2]]:
        return OK
    if i[3] >= 0:
        column = m.columns + i[3]
        cut(m.columns, <int>i[3], column.row[0])
        if ready(m.columns, i[3]) == NULL:
            return EXHAUSTED
        if put_list(m.columns, i[3]):
            return EXHAUSTED
    m.registers[i[2]] = 0
    m.value, m.none, m.wide = count, False, False
    if i[5] >= 0:
        cut(m.columns, <int>i[5], m.columns[i[5]].row[0])
    return deliver_integer(m, i[4], i[5])

# The digests of several records, checked together.
#
# While a record is read, its digests are assumed to be right and put into a queue. When the queue is full, all of them
# are checked at once, in a fraction of the time. If one is wrong, the columns are cut back to its record and reading
# continues there, now with known results. So the output is the same as if each digest had been checked immediately.

cdef enum:
    GROUP = 32  # digests in a group
    GROUP_LEAST = 8  # or at least so many digests, of
    GROUP_BYTES = 1 << 19  # so many bytes: the data is still in the cache when it is checked
    CAUTION_LIMIT = 1 << 12


cdef int check_digest(Machine *m, const uint8_t *data, int64_t size, const uint8_t *expected, int refused) noexcept nogil:
    """OK or `refused`; OK also if the digest is checked later."""
    cdef Deferral *deferral = &m.deferral
    cdef uint8_t digest[16]
    cdef wl_digest *entry
    cdef int64_t n
    if deferral.row < deferral.known:
        for n in range(deferral.count):
            entry = deferral.waiting + n
            if entry.data == data and entry.size == size and entry.expected == expected:
                return OK if entry.good else refused
    elif deferral.row >= deferral.plain and deferral.count < DEFERRED:
        entry = deferral.waiting + deferral.count
        entry.data, entry.size, entry.expected, entry.row = data, size, expected, deferral.row
        deferral.count += 1
        deferral.size += size
        return OK
    wl_md5(data, size, digest)
    return OK if memcmp(digest, expected, 16) == 0 else refused


cdef inline void begin_record(Machine *m, int64_t row) noexcept nogil:
    """Prepare for a record; after the last record that is read again, the known results are dropped."""
    m.deferral.row = row
    if m.deferral.known and row >= m.deferral.known:
        m.deferral.known = m.deferral.count = m.deferral.size = 0


cdef inline bint is_due(const Machine *m) noexcept nogil:
    """Whether enough digests wait to be checked."""
    cdef const Deferral *deferral = &m.deferral
    if deferral.count < GROUP_LEAST or deferral.known:
        return False
    return deferral.count >= GROUP or deferral.size >= GROUP_BYTES


cdef int64_t first_refused(Machine *m) noexcept nogil:
    """Check the waiting digests; returns the first record with a wrong one, -1: none.

    If most were wrong, the next records are read without deferring, since reading twice must stay rare.
    """
    cdef Deferral *deferral = &m.deferral
    cdef int64_t n, first = -1, wrong = 0
    if deferral.count == 0 or deferral.known:
        return -1
    wl_md5_check(deferral.waiting, deferral.count)
    for n in range(deferral.count):
        if not deferral.waiting[n].good:
            wrong += 1
            if first < 0:
                first = deferral.waiting[n].row
    if first < 0:
        deferral.count = deferral.size = 0
        return -1
    deferral.known = deferral.row + 1
    if 2 * wrong >= deferral.count:
        deferral.caution = deferral.caution * 4 + GROUP if deferral.caution < CAUTION_LIMIT else CAUTION_LIMIT
        deferral.plain = deferral.known + deferral.caution
    else:
        deferral.caution = 0
    return first

# Streams: consecutive records in a buffer. Each begins where the record before it ended, or after its size.
#
# If the machine gives up a record, it asks the parser at once (`ask`): only the parser knows where such a record ends.
# `follow` notes start, size and status of each record, and stops when the data or the output space ends.

cdef enum:
    PREFIX = 4  # the bytes of a size before a record
    WEIGHED = 1 << 10  # the size of a record after which the columns are always weighed, which costs as much as a small record
    UNWEIGHED = 15  # after smaller records they are weighed if the record's number has none of these bits

cdef struct Notes:  # of each record of a stream
    Buffer status
    Buffer starts
    Buffer sizes


def element_end(const uint8_t[::1] data not None, int64_t position, int64_t depth, bint quoted):
    """Where an element of a JSON array ends (-1: not in the data); how far it was scanned, how deep, whether inside a string."""
    cdef wl_element element
    cdef int64_t found = -1
    if not 0 <= position <= data.shape[0] or depth < 0:
        raise ValueError("a place that the data do not have")
    element.position, element.depth, element.quoted = position, depth, quoted
    if data.shape[0]:
        with nogil:
            found = wl_element_end(&element, &data[0], data.shape[0])
    return found, element.position, element.depth, element.quoted != 0


cdef inline bint is_heavy(const Machine *m, int columns, int64_t row, int64_t size, int64_t made) noexcept nogil:
    """Whether the columns have about `made` bytes after a record of this size; small records are not always checked."""
    cdef int64_t weight = 0
    cdef int i
    if not made or (size < WEIGHED and row & UNWEIGHED and m.kept == NULL):
        return False
    for i in range(columns):
        weight += m.columns[i].size + 8 * m.columns[i].length
    return weight >= made


def follow(Program program, data, int64_t start, bint prefixed, int64_t limit, int64_t largest, int64_t ahead, ask, int64_t made=0):
    """The columns of the records of `data` from `start` on; blocks with their starts and sizes; the end of the last one; and
    whether an output buffer is full, or the columns have `made` bytes (0: no limit), so that more records may follow.

    Records follow each other directly or, if `prefixed`, each after its size, a big-endian number of 32 bits. If a record
    has more than `limit` bytes (-1: no limit), or the program gives it up, `ask(row, start, size)` returns where it ends,
    or -1 if more of the stream is needed. A prefixed record that is incomplete, or of more than `largest` bytes, also ends
    the batch. If fewer than `ahead` bytes are left, a record that could continue after them is not read in the other byte
    order.
    """
    cdef Batch batch
    cdef Machine m
    cdef Notes notes
    cdef const uint8_t[::1] view = data
    cdef int64_t total = view.shape[0], position = start, first = 0, size = 0, end, answer, back, row = 0
    cdef uint8_t status
    cdef bint whole, heavy = False
    cdef const uint8_t *base = &view[0] if total else NULL
    cdef int code = OK
    if start < 0 or start > total:
        raise ValueError("a place that the data do not have")
    memset(&notes, 0, sizeof(Notes))
    batch = program.begin(&m)
    m.given_end, m.awaited = base + total, ahead
    try:
        with nogil:
            program.foresee(m.columns, total - start, made)
            while True:
                whole = not heavy and find(base, position, total, prefixed, largest, &first, &size)
                code = OK
                if whole:
                    begin_record(&m, row)
                    code = program.read(&m, base + first, size, prefixed)
                    if not prefixed and not code:
                        size = m.position - m.base
                    if not code and ((limit >= 0 and size > limit) or (size == 0 and not prefixed)):
                        cut(m.columns, 0, row)
                        code = IRREGULAR
                if code or not whole or is_due(&m):
                    back = first_refused(&m)
                    if back >= 0:
                        cut(m.columns, 0, back)
                        position = place(&notes, back, row, position, prefixed)
                        row = back
                        heavy = False
                        continue
                if not whole or code == EXHAUSTED or (code == FULL and row > 0):
                    break
                end = first + size
                if code:
                    with gil:
                        if code == FULL:
                            raise ValueError(f"the record at byte {first} does not fit an Arrow array")
                        answer = ask(row, first, size)
                        if answer > total or 0 <= answer <= position:
                            raise ValueError(f"a record cannot end at {answer}")
                    status = 2
                    code = OK
                    if answer < 0:
                        break
                    size += answer - end
                    end = answer
                    code = skip_row(&m)
                    batch.failed += 1
                else:
                    status = 0
                if code or note(&notes, row, first, size, status):
                    code = EXHAUSTED
                    break
                position = end
                row += 1
                heavy = is_heavy(&m, batch.count, row, size, made)
            if code == OK or code == FULL:
                code = settle(m.columns, 0, row)
            if code == OK:
                program.remember(m.columns, position - start)
        if code == EXHAUSTED:
            raise MemoryError("no memory for the columns")
        batch.consumed = row
        batch.status = bytearray(memoryview(block(&notes.status, row)))
        return batch, block(&notes.starts, row * 8), block(&notes.sizes, row * 8), position, code == FULL or heavy
    finally:
        release(&m)
        free(notes.status.data)
        free(notes.starts.data)
        free(notes.sizes.data)


cdef inline int note(Notes *notes, int64_t row, int64_t start, int64_t size, uint8_t status) noexcept nogil:
    """Note status and place of a record."""
    if reserve(&notes.status, row + 1) or reserve(&notes.starts, row * 8 + 8) or reserve(&notes.sizes, row * 8 + 8):
        return EXHAUSTED
    notes.status.data[row] = status
    (<int64_t *>notes.starts.data)[row] = start
    (<int64_t *>notes.sizes.data)[row] = size
    return OK


cdef inline bint find(const uint8_t *base, int64_t position, int64_t total, bint prefixed, int64_t largest, int64_t *first, int64_t *size) noexcept nogil:
    """Where the next record begins, and its size or the most it may have; False if it is incomplete."""
    first[0] = position
    size[0] = total - position
    if not prefixed:
        return size[0] > 0
    if size[0] < PREFIX:
        return False
    first[0] += PREFIX
    size[0] = wl_swap32(wl_u32(base + position))
    return size[0] <= largest and size[0] <= total - first[0]


cdef inline int64_t place(const Notes *notes, int64_t row, int64_t reached, int64_t position, bint prefixed) noexcept nogil:
    """Where a row's record, or its prefix, begins; `position` is that of the current row."""
    if row >= reached:
        return position
    return (<int64_t *>notes.starts.data)[row] - (PREFIX if prefixed else 0)

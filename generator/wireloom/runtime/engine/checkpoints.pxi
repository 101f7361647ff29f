# What the parser is told of a record that was given up, so that it need not read again what was right: see
# runtime/checkpoints.py. Lists are noted only when such a record is read once more for that.

cdef enum:
    NEXT_READING = -2  # in place of a list: the record is read in the other byte order from here on


cdef int64_t begin_noted(Machine *m, int64_t start) noexcept nogil:
    """One more list, whose elements begin at `start`; -1 where there is no memory for it."""
    cdef int64_t index = m.noted.length
    if push(&m.noted, NULL, sizeof(Checkpoint)):
        m.scattered = True
        return -1
    memset(m.noted.data + index, 0, sizeof(Checkpoint))
    note_list(m, index, 0, True)
    (<Checkpoint *>(m.noted.data + index)).start = start
    return index


cdef void note_list(Machine *m, int64_t index, int64_t count, bint is_open) noexcept nogil:
    """So many elements were read, and where there is another one, it begins here: lists within those are forgotten."""
    cdef Checkpoint *noted = <Checkpoint *>(m.noted.data + index)
    m.noted.length = index + sizeof(Checkpoint)
    noted.count, noted.is_open, noted.position = count, is_open, m.position - m.base
    noted.again, noted.furthest = m.again, m.furthest - m.base
    noted.expanded, noted.packed, noted.unpacked = m.expanded, m.packed, m.unpacked

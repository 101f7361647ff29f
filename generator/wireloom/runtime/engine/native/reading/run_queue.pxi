# Runs of numbers (fixed_runs.pxi) that wait to be written column by column.
#
# A run goes to as many columns as it has numbers. Written record by record, each number would pay for finding its column
# and checking its space. So only the positions of up to WAITING runs are noted; then each column is written in one
# loop. A column with waiting runs has a `room` of 0: every write, cut or pad takes the slow path, which writes the
# waiting runs first.

cdef int begin_waiting(Machine *m, const int64_t *run) noexcept nogil:
    """Prepare the columns of a run for the current row and more rows."""
    cdef Wait *wait = &m.wait
    cdef const int64_t *entry = run + 6
    cdef int64_t n
    cdef Column *column
    wait.room = INT64_MAX
    for n in range(run[1]):
        column = ready(m.columns, entry[4 * n + 3])
        if column == NULL:
            return EXHAUSTED
        if column.room < wait.room:
            wait.room = column.room
    wait.columns, wait.run, wait.count = m.columns, run, 0
    wait.first = m.columns[entry[3]].length
    for n in range(run[1]):
        column = m.columns + entry[4 * n + 3]
        column.kept = column.room
        column.room = 0
        column.wait = wait
    return OK


cdef inline int add_waiting(Machine *m, const int64_t *run, const uint8_t *p) noexcept nogil:
    """Note that the run of the current row begins at `p`."""
    cdef Wait *wait = &m.wait
    cdef int64_t row = m.columns[run[9]].row[0]
    if wait.run != run or row != wait.first + wait.count or wait.count == WAITING or row >= wait.room:
        write_all(wait)
        if begin_waiting(m, run):
            return EXHAUSTED
    wait.positions[wait.count] = p
    wait.count += 1
    return OK


cdef inline void write_waiting(Column *column) noexcept nogil:
    """Write the waiting run of a column, and of the other columns of the run."""
    if column.wait != NULL:
        write_all(column.wait)


cdef void write_all(Wait *wait) noexcept nogil:
    cdef const int64_t *entry
    cdef int64_t n
    if wait.run == NULL:
        return
    entry = wait.run + 6
    for n in range(wait.run[1]):
        write_column(wait, wait.columns + entry[3], entry, wait.run[0])
        entry += 4
    wait.run = NULL


cdef void move_waiting(Wait *wait, const uint8_t *old, const uint8_t *new) noexcept nogil:
    """Adjust the positions of waiting runs after the records have moved."""
    cdef int64_t n
    for n in range(wait.count if wait.run != NULL else 0):
        wait.positions[n] = new + (<size_t>wait.positions[n] - <size_t>old)


cdef void write_column(const Wait *wait, Column *column, const int64_t *entry, bint big) noexcept nogil:
    """Write eight bytes for each number; the next row overwrites the excess."""
    cdef uint8_t *data = column.data.data + (column.length << column.kind)
    cdef int64_t offset = entry[0], shift = entry[1], width = <int64_t>1 << column.kind, n
    cdef bint signed = entry[2]
    cdef uint64_t word
    for n in range(wait.count):
        word = wl_load8(wait.positions[n] + offset)
        word = wl_swap64(word) if big else word << shift
        word = <uint64_t>(<int64_t>word >> shift) if signed else word >> shift
        memcpy(data, &word, 8)
        data += width
    if column.nullable:
        fill_bits(column.validity.data, column.length, column.length + wait.count)
    column.length += wait.count
    column.room = column.kept
    column.wait = NULL

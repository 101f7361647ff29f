# Runs of numbers at fixed offsets from the position. One check shows that all bytes are there; a table says what to do
# with them.
#
# Table: whether big-endian, then the number of entries of each kind, then the entries:
#   a number to a column: offset, shift, signed, column          a number to a register: offset, shift, signed, register
#   a number that must be a value: offset, shift, signed, value, code    bytes: offset, size, column
#   bits: offset, shift, lowest, width, form (0 boolean, 1 unsigned, 2 signed), register, column
# A number is loaded as eight bytes and shifted; so eight bytes after the run must be readable, too.

cdef inline int64_t fixed_number(const uint8_t *p, const int64_t *entry, bint big) noexcept nogil:
    cdef uint64_t word = wl_load8(p + entry[0])
    word = wl_swap64(word) if big else word << entry[1]
    return <int64_t>word >> entry[1] if entry[2] else <int64_t>(word >> entry[1])


cdef inline int fixed_bits(Machine *m, const int64_t *entry, int64_t count, const uint8_t *p, bint big) noexcept nogil:
    cdef uint64_t word
    cdef int code
    m.none = m.wide = False
    while count > 0:
        word = wl_load8(p + entry[0])
        word = wl_swap64(word) if big else word << entry[1]
        word = word >> entry[1] >> entry[2] << (64 - entry[3])
        m.value = <int64_t>word >> (64 - entry[3]) if entry[4] == 2 else <int64_t>(word >> (64 - entry[3]))
        code = deliver_boolean(m, entry[5], entry[6]) if entry[4] == 0 else deliver_integer(m, entry[5], entry[6])
        if code:
            return code
        entry += 7
        count -= 1
    return OK


cdef int read_fixed(Machine *m, const int64_t *table, const uint8_t *p) noexcept nogil:
    cdef bint big = table[0]
    cdef const int64_t *entry = table + 6
    cdef int64_t n
    cdef int code
    if table[1] and add_waiting(m, table, p):
        return EXHAUSTED
    entry += 4 * table[1]
    for n in range(table[2]):
        m.registers[entry[3]] = fixed_number(p, entry, big)
        m.absent[entry[3]] = False
        entry += 4
    for n in range(table[3]):
        if fixed_number(p, entry, big) != entry[3]:
            return <int>entry[4]
        entry += 5
    code = fixed_bits(m, entry, table[4], p, big)
    if code:
        return code
    entry += 7 * table[4]
    for n in range(table[5]):
        code = put_bytes_near(m.columns, entry[2], p + entry[0], entry[1], m.readable - p - entry[0])
        if code:
            return code
        entry += 3
    return OK

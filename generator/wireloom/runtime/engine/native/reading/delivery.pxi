# Delivery: each value that an instruction reads goes to the register and the column that the instruction names.
#
# -1 means none. `m.value`, `m.none` and `m.wide` (beyond int64) also keep the last value, which the next instruction may
# check. A mapping delivers the meaning of the wire value. A null is not written: the column is filled up later.

cdef inline void keep(Machine *m, int64_t target) noexcept nogil:
    """Put the last value into a register."""
    m.registers[target] = m.value
    m.absent[target] = m.none


cdef inline int deliver_integer(Machine *m, int64_t target, int64_t column) noexcept nogil:
    if target >= 0:
        if m.wide:
            return IRREGULAR
        keep(m, target)
    if column >= 0:
        return put_integer(m.columns, column, m.value, m.wide)
    return OK


cdef inline int deliver_boolean(Machine *m, int64_t target, int64_t column) noexcept nogil:
    if target >= 0:
        keep(m, target)
    if column >= 0:
        return put_boolean(m.columns, column, m.value != 0)
    return OK


cdef inline int deliver_bytes(Machine *m, int64_t target, int64_t column, const uint8_t *data, int64_t size) noexcept nogil:
    if target >= 0:
        m.registers[target] = size
        m.absent[target] = False
        m.pointers[target] = data
    if column >= 0:
        return put_bytes_near(m.columns, column, data, size, m.readable - data if size > 0 else 0)
    return OK


cdef inline int deliver_copy(Machine *m, int64_t target, int64_t column, const uint8_t *data, int64_t size) noexcept nogil:
    """`deliver_bytes` for data anywhere in memory, after which nothing may be read."""
    if target >= 0:
        m.registers[target] = size
        m.absent[target] = False
        m.pointers[target] = data
    return put_bytes(m.columns, column, data, size) if column >= 0 else OK


cdef inline int deliver_symbol(Machine *m, int64_t target, int64_t column, int64_t symbol) noexcept nogil:
    """Deliver a text constant; `symbol` is its address in the texts (start << 16 | size)."""
    if symbol < 0 or (symbol >> 16) + (symbol & 0xFFFF) > m.text_size:
        return IRREGULAR
    if target >= 0:
        m.registers[target] = symbol
        m.absent[target] = False
    if column >= 0:
        return put_bytes_near(m.columns, column, m.texts + (symbol >> 16), symbol & 0xFFFF, SLACK)
    return OK


cdef inline int deliver(Machine *m, int64_t kind, int64_t value, int64_t target, int64_t column) noexcept nogil:
    """A value of a kind: 0 null, 1 integer, 2 boolean, 3 symbol."""
    m.value = value
    m.none = kind == 0
    m.wide = False
    if kind == 3:
        return deliver_symbol(m, target, column, value)
    if kind == 1:
        return deliver_integer(m, target, column)
    if kind == 2:
        return deliver_boolean(m, target, column)
    if target >= 0:
        m.absent[target] = True
    return OK


cdef inline int map_value(Machine *m, const int64_t *i, int64_t wire) noexcept nogil:
    """Deliver the meaning of a number. i: table, code, register, column.

    Table: shift, multiplier, number of places, then (wire value, kind or -1, value) each. If the wire value is beyond 63
    bits, 8 is added to the kind.
    """
    cdef const int64_t *table = m.tables + i[1]
    cdef const int64_t *entry
    if m.none:
        return IRREGULAR
    entry = table + 3 + 3 * (<uint64_t>wire * <uint64_t>table[1] >> table[0])
    if entry[1] < 0 or entry[0] != wire or m.wide != (entry[1] >> 3):
        return <int>i[2]
    return deliver(m, entry[1] & 7, entry[2], i[3], i[4])


cdef int match_text(Machine *m, const int64_t *i) noexcept nogil:
    """Deliver the meaning of a text. Table: count, then (text, kind, value) each. i: register of the text, table, code, register, column."""
    cdef const int64_t *table = m.tables + i[2]
    cdef int64_t n, size = m.registers[i[1]]
    if m.absent[i[1]]:
        return IRREGULAR
    for n in range(table[0]):
        if wl_same_text(m.pointers[i[1]], size, m.texts + (table[1 + 3 * n] >> 16), table[1 + 3 * n] & 0xFFFF):
            return deliver(m, table[2 + 3 * n], table[3 + 3 * n], i[4], i[5])
    return <int>i[3]

# The machine: one record at a time, instruction by instruction. Jumps lead forward only and calls lead forward only,
# so every run ends; the validator has seen every operand, so none is looked at twice here.
#
# `run` executes what hot loops consist of and keeps the position in a local; `step` executes the rest. An instruction
# stands in one of the two. Lists of MessagePack do not recurse: a frame notes where the list stands.

cdef int run(Machine *m, int64_t start) noexcept nogil:
    """Execute from `start` to the return that belongs to it."""
    cdef int64_t at = start, floor = m.frame_count, number = 0
    cdef const int64_t *program = m.code
    cdef const int64_t *i
    cdef int64_t *registers = m.registers
    cdef uint8_t *absent = m.absent
    cdef Column *columns = m.columns
    cdef const uint8_t *p = m.position
    cdef const uint8_t *end = m.end
    cdef int code, op, wide = 0
    cdef bint flag = False
    cdef double real = 0
    cdef Frame *frame
    cdef Head head
    while True:
        i = program + at * WIDTH
        at = i[NEXT]
        op = <int>i[0]
        code = OK
        if op == OP_RETURN:  # struct column to close
            if i[1] >= 0 and finish_row(columns + i[1]):
                return EXHAUSTED
            if m.frame_count == floor:
                m.position = p
                return OK
            frame = m.frames + m.frame_count - 1
            code = end_element(m, frame)
            if code:
                return code
            if frame.n < frame.count:
                at = frame.instruction[1]
                registers[frame.instruction[3]] = frame.n
            else:
                code = end_list(m, frame)
                at = frame.instruction[NEXT]
                m.frame_count -= 1
        elif op == OP_ENTER:  # start register, size register, first and last register to make null
            if i[1] >= 0:
                registers[i[1]] = p - m.base
                absent[i[1]] = False
            if i[2] >= 0:
                registers[i[2]] = end - p
                absent[i[2]] = False
            for number in range(i[3], i[4]):
                absent[number] = 1
        elif op == OP_INTEGER:  # bytes, signed, big, register, column
            if end - p < i[1]:
                return m.overrun
            m.none = False
            m.wide = load(p, i[1], i[2], i[3], &number)
            m.value = number
            p += i[1]
            code = deliver_integer(m, i[4], i[5])
        elif op == OP_CONSTANT:  # value, code
            if m.none or m.wide or m.value != i[1]:
                return <int>i[2]
        elif op == OP_MAPPING:  # table, code, register, column
            code = map_value(m, i, m.value)
        elif op == OP_WHEN:  # expression, target
            m.position = p
            code = holds(m, i[1], &flag)
            if not flag:
                at = i[2]
        elif op == OP_CHECK:  # expression, code
            m.position = p
            code = holds(m, i[1], &flag)
            if not flag and not code:
                return <int>i[2]
        elif op == OP_BRANCH:  # relation (1 less, 2 equal, 4 greater), register, register or -1, number, target if not, if null
            number = registers[i[3]] if i[3] >= 0 else i[4]
            if absent[i[2]] or (i[3] >= 0 and absent[i[3]]):
                at = i[6]
            elif not i[1] >> (1 + (registers[i[2]] > number) - (registers[i[2]] < number)) & 1:
                at = i[5]
        elif op == OP_BRANCH_IN:  # register, table of numbers, target if not
            if absent[i[1]] or not is_among(m.tables + i[2], registers[i[1]]):
                at = i[3]
        elif op == OP_FIXED:  # table, bytes, target where they are not all there
            if end - p < i[2] or m.readable - p < i[2] + 8:
                at = i[3]
            else:
                code = read_fixed(m, m.tables + i[1], p)
                p += i[2]
        elif op == OP_VALUE:  # register, which becomes the machine's value
            m.value = registers[i[1]]
            m.none = absent[i[1]]
            m.wide = False
        elif op == OP_BEGIN:  # struct column
            if ready(columns, i[1]) == NULL:
                return EXHAUSTED
        elif op == OP_FINISH:  # struct column
            code = finish_row(columns + i[1])
        elif op == OP_SWITCH:  # table of (value, target), code, register to choose by (-1: the machine's value)
            if i[3] >= 0:
                m.value = registers[i[3]]
                m.none = absent[i[3]]
                m.wide = False
            m.next = at
            code = switch_to(m, i)
            at = m.next
        elif op == OP_PACK_INTEGER:  # minimum, maximum, flags, struct to open and close, register, column
            if i[3] & NIL_TOO and p < end and p[0] == 0xC0:
                p += 1
                m.none = True
                continue
            if wl_take_integer(&p, end, &number, &wide):
                return no_integer(m, p)
            if wide:
                if not i[3] & WIDE_TOO:
                    return IRREGULAR
            elif number < i[1] or (number > i[2] and not i[3] & WIDE_TOO):
                return IRREGULAR
            m.value = number
            m.wide = wide
            m.none = False
            if i[4] >= 0 and ready(columns, i[4]) == NULL:
                return EXHAUSTED
            code = deliver_integer(m, i[5], i[6])
            if i[4] >= 0:
                close_row(columns + i[4])
        elif op == OP_PACK_CONSTANT:  # value, code
            if wl_take_integer(&p, end, &number, &wide):
                return no_integer(m, p)
            if wide or number != i[1]:
                return <int>i[2]
        elif op == OP_PACK_MAPPED:  # table, code, register, column
            if wl_take_integer(&p, end, &number, &wide):
                return no_integer(m, p)
            m.none = False
            m.wide = wide
            code = map_value(m, i, number)
        elif op == OP_PACK_TEXT or op == OP_PACK_BYTES:  # size (-1: any), flags, struct to open and close, register, column
            if i[2] & NIL_TOO and p < end and p[0] == 0xC0:
                p += 1
                m.none = True
                continue
            if wl_take_text(&p, end, &number) if op == OP_PACK_TEXT else wl_take_bytes(&p, end, &number):
                m.position = p
                code = take(m, F_STR if op == OP_PACK_TEXT else F_BIN, &head)
                if code:
                    return code
                p = m.position
                number = <int64_t>head.number
            if number > end - p:
                return m.overrun
            if op == OP_PACK_TEXT:
                if not wl_is_short_ascii(p, number, m.readable - p) and not wl_is_utf8(p, number):
                    return IRREGULAR
            elif i[1] >= 0 and number != i[1]:
                return IRREGULAR
            m.none = False
            if i[3] >= 0 and ready(columns, i[3]) == NULL:
                return EXHAUSTED
            if i[4] >= 0:
                registers[i[4]] = number
                absent[i[4]] = False
                m.pointers[i[4]] = p
            if i[5] >= 0:
                code = put_bytes_near(columns, i[5], p, number, m.readable - p)
            if i[3] >= 0:
                close_row(columns + i[3])
            p += number
        elif op == OP_PACK_FLOAT:  # flags, struct to open and close, column
            if i[1] & NIL_TOO and p < end and p[0] == 0xC0:
                p += 1
                m.none = True
                continue
            if wl_take_float(&p, end, &real):
                m.position = p
                code = take(m, F_FLOAT, &head)
                if code:
                    return code
                p = m.position
                real = head.real
            if i[2] >= 0 and ready(columns, i[2]) == NULL:
                return EXHAUSTED
            if i[3] >= 0:
                code = put_float(columns, i[3], real)
            if i[2] >= 0:
                close_row(columns + i[2])
        elif op == OP_PACK_BOOLEAN:  # flags, struct to open and close, register, column
            if p >= end:
                return m.overrun
            if i[1] & NIL_TOO and p[0] == 0xC0:
                p += 1
                m.none = True
                continue
            if p[0] != 0xC2 and p[0] != 0xC3:
                return IRREGULAR
            m.value = p[0] & 1
            m.none = m.wide = False
            p += 1
            if i[2] >= 0 and ready(columns, i[2]) == NULL:
                return EXHAUSTED
            code = deliver_boolean(m, i[3], i[4])
            if i[2] >= 0:
                close_row(columns + i[2])
        elif op == OP_PACK_NIL_JUMP:  # target
            if p >= end:
                return m.overrun
            if p[0] == 0xC0:
                p += 1
                m.none = True
                at = i[1]
        elif op == OP_PACK_FAMILY:  # table of targets by family; the head is not consumed
            if p >= end:
                return m.overrun
            if wl_family[p[0]] > F_EXT or m.tables[i[1] + wl_family[p[0]]] < 0:
                return IRREGULAR
            at = m.tables[i[1] + wl_family[p[0]]]
        elif op == OP_PACK_ARITY:  # table of (arity, version), version register, struct to open
            if i[3] >= 0 and ready(columns, i[3]) == NULL:
                return EXHAUSTED
            if wl_take_array(&p, end, &number):
                m.position = p
                code = take(m, F_ARRAY, &head)
                if code:
                    return code
                p = m.position
                number = <int64_t>head.number
            if number > end - p:
                return IRREGULAR
            code = note_version(m, i, number)
        elif op == OP_PACK_REPEAT:  # as in begin_list
            m.position = p
            code = begin_list(m, i)
            if code:
                return code
            p = m.position
            if m.frames[m.frame_count].count > 0:
                m.frame_count += 1
                at = i[1]
            else:
                code = end_list(m, m.frames + m.frame_count)
        elif op == OP_JUMP:  # nothing: the next instruction stands elsewhere
            pass
        else:
            m.position = p
            m.next = at
            code = step(m, i, op)
            p = m.position
            end = m.end
            at = m.next
        if code:
            return code


cdef int step(Machine *m, const int64_t *i, int op) noexcept nogil:
    """Execute one instruction of those that are not in `run`."""
    cdef int64_t number = 0
    cdef bint flag = False
    cdef Head head
    cdef int code
    if op == OP_FLOAT:
        return read_float(m, i)
    elif op == OP_BOOLEAN:
        return read_boolean(m, i)
    elif op == OP_BYTES:
        return read_bytes(m, i)
    elif op == OP_CONSTANT_BYTES:  # register of the field, text, size, code
        if m.absent[i[1]] or m.registers[i[1]] != i[3] or memcmp(m.pointers[i[1]], m.texts + i[2], <size_t>i[3]):
            return <int>i[4]
    elif op == OP_RANGE:  # has minimum, minimum, has maximum, maximum, code
        if not m.none and (m.wide or not in_ranges(i + 1, m.value)):
            return <int>i[5]
    elif op == OP_BITS:
        return read_bits(m, i)
    elif op == OP_COMPUTE:
        return compute(m, i)
    elif op == OP_VERIFY_CRC or op == OP_VERIFY_MD5:
        return verify(m, i)
    elif op == OP_MARK:  # register, start register
        m.registers[i[1]] = (m.position - m.base) - m.registers[i[2]]
        m.absent[i[1]] = False
    elif op == OP_NEED:  # expression, start register
        return need(m, i, &number)
    elif op == OP_FRAME:  # expression, start register, size register, save register
        code = need(m, i, &number)
        if code:
            return code
        m.registers[i[4]] = m.end - m.base
        m.registers[i[4] + 1] = m.overrun
        m.registers[i[3]] = number
        m.end = m.base + m.registers[i[2]] + number
        m.overrun = IRREGULAR
        if m.position > m.end:
            return IRREGULAR
    elif op == OP_UNFRAME or op == OP_UNREGION:  # save register
        if m.position != m.end:
            return IRREGULAR
        number = m.registers[i[1]]
        if number < m.position - m.base or number > m.stop - m.base:
            return IRREGULAR
        m.end = m.base + number
        m.overrun = <int>m.registers[i[1] + 1]
    elif op == OP_SEEK:
        return seek(m, i)
    elif op == OP_REACH:  # register: the farthest position of a struct whose fields stand at offsets
        m.registers[i[1]] = m.position - m.base
    elif op == OP_LEAVE:  # register
        number = m.registers[i[1]]
        if number > m.position - m.base:
            if number > m.end - m.base:
                return IRREGULAR
            m.position = m.base + number
    elif op == OP_REGION:  # expression, code, save register
        code = number_of(m, i[1], &number, &flag)
        if code:
            return code
        if flag or number < 0:
            return IRREGULAR
        if number > m.end - m.position:
            return m.overrun
        m.registers[i[3]] = m.end - m.base
        m.registers[i[3] + 1] = m.overrun
        m.end = m.position + number
        m.overrun = <int>i[2]
    elif op == OP_END:  # code
        if m.position != m.end:
            return <int>i[1]
    elif op == OP_PEEK:  # bytes, signed, big: the position stays
        return peek_integer(m, i[1], i[2], i[3])
    elif op == OP_MATCH:
        return match_text(m, i)
    elif op == OP_REPEAT:
        return repeat_binary(m, i)
    elif op == OP_ATTEMPT:
        return attempt(m, i)
    elif op == OP_FAIL:
        return <int>i[1]
    elif op == OP_PACK_NIL:
        m.none = True
        return take(m, F_NIL, &head)
    elif op == OP_PACK_OPEN:  # rules, families, value column, metadata column, form, names of ext types
        return read_open(m, i)
    elif op == OP_PROTO_MESSAGE:  # fields
        return scan_message(m, m.tables + i[1])
    elif op == OP_PROTO_ABSENT:  # slot, target where absent, whether it is an error
        m.none = not m.slots[i[1]].found
        if m.none:
            if i[3]:
                return IRREGULAR
            m.next = i[2]
    elif op == OP_PROTO_INTEGER:
        return proto_integer(m, i)
    elif op == OP_PROTO_FLOAT:  # slot, bits, register, column
        return proto_float(m, i)
    elif op == OP_PROTO_BYTES:  # slot, text, register, column, size or -1
        return proto_bytes(m, i)
    elif op == OP_PROTO_SUB:  # slot, save register
        if not m.slots[i[1]].found:
            return IRREGULAR
        m.registers[i[2]] = m.end - m.base
        m.registers[i[2] + 1] = m.position - m.base
        m.position = m.slots[i[1]].data
        m.end = m.position + m.slots[i[1]].size
    elif op == OP_PROTO_UNSUB:  # save register
        number = m.registers[i[1]]
        if number < 0 or number > m.stop - m.base or m.registers[i[1] + 1] < 0 or m.registers[i[1] + 1] > number:
            return IRREGULAR
        m.end = m.base + number
        m.position = m.base + m.registers[i[1] + 1]
    elif op == OP_PROTO_REPEAT:
        return repeat_message(m, i)
    elif op == OP_PROTO_TABLE:  # slot: every entry must be UTF-8
        return check_table(m, i)
    elif op == OP_PROTO_ENTRY:
        return table_entry(m, i)
    else:
        return IRREGULAR
    return OK


# --- mappings ----------------------------------------------------------------------------------------------------

cdef inline int map_value(Machine *m, const int64_t *i, int64_t wire) noexcept nogil:
    """Table: smallest wire value, count, then (kind or -1, value) each. i: table, code, register, column."""
    cdef const int64_t *table = m.tables + i[1]
    cdef int64_t place
    if m.none:
        return IRREGULAR
    if m.wide or wire < table[0] or wl_sub(wire, table[0], &place) or place >= table[1]:
        return <int>i[2]
    table += 2 + 2 * place
    if table[0] < 0:
        return <int>i[2]
    return deliver(m, table[0], table[1], i[3], i[4])


cdef int match_text(Machine *m, const int64_t *i) noexcept nogil:
    """Table: count, then (text, kind, value) each. i: register of the text, table, code, register, column."""
    cdef const int64_t *table = m.tables + i[2]
    cdef int64_t n, size = m.registers[i[1]]
    if m.absent[i[1]]:
        return IRREGULAR
    for n in range(table[0]):
        if size == table[1 + 3 * n] & 0xFFFF and memcmp(m.pointers[i[1]], m.texts + (table[1 + 3 * n] >> 16), <size_t>size) == 0:
            return deliver(m, table[2 + 3 * n], table[3 + 3 * n], i[4], i[5])
    return <int>i[3]


# --- binary ----------------------------------------------------------------------------------------------------------

cdef inline bint load(const uint8_t *p, int64_t size, bint signed, bint big, int64_t *value) noexcept nogil:
    """An integer of so many bytes at `p`; whether it is beyond int64."""
    cdef uint64_t number = 0
    cdef int64_t n
    if size == 1:
        number = p[0]
        value[0] = <int8_t>number if signed else <int64_t>number
    elif size == 2:
        number = wl_swap16(wl_u16(p)) if big else wl_u16(p)
        value[0] = <int16_t>number if signed else <int64_t>number
    elif size == 4:
        number = wl_swap32(wl_u32(p)) if big else wl_u32(p)
        value[0] = <int32_t>number if signed else <int64_t>number
    elif size == 8:
        number = wl_swap64(wl_u64(p)) if big else wl_u64(p)
        value[0] = <int64_t>number
        return not signed and value[0] < 0
    else:
        for n in range(size):
            number = number << 8 | p[n if big else size - 1 - n]
        if signed and number >> (8 * size - 1):
            number |= ~<uint64_t>0 << (8 * size)
        value[0] = <int64_t>number
    return False


cdef inline int peek_integer(Machine *m, int64_t size, bint signed, bint big) noexcept nogil:
    cdef int64_t value = 0
    if m.end - m.position < size:
        return m.overrun
    m.wide = load(m.position, size, signed, big, &value)
    m.none = False
    m.value = value
    return OK


cdef int read_float(Machine *m, const int64_t *i) noexcept nogil:
    """i: bytes, big, column"""
    cdef double number
    if m.end - m.position < i[1]:
        return m.overrun
    if i[1] == 4:
        number = wl_float(wl_swap32(wl_u32(m.position)) if i[2] else wl_u32(m.position))
    else:
        number = wl_double(wl_swap64(wl_u64(m.position)) if i[2] else wl_u64(m.position))
    m.position += i[1]
    return put_float(m.columns, i[3], number) if i[3] >= 0 else OK


cdef int read_boolean(Machine *m, const int64_t *i) noexcept nogil:
    """i: register, column"""
    if m.end - m.position < 1:
        return m.overrun
    if m.position[0] > 1:
        return IRREGULAR
    m.value = m.position[0]
    m.none = m.wide = False
    m.position += 1
    return deliver_boolean(m, i[1], i[2])


cdef inline int read_bytes(Machine *m, const int64_t *i) noexcept nogil:
    """i: form of the size (0 all that is left, 1 number, 2 expression), size, text, register, column"""
    cdef int64_t size = m.end - m.position
    cdef bint none = False
    cdef int code
    if i[1] == 1:
        size = i[2]
    elif i[1] == 2:
        code = number_of(m, i[2], &size, &none)
        if code:
            return code
        if none or size < 0:
            return IRREGULAR
    if size > m.end - m.position:
        return m.overrun
    if i[3] and not wl_is_utf8(m.position, size):
        return IRREGULAR
    m.position += size
    return deliver_bytes(m, i[4], i[5], m.position - size, size)


cdef int read_bits(Machine *m, const int64_t *i) noexcept nogil:
    """i: low << 8 | width, form (0 boolean, 1 unsigned, 2 signed, 3 mapped), table, code, register, column.

    The integer itself stays the machine's value for the next bits.
    """
    cdef int64_t whole = m.value, low = i[1] >> 8, width = i[1] & 0xFF
    cdef int64_t bits = <int64_t>(<uint64_t>whole >> low & ((<uint64_t>1 << width) - 1 if width < 64 else ~<uint64_t>0))
    cdef int code
    cdef int64_t mapped[5]
    if m.wide or m.none:
        return IRREGULAR
    if i[2] == 3:
        mapped[1] = i[3]
        mapped[2] = i[4]
        mapped[3] = i[5]
        mapped[4] = i[6]
        code = map_value(m, mapped, bits)
    else:
        if i[2] == 2 and bits >> (width - 1) & 1:
            bits -= <int64_t>1 << width
        m.value = bits
        code = deliver_boolean(m, i[5], i[6]) if i[2] == 0 else deliver_integer(m, i[5], i[6])
    m.value = whole
    m.none = m.wide = False
    return code


cdef int compute(Machine *m, const int64_t *i) noexcept nogil:
    """i: expression, kind, register, column"""
    cdef int64_t value = 0
    cdef bint none = False
    cdef int code = evaluate(m, i[1], &value, &none)
    if code:
        return code
    if none:
        if i[3] >= 0:
            m.absent[i[3]] = True
        return OK
    return deliver(m, i[2], value, i[3], i[4])


cdef int verify(Machine *m, const int64_t *i) noexcept nogil:
    """i: algorithm, first expression, last expression, start register, register of the field, code"""
    cdef int64_t first = 0, last = 0, size
    cdef bint none = False
    cdef int code = number_of(m, i[2], &first, &none)
    if code or none:
        return code if code else IRREGULAR
    code = number_of(m, i[3], &last, &none)
    if code or none or m.absent[i[5]]:
        return code if code else IRREGULAR
    size = last - first if last > first else 0
    first += m.registers[i[4]]
    if first < 0 or first > m.end - m.base or size > m.end - m.base - first:
        return m.overrun if first >= 0 and first <= m.end - m.base else IRREGULAR
    if i[0] == OP_VERIFY_CRC:
        if wl_crc_value(m.crcs + i[1], m.base + first, size) != <uint64_t>m.registers[i[5]]:
            return <int>i[6]
        return OK
    if m.registers[i[5]] != 16:
        return IRREGULAR
    return check_digest(m, m.base + first, size, m.pointers[i[5]], <int>i[6])


cdef int need(Machine *m, const int64_t *i, int64_t *number) noexcept nogil:
    """At least so many bytes from the struct's start."""
    cdef bint none = False
    cdef int code = number_of(m, i[1], number, &none)
    if code:
        return code
    if none or number[0] < 0:
        return IRREGULAR
    return m.overrun if number[0] > (m.end - m.base) - m.registers[i[2]] else OK


cdef int seek(Machine *m, const int64_t *i) noexcept nogil:
    """i: form (0 from the struct's start, 1 from the end, 2 expression from the start), number, start register, reach register"""
    cdef int64_t target = i[2], start = m.registers[i[3]]
    cdef bint none = False
    cdef int code
    if i[1] == 2:
        code = evaluate(m, i[2], &target, &none)
        if code or none:
            return code if code else IRREGULAR
    if target < -(<int64_t>1 << 40) or target > <int64_t>1 << 40:
        return IRREGULAR
    target += (m.end - m.base) if i[1] == 1 else start
    if target < start or target < 0 or target > m.end - m.base:
        return m.overrun
    if m.position - m.base > m.registers[i[4]]:
        m.registers[i[4]] = m.position - m.base
    m.position = m.base + target
    return OK


cdef inline int switch_to(Machine *m, const int64_t *i) noexcept nogil:
    """The machine's value chooses, by a hash without collisions.

    Table: target of null (-1: none), shift, multiplier, number of places, then (value, target or -1) each.
    """
    cdef const int64_t *table = m.tables + i[1]
    cdef const int64_t *entry
    if m.none:
        if table[0] < 0:
            return <int>i[2]
        m.next = table[0]
        return OK
    entry = table + 4 + 2 * (<uint64_t>m.value * <uint64_t>table[2] >> table[1])
    if m.wide or entry[1] < 0 or entry[0] != m.value:
        return <int>i[2]
    m.next = entry[1]
    return OK


cdef int attempt(Machine *m, const int64_t *i) noexcept nogil:
    """i: body, table of codes that lead on, target after success, struct column (or -1), reason register, reason column"""
    cdef const uint8_t *position = m.position
    cdef const uint8_t *end = m.end
    cdef int overrun = m.overrun
    cdef const int64_t *table = m.tables + i[2]
    cdef int64_t n, row = m.columns[i[4]].length if i[4] >= 0 else 0
    cdef int64_t frames = m.frame_count, names = m.spans.length, following = m.next
    cdef int code = run(m, i[1])
    m.next = following
    if code == OK:
        m.next = i[3]
        return OK
    m.frame_count = frames
    m.spans.length = names
    for n in range(table[0]):
        if table[1 + 2 * n] == code:
            m.position = position
            m.end = end
            m.overrun = overrun
            if i[4] >= 0:
                cut(m.columns, <int>i[4], row)
            m.registers[i[5]] = table[2 + 2 * n]
            m.absent[i[5]] = False
            return OK
    return code


cdef int repeat_binary(Machine *m, const int64_t *i) noexcept nogil:
    """i: form of the count (0 to the end, 1 number, 2 expression), count, body, list column, index register"""
    cdef int64_t count = -1, n = 0, base = 0, following = m.next
    cdef bint none = False
    cdef const uint8_t *before
    cdef int code
    if i[1] == 1:
        count = i[2]
    elif i[1] == 2:
        code = evaluate(m, i[2], &count, &none)
        if code:
            return code
        if none or count < 0 or count > m.end - m.position:
            return IRREGULAR
    if i[4] >= 0:
        if ready(m.columns, i[4]) == NULL:
            return EXHAUSTED
        base = m.columns[m.columns[i[4]].child].length
    while n < count if count >= 0 else m.position < m.end:
        before = m.position
        m.registers[i[5]] = n
        m.absent[i[5]] = False
        code = run(m, i[3])
        if code:
            return code
        if count < 0 and m.position <= before:
            return IRREGULAR
        n += 1
        if i[4] >= 0 and pad(m.columns + m.columns[i[4]].child, base + n):
            return EXHAUSTED
    m.next = following
    return put_list(m.columns, i[4]) if i[4] >= 0 else OK


# --- MessagePack -----------------------------------------------------------------------------------------------------

cdef int no_integer(Machine *m, const uint8_t *p) noexcept nogil:
    """Why there is no integer at `p`."""
    return m.overrun if p >= m.end or wl_family[p[0]] == F_INT else IRREGULAR


cdef inline int note_version(Machine *m, const int64_t *i, int64_t arity) noexcept nogil:
    """i: table, register. Table: count, then (arity, version) each."""
    cdef const int64_t *table = m.tables + i[1]
    cdef int64_t n
    for n in range(table[0]):
        if table[1 + 2 * n] == arity:
            if i[2] >= 0:
                m.registers[i[2]] = table[2 + 2 * n]
                m.absent[i[2]] = False
            return OK
    return IRREGULAR


cdef int begin_list(Machine *m, const int64_t *i) noexcept nogil:
    """Fills the next frame.

    i: body, list column, index register, register of the unique member (-1: none), whether it is a map, register of the
    unique member where that is a number (-1: none)
    """
    cdef Frame *frame = m.frames + m.frame_count
    cdef Column *column
    cdef Head head
    cdef int code
    if m.frame_count >= FRAMES:
        return IRREGULAR
    code = take(m, F_MAP if i[5] else F_ARRAY, &head)
    if code:
        return code
    if <int64_t>head.number * (2 if i[5] else 1) > m.end - m.position:
        return m.overrun
    frame.instruction = i
    frame.n = 0
    frame.count = <int64_t>head.number
    frame.names = m.spans.length
    frame.elements = NULL
    if i[2] >= 0:
        column = ready(m.columns, i[2])
        if column == NULL:
            return EXHAUSTED
        frame.elements = m.columns + column.child
        frame.base = frame.elements.length
    m.registers[i[3]] = 0
    m.absent[i[3]] = False
    return OK


cdef inline int end_element(Machine *m, Frame *frame) noexcept nogil:
    """Behind an element: its unique member is new, and it has its row."""
    if (frame.instruction[4] >= 0 or frame.instruction[6] >= 0) and not is_new(m, frame):
        return IRREGULAR
    frame.n += 1
    if frame.elements != NULL and frame.elements.length < frame.base + frame.n:
        return pad(frame.elements, frame.base + frame.n)
    return OK


cdef int end_list(Machine *m, Frame *frame) noexcept nogil:
    """Behind the last element."""
    cdef bint unique = frame.instruction[4] >= 0 or frame.instruction[6] >= 0
    if frame.count > FEW and unique and has_equal(<Name *>(m.spans.data + frame.names), frame.count):
        return IRREGULAR
    m.spans.length = frame.names
    return put_list(m.columns, frame.instruction[2]) if frame.instruction[2] >= 0 else OK


cdef inline bint is_new(Machine *m, Frame *frame) noexcept nogil:
    """Note the element's unique member; whether it is unlike those before, as far as FEW of them go."""
    cdef bint number = frame.instruction[4] < 0
    cdef int64_t register = frame.instruction[6] if number else frame.instruction[4], n
    cdef int64_t size = 0 if number else m.registers[register]
    cdef const uint8_t *data = NULL if number else m.pointers[register]
    cdef uint64_t head
    cdef Name *names
    if m.absent[register] or push(&m.spans, NULL, sizeof(Name)):
        return False
    head = <uint64_t>m.registers[register] if number else wl_short_word(data, size)
    names = <Name *>(m.spans.data + frame.names)
    names[frame.n].head = head
    names[frame.n].data = data
    names[frame.n].size = size
    if frame.n < FEW:
        for n in range(frame.n):
            if names[n].head == head and compare_names(names + n, names + frame.n) == 0:
                return False
    return True


cdef int compare_names(const void *left, const void *right) noexcept nogil:
    cdef const Name *a = <const Name *>left
    cdef const Name *b = <const Name *>right
    if a.head != b.head:
        return -1 if a.head < b.head else 1
    if a.size != b.size:
        return -1 if a.size < b.size else 1
    return memcmp(a.data, b.data, <size_t>a.size) if a.size > 8 else 0


cdef bint has_equal(Name *names, int64_t count) noexcept nogil:
    """Whether two are equal; sorts them."""
    cdef int64_t n
    qsort(names, <size_t>count, sizeof(Name), &compare_names)
    for n in range(1, count):
        if compare_names(names + n - 1, names + n) == 0:
            return True
    return False


# --- protobuf --------------------------------------------------------------------------------------------------------

cdef int proto_integer(Machine *m, const int64_t *i) noexcept nogil:
    """i: slot, form, minimum, maximum, register, column.

    Form: bit 0 signed, bit 1 zigzag, bit 2 fixed, bit 3 cut to 32 bits; 16 a boolean.
    """
    cdef Slot *slot = m.slots + i[1]
    cdef uint64_t raw = slot.number
    if i[2] == 16:
        m.value = raw != 0
        m.none = m.wide = False
        return deliver_boolean(m, i[5], i[6])
    if i[2] & 4:
        if slot.size < (4 if i[2] & 8 else 8):
            return IRREGULAR
        raw = wl_u32(slot.data) if i[2] & 8 else wl_u64(slot.data)
    if i[2] & 8:
        raw = <uint32_t>raw
    if i[2] & 2:
        raw = raw >> 1 ^ (0 - (raw & 1))
    elif i[2] & 1 and i[2] & 8:
        raw = <uint64_t><int64_t><int32_t>raw
    m.value = <int64_t>raw
    m.none = False
    m.wide = not i[2] & 3 and m.value < 0
    if not m.wide and (m.value < i[3] or m.value > i[4]):
        return IRREGULAR
    return deliver_integer(m, i[5], i[6])


cdef int proto_float(Machine *m, const int64_t *i) noexcept nogil:
    cdef Slot *slot = m.slots + i[1]
    cdef double number
    if slot.size * 8 < i[2]:
        return IRREGULAR
    number = wl_float(wl_u32(slot.data)) if i[2] == 32 else wl_double(wl_u64(slot.data))
    return put_float(m.columns, i[4], number) if i[4] >= 0 else OK


cdef inline int proto_bytes(Machine *m, const int64_t *i) noexcept nogil:
    cdef Slot *slot = m.slots + i[1]
    if i[2] and not wl_is_utf8(slot.data, slot.size):
        return IRREGULAR
    if i[5] >= 0 and slot.size != i[5]:
        return IRREGULAR
    m.none = False
    return deliver_bytes(m, i[3], i[4], slot.data, slot.size)


cdef int repeat_message(Machine *m, const int64_t *i) noexcept nogil:
    """i: slot, body, list column, index register, slot of the element (-1: a message), count register"""
    cdef Slot *slot = m.slots + i[1]
    cdef int64_t count = slot.count, first = slot.first, n, base = 0, spans = m.spans.length, following = m.next
    cdef const uint8_t *position = m.position
    cdef const uint8_t *end = m.end
    cdef Occurrence occurrence
    cdef Slot *element
    cdef int code
    if i[3] >= 0:
        if ready(m.columns, i[3]) == NULL:
            return EXHAUSTED
        base = m.columns[m.columns[i[3]].child].length
    for n in range(count):
        occurrence = (<Occurrence *>(m.spans.data + first))[n]
        m.registers[i[4]] = n
        m.absent[i[4]] = False
        if i[5] >= 0:
            element = m.slots + i[5]
            element.data = m.base + occurrence.start
            element.size = occurrence.size
            element.number = occurrence.number
            element.found = True
        else:
            m.position = m.base + occurrence.start
            m.end = m.position + occurrence.size
        code = run(m, i[2])
        if code:
            return code
        m.spans.length = spans
        if i[3] >= 0 and pad(m.columns + m.columns[i[3]].child, base + n + 1):
            return EXHAUSTED
    m.position = position
    m.end = end
    m.next = following
    if i[6] >= 0:
        m.registers[i[6]] = count
        m.absent[i[6]] = False
    return put_list(m.columns, i[3]) if i[3] >= 0 else OK


cdef int check_table(Machine *m, const int64_t *i) noexcept nogil:
    cdef Slot *slot = m.slots + i[1]
    cdef Occurrence *occurrences
    cdef int64_t n
    if slot.count == 0:
        return OK
    occurrences = <Occurrence *>(m.spans.data + slot.first)
    for n in range(slot.count):
        if not wl_is_utf8(m.base + occurrences[n].start, occurrences[n].size):
            return IRREGULAR
    return OK


cdef inline int table_entry(Machine *m, const int64_t *i) noexcept nogil:
    """i: slot of the table, code, register, column; the machine's value is the index"""
    cdef Slot *slot = m.slots + i[1]
    cdef Occurrence *occurrence
    if m.wide or m.value < 0 or m.value >= slot.count:
        return IRREGULAR
    occurrence = <Occurrence *>(m.spans.data + slot.first) + m.value
    return deliver_bytes(m, i[3], i[4], m.base + occurrence.start, occurrence.size)

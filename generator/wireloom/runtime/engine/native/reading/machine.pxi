# The machine that reads: it executes a program for one record at a time, instruction by instruction.
#
# `run` has the instructions of hot loops and keeps the position in a local variable; `step` has the others. A nonzero
# code stops the record: IRREGULAR leaves it to the parser, which reports the error. Jumps and calls lead forward only,
# so every run ends. The validator (checks.pxi) has checked every operand, so the machine checks none. MessagePack lists
# need no recursion: a frame holds the state of each open list.

cdef int run(Machine *m, int64_t start) noexcept nogil:
    """Execute from `start` to its return."""
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
            m.position = p
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
        elif op == OP_ENTER:  # start register, size register, first and last register to clear
            if i[1] >= 0:
                registers[i[1]] = p - m.base
                absent[i[1]] = False
            if i[2] >= 0:
                registers[i[2]] = end - p
                absent[i[2]] = False
            for number in range(i[3], i[4]):
                absent[number] = 1
        elif op == OP_INTEGER:  # width (0: a varint), signed (zigzag), big (its bits), register, column, register of the raw 64 bits
            if end - p < i[1]:
                return m.overrun
            m.none = False
            if i[1]:
                m.wide = load(p, i[1], i[2], i[3], &number)
                p += i[1]
            elif load_varint(&p, end, i[2], i[3], &number, &m.wide):
                return unended(m, p, end, i[3], i[2])
            m.value = number
            if i[6] >= 0:
                registers[i[6]] = number
                absent[i[6]] = False
            code = deliver_integer(m, i[4], i[5])
        elif op == OP_CONSTANT:  # value, code, whether it is beyond 63 bits
            if m.none or m.wide != i[3] or m.value != i[1]:
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
        elif op == OP_BRANCH:  # relation (1 less, 2 equal, 4 greater), register, register or -1, number, target if false, target if null
            number = registers[i[3]] if i[3] >= 0 else i[4]
            if absent[i[2]] or (i[3] >= 0 and absent[i[3]]):
                at = i[6]
            elif not i[1] >> (1 + (registers[i[2]] > number) - (registers[i[2]] < number)) & 1:
                at = i[5]
        elif op == OP_ARITHMETIC:  # operation, register, register, register or -1, number, target if one is null
            number = registers[i[4]] if i[4] >= 0 else i[5]
            if absent[i[3]] or (i[4] >= 0 and absent[i[4]]):
                at = i[6]
            else:
                code = combine(<int>i[1], registers[i[3]], number, &number)
                registers[i[2]] = number
                absent[i[2]] = False
        elif op == OP_BRANCH_IN:  # register, table of numbers, target if false
            if absent[i[1]] or not is_among(m.tables + i[2], registers[i[1]]):
                at = i[3]
        elif op == OP_FIXED:  # table, size, target if bytes are missing
            if end - p < i[2] or m.readable - p < i[2] + 8:
                at = i[3]
            else:
                code = read_fixed(m, m.tables + i[1], p)
                p += i[2]
        elif op == OP_PEEK:  # width, signed, big; the position does not move
            if end - p < i[1]:
                return m.overrun
            load(p, i[1], i[2], i[3], &number)
            m.none = m.wide = False  # a number beyond 63 bits is looked up by all its 64 bits
            m.value = number
        elif op == OP_MARK:  # register, start register
            registers[i[1]] = (p - m.base) - registers[i[2]]
            absent[i[1]] = False
        elif op == OP_BYTES:
            m.position = p
            code = read_bytes(m, i)
            p = m.position
        elif op == OP_BITS:
            code = read_bits(m, i)
        elif op == OP_COMPUTE:
            m.position = p
            code = compute(m, i)
        elif op == OP_VERIFY_CRC or op == OP_VERIFY_DIGEST:
            m.position = p
            code = verify(m, i)
        elif op == OP_FRAME:  # expression, start register, size register, save register, code
            m.position = p
            code = need(m, i, &number)
            if code or number < 0:
                return code if code else IRREGULAR
            registers[i[4]] = end - m.base
            registers[i[4] + 1] = m.overrun
            registers[i[3]] = number
            end = m.end = m.base + registers[i[2]] + number
            m.overrun = <int>i[5]
            if p > end:
                return IRREGULAR
        elif op == OP_UNFRAME or op == OP_UNREGION:  # save register
            number = registers[i[1]]
            if p != end:
                return m.overrun
            if number < p - m.base or number > m.stop - m.base:
                return IRREGULAR
            end = m.end = m.base + number
            m.overrun = <int>registers[i[1] + 1]
        elif op == OP_VALUE:  # register, which becomes the last value
            m.value = registers[i[1]]
            m.none = absent[i[1]]
            m.wide = False
        elif op == OP_BEGIN:  # struct column
            if ready(columns, i[1]) == NULL:
                return EXHAUSTED
        elif op == OP_FINISH:  # struct column
            code = finish_row(columns + i[1])
        elif op == OP_SWITCH:  # table of (value, target), code, register of the tag (-1: the last value)
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
        elif op == OP_PACK_CONSTANT:  # as CONSTANT
            if wl_take_integer(&p, end, &number, &wide):
                return no_integer(m, p)
            if wide != i[3] or number != i[1]:
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
            if i[1] & NARROW:
                real = <double><float>real
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
        elif op == OP_JSON_MEMBER:  # slot, target if missing, whether that is an error
            m.none = not (m.slots + i[1]).found
            if not m.none:
                (m.slots + i[1]).count = 1
                m.node = <int64_t>(m.slots + i[1]).number
            elif i[3]:
                return IRREGULAR
            else:
                at = i[2]
        elif op == OP_JSON_AT:  # slot of an object
            m.node = <int64_t>(m.slots + i[1]).number
        elif op == OP_JSON_KIND:  # table of targets by kind
            if <uint64_t>m.node >= <uint64_t>m.json.count or m.tables[i[1] + m.json.nodes[m.node].kind] < 0:
                return IRREGULAR
            at = m.tables[i[1] + m.json.nodes[m.node].kind]
        elif op == OP_JUMP:  # no operands
            pass
        else:
            m.position = p
            m.next = at
            code = json_step(m, i, op) if OP_JSON_DOCUMENT <= op <= OP_JSON_OPEN else step(m, i, op)
            p = m.position
            end = m.end
            at = m.next
        if code:
            return code


cdef int step(Machine *m, const int64_t *i, int op) noexcept nogil:
    """Execute one instruction that is not in `run`."""
    cdef int64_t number = 0
    cdef bint flag = False
    cdef Head head
    cdef int code
    if op == OP_FLOAT:
        return read_float(m, i)
    elif op == OP_BOOLEAN:
        return read_boolean(m, i)
    elif op == OP_CONSTANT_BYTES:  # register of the field, text, size, code
        if m.absent[i[1]] or m.registers[i[1]] != i[3] or memcmp(m.pointers[i[1]], m.texts + i[2], <size_t>i[3]):
            return <int>i[4]
    elif op == OP_RANGE:  # form of the minimum (0 none, 1 of 63 bits, 2 beyond), minimum, the same for the maximum, code
        if not m.none and not is_between(i + 1, m.value, m.wide):
            return <int>i[5]
    elif op == OP_NEED:  # expression, start register
        return need(m, i, &number)
    elif op == OP_SEEK:
        return seek(m, i)
    elif op == OP_REACH:  # register: the farthest position of a struct with offsets
        m.registers[i[1]] = m.position - m.base
    elif op == OP_WINDOW:  # width of the integer, offset, width of the window, shift | big << 8; the position does not move
        if m.end - m.position < i[1]:
            return m.overrun
        m.none = m.wide = False
        m.value = <int64_t>window(m.position + i[2], i[3], i[4] & 0xFF, i[4] >> 8)
    elif op == OP_HOLE:  # expression, start register, size: the position of the checksum that is verified next
        m.hole = number + m.registers[i[2]] + 1 if need(m, i, &number) == OK else -1  # outside of the data
        m.hole_width = i[3]
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
            return <int>i[2]
        if number > m.end - m.position:
            return m.overrun
        m.registers[i[3]] = m.end - m.base
        m.registers[i[3] + 1] = m.overrun
        m.end = m.position + number
        m.overrun = <int>i[2]
    elif op == OP_END:  # code
        if m.position != m.end:
            return <int>i[1]
    elif op == OP_MATCH:
        return match_text(m, i)
    elif op == OP_REPEAT:
        return repeat_binary(m, i)
    elif op == OP_ATTEMPT:
        return attempt(m, i)
    elif op == OP_FAIL:
        return <int>i[1]
    elif op == OP_TEXT:  # start and size in the texts, register, column
        return deliver_bytes(m, i[3], i[4], m.texts + i[1], i[2])
    elif op == OP_REAL:  # the bits of a double, column
        return put_float(m.columns, i[2], wl_double(<uint64_t>i[1])) if i[2] >= 0 else OK
    elif op == OP_MAKE:
        return make_text(m, i)
    elif op == OP_CHARSET:  # register of the bytes, table of the bytes with a meaning, code
        if m.absent[i[1]] or in_charset(m.pointers[i[1]], m.registers[i[1]], m.tables + i[2]):
            return OK
        return <int>i[3]
    elif op == OP_SPELLING:  # register of the text, whether it is UTF-8, least and most characters, automaton or none, code
        return held_spelling(m, i)
    elif op == OP_PACK_COUNT:  # register: the number of elements of the next list or map
        return peek_count(m, i[1])
    elif op == OP_PACK_OBJECT:
        return find_members(m, i)
    elif op == OP_PACK_MEMBER:
        return go_to_member(m, i)
    elif op == OP_PACK_CLOSE:
        return leave_members(m, i)
    elif op == OP_PACK_NIL:
        m.none = True
        return take(m, F_NIL, &head)
    elif op == OP_PACK_OPEN:  # rules, families, value column, metadata column, form, names of ext types
        return read_open(m, i)
    elif op == OP_PROTO_MESSAGE:  # enclosing messages, fields
        return scan_message(m, m.tables + i[1])
    elif op == OP_PROTO_ABSENT:  # slot, target if missing, whether that is an error
        m.none = not m.slots[i[1]].found
        if m.none:
            if i[3]:
                return IRREGULAR
            m.next = i[2]
    elif op == OP_WIDE_DECIMAL:
        return read_decimal(m, i)
    elif op == OP_WIDE_MD5:
        return read_digest(m, i)
    elif op == OP_WIDE_BRANCH:
        return branch_wide(m, i)
    elif op == OP_DISCARD:
        return discard(m, i)
    elif op == OP_PACK_EXT:
        return read_extension(m, i)
    elif op == OP_UNIQUE_OPEN:  # register: where the unique members of a list begin on the stack
        m.registers[i[1]] = m.spans.length
        m.absent[i[1]] = False
    elif op == OP_UNIQUE:
        return note_unique(m, i)
    elif op == OP_UNIQUE_CLOSE:
        return end_unique(m, i[1])
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
        m.piece_first = m.slots[i[1]].first
        m.piece_count = m.slots[i[1]].count
    elif op == OP_PROTO_UNSUB:  # save register
        number = m.registers[i[1]]
        if number < 0 or number > m.stop - m.base or m.registers[i[1] + 1] < 0 or m.registers[i[1] + 1] > number:
            return IRREGULAR
        m.end = m.base + number
        m.position = m.base + m.registers[i[1] + 1]
    elif op == OP_PROTO_REPEAT or op == OP_PROTO_ENTRIES:
        return repeat_message(m, i)
    elif op == OP_UNPACK:
        return unpack_region(m, i)
    elif op == OP_UNPACKED:
        return leave_unpacked(m)
    elif op == OP_PROTO_TABLE:  # slot: every entry must be UTF-8
        return check_table(m, i)
    elif op == OP_PROTO_ENTRY:
        return table_entry(m, i)
    else:
        return IRREGULAR
    return OK


# --- protobuf --------------------------------------------------------------------------------------------------------

cdef int proto_integer(Machine *m, const int64_t *i) noexcept nogil:
    """i: slot, form, minimum, maximum, register, column.

    Form: bit 0 signed, bit 1 zigzag, bit 2 fixed, bit 3 truncated to 32 bits; 16 a boolean.
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
    if m.wide:
        if i[4] != INT64_MAX:
            return IRREGULAR
    elif m.value < i[3] or m.value > i[4]:
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


cdef inline int64_t first_start(const Machine *m, const Slot *slot) noexcept nogil:
    """The position of the first value of a repeated field."""
    return (<const Occurrence *>(m.spans.data + slot.first)).start


cdef int repeat_message(Machine *m, const int64_t *i) noexcept nogil:
    """i: slot, body, list column; for elements the index register and the element's slot (-1: a message), for entries the
    registers of a text key and of a number key; count register

    If two entries have the same key, the parser decides which one counts.
    """
    cdef Slot *slot = m.slots + i[1]
    cdef int64_t count = slot.count, first = slot.first, n, base = 0, spans = m.spans.length, following = m.next
    cdef const uint8_t *position = m.position
    cdef const uint8_t *end = m.end
    cdef bint entries = i[0] == OP_PROTO_ENTRIES
    cdef int64_t checkpoint = begin_noted(m, first_start(m, slot)) if m.notes and count and not entries else -1
    cdef Occurrence occurrence
    cdef Slot *element
    cdef int code
    if entries and i[4] < 0 and i[5] < 0:
        return IRREGULAR
    if i[3] >= 0:
        if ready(m.columns, i[3]) == NULL:
            return EXHAUSTED
        base = m.columns[m.columns[i[3]].child].length
    for n in range(count):
        occurrence = (<Occurrence *>(m.spans.data + first))[n]
        if checkpoint >= 0:
            note_list(m, checkpoint, n, True)
            (<Checkpoint *>(m.noted.data + checkpoint)).position = occurrence.start
        if not entries:
            m.registers[i[4]] = n
            m.absent[i[4]] = False
        if not entries and i[5] >= 0:
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
        m.spans.length = spans + (n * <int64_t>sizeof(Name) if entries else 0)
        if entries and not is_unlike(m, spans, n, i[4], i[5]):
            return IRREGULAR
        if i[3] >= 0 and pad(m.columns + m.columns[i[3]].child, base + n + 1):
            return EXHAUSTED
    if entries and count > FEW and has_equal(<Name *>(m.spans.data + spans), count):
        return IRREGULAR
    m.spans.length = spans
    m.position = position
    m.end = end
    m.next = following
    if checkpoint >= 0:
        note_list(m, checkpoint, count, False)
    if i[6] >= 0:
        m.registers[i[6]] = count
        m.absent[i[6]] = False
    return put_list(m.columns, i[3]) if i[3] >= 0 else OK


cdef int check_table(Machine *m, const int64_t *i) noexcept nogil:
    cdef Slot *slot = m.slots + i[1]
    cdef Occurrence *occurrences
    cdef int64_t n, checkpoint = -1
    if slot.count == 0:
        return OK
    occurrences = <Occurrence *>(m.spans.data + slot.first)
    if m.notes:
        checkpoint = begin_noted(m, first_start(m, slot))
    for n in range(slot.count):
        if checkpoint >= 0:
            note_list(m, checkpoint, n, True)
            (<Checkpoint *>(m.noted.data + checkpoint)).position = occurrences[n].start
        if not wl_is_utf8(m.base + occurrences[n].start, occurrences[n].size):
            return IRREGULAR
    if checkpoint >= 0:
        note_list(m, checkpoint, slot.count, False)
    return OK


cdef inline int table_entry(Machine *m, const int64_t *i) noexcept nogil:
    """i: slot of the table, code, register, column, the most bytes of all entries; the last value is the index

    Entries count even without a column: whether a record is valid does not depend on the requested columns.
    """
    cdef Slot *slot = m.slots + i[1]
    cdef Occurrence *occurrence
    if m.wide or m.value < 0 or m.value >= slot.count:
        return IRREGULAR
    occurrence = <Occurrence *>(m.spans.data + slot.first) + m.value
    m.expanded += occurrence.size
    if m.expanded > i[5]:
        return IRREGULAR
    return deliver_bytes(m, i[3], i[4], m.base + occurrence.start, occurrence.size)

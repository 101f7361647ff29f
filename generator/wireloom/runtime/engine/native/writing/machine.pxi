# The machine that writes: it executes a program for one record at a time, on the current rows of the columns.
#
# `make` has all instructions. It appends to the output, and fills lengths and checksums into reserved bytes. As in
# reading, jumps and calls lead forward only, and the validator has checked every operand. If a value does not fit, the
# code IRREGULAR leaves the record to the builders, which report the error.

cdef int each_element(Builder *k, int64_t child, int64_t first, int64_t last, int64_t body, int64_t place, int64_t before=0) noexcept nogil:
    """Write the elements of a list, after `before` others."""
    cdef int64_t row
    cdef int64_t *in_force = k.rows + k.sources[child].space
    cdef int code
    for row in range(first, last):
        in_force[0] = row
        k.m.registers[place] = row - first + before
        k.m.absent[place] = False
        code = make(k, body)
        if code:
            return code
    return OK


cdef enum:
    PASSES = 6  # as many as builders make


cdef int write_passes(Builder *k, const int64_t *i) noexcept nogil:
    """Write a struct repeatedly, until its size and marks are those that its values assume.

    i: body, table: count, then (assumed register, resulting register) each; the first pair is the size
    """
    cdef const int64_t *places = k.m.tables + i[2]
    cdef int64_t size = k.size, seals = k.seal_count, sealed = k.sealed, opened = k.opened.length, n, assumed, reached
    cdef int64_t settled_length = k.settled.length
    cdef bint settled
    cdef int tried, code
    for n in range(places[0]):
        k.m.absent[places[1 + 2 * n]] = True
    for tried in range(PASSES):
        k.size, k.seal_count, k.sealed, k.opened.length = size, seals, sealed, opened
        k.settled.length = settled_length
        k.guessing += tried == 0
        code = make(k, i[1])
        k.guessing -= tried == 0
        if code:
            return code
        settled = True
        for n in range(places[0]):
            assumed, reached = places[1 + 2 * n], places[2 + 2 * n]
            if k.m.absent[assumed] or k.m.absent[reached] or k.m.registers[assumed] != k.m.registers[reached]:
                settled = False
            k.m.registers[assumed], k.m.absent[assumed] = k.m.registers[reached], k.m.absent[reached]
        if settled:
            return OK
    return IRREGULAR


cdef int write_list(Builder *k, const int64_t *i) noexcept nogil:
    """i: list column, count or -1, body, index register, form of the count before it or 0"""
    cdef int64_t first = 0, last = 0
    cdef int code
    if not there(k, i[1]):
        return put_prefix(k, i[5], -1) if i[5] >> 6 & 1 else IRREGULAR
    code = list_at(k, i[1], &first, &last)
    if code:
        return code
    if i[2] >= 0 and last - first != i[2]:
        return IRREGULAR
    if i[5]:
        code = put_prefix(k, i[5], last - first)
        if code:
            return code
    return each_element(k, k.sources[i[1]].child, first, last, i[3], i[4])


cdef int write_list_in_blocks(Builder *k, const int64_t *i) noexcept nogil:
    """i: list column, form of the count before each part, the greatest count, body, index register"""
    cdef int64_t first = 0, last = 0, start, behind
    cdef int code = list_at(k, i[1], &first, &last) if there(k, i[1]) else IRREGULAR
    start = first
    while code == OK and first < last:
        behind = min(first + i[3], last)
        code = put_prefix(k, i[2], behind - first)
        if code == OK:
            code = each_element(k, k.sources[i[1]].child, first, behind, i[4], i[5], first - start)
        first = behind
    return code if code else put_prefix(k, i[2], 0)


cdef int choose_kind(const Builder *k, const int64_t *i, int64_t *at) noexcept nogil:
    """i: alternatives column, table: target for null or -1, count, then (column, target) each"""
    cdef const int64_t *table = k.m.tables + i[2]
    cdef int64_t child, n
    chosen(k, i[1], &child)
    if child == -1:
        at[0] = table[0]
        return OK if table[0] >= 0 else IRREGULAR
    for n in range(table[1]):
        if table[2 + 2 * n] == child:
            at[0] = table[3 + 2 * n]
            return OK
    return IRREGULAR


cdef int choose_record(const Builder *k, const int64_t *i, int64_t *at) noexcept nogil:
    """Choose the accepting case with the most members of the value; the first of equals.

    i: register of the accepting cases' bits, table: count, then (target, address of a list of columns) each
    """
    cdef const int64_t *table = k.m.tables + i[2]
    cdef const int64_t *columns
    cdef int64_t mask = k.m.registers[i[1]], most = -1, members, n, m
    if mask and mask & (mask - 1) == 0:
        for n in range(table[0]):
            if mask >> n & 1:
                at[0] = table[1 + 2 * n]
                return OK
    for n in range(table[0]):
        if not mask >> n & 1:
            continue
        columns = k.m.tables + table[2 + 2 * n]
        members = 0
        for m in range(columns[0]):
            members += 1 if has_value(k, columns[1 + m]) else 0
        if members > most:
            most = members
            at[0] = table[1 + 2 * n]
    return IRREGULAR if most < 0 else OK


cdef inline bint has_value(const Builder *k, int64_t index) noexcept nogil:
    """Whether a member of a record is not null; bit 32 of the index marks alternatives."""
    cdef int64_t child
    if index >> 32 & 1:
        return chosen(k, index & <int64_t>0xFFFFFFFF, &child)
    return there(k, index)


cdef void hold_nothing(Builder *k, const int64_t *columns) noexcept nogil:
    """Doubt the record if any of these columns has a value."""
    cdef int64_t n
    for n in range(columns[0]):
        if has_value(k, columns[1 + n]):
            k.doubtful = True


cdef bint agrees_held(Builder *k, const int64_t *i) noexcept nogil:
    """Whether a column is null or equals the number that was filled in.

    i: column, register of the position, reserved bytes, bytes of the number, signed, big (see `number_form`)
    """
    cdef uint8_t number[HELD_LIMIT]
    cdef int64_t at = 0, value = 0
    cdef bint wide = False
    if not there(k, i[1]):
        return True
    if not held(k, i[2], i[3], &at) or integer_at(k, i[1], &value, &wide) or store_later(number, value, wide, i + 4):
        return False
    return memcmp(number, k.output.data + at, <size_t>i[3]) == 0


cdef int hold_unique(Builder *k, const int64_t *i) noexcept nogil:
    """i: list column, the column of texts or bytes in which no two elements may be equal"""
    cdef int64_t first = 0, last = 0, n, other
    cdef int64_t *in_force = k.rows + k.sources[k.sources[i[1]].child].space
    cdef Span span
    cdef Name *names
    cdef int code
    if not there(k, i[1]):
        return IRREGULAR
    code = list_at(k, i[1], &first, &last)
    k.m.spans.length = 0
    if not code and last - first > 1:
        code = push(&k.m.spans, NULL, (last - first) * <int64_t>sizeof(Name))
    if code or last - first < 2:
        return code
    names = <Name *>k.m.spans.data
    for n in range(last - first):
        in_force[0] = first + n
        if not there(k, i[2]):
            return IRREGULAR
        code = bytes_at(k, i[2], &span)
        if code:
            return code
        names[n].head, names[n].data, names[n].size = wl_short_word(span.data, span.size), span.data, span.size
        if n < FEW:
            for other in range(n):
                if names[other].head == names[n].head and compare_names(names + other, names + n) == 0:
                    return IRREGULAR
    return IRREGULAR if last - first > FEW and has_equal(names, last - first) else OK


cdef int make(Builder *k, int64_t start) noexcept nogil:
    """Execute from `start` to the next return."""
    cdef int64_t target = 0, child = 0, op
    cdef const int64_t *program = k.m.code
    cdef const int64_t *i
    cdef const int64_t *next = program + start * WIDTH  # stays in a register: nothing may take its address
    cdef int code
    cdef bint flag = False
    while True:
        i = next
        next = i + WIDTH
        code = OK
        op = i[0]
        if op == E_RETURN:
            return OK
        elif op == E_ENTER:  # start register, first and last register to clear
            if i[1] >= 0:
                k.m.registers[i[1]] = k.size - k.base
                k.m.absent[i[1]] = False
            if i[2] < i[3]:
                memset(k.m.absent + i[2], 1, <size_t>(i[3] - i[2]))
        elif op == E_LOAD:
            code = load_column(k, i)
        elif op == E_COMPUTE:  # expression, register
            code = number_of(&k.m, i[1], &target, &flag)
            k.m.registers[i[2]] = target
            k.m.absent[i[2]] = flag
        elif op == E_WHEN:  # expression, target
            code = holds(&k.m, i[1], &flag)
            if not flag:
                next = program + i[2] * WIDTH
        elif op == E_BRANCH:  # relation (1 less, 2 equal, 4 greater), register, register or -1, number, target if false, target if null
            target = k.m.registers[i[3]] if i[3] >= 0 else i[4]
            if k.m.absent[i[2]] or (i[3] >= 0 and k.m.absent[i[3]]):
                next = program + i[6] * WIDTH
            elif not i[1] >> (1 + (k.m.registers[i[2]] > target) - (k.m.registers[i[2]] < target)) & 1:
                next = program + i[5] * WIDTH
        elif op == E_BRANCH_IN:  # register, table of numbers, target if false
            if k.m.absent[i[1]] or not is_among(k.m.tables + i[2], k.m.registers[i[1]]):
                next = program + i[3] * WIDTH
        elif op == E_ARITHMETIC:  # operation, register, register, register or -1, number, target if one is null
            target = k.m.registers[i[4]] if i[4] >= 0 else i[5]
            if k.m.absent[i[3]] or (i[4] >= 0 and k.m.absent[i[4]]):
                next = program + i[6] * WIDTH
            else:
                code = combine(<int>i[1], k.m.registers[i[3]], target, &target)
                k.m.registers[i[2]] = target
                k.m.absent[i[2]] = False
        elif op == E_CONSTANT:  # text, size
            code = put_text(k, i + 1, 0)
        elif op == E_INTEGER:
            code = write_column_integer(k, i)
        elif op == E_INTEGERS:  # table: count, then (column, bytes, signed, big) each
            for target in range(k.m.tables[i[1]]):
                code = write_column_integer(k, k.m.tables + i[1] + 4 * target)
                if code:
                    return code
        elif op == E_PUT:  # register, bytes, signed, big
            if k.m.absent[i[1]] and not k.guessing:
                return IRREGULAR
            code = put_number(k, 0 if k.m.absent[i[1]] else k.m.registers[i[1]], False, i[2], i[3], i[4])
            if code == IRREGULAR and k.guessing:
                code = put_number(k, 0, False, i[2], i[3], i[4])
        elif op == E_FLOAT:
            code = write_column_float(k, i)
        elif op == E_BOOLEAN:  # column
            if not there(k, i[1]):
                return IRREGULAR
            code = put_number(k, boolean_at(k, i[1]), False, 1, False, True)
        elif op == E_BYTES:
            code = write_column_bytes(k, i)
        elif op == E_ENDED:
            code = write_ended(k, i)
        elif op == E_BLOCKS:
            code = write_column_blocks(k, i)
        elif op == E_HOLD:  # bytes, register
            code = hold(k, i[1], i[2])
        elif op == E_PATCH:
            code = patch(k, i)
        elif op == E_MARK:  # register, start register
            k.m.registers[i[1]] = k.size - k.base - k.m.registers[i[2]]
            k.m.absent[i[1]] = False
        elif op == E_PAD:  # offset, start register
            code = pad_to(k, k.base + k.m.registers[i[2]] + i[1]) if 0 <= k.m.registers[i[2]] <= k.size - k.base else IRREGULAR
        elif op == E_FILL:  # expression, its greatest value
            code = fill(k, i[1], i[2])
        elif op == E_CHECKSUMS:  # table, start register
            code = write_checksums(k, k.m.tables + i[1], k.m.registers[i[2]])
        elif op == E_PASSES:
            code = write_passes(k, i)
        elif op == E_REPEAT:
            code = write_list(k, i)
        elif op == E_REPEAT_BLOCKS:
            code = write_list_in_blocks(k, i)
        elif op == E_SIZE_BEGIN:  # form of the size, register of its position
            code = hold(k, i[1] >> 1 & 15, i[2])
        elif op == E_SIZE_END:
            code = end_size(k, i)
        elif op == E_MAP:
            code = map_back(k, i)
        elif op == E_BITS:  # register of the integer, register of the value, form (see `set_bits`), column to load from + 1 or 0, form of the load
            if i[4]:
                code = load_into(k, i[4] - 1, i[5], i[2])
                if code:
                    return code
            if not k.m.absent[i[2]]:
                code = set_bits(k, i, k.m.registers[i[2]])
            elif i[3] >> 17:
                code = IRREGULAR
            if k.guessing:
                code = OK
        elif op == E_BITS_MAPPED:
            code = set_mapped_bits(k, i)
            if k.guessing:
                code = OK
        elif op == E_PRESENT:  # column
            if not there(k, i[1]):
                return IRREGULAR
        elif op == E_ABSENT:  # column, target
            if not there(k, i[1]):
                next = program + i[2] * WIDTH
        elif op == E_ONLY:  # alternatives column, the alternative that must have the value
            chosen(k, i[1], &child)
            if child != i[2]:
                return IRREGULAR
        elif op == E_KINDS:
            code = choose_kind(k, i, &target)
            next = program + target * WIDTH
        elif op == E_SWITCH:  # table, register
            code = look_up(k.m.tables + i[1], k.m.registers[i[2]], k.m.absent[i[2]], &target)
            if code:
                return code
            next = program + target * WIDTH
        elif op == E_JUMP:
            next = program + i[1] * WIDTH
        elif op == E_FAIL:
            return IRREGULAR
        elif op == E_ACCEPT:  # register, bit
            k.m.registers[i[1]] |= <int64_t>1 << i[2]
        elif op == E_CHOOSE:
            code = choose_record(k, i, &target)
            next = program + target * WIDTH
        elif op == E_PACK_INTEGER:
            code = pack_column_integer(k, i)
        elif op == E_PACK_PUT:  # register, low, high
            if k.m.absent[i[1]] or not i[2] <= k.m.registers[i[1]] <= i[3]:
                return IRREGULAR
            code = pack_number(k, k.m.registers[i[1]], False)
        elif op == E_PACK_FLOAT:  # column, bits that it is rounded to
            if not there(k, i[1]):
                return IRREGULAR
            code = pack_real(k, double_at(k, i[1]), i[2] == 32)
        elif op == E_PACK_BOOLEAN:  # column
            if not there(k, i[1]):
                return IRREGULAR
            code = put(k, <const uint8_t *>b"\xc2\xc3" + boolean_at(k, i[1]), 1)
        elif op == E_PACK_BYTES:
            code = pack_column_bytes(k, i)
        elif op == E_NULL:  # column, whether it holds alternatives, target if there is no value, the text written then
            if not (chosen(k, i[1], &child) if i[2] else there(k, i[1])):
                next = program + i[3] * WIDTH
                code = put_text(k, i + 4, 0)
        elif op == E_PACK_OPEN:
            code = pack_open(k, i)
        elif op == E_PACK_COUNT:  # register
            if k.m.absent[i[1]] or k.m.registers[i[1]] < 0:
                return IRREGULAR
            code = pack_array(k, k.m.registers[i[1]])
        elif op == E_PACK_MEMBERS:  # register
            if k.m.absent[i[1]] or k.m.registers[i[1]] < 0:
                return IRREGULAR
            code = pack_map(k, k.m.registers[i[1]])
        elif op == E_PACK_EXT:
            code = pack_column_extension(k, i)
        elif op == E_PACK_REPEAT:
            code = pack_list(k, i)
        elif op == E_PROTO_INTEGER:
            code = proto_column_integer(k, i)
        elif op == E_PROTO_PUT:
            code = proto_register(k, i)
        elif op == E_PROTO_FLOAT:
            code = proto_column_float(k, i)
        elif op == E_PROTO_BYTES:
            code = proto_column_bytes(k, i)
        elif op == E_PROTO_REPEAT:
            code = proto_list(k, i)
        elif op == E_PROTO_BEGIN:
            code = proto_begin(k, i)
        elif op == E_PROTO_END:
            code = proto_end(k, i)
        elif op == E_PROTO_TABLES:  # table
            k.interned[i[1]].entries.length = 0
            k.interned[i[1]].places.length = 0
        elif op == E_PROTO_ENTRY:
            code = proto_refer(k, i)
        elif op == E_PROTO_DUMP:
            code = proto_dump(k, i)
        elif op == E_PROTO_SEGMENT:  # register
            k.m.registers[i[1]] = k.size - k.base
            k.m.absent[i[1]] = False
        elif op == E_PACKED:
            code = pack_region(k, i)
        elif op == E_PROTO_ORDER:  # table
            code = proto_order(k, k.m.tables + i[1])
        elif op == E_JSON_INTEGER:
            code = json_column_integer(k, i)
        elif op == E_JSON_PUT:  # register, low, high
            if k.m.absent[i[1]] or not i[2] <= k.m.registers[i[1]] <= i[3]:
                return IRREGULAR
            code = json_number(k, k.m.registers[i[1]], False)
        elif op == E_JSON_FLOAT:
            code = json_column_float(k, i)
        elif op == E_JSON_BOOLEAN:
            code = json_column_boolean(k, i)
        elif op == E_JSON_TEXT:
            code = json_column_text(k, i)
        elif op == E_JSON_BYTES:
            code = json_column_bytes(k, i)
        elif op == E_JSON_RAW:
            code = json_column_raw(k, i)
        elif op == E_JSON_REPEAT:
            code = json_list(k, i)
        elif op == E_JSON_OPEN:
            code = encode_open_json(k, i)
        elif op == E_JSON_CLOSE:
            code = json_close_written(k, i)
        elif op == E_NOTHING:  # table of columns
            hold_nothing(k, k.m.tables + i[1])
        elif op == E_UNIQUE:
            code = hold_unique(k, i)
            if code == IRREGULAR:
                k.doubtful, code = True, OK
        elif op == E_DOUBT:
            k.doubtful = True
        elif op == E_AGREES:  # column, form, register, the register of the only allowed value, or -1 and a number
            code = load_column(k, i)
            if not k.m.absent[i[3]]:
                target = k.m.registers[i[4]] if i[4] >= 0 else i[5]
                if (i[4] >= 0 and k.m.absent[i[4]]) or k.m.registers[i[3]] != target:
                    k.doubtful = True
        elif op == E_AGREES_HELD:
            if not agrees_held(k, i):
                k.doubtful = True
        else:
            return IRREGULAR
        if code:
            return code

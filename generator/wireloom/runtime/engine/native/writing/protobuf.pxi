# Writing protobuf messages: fields by number, the shortest varints, as protobuf's own library does.
#
# A nested message is written after space for its length, of the same width as the last length; if the length needs
# another width, the message is moved. The fields that refer to a table fill it, so it is written last. If field numbers
# do not ascend, the parts of the message are sorted at its end.

cdef enum:  # whether a field must have a value
    NEEDED = 1
    NOT_NOTHING = 2  # 0, empty values and null are omitted

cdef inline int64_t varint_size(uint64_t value) noexcept nogil:
    cdef int64_t size = 1
    while value >= 0x80:
        value >>= 7
        size += 1
    return size


cdef inline uint8_t *store_varint(uint8_t *target, uint64_t value) noexcept nogil:
    while value >= 0x80:
        target[0] = <uint8_t>(value | 0x80)
        value >>= 7
        target += 1
    target[0] = <uint8_t>value
    return target + 1


cdef inline int put_varints(Builder *k, uint64_t first, uint64_t second) noexcept nogil:
    """Write a tag and a number."""
    cdef int code = room(k, 20)
    cdef uint8_t *target
    if code:
        return code
    target = k.output.data + k.size
    target = store_varint(store_varint(target, first), second)
    k.size = target - k.output.data
    return OK


cdef int put_proto_number(Builder *k, const int64_t *i, int64_t value, bint wide) noexcept nogil:
    """i: tag, -, form (signed, zigzag << 1, fixed << 2, narrow << 3), low, high"""
    cdef uint64_t number
    cdef uint8_t *target
    cdef int64_t size
    cdef int code
    if (wide and (i[3] & 1 or i[3] & 8)) or (not wide and not i[4] <= value <= i[5]):
        return IRREGULAR
    number = <uint64_t>value
    if i[3] & 4:
        size = 4 if i[3] & 8 else 8
        code = room(k, 18)
        if code:
            return code
        target = store_varint(k.output.data + k.size, <uint64_t>i[1])
        store(target, value, size, False)
        k.size = target + size - k.output.data
        return OK
    if i[3] & 2:
        number = number << 1 ^ (~<uint64_t>0 if value < 0 else 0)
    return put_varints(k, <uint64_t>i[1], number)


cdef inline int proto_column_integer(Builder *k, const int64_t *i) noexcept nogil:
    """i: tag, column, form, low, high, need"""
    cdef int64_t value = 0
    cdef bint wide = False
    if not there(k, i[2]):
        return IRREGULAR if i[6] == NEEDED else OK
    if integer_at(k, i[2], &value, &wide):
        return IRREGULAR
    if i[6] == NOT_NOTHING and value == 0 and not wide:
        return OK
    return put_proto_number(k, i, value, wide)


cdef int proto_register(Builder *k, const int64_t *i) noexcept nogil:
    """i: tag, register, form, low, high, need"""
    if k.m.absent[i[2]]:
        return IRREGULAR if i[6] == NEEDED else OK
    if i[6] == NOT_NOTHING and k.m.registers[i[2]] == 0:
        return OK
    return put_proto_number(k, i, k.m.registers[i[2]], False)


cdef int proto_column_float(Builder *k, const int64_t *i) noexcept nogil:
    """i: tag, bits, column, need. Irregular if 32 bits cannot hold the number."""
    cdef double number
    cdef float narrow
    cdef uint32_t four
    cdef uint64_t eight
    cdef uint8_t *target
    cdef int code
    if not there(k, i[3]):
        return IRREGULAR if i[4] == NEEDED else OK
    number = double_at(k, i[3])
    narrow = <float>number
    if i[2] == 32 and narrow - narrow != 0 and number - number == 0:
        return IRREGULAR
    code = room(k, 18)
    if code:
        return code
    target = store_varint(k.output.data + k.size, <uint64_t>i[1])
    memcpy(&four, &narrow, 4)
    memcpy(&eight, &number, 8)
    if i[4] == NOT_NOTHING and eight == 0:
        return OK
    store(target, four if i[2] == 32 else <int64_t>eight, i[2] >> 3, False)
    k.size = target + (i[2] >> 3) - k.output.data
    return OK


cdef inline int proto_column_bytes(Builder *k, const int64_t *i) noexcept nogil:
    """i: tag, column, size or -1, need"""
    cdef Span span
    cdef int code
    if not there(k, i[2]):
        return IRREGULAR if i[4] == NEEDED else OK
    code = bytes_at(k, i[2], &span)
    if code:
        return code
    if i[4] == NOT_NOTHING and span.size == 0:
        return OK
    if i[3] >= 0 and span.size != i[3]:
        return IRREGULAR
    code = put_varints(k, <uint64_t>i[1], <uint64_t>span.size)
    return code if code else put(k, span.data, span.size)


cdef int proto_begin(Builder *k, const int64_t *i) noexcept nogil:
    """i: tag, register of the length's position, register of the last length's width"""
    cdef int64_t width = k.m.registers[i[3]]
    cdef int code = room(k, 16)
    if code:
        return code
    if width < 1 or width > 5:
        k.m.registers[i[3]] = width = 1
    k.size = store_varint(k.output.data + k.size, <uint64_t>i[1]) - k.output.data
    k.m.registers[i[2]] = k.size - k.base
    k.size += width
    return OK


cdef int proto_end(Builder *k, const int64_t *i) noexcept nogil:
    """i: register of the length's position, register of its width"""
    cdef int64_t at = k.base + k.m.registers[i[1]], width = k.m.registers[i[2]], needed, size
    cdef int code
    if width < 1 or width > 5 or at < k.base or at > k.size - width:
        return IRREGULAR
    size = k.size - at - width
    needed = varint_size(<uint64_t>size)
    if needed != width:
        code = room(k, 8)
        if code:
            return code
        memmove(k.output.data + at + needed, k.output.data + at + width, <size_t>size)
        k.size += needed - width
        k.m.registers[i[2]] = needed
        note_moved(k, at + width, needed - width)
    store_varint(k.output.data + at, <uint64_t>size)
    return OK


cdef int proto_list(Builder *k, const int64_t *i) noexcept nogil:
    """i: list column, body, index register. Null is an empty list."""
    cdef int64_t first = 0, last = 0
    cdef int code
    if not there(k, i[1]):
        return OK
    code = list_at(k, i[1], &first, &last)
    return code if code else each_element(k, k.sources[i[1]].child, first, last, i[2], i[3])


# --- tables ----------------------------------------------------------------------------------------------------------

cdef int intern(Interned *table, const Span *span, uint64_t seed, int64_t *place) noexcept nogil:
    """The index of an entry in the table; a new entry is added."""
    cdef Span *entries = <Span *>table.entries.data
    cdef int64_t count = table.entries.length // <int64_t>sizeof(Span), slots, n
    cdef uint32_t *places
    cdef uint64_t at
    if count < 16:
        for n in range(count):
            if entries[n].size == span.size and memcmp(entries[n].data, span.data, <size_t>span.size) == 0:
                place[0] = n
                return OK
        place[0] = count
        table.places.length = 0
        return push(&table.entries, span, sizeof(Span))
    slots = table.places.length >> 2
    if slots < count * 2:
        slots = 64
        while slots < count * 4:
            slots *= 2
        table.places.length = 0
        if push(&table.places, NULL, slots * 4):
            return EXHAUSTED
        places = <uint32_t *>table.places.data
        memset(places, 0, <size_t>(slots * 4))
        for n in range(count):
            at = hash_of(entries[n].data, entries[n].size, seed) & <uint64_t>(slots - 1)
            while places[at]:
                at = (at + 1) & <uint64_t>(slots - 1)
            places[at] = <uint32_t>(n + 1)
    places = <uint32_t *>table.places.data
    at = hash_of(span.data, span.size, seed) & <uint64_t>(slots - 1)
    while places[at]:
        n = places[at] - 1
        if entries[n].size == span.size and memcmp(entries[n].data, span.data, <size_t>span.size) == 0:
            place[0] = n
            return OK
        at = (at + 1) & <uint64_t>(slots - 1)
    places[at] = <uint32_t>(count + 1)
    place[0] = count
    return push(&table.entries, span, sizeof(Span))


cdef int proto_refer(Builder *k, const int64_t *i) noexcept nogil:
    """i: tag, table, column, required"""
    cdef Span span
    cdef int64_t place = 0
    cdef int code
    if not there(k, i[3]):
        return IRREGULAR if i[4] else OK
    code = bytes_at(k, i[3], &span)
    if not code:
        code = intern(k.interned + i[2], &span, k.seed, &place)
    return code if code else put_varints(k, <uint64_t>i[1], <uint64_t>place)


cdef int proto_dump(Builder *k, const int64_t *i) noexcept nogil:
    """i: tag, table"""
    cdef Interned *table = k.interned + i[2]
    cdef Span *entries = <Span *>table.entries.data
    cdef int64_t n
    cdef int code
    for n in range(table.entries.length // <int64_t>sizeof(Span)):
        code = put_varints(k, <uint64_t>i[1], <uint64_t>entries[n].size)
        if not code:
            code = put(k, entries[n].data, entries[n].size)
        if code:
            return code
    return OK


cdef int proto_order(Builder *k, const int64_t *table) noexcept nogil:
    """Sort the parts of a message. table: count, then the registers of first and last byte of each part."""
    cdef int64_t start = k.size - k.base, end = 0, total = 0, n, first, last
    for n in range(table[0]):
        first, last = k.m.registers[table[1 + 2 * n]], k.m.registers[table[2 + 2 * n]]
        if first < 0 or last < first or last > k.size - k.base:
            return IRREGULAR
        start = first if first < start else start
        end = last if last > end else end
        total += last - first
    if end != k.size - k.base or total != end - start:
        return IRREGULAR
    if reserve(&k.scratch, total):
        return EXHAUSTED
    end = 0
    for n in range(table[0]):
        first, last = k.m.registers[table[1 + 2 * n]], k.m.registers[table[2 + 2 * n]]
        if last > first:
            memcpy(k.scratch.data + end, k.output.data + k.base + first, <size_t>(last - first))
        end += last - first
    if total > 0:
        memcpy(k.output.data + k.base + start, k.scratch.data, <size_t>total)
    return OK

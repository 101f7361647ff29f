# Texts in character sets. While a record is read, its bytes are checked; a whole column is converted to or from UTF-8
# later.
#
# A set of one byte is a table of the program or the caller. The only other sets are UTF-16 in both byte orders. Length
# and pattern of a text (`held_spelling`) are checked here too; a pattern is a table of states, one step for each byte.

cdef inline int64_t unit_at(const uint8_t *data, bint big) noexcept nogil:
    return data[0] << 8 | data[1] if big else data[1] << 8 | data[0]


cdef bint in_charset(const uint8_t *data, int64_t size, int64_t form, const int64_t *bits) noexcept nogil:
    """Whether a text has only what its character set has; `bits` are the bytes of one of one byte that mean something."""
    cdef int64_t n = 0, unit
    if form == 2:
        for n in range(size):
            if not <uint64_t>bits[data[n] >> 6] >> (data[n] & 63) & 1:
                return False
        return True
    if size & 1:
        return False
    while n < size:
        unit = unit_at(data + n, form == 1)
        n += 2
        if unit & 0xFC00 == 0xDC00:
            return False
        if unit & 0xFC00 == 0xD800:
            if n >= size or unit_at(data + n, form == 1) & 0xFC00 != 0xDC00:
                return False
            n += 2
    return True


cdef int64_t characters_of(const uint8_t *data, int64_t size, int64_t form) noexcept nogil:
    """How many characters a text has that is one of its character set."""
    cdef int64_t n, count = 0
    if form == 2:
        return size
    if form == 3:
        for n in range(size):
            count += data[n] & 0xC0 != 0x80
        return count
    for n in range(0, size, 2):
        count += unit_at(data + n, form == 1) & 0xFC00 != 0xDC00
    return count


cdef bint matches_pattern(const uint8_t *data, int64_t size, const int64_t *table) noexcept nogil:
    """Whether the automaton leads from its beginning to an end; as `check_automaton` has it."""
    cdef const int64_t *kinds = table + 3
    cdef const int64_t *rows = table + 259
    cdef int64_t n, kind, state = table[0], classes = table[2]
    for n in range(size):
        kind = kinds[data[n]]
        if kind >= 0:
            state = rows[(state >> 1) * classes + kind]
            if state < 0:
                return False
    return state & 1


cdef int held_spelling(Machine *m, const int64_t *i) noexcept nogil:
    """Hold a text against how many characters it may have, and a pattern. i: register, form, least, most, automaton, code."""
    cdef int64_t size = m.registers[i[1]], count
    if m.absent[i[1]]:
        return OK
    if size < i[3]:  # each character has a byte at least
        return <int>i[6]
    if i[3] > 1 or i[4] < size:
        count = characters_of(m.pointers[i[1]], size, i[2])
        if count < i[3] or count > i[4]:
            return <int>i[6]
    if i[5] >= 0 and not matches_pattern(m.pointers[i[1]], size, m.tables + i[5]):
        return <int>i[6]
    return OK


cdef inline int put_utf8(uint8_t *text, int64_t point) noexcept nogil:
    """A character in UTF-8; how many bytes it is."""
    if point < 0x80:
        text[0] = <uint8_t>point
        return 1
    if point < 0x800:
        text[0] = <uint8_t>(0xC0 | point >> 6)
        text[1] = <uint8_t>(0x80 | point & 63)
        return 2
    if point < 0x10000:
        text[0] = <uint8_t>(0xE0 | point >> 12)
        text[1] = <uint8_t>(0x80 | point >> 6 & 63)
        text[2] = <uint8_t>(0x80 | point & 63)
        return 3
    text[0] = <uint8_t>(0xF0 | point >> 18)
    text[1] = <uint8_t>(0x80 | point >> 12 & 63)
    text[2] = <uint8_t>(0x80 | point >> 6 & 63)
    text[3] = <uint8_t>(0x80 | point & 63)
    return 4


cdef int64_t decode_charset(const uint8_t *data, int64_t size, const uint8_t *table, bint big, uint8_t *text) noexcept nogil:
    """The UTF-8 of a text that was held against its character set; how many bytes it is."""
    cdef int64_t n = 0, used = 0, unit
    cdef const uint8_t *entry
    if table != NULL:
        for n in range(size):
            entry = table + 4 * data[n]
            text[used] = entry[1]
            text[used + 1] = entry[2]
            text[used + 2] = entry[3]
            used += entry[0]
        return used
    while n + 2 <= size:
        unit = unit_at(data + n, big)
        n += 2
        if unit & 0xFC00 == 0xD800 and n + 2 <= size:
            unit = 0x10000 + ((unit & 0x3FF) << 10) + (unit_at(data + n, big) & 0x3FF)
            n += 2
        used += put_utf8(text + used, unit)
    return used


cdef int64_t encode_charset(const uint8_t *text, int64_t size, const int16_t *table, bint big, uint8_t *data) noexcept nogil:
    """A UTF-8 text in its character set; how many bytes it is, -1 where that does not have it."""
    cdef int64_t n = 0, used = 0, point, more, unit
    if not wl_is_utf8(text, size):
        return -1
    while n < size:
        point = text[n]
        more = 0 if point < 0x80 else 1 if point < 0xE0 else 2 if point < 0xF0 else 3
        point = point if more == 0 else point & (0x3F >> more)
        for n in range(n + 1, n + 1 + more):
            point = point << 6 | text[n] & 63
        n += 1
        if table != NULL:
            if point > 0xFFFF or table[point] < 0:
                return -1
            data[used] = <uint8_t>table[point]
            used += 1
            continue
        if point > 0xFFFF:
            unit = 0xD800 | (point - 0x10000) >> 10
            data[used] = <uint8_t>(unit >> 8 if big else unit)
            data[used + 1] = <uint8_t>(unit if big else unit >> 8)
            used += 2
            point = 0xDC00 | (point - 0x10000) & 0x3FF
        data[used] = <uint8_t>(point >> 8 if big else point)
        data[used + 1] = <uint8_t>(point if big else point >> 8)
        used += 2
    return used


def decoded_texts(table, bint big, offsets, data, int64_t first, int64_t count):
    """Texts in a character set (of UTF-16 where the table is empty) as blocks of offsets and UTF-8."""
    cdef const int32_t[::1] places = memoryview(offsets).cast("B").cast("i") if offsets is not None else None
    cdef const uint8_t[::1] values = memoryview(data).cast("B") if data is not None and len(memoryview(data)) else bytes(1)
    cdef const uint8_t[::1] characters = table or bytes(1024)
    cdef const uint8_t *known = &characters[0] if table else NULL
    cdef Buffer found, text
    cdef int64_t n, used = 0, size = 0
    if count:
        size = places[first + count] - places[first]
    memset(&found, 0, sizeof(Buffer))
    memset(&text, 0, sizeof(Buffer))
    if 3 * size > 0x7FFFFF00:
        raise OverflowError("the texts of a column do not fit into one Arrow array of 2 GiB")
    if reserve(&found, 4 * (count + 1)) or reserve(&text, 3 * size + 64):
        raise MemoryError
    (<int32_t *>found.data)[0] = 0
    with nogil:
        for n in range(count):
            used += decode_charset(&values[0] + places[first + n], places[first + n + 1] - places[first + n], known, big, text.data + used)
            (<int32_t *>found.data)[n + 1] = <int32_t>used
    return block(&found, 4 * (count + 1)), block(&text, used)


def encoded_texts(table, bint big, offsets, data, present, int64_t first, int64_t count):
    """UTF-8 in a character set (UTF-16 where the table is empty), as blocks of offsets and bytes; None where that lacks one."""
    cdef const int32_t[::1] places = memoryview(offsets).cast("B").cast("i")
    cdef const uint8_t[::1] texts = memoryview(data).cast("B") if data is not None and len(memoryview(data)) else bytes(1)
    cdef const uint8_t[::1] there = memoryview(present).cast("B") if present is not None else None
    cdef const int16_t[::1] characters = memoryview(table or bytes(131072)).cast("B").cast("h")
    cdef const int16_t *known = &characters[0] if table else NULL
    cdef Buffer found, values
    cdef int64_t n, used = 0, size = 0
    cdef bint refused = False
    if count:
        size = places[first + count] - places[first]
    memset(&found, 0, sizeof(Buffer))
    memset(&values, 0, sizeof(Buffer))
    if 2 * size > 0x7FFFFF00:
        raise OverflowError("the texts of a column do not fit into one Arrow array of 2 GiB")
    if reserve(&found, 4 * (count + 1)) or reserve(&values, 2 * size + 64):
        raise MemoryError
    (<int32_t *>found.data)[0] = 0
    with nogil:
        for n in range(count):
            if there is None or there[n >> 3] >> (n & 7) & 1:
                size = encode_charset(
                    &texts[0] + places[first + n], places[first + n + 1] - places[first + n], known, big, values.data + used
                )
                if size < 0:
                    refused = True
                    break
                used += size
            (<int32_t *>found.data)[n + 1] = <int32_t>used
    if refused:
        drop(&found)
        drop(&values)
        return None
    return block(&found, 4 * (count + 1)), block(&values, used)

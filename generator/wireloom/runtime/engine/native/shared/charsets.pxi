# Texts in character sets. While a record is read, its bytes are checked; a whole column is converted to or from UTF-8
# later.
#
# A set has one byte for each character, and is a table of the program or the caller. `held_spelling` also checks the
# length and the pattern of a text; a pattern is a table of states, with one step for each byte.


cdef bint in_charset(const uint8_t *data, int64_t size, const int64_t *bits) noexcept nogil:
    """Whether a text has only bytes of its character set; `bits` are the bytes that have a meaning."""
    cdef int64_t n
    for n in range(size):
        if not <uint64_t>bits[data[n] >> 6] >> (data[n] & 63) & 1:
            return False
    return True


cdef int64_t characters_of(const uint8_t *data, int64_t size, bint is_utf8) noexcept nogil:
    """The number of characters in a valid text."""
    cdef int64_t n, count = 0
    if not is_utf8:
        return size
    for n in range(size):
        count += data[n] & 0xC0 != 0x80
    return count


cdef bint matches_pattern(const uint8_t *data, int64_t size, const int64_t *table) noexcept nogil:
    """Whether the automaton accepts the text; for the table see `check_automaton`."""
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
    """Check a text's length in characters, and its pattern. i: register, whether it is UTF-8, least, most, automaton, code"""
    cdef int64_t size = m.registers[i[1]], count
    if m.absent[i[1]]:
        return OK
    if size < i[3]:  # each character has at least one byte
        return <int>i[6]
    if i[3] > 1 or i[4] < size:
        count = characters_of(m.pointers[i[1]], size, i[2])
        if count < i[3] or count > i[4]:
            return <int>i[6]
    if i[5] >= 0 and not matches_pattern(m.pointers[i[1]], size, m.tables + i[5]):
        return <int>i[6]
    return OK


cdef int64_t decode_charset(const uint8_t *data, int64_t size, const uint8_t *table, uint8_t *text) noexcept nogil:
    """Convert a valid text to UTF-8; returns its size."""
    cdef int64_t n, used = 0
    cdef const uint8_t *entry
    for n in range(size):
        entry = table + 4 * data[n]
        text[used] = entry[1]
        text[used + 1] = entry[2]
        text[used + 2] = entry[3]
        used += entry[0]
    return used


cdef int64_t encode_charset(const uint8_t *text, int64_t size, const int16_t *table, uint8_t *data) noexcept nogil:
    """Convert a UTF-8 text to its character set; returns its size, -1 if a character is not in the set."""
    cdef int64_t n = 0, used = 0, point, more
    if not wl_is_utf8(text, size):
        return -1
    while n < size:
        point = text[n]
        more = 0 if point < 0x80 else 1 if point < 0xE0 else 2 if point < 0xF0 else 3
        point = point if more == 0 else point & (0x3F >> more)
        for n in range(n + 1, n + 1 + more):
            point = point << 6 | text[n] & 63
        n += 1
        if point > 0xFFFF or table[point] < 0:
            return -1
        data[used] = <uint8_t>table[point]
        used += 1
    return used


def decoded_texts(const uint8_t[::1] table, offsets, data, int64_t first, int64_t count):
    """Convert texts in a character set to UTF-8, as blocks of offsets and text."""
    cdef const int32_t[::1] places = memoryview(offsets).cast("B").cast("i") if offsets is not None else None
    cdef const uint8_t[::1] values = memoryview(data).cast("B") if data is not None and len(memoryview(data)) else bytes(1)
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
            used += decode_charset(&values[0] + places[first + n], places[first + n + 1] - places[first + n], &table[0], text.data + used)
            (<int32_t *>found.data)[n + 1] = <int32_t>used
    return block(&found, 4 * (count + 1)), block(&text, used)


def encoded_texts(table, offsets, data, present, int64_t first, int64_t count):
    """Convert UTF-8 to a character set, as blocks of offsets and bytes; None if a character is not in the set."""
    cdef const int32_t[::1] places = memoryview(offsets).cast("B").cast("i")
    cdef const uint8_t[::1] texts = memoryview(data).cast("B") if data is not None and len(memoryview(data)) else bytes(1)
    cdef const uint8_t[::1] there = memoryview(present).cast("B") if present is not None else None
    cdef const int16_t[::1] characters = memoryview(table).cast("B").cast("h")
    cdef Buffer found, values
    cdef int64_t n, used = 0, size = 0
    cdef bint refused = False
    if count:
        size = places[first + count] - places[first]
    memset(&found, 0, sizeof(Buffer))
    memset(&values, 0, sizeof(Buffer))
    if size > 0x7FFFFF00:
        raise OverflowError("the texts of a column do not fit into one Arrow array of 2 GiB")
    if reserve(&found, 4 * (count + 1)) or reserve(&values, size + 64):
        raise MemoryError
    (<int32_t *>found.data)[0] = 0
    with nogil:
        for n in range(count):
            if there is None or there[n >> 3] >> (n & 7) & 1:
                size = encode_charset(
                    &texts[0] + places[first + n], places[first + n + 1] - places[first + n], &characters[0], values.data + used
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

# Writing values of binary structs, and what every encoding needs: space in the output, constants, bits, mappings,
# checksums.
#
# `room` reserves space before anything is written. A value that its wire form cannot hold is IRREGULAR. Bytes are
# reserved (E_HOLD) for lengths that are known later, and filled in (E_PATCH); checksums come last, inner ones before
# outer ones.

cdef int more(Builder *k, int64_t size) noexcept nogil:
    if k.size + size > <int64_t>INT32_MAX + SLACK:  # a record that is slightly too long is found when it is complete
        return FULL
    return grow(&k.output, k.size + size)


cdef inline int room(Builder *k, int64_t size) noexcept nogil:
    """Reserve `size` more bytes."""
    return OK if k.size + size <= k.output.capacity else more(k, size)


cdef inline int put(Builder *k, const uint8_t *data, int64_t size) noexcept nogil:
    cdef int code = room(k, size + SLACK)
    if code:
        return code
    wl_copy(k.output.data + k.size, data, size, 0)
    k.size += size
    return OK


cdef inline int put_text(Builder *k, const int64_t *text, int64_t behind) noexcept nogil:
    """Write a text constant (address and size), and reserve so many bytes after it."""
    cdef int code = room(k, text[1] + SLACK + behind)
    if code:
        return code
    wl_copy(k.output.data + k.size, k.m.texts + text[0], text[1], SLACK)
    k.size += text[1]
    return OK


cdef inline bint fits(int64_t value, bint wide, int64_t size, bint signed) noexcept nogil:
    """Whether an integer fits into so many bytes."""
    return fits_bits(value, wide, 8 * size, signed)


cdef inline bint fits_bits(int64_t value, bint wide, int64_t bits, bint signed) noexcept nogil:
    """Whether an integer fits into so many bits."""
    if bits == 64:
        return not wide if signed else wide or value >= 0
    if wide:
        return False
    if signed:
        return -(<int64_t>1 << (bits - 1)) <= value < <int64_t>1 << (bits - 1)
    return 0 <= value and (bits == 63 or value < <int64_t>1 << bits)


cdef inline void store(uint8_t *target, int64_t value, int64_t size, bint big) noexcept nogil:
    cdef int64_t n
    cdef uint16_t two
    cdef uint32_t four
    cdef uint64_t eight
    if size == 1:
        target[0] = <uint8_t>value
    elif size == 2:
        two = wl_swap16(<uint16_t>value) if big else <uint16_t>value
        memcpy(target, &two, 2)
    elif size == 4:
        four = wl_swap32(<uint32_t>value) if big else <uint32_t>value
        memcpy(target, &four, 4)
    elif size == 8:
        eight = wl_swap64(<uint64_t>value) if big else <uint64_t>value
        memcpy(target, &eight, 8)
    else:
        for n in range(size):
            target[size - 1 - n if big else n] = <uint8_t>(value >> (8 * n))


cdef bint store_halves(uint8_t *target, int64_t value, int64_t digits, bint packed, bint signed) noexcept nogil:
    """Store so many decimal digits, two a byte; in a packed number the last half byte is the sign. Whether the number fits."""
    cdef int64_t width = digits_width(6 + packed, digits, signed), place = 2 * width - 1, n
    cdef uint64_t number = <uint64_t>(-value if value < 0 else value)
    memset(target, 0, <size_t>width)
    if packed:
        target[width - 1] = 0xF if not signed else (0xD if value < 0 else 0xC)
        place -= 1
    for n in range(digits):
        target[place >> 1] |= <uint8_t>(number % 10 << (0 if place & 1 else 4))
        number //= 10
        place -= 1
    return number == 0


cdef bint store_zoned(uint8_t *target, int64_t value, int64_t digits, int64_t form, bint signed) noexcept nogil:
    """Store so many decimal digits, a byte each, one with the sign in its zone (see `signed_place`). Whether the number fits."""
    cdef int64_t n, place = signed_place(form, digits)
    cdef uint64_t number = <uint64_t>(-value if value < 0 else value)
    cdef uint8_t digit, zone
    for n in range(digits - 1, -1, -1):
        digit = <uint8_t>(number % 10)
        zone = 0xF if n != place or not signed else (0xD if value < 0 else 0xC)
        if form < 17:
            target[n] = zone << 4 | digit
        elif zone == 0xF:
            target[n] = 48 + digit
        else:
            target[n] = (123 if zone == 0xC else 125) if digit == 0 else digit + (64 if zone == 0xC else 73)
        number //= 10
    return number == 0


cdef bint store_columns(uint8_t *target, int64_t value, bint wide, int64_t digits, int64_t form, bint signed) noexcept nogil:
    """Store so many ASCII digits (see `base_of`) after a sign. Whether the number fits."""
    cdef uint64_t base = <uint64_t>base_of(form), digit
    cdef bint minus = value < 0 and not wide
    cdef uint64_t number = <uint64_t>(-value if minus else value)
    cdef int64_t n
    if signed:
        target[0] = 45 if minus else 43
    for n in range(digits + signed - 1, signed - 1, -1):
        digit = number % base
        target[n] = <uint8_t>(digit + (48 if digit < 10 else (55 if form == 11 else 87)))
        number //= base
    return number == 0


cdef int64_t store_digits(uint8_t *target, int64_t value, bint wide, bint signed, int64_t word) noexcept nogil:
    """Store digits of the form in `word` (see `number_form`); returns their size, 0 if the number does not fit."""
    cdef int64_t form = word >> 8 & 0xFF, digits = word >> 16
    cdef bint stored
    if value < 0 and not wide and not signed:
        return 0
    if form >= 15:
        stored = not wide and store_zoned(target, value, digits, form, signed)
    elif form >= 8:
        stored = store_columns(target, value, wide, digits, form, signed)
    else:
        stored = not wide and store_halves(target, value, digits, form == 7, signed)
    return digits_width(form, digits, signed) if stored else 0


cdef int64_t store_extended(uint8_t *target, uint64_t number, int64_t markers) noexcept nogil:
    """Store a number in one byte, or after the first of the narrowest `markers` (see `number_form`) that fit; 0: none fits."""
    cdef int64_t first = markers & 0xFF, width = 9, marker = 0, n, each
    if number < <uint64_t>first:
        target[0] = <uint8_t>number
        return 1
    for n in range(MARKERS):
        each = markers >> (9 + 4 * n) & 0xF
        if each and each < width and (each == 8 or not number >> (8 * each)):
            width, marker = each, first + n
    if width > 8:
        return 0
    target[0] = <uint8_t>marker
    store(target + 1, <int64_t>number, width, markers >> 8 & 1)
    return 1 + width


cdef int64_t store_ended(uint8_t *target, int64_t value, bint wide, int64_t form) noexcept nogil:
    """Store a minus sign, if any, digits, and the bytes that end them (see `number_form`); returns the size."""
    cdef uint64_t base = <uint64_t>base_of(form >> 8 & 0xF), digit
    cdef bint minus = value < 0 and not wide
    cdef uint64_t number = 0 - <uint64_t>value if minus else <uint64_t>value, rest = number
    cdef int64_t size = 1 + minus, n
    while rest >= base:
        rest //= base
        size += 1
    target[0] = 45
    for n in range(size - 1, minus - 1, -1):
        digit = number % base
        target[n] = <uint8_t>(digit + (48 if digit < 10 else (55 if form >> 8 & 0xF == 11 else 87)))
        number //= base
    for n in range(form >> 12 & 0xF):
        target[size + n] = <uint8_t>(form >> (16 + 8 * n) & 0xFF)
    return size + (form >> 12 & 0xF)


cdef int put_numeral(Builder *k, int64_t value, bint wide, bint signed, int64_t word) noexcept nogil:
    """Write a number of the form in `word` (see `number_form`)."""
    cdef int64_t form = word >> 8 & 0xFF, bits = word & 0xFF, size
    cdef int code
    if 6 <= form <= 11 or form >= 15:
        code = room(k, (word >> 16) + 1)
        if code:
            return code
        size = store_digits(k.output.data + k.size, value, wide, signed, word)
        k.size += size
        return OK if size else IRREGULAR
    if not fits_bits(value, wide, bits, signed):
        return IRREGULAR
    code = room(k, 32)
    if code:
        return code
    if form == 12:
        size = store_extended(k.output.data + k.size, <uint64_t>value, word >> 16)
        k.size += size
        return OK if size else IRREGULAR
    k.size += store_ended(k.output.data + k.size, value, wide, word >> 16)
    return OK


cdef int put_varint(Builder *k, int64_t value, bint wide, bint zigzag, int64_t bits) noexcept nogil:
    cdef uint64_t number = <uint64_t>value
    cdef int code
    if bits >> 8:
        return put_numeral(k, value, wide, zigzag, bits)
    if not fits(value, wide, bits >> 3, zigzag):
        return IRREGULAR
    code = room(k, 10)
    if code:
        return code
    if zigzag:
        number = number << 1 ^ (~<uint64_t>0 if value < 0 else 0)
    k.size = store_varint(k.output.data + k.size, number) - k.output.data
    return OK


cdef inline int put_number(Builder *k, int64_t value, bint wide, int64_t size, bint signed, int64_t big) noexcept nogil:
    """Write a number. `size` 0: a varint of `big` bits, zigzag if signed."""
    cdef int code
    if size == 0:
        return put_varint(k, value, wide, signed, big)
    if not fits(value, wide, size, signed):
        return IRREGULAR
    code = room(k, size)
    if code:
        return code
    store(k.output.data + k.size, value, size, big)
    k.size += size
    return OK


cdef inline int put_prefix(Builder *k, int64_t word, int64_t count) noexcept nogil:
    """Write a number before the data; `word` is its form (see `prefix_word`)."""
    return put_number(k, count, False, word >> 1 & 15, word >> 5 & 1, word >> 8)


cdef int put_blocks(Builder *k, const int64_t *front, const uint8_t *data, int64_t size) noexcept nogil:
    """Write bytes in parts, each after its size, and 0 after them. front: form of the size (see `front_word`), the greatest size"""
    cdef int64_t count
    cdef int code
    while size:
        count = min(size, front[1])
        code = put_prefix(k, front[0], count)
        if code == OK:
            code = put(k, data, count)
        if code:
            return code
        data += count
        size -= count
    return put_prefix(k, front[0], 0)


cdef int write_column_blocks(Builder *k, const int64_t *i) noexcept nogil:
    """i: column, form of the size, the greatest size"""
    cdef Span span
    cdef int code
    if not there(k, i[1]):
        return IRREGULAR
    code = bytes_at(k, i[1], &span)
    return code if code else put_blocks(k, i + 2, span.data, span.size)


cdef inline void note_moved(Builder *k, int64_t at, int64_t extra) noexcept nogil:
    """Note that the output from `at` on has moved."""
    cdef Opened *opened = <Opened *>k.opened.data
    cdef int64_t n = k.opened.length // <int64_t>sizeof(Opened)
    while n > 0 and opened[n - 1].first >= at:
        n -= 1
        opened[n].first += extra


cdef int settle_written(Builder *k, int64_t start) noexcept nogil:
    """Prepare the output from `start` on for its replacement: write its digests, and keep its open values."""
    cdef Opened *opened = <Opened *>k.opened.data
    cdef int64_t count = k.opened.length // <int64_t>sizeof(Opened), first = count, n
    while first > 0 and opened[first - 1].first >= start:
        first -= 1
    if first < count:
        for n in range(first, count):
            opened[n].first += k.replaced.length - start
        k.opened.length = first * <int64_t>sizeof(Opened)
        if push(&k.settled, opened + first, (count - first) * <int64_t>sizeof(Opened)):
            return EXHAUSTED
        if push(&k.replaced, k.output.data + start, k.size - start):
            return EXHAUSTED
    return settle_seals(k, start)


cdef int end_size(Builder *k, const int64_t *i) noexcept nogil:
    """i: form of the size, register of its position. The region moves if the size needs more bytes than were reserved."""
    cdef int64_t width = i[1] >> 1 & 15, at = 0, size, end = k.size, extra
    cdef uint8_t number[16]
    cdef int code
    if not held(k, i[2], width, &at):
        return IRREGULAR
    size = end - at - width
    code = put_prefix(k, i[1], size)
    if code:
        return code
    extra = k.size - end
    memcpy(number, k.output.data + end, <size_t>extra)
    if width == 0:
        memmove(k.output.data + at + extra, k.output.data + at, <size_t>size)
        note_moved(k, at, extra)
    else:
        k.size = end
    memcpy(k.output.data + at, number, <size_t>extra)
    return OK


cdef inline int write_column_integer(Builder *k, const int64_t *i) noexcept nogil:
    """i: column, bytes, signed, big"""
    cdef int64_t value = 0
    cdef bint wide = False
    if not there(k, i[1]) or integer_at(k, i[1], &value, &wide):
        return IRREGULAR
    return put_number(k, value, wide, i[2], i[3], i[4])


cdef int write_column_float(Builder *k, const int64_t *i) noexcept nogil:
    """i: column, bytes, big. Irregular if 32 bits cannot hold the number."""
    cdef double number
    cdef float narrow
    cdef uint32_t four
    cdef uint64_t eight
    cdef int code
    if not there(k, i[1]):
        return IRREGULAR
    number = double_at(k, i[1])
    code = room(k, i[2])
    if code:
        return code
    if i[2] == 4:
        narrow = <float>number
        if narrow - narrow != 0 and number - number == 0:
            return IRREGULAR
        memcpy(&four, &narrow, 4)
        store(k.output.data + k.size, four, 4, i[3])
    else:
        memcpy(&eight, &number, 8)
        store(k.output.data + k.size, <int64_t>eight, 8, i[3])
    k.size += i[2]
    return OK


cdef int fill_up(Builder *k, int64_t size, int64_t word) noexcept nogil:
    """Pad a value of `size` bytes, which was just written (see `padded_word`)."""
    cdef int64_t width = word >> 8
    cdef int code
    if size > width or ends_filled(k.output.data + k.size - size, size, word):
        return IRREGULAR
    code = room(k, width - size)
    if code:
        return code
    memset(k.output.data + k.size, <int>(word & 0xFF), <size_t>(width - size))
    k.size += width - size
    return OK


cdef int put_ending(Builder *k, int64_t size, const uint8_t *ending, int64_t width) noexcept nogil:
    """Write the bytes after a value of `size` bytes that was just written; irregular if readers would find them earlier."""
    cdef int code = put(k, ending, width)
    if code:
        return code
    return OK if found_in(k.output.data + k.size - size - width, size + width, ending, width) == k.output.data + k.size - width else IRREGULAR


cdef int write_ended(Builder *k, const int64_t *i) noexcept nogil:
    """i: column, the delimiter, table of what is escaped or, without escapes, must not be in the value (see `programs/delimiters.py`)"""
    cdef const int64_t *table = k.m.tables + i[3]
    cdef const uint8_t *next
    cdef const uint8_t *end
    cdef int64_t behind = 0, escapes = 0, at = k.size
    cdef bint kept = table[1] == 2
    cdef Span span
    cdef int code
    if not there(k, i[1]):
        return IRREGULAR
    code = bytes_at(k, i[1], &span)
    if code:
        return code
    end = span.data + span.size
    while table[0] >= 0:
        next = wl_stop(span.data, end, table + 5, table[3])
        if next == end:
            break
        code = room(k, next - span.data + 2)
        if code:
            return code
        memcpy(k.output.data + k.size, span.data, <size_t>(next - span.data))
        k.size += next - span.data + 2
        k.output.data[k.size - 2], k.output.data[k.size - 1] = <uint8_t>table[0], k.m.texts[table[2] + next[0]]
        span.data = next + 1
    code = put(k, span.data, end - span.data)
    if not code and not kept:
        code = put(k, k.m.texts + (i[2] >> 16), i[2] & 0xFFFF)
    if code or table[0] >= 0:
        return code
    end = k.output.data + k.size
    next = end_of(k.output.data + at, end, table, k.m.texts, &behind, &escapes)
    return OK if next != NULL and next + behind == end and (kept or behind == i[2] & 0xFFFF) else IRREGULAR


cdef inline void doubt_text(Builder *k, const Span *span) noexcept nogil:
    """Doubt a row with invalid UTF-8."""
    if k.certain and not k.doubtful and not wl_is_utf8(span.data, span.size):
        k.doubtful = True


cdef inline int write_column_bytes(Builder *k, const int64_t *i) noexcept nogil:
    """i: column, size or -1, form of the size before it or 0, text after it or -1, padding (see `padded_word`) or -1, whether it is text"""
    cdef Span span
    cdef int code
    if not there(k, i[1]):
        return put_prefix(k, i[3], -1) if i[3] >> 6 & 1 else IRREGULAR
    code = bytes_at(k, i[1], &span)
    if code:
        return code
    if i[2] >= 0 and span.size != i[2]:
        return IRREGULAR
    if i[6]:
        doubt_text(k, &span)
    if i[3]:
        code = put_prefix(k, i[3], span.size)
        if code:
            return code
    code = put(k, span.data, span.size)
    if code == OK and i[5] >= 0:
        return fill_up(k, span.size, i[5])
    if code or i[4] < 0:
        return code
    return put_ending(k, span.size, k.m.texts + (i[4] >> 16), i[4] & 0xFFFF)


cdef int pad_to(Builder *k, int64_t target) noexcept nogil:
    """Write zeros up to a position of the output; irregular if it has been passed."""
    cdef int64_t gap = target - k.size
    cdef int code
    if gap <= 0:
        return IRREGULAR if gap else OK
    code = room(k, gap + SLACK)
    if code:
        return code
    memset(k.output.data + k.size, 0, SLACK)
    if gap > SLACK:
        memset(k.output.data + k.size, 0, <size_t>gap)
    k.size += gap
    return OK


cdef int fill(Builder *k, int64_t size, int64_t most) noexcept nogil:
    """Write as many zeros as an expression says."""
    cdef int64_t count = 0
    cdef bint none = False
    if number_of(&k.m, size, &count, &none) or none or not 0 <= count <= most:
        return OK if k.guessing else IRREGULAR
    return pad_to(k, k.size + count)


cdef int hold(Builder *k, int64_t size, int64_t target) noexcept nogil:
    """Reserve bytes to be filled in later; the register gets their position."""
    k.m.registers[target] = k.size - k.base
    k.m.absent[target] = False
    return pad_to(k, k.size + size)


cdef inline bint held(const Builder *k, int64_t target, int64_t size, int64_t *at) noexcept nogil:
    """The position of reserved bytes; false if there are none, or not inside of the record."""
    if k.m.absent[target] or k.m.registers[target] < 0 or k.m.registers[target] > k.size - k.base - size:
        return False
    at[0] = k.base + k.m.registers[target]
    return True


cdef int patch(Builder *k, const int64_t *i) noexcept nogil:
    """i: register of the position, register of the value, reserved bytes, bytes of the number, signed, big (see `number_form`)"""
    cdef int64_t at = 0
    if not held(k, i[1], i[3], &at) or k.m.absent[i[2]]:
        return IRREGULAR
    return store_later(k.output.data + at, k.m.registers[i[2]], False, i + 4)


cdef inline int store_later(uint8_t *target, int64_t value, bint wide, const int64_t *form) noexcept nogil:
    """form: width (0: digits), signed, big (the form of digits), as in `number_form`"""
    if form[0] == 0:
        return OK if store_digits(target, value, wide, form[1], form[2]) else IRREGULAR
    if not fits(value, wide, form[0], form[1]):
        return IRREGULAR
    store(target, value, form[0], form[2])
    return OK


# --- mappings and bits -----------------------------------------------------------------------------------------------

cdef int look_up(const int64_t *table, int64_t value, bint none, int64_t *found) noexcept nogil:
    """Look up a value. table: results for null and for any other value, shift, multiplier, places, then (value, result)
    each; -1: no result."""
    cdef uint64_t place
    if none:
        found[0] = table[0]
        return OK if found[0] >= 0 else IRREGULAR
    place = <uint64_t>value * <uint64_t>table[3] >> table[2]
    found[0] = table[5 + 2 * place + 1]
    if found[0] < 0 or table[5 + 2 * place] != value:
        found[0] = table[1]
    return OK if found[0] >= 0 else IRREGULAR


cdef int map_back(Builder *k, const int64_t *i) noexcept nogil:
    """i: register of the value, table of indices, table of wire values, register of the result"""
    cdef int64_t place = 0
    if look_up(k.m.tables + i[2], k.m.registers[i[1]], k.m.absent[i[1]], &place):
        if not k.guessing:
            return IRREGULAR
        place = 0
    k.m.registers[i[4]] = k.m.tables[i[3] + 1 + place]
    k.m.absent[i[4]] = False
    return OK


cdef int set_bits(Builder *k, const int64_t *i, int64_t value) noexcept nogil:
    """i: register of the integer, -, null is an error << 17 | signed << 16 | low << 8 | width. Irregular if the value does not fit."""
    cdef int64_t low = i[3] >> 8 & 0xFF, width = i[3] & 0xFF
    cdef int64_t rest = value >> (width - 1 if i[3] >> 16 & 1 else width)
    if rest != 0 and not (i[3] >> 16 & 1 and rest == -1):
        return IRREGULAR
    cdef uint64_t mask = ((<uint64_t>1 << width) - 1) << low
    cdef uint64_t whole = <uint64_t>k.m.registers[i[1]]
    k.m.registers[i[1]] = <int64_t>(whole & ~mask | <uint64_t>value << low & mask)
    return OK


cdef int set_mapped_bits(Builder *k, const int64_t *i) noexcept nogil:
    """i: register of the integer, register of the value, form (see `set_bits`), table: count, then (wire, null, value) each.

    If several bit patterns have the meaning, the current one is kept.
    """
    cdef const int64_t *table = k.m.tables + i[4]
    cdef const int64_t *entry
    cdef int64_t low = i[3] >> 8 & 0xFF, width = i[3] & 0xFF, n, found = 0
    cdef bint any = False
    cdef int64_t present = <int64_t>(<uint64_t>k.m.registers[i[1]] >> low & ((<uint64_t>1 << width) - 1))
    cdef bint none = k.m.absent[i[2]]
    for n in range(table[0]):
        entry = table + 1 + 3 * n
        if (entry[1] != 0) == none and (none or entry[2] == k.m.registers[i[2]]):
            if not any or entry[0] == present:
                found = entry[0]
                any = True
    if not any:
        return OK if none and not i[3] >> 17 else IRREGULAR
    return set_bits(k, i, found)


# --- checksums -------------------------------------------------------------------------------------------------------


cdef int write_checksums(Builder *k, const int64_t *table, int64_t start) noexcept nogil:
    """Write all checksums of a struct, inner ones before outer ones. `start`: the struct's first byte."""
    cdef int64_t first[CHECKSUM_LIMIT]
    cdef int64_t last[CHECKSUM_LIMIT]
    cdef int64_t at[CHECKSUM_LIMIT]
    cdef int64_t covers[CHECKSUM_LIMIT]
    cdef int64_t count = table[0], n, other, rank, end = k.size - k.base
    cdef const int64_t *each
    cdef bint none = False
    if count > CHECKSUM_LIMIT or start < 0 or start > end:
        return IRREGULAR
    for n in range(count):
        each = table + 1 + CHECKSUM_WIDTH * n
        covers[n] = -1
        if k.m.absent[each[3]]:
            continue
        if not held(k, each[3], each[4], &at[n]):
            return IRREGULAR
        if number_of(&k.m, each[1], &first[n], &none) or none or number_of(&k.m, each[2], &last[n], &none) or none:
            return IRREGULAR
        if first[n] < 0 or last[n] < first[n] or last[n] > end - start:
            return IRREGULAR
        covers[n] = 0
    for n in range(count):
        for other in range(count):
            if other != n and covers[n] >= 0 and covers[other] >= 0 and first[n] <= at[other] - k.base - start < last[n]:
                covers[n] += 1
                if first[other] <= at[n] - k.base - start < last[other]:
                    k.doubtful = True  # each covers the other one
    for rank in range(count):
        for n in range(count):
            if covers[n] == rank and write_checksum(k, table + 1 + CHECKSUM_WIDTH * n, at[n], start + first[n], last[n] - first[n]):
                return IRREGULAR
    return OK


cdef inline void write_md5(Builder *k, const uint8_t *data, int64_t size, int64_t at) noexcept nogil:
    """Write the MD5 of some bytes, which may include it."""
    cdef uint8_t digest[DIGEST]
    wl_md5(data, size, digest)
    memcpy(k.output.data + at, digest, DIGEST)


cdef int write_checksum(Builder *k, const int64_t *each, int64_t at, int64_t first, int64_t size) noexcept nogil:
    cdef const uint8_t *data = k.output.data + k.base + first
    cdef uint64_t value
    cdef Seal *seal
    if each[0] == -1 and k.seal_count < DEFERRED:
        seal = k.seals + k.seal_count
        seal.first, seal.size, seal.at = k.base + first, size, at
        k.seal_count += 1
        k.sealed += size
        return OK
    if each[0] < 0:
        write_md5(k, data, size, at)
        return OK
    value = wl_crc_value(k.m.crcs + each[0], data, size)
    return store_later(k.output.data + at, <int64_t>value, value >> 63, each + 5)


cdef int settle_seals(Builder *k, int64_t start) noexcept nogil:
    """Write the digests after a position whose bytes are about to be replaced, inner ones first."""
    cdef int64_t first = k.seal_count, n
    cdef Seal *seal
    while first and k.seals[first - 1].at >= start:
        first -= 1
    for n in range(first, k.seal_count):
        seal = k.seals + n
        k.sealed -= seal.size
        write_md5(k, k.output.data + seal.first, seal.size, seal.at)
    k.seal_count = first
    return OK


cdef void write_seals(Builder *k) noexcept nogil:
    """Write the waiting digests, several at a time."""
    cdef wl_digest digests[DEFERRED]
    cdef int64_t n
    for n in range(k.seal_count):
        digests[n].data = k.output.data + k.seals[n].first
        digests[n].size = k.seals[n].size
        digests[n].expected = k.output.data + k.seals[n].at
    if k.seal_count:
        wl_md5_write(digests, k.seal_count)
    k.seal_count = k.sealed = 0


cdef void trust_seals(const Builder *k, int64_t from_, Machine *c) noexcept nogil:
    """Let the reader accept the digests of this record that are not written yet; others are checked."""
    cdef Deferral *deferral = &c.deferral
    cdef int64_t n
    deferral.row, deferral.known, deferral.count = 0, 1, k.seal_count - from_
    for n in range(deferral.count):
        deferral.waiting[n].data = k.output.data + k.seals[from_ + n].first
        deferral.waiting[n].size = k.seals[from_ + n].size
        deferral.waiting[n].expected = k.output.data + k.seals[from_ + n].at
        deferral.waiting[n].good = True

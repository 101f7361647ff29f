# The instructions of binary bodies, and those that every encoding uses: computing, verifying checksums, seeking,
# choosing a case, trying alternatives, and repeating elements.
#
# `load_` functions read a number at the position, move the position after it, and return true if there is none. The
# instructions below check sizes against `m.end`, the end of the innermost region, before they read. They pass each value
# to `deliver_` (delivery.pxi), which fills the register and the column.


cdef inline int64_t base_of(int64_t form) noexcept nogil:
    """The base of digits in ASCII: 8 decimal, 9 hexadecimal, 10 octal, 11 hexadecimal in capitals."""
    return 10 if form == 8 else (8 if form == 10 else 16)


cdef inline uint8_t digit_of(uint8_t character) noexcept nogil:
    """The value of an ASCII character as a digit of any base; 255 if it is not a digit."""
    cdef uint8_t digit = character - 48
    if digit > 9:
        digit = (character | 32) - 87 if (character | 32) >= 97 else 255
    return digit


cdef bint load_digits(const uint8_t **position, const uint8_t *end, int64_t digits, bint packed, bint signed, int64_t *value) noexcept nogil:
    """Load so many decimal digits, two a byte; in a packed number the last half byte is the sign. True if it is invalid."""
    cdef const uint8_t *p = position[0]
    cdef int64_t width = digits_width(6 + packed, digits, signed), n, found = 0
    cdef uint8_t half
    if end - p < width:
        return True
    for n in range(2 * width - packed):
        half = p[n >> 1] & 0xF if n & 1 else p[n >> 1] >> 4
        if half > 9 or (half and 2 * width - packed - n > digits):
            return True
        found = 10 * found + half
    if packed:
        half = p[width - 1] & 0xF
        if half < 10 or (not signed and (half == 0xB or half == 0xD)):
            return True
        if half == 0xB or half == 0xD:
            found = -found
    position[0] = p + width
    value[0] = found
    return False


cdef inline uint8_t zoned_of(uint8_t character) noexcept nogil:
    """The zoned EBCDIC digit for an ASCII digit, possibly overpunched; 0 if it is neither."""
    if 48 <= character <= 57:
        return character + 0xC0
    if 65 <= character <= 73:
        return character + 0x80
    if 74 <= character <= 82:
        return character + 0x87
    return 0xC0 if character == 123 else (0xD0 if character == 125 else 0)


cdef inline int64_t signed_place(int64_t form, int64_t digits) noexcept nogil:
    """The index of the zoned digit with the sign (form 15, in ASCII 17; 16 and 18 have a leading sign)."""
    return digits - 1 if form & 1 else 0


cdef bint load_zoned(const uint8_t **position, const uint8_t *end, int64_t digits, int64_t form, bint signed, int64_t *value) noexcept nogil:
    """Load so many decimal digits, a byte each, one with the sign in its zone (see `signed_place`). True if it is invalid."""
    cdef const uint8_t *p = position[0]
    cdef int64_t n, found = 0, place = signed_place(form, digits)
    cdef uint8_t zoned
    cdef bint minus = False
    if end - p < digits:
        return True
    for n in range(digits):
        zoned = zoned_of(p[n]) if form >= 17 else p[n]
        if (zoned & 0xF) > 9 or (zoned >> 4 != 0xF and (n != place or zoned < 0xA0)):
            return True
        if n == place:
            minus = zoned >> 4 == 0xB or zoned >> 4 == 0xD
        found = 10 * found + (zoned & 0xF)
    if minus and not signed:
        return True
    position[0] = p + digits
    value[0] = -found if minus else found
    return False


cdef bint load_columns(const uint8_t **position, const uint8_t *end, int64_t digits, int64_t form, bint signed, int64_t *value, bint *wide) noexcept nogil:
    """Load so many ASCII digits (see `base_of`), after spaces and a sign. True if it is invalid."""
    cdef const uint8_t *p = position[0]
    cdef int64_t base = base_of(form), width = digits_width(form, digits, signed), n = 0, most = 0
    cdef uint64_t found = 0
    cdef uint8_t digit
    cdef bint minus = False
    if end - p < width:
        return True
    while n < width and p[n] == 32:
        n += 1
    if signed and n < width and (p[n] == 43 or p[n] == 45):
        minus = p[n] == 45
        n += 1
    if n == width:
        return True
    while n < width:
        digit = digit_of(p[n])
        if digit >= base:
            return True
        most += digit > 0 or most > 0
        found = base * found + digit
        n += 1
    if most > digits:
        return True
    position[0] = p + width
    wide[0] = found >> 63
    value[0] = -<int64_t>found if minus else <int64_t>found
    return False


cdef inline int64_t marked_width(int64_t markers, uint8_t first) noexcept nogil:
    """How many bytes follow a marker byte (see `number_form`); 0 for other bytes."""
    cdef int64_t place = first - (markers & 0xFF)
    return markers >> (9 + 4 * place) & 0xF if place < MARKERS else 0


cdef bint load_extended(const uint8_t **position, const uint8_t *end, int64_t markers, bint *wide, int64_t *value) noexcept nogil:
    """Load a number in one byte, or after one of the `markers` (see `number_form`); true if it is missing or invalid."""
    cdef const uint8_t *p = position[0]
    cdef int64_t width
    if p >= end:
        return True
    if p[0] < (markers & 0xFF):
        value[0] = p[0]
        position[0] = p + 1
        return False
    width = marked_width(markers, p[0])
    if width == 0 or end - p <= width:
        return True
    wide[0] = load(p + 1, width, False, markers >> 8 & 1, value)
    position[0] = p + 1 + width
    return False


cdef bint load_ended(const uint8_t **position, const uint8_t *end, int64_t form, bint signed, int64_t *value, bint *wide) noexcept nogil:
    """Load a sign and digits, up to the bytes that end them (see `number_form`). True if it is invalid."""
    cdef const uint8_t *p = position[0]
    cdef uint64_t base = <uint64_t>base_of(form >> 8 & 0xF), found = 0, digit, most = ~<uint64_t>0
    cdef int64_t left = form & 0xFF, size = form >> 12 & 0xF, n = 0
    cdef bint minus = False
    if signed and p < end and (p[0] == 43 or p[0] == 45):
        minus = p[0] == 45
        p += 1
    if signed:
        most = (<uint64_t>1 << 63) - (0 if minus else 1)
    while p + n < end:
        digit = digit_of(p[n])
        if digit >= base:
            break
        if n == left or found > (most - digit) // base:
            return True
        found = base * found + digit
        n += 1
    p += n
    if n == 0 or end - p < size:
        return True
    for n in range(size):
        if p[n] != (form >> (16 + 8 * n) & 0xFF):
            return True
    position[0] = p + size
    wide[0] = not signed and found >> 63
    value[0] = <int64_t>(0 - found) if minus else <int64_t>found
    return False


cdef bint load_numeral(const uint8_t **position, const uint8_t *end, int64_t word, bint signed, int64_t *value, bint *wide) noexcept nogil:
    """Load a number of the form in `word` (see `number_form`) and move after it; true if it is invalid."""
    cdef int64_t form = word >> 8 & 0xFF
    wide[0] = False
    if form == 12:
        return load_extended(position, end, word >> 16, wide, value)
    if form == 14:
        return load_ended(position, end, word >> 16, signed, value, wide)
    if form >= 15:
        return load_zoned(position, end, word >> 16, form, signed, value)
    if form >= 8:
        return load_columns(position, end, word >> 16, form, signed, value, wide)
    return load_digits(position, end, word >> 16, form == 7, signed, value)


cdef inline bint load_varint(const uint8_t **position, const uint8_t *end, bint zigzag, int64_t bits, int64_t *value, bint *wide) noexcept nogil:
    """Load a varint and move after it; true if it does not end, or exceeds its bits."""
    cdef const uint8_t *start = position[0]
    cdef uint64_t number = 0
    if bits >> 8:
        return load_numeral(position, end, bits, zigzag, value, wide)
    if read_varint(position, end, &number) or position[0] - start > (bits + 6) // 7 or (bits < 64 and number >> bits):
        return True
    if position[0] - start == 10 and position[0][-1] > 1:
        return True
    wide[0] = not zigzag and number >> 63
    value[0] = <int64_t>(number >> 1 ^ (0 - (number & 1))) if zigzag else <int64_t>number
    return False


cdef bint lacks(const uint8_t *p, const uint8_t *end, int64_t word, bint signed) noexcept nogil:
    """Whether bytes of a number (see `load_varint`) are missing at the end of the data."""
    cdef int64_t form = word >> 8 & 0xFF, held = end - p, longest = ((word & 0xFF) + 6) // 7, n
    if form == 14:  # which has an end of its own
        return False
    if held == 0:
        return True
    if form == 12:
        return p[0] >= (word >> 16 & 0xFF) and held <= marked_width(word >> 16, p[0])
    if form >= 15:
        return held < word >> 16
    if 6 <= form < 12:
        return held < digits_width(form, word >> 16, signed)
    if held >= longest:
        return False
    for n in range(held):
        if p[n] < 0x80:
            return False
    return True


cdef inline int unended(const Machine *m, const uint8_t *p, const uint8_t *end, int64_t word, bint signed) noexcept nogil:
    """The code for a number that `load_varint` refuses: bytes are missing, or the parser decides."""
    return m.overrun if lacks(p, end, word, signed) else IRREGULAR


cdef inline bint load(const uint8_t *p, int64_t size, bint signed, bint big, int64_t *value) noexcept nogil:
    """Load an integer of so many bytes; returns whether it is beyond int64."""
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
    """i: register, column, code"""
    if m.end - m.position < 1:
        return m.overrun
    if m.position[0] > 1:
        return <int>i[3]
    m.value = m.position[0]
    m.none = m.wide = False
    m.position += 1
    return deliver_boolean(m, i[1], i[2])


cdef int read_front(Machine *m, int64_t word, int64_t *count) noexcept nogil:
    """Read a number before the data, which may be negative; `word` is its form (see `prefix_word`)."""
    cdef int64_t width = word >> 1 & 15
    cdef bint wide = False
    if width == 0:
        if load_varint(&m.position, m.end, word >> 5 & 1, word >> 8, count, &wide):
            return unended(m, m.position, m.end, word >> 8, word >> 5 & 1)
    else:
        if m.end - m.position < width:
            return m.overrun
        wide = load(m.position, width, word >> 5 & 1, word >> 8, count)
        m.position += width
    return IRREGULAR if wide else OK


cdef int read_prefix(Machine *m, int64_t word, int64_t *count, bint *none) noexcept nogil:
    """Read a size or count before the data; `word` is its form (see `prefix_word`)."""
    cdef int code = read_front(m, word, count)
    if code:
        return code
    none[0] = word >> 6 & 1 and count[0] == -1
    return BAD_SIZE if count[0] < 0 and not none[0] else OK


cdef struct Portion:  # a part of a value, after its own length
    int64_t left  # bytes or elements; 0 after the last block
    const uint8_t *end  # where its elements must end; NULL: unknown


cdef int next_block(Machine *m, const int64_t *table, Portion *block) noexcept nogil:
    """Go to the next part of a value. Table: the form of the length, and that of the size after a negative length, or 0"""
    cdef int64_t size = 0
    cdef bint none = False
    cdef int code
    if block.end != NULL and m.position != block.end:
        return BAD_SIZE
    block.end = NULL
    code = read_front(m, table[0], &block.left)
    if not code and block.left < 0:
        code = read_prefix(m, table[1], &size, &none) if table[1] else BAD_SIZE
        if code or size > m.end - m.position:
            return code if code else m.overrun
        block.left = -block.left
        block.end = m.position + size
    if code or block.left < 0:  # the least 64-bit number has no positive counterpart
        return code if code else IRREGULAR
    return OK if block.left <= m.end - m.position else m.overrun


cdef int read_blocks(Machine *m, const int64_t *i) noexcept nogil:
    """i: as in `read_bytes`. Read a value in parts, each after its size; several parts are joined."""
    cdef const int64_t *table = m.tables + i[2]
    cdef const uint8_t *start = m.position
    cdef const uint8_t *first = m.position
    cdef const uint8_t *behind
    cdef uint8_t *whole
    cdef int64_t size = 0, parts = 0
    cdef Portion block
    cdef int code
    block.end = NULL
    code = next_block(m, table, &block)
    while not code and block.left:
        if parts == 0:
            first = m.position
        parts += 1
        size += block.left
        m.position += block.left
        code = next_block(m, table, &block)
    if code:
        return code
    if parts <= 1:
        return <int>i[3] if i[3] and not wl_is_utf8(first, size) else deliver_bytes(m, i[4], i[5], first, size)
    if not i[3] and i[4] < 0 and i[5] < 0:
        return OK
    whole = new_text(m, size)
    if whole == NULL:
        return EXHAUSTED
    behind, m.position, size = m.position, start, 0
    while m.position < behind:
        code = next_block(m, table, &block)
        if code:
            return code
        memcpy(whole + size, m.position, <size_t>block.left)
        size += block.left
        m.position += block.left
    if i[3] and not wl_is_utf8(whole, size):
        return <int>i[3]
    return deliver_copy(m, i[4], i[5], whole, size)


cdef const uint8_t *found_in(const uint8_t *data, int64_t size, const uint8_t *wanted, int64_t width) noexcept nogil:
    """The first place of a few bytes; NULL if they are missing."""
    cdef int64_t left = size - width + 1  # possible places
    cdef const uint8_t *place
    while left > 0:
        place = <const uint8_t *>memchr(data, wanted[0], <size_t>left)
        if place == NULL or memcmp(place, wanted, <size_t>width) == 0:
            return place
        left -= place - data + 1
        data = place + 1
    return NULL


cdef inline bint ends_filled(const uint8_t *data, int64_t size, int64_t word) noexcept nogil:
    """Whether the last byte is the fill byte (see `padded_word`)."""
    return size > 0 and data[size - 1] == (word & 0xFF)


cdef const uint8_t *end_of(const uint8_t *data, const uint8_t *end, const int64_t *table, const uint8_t *texts, int64_t *behind, int64_t *escapes) noexcept nogil:
    """Where a value ends that has escapes, or one of several delimiters; NULL if it does not end. Table: see `programs/delimiters.py`."""
    cdef const int64_t *stops = table + 5
    cdef const int64_t *delimiters = stops + table[3]
    cdef int64_t n, width
    escapes[0] = 0
    while True:
        data = wl_stop(data, end, stops, table[3])
        if data == end:
            return NULL
        if data[0] == table[0] and end - data > 1 and (table[1] != 1 or data[1] == table[0]):
            escapes[0] += 1
            data += 2
            continue
        for n in range(table[4]):
            width = delimiters[n] & 0xFFFF
            if width <= end - data and memcmp(data, texts + (delimiters[n] >> 16), <size_t>width) == 0:
                behind[0] = width
                return data
        data += 1


cdef inline int endless(Machine *m, int64_t code) noexcept nogil:
    """The code for a missing delimiter; at the end of a stream, more bytes may help."""
    if not code:
        return m.overrun
    if m.overrun == TRUNCATED:
        m.cut_off = True
    return <int>code


cdef int read_ended(Machine *m, const int64_t *i) noexcept nogil:
    """i: as in `read_bytes`. Read a value that has escapes, one of several delimiters, or its delimiter as a part."""
    cdef const int64_t *table = m.tables + i[2]
    cdef const uint8_t *start = m.position
    cdef int64_t behind = 0, escapes = 0, size
    cdef const uint8_t *ending = end_of(start, m.end, table, m.texts, &behind, &escapes)
    cdef uint8_t *plain
    if ending == NULL:
        return endless(m, i[6])
    m.position = ending + behind
    size = ending - start + (behind if table[1] == 2 else 0)
    if escapes == 0:
        return <int>i[3] if i[3] and not wl_is_utf8(start, size) else deliver_bytes(m, i[4], i[5], start, size)
    if not i[3] and i[4] < 0 and i[5] < 0:
        return OK
    plain = new_text(m, size - escapes)
    if plain == NULL:
        return EXHAUSTED
    size = wl_unescape(plain, start, size, <int>table[0], m.texts + table[2])
    if i[3] and not wl_is_utf8(plain, size):
        return <int>i[3]
    return deliver_copy(m, i[4], i[5], plain, size)


cdef inline int read_bytes(Machine *m, const int64_t *i) noexcept nogil:
    """i: form of the size (0 all that is left, 1 number, 2 expression, 3 in front, 4 bytes after, 5 filled up, 7 a table of `programs/delimiters.py`, 8 in parts), size, code of what is no UTF-8 (0: bytes), register, column, code where no end is found (0: what the region says)"""
    cdef int64_t size = m.end - m.position, behind = 0
    cdef const uint8_t *ending
    cdef bint none = False
    cdef int code
    if i[1] == 1:
        size = i[2]
    elif i[1] == 2:
        code = number_of(m, i[2], &size, &none)
        if code:
            return code
        if none or size < 0:
            return BAD_SIZE
    elif i[1] == 3:
        code = read_prefix(m, i[2], &size, &none)
        if code:
            return code
        m.none = none
        if none:
            if i[4] >= 0:
                m.absent[i[4]] = True
            return OK
    elif i[1] == 4:
        behind = i[2] & 0xFFFF
        ending = found_in(m.position, size, m.texts + (i[2] >> 16), behind)
        if ending == NULL:
            return endless(m, i[6])
        size = ending - m.position
    elif i[1] == 7:
        return read_ended(m, i)
    elif i[1] == 8:
        return read_blocks(m, i)
    elif i[1] == 5:
        if i[2] >> 8 > size:
            return m.overrun
        size = behind = i[2] >> 8
        while ends_filled(m.position, size, i[2]):
            size -= 1
        behind -= size
    if size > m.end - m.position:
        return m.overrun
    if i[3] and not wl_is_utf8(m.position, size):
        return <int>i[3]
    m.position += size + behind
    return deliver_bytes(m, i[4], i[5], m.position - size - behind, size)


cdef inline uint64_t window(const uint8_t *p, int64_t size, int64_t shift, bint big) noexcept nogil:
    """The lowest 64 bits, after a shift to the right, of a number of up to nine bytes."""
    cdef uint64_t number = 0, highest = 0
    cdef int64_t n
    if size == 9:
        size = 8
        highest = p[0] if big else p[8]
        p += big
    for n in range(size):
        number |= <uint64_t>p[size - 1 - n if big else n] << (8 * n)
    return number >> shift | (highest << (64 - shift) if shift else 0)


cdef int read_bits(Machine *m, const int64_t *i) noexcept nogil:
    """i: low << 8 | width, form (0 boolean, 1 unsigned, 2 signed, 3 mapped), table, code, register, column.

    The integer stays the last value, for the next bits.
    """
    cdef int64_t whole = m.value, low = i[1] >> 8, width = i[1] & 0xFF
    cdef int64_t bits = <int64_t>(<uint64_t>whole >> low & ((<uint64_t>1 << width) - 1 if width < 64 else ~<uint64_t>0))
    cdef bint wide = m.wide
    cdef int code
    cdef int64_t mapped[5]
    if m.none:
        return IRREGULAR
    m.wide = i[2] != 2 and bits < 0
    if i[2] == 3:
        mapped[1] = i[3]
        mapped[2] = i[4]
        mapped[3] = i[5]
        mapped[4] = i[6]
        code = map_value(m, mapped, bits)
    else:
        if i[2] == 2 and width < 64 and bits >> (width - 1) & 1:
            bits -= <int64_t>1 << width
        m.value = bits
        code = deliver_boolean(m, i[5], i[6]) if i[2] == 0 else deliver_integer(m, i[5], i[6])
    m.value = whole
    m.none = False
    m.wide = wide
    return code


cdef int compute(Machine *m, const int64_t *i) noexcept nogil:
    """i: expression, kind (as in `deliver`), register, column, minimum, maximum"""
    cdef int64_t value = 0
    cdef bint none = False
    cdef int code = number_of(m, i[1], &value, &none)
    if code:
        return code
    if none:
        if i[3] >= 0:
            m.absent[i[3]] = True
        return OK
    if i[2] == 1 and (value < i[5] or value > i[6]):
        return IRREGULAR
    return deliver(m, i[2], value, i[3], i[4])


cdef inline bint too_often(Machine *m, const uint8_t *start, const uint8_t *end) noexcept nogil:
    """Count one more reading from `start` to `end`; returns whether the record was read again too often, well before the parser's own limit."""
    if end > m.furthest:
        m.furthest = end
    return count_again(m, end - start)


cdef inline bint count_again(Machine *m, int64_t size) noexcept nogil:
    """The same for so many bytes. A few are free, but not inside a region that is read again."""
    if m.retried:
        m.again += size if size > 1 else 1
    elif size > 32:
        m.again += size - 32
    if m.position > m.furthest:
        m.furthest = m.position
    return m.again > 16 * max(m.furthest - m.base, 1)


cdef const uint8_t *covered(Machine *m, const uint8_t *data, int64_t size, int64_t hole, int64_t width) noexcept nogil:
    """A copy of the covered data, with zeros for the checksum itself; NULL if there is no memory."""
    cdef int64_t first = hole - (data - m.base), last = first + width
    m.covered.length = 0
    if push(&m.covered, data, size):
        return NULL
    first = first if first > 0 else 0
    last = last if last < size else size
    if first < last:
        memset(m.covered.data + first, 0, <size_t>(last - first))
    return m.covered.data


cdef int verify(Machine *m, const int64_t *i) noexcept nogil:
    """i: CRC (of an MD5 nothing), first expression, last expression, start register, register of the field, code"""
    cdef int64_t first = 0, last = 0, size, hole = m.hole
    cdef const uint8_t *data
    cdef uint8_t digest[DIGEST]
    cdef bint none = False
    cdef int code
    m.hole = 0
    if m.absent[i[5]]:  # the record has no checksum
        return OK
    code = number_of(m, i[2], &first, &none) if hole >= 0 else IRREGULAR
    if code or none:
        return code if code else IRREGULAR
    code = number_of(m, i[3], &last, &none)
    if code or none:
        return code if code else IRREGULAR
    size = last - first if last > first else 0
    first += m.registers[i[4]]
    if first < 0 or first > m.end - m.base or size > m.end - m.base - first:
        return m.overrun if first >= 0 and first <= m.end - m.base else IRREGULAR
    if too_often(m, m.base + first, m.base + first + size):
        return IRREGULAR
    data = m.base + first
    if hole and (hole - 1 >= first + size or hole - 1 + m.hole_width <= first):
        hole = 0  # the checksum is outside of its range
    if hole:
        data = covered(m, data, size, hole - 1, m.hole_width)
        if data == NULL:
            return EXHAUSTED
    if i[0] == OP_VERIFY_CRC:
        return OK if wl_crc_value(m.crcs + i[1], data, size) == <uint64_t>m.registers[i[5]] else <int>i[6]
    if m.registers[i[5]] != DIGEST:
        return IRREGULAR
    if not hole and not m.opened:  # decompressed data is freed before deferred digests are checked
        return check_digest(m, data, size, m.pointers[i[5]], <int>i[6])
    wl_md5(data, size, digest)
    return OK if memcmp(digest, m.pointers[i[5]], DIGEST) == 0 else <int>i[6]


cdef int need(Machine *m, const int64_t *i, int64_t *number) noexcept nogil:
    """Require so many bytes from the struct's start; null is always too many."""
    cdef bint none = False
    cdef int code = number_of(m, i[1], number, &none)
    if code:
        return code
    return m.overrun if none or number[0] > (m.end - m.base) - m.registers[i[2]] else OK


cdef int seek(Machine *m, const int64_t *i) noexcept nogil:
    """i: form (0 from the struct's start, 1 from the end, 2 expression from the start), number, start register, reach register"""
    cdef int64_t target = i[2], start = m.registers[i[3]]
    cdef bint none = False
    cdef int code
    if i[1] == 2:
        code = evaluate(m, i[2], &target, &none)
        if code or none:
            return code if code else m.overrun
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
    """Jump by the last value, with a hash without collisions.

    Table: targets for null and for a value that is not in the table (-1: none), shift, multiplier, number of places, then
    (value, target or -1) each.
    """
    cdef const int64_t *table = m.tables + i[1]
    cdef const int64_t *entry
    cdef int64_t found
    if m.none:
        found = table[0]
    else:
        entry = table + 5 + 2 * (<uint64_t>m.value * <uint64_t>table[3] >> table[2])
        found = table[1] if m.wide or entry[1] < 0 or entry[0] != m.value else entry[1]
    if found < 0:
        return <int>i[2]
    m.next = found
    return OK


cdef int attempt(Machine *m, const int64_t *i) noexcept nogil:
    """i: body, table of the codes that lead to the next alternative, target after success, table of the columns that the body writes, reason register"""
    cdef const uint8_t *position = m.position
    cdef const uint8_t *end = m.end
    cdef int overrun = m.overrun
    cdef const int64_t *table = m.tables + i[2]
    cdef const int64_t *written = m.tables + i[4]
    cdef int64_t n
    cdef int64_t frames = m.frame_count, names = m.spans.length, following = m.next
    cdef int64_t column
    cdef int opened = m.opened
    cdef int64_t retried = m.retried
    cdef int code
    m.retried += 1
    code = run(m, i[1])
    m.retried = retried
    m.next = following
    if code == OK:
        m.next = i[3]
        return OK
    if m.opened != opened:  # it ended inside a compressed region
        return IRREGULAR
    m.frame_count = frames
    m.spans.length = names
    for n in range(table[0]):
        if table[1 + 2 * n] == code:
            if too_often(m, position, m.position):
                return IRREGULAR
            m.position = position
            m.end = end
            m.overrun = overrun
            for column in range(1, written[0] + 1):
                cut(m.columns, <int>written[column], m.columns[written[column]].row[0])
            m.registers[i[5]] = table[2 + 2 * n]
            m.absent[i[5]] = False
            return OK
    return code


cdef struct Trail:  # the places of a list that continues elsewhere
    const uint8_t *lowest
    const uint8_t *behind  # the end of the first pointer; NULL: none yet
    int64_t elsewhere  # bytes read after pointers
    int64_t size  # bytes of the list before its current place


cdef inline bint at_ending(const Machine *m, int64_t symbol) noexcept nogil:
    """Whether the bytes that end a list are next."""
    cdef int64_t width = symbol & 0xFFFF
    return m.end - m.position >= width and memcmp(m.position, m.texts + (symbol >> 16), <size_t>width) == 0


cdef int led_on(Machine *m, const int64_t *jump, Trail *trail) noexcept nogil:
    """Follow pointers in place of an element. jump: bytes after the list, width, big, least and greatest pointer, the offset it counts from, most bytes"""
    cdef int64_t number = 0
    cdef const uint8_t *place
    while m.end - m.position >= jump[1] and not at_ending(m, jump[0]):
        place = m.position
        if load(place, jump[1], False, jump[2], &number) or number < jump[3] or number > jump[4]:
            return OK
        number -= jump[5]
        if number < 0 or number >= trail.lowest - m.base:
            return IRREGULAR
        if trail.behind == NULL:
            trail.behind = place + jump[1]
        else:
            trail.elsewhere += place - trail.lowest + HOP
        trail.size += place - trail.lowest
        trail.lowest = m.position = m.base + number
    return OK


cdef inline bint returned(Machine *m, const Trail *trail) noexcept nogil:
    """After a list, return to the end of its first pointer; true if too many bytes were read again."""
    cdef int64_t elsewhere = trail.elsewhere + (m.position - trail.lowest)
    m.position = trail.behind
    return count_again(m, elsewhere)


cdef inline bint goes_on(const Machine *m, const int64_t *i, const Portion *block) noexcept nogil:
    """Whether another element follows; form and count as in `repeat_binary`."""
    if i[1] == 8:
        return block.left > 0
    if i[1] == 4 or i[1] == 7:
        return m.position < m.end and not at_ending(m, i[2])
    if i[1] == 5:
        return m.absent[i[2]]
    if i[1] == 6:
        return m.position < m.end and not at_ending(m, m.tables[i[2]])
    return m.position < m.end


cdef int repeat_binary(Machine *m, const int64_t *i) noexcept nogil:
    """i: form of the count (0 to the end, 1 number, 2 expression, 3 before, 4 bytes after, 5 register filled after the last,
    6 bytes after, or a pointer, 7 bytes after, or the end, 8 in parts), count, body, list column, index register, register"""
    cdef int64_t count = -1, n = 0, base = 0, following = m.next
    cdef bint none = False
    cdef const uint8_t *before
    cdef int code
    cdef int64_t ending = i[2]
    cdef Trail trail
    cdef Portion block
    cdef bint leads
    cdef int64_t checkpoint = -1
    if i[1] == 1:
        count = i[2]
    elif i[1] == 8:
        block.end = NULL
        checkpoint = begin_noted(m, m.position - m.base) if m.notes else -1
        code = next_block(m, m.tables + i[2], &block)
        if code:
            return code
    elif i[1] == 6:
        ending = m.tables[i[2]]
        checkpoint = begin_noted(m, m.position - m.base) if m.notes else -1
        trail.lowest = m.position
        trail.behind = NULL
        trail.elsewhere = 0
        trail.size = 0
        code = led_on(m, m.tables + i[2], &trail)
        if code:
            return code
    elif i[1] == 2:
        code = evaluate(m, i[2], &count, &none)
        if code:
            return code
        if none or count < 0:
            return BAD_SIZE
        if count > m.end - m.position:
            return m.overrun
    elif i[1] == 3:
        code = read_prefix(m, i[2], &count, &none)
        if code:
            return code
        if none:
            if i[6] >= 0:
                m.absent[i[6]] = True
            return OK
        if count > m.end - m.position:
            return m.overrun
    if m.notes and i[1] != 6 and i[1] != 8:
        checkpoint = begin_noted(m, m.position - m.base)
    if i[4] >= 0:
        if ready(m.columns, i[4]) == NULL:
            return EXHAUSTED
        base = m.columns[m.columns[i[4]].child].length
    if i[1] == 5:
        m.absent[i[2]] = True
    while n < count if count >= 0 else goes_on(m, i, &block):
        before = m.position
        if checkpoint >= 0:
            note_list(m, checkpoint, n, True)
        m.registers[i[5]] = n
        m.absent[i[5]] = False
        leads = i[1] == 6 and trail.behind != NULL
        m.retried += leads
        code = run(m, i[3])
        m.retried -= leads
        if code:
            return code
        if count < 0 and m.position <= before:
            return IRREGULAR
        n += 1
        if i[4] >= 0 and pad(m.columns + m.columns[i[4]].child, base + n):
            return EXHAUSTED
        if i[1] == 6:
            code = led_on(m, m.tables + i[2], &trail)
            if code:
                return code
        elif i[1] == 8:
            block.left -= 1
            if block.left == 0:
                code = next_block(m, m.tables + i[2], &block)
                if code:
                    return code
    m.next = following
    if i[1] == 4 or i[1] == 6 or (i[1] == 7 and m.position < m.end):
        if m.end - m.position < (ending & 0xFFFF):
            return m.overrun
        m.position += ending & 0xFFFF
        if i[1] == 6 and trail.size + (m.position - trail.lowest) > m.tables[i[2] + 6]:
            return IRREGULAR
        if i[1] == 6 and trail.behind != NULL and returned(m, &trail):
            return IRREGULAR
    if checkpoint >= 0:
        note_list(m, checkpoint, n, False)
    if i[6] >= 0:
        m.registers[i[6]] = n
        m.absent[i[6]] = False
    return put_list(m.columns, i[4]) if i[4] >= 0 else OK

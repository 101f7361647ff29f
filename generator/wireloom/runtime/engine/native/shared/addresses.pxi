# UUIDs and addresses (IPv4, IPv6, MAC): whole columns of bytes to their usual texts, and back.
#
# A text is accepted only in the form that writing gives (IPv6: RFC 5952), so text and bytes are one to one. The call
# returns None if any text has another form.

DEF LONGEST_ADDRESS = 39

ADDRESS_KINDS = {"uuid": 0, "ipv4": 1, "ipv6": 2, "mac": 3}
cdef int64_t[4] address_sizes = [16, 4, 16, 6]


cdef inline int put_pair(uint8_t byte, char *to) noexcept nogil:
    to[0] = HEXADECIMAL[byte >> 4]
    to[1] = HEXADECIMAL[byte & 15]
    return 2


cdef int put_decimal(uint8_t byte, char *to) noexcept nogil:
    cdef int n = 0
    if byte >= 100:
        to[n] = 48 + byte // 100
        n += 1
    if byte >= 10:
        to[n] = 48 + byte // 10 % 10
        n += 1
    to[n] = 48 + byte % 10
    return n + 1


cdef int put_group(uint32_t group, char *to) noexcept nogil:
    """Write sixteen bits without leading zeros."""
    cdef int n = 0, shift = 12
    while shift and not group >> shift:
        shift -= 4
    while shift >= 0:
        to[n] = HEXADECIMAL[(group >> shift) & 15]
        n += 1
        shift -= 4
    return n


cdef int put_ipv6(const uint8_t *value, char *to) noexcept nogil:
    """RFC 5952: the first of the longest runs of two or more zero groups becomes `::`."""
    cdef int place, run, start = 0, length = 1, n = 0
    for place in range(8):
        run = 0
        while place + run < 8 and not value[2 * (place + run)] and not value[2 * (place + run) + 1]:
            run += 1
        if run > length:
            start = place
            length = run
    place = 0
    while place < 8:
        if length > 1 and place == start:
            to[n] = 58
            to[n + 1] = 58
            n += 2
            place += length
            continue
        if n and to[n - 1] != 58:
            to[n] = 58
            n += 1
        n += put_group(<uint32_t>value[2 * place] << 8 | value[2 * place + 1], to + n)
        place += 1
    return n


cdef int put_address(int kind, const uint8_t *value, char *to) noexcept nogil:
    """Write the text of an address; returns its length."""
    cdef int place, n = 0
    if kind == 2:
        return put_ipv6(value, to)
    for place in range(address_sizes[kind]):
        if (kind and place) or place == 4 or place == 6 or place == 8 or place == 10:
            to[n] = 45 if kind == 0 else 46 if kind == 1 else 58
            n += 1
        n += put_decimal(value[place], to + n) if kind == 1 else put_pair(value[place], to + n)
    return n


cdef int64_t digits_of(const char **text, const char *end, int base, int64_t most) noexcept nogil:
    """The number in the next digits, at most `most` of them; -1 if there are none."""
    cdef int64_t found = 0, count = 0, digit
    while text[0] < end and count < most:
        digit = text[0][0]
        digit = digit - 48 if 48 <= digit <= 57 else digit - 87 if 97 <= digit <= 102 else 16
        if digit >= base:
            break
        found = found * base + digit
        count += 1
        text[0] += 1
    return found if count else -1


cdef int take_ipv6(const char *text, const char *end, uint8_t *value) noexcept nogil:
    cdef int place = 0, gap = -1, n
    cdef int64_t group
    memset(value, 0, 16)
    while text < end:
        if end - text > 1 and text[0] == 58 and text[1] == 58:
            if gap >= 0:
                return 1
            gap = place
            text += 2
            continue
        if place and gap != place:
            if text[0] != 58:
                return 1
            text += 1
        group = digits_of(&text, end, 16, 4)
        if group < 0 or place == 8:
            return 1
        value[2 * place] = group >> 8
        value[2 * place + 1] = group & 255
        place += 1
    if gap < 0:
        return place != 8
    for n in range(2 * (place - gap)):
        value[15 - n] = value[2 * place - 1 - n]
    for n in range(2 * gap, 16 - 2 * (place - gap)):
        value[n] = 0
    return 0


cdef int take_address(int kind, const char *text, int64_t size, uint8_t *value) noexcept nogil:
    """The bytes of an address's text; nonzero unless it is in the usual form."""
    cdef const char *at = text
    cdef const char *end = text + size
    cdef char[48] again
    cdef int place
    cdef int64_t number
    if size > LONGEST_ADDRESS:
        return 1
    if kind == 2:
        if take_ipv6(text, end, value):
            return 1
    else:
        for place in range(address_sizes[kind]):
            if (kind and place) or place == 4 or place == 6 or place == 8 or place == 10:
                at += 1
            number = digits_of(&at, end, 10, 3) if kind == 1 else digits_of(&at, end, 16, 2)
            if not 0 <= number <= 255:
                return 1
            value[place] = number
    return put_address(kind, value, again) != size or memcmp(again, text, size) != 0


def address_texts(kind, offsets, data, int64_t first, int64_t count):
    """The texts of addresses as blocks of offsets and text; null for bytes of another size."""
    cdef const int32_t[::1] places = memoryview(offsets).cast("B").cast("i") if offsets is not None else None
    cdef const uint8_t[::1] values = memoryview(data).cast("B") if data is not None and len(memoryview(data)) else bytes(1)
    cdef Buffer found, text
    cdef int which = ADDRESS_KINDS[kind]
    cdef int64_t n, used = 0, size = address_sizes[which]
    memset(&found, 0, sizeof(Buffer))
    memset(&text, 0, sizeof(Buffer))
    if reserve(&found, 4 * (count + 1)) or reserve(&text, count * LONGEST_ADDRESS + 64):
        raise MemoryError
    (<int32_t *>found.data)[0] = 0
    with nogil:
        for n in range(count):
            if places[first + n + 1] - places[first + n] == size and used < 0x7FFFFF00:
                used += put_address(which, &values[0] + places[first + n], <char *>text.data + used)
            (<int32_t *>found.data)[n + 1] = <int32_t>used
    return block(&found, 4 * (count + 1)), block(&text, used)


def address_values(kind, offsets, data, present, int64_t first, int64_t count):
    """The bytes of addresses' texts as blocks of offsets and bytes; None if a text is not in the usual form."""
    cdef const int32_t[::1] places = memoryview(offsets).cast("B").cast("i")
    cdef const uint8_t[::1] texts = memoryview(data).cast("B") if data is not None and len(memoryview(data)) else bytes(1)
    cdef const uint8_t[::1] there = memoryview(present).cast("B") if present is not None else None
    cdef Buffer found, values
    cdef int which = ADDRESS_KINDS[kind], refused = 0
    cdef int64_t n, used = 0, size = address_sizes[which]
    memset(&found, 0, sizeof(Buffer))
    memset(&values, 0, sizeof(Buffer))
    if reserve(&found, 4 * (count + 1)) or reserve(&values, count * size + 64):
        raise MemoryError
    (<int32_t *>found.data)[0] = 0
    with nogil:
        for n in range(count):
            if there is None or there[n >> 3] >> (n & 7) & 1:
                if take_address(
                    which,
                    <const char *>&texts[0] + places[first + n],
                    places[first + n + 1] - places[first + n],
                    <uint8_t *>values.data + used,
                ):
                    refused = 1
                    break
                used += size
            (<int32_t *>found.data)[n + 1] = <int32_t>used
    if refused:
        drop(&found)
        drop(&values)
        return None
    return block(&found, 4 * (count + 1)), block(&values, used)

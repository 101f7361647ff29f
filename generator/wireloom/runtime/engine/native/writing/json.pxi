# Writing JSON: compact, members in the order of the spec, numbers and escapes as `build` writes them (json_text.h).
#
# A value that the builders could write differently (a float that needs Python's writer, invalid UTF-8) is IRREGULAR.

cdef enum:
    NUMBER_ROOM = 40  # the most bytes of a number, and of the write past its end
    ESCAPED_AT_ONCE = 4096  # the part of a text that is escaped at once; each byte may become six
    LINE_BYTES = 57  # the bytes in a full line of base64


cdef inline int json_byte(Builder *k, uint8_t byte) noexcept nogil:
    cdef int code = room(k, 1)
    if code:
        return code
    k.output.data[k.size] = byte
    k.size += 1
    return OK


cdef inline void put_digits(Builder *k, int64_t value, bint wide) noexcept nogil:
    """Write a number; the caller has reserved space."""
    k.size = wl_put_integer(k.output.data + k.size, value, wide) - k.output.data


cdef inline int json_number(Builder *k, int64_t value, bint wide) noexcept nogil:
    cdef int code = room(k, NUMBER_ROOM)
    if not code:
        put_digits(k, value, wide)
    return code


cdef inline int json_double(Builder *k, double number) noexcept nogil:
    """Write a finite number; irregular if its digits are not found here."""
    cdef uint8_t *end
    cdef int code
    if number - number != 0:
        return IRREGULAR
    code = room(k, NUMBER_ROOM)
    if code:
        return code
    end = wl_put_real(k.output.data + k.size, number)
    if end == NULL:
        return IRREGULAR
    k.size = end - k.output.data
    return OK


cdef inline int json_quoted(Builder *k, const uint8_t *data, int64_t size) noexcept nogil:
    """Write a string; irregular for invalid UTF-8."""
    cdef const uint8_t *first = data
    cdef int64_t left = size, part
    cdef uint64_t high = 0
    cdef int code = json_byte(k, 0x22)
    while not code:
        part = left if left < ESCAPED_AT_ONCE else ESCAPED_AT_ONCE
        code = room(k, 6 * part + 16)
        if code:
            break
        k.size = wl_put_escaped(k.output.data + k.size, data, part, &high) - k.output.data
        data += part
        left -= part
        if left == 0:
            k.output.data[k.size] = 0x22
            k.size += 1
            return IRREGULAR if high & HIGH_BITS and not wl_is_utf8(first, size) else OK
    return code


cdef int json_base64(Builder *k, const uint8_t *data, int64_t size, bint lines) noexcept nogil:
    """Write bytes as a string; with `lines`, a line feed follows each full line, but not padding."""
    cdef uint8_t *target
    cdef int code = room(k, (size + 2) // 3 * 4 + (2 * (size // LINE_BYTES) if lines else 0) + 16)
    if code:
        return code
    target = k.output.data + k.size
    target[0] = 0x22
    target += 1
    while lines and size >= LINE_BYTES:
        target = wl_put_base64(target, data, LINE_BYTES)
        memcpy(target, b"\\n", 2)
        target += 2
        data += LINE_BYTES
        size -= LINE_BYTES
    target = wl_put_base64(target, data, size)
    target[0] = 0x22
    k.size = target + 1 - k.output.data
    return OK


cdef inline bint is_json_space(uint8_t byte) noexcept nogil:
    return byte == 0x20 or byte == 0x0A or byte == 0x0D or byte == 0x09


cdef int json_reads(Builder *k, int64_t first, int64_t kinds, const int64_t *rules) noexcept nogil:
    """Whether the output from `first` on is one value of these kinds that also follows the rules, if any."""
    cdef const wl_node *node
    cdef const wl_node *bad
    cdef int read = wl_json_read(&k.m.json, k.output.data + first, k.size - first, WL_OPEN)
    if read < 0:
        return EXHAUSTED
    node = k.m.json.nodes
    if read == 0 or not kinds >> node.kind & 1 or json_deep(node, k.m.limit):
        return IRREGULAR
    return json_check_open(&k.m, rules, node, &bad) if rules != NULL else OK


# --- columns ---------------------------------------------------------------------------------------------------------

cdef inline int json_column_integer(Builder *k, const int64_t *i) noexcept nogil:
    """i: column, low, high, whether numbers beyond int64 are in range, the text before the value"""
    cdef int64_t value = 0
    cdef bint wide = False
    cdef int code
    if not there(k, i[1]) or integer_at(k, i[1], &value, &wide):
        return IRREGULAR
    if wide and not i[4] or not wide and not i[2] <= value <= i[3]:
        return IRREGULAR
    code = put_text(k, i + 5, NUMBER_ROOM)
    if not code:
        put_digits(k, value, wide)
    return code


cdef inline int json_column_boolean(Builder *k, const int64_t *i) noexcept nogil:
    """i: column, the text before the value"""
    cdef uint8_t *target
    cdef bint value
    cdef int code
    if not there(k, i[1]):
        return IRREGULAR
    value = boolean_at(k, i[1])
    code = put_text(k, i + 2, 8)
    if code:
        return code
    target = k.output.data + k.size
    memcpy(target, b"true\0\0\0" if value else b"false\0\0", 8)
    k.size += 4 if value else 5
    return OK


cdef inline int json_column_float(Builder *k, const int64_t *i) noexcept nogil:
    """i: column, bits, the text before the value"""
    cdef double number
    cdef int code
    if not there(k, i[1]):
        return IRREGULAR
    number = double_at(k, i[1])
    code = put_text(k, i + 3, 0)
    return code if code else json_double(k, <double><float>number if i[2] == 32 else number)


cdef inline int json_column_text(Builder *k, const int64_t *i) noexcept nogil:
    """i: column, the text before the value"""
    cdef Span span
    cdef int code
    if not there(k, i[1]):
        return IRREGULAR
    code = bytes_at(k, i[1], &span)
    if not code:
        code = put_text(k, i + 2, 0)
    return code if code else json_quoted(k, span.data, span.size)


cdef int json_column_bytes(Builder *k, const int64_t *i) noexcept nogil:
    """i: column, size or -1, whether there are line feeds, the text before the value"""
    cdef Span span
    cdef int code
    if not there(k, i[1]):
        return IRREGULAR
    code = bytes_at(k, i[1], &span)
    if not code:
        code = put_text(k, i + 4, 0)
    if code:
        return code
    return json_base64(k, span.data, span.size, i[3] != 0) if i[2] < 0 or span.size == i[2] else IRREGULAR


cdef int json_column_raw(Builder *k, const int64_t *i) noexcept nogil:
    """i: column, kinds. Write JSON text as it is; it must be exactly one value."""
    cdef Span span
    cdef int code
    if not there(k, i[1]):
        return IRREGULAR
    code = bytes_at(k, i[1], &span)
    if code:
        return code
    if span.size == 0 or is_json_space(span.data[0]) or is_json_space(span.data[span.size - 1]):
        return IRREGULAR
    code = put(k, span.data, span.size)
    return json_reads(k, k.size - span.size, i[2], NULL) if k.certain and not code else code


cdef int json_list(Builder *k, const int64_t *i) noexcept nogil:
    """i: list column, body, index register, form (0 a list, 1 a map, 2 members of the enclosing object), the text before the value"""
    cdef int64_t first = 0, last = 0, row
    cdef int64_t *in_force
    cdef int code
    if not there(k, i[1]):
        return IRREGULAR
    code = list_at(k, i[1], &first, &last)
    if not code:
        code = put_text(k, i + 5, 0)
    if not code and i[4] < 2:
        code = json_byte(k, 0x7B if i[4] else 0x5B)
    in_force = k.rows + k.sources[k.sources[i[1]].child].space
    for row in range(first, last if not code else first):
        if row > first or i[4] == 2:
            code = json_byte(k, 0x2C)
            if code:
                return code
        in_force[0] = row
        k.m.registers[i[3]] = row - first
        k.m.absent[i[3]] = False
        code = make(k, i[2])
        if code:
            return code
    return code if code or i[4] == 2 else json_byte(k, 0x7D if i[4] else 0x5D)


cdef int json_close_written(Builder *k, const int64_t *i) noexcept nogil:
    """i: register of the start, opening and closing bracket. The content, if any, begins with a comma, which is replaced."""
    cdef int64_t at = k.m.registers[i[1]]
    cdef int code
    if k.m.absent[i[1]] or at < 0 or at > k.size - k.base:
        return IRREGULAR
    at += k.base
    if at == k.size:
        code = json_byte(k, <uint8_t>i[2])
        if code:
            return code
    elif k.output.data[at] != 0x2C:
        return IRREGULAR
    else:
        k.output.data[at] = <uint8_t>i[2]
    return json_byte(k, <uint8_t>i[3])

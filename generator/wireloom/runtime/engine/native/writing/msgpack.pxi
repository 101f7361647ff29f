# Writing MessagePack: every head in its shortest form, floats with 64 bits, as `build` writes them.

cdef inline void put_big(uint8_t *target, uint8_t first, uint64_t number, int64_t size) noexcept nogil:
    """Write a first byte and a big-endian number after it."""
    target[0] = first
    store(target + 1, <int64_t>number, size, True)


cdef inline int pack_number(Builder *k, int64_t value, bint wide) noexcept nogil:
    cdef int code = room(k, 9)
    cdef uint8_t *target
    cdef int64_t size = 0
    if code:
        return code
    target = k.output.data + k.size
    if wide or value >= 0:
        if not wide and value < 0x80:
            target[0] = <uint8_t>value
        elif not wide and value < 0x100:
            size = 1
            put_big(target, 0xCC, value, 1)
        elif not wide and value < 0x10000:
            size = 2
            put_big(target, 0xCD, value, 2)
        elif not wide and value < <int64_t>0x100000000:
            size = 4
            put_big(target, 0xCE, value, 4)
        else:
            size = 8
            put_big(target, 0xCF, <uint64_t>value, 8)
    elif value >= -0x20:
        target[0] = <uint8_t>value
    elif value >= -0x80:
        size = 1
        put_big(target, 0xD0, <uint64_t>value, 1)
    elif value >= -0x8000:
        size = 2
        put_big(target, 0xD1, <uint64_t>value, 2)
    elif value >= -<int64_t>0x80000000:
        size = 4
        put_big(target, 0xD2, <uint64_t>value, 4)
    else:
        size = 8
        put_big(target, 0xD3, <uint64_t>value, 8)
    k.size += 1 + size
    return OK


cdef inline int pack_double(Builder *k, double number) noexcept nogil:
    cdef uint64_t bits
    cdef int code = room(k, 9)
    if code:
        return code
    memcpy(&bits, &number, 8)
    put_big(k.output.data + k.size, 0xCB, bits, 8)
    k.size += 9
    return OK


cdef inline int pack_length(Builder *k, uint8_t short_form, int64_t short_limit, uint8_t one, uint8_t two, uint8_t four, int64_t length) noexcept nogil:
    """Write the head for a length or a count; a form that the family lacks is 0."""
    cdef int code = room(k, 5)
    cdef uint8_t *target
    cdef int64_t size = 0
    if code:
        return code
    target = k.output.data + k.size
    if length < short_limit:
        target[0] = <uint8_t>(short_form | length)
    elif one and length < 0x100:
        size = 1
        put_big(target, one, length, 1)
    elif length < 0x10000:
        size = 2
        put_big(target, two, length, 2)
    elif length < <int64_t>0x100000000:
        size = 4
        put_big(target, four, length, 4)
    else:
        return IRREGULAR
    k.size += 1 + size
    return OK


cdef inline int pack_text(Builder *k, const uint8_t *data, int64_t size) noexcept nogil:
    cdef int code = pack_length(k, 0xA0, 32, 0xD9, 0xDA, 0xDB, size)
    return code if code else put(k, data, size)


cdef inline int pack_bin(Builder *k, const uint8_t *data, int64_t size) noexcept nogil:
    cdef int code = pack_length(k, 0, 0, 0xC4, 0xC5, 0xC6, size)
    return code if code else put(k, data, size)


cdef inline int pack_array(Builder *k, int64_t count) noexcept nogil:
    return pack_length(k, 0x90, 16, 0, 0xDC, 0xDD, count)


cdef inline int pack_map(Builder *k, int64_t count) noexcept nogil:
    return pack_length(k, 0x80, 16, 0, 0xDE, 0xDF, count)


cdef inline int pack_real(Builder *k, double number, bint is_narrow) noexcept nogil:
    """Write a number, rounded to 32 bits if it is narrow."""
    cdef double narrow = <double><float>number
    if not is_narrow:
        return pack_double(k, number)
    return IRREGULAR if narrow - narrow != 0 and number - number == 0 else pack_double(k, narrow)


cdef int pack_extension(Builder *k, int64_t type, const uint8_t *data, int64_t size) noexcept nogil:
    """Write an ext value; sizes of 1, 2, 4, 8 and 16 have heads of their own."""
    cdef uint8_t byte = <uint8_t>type
    cdef int code = room(k, 6)
    if code:
        return code
    if size == 1 or size == 2 or size == 4 or size == 8 or size == 16:
        k.output.data[k.size] = 0xD4 if size == 1 else 0xD5 if size == 2 else 0xD6 if size == 4 else 0xD7 if size == 8 else 0xD8
        k.size += 1
    else:
        code = pack_length(k, 0, 0, 0xC7, 0xC8, 0xC9, size)
        if code:
            return code
    code = put(k, &byte, 1)
    return code if code else put(k, data, size)


# --- columns ---------------------------------------------------------------------------------------------------------

cdef inline int pack_column_integer(Builder *k, const int64_t *i) noexcept nogil:
    """i: column, low, high, whether numbers beyond int64 are in range"""
    cdef int64_t value = 0
    cdef bint wide = False
    if not there(k, i[1]) or integer_at(k, i[1], &value, &wide):
        return IRREGULAR
    if wide and not i[4] or not wide and not i[2] <= value <= i[3]:
        return IRREGULAR
    return pack_number(k, value, wide)


cdef inline int pack_column_bytes(Builder *k, const int64_t *i) noexcept nogil:
    """i: column, size or -1, text"""
    cdef Span span
    cdef int code
    if not there(k, i[1]):
        return IRREGULAR
    code = bytes_at(k, i[1], &span)
    if code:
        return code
    if i[3]:
        doubt_text(k, &span)
        return pack_text(k, span.data, span.size)
    if i[2] >= 0 and span.size != i[2]:
        return IRREGULAR
    return pack_bin(k, span.data, span.size)


cdef int pack_column_extension(Builder *k, const int64_t *i) noexcept nogil:
    """i: column, type"""
    cdef Span span
    cdef int code
    if not there(k, i[1]):
        return IRREGULAR
    code = bytes_at(k, i[1], &span)
    return code if code else pack_extension(k, i[2], span.data, span.size)


cdef int pack_list(Builder *k, const int64_t *i) noexcept nogil:
    """i: list column, body, index register, form (0 a list, 1 a map)"""
    cdef int64_t first = 0, last = 0
    cdef int code
    if not there(k, i[1]):
        return IRREGULAR
    code = list_at(k, i[1], &first, &last)
    if not code:
        code = pack_map(k, last - first) if i[4] else pack_array(k, last - first)
    return code if code else each_element(k, k.sources[i[1]].child, first, last, i[2], i[3])

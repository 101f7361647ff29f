# Open values: from the bytes of a Spark VARIANT to MessagePack or JSON. runtime/columns/variant.py reads the same
# values, and `build` writes the same bytes.
#
# `pack_` functions read the VARIANT; `open_` functions write the values in the current encoding. Positions are checked
# against the end of the value before they are read. Any irregularity is left to the builders: other uses of the reserved
# names, decimals without an exact double, types that open values cannot have, values that overlap.

cdef enum:
    VARIANT_DEPTH = 512

cdef struct Variant:
    const uint8_t *data
    int64_t size
    const uint8_t *keys  # the metadata
    int64_t keys_size
    int64_t key_width
    int64_t key_count
    int64_t left  # the bytes that may still be read
    bint json
    const int64_t *rules  # of JSON: the allowed kinds, the least and the greatest integer, whether integers are floats

cdef struct Member:  # a member of an object: the offset of its value
    int64_t offset
    int64_t id

cdef struct Container:  # the head of an array or an object
    int64_t count
    int64_t ids  # the offset of the key ids
    int64_t id_width
    int64_t offsets
    int64_t width
    int64_t start  # of the content


cdef inline bint within(Variant *v, int64_t at, int64_t size) noexcept nogil:
    """Whether bytes may be read; counts them, since each may be read only once."""
    v.left -= size
    return at <= v.size and size <= v.size - at and v.left >= 0


cdef inline int64_t little_at(const uint8_t *data, int64_t width) noexcept nogil:
    cdef int64_t value = 0, n
    for n in range(width):
        value |= <int64_t>data[n] << (8 * n)
    return value


cdef inline int64_t signed_at(const uint8_t *data, int64_t width) noexcept nogil:
    cdef int64_t value = little_at(data, width)
    return value if width == 8 else value - ((value >> (8 * width - 1) & 1) << (8 * width))


cdef int open_keys(Variant *v) noexcept nogil:
    """Check the dictionary: all keys must be complete and valid UTF-8."""
    cdef int64_t n, first, last, data
    cdef const uint8_t *offsets
    if v.keys_size < 1:
        return IRREGULAR
    v.key_width = (v.keys[0] >> 6) + 1
    if v.keys_size < 1 + v.key_width:
        return IRREGULAR
    v.key_count = little_at(v.keys + 1, v.key_width)
    data = 1 + (v.key_count + 2) * v.key_width
    if data > v.keys_size:
        return IRREGULAR
    offsets = v.keys + 1 + v.key_width
    first = little_at(offsets, v.key_width)
    for n in range(v.key_count):
        last = little_at(offsets + (n + 1) * v.key_width, v.key_width)
        if last < first or last > v.keys_size - data or not wl_is_utf8(v.keys + data + first, last - first):
            return IRREGULAR
        first = last
    return OK


cdef inline Span key_at(const Variant *v, int64_t id) noexcept nogil:
    """A key of the dictionary."""
    cdef const uint8_t *offset = v.keys + 1 + (id + 1) * v.key_width
    cdef int64_t first = little_at(offset, v.key_width)
    cdef Span span
    span.data = v.keys + 1 + (v.key_count + 2) * v.key_width + first
    span.size = little_at(offset + v.key_width, v.key_width) - first
    return span


cdef int open_container(Variant *v, int64_t at, bint object, Container *c) noexcept nogil:
    """Read the head of the array or object at `at`, and check its offsets and ids."""
    cdef int64_t info = v.data[at] >> 2, wide = info >> (4 if object else 2) & 1
    at += 1
    if not within(v, at, 4 if wide else 1):
        return IRREGULAR
    c.count = little_at(v.data + at, 4 if wide else 1)
    at += 4 if wide else 1
    c.width = (info & 3) + 1
    c.id_width = (info >> 2 & 3) + 1 if object else 0
    c.ids = at
    if not within(v, at, c.count * c.id_width + (c.count + 1) * c.width):
        return IRREGULAR
    c.offsets = at + c.count * c.id_width
    c.start = c.offsets + (c.count + 1) * c.width
    return OK


cdef inline int64_t element_at(const Variant *v, const Container *c, int64_t n) noexcept nogil:
    return c.start + little_at(v.data + c.offsets + n * c.width, c.width)


# --- values as MessagePack or JSON ------------------------------------------------------------------------------------

cdef inline int open_word(Builder *k, const Variant *v, int64_t type) noexcept nogil:
    """Write null, true or false."""
    cdef uint8_t byte
    if v.json:
        return put(k, <const uint8_t *>b"nulltruefalse" + 4 * type, 5 if type == 2 else 4)
    byte = 0xC0 if type == 0 else 0xC3 if type == 1 else 0xC2
    return put(k, &byte, 1)


cdef inline int open_integer(Builder *k, const Variant *v, int64_t number) noexcept nogil:
    """Write an integer; as a float where the JSON rules have no integers, if that is exact."""
    if not v.json:
        return pack_number(k, number, False)
    if not v.rules[3]:
        return json_number(k, number, False)
    if number > <int64_t>1 << 53 or number < -(<int64_t>1 << 53):
        return IRREGULAR
    return json_double(k, <double>number)


cdef inline int open_double(Builder *k, const Variant *v, double number) noexcept nogil:
    return json_double(k, number) if v.json else pack_double(k, number)


cdef inline int open_text(Builder *k, const Variant *v, const uint8_t *data, int64_t size) noexcept nogil:
    return json_quoted(k, data, size) if v.json else pack_text(k, data, size)


cdef inline int open_head(Builder *k, const Variant *v, int64_t count, bint is_map) noexcept nogil:
    """Write the text before the first element."""
    if v.json:
        return json_byte(k, 0x7B if is_map else 0x5B)
    return pack_map(k, count) if is_map else pack_array(k, count)


cdef inline int open_next(Builder *k, const Variant *v, int64_t n) noexcept nogil:
    """Write the text before the element `n`."""
    return json_byte(k, 0x2C) if v.json and n > 0 else OK


cdef inline int open_tail(Builder *k, const Variant *v, bint is_map) noexcept nogil:
    """Write the text after the last element."""
    return json_byte(k, 0x7D if is_map else 0x5D) if v.json else OK


cdef inline int open_key(Builder *k, Variant *v, int64_t at, int64_t depth) noexcept nogil:
    """Write a key that is stored as a value; in JSON it must be a text."""
    cdef int64_t header
    cdef int code
    if v.json:
        header = v.data[at] if at < v.size else 0
        if header & 3 != 1 and header != 16 << 2:
            return IRREGULAR
    code = pack_variant(k, v, at, depth)
    return json_byte(k, 0x3A) if v.json and not code else code


# --- the contents of a VARIANT ----------------------------------------------------------------------------------------

cdef int pack_decimal(Builder *k, Variant *v, int64_t at, int64_t width) noexcept nogil:
    """Write a decimal: an integer for scale 0, else a float, if numerator and divisor are exact doubles."""
    cdef double divisor = 1.0
    cdef int64_t scale, unscaled, n
    if not within(v, at, 1 + width):
        return IRREGULAR
    scale = v.data[at]
    at += 1
    unscaled = signed_at(v.data + at, 8 if width == 16 else width)
    if width == 16 and little_at(v.data + at + 8, 8) != (-1 if unscaled < 0 else 0):
        return IRREGULAR
    if scale == 0:
        return open_integer(k, v, unscaled)
    if scale > 22 or unscaled > <int64_t>1 << 53 or unscaled < -(<int64_t>1 << 53):
        return IRREGULAR
    for n in range(scale):
        divisor *= 10.0
    return open_double(k, v, <double>unscaled / divisor)


cdef int pack_primitive(Builder *k, Variant *v, int64_t at, int64_t type) noexcept nogil:
    """Write the primitive whose content begins at `at`."""
    cdef int64_t size
    if type <= 2:
        return open_word(k, v, type)
    if type <= 6:
        size = <int64_t>1 << (type - 3)
        return open_integer(k, v, signed_at(v.data + at, size)) if within(v, at, size) else IRREGULAR
    if type == 7:
        return open_double(k, v, wl_double(<uint64_t>little_at(v.data + at, 8))) if within(v, at, 8) else IRREGULAR
    if type <= 10:
        return pack_decimal(k, v, at, <int64_t>4 << (type - 8))
    if type == 14:
        if not within(v, at, 4) or wl_float(<uint32_t>little_at(v.data + at, 4)) != wl_float(<uint32_t>little_at(v.data + at, 4)):
            return IRREGULAR
        return open_double(k, v, wl_float(<uint32_t>little_at(v.data + at, 4)))
    if type != 15 and type != 16 or not within(v, at, 4):
        return IRREGULAR
    size = little_at(v.data + at, 4)
    if not within(v, at + 4, size):
        return IRREGULAR
    if type == 16:
        return open_text(k, v, v.data + at + 4, size)
    return IRREGULAR if v.json else pack_bin(k, v.data + at + 4, size)


cdef int pack_elements(Builder *k, Variant *v, int64_t at, int64_t depth) noexcept nogil:
    cdef Container c
    cdef int64_t n
    cdef int code = open_container(v, at, False, &c)
    if not code:
        code = open_head(k, v, c.count, False)
    for n in range(c.count if not code else 0):
        code = open_next(k, v, n)
        if not code:
            code = pack_variant(k, v, element_at(v, &c, n), depth + 1)
        if code:
            return code
    return code if code else open_tail(k, v, False)


cdef int pack_pairs(Builder *k, Variant *v, int64_t at, int64_t depth) noexcept nogil:
    """Write a map from its pairs (its keys are not all texts): an array of arrays of two."""
    cdef Container c, pair
    cdef int64_t n, place
    cdef int code
    if not within(v, at, 1) or v.data[at] & 3 != 3:
        return IRREGULAR
    code = open_container(v, at, False, &c)
    if not code:
        code = open_head(k, v, c.count, True)
    for n in range(c.count if not code else 0):
        place = element_at(v, &c, n)
        if not within(v, place, 1) or v.data[place] & 3 != 3 or open_container(v, place, False, &pair) or pair.count != 2:
            return IRREGULAR
        code = open_next(k, v, n)
        if not code:
            code = open_key(k, v, element_at(v, &pair, 0), depth + 1)
        if not code:
            code = pack_variant(k, v, element_at(v, &pair, 1), depth + 1)
        if code:
            return code
    return code if code else open_tail(k, v, True)


cdef int pack_typed(Builder *k, Variant *v, int64_t at) noexcept nogil:
    """Write an ext value: an array of its type and its content, which is a text if the format says so."""
    cdef Container c
    cdef int64_t place, type, size, n, kind
    cdef bint text
    if v.json or not within(v, at, 1) or v.data[at] & 3 != 3 or open_container(v, at, False, &c) or c.count != 2:
        return IRREGULAR
    place = element_at(v, &c, 0)
    if not within(v, place, 1) or v.data[place] & 3 or not 3 <= v.data[place] >> 2 <= 6:
        return IRREGULAR
    size = <int64_t>1 << ((v.data[place] >> 2) - 3)
    if not within(v, place + 1, size):
        return IRREGULAR
    type = signed_at(v.data + place + 1, size)
    place = element_at(v, &c, 1)
    if not within(v, place, 1):
        return IRREGULAR
    kind = v.data[place]
    text = kind & 3 == 1 or kind == 16 << 2
    if not text and kind != 15 << 2:
        return IRREGULAR
    if kind & 3 == 1:
        size = kind >> 2
        place += 1
    else:
        if not within(v, place + 1, 4):
            return IRREGULAR
        size = little_at(v.data + place + 1, 4)
        place += 5
    if not within(v, place, size):
        return IRREGULAR
    for n in range(v.rules[3]):
        if v.rules[4 + 2 * n] == type:
            return pack_extension(k, type, v.data + place, size) if v.rules[5 + 2 * n] == text else IRREGULAR
    return IRREGULAR


cdef int compare_members(const void *left, const void *right) noexcept nogil:
    cdef const Member *a = <const Member *>left
    cdef const Member *b = <const Member *>right
    if a.offset != b.offset:
        return -1 if a.offset < b.offset else 1
    return -1 if a.id < b.id else 1 if a.id > b.id else 0


cdef void sort_members(Member *members, int64_t count) noexcept nogil:
    cdef int64_t i, j
    cdef Member member
    if count > 12:
        qsort(members, <size_t>count, sizeof(Member), &compare_members)
        return
    for i in range(1, count):
        member = members[i]
        j = i
        while j > 0 and compare_members(&member, &members[j - 1]) < 0:
            members[j] = members[j - 1]
            j -= 1
        members[j] = member


cdef int pack_members(Builder *k, Variant *v, const Container *c, Member *members, int64_t depth) noexcept nogil:
    """Write a map with text keys in the order of its values, or the value under a reserved name."""
    cdef int64_t n
    cdef Span key
    cdef int code
    for n in range(c.count):
        members[n].offset = little_at(v.data + c.offsets + n * c.width, c.width)
        members[n].id = little_at(v.data + c.ids + n * c.id_width, c.id_width)
        if members[n].id >= v.key_count:
            return IRREGULAR
    sort_members(members, c.count)
    if c.count == 1:
        key = key_at(v, members[0].id)
        if key.size == 4 and memcmp(key.data, b"$map", 4) == 0:
            return pack_pairs(k, v, c.start + members[0].offset, depth)
        if key.size == 4 and memcmp(key.data, b"$ext", 4) == 0:
            return pack_typed(k, v, c.start + members[0].offset)
    code = open_head(k, v, c.count, True)
    for n in range(c.count if not code else 0):
        key = key_at(v, members[n].id)
        code = open_next(k, v, n)
        if not code:
            code = open_text(k, v, key.data, key.size)
        if not code and v.json:
            code = json_byte(k, 0x3A)
        if not code:
            code = pack_variant(k, v, c.start + members[n].offset, depth + 1)
        if code:
            return code
    return code if code else open_tail(k, v, True)


cdef int pack_object(Builder *k, Variant *v, int64_t at, int64_t depth) noexcept nogil:
    cdef Container c
    cdef Member few[16]
    cdef Member *members = few
    cdef int code = open_container(v, at, True, &c)
    if code:
        return code
    if c.count > 16:
        members = <Member *>malloc(<size_t>(c.count * <int64_t>sizeof(Member)))
        if members == NULL:
            return EXHAUSTED
    code = pack_members(k, v, &c, members, depth)
    if members != few:
        free(members)
    return code


cdef int pack_variant(Builder *k, Variant *v, int64_t at, int64_t depth) noexcept nogil:
    """Write the value at `at`."""
    cdef int64_t header
    if depth > VARIANT_DEPTH or not within(v, at, 1):
        return IRREGULAR
    header = v.data[at]
    if header & 3 == 1:
        return open_text(k, v, v.data + at + 1, header >> 2) if within(v, at + 1, header >> 2) else IRREGULAR
    if header & 3 == 3:
        return pack_elements(k, v, at, depth)
    if header & 3 == 2:
        return pack_object(k, v, at, depth)
    return pack_primitive(k, v, at + 1, header >> 2)


cdef int encode_open(Builder *k, const int64_t *i, bint json) noexcept nogil:
    """i: struct column, value column, metadata column, rules. The column must have a value."""
    cdef Variant v
    cdef Span span
    cdef int64_t first
    cdef int code
    if not there(k, i[2]) or not there(k, i[3]):
        return IRREGULAR
    if bytes_at(k, i[2], &span):
        return MALFORMED
    v.data = span.data
    v.size = v.left = span.size
    if bytes_at(k, i[3], &span):
        return MALFORMED
    v.keys = span.data
    v.keys_size = span.size
    v.json = json
    v.rules = k.m.tables + i[4]
    first = k.size
    code = open_keys(&v)
    if not code:
        code = pack_variant(k, &v, 0, 0)
    return code if code else note_open(k, i[1], first)


cdef int pack_open(Builder *k, const int64_t *i) noexcept nogil:
    """i: as in `encode_open`, then whether null is an open value"""
    cdef uint8_t nil = 0xC0
    if there(k, i[1]):
        return encode_open(k, i, False)
    return put(k, &nil, 1) if i[5] else IRREGULAR


cdef int encode_open_json(Builder *k, const int64_t *i) noexcept nogil:
    """i: as in `encode_open`, kinds. Whether null is omitted is left to construct."""
    cdef int64_t first = k.size
    cdef int code
    if not there(k, i[1]):
        return IRREGULAR
    code = encode_open(k, i, True)
    if code or is_nil(k.output.data + first, k.size - first):
        return code or IRREGULAR
    return json_reads(k, first, i[5], k.m.tables + i[4]) if k.certain else OK

# Open values of MessagePack as Spark VARIANT, byte for byte as runtime/columns/variant.py writes them.
# An open value is read twice. The first pass (`scan_open`) checks everything (families, ext types, UTF-8, counts, depth)
# and notes where each container ends. The second pass writes the VARIANT, and only checks that no two keys are equal.

# --- first pass ------------------------------------------------------------------------------------------------------

cdef int widen(Stack *stack, int64_t size) noexcept nogil:
    cdef int64_t capacity = stack.capacity * 2 if stack.capacity * 2 > stack.length + size + SLACK else stack.length + size + SLACK
    cdef uint8_t *grown
    if capacity < 1024:
        capacity = 1024
    grown = <uint8_t *>realloc(stack.data, <size_t>capacity)
    if grown == NULL:
        return EXHAUSTED
    stack.data = grown
    stack.capacity = capacity
    return OK


cdef inline int push(Stack *stack, const void *data, int64_t size) noexcept nogil:
    """Push bytes; SLACK bytes after them may be overwritten, too."""
    if stack.length + size + SLACK > stack.capacity and widen(stack, size):
        return EXHAUSTED
    if data != NULL:
        wl_copy(stack.data + stack.length, <const uint8_t *>data, size, size)
    stack.length += size
    return OK


cdef int scan_open(Machine *m, const int64_t *rules, int64_t depth) noexcept nogil:
    """Check the open value at the position and skip it. `rules`: families, range, then the ext types."""
    cdef Head head
    cdef int code
    cdef int64_t i, extent, inner[2], checkpoint = -1
    cdef bint text = False, known = False
    cdef const uint8_t *start
    if m.position < m.end and m.position[0] <= 0x7F and rules[0] >> F_INT & 1:
        i = m.position[0]
        m.position += 1
        return OK if rules[1] <= i <= rules[2] else IRREGULAR
    code = read_head(&m.position, m.end, &head)
    if code:
        return code
    if not rules[0] >> head.family & 1:
        return IRREGULAR
    if head.family == F_INT:
        return IRREGULAR if head.wide or <int64_t>head.number < rules[1] or <int64_t>head.number > rules[2] else OK
    if head.family <= F_FLOAT:
        return OK
    if head.family == F_EXT:
        for i in range(rules[3]):
            if rules[4 + 2 * i] == head.type:
                known = True
                text = rules[5 + 2 * i]
                break
        if not known:
            return IRREGULAR
    if head.family == F_ARRAY or head.family == F_MAP:
        if depth >= m.limit or depth >= 512:
            return IRREGULAR
        if head.family == F_MAP:
            head.number *= 2
        if <int64_t>head.number > m.end - m.position:
            return TRUNCATED
        extent = m.extents.length
        if push(&m.extents, NULL, 16):
            return EXHAUSTED
        start = m.position
        if m.notes and head.family == F_ARRAY:
            checkpoint = begin_noted(m, m.position - m.base)
        for i in range(<int64_t>head.number):
            if checkpoint >= 0:
                note_list(m, checkpoint, i, True)
            code = scan_open(m, rules, depth + 1)
            if code:
                return code
        if checkpoint >= 0:
            note_list(m, checkpoint, <int64_t>head.number, False)
        if m.notes and head.family == F_MAP and not has_new_keys(m, start, (extent >> 4) + 1, <int64_t>head.number // 2, rules):
            return IRREGULAR
        inner[0] = m.position - m.base
        inner[1] = (m.extents.length - extent) >> 4
        memcpy(m.extents.data + extent, inner, 16)
        return OK
    if <int64_t>head.number > m.end - m.position:
        return TRUNCATED
    if head.family == F_STR or text:
        if not wl_is_short_ascii(m.position, <int64_t>head.number, m.readable - m.position) and not wl_is_utf8(m.position, <int64_t>head.number):
            return IRREGULAR
    m.position += head.number
    return OK


cdef int scan_half(Machine *m, const int64_t *keys, const int64_t *values) noexcept nogil:
    """Check the map at the position, in which only the keys or only the values are open, and skip it."""
    cdef Head head
    cdef int64_t i, extent = m.extents.length, inner[2]
    cdef int code = read_head(&m.position, m.end, &head)
    if code or head.family != F_MAP or m.limit <= 0:
        return IRREGULAR
    if <int64_t>head.number * 2 > m.end - m.position:
        return TRUNCATED
    if push(&m.extents, NULL, 16):
        return EXHAUSTED
    for i in range(<int64_t>head.number):
        code = scan_open(m, keys, 1) or scan_open(m, values, 1)
        if code:
            return code
    inner[0] = m.position - m.base
    inner[1] = (m.extents.length - extent) >> 4
    memcpy(m.extents.data + extent, inner, 16)
    return OK


# --- second pass -----------------------------------------------------------------------------------------------------

cdef struct Entry:  # a key of an object
    const uint8_t *key
    int64_t size
    int64_t id
    int64_t offset


cdef struct Writer:
    Machine *machine
    const uint8_t *position
    const uint8_t *end
    int64_t extent  # the next container in the list of extents
    int64_t key_count
    const int64_t *rules


cdef int compare_entries(const void *left, const void *right) noexcept nogil:
    cdef const Entry *a = <const Entry *>left
    cdef const Entry *b = <const Entry *>right
    cdef int64_t size = a.size if a.size < b.size else b.size
    cdef int order = memcmp(a.key, b.key, <size_t>size)
    if order:
        return order
    return -1 if a.size < b.size else 1 if a.size > b.size else 0


cdef inline int64_t bytes_for(int64_t maximum) noexcept nogil:
    return 1 if maximum < 0x100 else 2 if maximum < 0x10000 else 3 if maximum < 0x1000000 else 4


cdef inline void little(uint8_t *target, int64_t value, int64_t width) noexcept nogil:
    cdef int64_t i
    for i in range(width):
        target[i] = <uint8_t>(value >> (8 * i))


cdef int skip_value(Writer *w) noexcept nogil:
    """Skip a value that the first pass has checked."""
    cdef Head head
    cdef const int64_t *extent
    read_head(&w.position, w.end, &head)
    if head.family == F_ARRAY or head.family == F_MAP:
        extent = <const int64_t *>(w.machine.extents.data) + 2 * w.extent
        w.position = w.machine.base + extent[0]
        w.extent += extent[1]
    elif head.family >= F_STR:
        w.position += head.number
    return head.family


cdef int key_id(Writer *w, const uint8_t *key, int64_t size, int64_t *id) noexcept nogil:
    """The index of a key in the dictionary; a new key is added."""
    cdef Stack *keys = &w.machine.keys
    cdef Span *span = <Span *>keys.data
    cdef Span added
    cdef int64_t i, count = keys.length // <int64_t>sizeof(Span)
    if count > 256:
        return hashed_key_id(w, key, size, id)
    for i in range(count):
        if span[i].size == size and wl_short_word(span[i].data, size) == wl_short_word(key, size) and memcmp(span[i].data, key, <size_t>size) == 0:
            id[0] = i
            return OK
    added.data = key
    added.size = size
    id[0] = count
    return push(keys, &added, sizeof(Span))


cdef uint64_t hash_of(const uint8_t *data, int64_t size, uint64_t seed) noexcept nogil:
    """A hash for tables that live for one value; the seed is random for each process."""
    cdef uint64_t value = seed ^ <uint64_t>size * <uint64_t>0x9E3779B97F4A7C15
    cdef uint64_t word
    while size >= 8:
        value = (value ^ wl_u64(data)) * <uint64_t>0xFF51AFD7ED558CCD
        value ^= value >> 32
        data += 8
        size -= 8
    word = 0
    if size > 0:
        memcpy(&word, data, <size_t>size)
    value = (value ^ word) * <uint64_t>0xC4CEB9FE1A85EC53
    return value ^ value >> 29


cdef int hashed_key_id(Writer *w, const uint8_t *key, int64_t size, int64_t *id) noexcept nogil:
    """`key_id` of a large dictionary: `work` holds an open-addressing table of indices + 1, which is rebuilt as it grows."""
    cdef Stack *keys = &w.machine.keys
    cdef Stack *work = &w.machine.work
    cdef Span *span = <Span *>keys.data
    cdef Span added
    cdef int64_t i, count = keys.length // <int64_t>sizeof(Span), slots = work.length >> 2
    cdef uint64_t place
    cdef uint32_t *table
    if slots < count * 2:
        work.length = 0
        slots = 1024
        while slots < count * 4:
            slots *= 2
        if push(work, NULL, slots * 4):
            return EXHAUSTED
        table = <uint32_t *>work.data
        memset(table, 0, <size_t>(slots * 4))
        for i in range(count):
            place = hash_of(span[i].data, span[i].size, hash_seed) & <uint64_t>(slots - 1)
            while table[place]:
                place = (place + 1) & <uint64_t>(slots - 1)
            table[place] = <uint32_t>(i + 1)
    table = <uint32_t *>work.data
    place = hash_of(key, size, hash_seed) & <uint64_t>(slots - 1)
    while table[place]:
        i = table[place] - 1
        if span[i].size == size and memcmp(span[i].data, key, <size_t>size) == 0:
            id[0] = i
            return OK
        place = (place + 1) & <uint64_t>(slots - 1)
    table[place] = <uint32_t>(count + 1)
    added.data = key
    added.size = size
    id[0] = count
    return push(keys, &added, sizeof(Span))


cdef int write_integer(Stack *output, int64_t value) noexcept nogil:
    cdef uint8_t data[9]
    cdef int64_t width = 8
    cdef int kind = 6
    if <int8_t>value == value:
        width, kind = 1, 3
    elif <int16_t>value == value:
        width, kind = 2, 4
    elif <int32_t>value == value:
        width, kind = 4, 5
    data[0] = <uint8_t>(kind << 2)
    little(data + 1, value, width)
    return push(output, data, width + 1)


cdef int write_sized(Stack *output, int kind, const uint8_t *content, int64_t size) noexcept nogil:
    cdef uint8_t header[5]
    header[0] = <uint8_t>(kind << 2)
    little(header + 1, size, 4)
    if push(output, header, 5):
        return EXHAUSTED
    return push(output, content, size)


cdef int write_text(Stack *output, const uint8_t *content, int64_t size) noexcept nogil:
    cdef uint8_t header
    if size > 63:
        return write_sized(output, 16, content, size)
    header = <uint8_t>(size << 2 | 1)
    if push(output, &header, 1):
        return EXHAUSTED
    return push(output, content, size)


cdef int close_array(Stack *output, int64_t start, const int64_t *offsets, int64_t count) noexcept nogil:
    """Insert the head of an array before its elements, which begin at `start`; offsets are absolute."""
    cdef int64_t size = output.length - start
    cdef int64_t width = bytes_for(size), large = count > 0xFF, i
    cdef int64_t head = 1 + (4 if large else 1) + (count + 1) * width
    cdef uint8_t *target
    if push(output, NULL, head):
        return EXHAUSTED
    target = output.data + start
    wl_shift(target + head, target, size)
    target[0] = <uint8_t>(large << 4 | (width - 1) << 2 | 3)
    little(target + 1, count, 4 if large else 1)
    target += 5 if large else 2
    for i in range(count):
        little(target, offsets[i] - start, width)
        target += width
    little(target, size, width)
    return OK


cdef int close_object(Stack *output, int64_t start, const Entry *entries, int64_t count) noexcept nogil:
    """Insert the head of an object before its values, which begin at `start`; entries are sorted by key."""
    cdef int64_t size = output.length - start
    cdef int64_t width = bytes_for(size), large = count > 0xFF, i, id_width, most = 0, head
    cdef uint8_t *target
    for i in range(count):
        if entries[i].id > most:
            most = entries[i].id
    id_width = bytes_for(most)
    head = 1 + (4 if large else 1) + count * id_width + (count + 1) * width
    if push(output, NULL, head):
        return EXHAUSTED
    target = output.data + start
    wl_shift(target + head, target, size)
    target[0] = <uint8_t>(large << 6 | (id_width - 1) << 4 | (width - 1) << 2 | 2)
    little(target + 1, count, 4 if large else 1)
    target += 5 if large else 2
    for i in range(count):
        little(target, entries[i].id, id_width)
        target += id_width
    for i in range(count):
        little(target, entries[i].offset - start, width)
        target += width
    little(target, size, width)
    return OK


cdef int write_single(Writer *w, const char *name, int64_t id, int64_t start) noexcept nogil:
    """Write an object with one member, whose value begins at `start`."""
    cdef Entry entry
    entry.key = <const uint8_t *>name
    entry.size = 4
    entry.id = id
    entry.offset = start
    return close_object(&w.machine.output, start, &entry, 1)


cdef int write_extension(Writer *w, Head *head) noexcept nogil:
    """{"$ext": [code, value]}"""
    cdef Stack *output = &w.machine.output
    cdef int64_t id = 0, start = output.length, offsets[2], i
    cdef bint text = False
    for i in range(w.rules[3]):
        if w.rules[4 + 2 * i] == head.type:
            text = w.rules[5 + 2 * i]
            break
    if key_id(w, b"$ext", 4, &id):
        return EXHAUSTED
    offsets[0] = start
    if write_integer(output, head.type):
        return EXHAUSTED
    offsets[1] = output.length
    if text:
        if write_text(output, w.position, <int64_t>head.number):
            return EXHAUSTED
    elif write_sized(output, 15, w.position, <int64_t>head.number):
        return EXHAUSTED
    w.position += head.number
    if close_array(output, start, offsets, 2):
        return EXHAUSTED
    return write_single(w, b"$ext", id, start)


cdef int write_array(Writer *w, int64_t count) noexcept nogil:
    cdef Stack *output = &w.machine.output
    cdef int64_t start = output.length, few[32], i
    cdef int64_t *offsets = few
    cdef int code = OK
    if count > 32:
        offsets = <int64_t *>malloc(<size_t>(count * 8))
        if offsets == NULL:
            return EXHAUSTED
    for i in range(count):
        offsets[i] = output.length
        code = write_open(w)
        if code:
            break
    if not code:
        code = close_array(output, start, offsets, count)
    if offsets != few:
        free(offsets)
    return code


cdef bint is_object(Writer *w, int64_t count) noexcept nogil:
    """Whether all keys of the map at the position are texts that do not begin with "$". The writer is a copy."""
    cdef Writer ahead = w[0]
    cdef Head head
    cdef int64_t i
    for i in range(count):
        read_head(&ahead.position, ahead.end, &head)
        if head.family != F_STR or (head.number > 0 and ahead.position[0] == 0x24):
            return False
        ahead.position += head.number
        skip_value(&ahead)
    return True


cdef int write_object(Writer *w, int64_t count, Entry *entries) noexcept nogil:
    """Write the members; their keys enter the dictionary before those of the values. Equal keys stop the record."""
    cdef Writer ahead = w[0]
    cdef Stack *output = &w.machine.output
    cdef Head head
    cdef int64_t start = output.length, i
    cdef int code
    for i in range(count):
        read_head(&ahead.position, ahead.end, &head)
        entries[i].key = ahead.position
        entries[i].size = <int64_t>head.number
        if key_id(w, ahead.position, <int64_t>head.number, &entries[i].id):
            return EXHAUSTED
        ahead.position += head.number
        skip_value(&ahead)
    for i in range(count):
        read_head(&w.position, w.end, &head)
        w.position += head.number
        entries[i].offset = output.length
        code = write_open(w)
        if code:
            return code
    if count > 1:
        sort_entries(entries, count)
        for i in range(1, count):
            if compare_entries(&entries[i - 1], &entries[i]) == 0:
                return IRREGULAR
    return close_object(output, start, entries, count)


cdef void sort_entries(Entry *entries, int64_t count) noexcept nogil:
    cdef int64_t i, j
    cdef Entry entry
    if count > 12:
        qsort(entries, <size_t>count, sizeof(Entry), &compare_entries)
        return
    for i in range(1, count):
        entry = entries[i]
        j = i
        while j > 0 and compare_entries(&entry, &entries[j - 1]) < 0:
            entries[j] = entries[j - 1]
            j -= 1
        entries[j] = entry


cdef int write_pairs(Writer *w, int64_t count, Entry *entries, int64_t *offsets) noexcept nogil:
    """Write {"$map": [[key, value], ...]}. Keys are equal if their VARIANT bytes are."""
    cdef Stack *output = &w.machine.output
    cdef int64_t start = output.length, pair[2], id = 0, i
    cdef int64_t key_size
    cdef int code
    if key_id(w, b"$map", 4, &id):
        return EXHAUSTED
    for i in range(count):
        offsets[i] = output.length
        pair[0] = output.length
        code = write_open(w)
        if code:
            return code
        pair[1] = output.length
        key_size = pair[1] - pair[0]
        code = write_open(w)
        if code:
            return code
        code = close_array(output, offsets[i], pair, 2)
        if code:
            return code
        entries[i].size = key_size
        entries[i].offset = output.data[offsets[i]] >> 2 & 3
    for i in range(count):  # the output does not move any more: the key begins after a head of 1 + 1 + 3 offsets
        entries[i].key = output.data + offsets[i] + 2 + 3 * (entries[i].offset + 1)
    sort_entries(entries, count)
    for i in range(1, count):
        if compare_entries(&entries[i - 1], &entries[i]) == 0:
            return IRREGULAR
    code = close_array(output, start, offsets, count)
    if code:
        return code
    return write_single(w, b"$map", id, start)


cdef bint has_new_keys(Machine *m, const uint8_t *start, int64_t extent, int64_t count, const int64_t *rules) noexcept nogil:
    """Whether all keys of a map are different, after the first pass; for checkpoints, which cannot wait for the second."""
    cdef Entry *entries = <Entry *>malloc(<size_t>((count + 1) * <int64_t>sizeof(Entry)))
    cdef bint are_new = entries != NULL
    cdef int64_t i
    cdef Writer w
    w.machine, w.position, w.end, w.extent, w.rules = m, start, m.position, extent, rules
    m.output.length = m.keys.length = m.work.length = 0
    for i in range(count if are_new else 0):
        entries[i].offset = m.output.length
        if write_open(&w):
            are_new = False
            break
        entries[i].size = m.output.length - entries[i].offset
        skip_value(&w)
    if are_new:
        for i in range(count):
            entries[i].key = m.output.data + entries[i].offset
        sort_entries(entries, count)
        for i in range(1, count):
            are_new = are_new and compare_entries(&entries[i - 1], &entries[i]) != 0
    free(entries)
    return are_new


cdef int write_map(Writer *w, int64_t count) noexcept nogil:
    cdef Entry few[16]
    cdef int64_t few_offsets[16]
    cdef Entry *entries = few
    cdef int64_t *offsets = few_offsets
    cdef int code
    if count > 16:
        entries = <Entry *>malloc(<size_t>(count * (<int64_t>sizeof(Entry) + 8)))
        if entries == NULL:
            return EXHAUSTED
        offsets = <int64_t *>(entries + count)
    if is_object(w, count):
        code = write_object(w, count, entries)
    else:
        code = write_pairs(w, count, entries, offsets)
    if entries != few:
        free(entries)
    return code


cdef int write_open(Writer *w) noexcept nogil:
    """Append the value at the position as VARIANT bytes."""
    cdef Stack *output = &w.machine.output
    cdef Head head
    cdef uint8_t data[9]
    cdef uint64_t bits
    read_head(&w.position, w.end, &head)
    if head.family == F_NIL:
        data[0] = 0
        return push(output, data, 1)
    if head.family == F_BOOL:
        data[0] = 1 << 2 if head.number else 2 << 2
        return push(output, data, 1)
    if head.family == F_INT:
        return write_integer(output, <int64_t>head.number)
    if head.family == F_FLOAT:
        memcpy(&bits, &head.real, 8)
        data[0] = 7 << 2
        little(data + 1, <int64_t>bits, 8)
        return push(output, data, 9)
    if head.family == F_EXT:
        return write_extension(w, &head)
    if head.family == F_ARRAY:
        w.extent += 1
        return write_array(w, <int64_t>head.number)
    if head.family == F_MAP:
        w.extent += 1
        return write_map(w, <int64_t>head.number)
    if head.family == F_STR:
        if write_text(output, w.position, <int64_t>head.number):
            return EXHAUSTED
    elif write_sized(output, 15, w.position, <int64_t>head.number):
        return EXHAUSTED
    w.position += head.number
    return OK


cdef int write_metadata(Machine *m) noexcept nogil:
    """Append the dictionary of keys after the value."""
    cdef Span *keys = <Span *>m.keys.data
    cdef int64_t count = m.keys.length // <int64_t>sizeof(Span), size = 0, width, i, offset = 0
    cdef uint8_t header
    cdef uint8_t number[4]
    for i in range(count):
        size += keys[i].size
    width = bytes_for(size if size > count else count)
    header = <uint8_t>((width - 1) << 6 | 1)
    little(number, count, width)
    if push(&m.output, &header, 1) or push(&m.output, number, width):
        return EXHAUSTED
    for i in range(count + 1):
        little(number, offset, width)
        if push(&m.output, number, width):
            return EXHAUSTED
        if i < count:
            offset += keys[i].size
    for i in range(count):
        if push(&m.output, keys[i].data, keys[i].size):
            return EXHAUSTED
    return OK


cdef int put_variant(Machine *m, const int64_t *i) noexcept nogil:
    """i: as in `read_open`. Deliver the VARIANT in the output, and the dictionary of its keys."""
    cdef int64_t size = m.output.length
    cdef int code = write_metadata(m)
    if not code:
        code = put_bytes(m.columns, i[3], m.output.data, size)
    return code or put_bytes(m.columns, i[4], m.output.data + size, m.output.length - size)


cdef int read_open(Machine *m, const int64_t *i) noexcept nogil:
    """i: rules, families, value column, metadata column, form (0 VARIANT, 1 tagged JSON, 2 the bytes), names of ext types.

    From bit 16 on, `families` has the address of the tables of rules of a map's halves plus 1, if only one half is open.
    Check the open value at the position; if columns are given, write it to them. Equal keys are irregular in any case.
    """
    cdef const int64_t *rules = m.tables + i[1]
    cdef Writer w
    cdef Head head
    cdef const uint8_t *start = m.position
    cdef const uint8_t *ahead = start
    cdef int code = read_head(&ahead, m.end, &head)
    cdef int64_t both = (i[2] >> 16) - 1
    if code == TRUNCATED and (start >= m.end or i[2] >> wl_family[start[0]] & 1):
        return m.overrun
    if code or not i[2] >> head.family & 1:
        return IRREGULAR
    m.extents.length = 0
    w.machine, w.position, w.extent, w.rules = m, start, 0, rules
    if both >= 0:
        code = scan_half(m, m.tables + m.tables[both], m.tables + m.tables[both + 1])
    else:
        code = scan_open(m, rules, 0)
    if code:
        return IRREGULAR if code != EXHAUSTED else code
    w.end = m.position
    if m.extents.length or (i[5] == 0 and i[3] >= 0):
        m.output.length = 0
        m.keys.length = 0
        m.work.length = 0
        code = write_open(&w)
        if code:
            return code
    if i[3] < 0:
        return OK
    if i[5] == 2:
        return put_bytes(m.columns, i[3], start, m.position - start)
    if i[5] == 1:
        m.output.length = 0
        w.position = start
        code = write_tagged(&w, m.tables + i[6])
        return code or put_bytes(m.columns, i[3], m.output.data, m.output.length)
    return put_variant(m, i)

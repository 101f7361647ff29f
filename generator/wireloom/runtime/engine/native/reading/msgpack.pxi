# The instructions of MessagePack bodies that are not in `run`: maps, lists, unique members, ext values.
#
# A map is scanned once: `find_members` notes in a slot where each known member is. The steps of the spec then jump to
# their slots, and `leave_members` refuses members that no step has read. A list fills a frame; unique members are
# compared one by one up to FEW, and sorted beyond that, so that n elements cost n log n.

cdef enum:
    OTHERS_ALLOWED = 0  # unknown members of a map
    OTHERS_REFUSED

cdef int no_integer(Machine *m, const uint8_t *p) noexcept nogil:
    """The code for a missing integer at `p`."""
    return m.overrun if p >= m.end or wl_family[p[0]] == F_INT else IRREGULAR


cdef inline int note_version(Machine *m, const int64_t *i, int64_t arity) noexcept nogil:
    """i: table, register. Table: count, then (arity, version) each."""
    cdef const int64_t *table = m.tables + i[1]
    cdef int64_t n
    for n in range(table[0]):
        if table[1 + 2 * n] == arity:
            if i[2] >= 0:
                m.registers[i[2]] = table[2 + 2 * n]
                m.absent[i[2]] = False
            return OK
    return IRREGULAR


cdef int peek_count(Machine *m, int64_t target) noexcept nogil:
    """Count the elements of the list or map at the position, which does not move."""
    cdef const uint8_t *p = m.position
    cdef Head head
    cdef int code = read_head(&p, m.end, &head)
    if code:
        return code if code != TRUNCATED else cut_off(m, m.position, F_ARRAY, F_MAP)
    if head.family != F_ARRAY and head.family != F_MAP:
        return IRREGULAR
    if target >= 0:
        m.registers[target] = <int64_t>head.number
        m.absent[target] = False
    return OK


cdef int pass_over(Machine *m) noexcept nogil:
    """Skip the value at the position."""
    cdef int64_t left = 1
    cdef Head head
    while left > 0:
        left -= 1
        if read_head(&m.position, m.end, &head):
            return IRREGULAR
        if head.family == F_ARRAY or head.family == F_MAP:
            left += <int64_t>head.number * (2 if head.family == F_MAP else 1)
            if left > m.end - m.position:
                return IRREGULAR
        elif head.family == F_STR or head.family == F_BIN or head.family == F_EXT:
            if <int64_t>head.number > m.end - m.position:
                return IRREGULAR
            m.position += <int64_t>head.number
    return OK


cdef inline int next_member(Machine *m, const int64_t *i, const uint8_t **name, int64_t *size, Slot **slot) noexcept nogil:
    """Read the name of the next entry, which must be a text, and find the slot of the member with that name, or NULL.

    i: as in `find_members`. The position moves to the value.
    """
    cdef const int64_t *field = m.tables + i[2] + 1
    cdef const int64_t *last = field + 2 * m.tables[i[2]]
    cdef Head head
    if read_head(&m.position, m.end, &head) or head.family != F_STR or <int64_t>head.number > m.end - m.position:
        return IRREGULAR
    name[0], size[0] = m.position, <int64_t>head.number
    m.position += size[0]
    while field < last and not (size[0] == field[0] & 0xFFFF and memcmp(name[0], m.texts + (field[0] >> 16), <size_t>size[0]) == 0):
        field += 2
    slot[0] = m.slots + field[1] if field < last else NULL
    return OK


cdef int find_members(Machine *m, const int64_t *i) noexcept nogil:
    """i: slot of the map, table of members (as in `json_object`), how to treat unknown members. Fills the slots.

    The map's own slot holds its start and end, and the number of unknown members.
    """
    cdef const int64_t *field = m.tables + i[2] + 1
    cdef const int64_t *last = field + 2 * m.tables[i[2]]
    cdef Slot *map = m.slots + i[1]
    cdef int64_t names = m.spans.length, others = 0, count, size
    cdef const uint8_t *start
    cdef const uint8_t *name
    cdef Slot *slot
    cdef Head head
    cdef int code = take(m, F_MAP, &head)
    if code:
        return code
    start, count = m.position, <int64_t>head.number
    if 2 * count > m.end - m.position:
        return m.overrun
    while field < last:
        (m.slots + field[1]).found = False
        (m.slots + field[1]).count = 0
        field += 2
    while count > 0:
        count -= 1
        if next_member(m, i, &name, &size, &slot) or not wl_is_utf8(name, size):
            return IRREGULAR
        if slot != NULL:
            if slot.found:
                return IRREGULAR
            slot.found = True
            slot.data = m.position
        else:
            if i[3] == OTHERS_REFUSED or not is_another(m, names, others, wl_short_word(name, size), name, size):
                return IRREGULAR
            others += 1
        code = pass_over(m)
        if code:
            return code
    if others > FEW and has_equal(<Name *>(m.spans.data + names), others):
        return IRREGULAR
    m.spans.length = names
    map.data, map.size, map.number, map.count = start, m.position - start, <uint64_t>others, 0
    return OK


cdef inline bint is_within(const Machine *m, const Slot *slot) noexcept nogil:
    """Whether the slot's data is in the current record."""
    return m.base <= slot.data <= m.end and 0 <= slot.size <= m.end - slot.data


cdef int go_to_member(Machine *m, const int64_t *i) noexcept nogil:
    """i: slot, target if missing, whether that is an error"""
    cdef Slot *slot = m.slots + i[1]
    m.none = not slot.found
    if m.none:
        m.next = i[2]
        return IRREGULAR if i[3] else OK
    if not m.base <= slot.data <= m.end:
        return IRREGULAR
    slot.count = 1
    m.position = slot.data
    return OK


cdef int leave_members(Machine *m, const int64_t *i) noexcept nogil:
    """i: as in `find_members`. Unless unknown members are allowed, check that every member was read."""
    cdef const int64_t *field = m.tables + i[2] + 1
    cdef const int64_t *last = field + 2 * m.tables[i[2]]
    cdef Slot *map = m.slots + i[1]
    while field < last and i[3]:
        if (m.slots + field[1]).found and not (m.slots + field[1]).count:
            return IRREGULAR
        field += 2
    if i[3] and map.number or not is_within(m, map):
        return IRREGULAR
    m.position = map.data + map.size
    return OK


cdef int begin_list(Machine *m, const int64_t *i) noexcept nogil:
    """Fill the next frame.

    i: body, list column, index register, register of the unique member (-1: none), whether it is a map, register of a
    unique member that is a number (-1: none)
    """
    cdef Frame *frame = m.frames + m.frame_count
    cdef Column *column
    cdef Head head
    cdef int code
    if m.frame_count >= FRAMES:
        return IRREGULAR
    code = take(m, F_MAP if i[5] else F_ARRAY, &head)
    if code:
        return code
    if <int64_t>head.number * (2 if i[5] else 1) > m.end - m.position:
        return m.overrun
    frame.instruction = i
    frame.n = 0
    frame.count = <int64_t>head.number
    frame.names = m.spans.length
    frame.elements = NULL
    if i[2] >= 0:
        column = ready(m.columns, i[2])
        if column == NULL:
            return EXHAUSTED
        frame.elements = m.columns + column.child
        frame.base = frame.elements.length
    m.registers[i[3]] = 0
    m.absent[i[3]] = False
    frame.checkpoint = -1
    if m.notes and not i[5]:
        frame.checkpoint = begin_noted(m, m.position - m.base)
    return OK


cdef inline int end_element(Machine *m, Frame *frame) noexcept nogil:
    """After an element: check its unique member and close its row."""
    if (frame.instruction[4] >= 0 or frame.instruction[6] >= 0) and not is_new(m, frame):
        return IRREGULAR
    frame.n += 1
    if frame.checkpoint >= 0 and frame.n < frame.count:
        note_list(m, frame.checkpoint, frame.n, True)
    if frame.elements != NULL and frame.elements.length < frame.base + frame.n:
        return pad(frame.elements, frame.base + frame.n)
    return OK


cdef int end_list(Machine *m, Frame *frame) noexcept nogil:
    """After the last element: check the unique members and close the list."""
    cdef bint unique = frame.instruction[4] >= 0 or frame.instruction[6] >= 0
    if frame.count > FEW and unique and has_equal(<Name *>(m.spans.data + frame.names), frame.count):
        return IRREGULAR
    m.spans.length = frame.names
    if frame.checkpoint >= 0:
        note_list(m, frame.checkpoint, frame.count, False)
    return put_list(m.columns, frame.instruction[2]) if frame.instruction[2] >= 0 else OK


cdef inline bint is_new(Machine *m, Frame *frame) noexcept nogil:
    """Note the element's unique member; returns whether it differs from those before, for up to FEW of them."""
    return is_unlike(m, frame.names, frame.n, frame.instruction[4], frame.instruction[6])


cdef inline bint is_unlike(Machine *m, int64_t first, int64_t count, int64_t text, int64_t value) noexcept nogil:
    """Note a unique member: a text or bytes or, without a register of a text, a number."""
    cdef int64_t register = value if text < 0 else text
    if m.absent[register]:
        return False
    if text < 0:
        return is_another(m, first, count, <uint64_t>m.registers[register], NULL, 0)
    return is_another(m, first, count, wl_short_word(m.pointers[text], m.registers[text]), m.pointers[text], m.registers[text])


cdef inline bint is_another(Machine *m, int64_t first, int64_t count, uint64_t head, const uint8_t *data, int64_t size) noexcept nogil:
    """Note a name; returns whether it differs from those before, for up to FEW of them."""
    cdef int64_t n
    cdef Name *names
    if push(&m.spans, NULL, sizeof(Name)):
        return False
    names = <Name *>(m.spans.data + first)
    names[count].head = head
    names[count].data = data
    names[count].size = size
    if count < FEW:
        for n in range(count):
            if names[n].head == head and compare_names(names + n, names + count) == 0:
                return False
    return True


cdef int note_unique(Machine *m, const int64_t *i) noexcept nogil:
    """i: register of the start of the members, register of a text or bytes (-1: none), of a number (-1: none)

    If other values are between them on the stack, the parser compares.
    """
    cdef int64_t first = m.registers[i[1]], count = (m.spans.length - first) // <int64_t>sizeof(Name)
    if first < 0 or first > m.spans.length or first + count * <int64_t>sizeof(Name) != m.spans.length:
        return IRREGULAR
    return OK if (i[2] >= 0 or i[3] >= 0) and is_unlike(m, first, count, i[2], i[3]) else IRREGULAR


cdef int end_unique(Machine *m, int64_t register) noexcept nogil:
    """After the last element: check the unique members."""
    cdef int64_t first = m.registers[register], count = (m.spans.length - first) // <int64_t>sizeof(Name)
    if first < 0 or first > m.spans.length:
        return IRREGULAR
    if count > FEW and has_equal(<Name *>(m.spans.data + first), count):
        return IRREGULAR
    m.spans.length = first
    return OK


cdef int read_extension(Machine *m, const int64_t *i) noexcept nogil:
    """i: type, text, register, column"""
    cdef Head head
    cdef int code = take(m, F_EXT, &head)
    if code:
        return code
    if head.type != i[1]:
        return IRREGULAR
    if <int64_t>head.number > m.end - m.position:
        return m.overrun
    if i[2] and not wl_is_utf8(m.position, <int64_t>head.number):
        return IRREGULAR
    m.none = False
    m.position += head.number
    return deliver_bytes(m, i[3], i[4], m.position - head.number, <int64_t>head.number)


cdef int compare_names(const void *left, const void *right) noexcept nogil:
    cdef const Name *a = <const Name *>left
    cdef const Name *b = <const Name *>right
    if a.head != b.head:
        return -1 if a.head < b.head else 1
    if a.size != b.size:
        return -1 if a.size < b.size else 1
    return memcmp(a.data, b.data, <size_t>a.size) if a.size > 8 else 0


cdef bint has_equal(Name *names, int64_t count) noexcept nogil:
    """Whether two names are equal; sorts them."""
    cdef int64_t n
    qsort(names, <size_t>count, sizeof(Name), &compare_names)
    for n in range(1, count):
        if compare_names(names + n - 1, names + n) == 0:
            return True
    return False

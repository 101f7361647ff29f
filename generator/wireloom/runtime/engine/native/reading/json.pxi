# JSON. First json.h makes nodes of the whole text, which checks that it is JSON. Then the steps of the spec read the
# nodes in the order of the spec, so errors have that order too.
#
# `m.node` is the current value. OP_JSON_OBJECT finds the members of a struct and fills a slot for each: its node, and
# whether a step has read it. OP_JSON_CLOSE then refuses members that no step has read. For a struct that is an array,
# a slot holds the next element. Open values are written from their nodes, as VARIANT, tagged JSON or text.

cdef extern from "Python.h":
    double PyOS_string_to_double(const char *text, char **end, object overflow) except? -1.0

cdef enum:
    LONGEST_NUMBER = 512  # the longest number that Python converts
    JSON_DEEPEST = 64  # the deepest open value that the engine reads, even if the limit is higher


def _prepare_json():
    """Compute tables: powers of five, the characters of base64, and pairs of digits and of such characters."""
    cdef int place = 0, n
    cdef uint8_t pair[2]
    one, five = int("1"), int("5")
    for power in range(SMALLEST_POWER, LARGEST_POWER + 1):
        whole = pow(five, abs(power))
        if power < 0:
            size = whole.bit_length()
            value = (one << (size + 127 if power >= -27 else 2 * size + 128)) // whole + 1
        else:
            value = whole << 128
        value >>= max(0, value.bit_length() - 128)
        wl_powers[place] = value >> 64
        wl_powers[place + 1] = value & ((one << 64) - 1)
        place += 2
    memset(wl_sextets, 0xFF, 256)
    for n in range(64):
        wl_sextets[<uint8_t>BASE64[n]] = <uint8_t>n
    for n in range(100):
        pair[0], pair[1] = <uint8_t>(0x30 + n // 10), <uint8_t>(0x30 + n % 10)
        memcpy(&wl_two_digits[n], pair, 2)
    for n in range(4096):
        pair[0], pair[1] = <uint8_t>BASE64[n >> 6], <uint8_t>BASE64[n & 63]
        memcpy(&wl_two_sextets[n], pair, 2)


_prepare_json()


cdef int json_again(Machine *m, const wl_node *node, double *real) noexcept nogil:
    """Convert a number with Python; irregular if it is not finite."""
    cdef char literal[LONGEST_NUMBER + 1]
    cdef int64_t size = <int64_t>node.end - node.start
    if size > LONGEST_NUMBER:
        return IRREGULAR
    memcpy(literal, m.json.text + node.start, <size_t>size)
    literal[size] = 0
    with gil:
        try:
            real[0] = PyOS_string_to_double(literal, NULL, OverflowError)
        except (ValueError, OverflowError):
            return IRREGULAR
        except MemoryError:
            return EXHAUSTED
    return OK if real[0] - real[0] == 0 else IRREGULAR


cdef inline int json_real(Machine *m, const wl_node *node, double *real) noexcept nogil:
    """The number as a double."""
    return OK if wl_node_real(node, real) else json_again(m, node, real)


cdef inline bint json_deep(const wl_node *node, int64_t limit) noexcept nogil:
    """Whether containers are nested deeper than open values may be."""
    return node.kind >= WL_LIST and wl_height(node) > limit


cdef inline int json_integer(Machine *m, const int64_t *i, const wl_node *node) noexcept nogil:
    """i: minimum, maximum, flags, register, column"""
    cdef int64_t number = <int64_t>node.value
    if node.kind != WL_INTEGER or node.flags & WL_BEYOND:
        return IRREGULAR
    m.wide = (node.flags & WL_WIDE) != 0
    if m.wide:
        if not i[3] & WIDE_TOO:
            return IRREGULAR
    elif number < i[1] or (number > i[2] and not i[3] & WIDE_TOO):
        return IRREGULAR
    m.value = number
    m.none = False
    return deliver_integer(m, i[4], i[5])


cdef inline int json_float(Machine *m, const int64_t *i, const wl_node *node) noexcept nogil:
    """i: bits, column"""
    cdef double real = 0
    cdef int code
    if node.kind != WL_INTEGER and node.kind != WL_FLOAT:
        return IRREGULAR
    m.none = False
    if i[2] < 0 and i[1] == 64 and not node.flags & WL_BEYOND:
        return OK
    code = json_real(m, node, &real)
    if code:
        return code
    if i[1] == 32:
        real = <double><float>real
        if real - real != 0:
            return IRREGULAR
    return put_float(m.columns, i[2], real) if i[2] >= 0 else OK


cdef inline int json_boolean(Machine *m, const int64_t *i, const wl_node *node) noexcept nogil:
    """i: register, column"""
    if node.kind != WL_BOOLEAN:
        return IRREGULAR
    m.value = <int64_t>node.value
    m.none = m.wide = False
    return deliver_boolean(m, i[1], i[2])


cdef inline int json_deliver(Machine *m, int64_t target, int64_t column, const uint8_t *data, int64_t size, int64_t readable) noexcept nogil:
    m.none = False
    if target >= 0:
        keep_text(m, target, data, size)
    if column >= 0:
        return put_bytes_near(m.columns, column, data, size, readable)
    return OK


cdef inline int json_text(Machine *m, const int64_t *i, const wl_node *node) noexcept nogil:
    """i: register, column"""
    cdef int64_t size = 0
    cdef const uint8_t *data
    if node.kind != WL_TEXT:
        return IRREGULAR
    data = wl_text_of(&m.json, node, &size)
    return json_deliver(m, i[1], i[2], data, size, SLACK if node.flags & WL_ESCAPED else m.readable - data)


cdef int json_bytes(Machine *m, const int64_t *i, const wl_node *node) noexcept nogil:
    """i: size (-1: any), whether line feeds are allowed, register, column"""
    cdef int64_t size = 0, count
    cdef const uint8_t *data = NULL
    cdef const uint8_t *text
    if node.kind != WL_TEXT:
        return IRREGULAR
    text = wl_text_of(&m.json, node, &size)
    count = wl_from_base64(&m.json, text, size, i[2] != 0, i[3] >= 0 or i[4] >= 0, &data)
    if count < 0 or (i[1] >= 0 and count != i[1]):
        return IRREGULAR
    return json_deliver(m, i[3], i[4], data, count, SLACK)


cdef int json_object(Machine *m, const int64_t *i, const wl_node *node) noexcept nogil:
    """i: slot of the object, table of members: count, then (name, slot) each. Fills the slots."""
    cdef const wl_node *nodes = m.json.nodes
    cdef const wl_plan *plan
    cdef Slot *slot
    cdef int64_t at
    cdef int32_t n
    if node.kind != WL_OBJECT:
        return IRREGULAR
    slot = m.slots + i[1]
    slot.number = <uint64_t>(node - nodes)
    slot.count = wl_members(node)
    if not node.flags & WL_SHAPED:
        wl_json_learn(&m.json, node)
    if m.tables[i[2]] == 0:
        return OK
    plan = wl_plan_of(&m.json.shapes, plan_key(i[2], node), False) if node.flags & WL_SHAPED else NULL
    if plan == NULL:
        json_search(m, i, node)
        return OK
    at = (node - nodes) + 1
    for n in range(plan.members):
        if plan.slots[n] >= 0:
            slot = m.slots + plan.slots[n]
            slot.found = True
            slot.count = 0
            slot.number = <uint64_t>(at + 1)
        at = nodes[at + 1].next
    for n in range(plan.absent):
        slot = m.slots + plan.empty[n]
        slot.found = False
        slot.count = 0
    return OK


cdef inline uint64_t plan_key(int64_t what, const wl_node *object) noexcept nogil:
    """The key of a plan: the request and the object's shape."""
    return <uint64_t>(what + 1) << 16 | <uint64_t>object.power


cdef void json_search(Machine *m, const int64_t *i, const wl_node *node) noexcept nogil:
    """i: as in `json_object`. Find each member by its name; note where they are, for objects of the same shape."""
    cdef const int64_t *first = m.tables + i[2] + 1
    cdef const int64_t *last = first + 2 * m.tables[i[2]]
    cdef const int64_t *field = first
    cdef const int64_t *hint = first
    cdef const wl_node *nodes = m.json.nodes
    cdef const uint8_t *name
    cdef wl_plan *plan = NULL
    cdef int64_t at, size = 0
    cdef Slot *slot
    while field < last:
        (m.slots + field[1]).found = False
        (m.slots + field[1]).count = 0
        field += 2
    if node.flags & WL_SHAPED and wl_members(node) <= WL_PLANNED and m.tables[i[2]] <= WL_PLANNED:
        plan = wl_plan_of(&m.json.shapes, plan_key(i[2], node), True)
    at = (node - nodes) + 1
    while at < node.next:
        name = wl_text_of(&m.json, nodes + at, &size)
        field = hint
        if plan != NULL:
            plan.slots[plan.members] = -1
            plan.members += 1
        while True:
            if size == field[0] & 0xFFFF and wl_same_text(name, size, m.texts + (field[0] >> 16), size):
                slot = m.slots + field[1]
                slot.found = True
                slot.number = <uint64_t>(at + 1)
                hint = field + 2 if field + 2 < last else first
                if plan != NULL:
                    plan.slots[plan.members - 1] = <int32_t>field[1]
                break
            field += 2
            if field == last:
                field = first
            if field == hint:
                break
        at = nodes[at + 1].next
    field = first
    while plan != NULL and field < last:
        if not (m.slots + field[1]).found:
            plan.empty[plan.absent] = <int32_t>field[1]
            plan.absent += 1
        field += 2


cdef int json_close(Machine *m, const int64_t *i) noexcept nogil:
    """i: as in `json_object`. Check that every member was read."""
    cdef const int64_t *field = m.tables + i[2] + 1
    cdef const int64_t *last = field + 2 * m.tables[i[2]]
    cdef int64_t located = 0
    while field < last:
        if (m.slots + field[1]).found:
            located += (m.slots + field[1]).count
        field += 2
    return OK if located == (m.slots + i[1]).count else IRREGULAR


cdef int json_rest(Machine *m, const int64_t *i) noexcept nogil:
    """i: as in `json_object`. Make an object of the members without a slot the current value, and mark them as read."""
    cdef const int64_t *field = m.tables + i[2] + 1
    cdef const int64_t *last = field + 2 * m.tables[i[2]]
    cdef Slot *object = m.slots + i[1]
    cdef int64_t few[32], count = 0, n, name
    cdef int64_t *names = few
    cdef bint made
    if object.number >= <uint64_t>m.json.count or m.json.nodes[object.number].kind != WL_OBJECT:
        return IRREGULAR
    if m.tables[i[2]] > 32:
        names = <int64_t *>malloc(<size_t>(m.tables[i[2]] * 8))
        if names == NULL:
            return EXHAUSTED
    while field < last:
        if (m.slots + field[1]).found:
            name = <int64_t>(m.slots + field[1]).number - 1
            n = count
            while n > 0 and names[n - 1] > name:
                names[n] = names[n - 1]
                n -= 1
            names[n] = name
            count += 1
        field += 2
    m.node = m.json.count
    made = wl_json_without(&m.json, <int64_t>object.number, names, count)
    if names != few:
        free(names)
    object.count = count
    return OK if made else EXHAUSTED


cdef int json_find(Machine *m, const int64_t *i) noexcept nogil:
    """i: name, its size, slot of the object, target if the member is missing. The member becomes the current value."""
    cdef uint64_t object = (m.slots + i[3]).number
    cdef const wl_node *nodes = m.json.nodes
    cdef const uint8_t *name
    cdef wl_plan *plan = NULL
    cdef int64_t at, size = 0
    cdef int32_t n
    if object >= <uint64_t>m.json.count or nodes[object].kind != WL_OBJECT:
        return IRREGULAR
    at = <int64_t>object + 1
    if nodes[object].flags & WL_SHAPED:
        plan = wl_plan_of(&m.json.shapes, plan_key(-2 - (i[1] << 16 | i[2] & 0xFFFF), nodes + object), False)
    if plan != NULL:
        for n in range(plan.members):
            at = nodes[at + 1].next
        if plan.absent:
            m.next = i[4]
        else:
            m.node = at + 1
        return OK
    if nodes[object].flags & WL_SHAPED:
        plan = wl_plan_of(&m.json.shapes, plan_key(-2 - (i[1] << 16 | i[2] & 0xFFFF), nodes + object), True)
    while at < nodes[object].next:
        name = wl_text_of(&m.json, nodes + at, &size)
        if size == i[2] and wl_same_text(name, size, m.texts + i[1], size):
            m.node = at + 1
            return OK
        if plan != NULL:
            plan.members += 1
        at = nodes[at + 1].next
    if plan != NULL:
        plan.members = 0
        plan.absent = 1
    m.next = i[4]
    return OK


cdef int json_array(Machine *m, const int64_t *i, const wl_node *node) noexcept nogil:
    """i: table of (arity, version), version register, slot of the array"""
    cdef Slot *slot = m.slots + i[3]
    if node.kind != WL_LIST:
        return IRREGULAR
    slot.number = <uint64_t>(node - m.json.nodes) + 1
    slot.count = wl_members(node)
    return note_version(m, i, slot.count)


cdef int json_repeat(Machine *m, const int64_t *i, const wl_node *node) noexcept nogil:
    """i: as in `begin_list`"""
    cdef Frame frame
    cdef Column *column
    cdef int64_t at, following = m.next, list = node - m.json.nodes
    cdef int code
    if node.kind != (WL_OBJECT if i[5] else WL_LIST):
        return IRREGULAR
    frame.instruction = i
    frame.n = 0
    frame.count = wl_members(node)
    frame.names = m.spans.length
    frame.elements = NULL
    frame.checkpoint = -1
    if m.notes and not i[5] and i[4] < 0 and i[6] < 0:
        frame.checkpoint = begin_noted(m, node.start)
        if frame.checkpoint < 0:
            return EXHAUSTED
        note_node(m, frame.checkpoint, node, node.start + 1)
    if i[2] >= 0:
        column = ready(m.columns, i[2])
        if column == NULL:
            return EXHAUSTED
        frame.elements = m.columns + column.child
        frame.base = frame.elements.length
    at = list + 1
    while frame.n < frame.count:
        if at + (i[5] != 0) >= m.json.count:  # a nested program has parsed another text
            return IRREGULAR
        m.node = at
        m.registers[i[3]] = frame.n
        m.absent[i[3]] = False
        code = run(m, i[1])
        if code:
            return code
        code = end_element(m, &frame)
        if code:
            return code
        if frame.checkpoint >= 0:
            note_node(m, frame.checkpoint, m.json.nodes + list, m.json.nodes[at].end)
        at = m.json.nodes[at + 1 if i[5] else at].next
    m.next = following
    code = end_list(m, &frame)
    if frame.checkpoint >= 0:
        note_node(m, frame.checkpoint, m.json.nodes + list, <int64_t>m.json.nodes[list].end - 1)
    return code


# --- open values -----------------------------------------------------------------------------------------------------

cdef int json_check_open(Machine *m, const int64_t *rules, const wl_node *node, const wl_node **bad) noexcept nogil:
    """Check an open value whose own kind is known. Rules: the allowed kinds inside, and the range of integers."""
    cdef const wl_node *outer = node
    cdef const wl_node *last = m.json.nodes + node.next
    cdef bint name = False
    cdef double real = 0
    cdef int code
    bad[0] = node
    if json_deep(node, m.limit):
        return IRREGULAR
    while node < last:
        bad[0] = node
        if node != outer and not node.flags & WL_NAME and not rules[0] >> node.kind & 1:
            return IRREGULAR
        if node.kind == WL_INTEGER:
            if rules[3]:
                if node.flags & WL_BEYOND:
                    code = json_again(m, node, &real)
                    if code:
                        return code
            elif node.flags & (WL_WIDE | WL_BEYOND) or <int64_t>node.value < rules[1] or <int64_t>node.value > rules[2]:
                return IRREGULAR
        node += 1
    bad[0] = last
    return OK


cdef int json_write_list(Machine *m, Writer *w, const wl_node *node, const int64_t *rules) noexcept nogil:
    cdef Stack *output = &m.output
    cdef int64_t start = output.length, count = wl_members(node), few[32], i
    cdef int64_t *offsets = few
    cdef const wl_node *inner = node + 1
    cdef int code = OK
    if count > 32:
        offsets = <int64_t *>malloc(<size_t>(count * 8))
        if offsets == NULL:
            return EXHAUSTED
    for i in range(count):
        offsets[i] = output.length
        code = json_write_open(m, w, inner, rules)
        if code:
            break
        inner = m.json.nodes + inner.next
    if not code:
        code = close_array(output, start, offsets, count)
    if offsets != few:
        free(offsets)
    return code


cdef int json_write_members(Machine *m, Writer *w, const wl_node *node, Entry *entries, const int64_t *rules) noexcept nogil:
    """Write the members; their keys enter the dictionary before those of the values. Equal keys are irregular."""
    cdef Stack *output = &m.output
    cdef int64_t start = output.length, count = wl_members(node), i
    cdef const wl_node *name = node + 1
    cdef int code
    for i in range(count):
        entries[i].key = wl_text_of(&m.json, name, &entries[i].size)
        if key_id(w, entries[i].key, entries[i].size, &entries[i].id):
            return EXHAUSTED
        name = m.json.nodes + name[1].next
    name = node + 1
    for i in range(count):
        entries[i].offset = output.length
        code = json_write_open(m, w, name + 1, rules)
        if code:
            return code
        name = m.json.nodes + name[1].next
    if count > 1:
        sort_entries(entries, count)
    return close_object(output, start, entries, count)


cdef int json_write_pairs(Machine *m, Writer *w, const wl_node *node, int64_t *offsets, const int64_t *rules) noexcept nogil:
    """{"$map": [[key, value], ...]}"""
    cdef Stack *output = &m.output
    cdef int64_t start = output.length, count = wl_members(node), pair[2], id = 0, size = 0, i
    cdef const wl_node *name = node + 1
    cdef const uint8_t *text
    cdef int code
    if key_id(w, b"$map", 4, &id):
        return EXHAUSTED
    for i in range(count):
        offsets[i] = pair[0] = output.length
        text = wl_text_of(&m.json, name, &size)
        if write_text(output, text, size):
            return EXHAUSTED
        pair[1] = output.length
        code = json_write_open(m, w, name + 1, rules)
        if code:
            return code
        if close_array(output, offsets[i], pair, 2):
            return EXHAUSTED
        name = m.json.nodes + name[1].next
    if close_array(output, start, offsets, count):
        return EXHAUSTED
    return write_single(w, b"$map", id, start)


cdef int json_write_map(Machine *m, Writer *w, const wl_node *node, const int64_t *rules) noexcept nogil:
    cdef int64_t count = wl_members(node), size = 0
    cdef const wl_node *name = node + 1
    cdef const wl_node *last = m.json.nodes + node.next
    cdef const uint8_t *text
    cdef Entry few[16]
    cdef Entry *entries = few
    cdef bint named = True
    cdef int code
    while name < last:
        text = wl_text_of(&m.json, name, &size)
        if size > 0 and text[0] == 0x24:
            named = False
        name = m.json.nodes + name[1].next
    if count > 16:
        entries = <Entry *>malloc(<size_t>(count * <int64_t>sizeof(Entry)))
        if entries == NULL:
            return EXHAUSTED
    if named:
        code = json_write_members(m, w, node, entries, rules)
    else:
        code = json_write_pairs(m, w, node, <int64_t *>entries, rules)
    if entries != few:
        free(entries)
    return code


cdef int json_write_open(Machine *m, Writer *w, const wl_node *node, const int64_t *rules) noexcept nogil:
    """Append the value as VARIANT bytes."""
    cdef Stack *output = &m.output
    cdef uint8_t data[9]
    cdef uint64_t bits
    cdef int64_t size = 0
    cdef double real = 0
    cdef const uint8_t *text
    cdef int code
    if node.kind == WL_NULL:
        data[0] = 0
        return push(output, data, 1)
    if node.kind == WL_BOOLEAN:
        data[0] = 1 << 2 if node.value else 2 << 2
        return push(output, data, 1)
    if node.kind == WL_INTEGER and not rules[3]:
        return write_integer(output, <int64_t>node.value)
    if node.kind == WL_INTEGER or node.kind == WL_FLOAT:
        code = json_real(m, node, &real)
        if code:
            return code
        memcpy(&bits, &real, 8)
        data[0] = 7 << 2
        little(data + 1, <int64_t>bits, 8)
        return push(output, data, 9)
    if node.kind == WL_LIST:
        return json_write_list(m, w, node, rules)
    if node.kind == WL_OBJECT:
        return json_write_map(m, w, node, rules)
    text = wl_text_of(&m.json, node, &size)
    return write_text(output, text, size)


cdef int json_write_tagged(Machine *m, const wl_node *node, const int64_t *rules) noexcept nogil:
    """Append the value as tagged JSON."""
    cdef Stack *output = &m.output
    cdef int64_t size = 0
    cdef double real = 0
    cdef const uint8_t *text
    cdef const wl_node *inner
    cdef int code = OK
    if node.kind == WL_NULL:
        return write_literal(output, b"null", 4)
    if node.kind == WL_BOOLEAN:
        return write_literal(output, b'{"bool":true}', 13) if node.value else write_literal(output, b'{"bool":false}', 14)
    if node.kind == WL_INTEGER and not rules[3]:
        code = write_literal(output, b'{"int":', 7) or write_decimal(output, <int64_t>node.value)
    elif node.kind == WL_INTEGER or node.kind == WL_FLOAT:
        code = json_real(m, node, &real)
        code = code or write_literal(output, b'{"float":', 9) or write_number(output, real)
    elif node.kind == WL_TEXT:
        text = wl_text_of(&m.json, node, &size)
        code = write_literal(output, b'{"str":', 7) or write_quoted(output, text, size)
    else:
        code = write_literal(output, b'{"list":[', 9) if node.kind == WL_LIST else write_literal(output, b'{"map":[', 8)
        inner = node + 1
        while not code and inner < m.json.nodes + node.next:
            if inner != node + 1:
                code = write_literal(output, b",", 1)
            if node.kind == WL_OBJECT:
                code = code or write_literal(output, b"[", 1) or json_write_tagged(m, inner, rules) or write_literal(output, b",", 1)
                inner += 1
            code = code or json_write_tagged(m, inner, rules)
            if node.kind == WL_OBJECT:
                code = code or write_literal(output, b"]", 1)
            inner = m.json.nodes + inner.next
        code = code or write_literal(output, b"]", 1)
    return code or write_literal(output, b"}", 1)


cdef int json_open(Machine *m, const int64_t *i, const wl_node *node) noexcept nogil:
    """i: rules, kinds, value column, metadata column, form (0 VARIANT, 1 tagged JSON, 2 the text)

    Rules: kinds, least and greatest integer, whether integers are floats.
    """
    cdef const int64_t *rules = m.tables + i[1]
    cdef const wl_node *bad
    cdef Writer w
    cdef int code
    if not i[2] >> node.kind & 1:
        return IRREGULAR
    code = json_check_open(m, rules, node, &bad)
    if m.notes:
        note_nodes(m, node, bad)
    m.none = False
    if code or i[3] < 0:
        return code
    if i[5] == 2:
        return put_bytes_near(m.columns, i[3], m.json.text + node.start, <int64_t>node.end - node.start, m.readable - m.json.text - node.start)
    m.output.length = 0
    if i[5] == 1:
        code = json_write_tagged(m, node, rules)
        return code or put_bytes(m.columns, i[3], m.output.data, m.output.length)
    m.keys.length = 0
    m.work.length = 0
    w.machine = m
    return json_write_open(m, &w, node, rules) or put_variant(m, i)


cdef int json_raw(Machine *m, const int64_t *i, const wl_node *node) noexcept nogil:
    """i: kinds, column. Deliver the value's own text."""
    if not i[1] >> node.kind & 1 or json_deep(node, m.limit):
        return IRREGULAR
    m.none = False
    if i[2] < 0:
        return OK
    return put_bytes_near(m.columns, i[2], m.json.text + node.start, <int64_t>node.end - node.start, m.readable - m.json.text - node.start)


# --- instructions ----------------------------------------------------------------------------------------------------

cdef int json_document(Machine *m, int64_t beside) noexcept nogil:
    """Parse the rest of the region as JSON text; `beside`: the containers that may be nested around open values.

    For texts deeper than Python's stack allows, the parser decides.
    """
    cdef int64_t depth = (m.limit if m.limit < JSON_DEEPEST else JSON_DEEPEST) + beside
    cdef int read
    m.json.seed = hash_seed
    read = wl_json_read(&m.json, m.position, m.end - m.position, depth)
    if m.notes:
        note_text(m, read == 1)
    if read != 1:
        m.json.count = 0
        return IRREGULAR if read == 0 else EXHAUSTED
    m.node = 0
    m.position = m.end
    return OK


cdef int json_step(Machine *m, const int64_t *i, int op) noexcept nogil:
    """Execute one JSON instruction that is not in `run`."""
    cdef Slot *slot
    if op == OP_JSON_DOCUMENT:
        return json_document(m, i[1])
    elif op == OP_JSON_CLOSE:
        return json_close(m, i)
    elif op == OP_JSON_REST:
        return json_rest(m, i)
    elif op == OP_JSON_FIND:
        return json_find(m, i)
    elif op == OP_JSON_ELEMENT:  # slot of an array
        slot = m.slots + i[1]
        if slot.count < 1 or slot.number >= <uint64_t>m.json.count:
            return IRREGULAR
        slot.count -= 1
        m.node = <int64_t>slot.number
        slot.number = m.json.nodes[slot.number].next
    elif op == OP_JSON_NO_MORE:  # slot of an array
        return OK if (m.slots + i[1]).count == 0 else IRREGULAR
    elif op == OP_JSON_NEXT:  # no operands: go from a name to its value
        m.node += 1
    elif <uint64_t>m.node < <uint64_t>m.json.count:
        return json_value(m, i, op, m.json.nodes + m.node)
    else:
        return IRREGULAR
    return OK


cdef inline int json_value(Machine *m, const int64_t *i, int op, const wl_node *node) noexcept nogil:
    """Execute one instruction on the current value."""
    if op == OP_JSON_INTEGER:
        return json_integer(m, i, node)
    elif op == OP_JSON_TEXT:
        return json_text(m, i, node)
    elif op == OP_JSON_BYTES:
        return json_bytes(m, i, node)
    elif op == OP_JSON_FLOAT:
        return json_float(m, i, node)
    elif op == OP_JSON_BOOLEAN:
        return json_boolean(m, i, node)
    elif op == OP_JSON_NULL:
        m.none = True
        return OK if node.kind == WL_NULL else IRREGULAR
    elif op == OP_JSON_NULL_JUMP:  # target
        if node.kind == WL_NULL:
            m.none = True
            m.next = i[1]
        return OK
    elif op == OP_JSON_OBJECT:
        return json_object(m, i, node)
    elif op == OP_JSON_ARRAY:
        return json_array(m, i, node)
    elif op == OP_JSON_REPEAT:
        return json_repeat(m, i, node)
    elif op == OP_JSON_RAW:
        return json_raw(m, i, node)
    elif op == OP_JSON_COUNT:  # register or none: the number of elements or members
        if node.kind < WL_LIST:
            return IRREGULAR
        if i[1] >= 0:
            m.registers[i[1]] = wl_members(node)
            m.absent[i[1]] = False
        return OK
    elif op == OP_JSON_OPEN:
        return json_open(m, i, node)
    return IRREGULAR

# Checkpoints: they tell the parser which elements of a record are good, so that it need not read them again when the
# engine gave the record up. runtime/checkpoints.py is the other side.
#
# A record is first read without checkpoints. If it is given up, it is read once more, and each list is noted in the order
# of reading: where its elements begin, how many were read, and where the next one begins. When a list ends, the notes of
# the lists inside of it are dropped: one entry says that the whole list is good.

cdef enum:
    NEXT_READING = -2  # in place of a list: from here on the record is read in the other byte order
    NEXT_TEXT = -3  # in place of a list: a JSON text of so many bytes begins; offsets in it count from its start


cdef int64_t begin_noted(Machine *m, int64_t start) noexcept nogil:
    """Note a list whose elements begin at `start`; -1 if there is no memory."""
    cdef int64_t index = m.noted.length
    if push(&m.noted, NULL, sizeof(Checkpoint)):
        m.scattered = True
        return -1
    memset(m.noted.data + index, 0, sizeof(Checkpoint))
    note_list(m, index, 0, True)
    (<Checkpoint *>(m.noted.data + index)).start = start
    return index


cdef void note_list(Machine *m, int64_t index, int64_t count, bint is_open) noexcept nogil:
    """Note that so many elements were read, and that the next one, if any, begins here; drops the notes of inner lists."""
    cdef Checkpoint *noted = <Checkpoint *>(m.noted.data + index)
    m.noted.length = index + sizeof(Checkpoint)
    noted.count, noted.is_open, noted.position = count, is_open, m.position - m.base
    noted.again, noted.furthest = m.again, m.furthest - m.base
    noted.expanded, noted.packed, noted.unpacked = m.expanded, m.packed, m.unpacked


cdef void note_text(Machine *m, bint is_whole) noexcept nogil:
    """Note the rest of the region as a JSON text; if it is not complete, also the lists in it, as far as it was parsed."""
    cdef int64_t index = begin_noted(m, NEXT_TEXT)
    m.json.noted = index + 1
    if index >= 0:
        note_list(m, index, m.end - m.position, not is_whole)
        (<Checkpoint *>(m.noted.data + index)).text = m.json.noted
    if not is_whole and m.json.count:
        note_nodes(m, m.json.nodes, m.json.nodes + m.json.count - 1)


cdef inline void note_node(Machine *m, int64_t index, const wl_node *list, int64_t position) noexcept nogil:
    """Note, for a JSON list, where the last element that was read ends, and where the last of all begins."""
    cdef Checkpoint *noted = <Checkpoint *>(m.noted.data + index)
    noted.position, noted.text = position, m.json.noted
    if list.next:
        noted.total, noted.last = wl_members(list), <int64_t>list.end - 1


cdef void note_nodes(Machine *m, const wl_node *node, const wl_node *bad) noexcept nogil:
    """Note the lists of a value, up to the node `bad`; a list that has not ended has a `next` of 0."""
    cdef const wl_node *nodes = m.json.nodes
    cdef bint is_whole = node.next and nodes + node.next <= bad
    cdef int64_t index, count = 0, position
    cdef const wl_node *inner = node + 1
    if node >= bad:
        return
    if node.kind == WL_LIST:
        index = begin_noted(m, node.start)
        if index < 0:
            return
        position = node.start + 1
        while not is_whole and inner.next and nodes + inner.next <= bad and inner < bad:
            count += 1
            position = inner.end
            inner = nodes + inner.next
        note_list(m, index, wl_members(node) if is_whole else count, not is_whole)
        note_node(m, index, node, <int64_t>node.end - 1 if is_whole else position)
        if not is_whole:
            note_nodes(m, inner, bad)
    elif node.kind == WL_OBJECT:
        while inner + 1 < bad and (not node.next or inner < nodes + node.next):
            note_nodes(m, inner + 1, bad)
            if not inner[1].next:
                return
            inner = nodes + inner[1].next


cdef void note_unread(Machine *m, const wl_node *node, int64_t last) noexcept nogil:
    """Note the lists in the unread part of a text, after the node at index `last`; they are valid JSON."""
    cdef const wl_node *nodes = m.json.nodes
    cdef const wl_node *inner = node + 1
    cdef int64_t index
    if <int64_t>node.next <= last:
        return
    if node.kind == WL_LIST and node - nodes > last:
        index = begin_noted(m, node.start)
        if index >= 0:
            note_list(m, index, wl_members(node), False)
            note_node(m, index, node, <int64_t>node.end - 1)
            (<Checkpoint *>(m.noted.data + index)).text = -m.json.noted
    elif node.kind == WL_LIST:
        while inner - nodes <= last and <int64_t>inner.next <= last:
            inner = nodes + inner.next
        if inner < nodes + node.next:
            note_unread(m, inner, last)
    elif node.kind == WL_OBJECT:
        while inner < nodes + node.next:
            note_unread(m, inner + 1, last)
            inner = nodes + inner[1].next

# Protobuf messages. One scan notes in slots where the fields are; the steps of the spec then read the slots in their
# order.
#
# A singular message in several pieces is scanned piece by piece, as one message. A repeated field has a chain of
# occurrences, which are put in order when it is read. A group is skipped to find its end, and then read like any other
# message; so its bytes are scanned once for each enclosing group, whose number the spec limits. A message that another
# member of its oneof replaces may be invalid; it is left to the parser.

cdef enum:
    DEEPEST = 100  # the deepest nesting of messages and groups


cdef inline int read_varint(const uint8_t **position, const uint8_t *end, uint64_t *number) noexcept nogil:
    """Read a varint of at most 10 bytes; bits above the 64th are dropped."""
    cdef const uint8_t *at = position[0]
    cdef uint64_t value
    cdef int shift
    if at >= end:
        return IRREGULAR
    if at[0] < 0x80:
        number[0] = at[0]
        position[0] = at + 1
        return OK
    value = at[0] & 0x7F
    at += 1
    shift = 7
    while shift < 70:
        if at >= end:
            return IRREGULAR
        value |= <uint64_t>(at[0] & 0x7F) << shift
        if at[0] < 0x80:
            number[0] = value
            position[0] = at + 1
            return OK
        at += 1
        shift += 7
    return IRREGULAR


cdef inline int add_occurrence(Machine *m, Slot *slot, Occurrence *occurrence, bint *scattered) noexcept nogil:
    """Add a value of a repeated field; sets `scattered` if it does not follow the one before."""
    occurrence.next = -1
    slot.found = True
    if slot.count == 0:
        slot.first = m.spans.length
    else:
        if m.spans.length != slot.last + <int64_t>sizeof(Occurrence):
            scattered[0] = True
        (<Occurrence *>(m.spans.data + slot.last)).next = m.spans.length
    slot.last = m.spans.length
    slot.count += 1
    return push(&m.spans, occurrence, sizeof(Occurrence))


cdef int unpack(Machine *m, Slot *slot, int wire, const uint8_t *end, bint *scattered) noexcept nogil:
    """Add the packed numbers from the position to `end`; the position does not move."""
    cdef const uint8_t *at = m.position
    cdef Occurrence occurrence
    occurrence.size = 8 if wire == 1 else 4
    occurrence.number = 0
    while at < end:
        occurrence.start = at - m.base
        if wire == 0:
            if read_varint(&at, end, &occurrence.number):
                return IRREGULAR
        elif end - at < occurrence.size:
            return IRREGULAR
        else:
            at += occurrence.size
        if add_occurrence(m, slot, &occurrence, scattered):
            return EXHAUSTED
    return OK


cdef int skip_group(
    const uint8_t **position, const uint8_t *end, uint64_t field, int64_t deep, const uint8_t **inside
) noexcept nogil:
    """Skip a group after its tag, inside of `deep` messages; returns where its content ends."""
    cdef uint64_t opened[DEEPEST]
    cdef uint64_t tag = 0, number = 0
    cdef int64_t depth = 1
    if deep >= DEEPEST:
        return IRREGULAR
    opened[0] = field
    while depth > 0:
        inside[0] = position[0]
        if read_varint(position, end, &tag) or tag >> 3 == 0 or tag >> 3 > 0x1FFFFFFF:
            return IRREGULAR
        number = 0
        if tag & 7 == 3:
            if deep + depth >= DEEPEST:
                return IRREGULAR
            opened[depth] = tag >> 3
            depth += 1
        elif tag & 7 == 4:
            if tag >> 3 != opened[depth - 1]:
                return IRREGULAR
            depth -= 1
        elif tag & 7 == 0 or tag & 7 == 2:
            if read_varint(position, end, &number):
                return IRREGULAR
            if tag & 7 == 0:
                number = 0
        elif tag & 7 == 1 or tag & 7 == 5:
            number = 8 if tag & 7 == 1 else 4
        else:
            return IRREGULAR
        if number > <uint64_t>(end - position[0]):
            return IRREGULAR
        position[0] += number
    return OK


cdef inline int drive_out(Machine *m, const int64_t *rivals) noexcept nogil:
    """Clear the other fields of a oneof: the last one counts. `rivals`: count, then slot and form of each."""
    cdef int64_t n
    cdef Slot *slot
    for n in range(rivals[0]):
        slot = m.slots + rivals[1 + 2 * n]
        if slot.found and rivals[2 + 2 * n] == 2:
            return IRREGULAR
        slot.found = False
    return OK


cdef inline int add_piece(Machine *m, Slot *slot, const Occurrence *piece, bint *scattered) noexcept nogil:
    """Add a piece of a singular message; the first piece is added when the second comes."""
    cdef Occurrence first
    if slot.count == 0:
        first.start = slot.data - m.base
        first.size = slot.size
        first.number = 0
        if add_occurrence(m, slot, &first, scattered):
            return EXHAUSTED
    first = piece[0]
    return add_occurrence(m, slot, &first, scattered)


cdef int scan_message(Machine *m, const int64_t *table) noexcept nogil:
    """Fill the slots of the message from the position to the end, or of all its pieces.

    `table`: the number of enclosing messages, and the fields: count, then number, wire type, slot, form, and the address of
    its rivals in the tables, or -1. Forms: 0 singular, 1 repeated, 2 singular message. Occurrences of repeated fields go on
    a stack (`Occurrence`), in order for each slot, and so do the pieces of a message.
    """
    cdef const int64_t *fields = table + 1
    cdef int64_t i, first = m.piece_first, pieces = m.piece_count
    cdef int code
    cdef Occurrence piece
    cdef bint scattered = False
    cdef Slot *slot
    m.piece_count = 0
    if table[0] > DEEPEST:
        return IRREGULAR
    for i in range(fields[0]):
        slot = m.slots + fields[3 + 5 * i]
        slot.found = False
        slot.first = -1
        slot.count = 0
    if pieces == 0:
        code = scan_piece(m, table, m.end, &scattered)
        if code:
            return code
    for i in range(pieces):
        if first < 0 or first + (i + 1) * <int64_t>sizeof(Occurrence) > m.spans.length:
            return IRREGULAR
        piece = (<Occurrence *>(m.spans.data + first))[i]
        if piece.start < 0 or piece.size < 0 or piece.start > m.stop - m.base or piece.size > m.stop - m.base - piece.start:
            return IRREGULAR
        m.position = m.base + piece.start
        m.end = m.position + piece.size
        code = scan_piece(m, table, m.end, &scattered)
        if code:
            return code
    if scattered:
        for i in range(fields[0]):
            if gather(m, m.slots + fields[3 + 5 * i]):
                return EXHAUSTED
    return OK


cdef int scan_piece(Machine *m, const int64_t *table, const uint8_t *end, bint *scattered) noexcept nogil:
    """Fill the slots with the fields from the position to `end`."""
    cdef const int64_t *fields = table + 1
    cdef const int64_t *field
    cdef const int64_t *hint = fields + 1
    cdef const int64_t *last = fields + 1 + 5 * fields[0]
    cdef const uint8_t *behind
    cdef const uint8_t *content
    cdef const uint8_t *inside = NULL
    cdef uint64_t tag = 0, number = 0
    cdef int64_t size
    cdef int wire, code
    cdef Occurrence occurrence
    cdef Slot *slot
    while m.position < end:
        if read_varint(&m.position, end, &tag):
            return IRREGULAR
        if tag >> 3 == 0 or tag >> 3 > 0x1FFFFFFF:
            return IRREGULAR
        wire = <int>(tag & 7)
        number = 0
        size = 0
        content = m.position
        if wire == 0:
            if read_varint(&m.position, end, &number):
                return IRREGULAR
        elif wire == 2:
            if read_varint(&m.position, end, &number) or number > <uint64_t>(end - m.position):
                return IRREGULAR
            size = <int64_t>number
        elif wire == 1:
            size = 8
        elif wire == 5:
            size = 4
        elif wire != 3:
            return IRREGULAR
        if end - m.position < size:
            return IRREGULAR
        behind = m.position + size
        if wire == 3:
            if skip_group(&behind, end, tag >> 3, table[0], &inside):
                return IRREGULAR
            size = inside - m.position
        field = hint
        while field < last and <uint64_t>field[0] != tag >> 3:
            field += 5
        if field == last:
            field = fields + 1
            while field < last and <uint64_t>field[0] != tag >> 3:
                field += 5
        if field < last:
            hint = field
            if field[1] == wire:
                slot = m.slots + field[2]
                if field[4] >= 0 and drive_out(m, m.tables + field[4]):
                    return IRREGULAR
                if field[3] == 1 or (field[3] == 2 and slot.found):
                    occurrence.start = (content if wire == 0 else m.position) - m.base
                    occurrence.size = size
                    occurrence.number = number
                    if add_occurrence(m, slot, &occurrence, scattered) if field[3] == 1 else add_piece(m, slot, &occurrence, scattered):
                        return EXHAUSTED
                else:
                    slot.data = m.position
                    slot.size = size
                    slot.number = number
                    slot.found = True
            elif field[3] == 1 and wire == 2 and field[1] != 3:
                code = unpack(m, m.slots + field[2], <int>field[1], m.position + size, scattered)
                if code:
                    return code
        m.position = behind
    return OK


cdef int gather(Machine *m, Slot *slot) noexcept nogil:
    """Put the occurrences of a slot in order, at the top of the stack."""
    cdef int64_t at = slot.first, first = m.spans.length, i
    cdef Occurrence occurrence
    if slot.count < 2:
        return OK
    for i in range(slot.count):
        occurrence = (<Occurrence *>(m.spans.data + at))[0]
        if push(&m.spans, &occurrence, sizeof(Occurrence)):
            return EXHAUSTED
        at = occurrence.next
    slot.first = first
    return OK

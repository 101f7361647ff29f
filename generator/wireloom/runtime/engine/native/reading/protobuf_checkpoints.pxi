# Holes: elements of a protobuf message that the parser need not scan when it reads a record that the engine gave up.
#
# They are complete, and the messages in them have all required fields. Consecutive elements of a field form one hole.
# The first element of each list is always scanned, as are elements that the parser reads from a checkpoint (`kept`).

cdef enum:
    MOST_FIELDS = 256  # the most fields of a message that is examined
    REPEATED = 1  # bits for each field: see `words_of` in parsers/protobuf/wire.py
    REQUIRED = 2
    TAKEN_WHOLE = 4
    HAS_RIVALS = 8
    COMPLETE = 0  # whether a message has all required fields: surely, perhaps, or surely not
    DOUBTFUL = 1
    LACKING = 2

cdef struct Hole:  # consecutive elements of one field
    int64_t start
    int64_t number
    int64_t count
    int64_t behind

cdef struct Holes:
    const uint8_t *base
    const int64_t *words
    const int64_t *kept  # the positions of elements that the parser reads
    int64_t kept_count
    bint is_scanned_only  # the parser reads no list
    Stack found


cdef bint is_kept(const Holes *h, const uint8_t *content) noexcept nogil:
    cdef int64_t i
    for i in range(h.kept_count):
        if h.base + h.kept[i] == content:
            return True
    return False


cdef int widen_hole(Holes *h, Hole *hole, int64_t number, const uint8_t *start, const uint8_t *behind) noexcept nogil:
    """Add one more element to a hole, if it follows the one before."""
    if hole.count and (hole.number != number or hole.behind != start - h.base) and end_hole(h, hole):
        return EXHAUSTED
    if hole.count == 0:
        hole.start, hole.number = start - h.base, number
    hole.count += 1
    hole.behind = behind - h.base
    return OK


cdef int end_hole(Holes *h, Hole *hole) noexcept nogil:
    cdef int code = push(&h.found, hole, sizeof(Hole)) if hole.count else OK
    hole.count = 0
    return code


cdef int packed_holes(Holes *h, const int64_t *field, const uint8_t *at, const uint8_t *end) noexcept nogil:
    """Add the packed numbers of a field, from `at` to `end`."""
    cdef const uint8_t *first = at
    cdef const uint8_t *start
    cdef int64_t size = 8 if field[1] == 1 else 4
    cdef uint64_t number = 0
    cdef int code = OK
    cdef Hole hole
    hole.count = 0
    while at < end and code == OK:
        start = at
        if field[1] == 0:
            if read_varint(&at, end, &number):
                code = IRREGULAR
        elif end - at < size:
            code = IRREGULAR
        else:
            at += size
        if code == OK and start != first and not is_kept(h, start) and (h.is_scanned_only or not field[2] & TAKEN_WHOLE):
            code = widen_hole(h, &hole, field[0], start, at)
    return EXHAUSTED if end_hole(h, &hole) else code


cdef int message_holes(Holes *h, const int64_t *message, const uint8_t *at, const uint8_t *end, int64_t depth, int *lacks) noexcept nogil:
    """Find the holes of a message; IRREGULAR if it is incomplete, or better left to the parser.

    `message`: number of fields, then number, wire type, bits, and the index of its own message in the words, or -1.
    """
    cdef uint8_t found[MOST_FIELDS]
    cdef const int64_t *field = NULL
    cdef const uint8_t *start
    cdef const uint8_t *content
    cdef const uint8_t *inside = NULL
    cdef uint64_t tag = 0, number = 0
    cdef int64_t n = 0, i, inner
    cdef int code = OK, wire, lacking
    cdef Hole hole
    hole.count = 0
    lacks[0] = COMPLETE
    if message[0] > MOST_FIELDS:
        return IRREGULAR
    memset(found, 0, sizeof(found))
    while at < end and code == OK:
        start = at
        if read_varint(&at, end, &tag) or tag >> 3 == 0 or tag >> 3 > 0x1FFFFFFF:
            code = IRREGULAR
            break
        wire, content, number = <int>(tag & 7), at, 0
        field = NULL
        for i in range(message[0]):
            inner = (n + i) % message[0]
            if <uint64_t>message[1 + 4 * inner] == tag >> 3:
                n, field = inner, message + 1 + 4 * inner
                break
        if wire == 0:
            code = read_varint(&at, end, &number)
        elif wire == 2:
            code = read_varint(&at, end, &number)
            content = at
        elif wire == 1 or wire == 5:
            number = 8 if wire == 1 else 4
        elif wire == 3 and (field == NULL or field[1] != 3):
            code = skip_group(&at, end, tag >> 3, depth, &inside)
        else:
            code = IRREGULAR
        if code == OK and wire and wire != 3:
            if number > <uint64_t>(end - at):
                code = IRREGULAR
            else:
                at += number
        if code or field == NULL:
            continue
        lacking, inner = COMPLETE, h.found.length
        if field[1] != wire:
            if wire == 2 and field[2] & REPEATED and field[3] < 0:
                found[n] |= 1
                code = packed_holes(h, field, content, at)
            continue
        if field[3] >= 0:
            code = message_holes(h, h.words + field[3], content, at, depth + 1, &lacking) if depth < DEEPEST else IRREGULAR
            if code:
                continue
        if not field[2] & REPEATED:
            lacks[0] = max(lacks[0], DOUBTFUL if lacking else COMPLETE)
        else:
            lacks[0] = max(lacks[0], DOUBTFUL if field[2] & HAS_RIVALS and lacking else lacking)
            if found[n] & 1 and (lacking == COMPLETE or found[n] & 2) and (h.is_scanned_only or not field[2] & TAKEN_WHOLE and not is_kept(h, content)):
                h.found.length = inner
                code = widen_hole(h, &hole, field[0], start, at)
            if lacking == LACKING:
                found[n] |= 2
        found[n] |= 1
    if end_hole(h, &hole):
        return EXHAUSTED
    for i in range(message[0]):
        if message[3 + 4 * i] & REQUIRED:
            if not found[i]:
                lacks[0] = LACKING
            elif message[3 + 4 * i] & HAS_RIVALS:
                lacks[0] = max(lacks[0], DOUBTFUL)
    return code


def holes(const uint8_t[::1] data not None, int64_t start, int64_t end, const int64_t[::1] words not None, const int64_t[::1] kept):
    """Whether the message from `start` to `end` is complete and has all required fields, and its holes as numbers.

    kept: None if no list is read.
    """
    cdef Holes h
    cdef int code, lacks = COMPLETE
    if not 0 <= start <= end <= data.shape[0] or words.shape[0] == 0:
        raise ValueError("a message that the data does not have")
    if start == end:
        return False, b""
    memset(&h, 0, sizeof(Holes))
    h.base = &data[0]
    h.words = &words[0]
    h.is_scanned_only = kept is None
    if kept is not None and kept.shape[0]:
        h.kept, h.kept_count = &kept[0], kept.shape[0]
    try:
        with nogil:
            code = message_holes(&h, h.words, h.base + start, h.base + end, 0, &lacks)
        if code == EXHAUSTED:
            raise MemoryError("no memory for the holes of a message")
        return code == OK and lacks == COMPLETE, (<char *>h.found.data)[:h.found.length]
    finally:
        free(h.found.data)

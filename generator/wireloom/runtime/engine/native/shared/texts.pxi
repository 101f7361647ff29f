# Texts and bytes that expressions make: parts of others, which point into the record, and concatenations, which are in
# memory of the record. That memory is freed when the next record begins.
#
# On the stack of an expression a text is one number: its place in the texts of the format, or -2 minus the register
# that holds its pointer and size. `m.scanned` counts the bytes that were gone over, so that work is bounded.

cdef extern from "texts.h" nogil:
    int64_t wl_place(const uint8_t *text, int64_t size, int64_t number, int characters)

cdef enum:
    MOST_MADE = 65535  # bytes of a text that is put together; one that had more is null
    CHUNK = 1 << 16
    SCANNED = 1 << 26  # bytes that are put together or gone over for a record; beyond, the construct path does it
    TO_THE_END = 2  # a part without an end; 1: of characters


cdef int text_of(const Machine *m, int64_t value, const uint8_t **data, int64_t *size) noexcept nogil:
    """Where a text stands."""
    if value >= 0:
        if (value >> 16) + (value & 0xFFFF) > m.text_size:
            return IRREGULAR
        data[0] = m.texts + (value >> 16)
        size[0] = value & 0xFFFF
        return OK
    value = -2 - value
    if value < 0 or value >= m.register_count or m.pointers[value] == NULL:
        return IRREGULAR
    data[0] = m.pointers[value]
    size[0] = m.registers[value]
    return OK


cdef uint8_t *new_text(Machine *m, int64_t size) noexcept nogil:
    """Memory that is the record's until it ends; NULL where there is none."""
    cdef Chunk *chunk = m.chunks
    cdef int64_t room
    if chunk == NULL or size > chunk.size - chunk.used:
        room = size if size > CHUNK else CHUNK
        chunk = <Chunk *>malloc(sizeof(Chunk) + <size_t>room)
        if chunk == NULL:
            return NULL
        chunk.before, chunk.size, chunk.used = m.chunks, room, 0
        m.chunks = chunk
    chunk.used += size
    return <uint8_t *>(chunk + 1) + chunk.used - size


cdef void forget_texts(Machine *m) noexcept nogil:
    """What was made for the record before is needed no more; one piece of memory is kept for the next."""
    cdef Chunk *chunk = m.chunks
    while chunk.before != NULL:
        m.chunks = chunk.before
        free(chunk)
        chunk = m.chunks
    chunk.used = 0


cdef void free_texts(Machine *m) noexcept nogil:
    cdef Chunk *chunk
    while m.chunks != NULL:
        chunk = m.chunks
        m.chunks = chunk.before
        free(chunk)


cdef inline void keep_text(Machine *m, int64_t target, const uint8_t *data, int64_t size) noexcept nogil:
    m.pointers[target] = data
    m.registers[target] = size
    m.absent[target] = False


cdef inline int64_t placed(Machine *m, const uint8_t *data, int64_t size, int64_t number, int characters) noexcept nogil:
    """Where a place is that is counted from one of the ends; what was gone over to find it counts."""
    cdef int64_t at = wl_place(data, size, number, characters)
    if characters:
        m.scanned += size - at if number < 0 else at
    return at


cdef int part_of(Machine *m, const int64_t *table, int64_t whole, int64_t first, int64_t last, int64_t *value) noexcept nogil:
    """A part of a text. Table: register, form (1: of characters, 2: to the end)."""
    cdef const uint8_t *data = NULL
    cdef int64_t size = 0
    cdef int characters = table[1] & 1
    if text_of(m, whole, &data, &size):
        return IRREGULAR
    first = placed(m, data, size, first, characters)
    last = size if table[1] & TO_THE_END else placed(m, data, size, last, characters)
    if m.scanned > SCANNED:
        return IRREGULAR
    keep_text(m, table[0], data + first, last - first if last > first else 0)
    value[0] = -2 - table[0]
    return OK


cdef int put_together(Machine *m, int64_t target, const int64_t *values, int64_t count, int64_t *value, bint *none) noexcept nogil:
    """Texts one after another, null where that is too much."""
    cdef const uint8_t *data = NULL
    cdef uint8_t *made
    cdef int64_t size = 0, whole = 0, n
    for n in range(count):
        if text_of(m, values[n], &data, &size):
            return IRREGULAR
        whole += size
    none[0] = whole > MOST_MADE
    if none[0]:
        return OK
    m.scanned += whole
    if m.scanned > SCANNED:
        return IRREGULAR
    made = new_text(m, whole)
    if made == NULL:
        return IRREGULAR
    keep_text(m, target, made, whole)
    for n in range(count):
        text_of(m, values[n], &data, &size)
        if size:
            memcpy(made, data, <size_t>size)
        made += size
    value[0] = -2 - target
    return OK


cdef int64_t known_text(const Machine *m, const int64_t *table, int64_t value) noexcept nogil:
    """Which of some texts of the format a text is; -1 for any other. Table: count, texts."""
    cdef const uint8_t *data = NULL
    cdef int64_t size = 0, n, symbol
    if text_of(m, value, &data, &size):
        return -1
    for n in range(1, table[0] + 1):
        symbol = table[n]
        if size == symbol & 0xFFFF and memcmp(data, m.texts + (symbol >> 16), <size_t>size) == 0:
            return symbol
    return -1


cdef int same_texts(const Machine *m, int64_t left, int64_t right, int64_t *same) noexcept nogil:
    cdef const uint8_t *one = NULL
    cdef const uint8_t *other = NULL
    cdef int64_t size = 0, others = 0
    if text_of(m, left, &one, &size) or text_of(m, right, &other, &others):
        return IRREGULAR
    same[0] = size == others and memcmp(one, other, <size_t>size) == 0
    return OK


cdef inline int64_t room_of(int64_t size) noexcept nogil:
    """The bytes that are reserved for a text that grows."""
    cdef int64_t room = 64
    while room < size:
        room *= 2
    return room if size > 0 else 0


cdef int append_text(Machine *m, int64_t target, int64_t count, const uint8_t *data, int64_t size, int64_t separator) noexcept nogil:
    """One more text after those of a list; `count` is the register of how many there are, -1 where it is too much."""
    cdef uint8_t *made
    cdef int64_t before = m.registers[target], between = 0
    if m.registers[count] < 0:
        return OK
    if m.registers[count] > 0:
        between = separator & 0xFFFF
    m.registers[count] += 1
    if before + between + size > MOST_MADE:
        m.registers[count] = -1
        m.absent[target] = True
        return OK
    m.scanned += between + size
    if m.scanned > SCANNED:
        return IRREGULAR
    made = <uint8_t *>m.pointers[target]
    if before + between + size > room_of(before):
        made = new_text(m, room_of(before + between + size))
        if made == NULL:
            return IRREGULAR
        if before:
            memcpy(made, m.pointers[target], <size_t>before)
        m.pointers[target] = made
    if between:
        memcpy(made + before, m.texts + (separator >> 16), <size_t>between)
    if size:
        memcpy(made + before + between, data, <size_t>size)
    m.registers[target] = before + between + size
    return OK


cdef int begin_gathering(Machine *m, const int64_t *i) noexcept nogil:
    """i: register of the text, of the count, of an element or -1. Nothing yet."""
    keep_text(m, i[1], m.texts, 0)
    m.registers[i[2]] = 0
    m.absent[i[2]] = False
    if i[3] >= 0:
        m.absent[i[3]] = True
    return OK


cdef int gather_text(Machine *m, const int64_t *i) noexcept nogil:
    """i: register of the text, of the count, of the element, separator, whether the element is to be null again"""
    cdef int code = OK
    if not m.absent[i[3]]:
        code = append_text(m, i[1], i[2], m.pointers[i[3]], m.registers[i[3]], i[4])
    if i[5]:
        m.absent[i[3]] = True
    return code


cdef int make_text(Machine *m, const int64_t *i) noexcept nogil:
    """i: expression, register, column, most bytes that a record may expand to (-1: it is not counted)"""
    cdef const uint8_t *data = NULL
    cdef int64_t value = 0, size = 0
    cdef bint none = False
    cdef int code = evaluate(m, i[1], &value, &none)
    if code:
        return code
    if none:
        if i[2] >= 0:
            m.absent[i[2]] = True
        return OK
    if text_of(m, value, &data, &size):
        return IRREGULAR
    if i[4] >= 0:
        m.expanded += size
        if m.expanded > i[4]:
            return IRREGULAR
    return deliver_copy(m, i[2], i[3], data, size)

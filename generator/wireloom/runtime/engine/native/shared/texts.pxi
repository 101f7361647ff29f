# Texts and bytes that expressions compute: parts of others, which point into the record. Texts that differ from the
# record's bytes (unescaped, from base64) are in memory of the record, which is freed when the next record begins.
#
# On the stack of an expression a text is one number: its address in the format's texts, or -2 minus the register with
# its pointer and size. `m.scanned` counts the bytes that were scanned, so that the work is bounded.

cdef extern from "texts.h" nogil:
    int64_t wl_place(const uint8_t *text, int64_t size, int64_t number, int characters)

cdef enum:
    CHUNK = 1 << 16
    SCANNED = 1 << 26  # the most bytes scanned in a record; beyond, the record is left to construct
    TO_THE_END = 2  # the form of a part without an end; 1: offsets count characters


cdef int text_of(const Machine *m, int64_t value, const uint8_t **data, int64_t *size) noexcept nogil:
    """The address and size of a text."""
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
    """Memory for the current record; NULL if there is none."""
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
    """Free the texts of the last record; one chunk of memory is kept for the next."""
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
    """The offset of a position that counts from one of the ends; the scanned bytes are counted."""
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


cdef int64_t known_text(const Machine *m, const int64_t *table, int64_t value) noexcept nogil:
    """The number of the format's text that equals a text; -1 for none. Table: count, texts."""
    cdef const uint8_t *data = NULL
    cdef int64_t size = 0, n, symbol
    if text_of(m, value, &data, &size):
        return -1
    for n in range(1, table[0] + 1):
        symbol = table[n]
        if size == symbol & 0xFFFF and memcmp(data, m.texts + (symbol >> 16), <size_t>size) == 0:
            return symbol
    return -1


cdef int make_text(Machine *m, const int64_t *i) noexcept nogil:
    """i: expression, register, column, the most bytes that a record may expand to (-1: not counted)"""
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

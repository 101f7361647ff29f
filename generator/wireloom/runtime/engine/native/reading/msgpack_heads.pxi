# The head of any MessagePack value: its family, and its number, length or count. heads.h has the forms of hot loops.
#
# The length or count is unchecked: callers compare it with the bytes that are left.

cdef enum:
    F_NIL = 0
    F_BOOL
    F_INT
    F_FLOAT
    F_STR
    F_BIN
    F_ARRAY
    F_MAP
    F_EXT

cdef struct Head:
    int family
    uint64_t number  # the 64 bits of an integer; a length or a count; true or false
    bint wide
    int type  # the type of an ext value
    double real


cdef inline bint back(const uint8_t *data, int64_t size, const uint8_t **position, const uint8_t *end, uint64_t *number) noexcept nogil:
    """Read a big-endian number of `size` bytes; False if bytes are missing."""
    if end - position[0] < size:
        return False
    if size == 1:
        number[0] = position[0][0]
    elif size == 2:
        number[0] = wl_swap16(wl_u16(position[0]))
    elif size == 4:
        number[0] = wl_swap32(wl_u32(position[0]))
    else:
        number[0] = wl_swap64(wl_u64(position[0]))
    position[0] += size
    return True


cdef int read_head(const uint8_t **position, const uint8_t *end, Head *head) noexcept nogil:
    """Read the head at the position, and move after it."""
    cdef uint8_t first
    cdef uint64_t number = 0
    cdef int64_t size
    head.wide = False
    if position[0] >= end:
        return TRUNCATED
    first = position[0][0]
    position[0] += 1
    if first <= 0x7F:
        head.family = F_INT
        head.number = first
        return OK
    if first >= 0xE0:
        head.family = F_INT
        head.number = <uint64_t>(<int64_t>first - 0x100)
        return OK
    if first <= 0x8F:
        head.family = F_MAP
        head.number = first & 0x0F
        return OK
    if first <= 0x9F:
        head.family = F_ARRAY
        head.number = first & 0x0F
        return OK
    if first <= 0xBF:
        head.family = F_STR
        head.number = first & 0x1F
        return OK
    if first == 0xC0:
        head.family = F_NIL
        return OK
    if first == 0xC1:
        return IRREGULAR
    if first <= 0xC3:
        head.family = F_BOOL
        head.number = first == 0xC3
        return OK
    if first <= 0xC6:
        head.family = F_BIN
        size = 1 << (first - 0xC4)
    elif first <= 0xC9:
        head.family = F_EXT
        size = 1 << (first - 0xC7)
    elif first <= 0xCB:
        head.family = F_FLOAT
        size = 4 if first == 0xCA else 8
    elif first <= 0xCF:
        head.family = F_INT
        size = 1 << (first - 0xCC)
    elif first <= 0xD3:
        head.family = F_INT
        size = 1 << (first - 0xD0)
    elif first <= 0xD8:
        head.family = F_EXT
        head.number = 1 << (first - 0xD4)
        if position[0] >= end:
            return TRUNCATED
        head.type = <int8_t>position[0][0]
        position[0] += 1
        return OK
    elif first <= 0xDB:
        head.family = F_STR
        size = 1 << (first - 0xD9)
    elif first <= 0xDD:
        head.family = F_ARRAY
        size = 2 if first == 0xDC else 4
    else:
        head.family = F_MAP
        size = 2 if first == 0xDE else 4
    if not back(NULL, size, position, end, &number):
        return TRUNCATED
    if head.family == F_FLOAT:
        head.real = wl_float(<uint32_t>number) if size == 4 else wl_double(number)
    elif head.family == F_INT:
        if first == 0xCF:
            head.wide = number > <uint64_t>INT64_MAX
        elif first == 0xD0:
            number = <uint64_t><int64_t><int8_t>number
        elif first == 0xD1:
            number = <uint64_t><int64_t><int16_t>number
        elif first == 0xD2:
            number = <uint64_t><int64_t><int32_t>number
    elif head.family == F_EXT:
        if position[0] >= end:
            return TRUNCATED
        head.type = <int8_t>position[0][0]
        position[0] += 1
    head.number = number
    return OK


cdef inline int take(Machine *m, int64_t family, Head *head) noexcept nogil:
    """Read the head at the machine's position, which must be of one family."""
    cdef const uint8_t *start = m.position
    cdef int code = read_head(&m.position, m.end, head)
    if code:
        return code if code != TRUNCATED else cut_off(m, start, family, family)
    return OK if head.family == family else IRREGULAR


cdef inline int cut_off(const Machine *m, const uint8_t *start, int64_t family, int64_t other) noexcept nogil:
    """The code for an incomplete head: IRREGULAR if its first byte is of neither family."""
    cdef bint fits = start >= m.end or wl_family[start[0]] == family or wl_family[start[0]] == other
    return m.overrun if fits else IRREGULAR

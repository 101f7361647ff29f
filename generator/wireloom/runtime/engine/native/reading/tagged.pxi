# Open values as tagged JSON text, byte for byte as `dumps(to_tagged(value))` of runtime/columns/canonical.py writes it.
#
# The value has been checked by the first pass (variant.pxi), so only memory can fail here.

cdef extern from "Python.h":
    char *PyOS_double_to_string(double number, char format, int precision, int flags, int *type) except NULL
    void PyMem_Free(void *memory)
    int Py_DTSF_ADD_DOT_0

cdef const char *HEXADECIMAL = "0123456789abcdef"
cdef const char *BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


cdef inline uint8_t *room_on(Stack *output, int64_t size) noexcept nogil:
    """Reserve so many bytes after a stack; NULL if there is no memory."""
    if output.length + size + SLACK > output.capacity and widen(output, size):
        return NULL
    return output.data + output.length


cdef inline int write_literal(Stack *output, const char *text, int64_t size) noexcept nogil:
    return push(output, text, size)


cdef int write_quoted(Stack *output, const uint8_t *text, int64_t size) noexcept nogil:
    """Write a JSON string."""
    cdef int code = write_literal(output, b'"', 1)
    cdef uint64_t high = 0
    cdef uint8_t *target
    cdef int64_t part
    while not code and size:
        part = size if size < ESCAPED_AT_ONCE else ESCAPED_AT_ONCE
        target = room_on(output, 6 * part + 16)
        if target == NULL:
            return EXHAUSTED
        output.length = wl_put_escaped(target, text, part, &high) - output.data
        text += part
        size -= part
    return code or write_literal(output, b'"', 1)


cdef int write_base64(Stack *output, const uint8_t *data, int64_t size) noexcept nogil:
    """Write a JSON string of padded base64."""
    cdef uint8_t *target = room_on(output, (size + 2) // 3 * 4 + 16)
    if target == NULL:
        return EXHAUSTED
    target[0] = 0x22
    target = wl_put_base64(target + 1, data, size)
    target[0] = 0x22
    output.length = target + 1 - output.data
    return OK


cdef int write_decimal(Stack *output, int64_t value) noexcept nogil:
    cdef uint8_t *target = room_on(output, NUMBER_ROOM)
    if target == NULL:
        return EXHAUSTED
    output.length = wl_put_integer(target, value, False) - output.data
    return OK


cdef int write_number(Stack *output, double value) noexcept nogil:
    """Write a float as Python does: the shortest text that reads back as the same number. A few need Python itself."""
    cdef uint8_t *target = room_on(output, NUMBER_ROOM)
    cdef char *text
    cdef int code
    if target == NULL:
        return EXHAUSTED
    if value != value:
        return write_literal(output, b'"NaN"', 5)
    if value - value != 0:
        return write_literal(output, b'"Infinity"', 10) if value > 0 else write_literal(output, b'"-Infinity"', 11)
    target = wl_put_real(target, value)
    if target != NULL:
        output.length = target - output.data
        return OK
    with gil:
        try:
            text = PyOS_double_to_string(value, b"r", 0, Py_DTSF_ADD_DOT_0, NULL)
        except MemoryError:
            return EXHAUSTED
        code = push(output, text, <int64_t>strlen(text))
        PyMem_Free(text)
    return code


cdef int write_tagged_extension(Writer *w, const int64_t *names, Head *head) noexcept nogil:
    """Write {"<name>": text or base64}."""
    cdef Stack *output = &w.machine.output
    cdef int64_t i, symbol
    cdef int code = OK
    for i in range(w.rules[3]):
        if w.rules[4 + 2 * i] != head.type:
            continue
        symbol = names[1 + i]
        if push(output, w.machine.texts + (symbol >> 16), symbol & 0xFFFF):
            return EXHAUSTED
        if w.rules[5 + 2 * i]:
            code = write_quoted(output, w.position, <int64_t>head.number)
        else:
            code = write_base64(output, w.position, <int64_t>head.number)
        break
    w.position += head.number
    return code or write_literal(output, b"}", 1)


cdef int write_tagged_container(Writer *w, const int64_t *names, Head *head) noexcept nogil:
    """Write {"list": [...]} or {"map": [[key, value], ...]}."""
    cdef Stack *output = &w.machine.output
    cdef int64_t i
    cdef bint pairs = head.family == F_MAP
    if write_literal(output, b'{"map":[' if pairs else b'{"list":[', 8 if pairs else 9):
        return EXHAUSTED
    for i in range(<int64_t>head.number):
        if i > 0 and write_literal(output, b",", 1):
            return EXHAUSTED
        if pairs:
            if write_literal(output, b"[", 1) or write_tagged(w, names) or write_literal(output, b",", 1):
                return EXHAUSTED
        if write_tagged(w, names):
            return EXHAUSTED
        if pairs and write_literal(output, b"]", 1):
            return EXHAUSTED
    return write_literal(output, b"]}", 2)


cdef int write_tagged(Writer *w, const int64_t *names) noexcept nogil:
    """Append the value at the position as tagged JSON. `names`: count, then the prefix of each ext type."""
    cdef Stack *output = &w.machine.output
    cdef Head head
    cdef int code
    read_head(&w.position, w.end, &head)
    if head.family == F_NIL:
        return write_literal(output, b"null", 4)
    if head.family == F_BOOL:
        return write_literal(output, b'{"bool":true}', 13) if head.number else write_literal(output, b'{"bool":false}', 14)
    if head.family == F_EXT:
        return write_tagged_extension(w, names, &head)
    if head.family == F_ARRAY or head.family == F_MAP:
        return write_tagged_container(w, names, &head)
    if head.family == F_INT:
        code = write_literal(output, b'{"int":', 7) or write_decimal(output, <int64_t>head.number)
    elif head.family == F_FLOAT:
        code = write_literal(output, b'{"float":', 9) or write_number(output, head.real)
    elif head.family == F_STR:
        code = write_literal(output, b'{"str":', 7) or write_quoted(output, w.position, <int64_t>head.number)
        w.position += head.number
    else:
        code = write_literal(output, b'{"bytes":', 9) or write_base64(output, w.position, <int64_t>head.number)
        w.position += head.number
    return code or write_literal(output, b"}", 1)

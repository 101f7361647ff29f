# Regions that are compressed or written as text, and bodies in another encoding.
#
# The machine takes the GIL, calls Python's library, and reads the result like a record; after its end it goes on after
# the region. `Around` saves what was in force before. The unpacked bytes stay until the next record begins, since
# expressions may look at texts in them; columns have copies of their own. A body in another encoding is read in place,
# or, if it is base64 within JSON, from memory of the record. A JSON body has nodes of its own.

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.ref cimport Py_DECREF, Py_INCREF

from wireloom.runtime.primitives.packing import ALWAYS as _ALWAYS, NAMES as _CODECS, packed_at as _packed_at, unpacked_at as _unpacked_at

cdef int64_t CODEC_COUNT = len(_CODECS), UNPACKED_ALWAYS = _ALWAYS


cdef int fill_unpacked(Machine *m, int64_t codec, int64_t limit) noexcept nogil:
    """What the rest of the region unpacks to becomes the record that is read."""
    with gil:
        try:
            content = _unpacked_at(codec, PyBytes_FromStringAndSize(<const char *>m.position, m.end - m.position), limit)
            if content is None:
                return IRREGULAR
            if m.kept == NULL:
                held = []
                Py_INCREF(held)
                m.kept = <void *>held
            (<list>m.kept).append(content)
            m.expanded += PyBytes_GET_SIZE(content)
            m.unpacked += PyBytes_GET_SIZE(content)
            m.base = m.position = <const uint8_t *>PyBytes_AS_STRING(content)
            m.end = m.stop = m.readable = m.base + PyBytes_GET_SIZE(content)
        except Exception:
            return IRREGULAR
    return OK


cdef int unpack_region(Machine *m, const int64_t *i) noexcept nogil:
    """i: codec, register that says it (-1: none), most bytes that a record may expand to, how many times its own bytes"""
    cdef int64_t codec = i[1], allowed = i[3] - m.expanded, most = 0
    cdef Around *around = m.around + m.opened
    if i[2] >= 0:
        if m.absent[i[2]]:
            return IRREGULAR
        codec = m.registers[i[2]]
    if m.opened == UNPACKED or codec < 0 or codec >= CODEC_COUNT or m.expanded > i[3]:
        return IRREGULAR
    around.base, around.end, around.stop = m.base, m.end, m.stop
    around.readable, around.furthest, around.again = m.readable, m.furthest, m.again
    around.is_body = around.is_text = False
    m.opened += 1
    if codec == 0:
        return OK
    if m.unpacking == 0:
        m.packed += m.end - m.position
    if wl_mul(i[4], m.packed, &most) or wl_add(most, UNPACKED_ALWAYS, &most):
        most = INT64_MAX
    if fill_unpacked(m, codec, min(allowed, max(most - m.unpacked, 0))):
        return IRREGULAR
    m.unpacking += 1
    m.furthest = m.base
    m.again = 0
    return OK


cdef int leave_unpacked(Machine *m) noexcept nogil:
    """After a region, all of which must have been used."""
    cdef Around *around
    if m.opened == 0 or m.position != m.end or m.around[m.opened - 1].is_body:
        return IRREGULAR
    m.opened -= 1
    around = m.around + m.opened
    if m.base == around.base:
        return OK
    write_all(&m.wait)
    m.unpacking -= 1
    m.base, m.position, m.end, m.stop = around.base, around.end, around.end, around.stop
    m.readable, m.furthest, m.again = around.readable, around.furthest, around.again
    return OK


cdef inline void enter_body(Machine *m, const uint8_t *body, int64_t size, const uint8_t *after) noexcept nogil:
    """A body of another encoding, whose places count from its own start; `after`: where reading goes on, NULL: at its end."""
    cdef Around *around = m.around + m.opened
    around.base, around.end, around.stop, around.overrun = m.base, m.end, m.stop, m.overrun
    around.readable, around.furthest, around.again = m.readable, m.furthest, m.again
    around.position, around.node = after, m.node
    around.is_body, around.is_text = True, False
    m.opened += 1
    m.base = m.furthest = m.position = body
    m.end = body + size
    m.overrun = IRREGULAR
    m.again = 0


cdef int open_carried(Machine *m, const int64_t *i) noexcept nogil:
    """i: whether the head of a bin stands in front. The body stands where it is read."""
    cdef int64_t size = m.end - m.position
    cdef Head head
    cdef int code
    if m.opened == UNPACKED:
        return IRREGULAR
    if i[1]:
        code = take(m, F_BIN, &head)
        if code:
            return code
        if head.number > <uint64_t>(m.end - m.position):
            return m.overrun
        size = <int64_t>head.number
    enter_body(m, m.position, size, NULL)
    return OK


cdef int json_carried(Machine *m, const wl_node *node) noexcept nogil:
    """Enter the body that the string at hand has as base64."""
    cdef int64_t size = 0, count
    cdef const uint8_t *data = NULL
    cdef const uint8_t *text
    cdef uint8_t *body
    if m.opened == UNPACKED or node.kind != WL_TEXT:
        return IRREGULAR
    text = wl_text_of(&m.json, node, &size)
    count = wl_from_base64(&m.json, text, size, False, True, &data)
    if count < 0:
        return IRREGULAR
    body = new_text(m, count + SLACK)
    if body == NULL:
        return EXHAUSTED
    memcpy(body, data, <size_t>count)
    enter_body(m, body, count, m.position)
    m.stop = m.end
    m.readable = m.end + SLACK
    return OK

cdef int json_body(Machine *m, const int64_t *i) noexcept nogil:
    """i: whether the head of a bin stands in front, containers as `json_document` has them. A body that is a text of JSON."""
    cdef int code = open_carried(m, i)
    cdef Around *around
    if code:
        return code
    around = m.around + m.opened - 1
    around.is_text, around.text = True, m.json
    m.json = m.within[m.opened - 1]
    m.keeps = True
    return json_document(m, i[2])


cdef inline void close_text(Machine *m, int level) noexcept nogil:
    """The nodes of what stands around a body are in force again."""
    cdef Around *around = m.around + level
    if around.is_text:
        m.within[level] = m.json
        m.json = around.text


cdef int leave_carried(Machine *m) noexcept nogil:
    """After a body, all of which must have been used."""
    cdef Around *around
    if m.opened == 0 or m.position != m.end or not m.around[m.opened - 1].is_body:
        return IRREGULAR
    m.opened -= 1
    around = m.around + m.opened
    close_text(m, m.opened)
    if around.position != NULL:
        write_all(&m.wait)
        m.position = around.position
    m.base, m.end, m.stop, m.overrun = around.base, around.end, around.stop, around.overrun
    m.readable, m.furthest, m.again, m.node = around.readable, around.furthest, around.again, around.node
    return OK


cdef void forget_unpacked(Machine *m) noexcept nogil:
    """What regions of the record before unpacked to is needed no more, and no body is open."""
    while m.opened:
        m.opened -= 1
        close_text(m, m.opened)
    if m.kept != NULL:
        write_all(&m.wait)
        with gil:
            Py_DECREF(<object>m.kept)
            m.kept = NULL

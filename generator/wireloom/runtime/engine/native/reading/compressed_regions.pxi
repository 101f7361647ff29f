# Regions that are compressed or encoded as text.
#
# The machine takes the GIL, calls Python's library, and reads the result like a record; then it continues after the
# region. `Around` saves the state before. The decompressed bytes stay until the next record begins, since expressions
# may use texts in them; columns have copies of their own.

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.ref cimport Py_DECREF, Py_INCREF

from wireloom.runtime.primitives.packing import ALWAYS as _ALWAYS, NAMES as _CODECS, packed_at as _packed_at, unpacked_at as _unpacked_at

cdef int64_t CODEC_COUNT = len(_CODECS), UNPACKED_ALWAYS = _ALWAYS


cdef int fill_unpacked(Machine *m, int64_t codec, int64_t limit) noexcept nogil:
    """Decompress the rest of the region, and read the result in its place."""
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
    """i: codec, register of the codec (-1: none), the most bytes that a record may expand to, and in units of its own size"""
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
    """Leave a compressed region, all of which must have been read."""
    cdef Around *around
    if m.opened == 0 or m.position != m.end:
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


cdef void forget_unpacked(Machine *m) noexcept nogil:
    """Free the decompressed regions of the last record."""
    m.opened = 0
    if m.kept != NULL:
        write_all(&m.wait)
        with gil:
            Py_DECREF(<object>m.kept)
            m.kept = NULL

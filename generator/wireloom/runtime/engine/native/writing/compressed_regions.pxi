# Regions that are compressed or encoded as text. The region is first written as it is; then the machine takes the GIL,
# passes the bytes to Python's library, and replaces them by the result.

cdef int fill_packed(Builder *k, int64_t codec, int64_t start) noexcept nogil:
    """Replace the bytes from `start` on by their compressed form."""
    cdef int64_t size
    cdef const uint8_t *data
    cdef int code
    with gil:
        try:
            content = _packed_at(codec, PyBytes_FromStringAndSize(<const char *>(k.output.data + start), k.size - start))
            size = PyBytes_GET_SIZE(content)
            data = <const uint8_t *>PyBytes_AS_STRING(content)
            k.size = start
            code = put(k, data, size)
        except Exception:
            return IRREGULAR
    return code


cdef int pack_region(Builder *k, const int64_t *i) noexcept nogil:
    """i: register of the region's start, codec, register of the codec (-1: none)"""
    cdef int64_t codec = i[2], start = k.base + k.m.registers[i[1]]
    if i[3] >= 0:
        if k.m.absent[i[3]]:
            return IRREGULAR
        codec = k.m.registers[i[3]]
    if codec < 0 or codec >= CODEC_COUNT or start < k.base or start > k.size:
        return IRREGULAR
    return OK if codec == 0 else settle_written(k, start) or fill_packed(k, codec, start)

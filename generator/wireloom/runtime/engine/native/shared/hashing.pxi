# Digests of bytes. MD5 is our own, since many at once take a fraction of the time (reading/digest_queue.pxi). For all
# others, the machine takes the GIL and calls Python's hashlib.

from cpython.buffer cimport PyBUF_READ
from cpython.memoryview cimport PyMemoryView_FromMemory

from hashlib import sha1 as _sha1, sha256 as _sha256, sha512 as _sha512

DIGESTS = ("md5", "sha1", "sha256", "sha512")
"""The digests by their numbers, of which digests.py makes the words of programs."""

_HASHES = (None, None, _sha1, _sha256, _sha512)


cdef int write_digest(int64_t word, const uint8_t *data, int64_t size, uint8_t *target) noexcept nogil:
    """The digest of some bytes, as the record has it; they are not written over by it until it is known."""
    cdef uint8_t found[DIGEST_LONGEST]
    cdef int64_t names = word & 0xFFFF, n
    while names:
        if write_one(names & 15, data, size, found):
            return IRREGULAR
        data = found
        size = digest_sizes[names & 15]
        names >>= 4
    size = word >> 16 & 0xFF
    if not in_digits(word):
        memcpy(target, found, <size_t>size)
        return OK
    for n in range(size):
        target[2 * n], target[2 * n + 1] = b"0123456789abcdef"[found[n] >> 4], b"0123456789abcdef"[found[n] & 15]
    return OK


cdef int write_one(int64_t digest, const uint8_t *data, int64_t size, uint8_t *target) noexcept nogil:
    """One digest of some bytes, of which it may take the place."""
    cdef uint8_t made[16]
    if digest == DIGEST_MD5:
        wl_md5(data, size, made)
        memcpy(target, made, 16)
        return OK
    with gil:
        try:
            view = PyMemoryView_FromMemory(<char *>data, size, PyBUF_READ) if size else b""
            found = _HASHES[digest](view, usedforsecurity=False).digest()
            memcpy(target, PyBytes_AS_STRING(found), <size_t>PyBytes_GET_SIZE(found))
        except Exception:
            return IRREGULAR
    return OK

# Digests. MD5 is our own, since many at once take a fraction of the time (deferral.pxi); for the others the machine asks
# Python's library.

from cpython.buffer cimport PyBUF_READ
from cpython.memoryview cimport PyMemoryView_FromMemory

from hashlib import sha1 as _sha1, sha256 as _sha256

DIGESTS = ("md5", "sha1", "sha256", "md5 at once")
"""The digests by their numbers; of the first, those of several records may be checked or written together."""

cdef enum:
    DIGEST_MD5 = 0
    DIGEST_SHA1
    DIGEST_SHA256
    DIGEST_MD5_NOW
    DIGEST_COUNT
    DIGEST_LONGEST = 32

cdef int64_t[DIGEST_COUNT] digest_sizes = [16, 20, 32, 16]


cdef int write_digest(int64_t digest, const uint8_t *data, int64_t size, uint8_t *target) noexcept nogil:
    """The digest of some bytes, which are not written over by it until it is known."""
    if digest == DIGEST_MD5 or digest == DIGEST_MD5_NOW:
        wl_md5(data, size, target)
        return OK
    with gil:
        try:
            view = PyMemoryView_FromMemory(<char *>data, size, PyBUF_READ) if size else b""
            found = (_sha1 if digest == DIGEST_SHA1 else _sha256)(view, usedforsecurity=False).digest()
            memcpy(target, PyBytes_AS_STRING(found), <size_t>PyBytes_GET_SIZE(found))
        except Exception:
            return IRREGULAR
    return OK

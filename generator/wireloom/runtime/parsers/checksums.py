"""Checksums by name: CRCs by the parameters of the Rocksoft model, and the digests of hashlib.

A reflected 32-bit CRC with the usual polynomial is zlib's with another start and another end, so zlib computes it; the
other CRCs run over a table of 256 entries.
"""

import hashlib
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

_ZLIB_POLYNOMIAL = 0x04C11DB7
_DIGESTS: dict[str, Callable[[bytes], "hashlib._Hash"]] = {
    "md5": lambda data: hashlib.md5(data, usedforsecurity=False),
    "sha1": lambda data: hashlib.sha1(data, usedforsecurity=False),
    "sha256": hashlib.sha256,
}


def _reflect(value: int, width: int) -> int:
    """The bits of `value` in the opposite order."""
    return int(f"{value:0{width}b}"[::-1], 2)


@dataclass(frozen=True)
class Crc:
    """A CRC of 8 to 64 bits (Rocksoft model; input and output reflected or neither)."""

    width: int
    poly: int
    init: int
    xorout: int
    reflected: bool

    def __call__(self, data: bytes) -> int:
        """The checksum of `data`."""
        if self.width == 32 and self.reflected and self.poly == _ZLIB_POLYNOMIAL:
            register = _reflect(self.init, 32)
            return zlib.crc32(data, register ^ 0xFFFFFFFF) ^ 0xFFFFFFFF ^ self.xorout
        return self._by_table(data)

    @cached_property
    def _table(self) -> tuple[int, ...]:
        return tuple(self._entry(byte) for byte in range(256))

    def _entry(self, byte: int) -> int:
        mask = (1 << self.width) - 1
        if self.reflected:
            poly = _reflect(self.poly, self.width)
            for _ in range(8):
                byte = (byte >> 1) ^ (poly if byte & 1 else 0)
            return byte
        register = byte << (self.width - 8)
        for _ in range(8):
            register = ((register << 1) ^ (self.poly if register >> (self.width - 1) & 1 else 0)) & mask
        return register

    def _by_table(self, data: bytes) -> int:
        table, mask, shift = self._table, (1 << self.width) - 1, self.width - 8
        if self.reflected:
            register = _reflect(self.init, self.width)
            for byte in data:
                register = table[(register ^ byte) & 0xFF] ^ (register >> 8)
        else:
            register = self.init
            for byte in data:
                register = (table[((register >> shift) ^ byte) & 0xFF] ^ (register << 8)) & mask
        return register ^ self.xorout


def digest(name: str) -> Callable[[bytes], bytes]:
    """The digest of that name: md5, sha1 or sha256."""
    algorithm = _DIGESTS[name]
    return lambda data: algorithm(data).digest()

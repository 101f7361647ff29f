"""Checksums: CRCs by the parameters of the Rocksoft model, sums of bytes, and the digests of hashlib.

A reflected CRC of 32 bits with the usual polynomial is zlib's with another start and end value, so zlib computes it.
All other CRCs use a table of 256 entries.
"""

import hashlib
import operator
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, reduce

_ZLIB_POLYNOMIAL = 0x04C11DB7
_DIGESTS: dict[str, Callable[[bytes], "hashlib._Hash"]] = {
    "md5": lambda data: hashlib.md5(data, usedforsecurity=False),
    "sha1": lambda data: hashlib.sha1(data, usedforsecurity=False),
    "sha256": hashlib.sha256,
    "sha512": hashlib.sha512,
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


@dataclass(frozen=True)
class Sum:
    """A sum of bytes: `add`, `xor`, `fletcher` (two sums modulo `modulus`, the second in the high half), `internet`."""

    rule: str
    width: int
    init: int
    xorout: int
    modulus: int = 1

    def __call__(self, data: bytes) -> int:
        """The checksum of `data`."""
        mask = (1 << self.width) - 1
        match self.rule:
            case "add":
                found = (self.init + sum(data)) & mask
            case "xor":
                found = reduce(operator.xor, data, self.init)
            case "fletcher":
                found = self._fletcher(data)
            case _:
                found = self._internet(data)
        return found ^ self.xorout

    def _fletcher(self, data: bytes) -> int:
        first, second = self.init, 0
        for byte in data:
            first += byte
            second += first
        return second % self.modulus << self.width // 2 | first % self.modulus

    def _internet(self, data: bytes) -> int:
        """The complement of the ones' complement sum of big-endian byte pairs; an odd last byte is padded with zero."""
        total = self.init + (sum(data[::2]) << 8) + sum(data[1::2])
        while total >> 16:
            total = (total & 0xFFFF) + (total >> 16)
        return total ^ 0xFFFF


@dataclass(frozen=True)
class Digest:
    """The first `size` bytes of a chain of digests, each taken over the one before."""

    names: tuple[str, ...]
    size: int | None = None

    def __call__(self, data: bytes) -> bytes:
        """The digest of `data`."""
        for name in self.names:
            data = _DIGESTS[name](data).digest()
        return data[: self.size]


@dataclass(frozen=True)
class Digits:
    """A digest as lower-case hexadecimal digits."""

    digest: Digest

    def __call__(self, data: bytes) -> str:
        """The digits of the digest of `data`."""
        return self.digest(data).hex()


def digest(name: str) -> Digest:
    """The digest of that name: md5, sha1, sha256 or sha512."""
    return Digest((name,))

"""A strict reader of Databus events in a hundred lines, independent of Wireloom; it gives the error class of bytes.

The checks run in the order of the strict decoder that the format's description recommends: version, magic, header
length, header checksum (before any length that it covers is trusted), lengths, key, value checksum, attributes, parts.
"""

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

CAP = 524_288_000
_V2_MAGIC = 0xCAFEDEED
_REMOTE_ERROR = ord("{")


@dataclass(frozen=True, slots=True)
class Outcome:
    """`codes`: the possible error classes, none for a good event; `end`: where the next event begins, if known."""

    codes: tuple[str, ...]
    end: int | None = None


class _BadError(Exception):
    """An error class, with the event's end if it is already known."""

    def __init__(self, *codes: str, end: int | None = None) -> None:
        super().__init__(*codes)
        self.outcome = Outcome(codes, end)


def crc(data: bytes) -> int:
    """CRC-32 with zero as initial value and final xor."""
    return zlib.crc32(data, 0xFFFFFFFF) ^ 0xFFFFFFFF


def event(data: bytes, order: str) -> Outcome:
    """The outcome for the only event in `data`."""
    outcome = first_event(data, order)
    if not outcome.codes and outcome.end is not None and outcome.end < len(data):
        return Outcome(("trailing_bytes",))
    return outcome


def stream(data: bytes, order: str) -> Iterator[tuple[int, Outcome]]:
    """Offset and outcome of each event; if an end is unknown, the rest of the stream is one bad event."""
    offset: int | None = 0
    while offset is not None and offset < len(data):
        outcome = first_event(data[offset:], order)
        yield offset, outcome
        offset = None if outcome.end is None else offset + outcome.end


def first_event(data: bytes, order: str) -> Outcome:
    """The outcome for the first event in `data`."""
    try:
        return Outcome((), _Reader(data, "<" if order == "little" else ">").event())
    except _BadError as bad:
        return bad.outcome


@dataclass(frozen=True, slots=True)
class _Reader:
    data: bytes
    order: str

    def event(self) -> int:
        """The event's size; raises _BadError."""
        self.need(1)
        match self.data[0]:
            case 0:
                return self.version_1()
            case 2:
                return self.version_2()
            case n if n == _REMOTE_ERROR:
                raise _BadError("remote_error")
            case _:
                raise _BadError("bad_version")

    def need(self, size: int, end: int | None = None) -> None:
        if len(self.data) < size:
            raise _BadError("truncated", end=end)

    def number(self, kind: str, offset: int) -> int:
        return int(struct.unpack_from(self.order + kind, self.data, offset)[0])

    def version_1(self) -> int:
        self.need(11)
        byte_key = bool(self.number("H", 9) & 8)
        header = 57 if byte_key else 61
        self.need(header)
        if crc(self.data[5:header]) != self.number("I", 1):
            raise _BadError("header_crc")
        length = self.number("i", 5)
        if not header <= length <= CAP:
            raise _BadError("bad_length")
        if byte_key and not 0 <= self.number("i", 53) <= length - header:
            raise _BadError("bad_key_size")
        self.need(length)
        if crc(self.data[header:length]) != self.number("I", 49):
            raise _BadError("value_crc", end=length)
        return length

    def version_2(self) -> int:
        magic = self.data[1:5]
        wrong = struct.pack(self.order + "I", _V2_MAGIC)[: len(magic)] != magic
        if len(self.data) < 9:  # for short data, an already wrong magic is also right
            raise _BadError("truncated", *(("bad_magic",) if wrong and len(magic) == 4 else ()))
        if wrong:
            raise _BadError("bad_magic")
        header = self.number("i", 5)
        if not 49 <= header <= CAP:
            raise _BadError("bad_length")
        self.need(header)
        attributes = self.number("H", 21)
        key_type = attributes >> 2 & 3
        if header < {1: 53, 3: 55}.get(key_type, 49):
            raise _BadError("bad_length")
        if crc(self.data[13:header]) != self.number("I", 9):
            raise _BadError("header_crc")
        length = self.number("i", 17)
        if not header <= length <= CAP:
            raise _BadError("bad_length")
        self.check_key(key_type, header)
        self.need(length)
        if crc(self.data[header:length]) != self.number("I", 13):
            raise _BadError("value_crc", end=length)
        if key_type == 0 or attributes & 3 == 3:
            raise _BadError("bad_attributes", end=length)
        position = header
        for present in (attributes & 0x40, attributes & 0x80):
            if present:
                position = self.part_end(position, length, "bad_part", end=length)
        if position != length:
            raise _BadError("bad_part", end=length)
        return length

    def check_key(self, key_type: int, header: int) -> None:
        if (key_type == 1 and header != 53) or (key_type == 2 and self.number("i", 45) != header - 49):
            raise _BadError("bad_key_size")
        if key_type == 3 and self.part_end(45, header, "bad_key_size", "bad_part") != header:
            raise _BadError("bad_key_size")

    def part_end(self, start: int, limit: int, *codes: str, end: int | None = None) -> int:
        if limit - start < 6:
            raise _BadError(*codes, end=end)
        size, attributes = self.number("i", start), self.number("H", start + 4)
        digest = {0: 16, 1: 4}.get(attributes & 3)
        if size < 0 or digest is None or start + 6 + digest + size > limit:
            raise _BadError(*codes, end=end)
        return start + 6 + digest + size

"""A Databus V1 reader in the style of Kaitai Struct: reads in order, on a stream written here and on Kaitai's own."""

import struct
import zlib
from collections.abc import Callable, Sequence
from io import BytesIO
from typing import Any

import pyarrow as pa

FIELDS = (
    *("version", "headerCrc", "length", "attributes", "sequence", "physicalPartitionId", "logicalPartitionId"),
    *("timestampInNanos", "srcId", "schemaId", "valueCrc", "key"),
)


class Stream:
    """The stream functions that the reader needs."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def _take(self, size: int) -> bytes:
        found = self._data[self._at : self._at + size]
        if len(found) < size:
            raise EOFError(f"{size} bytes wanted, {len(found)} there")
        self._at += size
        return found

    def read_s1(self) -> int:
        """A signed byte."""
        return int(struct.unpack(">b", self._take(1))[0])

    def read_u2be(self) -> int:
        """An unsigned number of two bytes."""
        return int(struct.unpack(">H", self._take(2))[0])

    def read_s2be(self) -> int:
        """A signed number of two bytes."""
        return int(struct.unpack(">h", self._take(2))[0])

    def read_u4be(self) -> int:
        """An unsigned number of four bytes."""
        return int(struct.unpack(">I", self._take(4))[0])

    def read_s4be(self) -> int:
        """A signed number of four bytes."""
        return int(struct.unpack(">i", self._take(4))[0])

    def read_s8be(self) -> int:
        """A signed number of eight bytes."""
        return int(struct.unpack(">q", self._take(8))[0])

    def read_bytes(self, size: int) -> bytes:
        """So many bytes."""
        return self._take(size)


class Event:
    """An event as in a reader from Kaitai's compiler. As there, the caller must check checksums."""

    def __init__(self, io: Any) -> None:
        self.version = io.read_s1()
        if self.version != 0:
            raise ValueError(self.version)
        self.headerCrc = io.read_u4be()
        self.length = io.read_s4be()
        self.attributes = io.read_u2be()
        self.sequence = io.read_s8be()
        self.physicalPartitionId = io.read_s2be()
        self.logicalPartitionId = io.read_s2be()
        self.timestampInNanos = io.read_s8be()
        self.srcId = io.read_s2be()
        self.schemaId = io.read_bytes(16)
        self.valueCrc = io.read_u4be()
        self.key = io.read_s8be()
        self.value = io.read_bytes(self.length - 61)


def kaitai(events: Sequence[bytes]) -> pa.RecordBatch:
    """On Kaitai's runtime."""
    from kaitaistruct import KaitaiStream

    return _read(events, lambda data: KaitaiStream(BytesIO(data)))


def written(events: Sequence[bytes]) -> pa.RecordBatch:
    """On the stream above."""
    return _read(events, Stream)


def _read(events: Sequence[bytes], stream: Callable[[bytes], Any]) -> pa.RecordBatch:
    rows = []
    for data in events:
        event = Event(stream(data))
        if _crc(data[5:61]) != event.headerCrc or _crc(data[61:]) != event.valueCrc:
            raise ValueError("crc")
        rows.append(event)
    names = [*FIELDS, "value"]
    return pa.RecordBatch.from_arrays([pa.array([getattr(row, name) for row in rows]) for name in names], names)


def _crc(data: bytes) -> int:
    return zlib.crc32(data, 0xFFFFFFFF) ^ 0xFFFFFFFF

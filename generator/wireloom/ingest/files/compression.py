"""Decompresses files piece by piece, with a limit on the size of the result.

The compression is detected from the first bytes of a file, or else from its name. If the data are damaged, truncated or
beyond the limit, the result ends there and `failure` has the reason. The data before that point are still used.
"""

import bz2
import io
import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, BinaryIO

import pyarrow as pa

from wireloom.ingest.plan import AUTO, CODES, DECOMPRESSION, EXPANDED, EXPANSION
from wireloom.runtime import engine
from wireloom.runtime.errors import DecodeError
from wireloom.runtime.parsers.checksums import Crc

HEAD = 20
"""Number of first bytes that show the compression of a file."""
PIECE = 1 << 14
"""Bytes that are decompressed at once; if a piece is damaged, all of it is lost."""
BITE = 1 << 12
"""Bytes that are fed to a decompressor at once, so that the offset of damage in the file is known."""
ALWAYS = 64 << 20
"""Decompressed bytes that are allowed for any file."""

_NAMES = {
    ".gz": "gzip",
    ".gzip": "gzip",
    ".zst": "zstd",
    ".zstd": "zstd",
    ".bz2": "bzip2",
    ".lz4": "lz4",
    ".sz": "snappy",
    ".snappy": "snappy",
}
_GZIP = 16 + zlib.MAX_WBITS
_SNAPPY = b"\xff\x06\x00\x00sNaPpY"


def compression_of(head: bytes, name: str) -> str | None:
    """The compression of a file by its first HEAD bytes and its name; None if it is not compressed."""
    found = _by_magic(head)
    return found or (next((kind for end, kind in _NAMES.items() if name.lower().endswith(end)), None) if head else None)


def _by_magic(head: bytes) -> str | None:
    match head:
        case _ if head[:3] == b"\x1f\x8b\x08" and head[3:4] < b"\x20":  # the other flag bits are reserved
            return "gzip"
        case _ if head[:4] == b"\x28\xb5\x2f\xfd":
            return "zstd"
        case _ if head[:3] == b"BZh" and head[4:10] in (b"1AY&SY", b"\x17\x72\x45\x38\x50\x90"):
            return "bzip2"
        case _ if head[:4] == b"\x04\x22\x4d\x18":
            return "lz4"
        case _ if head[:10] == _SNAPPY:
            return "snappy"
        case _:
            return None


@dataclass(frozen=True, slots=True)
class Bounds:
    """Whether to decompress files (`auto`, `none`), and how many times its size a compressed file may become."""

    compression: str = AUTO
    expansion: int = EXPANDED


def plain(source: BinaryIO, again: Callable[[], BinaryIO], name: str, bounds: Bounds) -> "BinaryIO | Unpacked":
    """The file, or its decompressed content; `again` opens the file once more. The file must be at its start."""
    if bounds.compression != AUTO:
        return source
    kind = compression_of(source.read(HEAD), name)
    source.seek(0)
    return source if kind is None else Unpacked(_Expanding(source, again, kind, bounds.expansion))


class Unpacked(io.BufferedReader):
    """The decompressed content of a file. Seeking back decompresses it again from the start."""

    raw: "_Expanding"

    def __init__(self, raw: "_Expanding") -> None:
        super().__init__(raw, PIECE)

    @property
    def failure(self) -> DecodeError | None:
        """Why the content ends too early; None if it does not."""
        return self.raw.failure

    @property
    def reached(self) -> int:
        """The number of decompressed bytes read so far."""
        return self.raw.position

    @property
    def consumed(self) -> int:
        """The number of compressed bytes read so far."""
        return self.raw.consumed


class _Expanding(io.RawIOBase):
    """The decompressed bytes of a file."""

    def __init__(self, source: BinaryIO, again: Callable[[], BinaryIO], kind: str, expansion: int) -> None:
        self._again, self._kind, self._expansion = again, kind, expansion
        self._begin(source)

    def _begin(self, source: BinaryIO) -> None:
        self._source, self._left = source, b""
        self._pieces = _PIECES[self._kind](source)
        self.position, self.consumed, self.failure = 0, 0, None

    failure: DecodeError | None
    position: int
    consumed: int
    """Bytes of the file that went into the pieces so far."""

    def readable(self) -> bool:
        """Always true."""
        return True

    def seekable(self) -> bool:
        """Always true, but seeking back is slow."""
        return True

    def tell(self) -> int:
        """The number of decompressed bytes read so far."""
        return self.position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move to an offset; moving to the end decompresses everything."""
        if whence == io.SEEK_END:
            self._pass(None)
            offset += self.position
        elif whence == io.SEEK_CUR:
            offset += self.position
        if offset < self.position:
            self._source.close()
            self._begin(self._again())
        self._pass(offset)
        return self.position

    def _pass(self, target: int | None) -> None:
        while (target is None or self.position < target) and self._filled():
            count = len(self._left) if target is None else min(len(self._left), target - self.position)
            self._taken(count)

    def readinto(self, buffer: Any) -> int:
        """Read the next bytes into a buffer."""
        if not self._filled():
            return 0
        piece = self._taken(len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)

    def _taken(self, count: int) -> bytes:
        piece, self._left = self._left[:count], self._left[count:]
        self.position += len(piece)
        return piece

    def _filled(self) -> bool:
        """Whether more bytes are available; decompresses the next piece if necessary."""
        while not self._left and self.failure is None:
            try:
                piece = next(self._pieces, b"")
            except (OSError, ValueError, EOFError, zlib.error) as error:
                self._fail(DECOMPRESSION, f"{self._kind} data", _first_line(error))
                break
            if not piece:
                break
            here = self._source.tell()
            if self.position + len(piece) > max(self._expansion * here, ALWAYS):
                expected = f"{self._kind} data that become at most {self._expansion} times as many bytes"
                self._fail(EXPANSION, expected, f"more from {here} bytes")
                break
            self._left, self.consumed = piece, here
        return bool(self._left)

    def _fail(self, code: str, expected: str, actual: str) -> None:
        self.failure = DecodeError(code, offset=0, expected=expected, actual=actual, meaning=CODES[code])

    def close(self) -> None:
        """Close the file as well."""
        if not self.closed:
            self._source.close()
        super().close()


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


# --- concatenated members, with zero padding at the end ------------------------------------------------------------


def _members(source: BinaryIO, member: "Callable[[], _Inflating | bz2.BZ2Decompressor]") -> Iterator[bytes]:
    """The content of all members. Zero bytes after a member are padding, as for gzip and bzip2."""
    data = source.read(BITE)
    while data:
        current = member()
        while True:
            piece = current.decompress(data, PIECE)
            if current.eof:
                source.seek(-len(current.unused_data), io.SEEK_CUR)  # so that `tell` gives the end of the member
            if piece:
                yield piece
            if current.eof:
                break
            data = source.read(BITE) if current.needs_input else b""
            if current.needs_input and not data:
                raise EOFError("the end of the file, before that of its data")
        while (data := source.read(BITE)) and not data.strip(b"\0"):
            pass
        data = data.lstrip(b"\0")


class _Inflating:
    """A decompressor for one gzip member, with the interface of `bz2.BZ2Decompressor`."""

    def __init__(self) -> None:
        self._inflating = zlib.decompressobj(_GZIP)

    @property
    def eof(self) -> bool:
        """Whether the member has ended."""
        return self._inflating.eof

    @property
    def needs_input(self) -> bool:
        """Whether all given data are decompressed."""
        return not self._inflating.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        """The given data after the end of the member."""
        return self._inflating.unused_data

    def decompress(self, data: bytes, most: int) -> bytes:
        """Decompress at most `most` bytes of the data given before and now."""
        return self._inflating.decompress(self._inflating.unconsumed_tail + data, most)


# --- formats that Arrow decompresses -------------------------------------------------------------------------------


class _Shared:
    """A file that Arrow reads in small pieces and does not close."""

    closed = False

    def __init__(self, source: BinaryIO) -> None:
        self._source = source

    def read(self, size: int) -> bytes:
        """Some bytes; none at the end."""
        return self._source.read(min(size, BITE))

    def close(self) -> None:
        """Do nothing."""


def _by_arrow(source: BinaryIO, codec: str) -> Iterator[bytes]:
    stream = pa.CompressedInputStream(pa.PythonFile(_Shared(source), mode="r"), codec)
    while piece := stream.read_buffer(PIECE).to_pybytes():  # `read` leaks memory on errors
        yield piece


# --- snappy's framing: https://github.com/google/snappy/blob/main/framing_format.txt -------------------------------

_CRC32C = Crc(width=32, poly=0x1EDC6F41, init=0xFFFFFFFF, xorout=0xFFFFFFFF, reflected=True)
_COMPRESSED, _PLAIN, _BEGINNING, _PADDING = 0x00, 0x01, 0xFF, 0xFE
_SKIPPABLE = 0x80
_BLOCK = 65536
"""Most bytes in a chunk, by the format."""


def _snappy(source: BinaryIO) -> Iterator[bytes]:
    """Decompress chunks, each of a type, a three-byte size and a body; raises ValueError for bad data."""
    if source.read(len(_SNAPPY)) != _SNAPPY:
        raise ValueError("a file that does not begin as one")
    while head := source.read(4):
        kind, size = head[0], int.from_bytes(head[1:], "little")
        if len(head) < 4:
            raise ValueError("a chunk without its size")
        body = source.read(size)
        if len(body) < size:
            raise ValueError(f"a chunk of {size} bytes that is cut off")
        if kind in (_COMPRESSED, _PLAIN):
            yield from _block(kind, body)
        elif kind == _BEGINNING:
            if head + body != _SNAPPY:
                raise ValueError("a stream identifier that is none")
        elif kind < _SKIPPABLE:
            raise ValueError(f"a chunk of the unknown type 0x{kind:02x}")


def _block(kind: int, body: bytes) -> Iterator[bytes]:
    if len(body) < 4:
        raise ValueError("a chunk without its checksum")
    (stored,) = struct.unpack("<I", body[:4])
    data = body[4:] if kind == _PLAIN else _uncompressed(body[4:])
    if len(data) > _BLOCK:
        raise ValueError(f"a chunk of {len(data)} bytes, which are at most {_BLOCK}")
    actual = _crc32c(data)
    if ((actual >> 15 | actual << 17) + 0xA282EAD8) & 0xFFFFFFFF != stored:
        raise ValueError("a chunk whose checksum does not match")
    if data:
        yield data


def _uncompressed(block: bytes) -> bytes:
    size = shift = at = 0
    while at < min(len(block), 5):  # the uncompressed size comes first, 7 bits per byte
        size |= (block[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
        if block[at - 1] < 0x80:
            break
    if size > _BLOCK:
        raise ValueError(f"a chunk of {size} bytes, which are at most {_BLOCK}")
    return bytes(pa.decompress(block, size, "snappy", asbytes=True)) if size else b""


def _crc32c(data: bytes) -> int:
    if not engine.available():
        return _CRC32C(data)
    parameters = _CRC32C.width, _CRC32C.poly, _CRC32C.init, _CRC32C.xorout, _CRC32C.reflected
    return int(engine.module().crc_value(parameters, data))


_PIECES: dict[str, Callable[[BinaryIO], Iterator[bytes]]] = {
    "gzip": partial(_members, member=_Inflating),
    "zstd": partial(_by_arrow, codec="zstd"),
    "bzip2": partial(_members, member=bz2.BZ2Decompressor),
    "lz4": partial(_by_arrow, codec="lz4"),
    "snappy": _snappy,
}
"""Decompressors, piece by piece; bad data raise OSError, ValueError, EOFError or zlib.error."""

"""Codecs of regions: bytes that are compressed or written as text, and unpacked within a limit.

If a codec allows several results, one is fixed here, so that equal content gives equal bytes: gzip, zlib and deflate at
level 6, gzip without name and time; zstd at level 3; xerial's snappy in blocks of 32 KiB. Unpacking stops one byte
after the limit.
"""

import base64
import re
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

from wireloom.runtime.primitives import leb128

ALWAYS = 1 << 20  # bytes that any record may unpack to
UNBOUNDED = (1 << 63) - 2  # codecs are asked for one more, which is zlib's maximum
_LEVEL, _ZSTD_LEVEL = 6, 3
_CHUNK = 1 << 20  # bytes requested at once
_RAW, _ZLIB, _GZIP = -15, 15, 31  # zlib's `wbits` for its three framings
_XERIAL = b"\x82SNAPPY\x00" + struct.pack(">ii", 1, 1)
_XERIAL_MAGIC, _XERIAL_HEAD, _XERIAL_BLOCK = _XERIAL[:8], len(_XERIAL), 1 << 15
_HEXADECIMAL = re.compile(rb"(?:[0-9A-Fa-f]{2})*")
_SNAPPY_SIZE = 32  # bits of the size before a raw snappy block
_SNAPPY_RATIO = 32  # the most that raw snappy expands; a block that claims more is damaged


class PackingError(ValueError):
    """Bytes that the codec cannot unpack."""


class ExpansionError(ValueError):
    """The unpacked bytes exceed the limit."""


@dataclass(frozen=True, slots=True)
class Codec:
    """A codec's functions to pack and unpack; `unpack` also gets the limit on unpacked bytes."""

    pack: Callable[[bytes], bytes]
    unpack: Callable[[bytes, int], bytes]
    damaged: str = "bad_compression"  # the error code of bytes that it cannot unpack


def packed(name: str, content: bytes) -> bytes:
    """The packed form of `content`."""
    return CODECS[name].pack(content)


def unpacked(name: str, data: bytes, limit: int = UNBOUNDED) -> bytes:
    """The content of packed bytes; raises PackingError, or ExpansionError above `limit` bytes."""
    content = CODECS[name].unpack(data, min(limit, UNBOUNDED))
    if len(content) > limit:
        raise ExpansionError
    return content


def unpacked_at(place: int, data: bytes, limit: int) -> bytes | None:
    """`unpacked` for the engine, which knows codecs by index; None if it fails, as the parser finds the reason."""
    try:
        return unpacked(NAMES[place], data, limit)
    except (PackingError, ExpansionError):
        return None


def packed_at(place: int, content: bytes) -> bytes:
    """`packed` for the engine, which knows codecs by index."""
    return packed(NAMES[place], content)


# --- zlib ----------------------------------------------------------------------------------------------------------


def _deflated(window: int, content: bytes) -> bytes:
    deflating = zlib.compressobj(_LEVEL, zlib.DEFLATED, window)
    return deflating.compress(content) + deflating.flush()


def _inflated(window: int, data: bytes, limit: int) -> bytes:
    """Unpack one stream; for gzip, any number of members one after another."""
    parts, left, rest = list[bytes](), limit + 1, data
    while True:
        inflating = zlib.decompressobj(window)
        try:
            part = inflating.decompress(rest, left)
        except zlib.error as error:
            raise PackingError(str(error)) from None
        parts.append(part)
        left -= len(part)
        if left <= 0:
            raise ExpansionError
        if not inflating.eof:
            raise PackingError("it is cut off")
        rest = inflating.unused_data
        if not rest:
            return b"".join(parts)
        if window != _GZIP:
            raise PackingError(f"{len(rest)} bytes after its end")


# --- codecs of pyarrow ---------------------------------------------------------------------------------------------


def _streamed(name: str, data: bytes, limit: int) -> bytes:
    import pyarrow as pa

    if not data:
        raise PackingError("no bytes at all")
    parts, left = list[bytes](), limit + 1
    try:
        with pa.input_stream(pa.py_buffer(data), compression=name) as stream:
            while left > 0 and (part := stream.read_buffer(min(left, _CHUNK)).to_pybytes()):  # `read` leaks on errors
                parts.append(part)
                left -= len(part)
    except OSError as error:
        raise PackingError(str(error)) from None
    return b"".join(parts)


def _compressed(name: str, content: bytes) -> bytes:
    import pyarrow as pa

    level = _ZSTD_LEVEL if name == "zstd" else None
    return bytes(pa.Codec(name, compression_level=level).compress(content, asbytes=True))


# --- snappy --------------------------------------------------------------------------------------------------------


def _snappy(data: bytes, limit: int) -> bytes:
    """Unpack a raw block, which begins with its unpacked size."""
    import pyarrow as pa

    found = leb128.decoded(data, 0, len(data), 5)
    if found is None or found[0] >> _SNAPPY_SIZE:
        raise PackingError("a size of more than 32 bits")
    size = found[0]
    if size > limit:
        raise ExpansionError
    if size > _SNAPPY_RATIO * len(data):
        raise PackingError(f"{len(data)} bytes that claim to unpack to {size}")
    try:
        return bytes(pa.Codec("snappy").decompress(data, decompressed_size=size, asbytes=True))
    except OSError as error:
        raise PackingError(str(error)) from None


def _xerial(data: bytes, limit: int) -> bytes:
    """Unpack blocks with their sizes after a header, as snappy-java writes them; without the header, one raw block."""
    if not data.startswith(_XERIAL_MAGIC):
        return _snappy(data, limit)
    if len(data) < _XERIAL_HEAD:
        raise PackingError("a header that is cut off")
    parts, left = list[bytes](), limit
    for block in _blocks(data):
        parts.append(_snappy(block, left))
        left -= len(parts[-1])
    return b"".join(parts)


def _blocks(data: bytes) -> Iterator[bytes]:
    at = _XERIAL_HEAD
    while at < len(data):
        size = int.from_bytes(data[at : at + 4], "big")
        if at + 4 + size > len(data):
            raise PackingError("a block that is cut off")
        yield data[at + 4 : at + 4 + size]
        at += 4 + size


def _in_blocks(content: bytes) -> bytes:
    parts = [_XERIAL]
    for at in range(0, len(content), _XERIAL_BLOCK):
        block = _compressed("snappy", content[at : at + _XERIAL_BLOCK])
        parts += [len(block).to_bytes(4, "big"), block]
    return b"".join(parts)


# --- text ----------------------------------------------------------------------------------------------------------


def _from_base64(data: bytes, limit: int) -> bytes:
    if len(data) // 4 * 3 > limit + 2:
        raise ExpansionError
    try:
        return said_in_base64(data)
    except ValueError as error:
        raise PackingError(str(error)) from None


BASE64 = "canonical base64 text with padding"
"""The expected text in error messages."""


def said_in_base64(text: str | bytes) -> bytes:
    """The bytes of a base64 text; raises ValueError if the text is not canonical."""
    content = base64.b64decode(text, validate=True)
    if base64.b64encode(content) != (text.encode("ascii") if isinstance(text, str) else text):
        raise ValueError("bits after its end")
    return content


def _from_hexadecimal(data: bytes, limit: int) -> bytes:
    if len(data) // 2 > limit:
        raise ExpansionError
    if not _HEXADECIMAL.fullmatch(data):
        raise PackingError("not pairs of hexadecimal digits")
    return bytes.fromhex(data.decode("ascii"))


def _to_hexadecimal(content: bytes) -> bytes:
    return content.hex().encode("ascii")


def _to_capitals(content: bytes) -> bytes:
    return _to_hexadecimal(content).upper()


CODECS: Mapping[str, Codec] = MappingProxyType(
    {
        "none": Codec(bytes, lambda data, _: data),
        "gzip": Codec(partial(_deflated, _GZIP), partial(_inflated, _GZIP)),
        "zlib": Codec(partial(_deflated, _ZLIB), partial(_inflated, _ZLIB)),
        "deflate": Codec(partial(_deflated, _RAW), partial(_inflated, _RAW)),
        "zstd": Codec(partial(_compressed, "zstd"), partial(_streamed, "zstd")),
        "lz4": Codec(partial(_compressed, "lz4"), partial(_streamed, "lz4")),
        "snappy": Codec(partial(_compressed, "snappy"), _snappy),
        "xerial": Codec(_in_blocks, _xerial),
        "base64": Codec(base64.b64encode, _from_base64, "bad_base64"),
        "hex": Codec(_to_hexadecimal, _from_hexadecimal, "bad_hex"),
        "HEX": Codec(_to_capitals, _from_hexadecimal, "bad_hex"),
    }
)
"""The codecs by name; `none` is the bytes themselves."""
NAMES = tuple(CODECS)

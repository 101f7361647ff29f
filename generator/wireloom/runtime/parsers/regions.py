"""Regions whose bytes are compressed, or written as text: the content is read from the unpacked bytes.

The tag, if there is one, selects the codec. The content must use all unpacked bytes. An error inside has the offset of
the region, since unpacked bytes have no offset in the record. The unpacked size is bounded.
"""

import io
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any

from construct import Container

from wireloom.runtime.cursor import Cursor
from wireloom.runtime.errors import DecodeError, EncodeError, shown
from wireloom.runtime.expressions import PositionPendingError
from wireloom.runtime.parsers.protocol import Expression, Scalar, evaluate, guess, same
from wireloom.runtime.primitives.packing import CODECS, UNBOUNDED, ExpansionError, PackingError, packed, unpacked

_PLAIN = "none"


@dataclass(frozen=True)
class Packing:
    """The codec of a region, selected by a tag; without a tag, it is the case of null."""

    cases: Mapping[Scalar, str]
    tag: Expression | None = None
    _: KW_ONLY
    code: str = ""
    unknown: str = "unknown_case"

    def parse(self, subcon: Any, stream: Cursor, scope: Container) -> Any:
        """Read `subcon` from the rest of the region, unpacked; it must use all of it."""
        start = stream.tell()
        tag = None if self.tag is None else evaluate(self.tag, scope)
        codec = self._codec(tag)
        if codec is None:
            raise DecodeError(self.unknown, offset=start, expected="a known codec", actual=shown(tag))
        if codec == _PLAIN:
            return subcon._parse(stream, scope, "")
        inner = self._opened(codec, stream, start, scope)
        inner.overrun, inner.keeps_open, inner.retried = stream.overrun, stream.keeps_open, stream.retried
        inner.is_unpacked = True
        try:
            with inner.region(inner.left, stream.overrun):
                return subcon._parse(inner, scope, "")
        except DecodeError as error:
            error.offset, error.cut_off, error.frame_end, error.frame_size = start, False, None, None
            raise

    def _codec(self, tag: Any) -> str | None:
        return next((codec for value, codec in self.cases.items() if same(value, tag)), None)

    def _opened(self, codec: str, stream: Cursor, start: int, scope: Container) -> Cursor:
        """The rest of the region, unpacked; its size counts as expansion of the record."""
        expansion, data, limit, name = scope._params.get("_expansion"), stream.take(stream.left), UNBOUNDED, ""
        if expansion is not None:  # None when built bytes are read back
            limit, name = expansion.allowed(len(data), nested=stream.is_unpacked)
        try:
            content = unpacked(codec, data, limit)
        except ExpansionError:
            expected = f"at most {limit} bytes unpacked (`limits: {{{name}: ...}}` in the spec allows more)"
            raise DecodeError("size_limit", offset=start, expected=expected, actual="more") from None
        except PackingError as error:
            code = self.code or CODECS[codec].damaged
            raise DecodeError(code, offset=start, expected=f"bytes of {codec}", actual=str(error)) from None
        if expansion is not None:
            expansion.unpack(len(content))
        return Cursor(content)

    def build(self, subcon: Any, value: Any, stream: Any, scope: Container) -> None:
        """Write the bytes of the value, packed."""
        codec = self._codec_to_build(scope)
        body = io.BytesIO()
        subcon._build(value, body, scope, "")
        stream.write(packed(codec, body.getvalue()))

    def _codec_to_build(self, scope: Container) -> str:
        """The codec; in a first pass, the first one if the tag is not known yet."""
        try:
            tag = None if self.tag is None else evaluate(self.tag, scope)
        except PositionPendingError:
            guess(scope)
            return next(iter(self.cases.values()))
        codec = self._codec(tag)
        if codec is None:
            raise EncodeError("a known codec", shown(tag))
        return codec

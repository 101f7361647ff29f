"""MessagePack values of several types: nil or a value, and alternatives told apart by family.

The first byte decides, so no alternative is tried. When building, the kind of the Python value decides.
"""

from collections.abc import Mapping
from typing import Any

import construct
from construct import Container

from wireloom.runtime.errors import DecodeError, EncodeError, shown
from wireloom.runtime.parsers.msgpack.containers import Entries
from wireloom.runtime.parsers.msgpack.heads import WORDS, family_at, head_of
from wireloom.runtime.parsers.msgpack.open_bytes import kept, write_kept
from wireloom.runtime.parsers.msgpack.scalars import Extension
from wireloom.runtime.values import OpenBytes

_KINDS = {
    **{kind: kind for kind in ("bool", "int", "float", "str", "map")},
    "nil": "null",
    "bin": "bytes",
    "array": "list",
}
"""The name of each family in the names of alternatives."""


class Nullable(construct.Construct):
    """nil, or a value of the type."""

    nullable = True

    def __init__(self, subcon: Any) -> None:
        super().__init__()
        self.subcon = subcon

    def _parse(self, stream: Any, context: Container, path: str) -> Any:
        start = stream.tell()
        if stream.take(1) == b"\xc0":
            return None
        stream.seek(start)
        return self.subcon._parse(stream, context, path)

    def fits(self, obj: object) -> bool:
        """Whether a Python value is null or belongs to the type."""
        return obj is None or bool(self.subcon.fits(obj))

    def _build(self, obj: Any, stream: Any, context: Container, path: str) -> Any:
        if obj is None:
            stream.write(b"\xc0")
        else:
            self.subcon._build(obj, stream, context, path)
        return obj


class OneOf(construct.Construct):
    """Alternatives told apart by family; an unknown ext type code is `extension_code`. `open` ones are recursive."""

    def __init__(
        self,
        alternatives: Mapping[str, Any],
        code: str = "type_mismatch",
        extension_code: str = "type_mismatch",
        *,
        open: bool = False,
    ) -> None:
        super().__init__()
        self.open = open
        self.code, self.extension_code = code, extension_code
        self.alternatives = dict(alternatives)
        self._families = {
            subcon.family: subcon for subcon in alternatives.values() if not isinstance(subcon, Extension)
        }
        self._extensions = {subcon.code: subcon for subcon in alternatives.values() if isinstance(subcon, Extension)}

    def _parse(self, stream: Any, context: Container, path: str) -> Any:
        if not self.open:
            return self._value(stream, context, path)
        return kept(stream, stream.tell(), lambda: self._value(stream, context, path))

    def _value(self, stream: Any, context: Container, path: str) -> Any:
        family, first, start = family_at(stream)
        if family == "ext" and self._extensions:
            head = head_of(stream, family, first, start)
            subcon = self._extensions.get(head.code)
            if subcon is None:
                known = ", ".join(str(code) for code in self._extensions)
                raise DecodeError(
                    self.extension_code, offset=start, expected=f"ext type {known}", actual=f"ext type {head.code}"
                )
            return subcon.parse_head(stream, head, context)
        subcon = self._families.get(family)
        if subcon is None:
            raise DecodeError(
                self.code, offset=start, expected="one of " + ", ".join(self.alternatives), actual=WORDS[family]
            )
        if not hasattr(subcon, "parse_head"):
            stream.seek(start)
            return subcon._parse(stream, context, path)
        return subcon.parse_head(stream, head_of(stream, family, first, start), context)

    def fits(self, obj: object) -> bool:
        """Whether a Python value belongs to one of the alternatives."""
        return (self.open and isinstance(obj, OpenBytes)) or any(
            subcon.fits(obj) for subcon in self.alternatives.values()
        )

    def _build(self, obj: Any, stream: Any, context: Container, path: str) -> Any:
        if self.open and isinstance(obj, OpenBytes):
            write_kept(self, obj, stream, context)
            return obj
        for subcon in self.alternatives.values():
            if subcon.fits(obj):
                subcon._build(obj, stream, context, path)
                return obj
        kinds = dict.fromkeys(_kind_of(subcon) for subcon in self.alternatives.values())
        raise EncodeError("one of " + ", ".join(kinds), shown(obj))


def _kind_of(subcon: Any) -> str:
    """The kind of an alternative's values for a message; an ext type has the kind of its content."""
    if isinstance(subcon, Extension):
        return _kind_of(subcon.content)
    return "map" if isinstance(subcon, Entries) else _KINDS[subcon.family]

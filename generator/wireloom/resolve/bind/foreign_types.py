"""Hints for unknown types: what other languages call a type, and how this language writes it.

Authors copy hints literally, so each keeps the sign, the width and the byte order that the foreign name implies.
"""

import re
from collections.abc import Iterable

from wireloom.encodings import Encoding
from wireloom.problems import nearest, words_for
from wireloom.resolve.bind import builtins

_OTHER_WORDS = words_for(
    {
        "str": "string text",
        "str(1)": "char",
        "bool": "boolean",
        "uint8": "byte uchar",
        "bit": "uint1 int1",
        "uint32": "uint dword",
        "int16": "short",
        "int64": "long",
        "int": "integer",
        "float64": "double real",
        "float": "number",
        "bytes": "binary blob",
        "list(TYPE)": "array repeated vector",
        "map(KEY, VALUE)": "dict object",
        "varint64": "varint leb128 uleb128 uleb64 leb64",
        "{type: uint32, wire: fixed}": "fixed32",
        "{type: uint64, wire: fixed}": "fixed64",
        "{type: int32, wire: fixed}": "sfixed32",
        "{type: int64, wire: fixed}": "sfixed64",
        "sleb64": "sleb128",
        "vlq64": "vlq",
        "uint16": "word ushort",
        "uint64": "qword ulong",
        "float16": "half",
        "float32": "single",
        "varint32": "uleb32 leb32",
        "{type: str, logical: date}, or {type: int32, logical: date}": "date",
        "{type: str, logical: timestamp}, or {type: int64, logical: {timestamp: ms}}": "timestamp datetime",
        "{type: bytes(16), logical: uuid}": "uuid",
        "{type: bytes(4), logical: ipv4}": "ipv4",
        "{type: bytes(16), logical: ipv6}": "ipv6",
        "{type: int64, scale: 0.01}, or {type: str, logical: 'decimal(10, 2)'}": "decimal",
        "nil": "none null",
    }
)
_NUMBER = re.compile(r"(u?int|[uisf]|float)([1-9][0-9]{0,3})(_t)?_?(le|be)?", re.IGNORECASE)
_SINT_OF = re.compile(r"sint(32|64)", re.IGNORECASE)
_FIXED = re.compile(r"s?fixed(32|64)", re.IGNORECASE)
_KINDS = {"u": "uint", "i": "int", "s": "int", "f": "float"}
_ORDERS = {"le": "little", "be": "big"}
_WIDEST = 64
_BYTE = 8
_NEAR_OWN = 0.75


def hint_of_type(name: str, encoding: Encoding, own: Iterable[str], lent: Iterable[str] = ()) -> str:
    """A hint for an unknown type; `own` are the format's named types, `lent` those of its libraries."""
    names = [*own, *lent]
    if name[:1].isupper() and (near := nearest(name, names, _NEAR_OWN)).startswith("did"):
        return near
    if number := _number(name, encoding):
        return number
    intended = _OTHER_WORDS.get(name.lower(), "")
    if _FIXED.fullmatch(name) and not encoding.numbered:
        intended = intended.split(",")[0].removeprefix("{type: ")
    return f"did you mean {intended}?" if intended else nearest(name, (*names, *builtins.TYPE_NAMES))


def _number(name: str, encoding: Encoding) -> str:
    """A hint for a number whose name states its sign, its width and perhaps its byte order."""
    if (found := _SINT_OF.fullmatch(name)) is not None:
        number = f"int{found[1]}"
        zigzag = f"{{type: {number}, wire: zigzag}}" if encoding.numbered else number
        return f"did you mean {f'zigzag{found[1]}' if encoding.laid_out else zigzag}?"
    found = _NUMBER.fullmatch(name)
    if found is None:
        return ""
    kind, bits, order = _KINDS.get(found[1].lower(), found[1].lower()), int(found[2]), (found[4] or "").lower()
    type = f"{kind}{bits}"
    if bits > _WIDEST:
        what = "floats have 16, 32 or 64 bits" if kind == "float" else f"numbers have at most {_WIDEST} bits"
        return f"{what}; write bytes({bits // _BYTE})" if bits % _BYTE == 0 else what
    if type not in builtins.SCALARS:
        return ""
    if order and encoding.laid_out and bits > _BYTE:
        return f"did you mean {{type: {type}, byteOrder: {_ORDERS[order]}}}?"
    return f"did you mean {type}?"

"""Converts numbers, texts and bytes, and the keys of a field that tell how to read them."""

from dataclasses import dataclass, field
from typing import Any

from wireloom.importing.ksy.definitions import Attribute
from wireloom.importing.ksy.kinds import Float, Integer, Kind, Octets, Scope, Text, Translation, Truth
from wireloom.importing.ksy.reading import text
from wireloom.importing.ksy.scopes import UntranslatableError
from wireloom.importing.ksy.sizes import BITS, NUMBER
from wireloom.importing.writing import Quoted
from wireloom.spec.yaml import Node, ScalarNode, SequenceNode, items

_ORDERS = {"le": "little", "be": "big"}
_CHARSETS = {
    "utf8": None,
    "ascii": None,
    "usascii": None,
    "utf16le": "utf-16le",
    "utf16be": "utf-16be",
    "latin1": "latin-1",
    "iso88591": "latin-1",
    "koi8r": "koi8-r",
    "koi8u": "koi8-u",
    "macroman": "mac-roman",
    **{f"iso8859{part}": f"iso-8859-{part}" for part in (*range(2, 12), 13, 14, 15, 16)},
}
_PAGES = {
    *("037", "273", "437", "500", "720", "737", "775", "850", "852", "855", "857", "858", "860", "861", "862", "863"),
    *("864", "865", "866", "869", "874", "1026", "1125", "1140", "1250", "1251", "1252", "1253", "1254", "1255"),
    *("1256", "1257", "1258"),
}


@dataclass(slots=True)
class Form:
    """How to read an attribute or list element: its type, further keys, and the kind of its value."""

    type: Any
    kind: Kind
    keys: dict[str, Any] = field(default_factory=dict)
    size: Translation | None = None
    is_region: bool = False
    """Whether it is a struct or a choice, whose size is a key of the field; texts and bytes have it in their type."""
    is_greedy: bool = False
    is_cut: bool = False


def number(name: str, scope: Scope) -> Form | None:
    """The form of a number; None for other types."""
    found = NUMBER.fullmatch(name)
    if found is None:
        return None
    size = int(found["bytes"])
    kind: Kind = Float() if found["kind"] == "f" else Integer(wide=found["kind"] == "u" and size == 8)
    word = {"u": "uint", "s": "int", "f": "float"}[found["kind"]]
    if (found["kind"] == "f" and size < 4) or (size == 1 and found["order"]):
        raise UntranslatableError("type", f"there is no type {name}")
    keys = {}
    if size > 1:
        order = _ORDERS[found["order"]] if found["order"] else scope.byte_order
        if order is None:
            raise UntranslatableError(
                "byte-order", f"the byte order of {name} is not stated", f"write {name}le or {name}be"
            )
        keys = {} if order == scope.byte_order else {"byteOrder": order}
    return Form(f"{word}{size * 8}", kind, keys)


def bits(name: str, scope: Scope, order: str, *, is_aligned: bool = True) -> Form | None:
    """The form of a bit field; None for other types. `is_aligned` if it starts at a byte boundary."""
    found = BITS.fullmatch(name)
    if found is None:
        return None
    count = int(found["bits"])
    if count > 64:
        raise UntranslatableError("bits", f"{count} bits in one number", "split them")
    keys = {} if (scope.byte_order or "big") == order or (count == 8 and is_aligned) else {"byteOrder": order}
    if count == 1:
        return Form("bit", Truth(), keys)
    return Form(f"uint{count}", Integer(count == 64), keys)


def bit_order(name: str, default: str) -> str:
    """The order of the bits of a type."""
    found = BITS.fullmatch(name)
    return _ORDERS[found["order"]] if found and found["order"] else default


def charset(attribute: Attribute, scope: Scope) -> str | None:
    """The character set of a text; None for UTF-8."""
    encoding_name = attribute.text("encoding") or text(scope.definition.meta("encoding"))
    if encoding_name is None:
        return None
    word = encoding_name.lower().replace("-", "").replace("_", "")
    if word in _CHARSETS:
        return _CHARSETS[word]
    page = word.removeprefix("ibm").removeprefix("windows").removeprefix("cp")
    if page in _PAGES and page != word:
        return f"cp{page}"
    raise UntranslatableError(
        "charset",
        f"the encoding {encoding_name}",
        "it is read as bytes; decode it in the program that reads the records",
    )


def terminator(attribute: Attribute, base: str, encoded: str | None) -> str | None:
    """The terminator of a text or of bytes, in hexadecimal."""
    node = attribute.get("terminator")
    wide = encoded in ("utf-16le", "utf-16be") and base == "strz"
    if isinstance(node, SequenceNode):
        return b"".join(_octet(each) for each in node.items).hex()
    if node is not None:
        return (_octet(node) * (1 if not wide else 2 if _octet(node) == b"\0" else 1)).hex()
    return ("0000" if wide else "00") if base == "strz" else None


def _octet(node: Node) -> bytes:
    value = node.value if isinstance(node, ScalarNode) else None
    if not isinstance(value, int) or not 0 <= value < 256:
        raise UntranslatableError("octet", "this is not a byte", "write a number from 0 to 255")
    return bytes([value])


def contents(node: Node) -> Form:
    """The form of constant bytes."""
    if isinstance(node, SequenceNode):
        data = b"".join(
            _octet(each)
            if isinstance(each, ScalarNode) and isinstance(each.value, int)
            else (text(each) or "").encode()
            for each in items(node)
        )
    else:
        data = (text(node) or "").encode()
    if not data:
        raise UntranslatableError("contents", "contents without bytes")
    return Form(f"bytes({len(data)})", Octets(), {"const": Quoted(data.hex())})


def characters(attribute: Attribute, base: str, scope: Scope) -> tuple[str, dict[str, Any], Kind]:
    """The type of a text or bytes without a size, further keys, and its kind."""
    if base == "bytes":
        return "bytes", {}, Octets()
    found = charset(attribute, scope)
    encoding_name = (attribute.text("encoding") or text(scope.definition.meta("encoding")) or "").lower()
    return "str", ({"charset": found} if found else {}), Text(octets="ascii" in encoding_name, charset=found)


def pad(attribute: Attribute) -> str | None:
    """The padding byte of a text or bytes, in hexadecimal."""
    node = attribute.get("pad-right")
    return None if node is None else _octet(node).hex()

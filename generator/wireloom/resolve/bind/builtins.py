"""The built-in types of the language, and helpers for their notation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from wireloom.encodings import Encoding
from wireloom.expr.ast import Kind
from wireloom.model import types
from wireloom.model.types import Boolean, Bytes, Float, Integer, JsonText, Null, NumberForm, Text, Type
from wireloom.numbers import integer
from wireloom.resolve.bind import notation
from wireloom.resolve.bind.notation import NotationError


@dataclass(frozen=True, slots=True)
class Builtin:
    """A group of built-in types with a common form; each encoding lists the groups it supports in `types`."""

    written: str
    words: Mapping[str, Type] = field(default_factory=dict)  # the types that are written as one word
    only: str = ""  # the only place where it is allowed, if not on the wire
    instead: str = ""  # what to write in an encoding without it, unless the encoding has better advice


def _integers(name: str, widths: Sequence[int], form: NumberForm, *, signed: bool) -> dict[str, Type]:
    return {f"{name}{bits}": Integer(bits, signed, form) for bits in widths}


def _digits(name: str, form: NumberForm, *, signed: bool, base: int = 10, most: int = 18) -> dict[str, Type]:
    return {
        f"{name}{digits}": Integer((base**digits - 1).bit_length() + signed, signed, form, digits)
        for digits in range(1, most + 1)  # 64 bits hold at most 18 decimal digits
    }


_OWN = NumberForm.OWN
_WIDTHS = range(8, 65, 8)

BUILTINS: Mapping[str, Builtin] = MappingProxyType(
    {
        "bool": Builtin("`bool`", {"bool": Boolean()}),
        "integer": Builtin(
            "`int8` `int16` `int24` ... `int64`, `uint8` `uint16` `uint24` ... `uint64`",
            _integers("int", _WIDTHS, _OWN, signed=True) | _integers("uint", _WIDTHS, _OWN, signed=False),
        ),
        "bits": Builtin(
            "`bit`, `uint2` ... `uint63`, `int2` ... `int63`",
            {"bit": Boolean(bit=True)}
            | _integers("uint", [bits for bits in range(2, 64) if bits % 8], _OWN, signed=False)
            | _integers("int", [bits for bits in range(2, 64) if bits % 8], _OWN, signed=True),
            instead="write a whole number of bytes, and `range`; or bool",
        ),
        "int": Builtin("`int`", {"int": Integer(64, signed=True)}),
        "varint": Builtin(
            "`varint32` `varint64`, `zigzag32` `zigzag64`",
            _integers("varint", (32, 64), NumberForm.VARINT, signed=False)
            | _integers("zigzag", (32, 64), NumberForm.ZIGZAG, signed=True),
            instead="write uint32 or uint64, int32 or int64",
        ),
        "coded": Builtin(
            "`sleb32` `sleb64`, `vlq32` `vlq64`, `quic62`, `sqlite64`, `flac36`, `ebml56`",
            _integers("sleb", (32, 64), NumberForm.SLEB, signed=True)
            | _integers("vlq", (32, 64), NumberForm.VLQ, signed=False)
            | _integers("quic", (62,), NumberForm.QUIC, signed=False)
            | _integers("sqlite", (64,), NumberForm.SQLITE, signed=True)
            | _integers("flac", (36,), NumberForm.FLAC, signed=False)
            | _integers("ebml", (56,), NumberForm.EBML, signed=False),
            instead="write uint32, uint64 or int64",
        ),
        "extended": Builtin("`extended(FIRST, TYPE, ...)`", instead="write uint32 or uint64"),
        "decimal": Builtin(
            "`bcd1` ... `bcd18`, `packed1` ... `packed18`, `upacked1` ... `upacked18`",
            _digits("bcd", NumberForm.BCD, signed=False)
            | _digits("packed", NumberForm.PACKED, signed=True)
            | _digits("upacked", NumberForm.PACKED, signed=False),
            instead="write an integer type, such as int64",
        ),
        "zoned": Builtin(
            "`zoned1` ... `zoned18`, `uzoned1` ... `uzoned18`, `lzoned1` ... `lzoned18`, "
            "`overpunch1` ... `overpunch18`, `loverpunch1` ... `loverpunch18`",
            _digits("zoned", NumberForm.ZONED, signed=True)
            | _digits("uzoned", NumberForm.ZONED, signed=False)
            | _digits("lzoned", NumberForm.LEADING_ZONED, signed=True)
            | _digits("overpunch", NumberForm.OVERPUNCHED, signed=True)
            | _digits("loverpunch", NumberForm.LEADING_OVERPUNCHED, signed=True),
            instead="write an integer type, such as int64",
        ),
        "columns": Builtin(
            "`dec1` ... `dec18`, `sdec1` ... `sdec18`, `hex1` ... `hex16`, `HEX1` ... `HEX16`, `oct1` ... `oct21`",
            _digits("dec", NumberForm.DECIMAL, signed=False)
            | _digits("sdec", NumberForm.DECIMAL, signed=True)
            | _digits("hex", NumberForm.HEXADECIMAL, signed=False, base=16, most=16)
            | _digits("HEX", NumberForm.CAPITALS, signed=False, base=16, most=16)
            | _digits("oct", NumberForm.OCTAL, signed=False, base=8, most=21),
            instead="write an integer type, such as int64",
        ),
        "digits": Builtin(
            "`dec`, `sdec`, `hex`, `HEX`, `oct`",
            {
                "dec": Integer(64, signed=False, form=NumberForm.DECIMAL),
                "sdec": Integer(64, signed=True, form=NumberForm.DECIMAL),
                "hex": Integer(64, signed=False, form=NumberForm.HEXADECIMAL),
                "HEX": Integer(64, signed=False, form=NumberForm.CAPITALS),
                "oct": Integer(64, signed=False, form=NumberForm.OCTAL),
            },
            instead="write an integer type, such as int64",
        ),
        "int65": Builtin("`int65`", {"int65": Integer(65, signed=True)}, instead="write int64 or uint64"),
        "float16": Builtin("`float16`", {"float16": Float(16)}, instead="write float32"),
        "float": Builtin(
            "`float32`, `float64`, `float` (= `float64`)",
            {"float32": Float(32), "float64": Float(64), "float": Float(64)},
        ),
        "str": Builtin("`str`, `str(SIZE)`", {"str": Text()}),
        "bytes": Builtin("`bytes`, `bytes(SIZE)`", {"bytes": Bytes()}),
        "nil": Builtin("`nil`, `TYPE?` (the type or null)", {"nil": Null()}),
        "list": Builtin("`list(TYPE)`"),
        "map": Builtin("`map(KEY, VALUE)`", instead="write map(ENTRY), of a struct with `key` and `value`"),
        "entries": Builtin("`map(ENTRY)`, of structs with a `key` and a `value`"),
        "ext": Builtin("`ext(CODE, bytes)`, `ext(CODE, str)`", instead="ext values are MessagePack's"),
        "json": Builtin(
            "`json`, `json(object)`, `json(array)`", {"json": JsonText()}, instead="use str: the text is kept as it is"
        ),
        "union": Builtin("`TYPE \\| TYPE`"),
        "uint128": Builtin("`uint128`", {"uint128": Integer(128, signed=False)}, only="computed values only"),
        "meant": Builtin(
            "`timestamp`, `date`, `duration`, `decimal(DIGITS, FRACTION)`",
            only="in shared schemas only: what formats say by `logical` and `scale`",
        ),
        "any": Builtin("`any`", only="in shared schemas only: any value, recursively"),
    }
)
"""All built-in types; the reference shows this table, and a type that an encoding lacks is a diagnostic."""

SCALARS: Mapping[str, Type] = MappingProxyType(
    {word: type for builtin in BUILTINS.values() for word, type in builtin.words.items()}
)
CONSTRUCTORS = ("list", "map", "ext", "extended")
TYPE_NAMES = (*SCALARS, *CONSTRUCTORS, "any")


def builtin_of(word: str) -> str:
    """The name of the group that a word or a constructor belongs to."""
    return next((name for name, builtin in BUILTINS.items() if word in builtin.words), word)


DIGESTS: Mapping[str, int] = MappingProxyType({"md5": 16, "sha1": 20, "sha256": 32, "sha512": 64})


def nearly(word: str) -> str:
    """A hint for a misspelled integer type, such as `unit16`; empty if none is meant."""
    integers = (name for name, type in SCALARS.items() if isinstance(type, Integer) and not type.is_partial)
    found = next((name for name in integers if sorted(name) == sorted(word.lower())), "")
    return f"did you mean {found}?" if found and word not in SCALARS else ""


_KINDS: Mapping[type, Kind] = {
    Integer: Kind.INTEGER,
    Float: Kind.FLOAT,
    Boolean: Kind.BOOLEAN,
    Null: Kind.NULL,
    Text: Kind.TEXT,
    JsonText: Kind.TEXT,
    Bytes: Kind.BYTES,
}


def kind(type: Type) -> Kind:
    """The kind of a scalar type's values."""
    return _KINDS.get(type.__class__, Kind.ANY)


def flaw_of_form(name: str, what: str, encoding: Encoding) -> tuple[str, str] | None:
    """Message and hint for a built-in type that the encoding lacks; None if the encoding has it."""
    if name in encoding.types:
        return None
    return f"{what} has no form in {encoding.name}", encoding.instead.get(name, BUILTINS[name].instead)


EXTENDED = "extended"
_EXTENDED_HINT = "write extended(253, uint16, uint32, uint64): the first marker byte, and the type after each marker"
_NO_NUMBER = "-"
_MOST_MARKERS = 7  # markers
_BYTES = 256


def extended_of(single: notation.Single) -> Integer:
    """The type `extended(FIRST, TYPE, ...)`: one byte, or a marker with an integer after it; raises NotationError."""
    if len(single.arguments) < 2:
        raise NotationError("extended has no markers", single.column, _EXTENDED_HINT)
    written, *following = single.arguments
    first = integer(written.text.strip())
    if first is None or not 0 <= first < _BYTES:
        raise NotationError(f"{written.text.strip() or 'nothing'} is not a byte", written.column, _EXTENDED_HINT)
    if len(following) > min(_MOST_MARKERS, _BYTES - first):
        beyond = following[min(_MOST_MARKERS, _BYTES - first)]
        message = f"there can be at most {_MOST_MARKERS} markers, the last one 255"
        raise NotationError(message, beyond.column, "drop this one, or begin with a lower marker")
    widths = tuple(map(_bytes_after, following))
    if not any(widths):
        raise NotationError("no marker has a type", following[0].column, _EXTENDED_HINT)
    return Integer(8 * max(widths), signed=False, markers=types.Markers(first, widths))


def _bytes_after(argument: notation.Argument) -> int:
    """The width of the integer after a marker in bytes; 0 for a marker without a meaning."""
    word = argument.text.strip()
    type = SCALARS.get(word)
    if word == _NO_NUMBER:
        return 0
    if not isinstance(type, Integer) or type.signed or not type.is_plain or type.is_partial or type.width is None:
        hint = nearly(word) or "write uint8, uint16 ... uint64, or - for a marker without a meaning"
        raise NotationError(f"{word or 'nothing'} cannot be the type after a marker", argument.column, hint)
    return type.width

"""Describes wire types in words: what a sender writes for a value of each type, in Markdown.

Number formats that need more than a name are explained once, in "How to read this page" (`NUMBERS`).
"""

from collections.abc import Iterator, Mapping
from typing import assert_never

from wireloom.encodings import Encoding
from wireloom.escapes import code_span
from wireloom.expr.ast import Expression, Literal
from wireloom.expr.text import text_of
from wireloom.model import types
from wireloom.model.types import Amount, Field, NumberForm, Type

NUMBERS: Mapping[NumberForm, tuple[str, str]] = {
    NumberForm.VARINT: ("varint", "LEB128: 7 bits a byte, the lowest first; the highest bit says that a byte follows"),
    NumberForm.ZIGZAG: ("zigzag varint", "a varint of `2 * n`, or of `-2 * n - 1` if n is negative"),
    NumberForm.VLQ: ("VLQ", "7 bits a byte, the highest first; the highest bit says that a byte follows"),
    NumberForm.QUIC: ("QUIC number", "the two highest bits say 1, 2, 4 or 8 bytes; high byte first (RFC 9000)"),
    NumberForm.SQLITE: ("SQLite varint", "as VLQ, but a ninth byte is the last and has 8 bits"),
    NumberForm.FLAC: ("FLAC number", "as UTF-8 writes a character, in up to 7 bytes"),
    NumberForm.SLEB: ("SLEB128", "as LEB128, in two's complement; bit 6 of the last byte is the sign"),
    NumberForm.EBML: ("EBML number", "the highest set bit tells how many bytes; all other bits set: unknown size"),
    NumberForm.BCD: ("BCD digits", "a decimal digit in each half of a byte, the highest first"),
    NumberForm.PACKED: ("packed decimal", "BCD digits, the sign in the last half byte (COMP-3)"),
    NumberForm.ZONED: ("zoned decimal", "EBCDIC digits, a byte each; the sign in the upper half of the last"),
    NumberForm.LEADING_ZONED: ("leading zoned decimal", "EBCDIC digits; the sign in the upper half of the first"),
    NumberForm.OVERPUNCHED: ("overpunched decimal", "ASCII digits; the last one also tells the sign"),
    NumberForm.LEADING_OVERPUNCHED: ("leading overpunched decimal", "ASCII digits; the first also tells the sign"),
}
"""Number formats that need an explanation: the name, and the text."""
_DIGITS = {
    NumberForm.DECIMAL: "decimal",
    NumberForm.HEXADECIMAL: "hexadecimal",
    NumberForm.CAPITALS: "capital hexadecimal",
    NumberForm.OCTAL: "octal",
}
_ORDERS = {NumberForm.BIG: ", big-endian", NumberForm.LITTLE: ", little-endian"}
_BYTE = 8


def anchor(name: str) -> str:
    """The anchor of a named type on the page."""
    return f"type-{name.lower()}"


def link(name: str) -> str:
    """A link to the section of a named type."""
    return f"[`{name}`](#{anchor(name)})"


def field_form(field: Field, encoding: Encoding) -> str:
    """How a field is written."""
    said = [type_form(field.type, encoding)]
    if field.size is not None:
        said.append(f"in a region {sized(field.size)}")
    if field.packing is not None:
        said.append(_packed(field.packing))
    return ", ".join(said)


def type_form(type: Type, encoding: Encoding) -> str:
    """How a value of a type is written."""
    match type:
        case types.Integer():
            return number(type, encoding)
        case types.Float(bits=bits, form=form):
            order = "" if not encoding.laid_out else f", {_bytes(bits // _BYTE)}{_ORDERS.get(form, '')}"
            return f"float{'' if encoding.tells_kinds else bits}{order}"
        case types.Boolean(bit=bit):
            wide = ", 1 bit" if bit else ", 1 byte: 0 or 1"
            return f"boolean{wide if encoding.laid_out else ''}"
        case types.Null():
            return encoding.null
        case types.Text(size=size):
            return f"UTF-8 text{_sized(size, encoding)}"
        case types.Bytes():
            return _bytes_form(type, encoding)
        case types.JsonText(kind=kind):
            return "any JSON value" if kind == "any" else f"a JSON {kind}"
        case types.Array():
            return _array(type, encoding)
        case types.Map(key=key, value=value):
            return f"map of {type_form(key, encoding)} to {type_form(value, encoding)}"
        case types.Extension(code=code, content=content):
            return f"ext {code} of {type_form(content, encoding)}"
        case types.Nullable(type=inner):
            return f"{type_form(inner, encoding)}, or {encoding.null}"
        case types.Reference(name=name) | types.Struct(name=name):
            return link(name)
        case types.OneOf(alternatives=alternatives):
            return " or ".join(type_form(each.type, encoding) for each in alternatives)
        case types.Select() | types.Attempt():
            return "one of several types, see below"
        case _:
            assert_never(type)


def number(type: types.Integer, encoding: Encoding) -> str:
    """How an integer is written."""
    if encoding.laid_out:
        return _laid_out(type)
    name = f"{'' if type.signed else 'u'}int{type.bits}"
    if encoding.numbered:
        fixed = {NumberForm.FIXED: ", fixed width, little-endian", NumberForm.ZIGZAG: " as zigzag varint"}
        return f"`{name}`{fixed.get(type.form, ' as varint')}"
    return f"integer ({name})"


def _laid_out(type: types.Integer) -> str:
    """An integer in an encoding whose bytes the spec lays out."""
    name = f"{'' if type.signed else 'u'}int{type.bits}"
    if type.markers is not None:
        marked = "; ".join(
            f"the byte {type.markers.first + place:#04x}, then {_bytes(width)}"
            if width
            else f"the byte {type.markers.first + place:#04x} says nothing"
            for place, width in enumerate(type.markers.widths)
        )
        return f"`{name}` as one byte below {type.markers.first:#04x}, or {marked}"
    if type.form in _DIGITS:
        digits = f"{type.digits} {_DIGITS[type.form]} digits" if type.digits else f"{_DIGITS[type.form]} digits"
        return f"{digits} in ASCII{f', ended by {_hex(type.ending)}' if type.ending else ''}"
    if type.form in NUMBERS:
        known = NUMBERS[type.form][0]
        return f"{type.digits} {known}, {_bytes(type.width or 0)}" if type.digits else f"`{name}` as {known}"
    wide = f"{type.bits} bits" if type.is_partial else _bytes(type.bits // _BYTE)
    return f"`{name}`, {wide}{_ORDERS.get(type.form, '')}"


def _bytes_form(type: types.Bytes, encoding: Encoding) -> str:
    if encoding.text:
        said = types.stated(type.size)
        return "base64 text" if said is None else f"base64 text of {_count(said, 'byte')}"
    what = f"text in {type.charset}" if type.charset else "bytes"
    if type.filler:
        return f"filler{_sized(type.size, encoding)}: zeros"
    if types.stated(type.size) is not None and not type.charset:
        return sized(type.size).removeprefix("of ")  # type: ignore[arg-type]
    return f"{what}{_sized(type.size, encoding)}"


def _array(type: types.Array, encoding: Encoding) -> str:
    element = type_form(type.element, encoding)
    what = f"list of {element}{_packed_bits(type)}"
    if type.count is not None:
        return f"{what}: {counted(type.count)}"
    return f"{what}, to the end of the region" if encoding.laid_out else what


def _packed_bits(type: types.Array) -> str:
    """The order in which elements that share a byte take its bits."""
    if not type.packed or not isinstance(type.element, types.Integer | types.Boolean):
        return ""
    first = {NumberForm.BIG: "highest bits first", NumberForm.LITTLE: "lowest bits first"}
    return f" ({first.get(type.element.form, 'highest bits of a byte first; lowest first if little-endian')})"


def _sized(size: Amount | None, encoding: Encoding) -> str:
    if size is not None:
        return f" {sized(size)}"
    return " to the end of the region" if encoding.laid_out else ""


def sized(size: Amount) -> str:
    """A size in bytes, in words."""
    match size:
        case types.Prefix(number=prefix, null=null):
            return f"after its length in bytes ({_laid_out(prefix)}{'; -1 for null' if null else ''})"
        case types.Blocks(number=prefix):
            return f"in blocks, each after its length in bytes ({_laid_out(prefix)}); a length of 0 is the last"
        case types.Delimiter():
            return f"ended by {_delimiter(size)}"
        case types.Padded(size=width, fill=fill):
            return f"in {_bytes(width)}, filled up with {_hex(fill)}"
        case types.Last() | types.Terminator():
            return counted(size)
        case _:
            return f"of {_count(size, 'byte')}"


def counted(count: Amount) -> str:
    """A number of elements, in words."""
    match count:
        case types.Prefix(number=prefix, null=null):
            return f"after their count ({_laid_out(prefix)}{'; -1 for null' if null else ''})"
        case types.Blocks(number=prefix, size=size):
            bytes_ = "" if size is None else f"; a negative count is followed by the block's bytes ({_laid_out(size)})"
            return f"in blocks, each after its count ({_laid_out(prefix)}); a count of 0 is the last{bytes_}"
        case types.Last(holds=holds):
            return f"the last is the first element for which {code_span(text_of(holds))}"
        case types.Terminator(data=data, jump=jump, behind=behind):
            asked = "" if behind is None else f", or by the end of the region unless {code_span(text_of(behind))}"
            return f"ended by {_hex(data)}{asked}{'' if jump is None else _jump(jump)}"
        case types.Delimiter() | types.Padded():
            return sized(count)
        case _:
            return _count(count, "element")


def _jump(jump: types.Jump) -> str:
    return (
        f"; or by a pointer, {_laid_out(jump.number)}, from {jump.minimum:#x} to {jump.maximum:#x}: the list continues "
        f"at that number minus {jump.start:#x}, counted in bytes from the start of the record, before the list"
        f"{'' if jump.most is None else f'; the whole list has at most {jump.most} bytes'}"
    )


def _delimiter(found: types.Delimiter) -> str:
    said = " or ".join(map(_hex, (found.data, *found.others)))
    said += " (part of the value)" if found.kept else ""
    said += f", at a multiple of {found.unit} bytes" if found.unit > 1 else ""
    if found.escape is not None:
        others = ", ".join(f"{byte:#04x} for {meant:#04x}" for byte, meant in found.escaped)
        said += f"; after {found.escape:#04x} a byte stands for itself{f', or {others}' if others else ''}"
    return said


def _packed(packing: types.Packing) -> str:
    if packing.tag is None:
        return f"packed with {packing.cases[0][1]}"
    each = "; ".join(
        f"{', '.join(text_of(Literal(value)) for value in values)}: {codec}"  # type: ignore[arg-type]
        for values, codec in packing.cases
    )
    return f"packed as {code_span(text_of(packing.tag))} says ({each})"


def _count(amount: Expression, unit: str) -> str:
    if isinstance(amount, Literal) and isinstance(amount.value, int):
        return f"{amount.value} {unit}{'' if amount.value == 1 else 's'}"
    return f"{code_span(text_of(amount))} {unit}s"


def _bytes(count: int) -> str:
    return f"{count} byte{'' if count == 1 else 's'}"


def _hex(data: bytes) -> str:
    return code_span(data.hex(" "))


def forms(type: Type) -> Iterator[NumberForm]:
    """The number formats directly in a type."""
    match type:
        case types.Integer(form=form):
            yield form
        case types.Text(size=types.Prefix(number=number)) | types.Bytes(size=types.Prefix(number=number)):
            yield number.form
        case types.Array(element=element, count=count):
            yield from forms(element)
            if isinstance(count, types.Prefix | types.Blocks):
                yield count.number.form
        case types.Nullable(type=inner):
            yield from forms(inner)
        case _:
            return

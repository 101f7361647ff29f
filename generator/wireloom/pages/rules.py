"""Describes the checks of a field: constants, ranges, patterns, enumerations, meanings and checksums.

Each is a phrase of Markdown for the cell of the field or, if it is long, a table or block below the struct's table.
"""

from collections.abc import Iterator, Sequence
from typing import assert_never

from wireloom.encodings import Form
from wireloom.escapes import code_block, code_span
from wireloom.expr.ast import Literal
from wireloom.expr.text import text_of
from wireloom.model import types
from wireloom.model.types import Bit, Field, Meaning, Struct
from wireloom.model.types import Mapping as ValueMapping
from wireloom.pages.markdown import blocks, table, text
from wireloom.runtime.columns.logical import Encoded, Measured, Named, Said, Scaled, Written
from wireloom.runtime.patterns import worded

_FEW = 4
"""Most values that are listed in the cell of their field; more get a table."""
_LONG = 120
"""Patterns longer than this get a block."""


def rules(struct: Struct, field: Field) -> Iterator[str]:
    """The checks of a field on the wire."""
    if field.bits and not field.shared and not field.hidden:
        yield "made of its bits"
    yield from value_rules(field)
    if field.size is not None and field.code:
        yield f"fills its region, else {code_span(field.code)}"
    if field.checksum is not None:
        yield _checksum(field.checksum)
    if field.refers is not None:
        yield f"an index into {code_span(field.refers.table)}, else {code_span(field.refers.code)}"
    if isinstance(field.type, types.Array) and field.type.unique is not None:
        unique = f"no two elements have the same {code_span(field.type.unique)}"
        yield f"{unique}, else {code_span(field.type.unique_code)}"
    if field.one_of:
        yield f"at most one field of {code_span(field.one_of)}"
    if struct.form in (Form.OBJECT, Form.MESSAGE):
        yield from _presence(field)


def value_rules(field: Field) -> Iterator[str]:
    """The checks of a field's value."""
    code = f", else {code_span(field.code)}" if field.code else ""
    if field.const is not None:
        yield f"always {code_span(literal(field.const, field.notation))}{code}"
    yield from _mapped(field.wire_name, field.mappings, field.code)
    if (span := range_text(field.minimum, field.maximum, field.notation)) and field.const is None:
        yield f"{span}{code}"
    if field.spelling is not None:
        yield f"{_spelled(field.spelling)}{code}"
    yield from _meaning_text(field.meaning)
    if isinstance(field.type, types.Array) and (held := field.type.held) is not None:
        yield from (f"each element: {rule}" for rule in _element_rules(field.wire_name, held))


def _element_rules(name: str, held: types.Held) -> Iterator[str]:
    yield from _mapped(name, held.mappings, held.code)
    if span := range_text(held.minimum, held.maximum, ""):
        yield f"{span}, else {code_span(held.code)}"
    if held.spelling is not None:
        yield f"{_spelled(held.spelling)}, else {code_span(held.code)}"


def literal(value: types.Scalar, notation: str = "") -> str:
    """A constant of a spec; bytes in hexadecimal."""
    if isinstance(value, bytes):
        return value.hex(" ")
    return text_of(Literal(value, notation)) if not isinstance(value, float) else repr(value)


def range_text(minimum: int | None, maximum: int | None, notation: str) -> str:
    """A range of numbers; empty without limits."""
    if minimum is None and maximum is None:
        return ""
    least = "" if minimum is None else literal(minimum, notation)
    most = "" if maximum is None else literal(maximum, notation)
    if least == most:
        return least
    return f"{least} to {most}" if least and most else f"at least {least}" if least else f"at most {most}"


def _spelled(spelling: types.Spelling) -> str:
    length = range_text(spelling.minimum, spelling.maximum, "")
    said = [f"{length} character{'' if length.endswith(' 1') else 's'}"] if length else []
    if spelling.known:
        said.append(worded(spelling.known, ""))
    elif spelling.pattern:
        said.append("the pattern below" if len(spelling.pattern) > _LONG else f"pattern {code_span(spelling.pattern)}")
    return ", ".join(said)


def bit_rules(bit: Bit) -> Iterator[str]:
    """The checks of bits."""
    yield from _mapped(bit.name, bit.mappings, bit.code)
    yield from _meaning_text(bit.meaning)


def _mapped(name: str, mappings: Sequence[ValueMapping] | None, code: str) -> Iterator[str]:
    """The allowed values, if they are few; otherwise they get a table."""
    if mappings is None:
        return
    refused = f"else {code_span(code or 'unknown_value')}"
    if _has_table(mappings):
        yield f"values of {code_span(name)} below, {refused}"
    elif _are_same(mappings):
        yield f"{' or '.join(_wire(each) for each in mappings)}, {refused}"
    else:
        yield f"{', '.join(f'{_wire(each)} is {_read(each)}' for each in mappings)}; {refused}"


def _has_table(mappings: Sequence[ValueMapping]) -> bool:
    return any(each.doc for each in mappings) or (len(mappings) > _FEW and not _are_same(mappings))


def _are_same(mappings: Sequence[ValueMapping]) -> bool:
    """Whether readers see the wire values unchanged."""
    return all(isinstance(each.value, Literal) and each.value == Literal(each.wire) for each in mappings)  # type: ignore[arg-type]


def _wire(mapping: ValueMapping) -> str:
    return code_span(literal(mapping.wire, mapping.notation))


def _read(mapping: ValueMapping) -> str:
    """The value that readers see; a text without quotes."""
    value = mapping.value
    return code_span(value.value if isinstance(value, Literal) and isinstance(value.value, str) else text_of(value))


def _value_table(name: str, mappings: Sequence[ValueMapping] | None) -> str:
    if mappings is None or not _has_table(mappings):
        return ""
    rows = [(_wire(one), _read(one), text(one.doc)) for one in mappings]
    return blocks(f"Values of {code_span(name)}:", table(("on the wire", "read as", "meaning"), rows))


def _pattern(name: str, spelling: types.Spelling | None) -> str:
    """A long pattern of a text."""
    if spelling is None or spelling.known or len(spelling.pattern) <= _LONG:
        return ""
    return blocks(f"Pattern of {code_span(name)}:", code_block("text", spelling.pattern))


def _name_table(name: str, named: Named) -> str:
    rows = [(code_span(literal(value)), code_span(word)) for value, word in named.names]
    return blocks(f"Names of values of {code_span(name)}; others have none:", table(("on the wire", "read as"), rows))


def _meaning_text(meaning: Meaning | None) -> Iterator[str]:
    if meaning is None:
        return
    if meaning.null is not None:
        yield f"{code_span(literal(meaning.null))} for null"
    if meaning.shown is not None:
        yield _shown(meaning.shown)


ADDRESSES = {"uuid": "a UUID", "ipv4": "an IPv4 address", "ipv6": "an IPv6 address", "mac": "a MAC address"}


def _shown(shown: Scaled | Measured | Written | Said | Encoded | Named) -> str:
    match shown:
        case Scaled(kind=kind):
            return _scaled(shown, {"timestamp": "microseconds since 1970", "date": "days since 1970"}.get(kind, kind))
        case Measured(scale=scale, offset=offset):
            return f"the value is the number * {scale!r}{f' + {offset!r}' if offset else ''}"
        case Written(kind=kind):
            return f"the bytes of {ADDRESSES[kind]}"
        case Said(microseconds=count, epoch=epoch) if count:
            return f"microseconds since 1970 = the number * {count}{f' + {epoch}' if epoch else ''}, rounded"
        case Said():
            return "a number or time as text"
        case Encoded(charset=charset):
            return f"text in {charset}"
        case Named(raw=raw):
            return f"has names, below; {code_span(raw)} is the number itself" if raw else "has names, below"
        case _:
            assert_never(shown)


def _scaled(shown: Scaled, unit: str) -> str:
    unit = {"duration": "microseconds", "decimal": f"units of 10^-{shown.digits}", "integer": "the value"}.get(
        unit, unit
    )
    plus = f" + {shown.offset}" if shown.offset else ""
    return f"{unit} = the number * {shown.multiplier}{plus}" if shown.multiplier != 1 or plus else f"counts {unit}"


def _presence(field: Field) -> Iterator[str]:
    if field.presence is types.Presence.OPTIONAL:
        default = f", absent means {code_span(literal(field.default))}" if field.has_default else ""
        yield f"may be absent{default}"


def _checksum(checksum: types.Checksum) -> str:
    covered = (
        f"the bytes from {code_span(text_of(checksum.start))} up to, not including, {code_span(text_of(checksum.end))}"
    )
    whole = ", then ".join((*map(_extra, checksum.ahead), covered, *map(_extra, checksum.after)))
    hole = "; its own bytes count as zeros, if they are among them" if checksum.hole else ""
    stored = f"; stored is {code_span(text_of(checksum.stored))}" if checksum.stored is not None else ""
    return f"[{code_span(checksum.algorithm)}](#checksums) of {whole}{hole}{stored}, else {code_span(checksum.code)}"


def _extra(extra: types.Extra) -> str:
    wide = "" if extra.octets is None else f" in {extra.octets} bytes, big-endian"
    return f"{code_span(text_of(extra.value))}{wide}"


def value_tables(struct: Struct) -> Iterator[str]:
    """The tables and patterns that do not fit into the cells of a struct."""
    for field in struct.fields:
        yield _value_table(field.wire_name, field.mappings)
        yield _pattern(field.wire_name, field.spelling)
        if isinstance(field.type, types.Array) and field.type.held is not None:
            yield _value_table(field.wire_name, field.type.held.mappings)
            yield _pattern(field.wire_name, field.type.held.spelling)
        if field.meaning is not None and isinstance(field.meaning.shown, Named):
            yield _name_table(field.wire_name, field.meaning.shown)
        for bit in field.bits:
            yield _value_table(bit.name, bit.mappings)
            if bit.meaning is not None and isinstance(bit.meaning.shown, Named):
                yield _name_table(bit.name, bit.meaning.shown)

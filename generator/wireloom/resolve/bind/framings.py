"""Resolve the framing of a format: a name, or a mapping that states how records are separated."""

from collections.abc import Iterable
from typing import assert_never

from wireloom.model.format import ByteOrder, Root
from wireloom.problems import nearest
from wireloom.resolve.bind import builtins, constants
from wireloom.resolve.bind.draft import Draft, parameter_named
from wireloom.runtime.columns.logical import Boolean, Integer, LogicalType, Meant, Text
from wireloom.runtime.streams.framing import (
    LARGEST_SIZE,
    LONGEST,
    NAMED,
    Bare,
    Delimited,
    Escape,
    Framing,
    Headed,
    Prefixed,
    Sized,
    flaw,
    is_number,
)
from wireloom.spec.documents import Place
from wireloom.spec.language import Parameter
from wireloom.spec.language.framings import DelimiterFraming, HeaderFraming, PrefixFraming, SizeFraming

BareDocument = str | PrefixFraming | SizeFraming | DelimiterFraming


def framing_of(draft: Draft, order: ByteOrder) -> Framing:
    """The framing of the format."""
    written, place = draft.content.framing, draft.place / "framing"
    if not isinstance(written, HeaderFraming):
        return _bare(draft, place, written, order)
    roots = tuple(draft.content.roots or ())
    if written.header not in roots[1:]:
        hint = "add it to `roots`, after the root of the records"
        draft.reports(place / "header", "missing-root", f"there is no root {written.header} for the header", hint)
    for name in written.gives:
        parameter_named(draft, place / "gives" / name, name)
    return Headed(written.header, tuple(written.gives.items()), _bare(draft, place / "records", written.records, order))


def check_header(draft: Draft, framing: Framing, entries: Iterable[Root]) -> None:
    """Report parameters that the header does not give, or gives with the wrong type."""
    if not isinstance(framing, Headed):
        return
    place = draft.place / "framing" / "gives"
    found = next((each.logical for each in entries if each.name == framing.header), None)
    members = {} if found is None else {each.name: each for each in found.fields}
    for name, member in framing.gives:
        if member not in members:
            hint = nearest(member, members) or "give it a name that readers see"
            draft.reports(place / name, "unknown-field", f"{framing.header} has no member {member}", hint)
        elif not _fits_parameter(draft.content.parameters[name], members[member].type):
            message = f"{member} does not fit the parameter {name}"
            wide = isinstance(members[member].type, Integer) and draft.content.parameters[name].type == "int"
            hint = (
                "a parameter has at most 64 bits with a sign; write int64"
                if wide
                else "it must have the parameter's type, and never be null: drop `null`, `logical` and `scale`"
            )
            draft.reports(place / name, "unfit-parameter", message, hint)


def _fits_parameter(parameter: Parameter, type: LogicalType) -> bool:
    """Whether values of a type are allowed for a parameter: a text, an integer or a boolean."""
    if isinstance(type, Meant):
        return type.null is None and type.shown is None and _fits_parameter(parameter, type.wire)  # shown by `raw`
    if parameter.one_of is not None and isinstance(type, Text):
        return not type.symbols or bool({*type.symbols} & {*parameter.one_of})
    wanted = {"int": Integer, "bool": Boolean}.get(parameter.type or "", Text)
    return isinstance(type, wanted) and not (isinstance(type, Integer) and type.maximum >> 63)


def _bare(draft: Draft, place: Place, written: BareDocument, order: ByteOrder) -> Bare:
    match written:
        case str():
            return NAMED[written]
        case PrefixFraming():
            return _prefixed(draft, place, written, order)
        case SizeFraming():
            return _sized(draft, place, written)
        case DelimiterFraming():
            return _delimited(draft, place, written)
        case _:
            assert_never(written)


def _prefixed(draft: Draft, place: Place, written: PrefixFraming, order: ByteOrder) -> Prefixed:
    """A framing by size prefixes; the prefix has the format's byte order by default."""
    number = written.prefix
    if not is_number(number):
        hint = builtins.nearly(number) or "write uint8, uint16, ... int64, varint32, varint64, zigzag32 or zigzag64"
        draft.reports(place / "prefix", "unknown-type", f"a record cannot have a {number} before it", hint)
        return Prefixed()
    if number in LONGEST and written.byte_order is not None:
        message, hint = f"{number} has no byte order", "drop `byteOrder`"
        draft.reports_entry(place / "byteOrder", "wrong-shape", message, hint)
    if abs(written.plus) > LARGEST_SIZE:
        message = f"plus: {written.plus} is too large"
        draft.reports(place / "plus", "bad-range", message, f"records have at most {LARGEST_SIZE} bytes")
    little = (written.byte_order or order.fixed) == "little" and number not in (*LONGEST, "int8", "uint8")
    return Prefixed(number, little, written.counts == "itself", written.plus)


def _sized(draft: Draft, place: Place, written: SizeFraming) -> Sized:
    if not 0 < written.size <= LARGEST_SIZE:
        message = f"a record cannot have {written.size} bytes"
        draft.reports(place / "size", "bad-range", message, f"write 1 to {LARGEST_SIZE}")
    return Sized(written.size)


def _delimited(draft: Draft, place: Place, written: DelimiterFraming) -> Delimited:
    escape = None if written.escape is None else _escape(draft, place, written)
    beside = [key for key in ("xor", "escaped") if key in written.given]
    if beside and escape is None:
        hint = "add `escape`, or drop it"
        draft.reports_entry(place / beside[0], "conflicting-keys", f"`{beside[0]}` without `escape`", hint)
    found = Delimited(_bytes(draft, place / "delimiter"), escape)
    if not draft.problems.found and (wrong := flaw(found)):
        draft.reports(place, "conflicting-keys", wrong, "choose another delimiter")
    return found


def _escape(draft: Draft, place: Place, written: DelimiterFraming) -> Escape:
    xor = constants.byte(draft, place / "xor", (place / "xor").text) if written.xor is not None else 0
    escape, escaped = constants.escapes(draft, place, written.escaped)
    return Escape(escape, xor, escaped)


def _bytes(draft: Draft, place: Place) -> bytes:
    data = constants.hexadecimal(place.text)
    if not isinstance(data, bytes):
        draft.reports(place, "bad-hex", f"{place.text} is not hexadecimal", "write two digits a byte")
        return b"\0"
    return data

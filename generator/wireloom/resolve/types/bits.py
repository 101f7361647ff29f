"""Named bits of an integer."""

import re
from collections.abc import Sequence
from dataclasses import replace

from wireloom import names
from wireloom.expr.ast import Kind
from wireloom.model.types import Bit, Integer, Mapping, Meaning, Type
from wireloom.numbers import respelled_ends
from wireloom.resolve.bind.expressions import expression
from wireloom.resolve.bind.outline import is_closed, is_open, mapped_kind
from wireloom.resolve.bind.scopes import Scope
from wireloom.resolve.types.conversions import named_values
from wireloom.resolve.types.notations import UNKNOWN, Surroundings
from wireloom.resolve.types.value_tables import mappings_of
from wireloom.spec.documents import Place
from wireloom.spec.language import Bits, FieldDocument

_CODE = "unknown_value"
_WIDEST = 64
_SPAN = re.compile(r"\s*(0|[1-9][0-9]{0,3})\s*(?:\.\.\s*(0|[1-9][0-9]{0,3})\s*)?")
_DASHED = re.compile(r"\s*([0-9]+)\s*(?:-|:|to|\.\.\.)\s*([0-9]+)\s*")


def bits_of(around: Surroundings, place: Place, document: FieldDocument, type: Type) -> tuple[Bit, ...]:
    """The bits of a field; no two names may share a bit."""
    if document.bits is None:
        return ()
    if type is UNKNOWN:
        type = Integer(64, signed=False)
    if not isinstance(type, Integer) or type.digits or type.bits > _WIDEST:
        message, hint = "only integers have bits, and not decimal digits", "give the field an unsigned integer type"
        around.refuses(place, "wrong-shape", message, hint)
        return ()
    found = tuple(_bit(around.scope, place / name, name, bit, type) for name, bit in document.bits.items())
    taken: dict[int, str] = {}
    for bit in found:
        numbers = range(bit.low, bit.low + bit.width)
        shared = next((taken[number] for number in numbers if number in taken), None)
        if shared is not None:
            around.refuses(
                place / bit.name,
                "bits-overlap",
                f"{bit.name} shares a bit with {shared}",
                "give each bit only one name",
            )
        taken |= dict.fromkeys(numbers, bit.name)
    code = document.else_
    return tuple(replace(bit, code=code) if code and bit.code == _CODE else bit for bit in found)


def _bit(scope: Scope, place: Place, name: str, document: str | int | Bits, whole: Integer) -> Bit:
    flaw = names.name_flaw(name)
    if flaw:
        scope.draft.reports_entry(place, "bad-name", f"{name} cannot be the name of a field", flaw)
    if not isinstance(document, Bits):
        low, width = _span(scope, place, str(document), whole)
        return Bit(name, low, width)
    low, width = _span(scope, place / "at", str(document.at), whole)
    values = Integer(width or whole.bits, signed=document.signed)
    _check_raw(scope, place, document)
    if width == 1 and document.signed and document.values is None:
        message = "a single bit is a boolean, which has no sign"
        scope.draft.reports(place / "signed", "wrong-shape", message, "drop `signed`, or use `values`")
    mappings = None if document.values is None else mappings_of(scope, place / "values", document.values, values)
    is_named = mappings is not None and is_open(document)
    return Bit(
        name=name,
        low=low,
        width=width,
        signed=document.signed,
        mappings=None if is_named else mappings,
        code=document.else_ or _CODE,
        derive=None
        if document.derive is None
        else expression(scope.whole(), place / "derive", document.derive, _kind(document, width)),
        hidden=document.hidden,
        doc=document.doc,
        meaning=_meaning(scope, place, document, mappings or (), width) if is_named else None,
    )


def _check_raw(scope: Scope, place: Place, document: Bits) -> None:
    """Report a `raw` that has no effect, or is not allowed as a name."""
    if document.raw is None:
        return
    if document.values is None:
        hint = "give both, or drop `raw`: readers see the number"
        scope.draft.reports_entry(place / "raw", "conflicting-keys", "`raw` without `values`", hint)
    if document.hidden:
        scope.draft.reports_entry(place / "hidden", "conflicting-keys", "`hidden` beside `raw`", "drop one of them")
    if flaw := names.logical_name_flaw(document.raw):
        scope.draft.reports(place / "raw", "bad-name", f"{document.raw} cannot be the name of a column", flaw)


def _meaning(scope: Scope, place: Place, document: Bits, mappings: Sequence[Mapping], width: int) -> Meaning | None:
    """The names of some numbers, which readers see beside the number; for a single bit, of true and false."""
    found = named_values(scope, place / "values", mappings)
    if found is None:
        return None
    words = tuple((bool(wire), name) for wire, name in found.names) if width == 1 else found.names
    return Meaning(replace(found, names=words), raw=document.raw or "")


def _kind(document: Bits, width: int) -> Kind:
    if document.values is not None and is_closed(document):
        return mapped_kind(document.values)[0]
    if not width:
        return Kind.ANY
    return Kind.BOOLEAN if width == 1 else Kind.INTEGER


def _span(scope: Scope, place: Place, text: str, whole: Integer) -> tuple[int, int]:
    """The lowest bit and the number of bits; (0, 0) for a text that was reported."""
    match = _SPAN.fullmatch(text)
    if match is None:
        ends = _DASHED.fullmatch(text)
        hint = f"write `{ends[1]}..{ends[2]}`" if ends else respelled_ends(text) or "write `3` or `0..1`"
        scope.draft.reports(place, "bits-out-of-range", f"{text} does not name bits", hint)
        return 0, 0
    low, high = int(match[1]), int(match[2] or match[1])
    if low > high or high >= whole.bits:
        message = f"the integer does not have the bits {text}"
        hint = f"write 0 to {whole.bits - 1}, the lower one first"
        scope.draft.reports(place, "bits-out-of-range", message, hint)
        return 0, 0
    return low, high - low + 1

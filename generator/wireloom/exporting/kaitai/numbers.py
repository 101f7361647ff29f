"""Numbers: Kaitai reads some of them itself; others are computed from the bytes that it reads."""

from dataclasses import dataclass, field
from typing import Any

from wireloom.exporting.kaitai.expressions import UnsayableError
from wireloom.model.types import Boolean, Float, Integer, NumberForm

_ORDERS = {NumberForm.BIG: "be", NumberForm.LITTLE: "le"}
_WHOLE = (8, 16, 32, 64)
_BASES = {NumberForm.DECIMAL: 10, NumberForm.HEXADECIMAL: 16, NumberForm.CAPITALS: 16, NumberForm.OCTAL: 8}
_MOST = 10  # most bytes of a number in groups of seven bits


@dataclass(frozen=True, slots=True)
class Number:
    """The keys of the attribute, and the expression that computes the number from it, `{raw}`; "" if none is needed."""

    keys: dict[str, Any]
    value: str = ""
    types: dict[str, dict[str, Any]] = field(default_factory=dict)  # helper types that the keys refer to


def number(type: Integer | Float | Boolean, order: str) -> Number:
    """How Kaitai reads a number in a format with the byte order `order` (be, le); raises UnsayableError."""
    match type:
        case Float(bits, form):
            if bits not in (32, 64):
                raise UnsayableError(f"a float of {bits} bits")
            return Number({"type": f"f{bits // 8}{_suffix(form, order)}"})
        case Boolean(bit=True, form=form):
            return Number({"type": f"b1{_ORDERS.get(form, order)}"})
        case Boolean():
            return Number({"type": "u1", "valid": {"any-of": [0, 1]}}, "{raw} != 0")
        case Integer(markers=markers) if markers is not None:
            return _marked(type, order)
        case Integer() if type.is_plain and type.bits in _WHOLE and not type.is_partial:
            sign = "s" if type.signed else "u"
            suffix = "" if type.bits == _WHOLE[0] else _suffix(type.form, order)
            return Number({"type": f"{sign}{type.bits // 8}{suffix}"})
        case Integer(bits=bits, form=form) if form in (NumberForm.OWN, *_ORDERS):
            read = {"type": f"b{bits}{_ORDERS.get(form, order)}"}
            return Number(read, _signed("{raw}", bits) if type.signed else "")
        case Integer(form=form) if form in _BASES:
            return Number(_digits(type), "{raw}.to_i" + ("" if _BASES[form] == 10 else f"({_BASES[form]})"))
        case Integer():
            return _grouped(type)


def _suffix(form: NumberForm, order: str) -> str:
    """The suffix for the byte order, if it is not the format's."""
    own = _ORDERS.get(form, order)
    return "" if own == order else own


def _signed(raw: str, bits: int) -> str:
    return f"{raw} >= {1 << bits - 1} ? {raw} - {1 << bits} : {raw}"


def _digits(type: Integer) -> dict[str, Any]:
    keys: dict[str, Any] = {"type": "str", "encoding": "ASCII"}
    if type.digits and type.width is not None:
        return keys | {"size": type.width}
    if len(type.ending) == 1:
        return keys | {"terminator": type.ending[0]}
    if type.is_endless:
        return keys | {"size-eos": True}
    raise UnsayableError("digits that end at several bytes")


def _marked(type: Integer, order: str) -> Number:
    """A number in one byte, or in the bytes after a marker byte."""
    assert type.markers is not None  # noqa: S101 - who calls has looked
    first, own = type.markers.first, _ORDERS.get(type.form, order)
    widths = {first + place: width for place, width in enumerate(type.markers.widths) if width}
    if any(width > 8 for width in widths.values()):
        raise UnsayableError("a number of more than eight bytes")
    seq: list[dict[str, Any]] = [{"id": "first", "type": "u1", "valid": {"max": max(widths, default=first - 1)}}]
    value = "first"
    for marker, width in widths.items():
        kind = f"u{width}" + (own if width > 1 else "") if width in (1, 2, 4, 8) else f"b{8 * width}{own}"
        seq.append({"id": f"wide_{marker}", "type": kind, "if": f"first == {marker}"})
        value = f"first == {marker} ? wide_{marker} : {value}"
    name = "_".join(("marked", *(f"{marker}x{width}" for marker, width in widths.items()), own))
    return Number({"type": name}, "{raw}.value", {name: {"seq": seq, "instances": {"value": {"value": value}}}})


def _quic() -> Number:
    """Two bits give the number of bytes; the remaining bits are the number."""
    sizes = (1, 3, 7)
    value = "first & 63"
    for size in sizes:
        parts = [f"((first & 63) << {8 * size})", *(f"(rest[{at}] << {8 * (size - at - 1)})" for at in range(size))]
        value = f"rest.size == {size} ? {' + '.join(parts)} : {value}"
    made = {
        "seq": [
            {"id": "first", "type": "u1"},
            {"id": "rest", "type": "u1", "repeat": "expr", "repeat-expr": "(1 << (first >> 6)) - 1"},
        ],
        "instances": {"value": {"value": value}},
    }
    return Number({"type": "quic_varint"}, "{raw}.value", {"quic_varint": made})


def _grouped(type: Integer) -> Number:
    """Seven bits a byte: the lowest first (LEB128), or the highest first (VLQ)."""
    if type.form is NumberForm.QUIC:
        return _quic()
    lowest_first = type.form in (NumberForm.VARINT, NumberForm.ZIGZAG, NumberForm.SLEB)
    if not lowest_first and type.form is not NumberForm.VLQ:
        raise UnsayableError(f"a number in the form {type.form.value}")
    name = "leb128" if lowest_first else "vlq"
    groups = [f"(groups[{place}] & 127)" for place in range(_MOST)]
    if lowest_first:
        value = " + ".join(
            f"(groups.size > {place} ? {group} << {7 * place} : 0)" if place else groups[0]
            for place, group in enumerate(groups)
        )
    else:
        value = " + ".join(
            f"(groups.size > {place} ? (groups[groups.size - {place + 1}] & 127) << {7 * place} : 0)"
            if place
            else "(groups.last & 127)"
            for place in range(_MOST)
        )
    made: dict[str, Any] = {
        "doc": f"A number of seven bits a byte, the {'lowest' if lowest_first else 'highest'} first.",
        "seq": [{"id": "groups", "type": "u1", "repeat": "until", "repeat-until": "_ < 128"}],
        "instances": {"value": {"value": value}},
    }
    raw = "{raw}.value"
    match type.form:
        case NumberForm.ZIGZAG:
            means = f"({raw} & 1) == 0 ? {raw} / 2 : -(({raw} + 1) / 2)"
        case NumberForm.SLEB:
            limit = " : ".join(f"groups.size == {size} ? {1 << 7 * size}" for size in range(1, _MOST))
            made["instances"]["limit"] = {"value": f"{limit} : {1 << 7 * _MOST}"}
            made["instances"]["signed"] = {"value": "value >= limit / 2 ? value - limit : value"}
            means = "{raw}.signed"
            name = "sleb128"
        case _:
            means = raw
    return Number({"type": name}, means, {name: made})

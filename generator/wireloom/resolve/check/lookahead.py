"""What is read ahead, tags and what ends a list: what stands there in a value is known to builders.

Builders make up what readers do not see and nothing says: fillers, bits without a name. Where a tag is read from such
bytes, what they make up must be what selects the case; where a list ends at bytes, it must not be those.
"""

from collections.abc import Iterator, Sequence

from wireloom.encodings import Encoding
from wireloom.expr.ast import Literal
from wireloom.model import types
from wireloom.model.extents import may_be_absent
from wireloom.model.traversal import plain
from wireloom.model.types import Field, Integer, NumberForm, PeekTag, Scalar, Struct, Type
from wireloom.resolve.bind.draft import Draft
from wireloom.resolve.check.sources import filler, needs_source
from wireloom.resolve.facts.sites import placed, structs
from wireloom.resolve.facts.sizes import Sizes
from wireloom.spec.documents import Place

_BYTE = 8
_WIDEST = 16  # bytes that are read ahead: of a tag, and of what ends a list
_TOLD = "?"  # a bit that the value says; others are those that builders make up
_Piece = tuple[str, str, str]  # bits, the highest first; the order of their bytes; the field that has them


def check_ahead(  # noqa: PLR0913 - the case, and the order of the format
    draft: Draft, place: Place, tag: PeekTag, values: Sequence[Scalar], type: Type, sizes: Sizes, order: str
) -> None:
    """Report a case whose tag stands in what builders make up, and is not that."""
    width = tag.type.width or 0
    bits, name = _head(type, width, sizes, order)
    told = [_bits_of(bytes_ahead(value, width, order_of(tag.type.form, order))) for value in values]
    if name and not (told and all(_may_be(bits, each) for each in told)):
        draft.reports_entry(place, "unknown-on-build", f"the tag is read from {_of(name)}", _hint(name))


def check_endings(draft: Draft, sizes: Sizes, order: str) -> None:
    """Report lists of which an element may begin as what ends them, since builders make that up."""
    for struct in structs(sizes.named):
        for place, field in placed(struct, draft.place / "types" / struct.name / "fields"):
            listed = types.not_null(field.type)
            if isinstance(listed, types.Array) and isinstance(listed.count, types.Terminator):
                _check_ending(draft, place, listed.element, listed.count, sizes, order)


def _check_ending(  # noqa: PLR0913 - the list, and the order of the format
    draft: Draft, place: Place, element: Type, ending: types.Terminator, sizes: Sizes, order: str
) -> None:
    bits, name = _head(element, len(ending.data), sizes, order)
    if name and _may_be(bits, _bits_of(ending.data)):
        message = f"an element begins with {_of(name)}, and that may be what ends the list"
        draft.reports_entry(place / "terminator", "unknown-on-build", message, _hint(name))
    elif ending.jump is not None and (width := ending.jump.number.width):
        bits, name = _head(element, width, sizes, order)
        ordered = _turned(bits) if order_of(ending.jump.number.form, order) == "little" else bits
        ends = [int(ordered.replace(_TOLD, bit).ljust(_BYTE * width, bit), 2) for bit in "01"]
        if name and ends[0] <= ending.jump.maximum and ends[1] >= ending.jump.minimum:
            message = f"an element begins with {_of(name)}, and that may lead elsewhere"
            draft.reports_entry(place / "jump", "unknown-on-build", message, _hint(name))


def _of(name: str) -> str:
    return f"{name}, which readers do not see and builders make up"


def _hint(name: str) -> str:
    return f"let readers see it, give {name} `const` or `derive`, and all of its bits names"


def _bits_of(data: bytes) -> str:
    return "".join(f"{byte:0{_BYTE}b}" for byte in data)


def _may_be(bits: str, others: str) -> bool:
    return all(bit in (_TOLD, other) for bit, other in zip(bits, others, strict=False))


def _turned(bits: str) -> str:
    """The bits of the same bytes, the last of them first."""
    return "".join(bits[at : at + _BYTE] for at in reversed(range(0, len(bits), _BYTE)))


def bytes_ahead(value: Scalar, width: int, order: str) -> bytes:
    """A value of the tag as it stands on the wire."""
    if isinstance(value, bytes):
        return value
    number = int(value) if isinstance(value, int) else 0
    data = (number & (1 << _BYTE * width) - 1).to_bytes(width, "big")
    return data if order == "big" else data[::-1]


def order_of(form: NumberForm, otherwise: str) -> str:
    """The order of a number's bytes."""
    return form.value if form in types.ORDERED else otherwise


def _head(type: Type, width: int, sizes: Sizes, order: str) -> tuple[str, str]:
    """The bits of the first bytes of a value, as they stand there, and the first field of which some are made up."""
    found, name = "", ""
    run: list[_Piece] = []  # fields that share bytes: the first has the highest bits, or in little endian the lowest
    for piece in _pieces(type, sizes, order):
        run.append(piece)
        if sum(len(bits) for bits, _, _ in run) % _BYTE:
            continue
        is_big = run[0][1] == "big"
        joined = "".join(bits for bits, _, _ in (run if is_big else reversed(run)))
        found += joined if is_big else _turned(joined)
        name = name or next((whose for bits, _, whose in run if bits.strip(_TOLD)), "")
        if len(found) >= _BYTE * width:
            break
        run = []
    return found[: _BYTE * width], name


def _pieces(type: Type, sizes: Sizes, order: str, seen: frozenset[str] = frozenset()) -> Iterator[_Piece]:
    """What a value begins with, as far as its size is known."""
    match plain(type, sizes.named):
        case Struct(encoding=Encoding(laid_out=True), name=name) as struct if name not in seen:
            for field in struct.fields:
                if not field.in_struct:
                    continue
                if field.at is not None or field.size is not None or may_be_absent(field):
                    return
                piece = _made_up(struct, field, sizes, order)
                yield from _pieces(field.type, sizes, order, seen | {name}) if piece is None else (piece,)
                if sizes.of(field.type).fixed is None:
                    return
        case types.Array(packed=0, element=element, count=Literal(int(count))):
            for _ in range(min(count, _WIDEST)):
                yield from _pieces(element, sizes, order, seen)
        case Integer() | types.Boolean() as number:
            yield _TOLD * _width(number, sizes), order_of(number.form, order), ""
        case other:
            yield _TOLD * _width(other, sizes), "big", ""


def _made_up(struct: Struct, field: Field, sizes: Sizes, order: str) -> _Piece | None:
    """What builders make up of a field; None of one that the value says."""
    value = filler(struct, field) if needs_source(field) else None
    if value is None and not (needs_source(field) and field.bits):
        return None
    width = _width(field.type, sizes)
    bits = f"{value if isinstance(value, int) and not field.bits else 0:0{width}b}"
    for bit in field.bits:
        if not bit.hidden or bit.derive is not None:
            end = width - bit.low
            bits = bits[: end - bit.width] + _TOLD * bit.width + bits[end:]
    form = field.type.form if isinstance(field.type, Integer | types.Boolean) else NumberForm.OWN
    return bits, order_of(form, order), field.wire_name


def _width(type: Type, sizes: Sizes) -> int:
    """How many bits a value has, or the number in front of it."""
    match type:
        case types.Boolean(bit=True):
            return 1
        case Integer(is_partial=True):
            return type.bits
        case types.Bytes(size=types.Prefix(number) | types.Blocks(number)):
            return _BYTE * (number.width or 0)
        case _:
            return _BYTE * min(sizes.of(type).fixed or 0, _WIDEST)

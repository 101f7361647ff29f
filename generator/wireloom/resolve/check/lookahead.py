"""What is read ahead, tags and what ends a list: what stands there in a value is known to builders.

Builders make up what readers do not see and nothing says: fillers, bits without a name. Where a tag is read from such
bytes, what they make up must be what selects the case; where a list ends at bytes, it must not be those.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from wireloom.expr.ast import Literal
from wireloom.model import types
from wireloom.model.extents import may_be_absent
from wireloom.model.types import Encoding, Field, Integer, NumberForm, PeekTag, Scalar, Struct, Type
from wireloom.resolve.bind.draft import Draft
from wireloom.resolve.check.sources import filler, needs_source
from wireloom.resolve.facts.sites import structs
from wireloom.resolve.facts.sizes import type_size
from wireloom.spec.documents import Place

Types = Mapping[str, Type]
_BYTE = 8
_WIDEST = 16  # bytes that are read ahead: of a tag, and of what ends a list
_LEFT = "what the elements of a list may leave of a byte, where builders write zeros"


@dataclass(frozen=True, slots=True)
class _Piece:
    """Some bits of a value: which of them builders make up, what these are, and the field that has them."""

    bits: int
    made_up: int = 0
    filled: int = 0
    name: str = ""
    order: str = "big"

    @property
    def numbers(self) -> tuple[int, int]:
        """What is made up, and what it is, the byte that comes first highest."""
        size = self.bits // _BYTE
        first, second = (each.to_bytes(size, "big") for each in (self.made_up, self.filled))
        return (_number(first, self.order), _number(second, self.order))


def check_ahead(  # noqa: PLR0913 - the case, and the order of the format
    draft: Draft, place: Place, tag: PeekTag, values: Sequence[Scalar], type: Type, named: Types, order: str
) -> None:
    """Report a case whose tag stands in what builders make up, and is not that."""
    width = tag.type.width or 0
    written = order_of(tag.type.form, order)
    made_up, filled, name = _head(type, width, named, order)
    told = [int.from_bytes(bytes_ahead(value, width, written), "big") for value in values]
    if made_up and (not told or any((each ^ filled) & made_up for each in told)):
        draft.reports_entry(place, "unknown-on-build", f"the tag is read from {_of(name)}", _hint(name))


def check_endings(draft: Draft, named: Types, order: str) -> None:
    """Report lists of which an element may begin as what ends them, since builders make that up."""
    for struct in structs(named):
        for position, field in enumerate(struct.steps):
            if isinstance(field, Field) and isinstance(listed := types.not_null(field.type), types.Array):
                place = draft.place / "types" / struct.name / "fields" / position / field.wire_name
                _check_ending(draft, place, listed, named, order)


def _check_ending(draft: Draft, place: Place, listed: types.Array, named: Types, order: str) -> None:
    if not isinstance(listed.count, types.Terminator):
        return
    ending, jump = listed.count.data, listed.count.jump
    made_up, filled, name = _head(listed.element, len(ending), named, order)
    if made_up and not (int.from_bytes(ending, "big") ^ filled) & made_up:
        message = f"an element begins with {_of(name)}, and that may be what ends the list"
        draft.reports_entry(place / "terminator", "unknown-on-build", message, _hint(name))
    elif jump is not None and (width := jump.number.width):
        made_up, filled, name = _head(listed.element, width, named, order)
        big = order_of(jump.number.form, order) == "big"
        ends = (filled, filled | ((1 << _BYTE * width) - 1 & ~made_up))  # all other bits may be zeros, and ones
        least, most = (each if big else _number(each.to_bytes(width, "big"), "little") for each in ends)
        if made_up and least <= jump.maximum and most >= jump.minimum:
            message = f"an element begins with {_of(name)}, and that may lead elsewhere"
            draft.reports_entry(place / "jump", "unknown-on-build", message, _hint(name))


def _of(name: str) -> str:
    return f"{name}, which readers do not see and builders make up" if name else _LEFT


def _hint(name: str) -> str:
    if not name:
        return "let other bytes stand in front of that list"
    return f"let readers see it, give {name} `const` or `derive`, and all of its bits names"


def _head(type: Type, width: int, named: Types, order: str) -> tuple[int, int, str]:
    """Of the first bytes of a value, the first of them highest: which bits are made up, what they are, and whose."""
    made_up = filled = at = 0
    name = ""
    for piece in _pieces(type, named, order):
        size, (made, fill) = piece.bits // _BYTE, piece.numbers
        move = _BYTE * (width - at - size)  # below zero where they end within it
        made_up |= made << move if move >= 0 else made >> -move
        filled |= fill << move if move >= 0 else fill >> -move
        name = name or (piece.name if made else "")
        at += size
        if at >= width:
            break
    return made_up, filled & made_up, name


def bytes_ahead(value: Scalar, width: int, order: str) -> bytes:
    """A value of the tag as it stands on the wire."""
    if isinstance(value, bytes):
        return value
    number = int(value) if isinstance(value, int) else 0
    return _ordered((number & (1 << _BYTE * width) - 1).to_bytes(width, "big"), order)


def _ordered(data: bytes, order: str) -> bytes:
    return data if order == "big" else data[::-1]


def _number(data: bytes, order: str) -> int:
    return int.from_bytes(_ordered(data, order), "big")


def order_of(form: NumberForm, otherwise: str) -> str:
    """The order of a number's bytes."""
    return form.value if form in types.ORDERED else otherwise


def _pieces(type: Type, named: Types, order: str, seen: frozenset[str] = frozenset()) -> Iterator[_Piece]:
    """What a value begins with, as far as its size is known."""
    match type:
        case types.Reference(name=name):
            yield from _pieces(named[name], named, order, seen | {name}) if name not in seen else ()
        case Struct(encoding=Encoding.BINARY):
            yield from _whole(_fields(type, named, order, seen))
        case Integer(width=int(width)) if not type.is_partial:
            yield _Piece(_BYTE * width)
        case types.Float(bits=bits):
            yield _Piece(bits)
        case types.Boolean(bit=False):
            yield _Piece(_BYTE)
        case types.Text(size=Literal(int(size))) | types.Bytes(size=Literal(int(size))):
            yield _Piece(_BYTE * min(max(size, 0), _WIDEST))
        case types.Nullable(type=types.Array(packed=int(bits)) as listed) if bits:
            yield from _packed(listed, order)
        case types.Array(packed=int(bits)) if bits:
            yield from _packed(type, order)
        case types.Array(element=element, count=Literal(int(count))):
            for _ in range(min(count, _WIDEST)):
                yield from _pieces(element, named, order, seen)
        case _:
            return


def _packed(listed: types.Array, order: str) -> Iterator[_Piece]:
    """Elements that share bytes, and what these may leave of a last byte, as far as a tag reaches."""
    if isinstance(listed.count, types.Prefix):
        if listed.count.number.width is None:
            return
        yield _Piece(_BYTE * listed.count.number.width)
    size = _WIDEST if listed.packed_size is None else min(listed.packed_size, _WIDEST)
    counts = _counts(listed, _BYTE * size)
    left = {bit for count in counts for bit in range(count, -(-count // _BYTE) * _BYTE) if bit < _BYTE * size}
    form = listed.element.form if isinstance(listed.element, Integer | types.Boolean) else NumberForm.OWN
    written = order_of(form, order)
    made_up = sum(1 << (_BYTE * size - 1 - bit if written == "big" else bit) for bit in left)
    yield _Piece(_BYTE * size, made_up, order=written)


def _counts(listed: types.Array, most: int) -> Iterable[int]:
    """The bits that the elements may have together, up to so many."""
    if isinstance(listed.count, Literal) and isinstance(listed.count.value, int):
        return (listed.packed * min(listed.count.value, most),)
    fills = listed.count is None and _BYTE % listed.packed == 0  # every byte
    return () if fills else range(listed.packed, most, listed.packed)


def _fields(struct: Struct, named: Types, order: str, seen: frozenset[str]) -> Iterator[_Piece]:
    for field in struct.fields:
        if not field.in_struct:
            continue
        if field.at is not None or field.size is not None or may_be_absent(field):
            return
        piece = _piece(struct, field, named, order)
        yield from _pieces(field.type, named, order, seen) if piece is None else (piece,)
        if type_size(field.type, named, frozenset()) is None:
            return


def _piece(struct: Struct, field: Field, named: Types, order: str) -> _Piece | None:
    """What builders make up of a field, and of one that shares bytes how many bits it has; None of any other."""
    type, name = field.type, field.wire_name
    is_unsaid = needs_source(field)
    bits, form = _bits(type, named), order
    if isinstance(type, Integer | types.Boolean):
        form = order_of(type.form, order)
    if is_unsaid and field.bits:
        told = sum((1 << bit.width) - 1 << bit.low for bit in field.bits if not bit.hidden or bit.derive is not None)
        return _Piece(bits, (1 << bits) - 1 & ~told, 0, name, form)
    value = filler(struct, field) if is_unsaid else None
    if value is None:
        return _Piece(bits, order=form) if bits % _BYTE else None
    number = value if isinstance(value, int) else 0  # all others are zeros, or nothing behind a number that says so
    return _Piece(bits, (1 << bits) - 1, number, name, form)


def _bits(type: Type, named: Types) -> int:
    """How many bits a value has, or the number in front of it."""
    match type:
        case types.Boolean(bit=True):
            return 1
        case Integer(is_partial=True):
            return type.bits
        case types.Bytes(size=types.Prefix(number) | types.Blocks(number)):
            return _BYTE * (number.width or 0)
        case _:
            return _BYTE * (type_size(type, named, frozenset()) or 0)


def _whole(pieces: Iterator[_Piece]) -> Iterator[_Piece]:
    """The pieces; of fields that share bytes, what they fill together."""
    run: list[_Piece] = []
    for piece in pieces:
        run.append(piece)
        if sum(each.bits for each in run) % _BYTE == 0:
            yield run[0] if len(run) == 1 else _joined(run)
            run = []


def _joined(run: Sequence[_Piece]) -> _Piece:
    """Fields that share bytes, as one: the first has the highest bits, where the lowest byte comes first the lowest."""
    made_up = filled = 0
    for piece in run if run[0].order == "big" else reversed(run):
        made_up, filled = made_up << piece.bits | piece.made_up, filled << piece.bits | piece.filled
    name = next((piece.name for piece in run if piece.made_up), "")
    return _Piece(sum(piece.bits for piece in run), made_up, filled, name, run[0].order)

"""Builders must know the bytes that readers look ahead at: `peek` tags and terminators of lists.

Builders fill bytes that readers do not see and that the spec does not determine: fillers, and bits without a name. A
tag must not be read from such bytes, and elements of a list with a terminator must not begin with them. Bytes that are
always zero are known.
"""

from collections.abc import Iterator, Sequence

from wireloom.encodings import Encoding
from wireloom.expr.ast import Literal
from wireloom.model import types
from wireloom.model.extents import may_be_absent
from wireloom.model.traversal import plain
from wireloom.model.types import Field, Integer, PeekTag, Scalar, Struct, Type
from wireloom.resolve.bind.draft import Draft
from wireloom.resolve.check.sources import filler, needs_source
from wireloom.resolve.facts.sites import all_placed
from wireloom.resolve.facts.sizes import Sizes
from wireloom.spec.documents import Place

_BYTE = 8


def check_ahead(  # noqa: PLR0913 - the case and the known facts
    draft: Draft, place: Place, tag: PeekTag, values: Sequence[Scalar], type: Type, sizes: Sizes
) -> None:
    """Report a case whose tag is read from bytes that builders fill."""
    name, is_zero = _made_up(type, tag.type.width or 0, sizes)
    is_known = is_zero and tag.type.width == 1 and {*values} == {0}
    if name and not is_known:
        draft.reports_entry(place, "unknown-on-build", f"the tag is read from {_of(name)}", _hint(name))


def check_endings(draft: Draft, sizes: Sizes) -> None:
    """Report lists whose elements begin with bytes that builders fill, and so might look like the terminator."""
    for place, _, field in all_placed(draft.place, sizes.named):
        listed = types.not_null(field.type)
        if isinstance(listed, types.Array) and isinstance(listed.count, types.Terminator):
            data, jump = listed.count.data, listed.count.jump
            width = max(len(data), 0 if jump is None else jump.number.width or 0)
            name, is_zero = _made_up(listed.element, width, sizes)
            if name and not (is_zero and jump is None and 0 not in data):
                message = f"an element begins with {_of(name)}, and may look like the end of the list"
                draft.reports_entry(place / "terminator", "unknown-on-build", message, _hint(name))


def _of(name: str) -> str:
    return f"{name}, a hidden field that builders fill"


def _hint(name: str) -> str:
    return f"show {name} to readers, or give it `const` or `derive`, or name all its bits"


def _made_up(type: Type, width: int, sizes: Sizes) -> tuple[str, bool]:
    """The first filled field within the first bytes, and whether it is filled with zeros."""
    bits = 0
    for size, struct, field in _beginning(type, sizes):
        if bits >= width * _BYTE:
            break
        if field is not None and struct is not None:
            value = None if field.bits or size % _BYTE else filler(struct, field)
            return field.wire_name, value is not None and not any(value if isinstance(value, bytes) else [value])
        bits += size
    return "", False


_Piece = tuple[int, Struct | None, Field | None]  # bits, and the field of which builders fill some


def _beginning(type: Type, sizes: Sizes, seen: frozenset[str] = frozenset()) -> Iterator[_Piece]:
    """The pieces that a value begins with, as long as their sizes are known."""
    match plain(type, sizes.named):
        case Struct(encoding=Encoding(laid_out=True), name=name) as struct if name not in seen:
            for field in struct.fields:
                if not field.in_struct:
                    continue
                if field.at is not None or field.size is not None or may_be_absent(field):
                    return
                pieces = list(_beginning(field.type, sizes, seen | {name}))
                yield from [(pieces[0][0], struct, field)] if pieces and _is_made_up(field) else pieces
                if sizes.of(field.type).fixed is None:
                    return
        case types.Array(packed=0, element=element, count=Literal(int(count))) if count > 0:
            yield from _beginning(element, sizes, seen)
        case types.Boolean(bit=True):
            yield 1, None, None
        case Integer(is_partial=True) as number:
            yield number.bits, None, None
        case other:
            yield _BYTE * (sizes.of(other).fixed or 0), None, None


def _is_made_up(field: Field) -> bool:
    """Whether builders fill a field, or bits of it that are hidden or have no name."""
    if not needs_source(field):
        return False
    if not field.bits:
        return True
    width = field.type.bits if isinstance(field.type, Integer) else 0
    return sum(bit.width for bit in field.bits if not bit.hidden or bit.derive is not None) < width

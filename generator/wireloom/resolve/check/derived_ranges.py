"""Whether what is derived or computed is ever what its field can have, and a length ever that of what it is of."""

from collections.abc import Callable
from functools import partial

from wireloom.expr.ast import Binary, Call, Expression, FieldRef, Kind, Literal, Unary, parts, references
from wireloom.expr.extents import Extent
from wireloom.expr.text import text_of
from wireloom.expr.types import kind
from wireloom.model import types
from wireloom.model.extents import bit_extent, type_extent
from wireloom.model.types import Field, Struct
from wireloom.resolve.facts.sites import Role, Site
from wireloom.resolve.facts.values import Facts

_Line = tuple[int, int]  # how often a length is counted, and what is added


def flaw_of_value(site: Site, known: Facts, *, deep: bool) -> tuple[str, str] | None:
    """What is wrong with a derived or computed number that is never right; None where it may be.

    `deep`: some struct holds itself, and at its deepest level a count may be null.
    """
    if site.field is None or site.role not in (Role.DERIVE, Role.COMPUTE) or (deep and _counts(site.expression)):
        return None
    if site.field.mappings is not None or (site.role is Role.DERIVE and site.field.compute is not None):
        return None
    return _flaw_of_range(site, site.field, known) or _flaw_of_length(site, site.field)


def _counts(expression: Expression) -> bool:
    is_count = isinstance(expression, Call) and expression.function == "count"
    return is_count or any(map(_counts, parts(expression)))


# --- numbers -------------------------------------------------------------------------------------------------------


def _flaw_of_range(site: Site, field: Field, known: Facts) -> tuple[str, str] | None:
    room = _room(site, field)
    if room is None or kind(site.expression) is not Kind.INTEGER or _may_be_told(site, field):
        return None
    found = known.of(site.expression)
    if found.nullable or (found.low <= room.high and room.low <= found.high):
        return None
    name = site.bit or field.wire_name
    return f"{name} is never {text_of(site.expression)}", f"it holds {_text(room)}, and this is {_text(found)}"


def _may_be_told(site: Site, field: Field) -> bool:
    """Whether a value may say itself what else would be derived of others."""
    if site.role is not Role.DERIVE or not any(isinstance(each, FieldRef) for each in references(site.expression)):
        return False
    hidden = field.hidden if not site.bit else next(each.hidden for each in field.bits if each.name == site.bit)
    return not hidden


def _room(site: Site, field: Field) -> Extent | None:
    """The numbers that a field, or a bit of it, can be; None of what is no plain number."""
    if site.bit:
        bit = next(each for each in field.bits if each.name == site.bit)
        return None if bit.mappings is not None else bit_extent(bit)
    plain = types.not_null(field.type)
    if not isinstance(plain, types.Integer):
        return None
    found = type_extent(plain)
    low = found.low if field.minimum is None else max(field.minimum, found.low)
    high = found.high if field.maximum is None else min(field.maximum, found.high)
    return Extent(low, high, nullable=False)


def _text(found: Extent) -> str:
    return str(found.low) if found.low == found.high else f"{found.low} to {found.high}"


# --- lengths -------------------------------------------------------------------------------------------------------


def _flaw_of_length(site: Site, field: Field) -> tuple[str, str] | None:
    """A length that nobody sees and that follows from what it is the length of, which is another one then."""
    if site.role is not Role.DERIVE or site.bit or not field.hidden or _varies(field):
        return None
    for sized in site.struct.fields:
        stated = _amount(site.struct, sized)
        back = None if stated is None else _line(stated, partial(_is_field, field.wire_name))
        there = _line(site.expression, partial(_is_length, sized.wire_name))
        if stated is None or back is None or there is None or back[0] * there[0] != 1:
            continue
        if back[0] * there[1] + back[1]:
            what = "elements" if isinstance(sized.type, types.Array) else "bytes"
            derived = f"{field.wire_name} is {text_of(site.expression)}"
            message = f"no {sized.wire_name} has {text_of(stated)} {what} where {derived}"
            return message, "let one undo what the other does, as `bytes(n - 1)` beside `derive: len(data) + 1`"
    return _swapped(site.struct, field)


def _swapped(struct: Struct, first: Field) -> tuple[str, str] | None:
    """Two lengths that nobody sees, of which each is derived of what the other is the length of; said of the first."""
    hidden = [each for each in struct.fields if each.hidden and each.derive is not None and not _varies(each)]
    for second in hidden[hidden.index(first) + 1 :]:
        for mine in _sized_by(struct, first):
            for other in _sized_by(struct, second):
                if mine is not other and _is_length_of(first, other) and _is_length_of(second, mine):
                    message = f"{first.wire_name} is the length of {other.wire_name}, and {mine.wire_name} has it"
                    return message, f"derive {first.wire_name} of {mine.wire_name}, or swap the two"
    return None


def _sized_by(struct: Struct, number: Field) -> list[Field]:
    """The fields of which a number says how long they are."""
    amounts = ((field, _amount(struct, field)) for field in struct.fields)
    return [field for field, stated in amounts if stated is not None and _is_field(number.wire_name, stated)]


def _is_length_of(number: Field, sized: Field) -> bool:
    return number.derive is not None and _is_length(sized.wire_name, number.derive)


def _varies(field: Field) -> bool:
    return field.is_conditional or not field.on_wire


def _amount(struct: Struct, field: Field) -> Expression | None:
    """How many bytes or elements a field always has, where an expression says that and nothing else does."""
    if _varies(field) or field.size is not None or field.packing is not None or field.mappings is not None:
        return None
    match field.type:
        case types.Bytes(size=size, charset="") | types.Text(size=size):
            return types.stated(size)
        case types.Array(count=count, salvage=None):
            thinned = any(isinstance(step, types.Discard) and step.field == field.wire_name for step in struct.steps)
            return None if thinned else types.stated(count)
        case _:
            return None


def _is_field(name: str, expression: Expression) -> bool:
    return isinstance(expression, FieldRef) and (expression.up, expression.name, expression.members) == (0, name, ())


def _is_length(name: str, expression: Expression) -> bool:
    match expression:
        case Call("len" | "count", (FieldRef() as counted,)):
            return _is_field(name, counted)
        case _:
            return False


def _line(expression: Expression, is_term: Callable[[Expression], bool]) -> _Line | None:
    """An expression as so many times a term and a number; None where it is something else."""
    if is_term(expression):
        return 1, 0
    match expression:
        case Literal(int(number)) if not isinstance(number, bool):
            return 0, number
        case Unary("-", operand):
            found = _line(operand, is_term)
            return None if found is None else (-found[0], -found[1])
        case Binary("+" | "-" as operator, left, right):
            first, second = _line(left, is_term), _line(right, is_term)
            sign = 1 if operator == "+" else -1
            if first is None or second is None:
                return None
            return first[0] + sign * second[0], first[1] + sign * second[1]
        case Binary("*", left, right):
            first, second = _line(left, is_term), _line(right, is_term)
            if first is None or second is None or (first[0] and second[0]):
                return None
            return first[0] * second[1] + second[0] * first[1], first[1] * second[1]
        case _:
            return None

"""Sizes, offsets and derived values that no record has: what is negative, never fits, or has no room."""

from collections.abc import Iterator

from wireloom.expr.ast import Call, Expression, FieldRef, Kind, Unary, integer_of, parts, references
from wireloom.expr.extents import Extent
from wireloom.expr.text import text_of
from wireloom.expr.types import kind
from wireloom.model import types
from wireloom.model.extents import bit_extent, ranged_extent
from wireloom.model.types import Field
from wireloom.problems import Problem
from wireloom.resolve.bind.draft import Draft
from wireloom.resolve.check.recursion import stated_depths
from wireloom.resolve.check.size_limits import flaw_of_frame
from wireloom.resolve.facts.sites import Role, Site, in_all_uses
from wireloom.resolve.facts.sizes import Sizes
from wireloom.resolve.facts.values import Facts, View

_SIZES = (Role.SIZE, Role.COUNT, Role.BOUND)
_PLACES = (Role.OFFSET, Role.COVERED)
_MOST = 2**31 - 1  # bytes that a record may have: Arrow's offsets count no more


def check_values(draft: Draft, view: View, sizes: Sizes) -> None:
    """Report sizes, offsets and derived values that no record has."""
    deep = bool(stated_depths(draft))
    for problem in in_all_uses(draft.place, view.names.named, lambda site: _found(site, view, sizes, deep=deep)):
        draft.problems.add(problem)


def _found(site: Site, view: View, sizes: Sizes, *, deep: bool) -> Iterator[Problem]:
    if site.role is Role.BUILT:
        return
    known = view.facts(site.struct)
    if misfit := flaw_of_frame(site, known, sizes) or _flaw_of_value(site, known, deep=deep):
        yield site.place.problem("impossible-value", *misfit)
    if site.role in (*_SIZES, *_PLACES) and kind(site.expression) is Kind.INTEGER:
        yield from _size_flaws(site, known)


def _size_flaws(site: Site, known: Facts) -> Iterator[Problem]:
    found = known.of(site.expression)
    if found.low > _MOST or (found.high < -_MOST and site.role in _PLACES):
        hint = f"a record has at most {_MOST} bytes"
        yield site.place.problem("impossible-value", f"no record reaches {text_of(site.expression)}", hint)
    elif found.high < 0 and site.role in _SIZES:
        what = "count" if site.role is Role.COUNT else "size"
        message = f"a {what} of {text_of(site.expression)} is negative"
        yield site.place.problem("negative-size", message, "a size or a count is 0 or more")
    elif site.role is Role.OFFSET and _is_before(site, found):
        message = f"{text_of(site.expression)} is no offset, and only a number counts from the end"
        yield site.place.problem("impossible-value", message, "`at: size - n` does")


def _is_before(site: Site, found: Extent) -> bool:
    """Whether an offset that is computed never lies behind the start; one that is written as a number may."""
    computed = site.field is not None and not site.field.base and integer_of(site.expression) is None
    return computed and (found.high < 0 or (found.high == 0 and isinstance(site.expression, Unary)))


# --- derived and computed numbers ----------------------------------------------------------------------------------


def _flaw_of_value(site: Site, known: Facts, *, deep: bool) -> tuple[str, str] | None:
    """What is wrong with a derived or computed number that its field never holds; None where it may.

    `deep`: some struct holds itself, and at its deepest level a count may be null.
    """
    field = site.field
    if field is None or site.role not in (Role.DERIVE, Role.COMPUTE) or (deep and _counts(site.expression)):
        return None
    if field.mappings is not None or (site.role is Role.DERIVE and (field.compute is not None or _may_be_told(site))):
        return None
    room, found = _room(site, field), known.of(site.expression)
    if room is None or kind(site.expression) is not Kind.INTEGER or found.nullable:
        return None
    if found.low <= room.high and room.low <= found.high:
        return None
    message = f"{site.bit or field.wire_name} is never {text_of(site.expression)}"
    return message, f"it holds {room.text}, and this is {found.text}"


def _counts(expression: Expression) -> bool:
    is_count = isinstance(expression, Call) and expression.function == "count"
    return is_count or any(map(_counts, parts(expression)))


def _may_be_told(site: Site) -> bool:
    """Whether a value may say itself what else would be derived of others."""
    if site.field is None or not any(isinstance(each, FieldRef) for each in references(site.expression)):
        return False
    bit = next((each for each in site.field.bits if each.name == site.bit), None)
    return not (site.field.hidden if bit is None else bit.hidden)


def _room(site: Site, field: Field) -> Extent | None:
    """The numbers that a field, or a bit of it, can be; None of what is no plain number."""
    if site.bit:
        bit = next(each for each in field.bits if each.name == site.bit)
        return None if bit.mappings is not None else bit_extent(bit)
    plain = types.not_null(field.type)
    return ranged_extent(field, plain) if isinstance(plain, types.Integer) else None

"""Sizes, offsets and derived values that no record has: what is negative, never fits, or has no room."""

from collections.abc import Iterator

from wireloom.expr.ast import Binary, Expression, Kind, Literal, Position, Unary, integer_of
from wireloom.expr.extents import Extent
from wireloom.expr.text import text_of
from wireloom.expr.types import kind
from wireloom.model.types import Case, Field, Refusal, Select
from wireloom.problems import Problem
from wireloom.resolve.bind.draft import Draft
from wireloom.resolve.bind.wording import byte_count
from wireloom.resolve.check.derived_ranges import flaw_of_value
from wireloom.resolve.check.recursion import stated_depths
from wireloom.resolve.check.size_limits import flaw_of_frame
from wireloom.resolve.facts.sites import Role, Site, Types, has_tag, in_all_uses
from wireloom.resolve.facts.sizes import type_size
from wireloom.resolve.facts.values import Facts, View
from wireloom.spec.documents import Place
from wireloom.spec.yaml import MappingNode

_SIZES = (Role.SIZE, Role.COUNT, Role.BOUND)


_PLACES = (Role.OFFSET, Role.COVERED)


_SIZE = Position("size")


_MOST = 2**31 - 1  # bytes that a record may have: Arrow's offsets count no more


def check_values(draft: Draft, view: View) -> None:
    """Report sizes, offsets and derived values that no record has."""
    deep = bool(stated_depths(draft))
    for problem in in_all_uses(draft.place, view.names.named, lambda site: _found(site, view, deep=deep)):
        draft.problems.add(problem)


def _found(site: Site, view: View, *, deep: bool) -> Iterator[Problem]:
    known = view.given(site.struct) if site.role is Role.BUILT else view.facts(site.struct)
    if misfit := flaw_of_frame(site, known, view.names.named) or flaw_of_value(site, known, deep=deep):
        yield site.place.problem("impossible-value", *misfit)
    if site.role in (*_SIZES, *_PLACES) and kind(site.expression) is Kind.INTEGER:
        yield from _size_flaws(site, known)
    if site.role is Role.TAG:
        yield from _case_flaws(site, view.names.named)


def _size_flaws(site: Site, known: Facts) -> Iterator[Problem]:
    found = known.of(site.expression)
    if found.low > _MOST or (found.high < -_MOST and site.role in _PLACES):
        hint = f"a record has at most {_MOST} bytes"
        yield site.place.problem("impossible-value", f"no record reaches {text_of(site.expression)}", hint)
    elif found.high < 0 and site.role in _SIZES:
        what = "count" if site.role is Role.COUNT else "size"
        message = f"a {what} of {text_of(site.expression)} is negative"
        yield site.place.problem("negative-size", message, "a size or a count is 0 or more")
    elif site.role is Role.OFFSET and (mend := _from_end(site, found)):
        message = f"{text_of(site.expression)} is no offset, and only a number counts from the end"
        yield site.place.problem("impossible-value", message, f"`at: {mend}` does")


def _from_end(site: Site, found: Extent) -> str:
    """What counts from the end as an offset that is computed does not, being negative; empty where it may be one.

    Of what is the opposite of a number that is never negative, zero alone would be an offset, and is no distance.
    """
    field, at = site.field, site.expression
    if field is None or field.base or integer_of(at) is not None:
        return ""
    negated = isinstance(at, Unary) and at.operator == "-" and field.when is None
    return text_of(_behind_size(at)) if found.high < 0 or (negated and found.high == 0) else ""


def _behind_size(at: Expression) -> Expression:
    """The place that is so far from the end, without brackets where it can do without."""
    match at:
        case Literal(0):
            return _SIZE
        case Unary("-", operand):
            return Binary("-", _SIZE, operand)
        case Binary("+" | "-" as operator, left, right):
            return Binary(operator, _behind_size(left), right)
        case _:
            return Binary("+", _SIZE, at)


def _case_flaws(site: Site, named: Types) -> Iterator[Problem]:
    """Cases of another size than their region has."""
    field, above = site.field, Place(site.place.document, site.place.path[:-1])
    select = None if field is None else field.type
    if field is None or field.packing is not None or not isinstance(select, Select) or not has_tag(select, site):
        return
    size = field.size.value if isinstance(field.size, Literal) else None
    cases = above / "cases"
    keys = [key.text for key, _ in cases.node.entries] if isinstance(cases.node, MappingNode) else []
    for place, case in enumerate(select.cases):
        found = _case_size(case, named)
        if found is not None and isinstance(size, int) and found != size:
            where = cases / keys[place] if place < len(keys) else above / "otherwise"
            message, hint = f"a case of {byte_count(found)} in a region of {size}", _region_hint(field)
            yield where.key_problem("bad-case", message, hint)


def _case_size(case: Case, named: Types) -> int | None:
    """The bytes of a case, where they are always as many."""
    return None if isinstance(case.type, Refusal) else type_size(case.type, named, frozenset())


def _region_hint(field: Field) -> str:
    return f"`size` of {field.wire_name} is that of each case; drop it, or state what all have"

"""Report sizes, counts and offsets that are always negative, or beyond the largest record."""

from collections.abc import Iterator

from wireloom.expr.ast import Kind, Unary, integer_of
from wireloom.expr.extents import Extent
from wireloom.expr.text import text_of
from wireloom.expr.types import kind
from wireloom.problems import Problem
from wireloom.resolve.bind.draft import Draft
from wireloom.resolve.facts.sites import Role, Site, in_all_uses
from wireloom.resolve.facts.values import View

_SIZES = (Role.SIZE, Role.COUNT, Role.BOUND)
_PLACES = (Role.OFFSET, Role.COVERED)
_MOST = 2**31 - 1  # bytes of a record, since Arrow has 32-bit offsets


def check_values(draft: Draft, view: View) -> None:
    """Report sizes, counts and offsets that no record can have."""
    for problem in in_all_uses(draft.place, view.names.named, lambda site: _found(site, view)):
        draft.problems.add(problem)


def _found(site: Site, view: View) -> Iterator[Problem]:
    if site.role not in (*_SIZES, *_PLACES) or kind(site.expression) is not Kind.INTEGER:
        return
    found = view.facts(site.struct).of(site.expression)
    if found.low > _MOST or (found.high < -_MOST and site.role in _PLACES):
        hint = f"a record has at most {_MOST} bytes"
        yield site.place.problem(
            "impossible-value", f"{text_of(site.expression)} is beyond the end of every record", hint
        )
    elif found.high < 0 and site.role in _SIZES:
        what = "count" if site.role is Role.COUNT else "size"
        message = f"a {what} of {text_of(site.expression)} is negative"
        yield site.place.problem("negative-size", message, "a size or a count is 0 or more")
    elif site.role is Role.OFFSET and _is_before(site, found):
        message = f"{text_of(site.expression)} may be negative, and only a plain number counts from the end"
        yield site.place.problem("impossible-value", message, "write `at: size - n`")


def _is_before(site: Site, found: Extent) -> bool:
    """Whether a computed offset is never positive; only an offset written as a number may be negative."""
    computed = site.field is not None and not site.field.base and integer_of(site.expression) is None
    return computed and (found.high < 0 or (found.high == 0 and isinstance(site.expression, Unary)))

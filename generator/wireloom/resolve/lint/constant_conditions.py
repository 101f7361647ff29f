"""What always holds, or never: comparisons that types decide, sizes that there are not, tags that do not occur."""

from collections.abc import Iterator
from dataclasses import replace

from wireloom.expr.ast import Binary, Expression, Kind, Literal, Position, Unary, integer_of
from wireloom.expr.extents import Extent
from wireloom.expr.text import text_of
from wireloom.expr.types import kind
from wireloom.model.traversal import plain
from wireloom.model.types import Array, Attempt, Check, Discard, Field, Struct, Trial
from wireloom.problems import Location, Problem, Problems
from wireloom.resolve.bind.draft import Draft
from wireloom.resolve.check.recursion import stated_depths
from wireloom.resolve.check.size_limits import flaw_of_frame
from wireloom.resolve.facts.comparisons import CONDITIONS, flaws, is_written
from wireloom.resolve.facts.sites import Names, Role, Site, Types, sites, structs
from wireloom.resolve.facts.values import Facts, View
from wireloom.resolve.lint.derived_ranges import flaw_of_value
from wireloom.resolve.lint.unreachable_cases import check_cases
from wireloom.spec.documents import Place

_SIZES = (Role.SIZE, Role.COUNT, Role.BOUND)
_PLACES = (Role.OFFSET, Role.COVERED)
_SIZE = Position("size")
_MOST = 2**31 - 1  # bytes that a record may have: Arrow's offsets count no more


def check_certainty(draft: Draft, names: Names) -> None:
    """Report comparisons and tags that the types of fields decide, and sizes that no record has.

    What is written once may stand in several structs (of a type with parameters, of a union): it is a mistake where it
    is one in all of them.
    """
    found: dict[tuple[Role, Location], dict[tuple[str, int], list[Problem]]] = {}
    view, deep = View(names, replacing=draft.content.invalid_text is not None), bool(stated_depths(draft))
    for owner, site in _sites(draft, names.named):
        problems = Problems()
        _check_site(replace(draft, problems=problems), site, view, deep=deep)
        uses = found.setdefault((site.role, site.place.node.location), {})
        uses.setdefault((owner, site.position), []).extend(problems.found)
    said = {problem.path for problem in draft.problems.found}
    for uses in found.values():
        everywhere = set.intersection(*({_written(problem) for problem in problems} for problems in uses.values()))
        for problem in (each for problems in uses.values() for each in problems):
            if _written(problem) in everywhere and problem.path not in said:
                draft.problems.add(problem)


def _written(problem: Problem) -> tuple[str, Location]:
    """What is wrong, and where that is written."""
    return problem.id, problem.location


def _sites(draft: Draft, named: Types) -> Iterator[tuple[str, Site]]:
    """The expressions of a format, each over the fields that it looks at, and the type that has it."""
    for struct in structs(named):
        for site in sites(draft.place, named, struct):
            element = _element(site, named) if site.role is Role.KEEP else struct
            if element is struct:
                yield struct.name, site
            elif element is not None:
                yield struct.name, replace(site, struct=element, position=len(element.steps))
    for name, type in named.items():
        for place, trial in enumerate(type.trials if isinstance(type, Attempt) else ()):
            struct_tried = plain(trial.type, named)
            if isinstance(struct_tried, Struct):
                where = draft.place / "types" / name / "attempt" / place
                yield from ((name, each) for each in _of_trial(where, trial, struct_tried))


def _of_trial(place: Place, trial: Trial, struct: Struct) -> Iterator[Site]:
    """The conditions of an alternative, over what it is."""
    behind = len(struct.steps)
    for number, fallback in enumerate(trial.fallbacks):
        if fallback.when is not None:
            yield Site(struct, behind, Role.GUARD, place / "fallback" / number / "when", fallback.when)
    if trial.build_when is not None:
        yield Site(struct, behind, Role.BUILT, place / "buildWhen", trial.build_when)


def _check_site(draft: Draft, site: Site, view: View, *, deep: bool) -> None:
    known = view.given(site.struct) if site.role is Role.BUILT else view.facts(site.struct)
    for flaw in flaws(site, known):
        draft.reports(site.place, "certain-condition", *flaw)
    if misfit := flaw_of_frame(site, known, view.names.named) or flaw_of_value(site, known, deep=deep):
        draft.reports(site.place, "impossible-value", *misfit)
    _check_stated(draft, site)
    if site.role in (*_SIZES, *_PLACES) and kind(site.expression) is Kind.INTEGER:
        _check_size(draft, site, known)
    if site.role is Role.TAG:
        check_cases(draft, site, known)


def _element(site: Site, named: Types) -> Struct | None:
    """The struct of the elements that an expression is over; None where that is none, or several."""
    step = site.struct.steps[site.position]
    name = step.field if isinstance(step, Discard) else step.wire_name if isinstance(step, Field) else ""
    lists = [plain(field.type, named) for field in site.struct.fields if field.wire_name == name]
    found = [plain(each.element, named) for each in lists if isinstance(each, Array)]
    return found[0] if len(lists) == len(found) == 1 and isinstance(found[0], Struct) else None


def _check_stated(draft: Draft, site: Site) -> None:
    """A condition that states its outcome."""
    if site.role not in CONDITIONS or not is_written(site):
        return
    match site.expression:
        case Literal(bool(outcome)) if not _is_needed(site, outcome=outcome):
            word = "always" if outcome else "never"
            draft.reports(site.place, "certain-condition", f"{text_of(site.expression)} {word} holds", _instead(site))
        case _:
            pass


def _is_needed(site: Site, *, outcome: bool) -> bool:
    """Whether there is no other way to say what a condition states: a check with `when` refuses what that says."""
    match site.place.path[-3:]:
        case (_, "discard", "keep"):
            return not outcome
        case (_, "check", "that"):
            step = site.struct.steps[site.position]
            return isinstance(step, Check) and step.when is not None and not outcome
        case (_, "salvage", "when") | (_, _, "buildWhen"):
            return outcome
        case ("versions", _, "when"):  # of the last one, which is what none before it is
            return outcome
        case _:
            return False


def _instead(site: Site) -> str:
    """What to write in place of a condition that states its outcome."""
    match site.place.path[-2:], site.expression:
        case ("check", "that"), Literal(False):
            return "say with `when` of which records"
        case (_, "lastWhen"), Literal(True):
            return "a list of one element has `count: 1`"
        case (_, "that" | "when"), Literal(True):
            return "drop it"
        case _:
            return "say what of the record decides it, or drop it"


def _check_size(draft: Draft, site: Site, known: Facts) -> None:
    found = known.of(site.expression)
    if found.low > _MOST or (found.high < -_MOST and site.role in _PLACES):
        hint = f"a record has at most {_MOST} bytes"
        draft.reports(site.place, "impossible-value", f"no record reaches {text_of(site.expression)}", hint)
    elif found.high < 0 and site.role in _SIZES:
        what = "count" if site.role is Role.COUNT else "size"
        message = f"a {what} of {text_of(site.expression)} is negative"
        draft.reports(site.place, "negative-size", message, "a size or a count is 0 or more")
    elif site.role is Role.OFFSET and (mend := _from_end(site, found)):
        message = f"{text_of(site.expression)} is no offset, and only a number counts from the end"
        draft.reports(site.place, "impossible-value", message, f"`at: {mend}` does")


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

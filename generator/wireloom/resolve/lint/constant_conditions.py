"""Conditions that always hold, or never: comparisons that types decide, tags that do not occur."""

from collections.abc import Iterator

from wireloom.expr.ast import Literal
from wireloom.expr.text import text_of
from wireloom.model.types import Check
from wireloom.problems import Problem
from wireloom.resolve.bind.draft import Draft
from wireloom.resolve.facts.comparisons import CONDITIONS, flaws, is_written
from wireloom.resolve.facts.sites import Role, Site, in_all_uses
from wireloom.resolve.facts.values import View
from wireloom.resolve.lint.unreachable_cases import unreachable_cases


def check_conditions(draft: Draft, view: View) -> None:
    """Report comparisons and tags that the types of fields decide; of a field that is always the same, the first."""
    constant: dict[tuple[str, str], Site] = {}
    for problem in in_all_uses(draft.place, view.names.named, lambda site: _found(site, view, constant)):
        draft.warnings.add(problem)


def _found(site: Site, view: View, constant: dict[tuple[str, str], Site]) -> Iterator[Problem]:
    known = view.given(site.struct) if site.role is Role.BUILT else view.facts(site.struct)
    for flaw in flaws(site, known):
        if not flaw.of or constant.setdefault((site.struct.name, flaw.of), site) is site:
            yield site.place.problem("certain-condition", flaw.message, flaw.why)
    yield from _stated(site)
    if site.role is Role.TAG:
        yield from unreachable_cases(site, known)


def _stated(site: Site) -> Iterator[Problem]:
    """A condition that states its outcome."""
    if site.role not in CONDITIONS or not is_written(site):
        return
    match site.expression:
        case Literal(bool(outcome)) if not _is_needed(site, outcome=outcome):
            word = "always" if outcome else "never"
            yield site.place.problem("certain-condition", f"{text_of(site.expression)} {word} holds", _instead(site))
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

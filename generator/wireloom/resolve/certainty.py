"""What always holds, or never: comparisons that types decide, sizes that there are not, tags that do not occur."""

from collections.abc import Iterator
from dataclasses import replace

from wireloom.expr.ast import Binary, Call, Expression, FieldRef, Kind, Literal, Membership, Unary, parts
from wireloom.expr.extents import Extent
from wireloom.expr.text import text_of
from wireloom.expr.types import kind
from wireloom.model.types import Check, Field, charset_of
from wireloom.problems import Location, Problem, Problems
from wireloom.resolve import constants
from wireloom.resolve.draft import Draft
from wireloom.resolve.facts import Facts, facts
from wireloom.resolve.fitting import flaw_of_value
from wireloom.resolve.recursion import stated_depths
from wireloom.resolve.room import flaw_of_frame
from wireloom.resolve.sites import Role, Site, Types, sites, structs
from wireloom.spec.documents import Place
from wireloom.spec.yaml import MappingNode

_SIZES = (Role.SIZE, Role.COUNT, Role.BOUND)
_PLACES = (Role.OFFSET, Role.COVERED)
_EQUAL_TO_ITSELF = (Kind.INTEGER, Kind.BOOLEAN, Kind.TEXT, Kind.BYTES)  # what is no number is not
_BUILT = (Role.DERIVE, Role.STORED, Role.SUMMED)
_MOST = 2**31 - 1  # bytes that a record may have: Arrow's offsets count no more


def check_certainty(draft: Draft, named: Types) -> None:
    """Report comparisons and tags that the types of fields decide, and sizes that no record has.

    What is written once may stand in several structs (of a type with parameters, of a union): it is a mistake where it
    is one in all of them.
    """
    found: dict[tuple[Role, Location], dict[str, list[Problem]]] = {}
    deep = bool(stated_depths(draft))
    for struct in structs(named):
        known = facts(struct, named, replacing=draft.content.invalid_text is not None)
        for site in sites(draft.place, named, struct):
            if site.role is Role.KEEP:
                continue  # over the fields of an element
            problems = Problems()
            _check_site(replace(draft, problems=problems), site, known)
            if flaw := flaw_of_frame(site, known, named) or flaw_of_value(site, known, deep=deep):
                problems.add(site.place.problem("impossible-value", *flaw))
            uses = found.setdefault((site.role, site.place.node.location), {})
            uses.setdefault(struct.name, []).extend(problems.found)
    said = {problem.path for problem in draft.problems.found}
    for uses in found.values():
        everywhere = set.intersection(*({_written(problem) for problem in problems} for problems in uses.values()))
        for problem in (each for problems in uses.values() for each in problems):
            if _written(problem) in everywhere and problem.path not in said:
                draft.problems.add(problem)


def _written(problem: Problem) -> tuple[str, Location]:
    """What is wrong, and where that is written."""
    return problem.id, problem.location


def _check_site(draft: Draft, site: Site, known: Facts) -> None:
    _check_comparisons(draft, site, site.expression, known)
    if site.role is Role.CHECK:
        _check_stated(draft, site)
    if site.role in (*_SIZES, *_PLACES) and kind(site.expression) is Kind.INTEGER:
        _check_size(draft, site, known)
    if site.role is Role.TAG:
        _check_cases(draft, site, known)


def _check_comparisons(draft: Draft, site: Site, expression: Expression, known: Facts) -> None:
    flaw = _flaw(site, expression, known)
    if flaw is not None:
        draft.reports(site.place, "certain-condition", *flaw)
    for message, hint in _never_among(expression, known) if isinstance(expression, Membership) else ():
        draft.reports(site.place, "certain-condition", message, hint)
    for part in parts(expression):
        _check_comparisons(draft, site, part, known)


def _check_stated(draft: Draft, site: Site) -> None:
    """A check that states its outcome: with `when`, one that never holds refuses what that says."""
    step = site.struct.steps[site.position]
    guarded = isinstance(step, Check) and step.when is not None
    match site.expression:
        case Literal(bool(outcome)) if outcome or not guarded:
            hint = "drop it" if outcome else "say with `when` of which records"
            word = "always" if outcome else "never"
            draft.reports(site.place, "certain-condition", f"{text_of(site.expression)} {word} holds", hint)
        case _:
            pass


def _flaw(site: Site, expression: Expression, known: Facts) -> tuple[str, str] | None:
    """What is certain of a part of an expression, and why; None where nothing is."""
    match expression:
        case Binary("//" | "%", _, right) if (known.of(right).low, known.of(right).high) == (0, 0):
            return f"{text_of(expression)} is always null", "nothing can be divided by 0"
        case Call("present", (FieldRef(0, name, ()),)) if _is_there(site, name, known):
            return f"{text_of(expression)} always holds", f"{name} is never null"
        case Binary("==" | "!=", FieldRef(0, name, ()), Literal(None)) | Binary(
            "==" | "!=", Literal(None), FieldRef(0, name, ())
        ) if _is_there(site, name, known):
            return _certain(expression, f"{name} is never null", holds=expression.operator == "!=")
        case Binary("==" | "!=" | "<" | "<=" | ">" | ">=" as operator, left, right) if _are_the_same(left, right):
            return _certain(expression, "both sides are the same", holds=operator in ("==", "<=", ">="))
        case Binary("==" | "!=" | "<" | "<=" | ">" | ">=", left, right) if _are_integers(left, right):
            outcome = _outcome(expression.operator, known.of(left), known.of(right))
            if outcome is None or _are_literals(left, right):
                return None
            return _certain(expression, _bounds(left, known) or _bounds(right, known), holds=outcome)
        case Binary("==" | "!=" as operator, operand, Literal(value)) | Binary(
            "==" | "!=" as operator, Literal(value), operand
        ) if obstacle := _obstacle(operand, value, known):
            return _certain(expression, obstacle, holds=operator == "!=")
        case _:
            return None


def _are_the_same(left: Expression, right: Expression) -> bool:
    """Whether two sides are one expression of what equals itself, and state no value."""
    return left == right and kind(left) in _EQUAL_TO_ITSELF and not _are_literals(left, right)


def _certain(expression: Expression, why: str, *, holds: bool) -> tuple[str, str]:
    return f"{text_of(expression)} {'always' if holds else 'never'} holds", why


def _is_there(site: Site, name: str, known: Facts) -> bool:
    """Whether a field is read before an expression, and is never null.

    What is derived is asked of builders, whom a value may lack it at the deepest level.
    """
    before = {step.wire_name for step in site.struct.steps[: site.position] if isinstance(step, Field)}
    return site.role not in _BUILT and name in known.there and name in before


def _never_among(expression: Membership, known: Facts) -> Iterator[tuple[str, str]]:
    """Which of its options an operand never is, and why."""
    for option in expression.options:
        if (hint := _never(expression.operand, option, known)) is not None:
            yield f"{text_of(expression.operand)} is never {text_of(Literal(option))}", hint


def _never(operand: Expression, value: object, known: Facts) -> str | None:
    """Why an operand never is a value, in no words where that is plain; None where it may be."""
    if kind(operand) is Kind.INTEGER:
        outside = isinstance(value, int) and not isinstance(value, bool) and not _holds(known.of(operand), value)
        return _bounds(operand, known) if outside else None
    return _obstacle(operand, value, known) or None


def _obstacle(operand: Expression, value: object, known: Facts) -> str:
    """Why an operand never is a text, bytes or a boolean; empty where it may be."""
    match operand:
        case Call("slice") if isinstance(value, str | bytes) and _is_longer(value, operand):
            return _length(value, operand)
        case FieldRef(0, name, ()):
            return known.obstacle(name, value)
        case _:
            return ""


def _is_longer(text: str | bytes, cut: Call) -> bool:
    """Whether a text, or bytes, is longer than what is cut out can be."""
    most = _longest(cut)
    return most is not None and len(text) > most


def _longest(cut: Call) -> int | None:
    """How much `slice` gives at most; None where that depends."""
    _, *ends = cut.arguments
    match [_literal(each) for each in ends]:
        case [int(start)] if start < 0:
            return -start
        case [int(start), int(end)] if (start < 0) == (end < 0):
            return max(end - start, 0)
        case [int(start), int(end)] if start < 0:
            return min(-start, end)
        case _:
            return None


def _literal(expression: Expression) -> int | None:
    match expression:
        case Literal(int(value)):
            return value
        case Unary("-", Literal(int(value))):
            return -value
        case _:
            return None


def _length(text: str | bytes, cut: Call) -> str:
    """How long a text, or bytes, and what is cut out of it are."""
    return f"the slice is {_longest(cut)} long at most, and this is {len(text)} long"


def _are_integers(*operands: Expression) -> bool:
    return all(kind(each) is Kind.INTEGER for each in operands)


def _are_literals(*operands: Expression) -> bool:
    return all(isinstance(each, Literal) for each in operands)


def _holds(found: Extent, value: int) -> bool:
    return found.low <= value <= found.high


def _outcome(operator: str, left: Extent, right: Extent) -> bool | None:
    """What a comparison gives whatever the record says; None where that depends, as it does on what may be null."""
    certain = not (left.nullable or right.nullable)
    apart = left.high < right.low or right.high < left.low
    match operator:
        case "==":
            return False if apart else None
        case "!=":
            return True if apart else None
        case "<":
            return _ordered(below=left.high < right.low, above=left.low >= right.high, certain=certain)
        case "<=":
            return _ordered(below=left.high <= right.low, above=left.low > right.high, certain=certain)
        case ">":
            return _ordered(below=left.low > right.high, above=left.high <= right.low, certain=certain)
        case _:
            return _ordered(below=left.low >= right.high, above=left.high < right.low, certain=certain)


def _ordered(*, below: bool, above: bool, certain: bool) -> bool | None:
    """Whether it holds always, or never; null holds neither way, so that only what is never null always holds."""
    if above:
        return False
    return True if below and certain else None


def _bounds(expression: Expression, known: Facts) -> str:
    """What is known of a field, as a hint; empty for other expressions."""
    if isinstance(expression, Literal) or (isinstance(expression, Unary) and isinstance(expression.operand, Literal)):
        return ""
    found = known.of(expression)
    if found.low < -(1 << 63) or found.high > (1 << 64):
        return ""
    what = expression.name if isinstance(expression, FieldRef) else "its value"
    if found.low == found.high:
        return f"{what} is {found.low}"
    return f"{what} is {found.low} to {found.high}" if found.high < (1 << 63) - 1 else f"{what} is {found.low} or more"


def _check_size(draft: Draft, site: Site, known: Facts) -> None:
    found = known.of(site.expression)
    if found.low > _MOST or (found.high < -_MOST and site.role in _PLACES):
        hint = f"a record has at most {_MOST} bytes"
        draft.reports(site.place, "impossible-value", f"no record reaches {text_of(site.expression)}", hint)
    elif found.high < 0 and site.role in _SIZES:
        what = "count" if site.role is Role.COUNT else "size"
        message = f"a {what} of {text_of(site.expression)} is negative"
        draft.reports(site.place, "negative-size", message, "a size or a count is 0 or more")


def _check_cases(draft: Draft, site: Site, known: Facts) -> None:
    """The cases of a select on integers, on the text or the bytes of a field, or on a flag."""
    cases = Place(site.place.document, (*site.place.path[:-1], "cases"))
    tag = site.expression
    if not isinstance(cases.node, MappingNode):
        return
    for key, _ in cases.node.entries:
        for word in map(str.strip, key.text.split(",")) if "," in key.text else [key.text]:
            value = constants.value(word, kind(tag), _charset(tag, known))
            if (hint := _never(tag, value, known)) is not None:
                draft.reports_entry(cases / key.text, "bad-case", f"the tag is never {word}", hint)


def _charset(tag: Expression, known: Facts) -> str:
    """The character set of the texts that a tag is."""
    fields = known.fields.get(tag.name, ()) if isinstance(tag, FieldRef) else ()
    return next((charset_of(field.type) for field in fields), "")

"""What always holds, or never: comparisons that types decide, sizes that there are not, tags that do not occur."""

from wireloom.expr.ast import Binary, Call, Expression, FieldRef, Kind, Literal, Membership, Unary, parts
from wireloom.expr.extents import Extent, Extents, extent
from wireloom.expr.numbers import integer
from wireloom.expr.text import text_of
from wireloom.expr.types import kind
from wireloom.model.extents import field_extents
from wireloom.model.types import Check
from wireloom.resolve.draft import Draft
from wireloom.resolve.sites import Role, Site, Types, sites, structs
from wireloom.spec.documents import Place
from wireloom.spec.yaml import MappingNode, path_text

_SIZES = (Role.SIZE, Role.COUNT, Role.BOUND)
_PLACES = (Role.OFFSET, Role.COVERED)
_EQUAL_TO_ITSELF = (Kind.INTEGER, Kind.BOOLEAN, Kind.TEXT, Kind.BYTES)  # what is no number is not
_MOST = 2**31 - 1  # bytes that a record may have: Arrow's offsets count no more


def check_certainty(draft: Draft, named: Types) -> None:
    """Report comparisons and tags that the types of fields decide, and sizes that no record has."""
    for struct in structs(named):
        known = field_extents(struct, named)
        for site in sites(draft.place, named, struct):
            if site.role is Role.KEEP:
                continue  # over the fields of an element
            _check_comparisons(draft, site, site.expression, known)
            if site.role is Role.CHECK:
                _check_stated(draft, site)
            if site.role in (*_SIZES, *_PLACES) and kind(site.expression) is Kind.INTEGER:
                _check_size(draft, site, known)
            if site.role is Role.TAG:
                _check_cases(draft, site, known)


def _check_comparisons(draft: Draft, site: Site, expression: Expression, known: Extents) -> None:
    match expression:
        case Binary("==" | "!=" | "<" | "<=" | ">" | ">=" as operator, left, right) if left == right:
            if kind(left) in _EQUAL_TO_ITSELF and not _are_literals(left, right):
                word = "always" if operator in ("==", "<=", ">=") else "never"
                hint = "both sides are the same"
                draft.reports(site.place, "certain-condition", f"{text_of(expression)} {word} holds", hint)
        case Binary("==" | "!=" | "<" | "<=" | ">" | ">=", left, right) if _are_integers(left, right):
            outcome = _outcome(expression.operator, extent(left, known), extent(right, known))
            if outcome is not None and not _are_literals(left, right):
                word = "always" if outcome else "never"
                hint = _bounds(left, known) or _bounds(right, known)
                draft.reports(site.place, "certain-condition", f"{text_of(expression)} {word} holds", hint)
        case Membership(operand, options) if kind(operand) is Kind.INTEGER:
            found = extent(operand, known)
            for option in options:
                if isinstance(option, int) and not isinstance(option, bool) and not _holds(found, option):
                    message = f"{text_of(operand)} is never {option}"
                    draft.reports(site.place, "certain-condition", message, _bounds(operand, known))
        case Binary("==" | "!=" as operator, Call("slice") as cut, Literal(str() | bytes() as text)) | Binary(
            "==" | "!=" as operator, Literal(str() | bytes() as text), Call("slice") as cut
        ) if _is_longer(text, cut):
            word = "never" if operator == "==" else "always"
            draft.reports(site.place, "certain-condition", f"{text_of(expression)} {word} holds", _length(text, cut))
        case Membership(Call("slice") as cut, options):
            for option in options:
                if isinstance(option, str | bytes) and _is_longer(option, cut):
                    message = f"{text_of(cut)} is never {text_of(Literal(option))}"
                    draft.reports(site.place, "certain-condition", message, _length(option, cut))
        case _:
            pass
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


def _bounds(expression: Expression, known: Extents) -> str:
    """What is known of a field, as a hint; empty for other expressions."""
    if isinstance(expression, Literal) or (isinstance(expression, Unary) and isinstance(expression.operand, Literal)):
        return ""
    found = extent(expression, known)
    if found.low < -(1 << 63) or found.high > (1 << 64):
        return ""
    what = expression.name if isinstance(expression, FieldRef) else "its value"
    return f"{what} is {found.low} to {found.high}" if found.high < (1 << 63) - 1 else f"{what} is {found.low} or more"


def _check_size(draft: Draft, site: Site, known: Extents) -> None:
    found = extent(site.expression, known)
    if found.low > _MOST or (found.high < -_MOST and site.role in _PLACES):
        hint = f"a record has at most {_MOST} bytes"
        draft.reports(site.place, "impossible-value", f"no record reaches {text_of(site.expression)}", hint)
    elif found.high < 0 and site.role in _SIZES:
        what = "count" if site.role is Role.COUNT else "size"
        message = f"a {what} of {text_of(site.expression)} is negative"
        draft.reports(site.place, "negative-size", message, "a size or a count is 0 or more")


def _check_cases(draft: Draft, site: Site, known: Extents) -> None:
    """The cases of a select on integers."""
    cases = Place(site.place.document, (*site.place.path[:-1], "cases"))
    if kind(site.expression) is not Kind.INTEGER or not isinstance(cases.node, MappingNode):
        return
    found = extent(site.expression, known)
    said = {problem.path for problem in draft.problems.found}
    for key, _ in cases.node.entries:
        if path_text((cases / key.text).path) in said:
            continue
        for word in key.text.split(","):
            value = integer(word.strip())
            if value is not None and not _holds(found, value):
                hint = _bounds(site.expression, known)
                draft.reports_entry(cases / key.text, "bad-case", f"the tag is never {value}", hint)

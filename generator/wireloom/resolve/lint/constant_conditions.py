"""Comparisons that always or never hold, because of types, constants, ranges and sizes."""

from collections.abc import Iterator

from wireloom.expr.ast import Binary, Call, Expression, FieldRef, Kind, Literal, Membership, parts
from wireloom.expr.extents import Extent
from wireloom.expr.text import text_of
from wireloom.expr.types import kind
from wireloom.model.types import Field
from wireloom.problems import Problem
from wireloom.resolve.bind.draft import Draft
from wireloom.resolve.bind.wording import any_of
from wireloom.resolve.facts.exclusion import exclusive
from wireloom.resolve.facts.sites import Role, Site, in_all_uses
from wireloom.resolve.facts.values import Facts, View
from wireloom.resolve.lint.unreachable_cases import unreachable_cases

_BUILT = (Role.DERIVE, Role.STORED, Role.SUMMED)  # evaluated for values to build, which may lack any field
_OPPOSITE = {"==": "!=", "!=": "=="}  # comparisons that are never null, and their opposites
_ORDERS = ("<", "<=", ">", ">=")
_Flaw = tuple[str, str]  # what is certain, and the reason


def check_conditions(draft: Draft, view: View) -> None:
    """Warn about comparisons and tags whose result the types of fields decide."""
    for problem in in_all_uses(draft.place, view.names.named, lambda site: _found(site, view)):
        draft.warnings.add(problem)


def _found(site: Site, view: View) -> Iterator[Problem]:
    if site.role is Role.BUILT:
        return  # a value to build may lack any of its fields
    known = view.facts(site.struct)
    if (flaw := _flaw(site, site.expression, known)) is not None:
        yield site.place.problem("certain-condition", *flaw)
    if site.role is Role.TAG:
        yield from unreachable_cases(site, known, view.names.named)


def _flaw(site: Site, expression: Expression, known: Facts) -> _Flaw | None:
    """The first certain comparison of an expression, innermost first."""
    inner = (flaw for part in parts(expression) if (flaw := _flaw(site, part, known)) is not None)
    return next(inner, None) or _own_flaw(site, expression, known)


def _own_flaw(site: Site, expression: Expression, known: Facts) -> _Flaw | None:
    match expression:
        case Binary("and", left, right) if exclusive(left, right):
            return _certain(expression, "only one side can hold", holds=False)
        case Binary("or", left, right) if _is_either(left, right):
            return _certain(expression, "one side always holds", holds=True)
        case Call("present", (FieldRef(0, name, ()),)) if _is_there(site, name, known):
            return _certain(expression, f"{name} is never null", holds=True)
        case Binary("==" | "!=", FieldRef(0, name, ()), Literal(None)) | Binary(
            "==" | "!=", Literal(None), FieldRef(0, name, ())
        ) if _is_there(site, name, known):
            return _certain(expression, f"{name} is never null", holds=expression.operator == "!=")
        case Binary(operator, left, right) if operator in _OPPOSITE and isinstance(left, Literal):
            return _compared(expression, right, left.value, known)
        case Binary(operator, left, Literal(value)) if operator in _OPPOSITE:
            return _compared(expression, left, value, known)
        case Binary(operator, left, right) if operator in (*_ORDERS, *_OPPOSITE) and _are_integers(left, right):
            outcome = _outcome(operator, known.of(left), known.of(right))
            why = known.bounds(left) or known.bounds(right)
            return None if outcome is None else _certain(expression, why, holds=outcome)
        case Membership(operand, options):
            return _among(operand, options, known)
        case _:
            return None


def _certain(expression: Expression, why: str, *, holds: bool) -> _Flaw:
    return f"{text_of(expression)} {'always' if holds else 'never'} holds", why


def _compared(expression: Binary, operand: Expression, value: object, known: Facts) -> _Flaw | None:
    """The certain result of a comparison with a value; None if there is none."""
    if isinstance(operand, Literal) or (why := known.never(operand, value)) is None:
        return None
    return _certain(expression, why, holds=expression.operator == "!=")


def _among(operand: Expression, options: tuple[object, ...], known: Facts) -> _Flaw | None:
    """The options that an operand never has, with the reason."""
    reasons = {option: why for option in options if (why := known.never(operand, option)) is not None}
    if not reasons:
        return None
    never = any_of([text_of(Literal(option)) for option in options if option in reasons])  # type: ignore[arg-type]
    return f"{text_of(operand)} is never {never}", next(iter(reasons.values()))


def _is_either(left: Expression, right: Expression) -> bool:
    """Whether one of two comparisons always holds; neither may be null."""
    match left, right:
        case Binary(one), Binary(other) if one in _OPPOSITE and other in _OPPOSITE:
            opposite = (Binary(_OPPOSITE[each.operator], each.left, each.right) for each in (left, right))
            return exclusive(*opposite)
        case _:
            return False


def _is_there(site: Site, name: str, known: Facts) -> bool:
    """Whether a field is read before the expression, and is never null."""
    before = {step.wire_name for step in site.struct.steps[: site.position] if isinstance(step, Field)}
    return site.role not in _BUILT and name in before and known.is_there(name)


def _are_integers(*operands: Expression) -> bool:
    return all(kind(each) is Kind.INTEGER for each in operands) and not all(isinstance(x, Literal) for x in operands)


def _outcome(operator: str, left: Extent, right: Extent) -> bool | None:
    """The certain result of a comparison; None if it depends on the record.

    Comparisons by order are null if an operand is null, so they always hold only for operands that are never null.
    """
    if operator in _OPPOSITE:
        disjoint = (left.high < right.low or right.high < left.low) and not (left.nullable and right.nullable)
        return operator == "!=" if disjoint else None
    if operator in (">", ">="):
        left, right, operator = right, left, {">": "<", ">=": "<="}[operator]
    always = left.high < right.low or (operator == "<=" and left.high == right.low)
    never = left.low > right.high or (operator == "<" and left.low == right.high)
    if never:
        return False
    return True if always and not (left.nullable or right.nullable) else None

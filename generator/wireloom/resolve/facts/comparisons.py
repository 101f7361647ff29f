"""Comparisons that hold always, or never, whatever a record says, and parts of expressions that are always one value.

What is certain follows from types, constants, ranges and sizes (`facts`), from the bits and the remainders that
arithmetic leaves (`expr.residues`), and from two conditions that exclude one another (`exclusion`).
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from wireloom.expr.ast import (
    Binary,
    Call,
    Conditional,
    Expression,
    FieldRef,
    Kind,
    Literal,
    Membership,
    Unary,
    integer_of,
    parts,
)
from wireloom.expr.extents import Extent
from wireloom.expr.residues import Residue, residue
from wireloom.expr.text import text_of
from wireloom.expr.types import kind
from wireloom.model.types import Field, Scalar, Struct
from wireloom.resolve.bind.wording import any_of
from wireloom.resolve.facts.exclusion import exclusive
from wireloom.resolve.facts.sites import Role, Site
from wireloom.resolve.facts.values import Facts, listed_values
from wireloom.spec.yaml import ScalarNode

_BUILT = (Role.DERIVE, Role.STORED, Role.SUMMED)
_NEVER_NULL = {"==": "!=", "!=": "=="}  # comparisons, and what says the opposite
_CHARACTER = 4  # bytes at most
_LONG = sys.maxsize
_MANY = 1 << 12  # values that are not all looked at

CONDITIONS = (Role.CONDITION, Role.CHECK, Role.GUARD, Role.KEEP, Role.BUILT)
"""What expressions are for that decide something."""


@dataclass(frozen=True, slots=True)
class Flaw:
    """What is certain, and why; `of` is the field that is always the same, if that is why."""

    message: str
    why: str
    of: str = ""


def flaws(site: Site, known: Facts) -> Iterator[Flaw]:
    """What is certain of an expression and of its parts."""
    yield from _flaws(site, site.expression, known, asked=site.role in CONDITIONS)


def is_written(site: Site) -> bool:
    """Whether an expression stands in the spec as it is, with no argument in the place of a parameter."""
    node = site.place.node
    return isinstance(node, ScalarNode) and node.columns is None


def _flaws(site: Site, expression: Expression, known: Facts, *, asked: bool) -> Iterator[Flaw]:
    flaw = _flaw(site, expression, known) or (_truth(expression, known) if asked else None)
    if flaw is not None:
        yield flaw
    if isinstance(expression, Membership):
        yield from _never_among(expression, known)
    for place, part in enumerate(parts(expression)):
        yield from _flaws(site, part, known, asked=_is_asked(expression, place))


def _is_asked(expression: Expression, place: int) -> bool:
    """Whether a part of an expression is a condition."""
    match expression:
        case Unary("not") | Binary("and" | "or"):
            return True
        case Conditional():
            return place == 0
        case _:
            return False


def _truth(expression: Expression, known: Facts) -> Flaw | None:
    """What is certain of a flag."""
    match expression:
        case FieldRef(kind=Kind.BOOLEAN):
            found = known.of(expression)
            if (found.low, found.high) == (0, 0) or ((found.low, found.high) == (1, 1) and not found.nullable):
                of = text_of(expression)
                return _certain(expression, _reason_of_flag(expression, known), holds=found.low == 1, of=of)
            return None
        case _:
            return None


def _reason_of_flag(flag: FieldRef, known: Facts) -> str:
    """Why a flag is always the same."""
    for named in known.named(flag):
        for field in named.facts.struct.fields:
            if any(bit.name == named.name for bit in field.bits):
                return f"it is the same in all that {field.wire_name} may be"
    return f"{text_of(flag)} is a constant"


def _flaw(site: Site, expression: Expression, known: Facts) -> Flaw | None:
    """What is certain of a part of an expression, and why; None where nothing is."""
    match expression:
        case Binary("and", left, right) if exclusive(left, right) and not _is_said("and", left, right):
            return _certain(expression, "where the one holds, the other does not", holds=False)
        case Binary("or", left, right) if _is_either(left, right) and not _is_said("or", left, right):
            return _certain(expression, "where the one does not hold, the other does", holds=True)
        case Call("present", (FieldRef(0, name, ()),)) if _is_there(site, name, known):
            return _certain(expression, f"{name} is never null", holds=True, of=f"present({name})")
        case Binary("==" | "!=", FieldRef(0, name, ()), Literal(None)) | Binary(
            "==" | "!=", Literal(None), FieldRef(0, name, ())
        ) if _is_there(site, name, known):
            return _certain(
                expression, f"{name} is never null", holds=expression.operator == "!=", of=f"present({name})"
            )
        case Binary("==" | "!=" | "<" | "<=" | ">" | ">=", left, right) if _are_integers(left, right):
            return None if isinstance(left, Literal) and isinstance(right, Literal) else _of_integers(expression, known)
        case Membership(operand, options) if site.role not in _BUILT and _are_all(
            values_of(site.struct, operand, known, most=len(options)), options
        ):
            return _certain(expression, f"{text_of(operand)} is nothing else", holds=True)
        case Binary("==" | "!=" as operator, operand, Literal(value)) | Binary(
            "==" | "!=" as operator, Literal(value), operand
        ) if obstacle := _obstacle(operand, value, known):
            said = Binary(operator, operand, _as_written(operand, Literal(value), known))
            return _certain(said, obstacle, holds=operator == "!=")
        case _:
            return None


def _are_all(values: Sequence[Scalar] | None, options: Sequence[Scalar]) -> bool:
    """Whether nothing that an operand may be is left out."""
    return bool(values) and {(type(each), each) for each in values or ()} <= {(type(each), each) for each in options}


def _is_said(operator: str, *parts: Expression) -> bool:
    """Whether two conditions further in are certain for the same reason, of which that is said."""
    is_certain = exclusive if operator == "and" else _is_either
    inner = [each for each in parts if isinstance(each, Binary) and each.operator == operator]
    return any(is_certain(each.left, each.right) or _is_said(operator, each.left, each.right) for each in inner)


def _of_integers(expression: Binary, known: Facts) -> Flaw | None:
    """What is certain of a comparison of integers."""
    operator, left, right = expression.operator, expression.left, expression.right
    outcome = _outcome(operator, known.of(left), known.of(right))
    if outcome is not None:
        constant = (text_of(each) for each in (left, right) if isinstance(each, FieldRef) and _is_one(known.of(each)))
        why = _bounds(left, known) or _bounds(right, known)
        return _certain(expression, why, holds=outcome, of=next(constant, ""))
    if operator not in _NEVER_NULL or (known.of(left).nullable and known.of(right).nullable):
        return None
    if isinstance(left, Literal):
        left, right = right, left
    why = _residue(left, known).flaw(_residue(right, known), text_of(left))
    return _certain(expression, why, holds=operator == "!=") if why else None


def _residue(expression: Expression, known: Facts) -> Residue:
    return residue(expression, known.of)


def _is_either(left: Expression, right: Expression) -> bool:
    """Whether one of two conditions that are never null always holds."""
    opposites = [_opposite(each) for each in (left, right)]
    return None not in opposites and exclusive(*(each for each in opposites if each is not None))


def _opposite(condition: Expression) -> Expression | None:
    """What holds where a comparison that is never null does not; None of anything else."""
    match condition:
        case Binary(operator, left, right) if operator in _NEVER_NULL:
            return Binary(_NEVER_NULL[operator], left, right)
        case _:
            return None


def _certain(expression: Expression, why: str, *, holds: bool, of: str = "") -> Flaw:
    return Flaw(f"{text_of(expression)} {'always' if holds else 'never'} holds", why, of)


def _is_one(found: Extent) -> bool:
    return found.low == found.high


def _is_there(site: Site, name: str, known: Facts) -> bool:
    """Whether a field is read before an expression, and is never null.

    What is derived is asked of builders, whom a value may lack it at the deepest level.
    """
    before = {step.wire_name for step in site.struct.steps[: site.position] if isinstance(step, Field)}
    return site.role not in _BUILT and name in known.there and name in before


def _never_among(expression: Membership, known: Facts) -> Iterator[Flaw]:
    """Which of its options an operand never is, and why: those that have one reason at once."""
    reasons: dict[str, list[str]] = {}
    for option in expression.options:
        if (hint := never(expression.operand, option, known)) is not None:
            reasons.setdefault(hint, []).append(text_of(_as_written(expression.operand, Literal(option), known)))
    for hint, options in reasons.items():
        yield Flaw(f"{text_of(expression.operand)} is never {any_of(options)}", hint)


def values_of(struct: Struct, expression: Expression, known: Facts, *, most: int = _MANY) -> list[Scalar] | None:
    """All values that an expression may have; None where these may be more than `most`, or it may be null."""
    match expression:
        case FieldRef(0, name, ()) if name not in known.lent and (listed := listed_values(struct, name)) is not None:
            return None if None in listed else list(listed)
        case _:
            pass
    found = known.of(expression)
    if found.nullable:
        return None
    if kind(expression) is Kind.BOOLEAN:
        return [False, True]
    if kind(expression) is not Kind.INTEGER or found.high - found.low >= most:
        return None
    return [value for value in range(found.low, found.high + 1) if never(expression, value, known) is None]


def _as_written(operand: Expression, literal: Literal, known: Facts) -> Literal:
    """A literal beside an operand as the spec has it: bytes of a character set are a text there."""
    while isinstance(operand, Call) and operand.function == "slice":
        operand = operand.arguments[0]
    charset = known.charset(operand)
    if not charset or not isinstance(literal.value, bytes):
        return literal
    return Literal(literal.value.decode(charset, "replace"))


def never(operand: Expression, value: object, known: Facts) -> str | None:
    """Why an operand never is a value, in no words where that is plain; None where it may be."""
    if kind(operand) is Kind.INTEGER:
        if not isinstance(value, int) or isinstance(value, bool):
            return None
        if not _holds(known.of(operand), value):
            return _bounds(operand, known)
        return _residue(operand, known).flaw(_residue(Literal(value), known), text_of(operand)) or None
    return _obstacle(operand, value, known) or None


def _obstacle(operand: Expression, value: object, known: Facts) -> str:
    """Why an operand never is a text, bytes or a boolean; empty where it may be."""
    match operand:
        case Call("slice") if isinstance(value, str | bytes):
            least, most = _slice_length(operand, known)
            if least <= len(value) <= most:
                return ""
            size = f"{most} long at most" if len(value) > most else f"{least} long{'' if least == most else ' or more'}"
            return f"the slice is {size}, and this is {len(value)} long"
        case FieldRef():
            return known.obstacle(operand, value)
        case _:
            return ""


# --- lengths -------------------------------------------------------------------------------------------------------


def _slice_length(cut: Call, known: Facts) -> tuple[int, int]:
    """How long a part of a text, or of bytes, is at least and at most where there is one."""
    whole, *ends = cut.arguments
    places = [integer_of(each) for each in ends]
    least, most = _part_length(whole, known)
    start, end = places[0], places[1] if len(places) > 1 else None
    if start is None or (len(places) > 1 and end is None):
        return 0, most
    sizes = {least, most, *(size for size in (abs(start), abs(end or 0)) if least <= size <= most)}
    lengths = [_between(start, end, size) for size in sizes]
    return min(lengths), max(lengths)


def _between(start: int, end: int | None, size: int) -> int:
    """How long a part is of a whole of that size."""
    return len(range(size)[start:end])


def _part_length(operand: Expression, known: Facts) -> tuple[int, int]:
    """How many characters a text, or bytes, have at least and at most."""
    match operand:
        case Call("slice"):
            return _slice_length(operand, known)
        case Literal(str() | bytes() as value):
            return len(value), len(value)
        case FieldRef(0, name, ()) if name in known.lengths:
            found = known.lengths[name]
            if kind(operand) is Kind.BYTES:
                return found.low, found.high
            return -(-found.low // _CHARACTER), found.high
        case _:
            return 0, _LONG


def _are_integers(*operands: Expression) -> bool:
    return all(kind(each) is Kind.INTEGER for each in operands)


def _holds(found: Extent, value: int) -> bool:
    return found.low <= value <= found.high


def _outcome(operator: str, left: Extent, right: Extent) -> bool | None:
    """What a comparison gives whatever the record says; None where that depends, as it does on what may be null."""
    certain = not (left.nullable or right.nullable)
    apart = (left.high < right.low or right.high < left.low) and not (left.nullable and right.nullable)
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
    what = text_of(expression) if isinstance(expression, FieldRef) else "its value"
    if found.low == found.high:
        return f"{what} is {found.low}"
    return f"{what} is {found.low} to {found.high}" if found.high < (1 << 63) - 1 else f"{what} is {found.low} or more"

"""What arithmetic leaves of an integer: bits that are always set, bits that never are, and what a division leaves.

`a & 4` has no other bit, `a << 2` and `a * 4` are multiples of 4. All of it holds of a value that is an integer; one
that is null equals none.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import gcd

from wireloom.expr.ast import Binary, Conditional, Expression, Kind, Literal, Unary
from wireloom.expr.extents import Extent
from wireloom.expr.types import kind, may_be_fraction

_SHIFTS = range(128)


@dataclass(frozen=True, slots=True)
class Residue:
    """Bits that are never set (`clear`) and always set (`set`), as masks; `rest` is what `step` leaves.

    A `step` of 0 is of a value that is `rest`.
    """

    clear: int = 0
    set: int = 0
    step: int = 1
    rest: int = 0

    def flaw(self, other: "Residue", text: str) -> str:
        """Why what `text` says never equals a value of `other`, as far as these tell; empty where it may."""
        never, always = self.clear & other.set, self.set & other.clear
        if never or always:
            bit = _lowest(never or always)
            return f"bit {bit} of {text} is {'never' if never else 'always'} set"
        step = gcd(self.step, other.step)
        if (self.rest - other.rest) % step if step else self.rest != other.rest:
            return _divided(self, text, step)
        return ""


def _lowest(mask: int) -> int:
    """The place of the lowest bit that is set."""
    return (mask & -mask).bit_length() - 1


def _divided(found: Residue, text: str, step: int) -> str:
    """What a division leaves, in words."""
    if not step:
        return f"{text} is {found.rest}"
    rest = found.rest % step
    return f"{text} divided by {step} leaves {rest}" if rest else f"{text} is a multiple of {step}"


def residue(expression: Expression, extent: Callable[[Expression], Extent]) -> Residue:
    """What is known of the bits of an expression's value, and of what divisions leave of it."""
    if kind(expression) is not Kind.INTEGER or may_be_fraction(expression):
        return Residue()
    match expression:
        case Literal(int(value)):
            return _exactly(value)
        case Unary("~", operand):
            found = residue(operand, extent)
            return _told(Residue(found.set, found.clear))
        case Unary("-", operand):
            found = residue(operand, extent)
            return _told(Residue(step=found.step, rest=-found.rest))
        case Binary(operator, left, right):
            return _joined(_of_operands(operator, residue(left, extent), residue(right, extent)), extent(expression))
        case Conditional(_, then, otherwise):
            return _either(residue(then, extent), residue(otherwise, extent))
        case _:
            return _within(extent(expression))


def _exactly(value: int) -> Residue:
    return Residue(~value, value, 0, value)


def _within(found: Extent) -> Residue:
    """What the ends of a value tell."""
    if found.low == found.high:
        return _exactly(found.low)
    return Residue(-1 << found.high.bit_length()) if found.low >= 0 else Residue()


def _joined(found: Residue, extent: Extent) -> Residue:
    """What an operation tells, and the ends of its result."""
    return Residue(found.clear | _within(extent).clear, found.set, found.step, found.rest)


def _of_operands(operator: str, left: Residue, right: Residue) -> Residue:
    match operator:
        case "&":
            return _told(Residue(left.clear | right.clear, left.set & right.set))
        case "|":
            return _told(Residue(left.clear & right.clear, left.set | right.set))
        case "^":
            known, found = (left.clear | left.set) & (right.clear | right.set), left.set ^ right.set
            return _told(Residue(known & ~found, known & found))
        case "<<" if right.step == 0 and right.rest in _SHIFTS:
            low = (1 << right.rest) - 1
            step, rest = left.step << right.rest, left.rest << right.rest
            return _told(Residue(left.clear << right.rest | low, left.set << right.rest, step, rest))
        case ">>" if right.step == 0 and right.rest in _SHIFTS:
            return _told(Residue(left.clear >> right.rest, left.set >> right.rest))
        case "+" | "-":
            rest = left.rest + right.rest if operator == "+" else left.rest - right.rest
            return _told(Residue(step=gcd(left.step, right.step), rest=rest))
        case "*":
            step = gcd(left.step * right.step, gcd(left.step * right.rest, left.rest * right.step))
            return _told(Residue(step=step, rest=left.rest * right.rest))
        case _:
            return Residue()


def _either(one: Residue, other: Residue) -> Residue:
    """What is known of a value that is either."""
    step = gcd(gcd(one.step, other.step), one.rest - other.rest)
    return Residue(one.clear & other.clear, one.set & other.set, step, one.rest)


def _told(found: Residue) -> Residue:
    """The same, with what the lowest bits tell of divisions, and divisions of the lowest bits."""
    if found.step == 0:
        return _exactly(found.rest)
    below = _lowest(found.step)
    low = (1 << below) - 1
    clear, set_ = found.clear | (low & ~found.rest), found.set | (low & found.rest)
    known = _lowest(~(clear | set_)) if clear | set_ != -1 else 0
    if known > below and found.step == 1 << below:
        return Residue(clear, set_, 1 << known, set_ & ((1 << known) - 1))
    return Residue(clear, set_, found.step, found.rest)

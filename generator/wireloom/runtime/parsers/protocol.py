"""What steps ask of the scope of their struct, through which expressions see the values read so far."""

from collections.abc import Callable
from typing import Any

from construct import Container

from wireloom.runtime.errors import DecodeError, shown
from wireloom.runtime.expressions import PositionPendingError

Expression = Callable[[Container], Any]
Scalar = int | bool | str | bytes | float | None
Path = str

MISSING = object()


class Scope(Container):
    """What expressions see of a struct: the values read so far. A name without a value is null."""

    def __missing__(self, name: str) -> None:
        """Null for what is not there (a member of a flattened struct that is absent)."""
        if name.startswith("__"):
            raise KeyError(name)


def evaluate(expression: Expression, scope: Container) -> Any:
    """The value of an expression; null where a value is missing or impossible, as can be while building."""
    try:
        return expression(scope)
    except (TypeError, KeyError, AttributeError, ArithmeticError, ValueError, MemoryError):
        return None  # of memory: a text that stands for a number, many times over


def spend(value: Any, scope: Container, offset: int) -> None:
    """Count a value's texts and bytes among what a record may expand to; raises DecodeError where it is too much."""
    expansion = scope._params.get("_expansion")
    if expansion is not None:  # none where it was built, and is read to see what it is
        expansion.spend(value, offset)


def holds(when: Expression | None, scope: Container) -> bool:
    """Whether a condition holds; no condition always does, and null does not."""
    return when is None or evaluate(when, scope) is True


def placed(value: Any, stream: Any, what: str) -> int:
    """An offset or a size that an expression gave; raises DecodeError where it gave none: bytes that are not there."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise DecodeError(stream.overrun, offset=stream.tell(), expected=what, actual=shown(value))
    return value


def marked(mark: str, scope: Container) -> Container:
    """The innermost of the structs around that has come to the mark."""
    while mark not in scope._marks:
        scope = scope._
    return scope


def guess(scope: Container | None) -> None:
    """While building: tell the structs that are being laid out that something within them was guessed."""
    while scope is not None:
        placement = scope.get("_placement")
        if placement is not None:
            placement.guessed = True
        scope = scope.get("_")


def unsettle(scope: Container | None) -> None:
    """While building: leave it to the struct around to settle what follows from it; raises PositionPendingError."""
    while scope is not None:
        placement = scope.get("_placement")
        if placement is not None:
            placement.is_unsettled = True
            return
        scope = scope.get("_")
    raise PositionPendingError


def derives_anew(scope: Container) -> bool:
    """While building: whether derived members are worked out also where the value has them."""
    return bool(scope._params.get("_anew"))


def same(left: object, right: object) -> bool:
    """Equal, and not merely as true equals 1."""
    return left == right and isinstance(left, bool) == isinstance(right, bool)


def start_of(stream: Any) -> int:
    """The offset of the value about to be read, whatever it is read from."""
    return int(stream.tell()) if hasattr(stream, "tell") else int(stream.start)

"""The scope of a struct, through which expressions see the values read so far, and helpers of all steps."""

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
    """The values of a struct that expressions see so far. A name without a value is null."""

    def __missing__(self, name: str) -> None:
        """Null for an absent name, such as a member of an absent flattened struct."""
        if name.startswith("__"):
            raise KeyError(name)


def evaluate(expression: Expression, scope: Container) -> Any:
    """The value of an expression; None if a value is missing or impossible, which can happen while building."""
    try:
        return expression(scope)
    except (TypeError, KeyError, AttributeError, ArithmeticError, ValueError, MemoryError):
        return None  # MemoryError: a text where a number belongs, repeated many times


def spend(value: Any, scope: Container, offset: int) -> None:
    """Count a value's texts and bytes as expansion of the record; raises DecodeError above the limit."""
    expansion = scope._params.get("_expansion")
    if expansion is not None:  # None when built bytes are read back
        expansion.spend(value, offset)


def holds(when: Expression | None, scope: Container) -> bool:
    """Whether a condition holds: True without a condition, False for null."""
    return when is None or evaluate(when, scope) is True


def placed(value: Any, stream: Any, what: str) -> int:
    """The offset or size from an expression; any other value is a DecodeError, as for missing bytes."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise DecodeError(stream.overrun, offset=stream.tell(), expected=what, actual=shown(value))
    return value


def marked(mark: str, scope: Container) -> Container:
    """The innermost enclosing struct that has reached the mark."""
    while mark not in scope._marks:
        scope = scope._
    return scope


def guess(scope: Container | None) -> None:
    """While building: tell all enclosing structs that something within them was guessed."""
    while scope is not None:
        placement = scope.get("_placement")
        if placement is not None:
            placement.guessed = True
        scope = scope.get("_")


def unsettle(scope: Container | None) -> None:
    """While building: leave unsettled values to the enclosing struct; raises PositionPendingError without one."""
    while scope is not None:
        placement = scope.get("_placement")
        if placement is not None:
            placement.is_unsettled = True
            return
        scope = scope.get("_")
    raise PositionPendingError


def derives_anew(scope: Container) -> bool:
    """While building: whether derived members are computed even if the value has them."""
    return bool(scope._params.get("_anew"))


def same(left: object, right: object) -> bool:
    """Equal, and both or neither a boolean: true is not 1."""
    return left == right and isinstance(left, bool) == isinstance(right, bool)


def start_of(stream: Any) -> int:
    """The offset of the value that is about to be read from any kind of stream."""
    return int(stream.tell()) if hasattr(stream, "tell") else int(stream.start)

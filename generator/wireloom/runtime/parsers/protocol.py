"""What the parts of a struct expect of one another, as protocols.

A struct runs its steps over an opened container. The container (`Form`) knows where the bytes of a field are; a field
knows how to read them. Expressions see the values read so far through construct's context.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from construct import Container

from wireloom.runtime.errors import DecodeError, shown
from wireloom.runtime.expressions import PositionPendingError
from wireloom.runtime.values import Value

Expression = Callable[[Container], Any]
Scalar = int | bool | str | bytes | float | None
Path = str

MISSING = object()


class HeldKeys(Protocol):
    """What the keys of a map are held against."""

    def hold(self, key: str, offset: int) -> None:
        """Raises DecodeError where a key is not as it must be."""


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


# --- where a field's bytes are -------------------------------------------------------------------------------------


class SizeInFront(Protocol):
    """A number that stands before the bytes that it counts."""

    def read(self, stream: Any, context: Container, code: str) -> int | None:
        """How many there are; raises DecodeError with `code` for a negative number."""

    def write(self, count: int | None, stream: Any, context: Container) -> None:
        """Say how many follow; raises EncodeError where there are too many."""


class TableReference(Protocol):
    """What a container needs to know of a reference."""

    @property
    def table(self) -> str:
        """The repeated field that it is an index into."""


class WireField(Protocol):
    """What a container needs to know of a field."""

    def given_in(self, value: Mapping[str, Any]) -> Any:
        """What the value being built says of it."""

    def fill(self, stream: Any, scope: Container) -> None:
        """Write what says nothing, where the value has nothing and the container needs something in its place."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def key(self) -> str:
        """What it is called in an object."""

    @property
    def tag(self) -> int:
        """Its number, where fields have numbers."""

    @property
    def one_of(self) -> str:
        """The group of fields that it is of, of which the last one on the wire is there alone."""

    @property
    def group(self) -> bool:
        """Whether its message, or each of a list, stands between two tags and after no length."""

    @property
    def subcon(self) -> Any:
        """The construct of its value."""

    @property
    def inline(self) -> bool:
        """Whether its members stand in the container itself."""

    @property
    def besides(self) -> Collection[str] | None:
        """Of what takes the other members of the container, the names that are not of these; else None."""

    @property
    def optional(self) -> bool:
        """Whether it may be absent."""

    @property
    def when(self) -> Expression | None:
        """The condition under which it is there."""

    @property
    def table(self) -> bool:
        """Whether references of others point into it."""

    @property
    def refers(self) -> TableReference | None:
        """The reference that it is."""


class WireStruct(Protocol):
    """What a container needs to know of its struct."""

    name: str

    @property
    def fields(self) -> Sequence[WireField]:
        """The fields, in order."""

    @property
    def arities(self) -> dict[int, int | None]:
        """The arities that the struct may have as an array, and the place of the version that each tells."""


class Source(Protocol):
    """An opened container while its struct is parsed."""

    def locate(self, field: WireField) -> Any:
        """The stream that the field is read from, or MISSING."""

    def offset(self, stream: Any) -> int:
        """The offset of the value about to be read from `stream`, in bytes from the record's start."""

    def close(self) -> None:
        """Every field has been read; raises DecodeError where the container holds more."""


class Sink(Protocol):
    """An opened container while its struct is built."""

    def place(self, field: WireField) -> Any:
        """The stream that the field is written to."""

    def close(self) -> None:
        """Every field has been written."""


class Form(Protocol):
    """A container of fields in one encoding."""

    def open(self, struct: WireStruct, stream: Any, scope: Container) -> Source:
        """Open the container for parsing."""

    def create(self, struct: WireStruct, stream: Any, scope: Container, fields: Sequence[WireField]) -> Sink:
        """Open the container for building `fields`."""


# --- steps ---------------------------------------------------------------------------------------------------------


@dataclass
class Run:
    """One struct being parsed."""

    scope: Container
    source: Source
    stream: Any
    value: Value
    offsets: dict[str, int] = field(default_factory=dict)
    frame: tuple[int, str] | None = None
    reached: int = 0  # the furthest position before a field stood elsewhere
    has_tail: bool = False  # whether fields count from the end
    front: int = 0  # where the fields end that do not count from the end
    tail: int | None = None  # where those begin that do

    def see(self, name: str, value: Any, *, apart: bool) -> None:
        """Give a value to expressions, for those around the struct beside its members where readers call it otherwise.

        Of several fields of one name, each of other versions, one at most has a value.
        """
        if value is not None or name not in self.scope:
            self.scope[name] = value
        if apart or name in self.value.hidden:
            self.value.hidden[name] = self.scope[name]


class Step(Protocol):
    """What a struct does in its turn."""

    def parse(self, run: Run) -> None:
        """Do it, or raise DecodeError."""

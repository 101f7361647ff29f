"""The steps between fields: checks, checksums, marks, bounds, and fields that are not on the wire.

Each step runs where the spec lists it, over what has been read so far (`Run`). So the order of the spec is the order
in which errors are found. When building, a step writes nothing; the read-back runs it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from construct import Container

from wireloom.runtime.errors import CheckError, DecodeError, amount, shown
from wireloom.runtime.parsers.fields import Run
from wireloom.runtime.parsers.protocol import Expression, evaluate, holds, placed, spend, start_of
from wireloom.runtime.values import Value, float32, kind_of, meant


@dataclass(frozen=True)
class Computed:
    """A field that is not on the wire: parsing computes it from others, and building skips it.

    Its value must have its type: `kind` (int, bool, str, bytes, float32, float64; empty if the expression can yield
    nothing else), then `lowest` and `highest`. Null fits every type.
    """

    name: str
    compute: Expression
    kind: str = ""
    lowest: int | None = None
    highest: int | None = None
    title: str = ""
    when: Expression | None = None
    condition: str = ""  # how the spec writes `when`
    hidden: bool = False
    made: bool = False  # made of texts of the record, so it counts as expansion
    given: bool = False  # builders take it from the value, as its source is derived from it
    derive: Expression | None = None  # computed in its place when building
    agrees: bool = False  # repeats another member's meaning: a given value must match it
    doc: str = ""

    @property
    def built(self) -> Expression:
        """The expression that builders compute."""
        return self.compute if self.derive is None else self.derive

    def parse(self, run: Run) -> None:
        """Compute, check and store the value."""
        value = self._value(run) if holds(self.when, run.scope) else None
        run.see(self.name, value, apart=self.hidden or (self.title or self.name) != self.name)
        if not self.hidden and (value is not None or (self.title or self.name) not in run.value):
            run.value[self.title or self.name] = value

    def _value(self, run: Run) -> Any:
        try:
            value, offset = evaluate(self.compute, run.scope), start_of(run.stream)
            if self.made:
                spend(value, run.scope, offset)
            return self.held(value, offset)
        except DecodeError as error:
            raise error.at(self.name) from None

    def held(self, value: Any, offset: int) -> Any:
        """The value in its type; raises DecodeError if it does not fit."""
        if value is None:
            return None
        value = self._typed(value, offset)
        low, high = self.lowest, self.highest
        if low is not None and kind_of(value) not in ("int", "float"):
            raise DecodeError("type_mismatch", offset=offset, expected="a number", actual=shown(value))
        if (low is not None and value < low) or (high is not None and value > high):
            raise DecodeError("int_range", offset=offset, expected=f"{low} .. {high}", actual=shown(value))
        return value

    def _typed(self, value: Any, offset: int) -> Any:
        if self.kind.startswith("float") and kind_of(value) in ("int", "float"):
            return float32(float(value)) if self.kind == "float32" else float(value)
        if self.kind and kind_of(value) != self.kind:
            raise DecodeError("type_mismatch", offset=offset, expected=self.kind, actual=shown(value))
        return value


@dataclass(frozen=True)
class Counted:
    """A count that a salvage or a discard sets; otherwise 0."""

    name: str
    doc: str = ""

    def parse(self, run: Run) -> None:
        """Set it to 0, unless it is set already."""
        run.value[self.name] = run.scope[self.name] = run.scope.get(self.name, 0)


@dataclass(frozen=True)
class Check:
    """`that` must hold while `when` holds, else `code` at `field`."""

    that: Expression
    code: str
    field: str = ""
    when: Expression | None = None
    expected: str = ""
    operands: tuple[tuple[str, Expression], ...] = ()  # the operands of `that`, as the spec writes them
    looks: tuple[str, ...] = ()  # the fields in `that`, in order; the last one gives the offset if `field` has none
    notation: str = ""  # how the spec writes the numbers

    def parse(self, run: Run) -> None:
        """Check."""
        if not holds(self.when, run.scope) or holds(self.that, run.scope):
            return
        error = CheckError(
            self.code, offset=self._offset(run), expected=self.expected, actual=", ".join(self._values(run.scope))
        )
        raise error.at(self.field) if self.field else error

    def _offset(self, run: Run) -> int:
        """The offset of `field`, else of the last field in `that` that has one, else of the struct."""
        names = (self.field, *reversed(self.looks))
        return next((run.offsets[name] for name in names if name in run.offsets), run.scope._start)

    def _values(self, scope: Container) -> Iterator[str]:
        for name, operand in self.operands:
            yield f"{name} {shown(evaluate(operand, scope), notation=self.notation)}"


@dataclass(frozen=True)
class Verify:
    """Verify the checksum in `field` here, while `when` holds."""

    field: str
    when: Expression | None = None

    def parse(self, run: Run) -> None:
        """Verify; the range must be there, else `truncated`. An absent checksum is not verified."""
        stored = run.scope[self.field]
        if stored is None or not holds(self.when, run.scope):
            return
        checksum = run.scope._checksums[self.field]
        stream, position = run.stream, run.stream.tell()
        start, end = (
            run.scope._start + placed(evaluate(bound, run.scope), stream, "an offset")
            for bound in (checksum.start, checksum.end)
        )
        if not 0 <= start <= stream.limit:
            raise stream.short(position, max(end - start, 0))
        stream.go_over_again(start, max(start, end))
        stream.seek(start)
        covered = with_hole(stream.take(max(end - start, 0)), run.offsets[self.field] - start, checksum.octets)
        actual = checksum.of(self.field, covered, run.scope)
        stream.seek(position)
        if actual == stored:
            stream.checksums += checksum_bits(stored, checksum.algorithm) if _is_telling(stored) else 0
        else:
            error = DecodeError(
                checksum.code,
                offset=run.offsets[self.field],
                expected=actual if isinstance(actual, str) else _shown(actual, checksum.written),
                actual=_shown(stored, checksum.written),
            )
            raise error.at(self.field)


def with_hole(covered: bytes, at: int, octets: int) -> bytes:
    """The covered bytes, with zeros in place of the checksum's own `octets` bytes; `at` is its offset in them."""
    first, last = max(at, 0), min(at + octets, len(covered))
    return covered if first >= last else b"".join((covered[:first], bytes(last - first), covered[last:]))


def checksum_bits(stored: int | bytes | str, algorithm: Any) -> int:
    """The bits of a checksum; a hexadecimal digit has four."""
    match stored:
        case bytes():
            return 8 * len(stored)
        case str():
            return 4 * len(stored)
        case _:
            return int(getattr(algorithm, "width", 8))


def _is_telling(stored: int | bytes | str) -> bool:
    """Whether a matching checksum proves anything: the checksum of zeros may itself be zero."""
    return any(stored) if isinstance(stored, bytes) else stored != 0


def _shown(value: int | bytes | str | None, written: Callable[[int], str]) -> str:
    match value:
        case bytes():
            return value.hex()
        case int():
            return written(value)
        case _:
            return shown(value)


@dataclass(frozen=True)
class Mark:
    """Name the offset reached here."""

    name: str

    def parse(self, run: Run) -> None:
        """Note the offset."""
        run.scope._marks[self.name] = run.stream.tell() - run.scope._start


@dataclass(frozen=True)
class Need:
    """At least `bytes` bytes must follow the struct's start, else `truncated` at `field`."""

    bytes: Expression
    field: str = ""

    def parse(self, run: Run) -> None:
        """Check."""
        count = placed(evaluate(self.bytes, run.scope), run.stream, "a size")
        if run.scope._start + count > run.stream.limit:
            offset = run.offsets.get(self.field, run.scope._start)
            left = run.stream.limit - run.scope._start
            error = DecodeError(
                run.stream.overrun, offset=offset, expected=f"{count} bytes in total", actual=f"{left} bytes"
            )
            raise error.at(self.field) if self.field else error


@dataclass(frozen=True)
class Frame(Need):
    """From here on the struct ends `bytes` after its start; a stream continues there even after a bad record."""

    def parse(self, run: Run) -> None:
        """Check, then bound the later steps."""
        is_record = run.scope._ is run.scope._params  # the outermost struct
        try:
            super().parse(run)
        except DecodeError as error:
            if is_record:
                error.frame_size = evaluate(self.bytes, run.scope)
            raise
        stream = run.stream
        run.frame = stream.limit, stream.overrun
        run.scope._size = evaluate(self.bytes, run.scope)
        stream.limit, stream.overrun = run.scope._start + run.scope._size, "bad_region"
        if is_record:
            stream.frame_end, stream.frame_proof = stream.limit, (stream.checksums, stream.constants)


@dataclass(frozen=True)
class End:
    """The region must end here, else `code`."""

    code: str

    def parse(self, run: Run) -> None:
        """Check."""
        if run.stream.left:
            raise DecodeError(
                self.code,
                offset=run.stream.tell(),
                expected="the end of its region",
                actual=f"{amount(run.stream.left)} more",
            )


@dataclass(frozen=True)
class Discard:
    """While `when` holds: empty the list `field` unless `keep` holds for each element.

    The field `count` counts the dropped elements.
    """

    field: str
    keep: Expression
    count: str
    when: Expression | None = None

    def parse(self, run: Run) -> None:
        """Evaluate `keep` for each element, in the scope of its struct."""
        if not holds(self.when, run.scope):
            return
        elements = run.scope[self.field]
        if elements is None or all(holds(self.keep, scope_of(element, run.scope)) for element in elements):
            return
        run.value[self.count] = run.scope[self.count] = len(elements)
        run.scope[self.field] = []
        for members in (run.value, run.value.hidden):  # the readers' name may differ
            members.update({name: [] for name, member in members.items() if member is elements})


class _Members(Container):
    """The members of an element; members of an absent flattened struct are null."""

    def __missing__(self, name: str) -> None:
        return None


def scope_of(element: Value, outer: Container) -> Container:
    """The scope of an element that was read."""
    scope = _Members({name: meant(member) for name, member in element.items()})
    scope.update(element.hidden)
    scope.update({"_": outer, "_params": outer._params})
    return scope

"""Fields: a name, a construct, and the constraints on the value.

Parsing locates a field in its container, reads it, checks its constraints, and stores it for expressions and readers.
The container (`Form`) knows where the bytes of a field are; a field knows how to read them. Building is the reverse: it
derives the wire value from the readers' value.
"""

import io
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from typing import Any, Protocol

import construct
from construct import Container

from wireloom.runtime.errors import DecodeError, EncodeError, shown
from wireloom.runtime.parsers.protocol import (
    MISSING,
    Expression,
    Scalar,
    derives_anew,
    evaluate,
    holds,
    marked,
    placed,
    same,
    spend,
    start_of,
)
from wireloom.runtime.parsers.regions import Packing
from wireloom.runtime.patterns import worded
from wireloom.runtime.values import OpenBytes, Value, is_other_zero, meant


@dataclass(frozen=True)
class Mapped:
    """A value table: wire values and their meanings; the first entry with a meaning is used to build it.

    Computed integers outside of `lowest` .. `highest` are `int_range`.
    """

    entries: tuple[tuple[Scalar, Expression], ...]
    code: str
    lowest: int | None = None
    highest: int | None = None
    made: tuple[Scalar, ...] = ()  # wire values that mean texts of the record, which count as expansion
    notation: str = ""  # how the spec writes the numbers

    def read(self, wire: Scalar, scope: Container, offset: int) -> Scalar:
        """The meaning of `wire`; raises DecodeError with `code` if it has none."""
        for known, meaning in self.entries:
            if known == wire and type(known) is type(wire):
                found = meaning(scope)
                if known in self.made:
                    spend(found, scope, offset)
                return self._held(found, offset)
        known_values = ", ".join(self._shown(known, meaning, scope) for known, meaning in self.entries)
        expected = known_values if len(self.entries) == 1 else f"one of {known_values}"
        raise DecodeError(self.code, offset=offset, expected=expected, actual=shown(wire, notation=self.notation))

    def _shown(self, known: Scalar, meaning: Expression, scope: Container) -> str:
        """A wire value with its meaning: `1 (urgent)`."""
        word = None if known in self.made or isinstance(known, str | bool) else meaning(scope)
        wire_text = shown(known, notation=self.notation)
        return f"{wire_text} ({word})" if isinstance(word, str) else wire_text

    def _held(self, meaning: Scalar, offset: int) -> Scalar:
        if self.lowest is None or self.highest is None or not isinstance(meaning, int):
            return meaning
        if not self.lowest <= meaning <= self.highest:
            expected = f"{self.lowest} .. {self.highest}"
            raise DecodeError("int_range", offset=offset, expected=expected, actual=shown(meaning))
        return meaning

    def write(self, value: Scalar, scope: Container, preferred: Scalar = MISSING) -> Scalar:  # type: ignore[assignment]
        """The wire value that means `value`; `preferred` if it does."""
        candidates = [wire for wire, meaning in self.entries if same(meaning(scope), value)]
        if not candidates:
            meanings = ", ".join(shown(meaning(scope)) for _, meaning in self.entries)
            raise EncodeError(f"one of {meanings}", shown(value))
        return preferred if preferred in candidates else candidates[0]

    @cached_property
    def constants(self) -> tuple[Scalar, ...] | None:
        """The meanings of all entries if they are constants; None if they depend on names."""
        try:
            return tuple(meaning(None) for _, meaning in self.entries)
        except (TypeError, AttributeError):
            return None

    def means(self, value: Scalar, scope: Container, only: Any = MISSING) -> bool:
        """Whether some wire value, or the given `only` one, means `value`."""
        entries = [meaning for wire, meaning in self.entries if only is MISSING or same(wire, only)]
        return any(same(meaning(scope), value) for meaning in entries)


@dataclass(frozen=True)
class Bit:
    """Bits of an integer field, read as a field of the same struct. Bit 0 is the lowest."""

    name: str
    low: int
    width: int = 1
    signed: bool = False
    mapped: Mapped | None = None
    derive: Expression | None = None
    hidden: bool = False
    null: int | None = None  # the number that readers see as null
    title: str = ""  # the readers' name, if it is not `name`

    def read(self, raw: int, scope: Container, offset: int) -> Scalar:
        """The value of these bits in `raw`."""
        wire = self._on_wire(raw)
        if self.mapped is None:
            return wire
        try:
            return self.mapped.read(wire, scope, offset)
        except DecodeError as error:
            raise error.at(self.name) from None

    @cached_property
    def _is_flag(self) -> bool:
        """Whether the wire value is true or false: one bit, unless the value table has numbers."""
        numbers = () if self.mapped is None else self.mapped.entries
        return self.width == 1 and all(isinstance(wire, bool) for wire, _ in numbers)

    def _on_wire(self, raw: int) -> int:
        """The wire value of these bits in `raw`."""
        bits = (raw >> self.low) & ((1 << self.width) - 1)
        if self._is_flag:
            return bool(bits)
        return bits - (1 << self.width) if self.signed and bits >> (self.width - 1) else bits

    def write(self, raw: int, scope: Container, *, given: bool = False, needed: bool = False) -> int:
        """`raw` with these bits set from the value being built.

        With `given`, the caller gave `raw`, hidden bits included. With `needed`, null is an error unless the wire has a
        value for it.
        """
        if given and self.hidden and not derives_anew(scope):
            return raw
        anew = self.hidden or (self.derive is not None and derives_anew(scope))
        value: Any = None if anew else scope._value.get(self.title or self.name)
        if value is None and self.derive is not None:
            value = evaluate(self.derive, scope)
        if value is None:
            value = self.null
        if self.mapped is not None:
            if value is None and not needed and not self.mapped.means(None, scope):
                return raw
            try:
                value = self.mapped.write(value, scope, self._on_wire(raw))
            except EncodeError as error:
                raise error.at(self.title or self.name) from None
        if value is None and not needed:
            return raw
        mask = ((1 << self.width) - 1) << self.low
        return (raw & ~mask) | ((self._checked(value) << self.low) & mask)

    def _checked(self, value: Any) -> int:
        """The number, if it fits in the bits; raises EncodeError."""
        if self._is_flag:
            if not isinstance(value, bool):
                raise EncodeError("true or false", shown(value)).at(self.title or self.name)
            return int(value)
        low, high = (-(1 << self.width - 1), 1 << self.width - 1) if self.signed else (0, 1 << self.width)
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value < high:
            raise EncodeError(f"an integer from {low} to {high - 1}", shown(value)).at(self.title or self.name)
        return value


def _is_beyond(number: float, minimum: int | None, maximum: int | None) -> bool:
    """Whether a number is outside of a range."""
    return not ((minimum is None or number >= minimum) and (maximum is None or number <= maximum))  # NaN is beyond


def _ends(minimum: int | None, maximum: int | None, notation: str = "") -> str:
    """A range as specs write it."""
    low, high = ("" if end is None else shown(end, notation=notation) for end in (minimum, maximum))
    return f"{low} .. {high}".strip()


@dataclass(frozen=True)
class Spelling:
    """The length in characters and the pattern that a text must have; `known` names the pattern, if it has a name."""

    minimum: int | None = None
    maximum: int | None = None
    pattern: str = ""
    known: str = ""
    charset: str = ""  # the character set of a text that is held as bytes

    def hold(self, raw: str | bytes, offset: int, code: str) -> None:
        """Raises DecodeError if the text does not conform."""
        text = raw.decode(self.charset) if isinstance(raw, bytes) else raw
        if _is_beyond(len(text), self.minimum, self.maximum):
            expected = f"{_ends(self.minimum, self.maximum)} characters"
            raise DecodeError(code, offset=offset, expected=expected, actual=f"{len(text)}")
        if self.pattern and re.fullmatch(self.pattern, text) is None:
            raise DecodeError(code, offset=offset, expected=worded(self.known, self.pattern), actual=shown(text))


@dataclass(frozen=True)
class Keys:
    """The spelling that the keys of a map must have; other keys are `code`."""

    spelling: Spelling
    code: str

    def hold(self, key: str, offset: int) -> None:
        """Raises DecodeError if the key does not conform."""
        self.spelling.hold(key, offset, self.code)


class Held(construct.Construct):
    """An element with a range, a spelling or a value table; null is exempt."""

    def __init__(  # noqa: PLR0913 - the constraints of an element
        self,
        subcon: Any,
        code: str,
        *,
        mapped: Mapped | None = None,
        minimum: int | None = None,
        maximum: int | None = None,
        spelling: Spelling | None = None,
        notation: str = "",
    ) -> None:
        super().__init__()
        self.subcon, self.code, self.mapped, self.notation = subcon, code, mapped, notation
        self.minimum, self.maximum, self.spelling = minimum, maximum, spelling

    def _parse(self, stream: Any, context: Container, path: str) -> Any:
        offset = start_of(stream)
        value = self.subcon._parse(stream, context, path)
        if self.mapped is not None:
            return self.mapped.read(value, context, offset)
        _hold(self, value, offset)
        return value

    def _build(self, obj: Any, stream: Any, context: Container, path: str) -> Any:
        self.subcon._build(obj if self.mapped is None else self.mapped.write(obj, context), stream, context, path)
        return obj


def _hold(said: "Held | Field", raw: Any, offset: int) -> None:
    """Raises DecodeError if the wire value is out of range, or misspelled; null is exempt."""
    if raw is None:
        return
    if _is_beyond(raw, said.minimum, said.maximum):
        expected = _ends(said.minimum, said.maximum, said.notation)
        raise DecodeError(said.code, offset=offset, expected=expected, actual=shown(raw, notation=said.notation))
    if said.spelling is not None:
        said.spelling.hold(raw, offset, said.code)


def refuses(said: "Field", given: Any) -> bool:
    """Whether a range or a spelling refuses a given value; values of another kind are checked elsewhere."""
    with suppress(TypeError, ValueError):
        try:
            _hold(said, given, 0)
        except DecodeError:
            return True
    return False


@dataclass(frozen=True)
class Checksum:
    """The field holds `algorithm` over the bytes from `start` to `end`, counted from the struct's start.

    The checksum itself has `octets` bytes; `shown` formats its number for messages if the record has digits. `stored`
    computes the field from the checksum, which has the field's name there; None: the field is the checksum. The values
    `ahead` and `after` are covered too: as many of the lowest bytes of an integer, big-endian, or bytes (no size).
    """

    algorithm: Callable[[bytes], Any]
    start: Expression
    end: Expression
    code: str
    octets: int
    shown: str = ""
    stored: Expression | None = None
    ahead: tuple[tuple[int | None, Expression], ...] = ()
    after: tuple[tuple[int | None, Expression], ...] = ()

    def written(self, number: int) -> str:
        """The field's number for a message, with all digits of its width."""
        return self.shown.format(number) if self.shown else f"0x{number:0{2 * self.octets}x}"

    def of(self, name: str, covered: bytes, scope: Container) -> Any:
        """The value of the field `name` for these bytes; None if the expression yields null."""
        ahead, after = (b"".join(_octets(*each, scope) for each in extras) for extras in (self.ahead, self.after))
        found = self.algorithm(b"".join((ahead, covered, after)))
        if self.stored is None:
            return found
        before = scope.get(name)  # not known yet while building
        scope[name] = found
        try:
            return evaluate(self.stored, scope)
        finally:
            scope[name] = before


def _octets(size: int | None, extra: Expression, scope: Container) -> bytes:
    """The lowest bytes of an integer, big-endian, or zeros; without a size the bytes themselves, or none."""
    value = evaluate(extra, scope)
    if size is None:
        return value if isinstance(value, bytes) else b""
    return ((value if isinstance(value, int) else 0) & (1 << 8 * size) - 1).to_bytes(size, "big")


@dataclass(frozen=True)
class Reference:
    """The field is an index into the repeated field `table` of the enclosing message; its value is the entry there."""

    table: str
    code: str


# --- what a field needs of its struct and container ---------------------------------------------------------------


class SizeInFront(Protocol):
    """A number before the bytes that it counts."""

    def read(self, stream: Any, context: Container, code: str) -> int | None:
        """The number of bytes; raises DecodeError with `code` for a negative number."""

    def write(self, count: int | None, stream: Any, context: Container) -> None:
        """Write the number of bytes that follow; raises EncodeError if it does not fit."""


class WireStruct(Protocol):
    """The parts of a struct that its container needs."""

    name: str

    @property
    def fields(self) -> Sequence["Field"]:
        """The fields, in order."""

    @property
    def arities(self) -> dict[int, int | None]:
        """The lengths that the struct may have as an array, and the index of the version that each tells."""


class Source(Protocol):
    """An opened container while its struct is parsed."""

    def locate(self, field: "Field") -> Any:
        """The stream that the field is read from, or MISSING."""

    def offset(self, stream: Any) -> int:
        """The offset of the value about to be read from `stream`, in bytes from the record's start."""

    def close(self) -> None:
        """End reading after the last field; raises DecodeError if the container holds more."""


class Sink(Protocol):
    """An opened container while its struct is built."""

    def place(self, field: "Field") -> Any:
        """The stream that the field is written to."""

    def close(self) -> None:
        """End writing after the last field."""


class Form(Protocol):
    """A container of fields in one encoding."""

    def open(self, struct: WireStruct, stream: Any, scope: Container) -> Source:
        """Open the container for parsing."""

    def create(self, struct: WireStruct, stream: Any, scope: Container, fields: Sequence["Field"]) -> Sink:
        """Open the container for building `fields`."""


@dataclass
class Run:
    """One struct being parsed."""

    scope: Container
    source: Source
    stream: Any
    value: Value
    offsets: dict[str, int] = field(default_factory=dict)
    frame: tuple[int, str] | None = None
    reached: int = 0  # the furthest position before a field at an offset
    has_tail: bool = False  # whether fields count from the end
    front: int = 0  # where the fields end whose offsets count from the start
    tail: int | None = None  # where the fields begin whose offsets count from the end

    def see(self, name: str, value: Any, *, apart: bool) -> None:
        """Give a value to expressions; with `apart`, enclosing structs see it too, beside the readers' members.

        If several versions have a field of the same name, at most one of them has a value.
        """
        if value is not None or name not in self.scope:
            self.scope[name] = value
        if apart or name in self.value.hidden:
            self.value.hidden[name] = self.scope[name]


class Step(Protocol):
    """A step of a struct."""

    def parse(self, run: Run) -> None:
        """Run the step; raises DecodeError."""


# --- fields --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Field:
    """A field on the wire."""

    name: str
    subcon: Any
    _: KW_ONLY
    doc: str = ""
    title: str = ""  # the readers' name, if it is not `name`
    code: str = ""
    notation: str = ""  # how the spec writes the constant, or the range
    at: Expression | int | None = None
    base: str = ""  # the mark, here or in an enclosing struct, from which `at` counts
    size: Expression | SizeInFront | None = None
    packing: Packing | None = None  # how to unpack the region before reading the type
    when: Expression | None = None
    condition: str = ""  # how the spec writes `when`
    circular: bool = False  # `when` is derived from this field
    optional: bool = False
    default: Any = MISSING  # the value of an absent field; null if not declared
    const: Any = MISSING
    null: Any = MISSING  # what builders write for null
    mapped: Mapped | None = None
    minimum: int | None = None
    maximum: int | None = None
    spelling: Spelling | None = None
    bits: tuple[Bit, ...] = ()
    shared: bool = False  # its bits are fields of their own, with their own error paths
    derive: Expression | None = None
    checksum: Checksum | None = None
    refers: Reference | None = None
    table: bool = False
    flatten: bool = False
    inline: bool = False
    hidden: bool = False
    tag: int = 0
    one_of: str = ""  # its oneof, of which only the last field on the wire is present
    group: bool = False  # its message, or each one of a list, is delimited by tags
    member: str | None = None

    def parse(self, run: Run) -> None:
        """Locate, read, check and store the value."""
        scope = run.scope
        if not holds(self.when, scope):
            self._store(run, None)
            return
        try:
            stream = run.source.locate(self)
            if stream is MISSING:
                self._absent(run)
                return
            if self.base:
                with self._elsewhere(run, stream):
                    self._take(run, stream)
                return
            self._seek(run, stream)
            self._take(run, stream)
            if run.has_tail:
                self._check_tail(run)
        except DecodeError as error:
            if not (self.inline and self.besides is None) and not (self.shared and error.path):
                error.at(self.key)
            raise

    def _take(self, run: Run, stream: Any) -> None:
        """Read, check and store the value."""
        offset = run.source.offset(stream)
        run.offsets[self.name] = offset
        raw = self._read(run, stream)
        self._store(run, self._accept(raw, run, offset))

    @property
    def key(self) -> str:
        """The member name in an object."""
        return self.name if self.member is None else self.member

    @property
    def besides(self) -> Collection[str] | None:
        """For a field that takes all other members of its object, the names that it leaves out; else None."""
        found: Collection[str] | None = getattr(self.subcon, "besides", None)
        return found

    @property
    def constant_bits(self) -> int:
        """The bits of the constant; 0 if there is none."""
        match self.const:
            case bytes():
                return 8 * len(self.const)
            case str():
                return 8 * len(self.const.encode())
            case int() if not isinstance(self.const, bool) and self.const is not MISSING:
                return int(getattr(self.subcon, "bits", 8))
            case _:
                return 0

    @property
    def is_tail(self) -> bool:
        """Whether its offset counts from the end."""
        return isinstance(self.at, int) and self.at < 0

    @property
    def is_filler(self) -> bool:
        """Whether it is a hidden run of bytes up to the end."""
        alone = self.hidden and self.size is None and self.at is None and self.const is MISSING
        return alone and getattr(self.subcon, "takes_rest", False)

    @cached_property
    def is_record(self) -> bool:
        """Whether it is a struct or a choice of structs."""
        return hasattr(self.subcon, "visible_members")

    @property
    def stands(self) -> bool:
        """Whether its position is not simply the end of the field before it."""
        return self.at is not None or self.is_filler

    def offset(self, scope: Container) -> Any:
        """The value of `at`; raises PositionPendingError if it is not known yet."""
        return evaluate(self.at, scope) if callable(self.at) else self.at

    def _check_tail(self, run: Run) -> None:
        """Fields whose offsets count from the end must begin after all other fields."""
        position: int = run.stream.tell()
        if not self.is_tail:
            run.front = max(run.front, position)
        if run.tail is not None and run.front > run.tail:
            raise DecodeError(
                run.stream.overrun,
                offset=run.tail,
                expected=f"bytes after offset {run.front}, where other fields end",
                actual=f"{run.stream.limit - run.front} left",
            )

    def _absent(self, run: Run) -> None:
        if not self.optional:
            missing = getattr(run.source, "start", 0)
            raise DecodeError("missing_key", offset=missing, expected=self.key, actual="no such member")
        self._store(run, self.default_meant(run.scope))

    def default_meant(self, scope: Container) -> Any:
        """The readers' value of an absent field."""
        if self.default is MISSING:
            return None
        return self.default if self.mapped is None else self.mapped.read(self.default, scope, 0)

    def _seek(self, run: Run, stream: Any) -> None:
        if self.at is None:
            return
        start = run.scope._start
        offset = placed(self.offset(run.scope), stream, "an offset")
        target = (stream.limit if self.is_tail else start) + offset
        if target < start or target > stream.limit:
            raise stream.short(stream.tell(), max(target - stream.tell(), 0))
        if self.is_tail:
            run.tail = target if run.tail is None else min(run.tail, target)
        run.reached = max(run.reached, stream.tell())
        stream.seek(target)

    @contextmanager
    def _elsewhere(self, run: Run, stream: Any) -> Iterator[None]:
        """Read at an offset in an enclosing struct, within its region, then return to the current position."""
        here, owner = stream.tell(), marked(self.base, run.scope)
        offset = self.offset(run.scope)
        start, end = owner._start, owner._start + owner._size
        target = start + owner._marks[self.base] + offset if isinstance(offset, int) else None
        if target is None or not start <= target <= end:
            expected = f"an offset from {start - stream.origin} to {end - stream.origin}"
            actual = shown(offset if target is None else target - stream.origin)
            raise DecodeError("bad_pointer", offset=here, expected=expected, actual=actual)
        outer = stream.limit, stream.overrun
        stream.limit, stream.overrun = end, "bad_pointer"
        stream.retried += 1
        stream.seek(target)
        try:
            yield
        finally:
            stream.limit, stream.overrun = outer
            stream.retried -= 1
        owner._furthest = max(owner._furthest, stream.tell())
        stream.go_over_again(target, stream.tell())
        stream.seek(here)

    def _read(self, run: Run, stream: Any) -> Any:
        if self.size is None:
            return self.subcon._parse(stream, run.scope, "")
        with stream.region(self._region(self.size, run.scope, stream), self.code):
            if self.packing is not None:
                return self.packing.parse(self.subcon, stream, run.scope)
            return self.subcon._parse(stream, run.scope, "")

    def _region(self, size: Expression | SizeInFront, scope: Container, stream: Any) -> int | None:
        """The size of the field's region, from an expression or a length prefix."""
        return evaluate(size, scope) if callable(size) else size.read(stream, scope, self.code)

    def _accept(self, raw: Any, run: Run, offset: int) -> Any:
        """The readers' value of `raw`; raises DecodeError if a constraint does not hold."""
        if self.const is not MISSING and not same(raw, self.const):
            expected, actual = (shown(each, notation=self.notation) for each in (self.const, raw))
            raise DecodeError(self.code, offset=offset, expected=expected, actual=actual)
        if self.const is not MISSING and hasattr(run.stream, "constants"):
            run.stream.constants += self.constant_bits
        if self.mapped is not None:
            return self.mapped.read(raw, run.scope, offset)
        _hold(self, raw, offset)
        for bit in self.bits:
            run.offsets[bit.name] = offset
            self._put(run, bit.name, bit.title or bit.name, bit.read(raw, run.scope, offset), hidden=bit.hidden)
        if self.refers is not None:
            return self._entry(raw, run, offset)
        return raw

    def _entry(self, index: int, run: Run, offset: int) -> Any:
        assert self.refers is not None
        table = run.scope._[self.refers.table] or ()  # an absent table has no entries
        if index >= len(table):
            raise DecodeError(
                self.refers.code, offset=offset, expected=f"an index below {len(table)}", actual=shown(index)
            )
        entry = table[index]
        spend(entry, run.scope, offset)
        return entry

    def _store(self, run: Run, value: Any) -> None:
        if not self.flatten:
            self._put(run, self.name, self.title or self.name, value, hidden=self.hidden)
            return
        run.scope[self.name] = value
        if value is not None:
            run.value.update(value)
            run.value.hidden.update(value.hidden)
            run.value.free |= value.free
            run.value.derived |= value.derived
            run.scope.update({name: meant(member) for name, member in value.items()})
            run.scope.update(value.hidden)

    def _put(self, run: Run, name: str, title: str, value: Any, *, hidden: bool) -> None:
        """Give a value to expressions, and to readers unless it is hidden or a field of the same title has a value."""
        run.see(name, meant(value), apart=hidden or title != name)
        if hidden:
            return
        if value is not None or title not in run.value:
            run.value[title] = value

    # --- building ---

    @property
    def is_derived(self) -> bool:
        """Whether the value is derived from others."""
        return self.derive is not None or self.checksum is not None

    @property
    def is_determined(self) -> bool:
        """Whether the value is derived from others, or fixed by the format."""
        has_value = any(each is not MISSING for each in (self.const, self.default, self.null))
        return has_value or self.is_derived or self.table or bool(self.bits)

    def needs(self, bit: Bit) -> bool:
        """Whether the caller must give these bits: they are a field of their own, and nothing determines them."""
        return self.shared and bit.derive is None and bit.null is None and not bit.hidden

    def value_to_build(self, scope: Container) -> Any:
        """The wire value, or MISSING; raises PositionPendingError if it depends on unknown positions."""
        if self.const is not MISSING:
            return self._constant(scope)
        if self.flatten:
            return MISSING if self.optional and not self.is_given(scope._value) else scope._value
        value = self.on_wire(self.stated(scope._value, scope))
        if value is None and self.derive is not None:
            value = evaluate(self.derive, scope) if self.bits else scope[self.name]
        if self.bits:
            return self.packed(value, scope)
        if value is None and self.optional and not self.null_has_a_wire_form(scope):
            return MISSING
        wire = value if self.mapped is None else self.mapped.write(value, scope)
        is_default = self.optional and same(wire, self.default) and not is_other_zero(wire, self.default)
        return MISSING if is_default else wire

    def fill(self, stream: Any, scope: Container) -> None:
        """Write a field that is left out but has later ones after it: the value that means null, or the default."""
        wire = None if self.default is MISSING else self.default
        try:
            if self.mapped is not None and (wire is None or self._means_given_null(scope)):
                wire = self.mapped.write(None, scope, self.default)
            self.subcon._build(wire, stream, scope, "")
        except EncodeError as error:
            raise error.at(self.title or self.name) from None

    def _means_given_null(self, scope: Container) -> bool:
        """Whether null is given, and some wire value means it."""
        given = scope._value.get(self.title or self.name)
        return given is None and self.mapped is not None and self.mapped.means(None, scope)

    def is_given(self, value: Mapping[str, Any]) -> bool:
        """Whether the value has a member of the flattened record; True if the record's members are unknown."""
        if not hasattr(self.subcon, "titles"):
            return True
        return any(value.get(title) is not None for title in self.subcon.titles())

    def null_has_a_wire_form(self, scope: Container) -> bool:
        """Whether null must be written, since leaving the field out would mean another value."""
        if self.default is MISSING or self.default is None:
            return False
        if getattr(self.subcon, "nullable", False):
            return True
        return self.mapped is not None and self.mapped.means(None, scope) and not self._default_means_null(scope)

    def _default_means_null(self, scope: Container) -> bool:
        try:
            return self.default_meant(scope) is None
        except DecodeError:
            return False  # the read-back reports it

    def stated(self, value: Mapping[str, Any], scope: Container) -> Any:
        """The caller's value for the field; None if the field is to be derived."""
        return None if self.derive is not None and derives_anew(scope) else self.given_in(value)

    def given_in(self, value: Mapping[str, Any]) -> Any:
        """The member of `value` for the field; None for a hidden field."""
        return None if self.hidden else value.get(self.title or self.name)

    def on_wire(self, given: Any) -> Any:
        """The given value, with the wire form of null in place of null."""
        return self.null if given is None and self.null is not MISSING else given

    def _constant(self, scope: Container) -> Any:
        """The constant; MISSING for an optional constant that is not given, unless it is hidden."""
        given = scope._value.get(self.title or self.name)
        if isinstance(given, OpenBytes):
            raise EncodeError(shown(self.const, notation=self.notation), shown(given))
        if isinstance(given, float) and given == self.const and is_other_zero(given, self.const):
            return given
        if self.optional and (same(self.const, self.default) or (given is None and not self.hidden)):
            return MISSING
        return self.const

    def write(self, value: Any, stream: Any, scope: Container) -> None:
        """Write the wire value, after its length prefix if it has one."""
        if self.size is None or callable(self.size):
            self._write_content(value, stream, scope)
            return
        body = io.BytesIO()
        self._write_content(value, body, scope)
        self.size.write(len(body.getvalue()), stream, scope)
        stream.write(body.getvalue())

    def _write_content(self, value: Any, stream: Any, scope: Container) -> None:
        if self.packing is None:
            self.subcon._build(value, stream, scope, "")
        else:
            self.packing.build(self.subcon, value, stream, scope)

    @property
    def placeholder(self) -> Any:
        """A value of the right width, to be overwritten."""
        plain = getattr(self.subcon, "placeholder", 0)
        return plain if self.mapped is None else self.mapped.entries[0][0]

    @cached_property
    def has_any_width(self) -> bool:
        """Whether the width depends on the value, so that no space can be reserved."""
        return getattr(self.subcon, "digits", None) == 0

    def packed(self, value: Any, scope: Container, *, only: Bit | None = None) -> int:
        """The integer made of `value` (None: the given one, or 0) and its bits, or only the bits `only`."""
        raw = self.given_in(scope._value) if value is None else value
        if not isinstance(raw, int | None) or isinstance(raw, bool):
            raise EncodeError("an integer", shown(raw))
        given = raw is not None and self.stated(scope._value, scope) is not None
        raw = raw or 0
        for bit in self.bits if only is None else (only,):
            raw = bit.write(raw, scope, given=given, needed=only is None and self.needs(bit))
        width = getattr(self.subcon, "bits", 0)
        if getattr(self.subcon, "signed", False) and 1 << (width - 1) <= raw < 1 << width:
            return raw - (1 << width)  # the highest bit is the sign
        return raw

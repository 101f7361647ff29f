"""Draws values of a format from its model, member by member in the order of the spec.

A drawn value is one that a user would build: derived members (lengths, checksums, presence flags) are left out, except
computed values that are known already. Conditions and checks are evaluated over the members drawn so far. A `Chance`
makes the choices: a random number generator, or the strategies of a test.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, assert_never

from wireloom.drawing.evaluation import UNKNOWN, Scope, evaluate
from wireloom.drawing.texts import kept_ends, spelled, spelled_value
from wireloom.encodings import Encoding
from wireloom.expr.ast import Literal
from wireloom.model import types as wire
from wireloom.model.format import Format
from wireloom.resolve.logical.shapes import logical_bit, logical_field
from wireloom.runtime.columns.logical import Record
from wireloom.runtime.columns.shape import filling
from wireloom.runtime.values import Extension, Pairs

_Option = TypeVar("_Option")
_DEPTH = 3
_TRIES = 8
_SOON = 1 << 16  # timestamps in any unit up to here fit into every timestamp column
_SMALL = (0, 1, 2, 3, 4, 16)
_WHOLE = 1 << 11  # floats of any width hold the integers up to here
_MANY = 300  # most elements of a list whose count was drawn

Wanted = Mapping[tuple[str, str], Sequence[Any]]
"""For fields, by struct and wire name: the wire values to draw from instead of any other."""


class NoValueError(Exception):
    """No value was found that satisfies the checks of the format."""


class Chance(Protocol):
    """The source of all choices."""

    def integer(self, low: int, high: int) -> int:
        """An integer from `low` to `high`."""

    def edge(self, low: int, high: int) -> int:
        """An integer of that range, often one where readers tend to fail."""

    def boolean(self) -> bool:
        """True or false."""

    def float(self, bits: int, *, finite: bool) -> float:
        """A float of `bits` bits."""

    def text(self, size: int | None) -> str:
        """A text; with `size`, an ASCII text of so many bytes."""

    def encoded(self, size: int | None, charset: str) -> str:
        """A text of `size` bytes in the character set `charset`; raises NoValueError if there is none."""

    def octets(self, size: int | None) -> bytes:
        """Bytes; with `size`, so many."""

    def json_text(self, kind: str) -> str:
        """A JSON text of a kind: object, array or any."""


class _CheckFailedError(Exception):
    """A drawn member violates a check of its struct."""


def value_of(
    format: Format, root: str, parameters: Mapping[str, Any], chance: Chance, wanted: Wanted | None = None
) -> Any:
    """A value of one of the format's roots; raises NoValueError."""
    chosen = next(each for each in format.roots if each.name == root)
    given = {parameter.name: parameter.default for parameter in format.parameters} | dict(parameters)
    if given.get(format.byte_order.parameter or "") == "auto":
        # an unknown byte order: builders write big-endian, and the value reads alike
        given |= {format.byte_order.parameter: "big"}
    scope = Scope(given, format.ranges)
    return _Drawing(chance, format, {} if wanted is None else wanted).type(chosen.type, scope, format.encoding, 0)


def filling_bytes(array: wire.Array, count: int) -> int:
    """The number of elements; without a stated count, bits are added until the last byte is full."""
    return count if array.count is not None or not array.packed else -(-count * array.packed // 8) * 8 // array.packed


@dataclass(frozen=True, repr=False)
class _Drawing:
    chance: Chance
    format: Format
    wanted: Wanted

    def type(self, type: wire.Type, scope: Scope, encoding: Encoding, depth: int) -> Any:
        """A value of the type."""
        match type:
            case wire.Integer():
                return self.chance.edge(type.minimum, type.maximum)
            case wire.Float(bits):
                return self.chance.float(bits, finite=encoding.text)
            case wire.Boolean():
                return self.chance.boolean()
            case wire.Null():
                return None
            case wire.Text(size):
                return self.chance.text(_amount(size, scope)) + self.pick(kept_ends(size)).decode()
            case wire.Bytes(size, charset=str(charset)) if charset:
                return self.chance.encoded(_amount(size, scope), charset) + self.pick(kept_ends(size)).decode(charset)
            case wire.Bytes(size):
                return self.chance.octets(_amount(size, scope)) + self.pick(kept_ends(size))
            case wire.JsonText(kind):
                return self.chance.json_text(kind)
            case wire.Array():
                return self.array(type, scope, encoding, depth)
            case wire.Map():
                return self.map(type, scope, encoding, depth)
            case wire.Extension(_, content):
                return self.type(content, scope, encoding, depth)
            case wire.Nullable(inner):
                return None if self.chance.boolean() else self.type(inner, scope, encoding, depth)
            case wire.Reference(name):
                return self.type(self.format.type(name), scope, encoding, depth)
            case wire.OneOf():
                return self.one_of(type, scope, encoding, depth)
            case wire.Select():
                case = self.case(type, scope)
                assert not isinstance(case.type, wire.Refusal)  # noqa: S101 - `case` passes over those
                value = self.type(case.type, scope, encoding, depth)
                return self.peeked(type, case, self.tagged(type.tag, case, value, scope))
            case wire.Attempt():
                trial = self.pick(type.trials)
                return ({type.kind_field: trial.name} if type.kind_field else {}) | self.type(
                    trial.type, scope, encoding, depth
                )
            case wire.Struct():
                return self.struct(type, scope, depth)
            case _:
                assert_never(type)

    def pick(self, options: Sequence[_Option]) -> _Option:
        """One of the options, drawn by its index, so that Hypothesis reports the index."""
        return options[self.chance.integer(0, len(options) - 1)]

    def array(self, array: wire.Array, scope: Scope, encoding: Encoding, depth: int) -> list[Any]:
        """Up to three elements, or as many as the count requires."""
        count = _amount(array.count, scope)
        size = filling_bytes(array, self.chance.integer(0, 3)) if count is None else count
        if size < 0 or (size > _MANY and not isinstance(array.count, Literal)):
            raise _CheckFailedError
        elements = [self.element(array, scope, encoding, depth) for _ in range(size)]
        if isinstance(array.count, wire.Last):
            elements = self.ended(elements, array.count, scope)
        if array.entries:
            return Pairs({repr(each["key"]): (each["key"], each["value"]) for each in elements}.values())
        if array.unique is None or isinstance(array.count, wire.Last):
            return elements
        return list({repr(element.get(array.unique, element)): element for element in elements}.values())

    def element(self, array: wire.Array, scope: Scope, encoding: Encoding, depth: int) -> Any:
        """An element that satisfies the rules for elements of the list."""
        held, type = array.held, wire.not_null(array.element)
        if held is None:
            return self.type(array.element, scope, encoding, depth + 1)
        if type is not array.element and self.chance.boolean():
            return None
        if held.mappings is not None:
            return evaluate(self.pick(held.mappings).value, scope)
        if held.spelling is not None:
            return self.text(held.spelling, type)
        return self.bounded(held, type)

    def bounded(self, said: wire.Field | wire.Held, type: wire.Type) -> float:
        """A number within the range of a field or of list elements; a float is a whole number of at most 11 bits."""
        assert isinstance(type, wire.Integer | wire.Float)  # noqa: S101 - the check of specs
        least, most = (type.minimum, type.maximum) if isinstance(type, wire.Integer) else (-_WHOLE, _WHOLE)
        low = least if said.minimum is None else said.minimum
        high = most if said.maximum is None else said.maximum
        if isinstance(type, wire.Integer):
            return self.chance.edge(low, high)
        low, high = (low, high) if low > _WHOLE or high < -_WHOLE else (max(low, -_WHOLE), min(high, _WHOLE))
        return float(self.chance.edge(low, high))

    def text(self, spelling: wire.Spelling, type: wire.Type, null: object = None) -> str:
        """A text that matches the pattern and length."""
        text = spelled_value(spelling, type, self.pick, null)
        if text is None:
            raise _CheckFailedError
        return text

    def ended(self, elements: list[Any], last: wire.Last, scope: Scope) -> list[Any]:
        """The elements up to the first that satisfies the end condition."""
        for count, element in enumerate(elements, 1):
            inner = scope.inner()
            inner.values.update(element)
            if evaluate(last.holds, inner) is True:
                return elements[:count]
        raise _CheckFailedError

    def map(self, type: wire.Map, scope: Scope, encoding: Encoding, depth: int) -> Pairs:
        """Up to three entries with different keys."""
        keys = [self.key(type, scope, encoding, depth + 1) for _ in range(self.chance.integer(0, 3))]
        unique = {repr(key).replace("-0.0", "0.0"): key for key in keys}
        return Pairs((each, self.type(type.value, scope, encoding, depth + 1)) for each in unique.values())

    def key(self, type: wire.Map, scope: Scope, encoding: Encoding, depth: int) -> Any:
        """A key of a map that matches the required pattern."""
        if type.spelling is not None:
            return spelled(type.spelling, self.pick)
        return self.type(type.key, scope, encoding, depth)

    def one_of(self, type: wire.OneOf, scope: Scope, encoding: Encoding, depth: int) -> Any:
        """One of the alternatives; beyond some depth, one that does not nest."""
        flat = [a for a in type.alternatives if not isinstance(a.type, wire.Array | wire.Map)]
        chosen = self.pick(flat if depth > _DEPTH and flat else type.alternatives)
        value = self.type(chosen.type, scope, encoding, depth)
        of_type = chosen.type if type.open and isinstance(chosen.type, wire.Extension) else None
        return value if of_type is None else Extension(of_type.code, "", value)

    def case(self, select: wire.Select, scope: Scope) -> wire.Case:
        """The case that the tag selects; any case if only the wire has the tag."""
        cases = [case for case in select.cases if not isinstance(case.type, wire.Refusal)]
        if isinstance(select.tag, wire.FieldTag):
            tag = evaluate(select.tag.expression, scope)
            listed = [case for case in select.cases if tag in case.values]
            cases = [case for case in cases if (case in listed if listed else not case.values)]
        if not cases:
            raise _CheckFailedError
        return self.pick(cases)

    def tagged(self, tag: Any, case: wire.Case, value: Any, scope: Scope) -> Any:
        """The value with the member that selects its case set to a value of that case."""
        if not isinstance(tag, wire.MemberTag) or tag.presence:
            return value
        struct = self.format.type(case.type.name) if isinstance(case.type, wire.Reference) else case.type
        for field in struct.fields if isinstance(struct, wire.Struct) else ():
            if (field.member or field.wire_name) == tag.member and field.name in value:
                known = {mapping.wire: mapping.value for mapping in field.mappings or ()}
                wires = [each for each in case.values if each in known] if known else list(case.values)
                chosen = self.pick(wires)
                value[field.name] = evaluate(known[chosen], scope) if known else chosen
        return value

    def peeked(self, select: wire.Select, case: wire.Case, value: Any) -> Any:
        """The value with its first member set so that the value read ahead selects the case."""
        struct = self.format.type(case.type.name) if isinstance(case.type, wire.Reference) else case.type
        if not isinstance(select.tag, wire.PeekTag) or not isinstance(struct, wire.Struct):
            return value
        taken = {each for other in select.cases for each in other.values}
        options = list(case.values) or [number for number in range(128) if number not in taken]
        first = struct.fields[0].name
        chosen = value.get(first)
        if isinstance(chosen, bytes):  # the tag reads these bytes ahead as a number
            size = select.tag.type.bits // 8
            keys = [number.to_bytes(size) for number in case.values if isinstance(number, int)]
            value[first] = chosen if chosen in keys else self.pick(keys or [bytes(size) + chosen])
        if isinstance(chosen, int) and not (chosen in case.values if case.values else chosen not in taken):
            value[first] = self.pick(options)
        return value

    # --- structs ---

    def struct(self, struct: wire.Struct, outer: Scope, depth: int) -> dict[str, Any]:
        """A value that satisfies the struct's checks; drawn again if it does not."""
        for _ in range(_TRIES):
            try:
                return _StructDrawing(self, struct, outer.inner(), depth).value()
            except _CheckFailedError:
                continue
        raise NoValueError


@dataclass(frozen=True, repr=False)
class _StructDrawing:
    drawing: _Drawing
    struct: wire.Struct
    scope: Scope
    depth: int

    def value(self) -> dict[str, Any]:
        value: dict[str, Any] = {}
        for step in self.struct.steps:
            if isinstance(step, wire.Field):
                self.field(step, value)
            elif isinstance(step, wire.Check):
                self.check(step, value)
        return value

    def check(self, check: wire.Check, value: dict[str, Any]) -> None:
        """If a check fails at an integer, replace the integer by a small one that satisfies the check."""
        if self.holds(check.when) and not self.holds(check.that):
            field = next((field for field in self.struct.fields if field.wire_name == check.field), None)
            if field is None or field.name not in value or not isinstance(value[field.name], int):
                raise _CheckFailedError
            options = [number for number in _SMALL if self.with_value(check, field, number)]
            if not options:
                raise _CheckFailedError
            self.scope.values[field.wire_name] = value[field.name] = self.drawing.pick(options)

    def with_value(self, check: wire.Check, field: wire.Field, number: int) -> bool:
        self.scope.values[field.wire_name] = number
        return self.holds(check.that)

    def holds(self, when: Any) -> bool:
        return when is None or evaluate(when, self.scope) in (True, UNKNOWN)

    def field(self, field: wire.Field, value: dict[str, Any]) -> None:
        if field.table:
            return
        group = [each.wire_name for each in self.struct.fields if each.one_of and each.one_of == field.one_of]
        is_taken = any(self.scope.values.get(name) is not None for name in group)
        if not self.holds(field.when) or (field.until and self.struct.versions) or is_taken:
            self.scope.values.setdefault(field.wire_name, None)
            return
        known = self.known(field)
        for name, bit in self.bits(field).items():
            self.scope.values[name] = bit
        charset = getattr(_bare(field.type), "charset", "")
        self.scope.values[field.wire_name] = known.encode(charset) if charset and isinstance(known, str) else known
        for bit in field.bits:
            if not bit.hidden and bit.derive is None:
                value[bit.title] = self.meant_bit(bit, self.scope.values[bit.name])
        if known is UNKNOWN or field.hidden or field.bits:
            return
        if field.flatten:
            value.update(known or {})
            self.scope.values.update(known or {})
        elif known is not None or field.name not in value:
            value[field.name] = self.meant(field, known)

    def meant(self, field: wire.Field, known: Any) -> Any:
        """The value that readers see for a wire value."""
        charset = getattr(_bare(field.type), "charset", "")
        if field.meaning is None:
            return known.decode(charset) if charset and isinstance(known, bytes) else known
        if charset and isinstance(known, str):
            return known
        record = Record((logical_field(field, dict(self.drawing.format.types)),))
        try:
            return filling(record)({field.name: known})[field.name]
        except OverflowError:  # out of range for readers: a later check refuses it
            raise _CheckFailedError from None

    def meant_bit(self, bit: wire.Bit, known: Any) -> Any:
        """The value that readers see for bits."""
        return known if bit.meaning is None else filling(Record((logical_bit(bit),)))({bit.title: known})[bit.title]

    def known(self, field: wire.Field) -> Any:
        """The value of the field; UNKNOWN if it depends on the layout."""
        if field.const is not None:
            return field.const
        if field.compute is not None and field.derive is None:
            found = evaluate(field.compute, self.scope)
            if not field.given or found is not UNKNOWN:
                return self.computed(field.type, found)
        if field.given and field.meaning is not None:
            return self.drawing.chance.edge(0, _SOON)
        if field.counted:
            return 0
        if field.checksum is not None or field.bits:
            return UNKNOWN
        wanted = self.drawing.wanted.get((self.struct.name, field.wire_name))
        if wanted:
            chosen = self.drawing.pick(wanted)
            known = {mapping.wire: mapping.value for mapping in field.mappings or ()}
            return evaluate(known[chosen], self.scope) if chosen in known else chosen
        if field.presence is wire.Presence.OPTIONAL and not field.has_default and self.drawing.chance.boolean():
            return None
        if field.mappings is not None:
            return self.meaning(field.mappings)
        if field.derive is not None and not isinstance(field.type, wire.Boolean):
            return UNKNOWN
        if field.refers is not None:
            return self.drawing.chance.text(None)
        if field.minimum is not None or field.maximum is not None:
            return self.drawing.bounded(field, wire.not_null(field.type))
        if field.spelling is not None:
            return self.drawing.text(field.spelling, field.type, None if field.meaning is None else field.meaning.null)
        if field.packing is not None and field.packing.tag is not None:
            chosen = evaluate(field.packing.tag, self.scope)
            if not any(chosen in values for values, _ in field.packing.cases):
                raise _CheckFailedError
        drawn = self.drawing.type(field.type, self.scope, self.struct.encoding, self.depth)
        optional = self.struct.encoding.numbered and field.presence is wire.Presence.OPTIONAL
        return None if optional and drawn == [] else drawn  # an empty repeated field is a missing one

    def computed(self, type: wire.Type, value: Any) -> Any:
        """A computed value; fails if it does not fit the type."""
        inner = type.type if isinstance(type, wire.Nullable) else type
        if isinstance(inner, wire.Integer) and isinstance(value, int) and not inner.minimum <= value <= inner.maximum:
            raise _CheckFailedError
        return float(value) if isinstance(inner, wire.Float) and isinstance(value, int) else value

    def meaning(self, mappings: tuple[wire.Mapping, ...]) -> Any:
        """A drawn word. If several wire values share it, building writes the first."""
        return evaluate(self.drawing.pick(mappings).value, self.scope)

    def bits(self, field: wire.Field) -> dict[str, Any]:
        drawn: dict[str, Any] = {}
        for bit in field.bits:
            wanted = self.drawing.wanted.get((self.struct.name, bit.name), ())
            if bit.mappings is not None:
                mappings = tuple(each for each in bit.mappings if each.wire in wanted) or bit.mappings
                drawn[bit.name] = self.meaning(mappings)
            elif wanted:
                drawn[bit.name] = self.drawing.pick(wanted)
            elif bit.flag:
                drawn[bit.name] = self.drawing.chance.boolean()
            else:
                low = -(1 << bit.width - 1) if bit.signed else 0
                drawn[bit.name] = self.drawing.chance.edge(low, low + (1 << bit.width) - 1)
        return drawn


def _bare(type: wire.Type) -> wire.Type:
    return type.type if isinstance(type, wire.Nullable) else type


def _amount(amount: wire.Amount | None, scope: Scope) -> int | None:
    """The required number of bytes or elements; None if any number will do."""
    if isinstance(amount, wire.Padded):
        return amount.size
    expression = wire.stated(amount)
    found = None if expression is None else evaluate(expression, scope)
    return found if isinstance(found, int) else None

"""Hypothesis strategies made from the model: values that a format can say, member by member in the order of its spec.

A value holds what its author would know: members that follow from others (lengths, checksums, flags of what is there)
are left out, except computed facts that are known already. Conditions and checks are kept to by evaluating them over
what has been drawn.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, assert_never

from hypothesis import reject
from hypothesis import strategies as st

from support.partial_expressions import UNKNOWN, Scope, evaluate
from support.pattern_texts import kept_ends, spelled, spelled_value
from wireloom.model import types as wire
from wireloom.model.format import Format
from wireloom.resolve.logical.shapes import logical_bit, logical_field
from wireloom.runtime.charsets import TWO_BYTES, characters
from wireloom.runtime.columns.logical import Record
from wireloom.runtime.columns.shape import filling
from wireloom.runtime.values import Extension, Pairs

_Option = TypeVar("_Option")
Draw = Callable[[st.SearchStrategy[Any]], Any]
_SIZES = (0, 1, 2, 4, 16, 16, 20, 33)
_DEPTH = 3
_TRIES = 8
_SOON = 1 << 16  # as many units as every column of times has room for
_SMALL = (0, 1, 2, 3, 4, 16)


class _CheckFailedError(Exception):
    """What was drawn breaks a check of its struct."""


def values(format: Format, root: str, parameters: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    """Values of one of the format's roots."""
    return _values(_Source(format, root, parameters))


class _Source:
    """What values are made from. Not a dataclass: Hypothesis would show every field of the format, and often."""

    def __init__(self, format: Format, root: str, parameters: Mapping[str, Any]) -> None:
        self.format, self.root, self.parameters = format, root, parameters

    def __repr__(self) -> str:
        return f"{self.format.name}.{self.root}"


@st.composite
def _values(draw: Draw, source: _Source) -> Any:
    format = source.format
    chosen = next(each for each in format.roots if each.name == source.root)
    given = {parameter.name: parameter.default for parameter in format.parameters} | dict(source.parameters)
    if given.get(format.byte_order.parameter or "") == "auto":
        given |= {format.byte_order.parameter: "big"}  # what builders write where the value reads alike in both
    scope = Scope(given, format.ranges)
    return _Drawing(draw, format).type(chosen.type, scope, format.encoding, 0)


def filling_bytes(array: wire.Array, count: int) -> int:
    """So many elements, and those for which the last byte has room where nothing says how many there are."""
    return count if array.count is not None or not array.packed else -(-count * array.packed // 8) * 8 // array.packed


@dataclass(frozen=True, repr=False)
class _Drawing:
    draw: Draw
    format: Format

    def type(self, type: wire.Type, scope: Scope, encoding: wire.Encoding, depth: int) -> Any:
        """A value of the type."""
        match type:
            case wire.Integer():
                return self.draw(_integers(type.minimum, type.maximum))
            case wire.Float(bits):
                finite = encoding is wire.Encoding.JSON
                return self.draw(st.floats(width=bits, allow_nan=not finite, allow_infinity=not finite))  # type: ignore[arg-type]
            case wire.Boolean():
                return self.draw(st.booleans())
            case wire.Null():
                return None
            case wire.Text(size):
                return self.draw(_texts(_amount(size, scope))) + self.pick(kept_ends(size)).decode()
            case wire.Bytes(size, charset=str(charset)) if charset:
                return self.draw(_encoded(_amount(size, scope), charset)) + self.pick(kept_ends(size)).decode(charset)
            case wire.Bytes(size):
                return self.draw(_bytes(_amount(size, scope))) + self.pick(kept_ends(size))
            case wire.JsonText(kind):
                return self.draw(_json_texts(kind))
            case wire.Array():
                return self.array(type, scope, encoding, depth)
            case wire.Map():
                return self.map(type, scope, encoding, depth)
            case wire.Extension(_, content):
                return self.type(content, scope, encoding, depth)
            case wire.Nullable(inner):
                return None if self.draw(st.booleans()) else self.type(inner, scope, encoding, depth)
            case wire.Reference(name):
                return self.type(self.format.type(name), scope, encoding, depth)
            case wire.OneOf():
                return self.one_of(type, scope, encoding, depth)
            case wire.Select():
                case = self.case(type, scope)
                assert not isinstance(case.type, wire.Refusal)
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
        """One of the options; drawn by its number, since Hypothesis shows what it draws from."""
        return options[self.draw(st.integers(0, len(options) - 1))]

    def array(self, array: wire.Array, scope: Scope, encoding: wire.Encoding, depth: int) -> list[Any]:
        """Up to three elements, or as many as the count says."""
        count = _amount(array.count, scope)
        size = filling_bytes(array, self.draw(st.integers(0, 3))) if count is UNKNOWN else count
        if size < 0:
            raise _CheckFailedError
        elements = [self.element(array, scope, encoding, depth) for _ in range(size)]
        if isinstance(array.count, wire.Last):
            elements = self.ended(elements, array.count, scope)
        if array.entries:
            return Pairs({repr(each["key"]): (each["key"], each["value"]) for each in elements}.values())
        if array.unique is None or isinstance(array.count, wire.Last):
            return elements
        return list({repr(element.get(array.unique, element)): element for element in elements}.values())

    def element(self, array: wire.Array, scope: Scope, encoding: wire.Encoding, depth: int) -> Any:
        """An element that is what its list holds it against."""
        held, type = array.held, wire.not_null(array.element)
        if held is None:
            return self.type(array.element, scope, encoding, depth + 1)
        if type is not array.element and self.draw(st.booleans()):
            return None
        if held.mappings is not None:
            return evaluate(self.pick(held.mappings).value, scope)
        if held.spelling is not None:
            return self.text(held.spelling, type)
        assert isinstance(type, wire.Integer)
        return self.draw(_bounded(held, type))

    def text(self, spelling: wire.Spelling, type: wire.Type, null: object = None) -> str:
        """A text that is spelled so."""
        text = spelled_value(spelling, type, self.pick, null)
        if text is None:
            raise _CheckFailedError
        return text

    def ended(self, elements: list[Any], last: wire.Last, scope: Scope) -> list[Any]:
        """The elements as far as the one that says that it is the last."""
        for count, element in enumerate(elements, 1):
            inner = scope.inner()
            inner.values.update(element)
            if evaluate(last.holds, inner) is True:
                return elements[:count]
        raise _CheckFailedError

    def map(self, type: wire.Map, scope: Scope, encoding: wire.Encoding, depth: int) -> Pairs:
        """Up to three entries of different keys."""
        keys = [self.key(type, scope, encoding, depth + 1) for _ in range(self.draw(st.integers(0, 3)))]
        unique = {repr(key).replace("-0.0", "0.0"): key for key in keys}
        return Pairs((each, self.type(type.value, scope, encoding, depth + 1)) for each in unique.values())

    def key(self, type: wire.Map, scope: Scope, encoding: wire.Encoding, depth: int) -> Any:
        """A key of a map, spelled as it wants."""
        if type.spelling is not None:
            return spelled(type.spelling, self.pick)
        return self.type(type.key, scope, encoding, depth)

    def one_of(self, type: wire.OneOf, scope: Scope, encoding: wire.Encoding, depth: int) -> Any:
        """One of the alternatives; below some depth only those that do not nest."""
        flat = [a for a in type.alternatives if not isinstance(a.type, wire.Array | wire.Map)]
        chosen = self.pick(flat if depth > _DEPTH and flat else type.alternatives)
        value = self.type(chosen.type, scope, encoding, depth)
        of_type = chosen.type if type.open and isinstance(chosen.type, wire.Extension) else None
        return value if of_type is None else Extension(of_type.code, "", value)

    def case(self, select: wire.Select, scope: Scope) -> wire.Case:
        """The case that the tag selects; any where the tag is on the wire only."""
        cases = [case for case in select.cases if not isinstance(case.type, wire.Refusal)]
        if isinstance(select.tag, wire.FieldTag):
            tag = evaluate(select.tag.expression, scope)
            listed = [case for case in select.cases if tag in case.values]
            cases = [case for case in cases if (case in listed if listed else not case.values)]
        if not cases:
            raise _CheckFailedError
        return self.pick(cases)

    def tagged(self, tag: Any, case: wire.Case, value: Any, scope: Scope) -> Any:
        """The value with the member that its case is told by, as that case has it."""
        if not isinstance(tag, wire.MemberTag) or tag.presence:
            return value
        struct = self.format.type(case.type.name) if isinstance(case.type, wire.Reference) else case.type
        assert isinstance(struct, wire.Struct)
        for field in struct.fields:
            if (field.member or field.wire_name) == tag.member and field.name in value:
                known = {mapping.wire: mapping.value for mapping in field.mappings or ()}
                wires = [each for each in case.values if each in known] if known else list(case.values)
                chosen = self.pick(wires)
                value[field.name] = evaluate(known[chosen], scope) if known else chosen
        return value

    def peeked(self, select: wire.Select, case: wire.Case, value: Any) -> Any:
        """The value with a first number that selects its case, where numbers or bytes of readers are read ahead."""
        struct = self.format.type(case.type.name) if isinstance(case.type, wire.Reference) else case.type
        if not isinstance(select.tag, wire.PeekTag) or not isinstance(struct, wire.Struct):
            return value
        taken = {each for other in select.cases for each in other.values}
        options = list(case.values) or [number for number in range(128) if number not in taken]
        first = struct.fields[0].name
        chosen = value.get(first)
        if isinstance(chosen, bytes):  # they are read ahead as a number
            size = select.tag.type.bits // 8
            keys = [number.to_bytes(size) for number in case.values if isinstance(number, int)]
            value[first] = chosen if chosen in keys else self.pick(keys or [bytes(size) + chosen])
        if isinstance(chosen, int) and not (chosen in case.values if case.values else chosen not in taken):
            value[first] = self.pick(options)
        return value

    # --- structs ---

    def struct(self, struct: wire.Struct, outer: Scope, depth: int) -> dict[str, Any]:
        """A value that keeps to the struct's checks; drawn again where it does not."""
        for _ in range(_TRIES):
            try:
                return _StructDrawing(self, struct, outer.inner(), depth).value()
            except _CheckFailedError:
                continue
        return reject()


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
        """Where the check fails on an integer, a small one that holds takes its place."""
        if self.holds(check.when) and not self.holds(check.that):
            field = next((field for field in self.struct.fields if field.wire_name == check.field), None)
            if field is None or field.name not in value or not isinstance(value[field.name], int):
                raise _CheckFailedError
            options = [number for number in _SMALL if self.with_value(check, field, number)]
            if not options:
                raise _CheckFailedError
            self.scope.values[field.wire_name] = value[field.name] = self.draw(st.sampled_from(options))

    def with_value(self, check: wire.Check, field: wire.Field, number: int) -> bool:
        self.scope.values[field.wire_name] = number
        return self.holds(check.that)

    def draw(self, strategy: st.SearchStrategy[Any]) -> Any:
        return self.drawing.draw(strategy)

    def holds(self, when: Any) -> bool:
        return when is None or evaluate(when, self.scope) in (True, UNKNOWN)

    def field(self, field: wire.Field, value: dict[str, Any]) -> None:
        if field.table:
            return
        group = [each.wire_name for each in self.struct.fields if each.one_of and each.one_of == field.one_of]
        is_taken = any(self.scope.values.get(name) is not None for name in group)
        if not self.holds(field.when) or field.until or is_taken:
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
        """What readers see of what stands on the wire."""
        charset = getattr(_bare(field.type), "charset", "")
        if field.meaning is None:
            return known.decode(charset) if charset and isinstance(known, bytes) else known
        if charset and isinstance(known, str):
            return known
        record = Record((logical_field(field, dict(self.drawing.format.types)),))
        try:
            return filling(record)({field.name: known})[field.name]
        except OverflowError:  # a check behind the field refuses it
            raise _CheckFailedError from None

    def meant_bit(self, bit: wire.Bit, known: Any) -> Any:
        """What readers see of bits."""
        return known if bit.meaning is None else filling(Record((logical_bit(bit),)))({bit.title: known})[bit.title]

    def known(self, field: wire.Field) -> Any:
        """The field's value for readers; UNKNOWN where places decide."""
        if field.const is not None:
            return field.const
        if field.compute is not None and field.derive is None and not field.given:
            return self.computed(field.type, evaluate(field.compute, self.scope))
        if field.given and field.meaning is not None:
            return int(self.draw(_integers(0, _SOON)))
        if field.counted:
            return 0
        if field.checksum is not None or field.bits:
            return UNKNOWN
        if field.presence is wire.Presence.OPTIONAL and not field.has_default and self.draw(st.booleans()):
            return None
        if field.mappings is not None:
            return self.meaning(field.mappings)
        if field.derive is not None and not isinstance(field.type, wire.Boolean):
            return UNKNOWN
        if field.refers is not None:
            return self.draw(_texts(UNKNOWN))
        if field.minimum is not None or field.maximum is not None:
            return self.bounded(field)
        if field.spelling is not None:
            return self.drawing.text(field.spelling, field.type, None if field.meaning is None else field.meaning.null)
        if field.packing is not None and field.packing.tag is not None:
            chosen = evaluate(field.packing.tag, self.scope)
            if not any(chosen in values for values, _ in field.packing.cases):
                raise _CheckFailedError
        drawn = self.drawing.type(field.type, self.scope, self.struct.encoding, self.depth)
        optional = self.struct.encoding is wire.Encoding.PROTOBUF and field.presence is wire.Presence.OPTIONAL
        return None if optional and drawn == [] else drawn  # a list of no elements is not there

    def computed(self, type: wire.Type, value: Any) -> Any:
        """A computed value, which must be of its type."""
        inner = type.type if isinstance(type, wire.Nullable) else type
        if isinstance(inner, wire.Integer) and isinstance(value, int) and not inner.minimum <= value <= inner.maximum:
            raise _CheckFailedError
        return float(value) if isinstance(inner, wire.Float) and isinstance(value, int) else value

    def bounded(self, field: wire.Field) -> int:
        inner = field.type.type if isinstance(field.type, wire.Nullable) else field.type
        assert isinstance(inner, wire.Integer)
        return int(self.draw(_bounded(field, inner)))

    def meaning(self, mappings: tuple[wire.Mapping, ...]) -> Any:
        """What the first of several wire values means, since building writes that one."""
        return evaluate(self.drawing.pick(mappings).value, self.scope)

    def bits(self, field: wire.Field) -> dict[str, Any]:
        drawn: dict[str, Any] = {}
        for bit in field.bits:
            if bit.mappings is not None:
                drawn[bit.name] = self.meaning(bit.mappings)
            elif bit.flag:
                drawn[bit.name] = self.draw(st.booleans())
            else:
                low = -(1 << bit.width - 1) if bit.signed else 0
                drawn[bit.name] = self.draw(_integers(low, low + (1 << bit.width) - 1))
        return drawn


def _bare(type: wire.Type) -> wire.Type:
    return type.type if isinstance(type, wire.Nullable) else type


def _bounded(said: wire.Field | wire.Held, type: wire.Integer) -> st.SearchStrategy[int]:
    """Integers of the type that a range has."""
    low = type.minimum if said.minimum is None else said.minimum
    high = type.maximum if said.maximum is None else said.maximum
    return _integers(low, high)


def _integers(low: int, high: int) -> st.SearchStrategy[int]:
    edges = [number for number in (1, 0, low, high, -1, 127, 128, 255, 256, 65535, 65536) if low <= number <= high]
    return st.one_of(st.sampled_from(edges), st.integers(low, high))


def _amount(amount: wire.Amount | None, scope: Scope) -> Any:
    """Bytes or elements that there must be; UNKNOWN where any number will do."""
    if isinstance(amount, wire.Padded):
        return amount.size
    expression = wire.stated(amount)
    return UNKNOWN if expression is None else evaluate(expression, scope)


def _texts(size: Any) -> st.SearchStrategy[str]:
    if isinstance(size, int):
        return st.text(st.characters(codec="ascii"), min_size=size, max_size=size)
    return st.text(max_size=12)


def _encoded(size: Any, charset: str) -> st.SearchStrategy[str]:
    """Texts of characters that a character set has, of so many bytes."""
    if charset in TWO_BYTES:
        letters, width = st.characters(max_codepoint=0xD7FF), 2
    else:
        letters, width = st.sampled_from([each for each in characters(charset) if each]), 1
    if isinstance(size, int) and (size < 0 or size % width):
        return st.nothing()
    least, most = (size // width, size // width) if isinstance(size, int) else (0, 12)
    return st.text(letters, min_size=least, max_size=most)


def _bytes(size: Any) -> st.SearchStrategy[bytes]:
    if isinstance(size, int):
        return st.binary(min_size=size, max_size=size) if size >= 0 else st.nothing()
    return st.sampled_from(_SIZES).flatmap(lambda n: st.binary(min_size=n, max_size=n))


def _json_texts(kind: str) -> st.SearchStrategy[str]:
    scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
    objects = st.dictionaries(st.text(max_size=5), scalars | st.lists(scalars, max_size=2), max_size=3)
    match kind:
        case "object":
            documents: st.SearchStrategy[Any] = objects
        case "array":
            documents = st.lists(scalars, max_size=3)
        case _:
            documents = scalars | objects
    return documents.map(json.dumps)

"""Draws values from the model of a format, member by member in the order of the spec.

A drawn value is one that a user would build: derived members (lengths, checksums, presence flags) are left out, and
sometimes others. Conditions and checks are evaluated over the members drawn so far, as far as they are known.
"""

import json
import struct as floats
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, assert_never

from proof.chance import Chance
from proof.walks import fields
from wireloom.drawing.evaluation import UNKNOWN, Scope, evaluate
from wireloom.drawing.texts import kept_ends, spelled, spelled_value
from wireloom.drawing.values import filling_bytes
from wireloom.encodings import Encoding
from wireloom.encodings.json import JSON
from wireloom.model import types as wire
from wireloom.model.format import Format, Root
from wireloom.resolve.logical.shapes import logical_bit, logical_field
from wireloom.runtime.columns.logical import Record
from wireloom.runtime.columns.shape import filling
from wireloom.runtime.parameters import Range
from wireloom.runtime.primitives.charsets import TWO_BYTES, characters, unit
from wireloom.runtime.values import Extension, Pairs, float32

_DEPTH = 3
_DEEPEST = 12
_MOST_PARTS = 20_000
_TRIES = 4
_LONGEST = 40  # most elements or bytes
_FLOATS = (0.0, -0.0, 1.0, 1.5, -2.25, 1e300, 5e-324, 0.1, 3.4028234663852886e38)
_SMALL = (0, 1, 2, 3, 7, -1, 127, 128, 255, 256, 65536)
_EDGES = tuple(
    sign * ((1 << bits) + off) for bits in (5, 15, 16, 31, 32, 53, 63) for off in (-1, 0, 1) for sign in (1, -1)
)
_HALF = 16  # bits of a float
_LEFT_OUT = 0.1  # of bits, which builders write as zeros or null
_FORGOTTEN = 0.02  # of members that builders may need
_WILD_FLOATS = (float("nan"), float("inf"), float("-inf"))
_TEXTS = ("", "a", "b", "é", "a b", "12", "𝄞", '"\\\n', "x" * 20, "0")


class NoValueError(Exception):
    """The drawn value violates a check, or cannot be expressed."""


@dataclass(frozen=True)
class Values:
    """Draws values for the roots of one format."""

    format: Format
    chance: Chance
    parameters: Mapping[str, Any]
    _parts: list[None] = field(default_factory=list)  # the parts of the current value, to stop endless lists of lists

    def value(self, root: Root) -> Any:
        """A value of the root; raises NoValueError if none is found, or it has too many parts."""
        self._parts.clear()
        given = {each.name: each.default for each in self.format.parameters} | dict(self.parameters)
        return self.type(root.type, Scope(given, self.format.ranges), self.format.encoding, 0)

    def type(self, type: wire.Type, scope: Scope, encoding: Encoding, depth: int) -> Any:
        """A value of the type."""
        chance = self.chance
        self._parts.append(None)
        if len(self._parts) > _MOST_PARTS:
            raise NoValueError
        match type:
            case wire.Integer():
                return self.integer(type.minimum, type.maximum)
            case wire.Float(bits):
                return self.real(bits, encoding)
            case wire.Boolean():
                return chance.often(0.5)
            case wire.Null():
                return None
            case wire.Text(size):
                return self.text(_amount(size, scope)) + chance.one(kept_ends(size)).decode("utf-8", "replace")
            case wire.Bytes(size, charset=str(charset)) if charset:
                return self.encoded(_amount(size, scope), charset) + chance.one(kept_ends(size)).decode(charset)
            case wire.Bytes(size):
                return self.octets(_amount(size, scope)) + chance.one(kept_ends(size))
            case wire.JsonText(kind):
                return self.json(kind)
            case wire.Array():
                return self.array(type, scope, encoding, depth)
            case wire.Map(key, value, spelling):
                keys = [
                    spelled(spelling, chance.one)
                    if spelling is not None and chance.often(0.95)
                    else self.type(key, scope, encoding, depth + 1)
                    for _ in range(chance.randint(0, 3 if depth <= _DEEPEST else 0))
                ]
                unique = {repr(each).replace("-0.0", "0.0"): each for each in keys}
                return Pairs((each, self.type(value, scope, encoding, depth + 1)) for each in unique.values())
            case wire.Extension(_, content):
                return self.type(content, scope, encoding, depth)
            case wire.Nullable(inner):
                return None if chance.often(0.4) else self.type(inner, scope, encoding, depth)
            case wire.Reference(name):
                return self.type(self.format.type(name), scope, encoding, depth)
            case wire.OneOf(alternatives=alternatives):
                flat = [each for each in alternatives if not isinstance(each.type, wire.Array | wire.Map)]
                chosen = chance.one(flat if depth > _DEPTH and flat else alternatives)
                value = self.type(chosen.type, scope, encoding, depth + 1)
                of_type = chosen.type if type.open and isinstance(chosen.type, wire.Extension) else None
                return value if of_type is None else Extension(of_type.code, "", value)
            case wire.Select():
                return self.type(self.case(type, scope), scope, encoding, depth)
            case wire.Attempt():
                trial = chance.one(type.trials)
                held = self.type(trial.type, scope, encoding, depth)
                return ({type.kind_field: trial.name} if type.kind_field and chance.often(0.7) else {}) | held
            case wire.Struct():
                return self.struct(type, scope, depth)
            case _:
                assert_never(type)

    # --- scalars ---

    def encoded(self, size: Any, charset: str) -> str:
        """A text of `size` bytes in a character set."""
        count = self.chance.randint(0, 5) if size is UNKNOWN else _sized(size) // unit(charset)
        if size is not UNKNOWN and size % unit(charset):
            raise NoValueError
        known = "aé €\U0001f30d\0" if charset in TWO_BYTES else [each for each in characters(charset) if each]
        text = "".join(self.chance.one(list(known)) for _ in range(count))
        return text if size is UNKNOWN or len(text.encode(charset)) == size else "a" * count

    def integer(self, low: int, high: int) -> int:
        """An integer, often at a limit, often small."""
        if low > high:
            raise NoValueError
        stated = (low, high, *(_EDGES if self.chance.often(0.3) else _SMALL))
        edges = [each for each in stated if low <= each <= high]
        return self.chance.one(edges) if edges and self.chance.often(0.8) else self.chance.randint(low, high)

    def real(self, bits: int, encoding: Encoding) -> float:
        """A float that the encoding can express."""
        finite = encoding == JSON
        value = self.chance.one(_FLOATS if finite or self.chance.often(0.8) else _WILD_FLOATS)
        if bits == 32:
            value = floats.unpack("f", floats.pack("f", value if abs(value) < 1e38 or value != value else 2.0))[0]  # noqa: PLR0124 - NaN
        if bits == _HALF:
            value = floats.unpack("e", floats.pack("e", value if abs(value) < 6e4 or value != value else 2.0))[0]  # noqa: PLR0124 - NaN
        return float(value)

    def text(self, size: Any) -> str:
        """A text of `size` bytes, or of any size."""
        if size is UNKNOWN:
            return self.chance.one(_TEXTS)
        return "".join(self.chance.one("ab0 ") for _ in range(_sized(size)))

    def octets(self, size: Any) -> bytes:
        """`size` bytes, or any number."""
        number = self.chance.one((0, 1, 2, 4, 16, 20)) if size is UNKNOWN else _sized(size)
        return self.chance.randbytes(number)

    def json(self, kind: str) -> str:
        """A JSON document."""
        scalars: list[Any] = [None, True, 7, "é", [1, [2]], {"a": {}}, 1.5, ""]
        documents: dict[str, Any] = {
            "object": {"k": self.chance.one(scalars), "": 1},
            "array": self.chance.some(scalars),
            "any": self.chance.one([*scalars, {"k": 1}]),
        }
        if kind == "any":
            return json.dumps(self.chance.one([documents["object"], documents["array"]]))
        return json.dumps(documents[kind], separators=self.chance.one([(",", ":"), (", ", ": ")]))

    def array(self, array: wire.Array, scope: Scope, encoding: Encoding, depth: int) -> list[Any]:
        """Some elements, or as many as the count requires."""
        count = _amount(array.count, scope)
        most = 3 if depth <= _DEEPEST else 0  # lists of themselves must come to an end, like maps
        size = filling_bytes(array, self.chance.randint(0, most)) if count is UNKNOWN else _sized(count)
        elements = [self.element(array, scope, encoding, depth) for _ in range(size)]
        if isinstance(array.count, wire.Last):
            elements = _ended(elements, array.count, scope)
        if array.entries:
            return Pairs({repr(each.get("key")): (each.get("key"), each.get("value")) for each in elements}.values())
        if array.unique is None or isinstance(array.count, wire.Last):
            return elements
        return list({repr(each.get(array.unique)): each for each in elements if isinstance(each, dict)}.values())

    def element(self, array: wire.Array, scope: Scope, encoding: Encoding, depth: int) -> Any:
        """An element, mostly one that satisfies the rules for elements of the list."""
        held, element = array.held, wire.not_null(array.element)
        if held is None or element is not array.element or self.chance.often(0.1):
            return self.type(array.element, scope, encoding, depth + 1)
        if held.mappings is not None:
            return _evaluated(self.chance.one(held.mappings).value, scope)
        if held.spelling is not None:
            return self.spelled(held.spelling, element)
        assert isinstance(element, wire.Integer | wire.Float)
        least, most = (element.minimum, element.maximum) if isinstance(element, wire.Integer) else (0, 100)
        low = least if held.minimum is None else max(held.minimum, least)
        return self.integer(low, most if held.maximum is None else min(held.maximum, most))

    def spelled(self, spelling: wire.Spelling, type: wire.Type, null: object = None) -> str:
        """A text that matches the pattern and length."""
        text = spelled_value(spelling, type, self.chance.one, null)
        if text is None:
            raise NoValueError
        return text

    def case(self, select: wire.Select, scope: Scope) -> wire.Type:
        """The case that the tag selects; any case if only the wire has the tag."""
        cases = [case for case in select.cases if not isinstance(case.type, wire.Refusal)]
        if isinstance(select.tag, wire.FieldTag):
            tag = _evaluated(select.tag.expression, scope)
            if tag is not UNKNOWN:
                others = (
                    []
                    if any(tag in case.values for case in select.cases)
                    else [each for each in cases if not each.values]
                )
                cases = [case for case in cases if tag in case.values] or others
        if not cases:
            raise NoValueError
        chosen = self.chance.one(cases).type
        assert not isinstance(chosen, wire.Refusal)
        return chosen

    # --- structs ---

    def struct(self, struct: wire.Struct, outer: Scope, depth: int) -> dict[str, Any]:
        """A value that satisfies the struct's checks; drawn again if it does not."""
        for _ in range(_TRIES):
            try:
                return _StructValue(self, struct, outer.inner(), depth).value()
            except NoValueError:
                continue
        raise NoValueError


@dataclass(frozen=True)
class _StructValue:
    source: Values
    struct: wire.Struct
    scope: Scope
    depth: int

    @property
    def chance(self) -> Chance:
        return self.source.chance

    def value(self) -> dict[str, Any]:
        value: dict[str, Any] = {}
        for step in self.struct.steps:
            if isinstance(step, wire.Field):
                self.field(step, value)
            elif isinstance(step, wire.Check) and self.holds(step.when) and _evaluated(step.that, self.scope) is False:
                raise NoValueError
        return value

    def holds(self, when: Any) -> bool:
        if when is None:
            return True
        found = _evaluated(when, self.scope)
        return self.chance.often(0.5) if found is UNKNOWN else found is True

    def field(self, field: wire.Field, value: dict[str, Any]) -> None:
        if not self.holds(field.when) or (field.until and self.chance.often(0.7)) or not self.in_version(field):
            self.scope.values.setdefault(field.wire_name, None)
            return
        if field.one_of and self.is_taken(field.one_of):
            self.scope.values.setdefault(field.wire_name, None)
            return
        drawn = self.drawn(field)
        for bit in field.bits:
            number = UNKNOWN if self.chance.often(_LEFT_OUT) else self.bit(bit)
            self.scope.values[bit.name] = number
            if number is not UNKNOWN and not bit.hidden:
                value[bit.title] = self.meant_bit(bit, number)
        charset = getattr(_bare(field.type), "charset", "")
        self.scope.values[field.wire_name] = drawn.encode(charset) if charset and isinstance(drawn, str) else drawn
        if drawn is UNKNOWN or field.hidden or (field.bits and self.chance.often(0.9)) or self.chance.often(_FORGOTTEN):
            return
        if field.flatten:
            value.update(drawn or {})
            self.scope.values.update(drawn or {})
        elif drawn is not None or field.name not in value:
            value[field.name] = self.meant(field, drawn)

    def is_taken(self, group: str) -> bool:
        """Whether another field of the group is present."""
        others = (each.wire_name for each in self.struct.fields if each.one_of == group)
        return any(self.scope.values.get(name) is not None for name in others)

    def meant(self, field: wire.Field, drawn: Any) -> Any:
        """The value that readers see for a wire value."""
        charset = getattr(_bare(field.type), "charset", "")
        if field.meaning is None:
            return drawn.decode(charset) if charset and isinstance(drawn, bytes) else drawn
        if charset and isinstance(drawn, str):
            return drawn
        record = Record((logical_field(field, dict(self.source.format.types)),))
        try:
            return filling(record)({field.name: _wired(drawn, _bare(field.type))})[field.name]
        except (OverflowError, ValueError):  # out of range for readers: a later check refuses it
            raise NoValueError from None

    def meant_bit(self, bit: wire.Bit, drawn: Any) -> Any:
        """The value that readers see for bits."""
        if bit.meaning is None:
            return drawn
        try:
            return filling(Record((logical_bit(bit),)))({bit.title: drawn})[bit.title]
        except (OverflowError, ValueError):  # out of range for readers: a later check refuses it
            raise NoValueError from None

    def in_version(self, field: wire.Field) -> bool:
        return not field.since or self.chance.often(0.8)

    def drawn(self, field: wire.Field) -> Any:
        """The value of the field; UNKNOWN if it depends on the layout."""
        if field.const is not None:
            return field.const if self.chance.often(0.7) else UNKNOWN
        follows = field.compute is not None and not field.given
        if follows or field.counted or field.checksum is not None or field.table:
            return UNKNOWN
        if field.derive is not None or field.bits:
            return UNKNOWN
        if field.presence is wire.Presence.OPTIONAL and self.chance.often(0.4):
            return None
        if field.mappings is not None:
            return _evaluated(self.chance.one(field.mappings).value, self.scope)
        if field.refers is not None:
            return self.entry(field.refers.table)
        if field.meaning is not None and field.meaning.null is not None and self.chance.often(0.3):
            return [] if isinstance(field.type, wire.Array) else field.meaning.null
        if field.minimum is not None or field.maximum is not None:
            return self.bounded(field)
        if field.spelling is not None and self.chance.often(0.8):
            nothing = isinstance(field.type, wire.Nullable) and self.chance.often(0.3)
            return None if nothing else self.spelled(field)
        return self.source.type(field.type, self.scope, self.struct.encoding, self.depth)

    def entry(self, table: str) -> Any:
        """An entry of the table."""
        tables = [each.type for each in fields(self.source.format) if each.wire_name == table and each.table]
        if not tables or not isinstance(tables[0], wire.Array):
            raise NoValueError
        return self.source.type(tables[0].element, self.scope, self.struct.encoding, self.depth)

    def spelled(self, field: wire.Field) -> str:
        """A text that satisfies the field's rules."""
        assert field.spelling is not None
        return self.source.spelled(field.spelling, field.type, None if field.meaning is None else field.meaning.null)

    def bounded_float(self, field: wire.Field, type: wire.Type) -> float:
        """A float in the range; where that is wide, a time of our days with a fraction, or any other."""
        low = field.minimum if field.minimum is not None else min(field.maximum or 0, 0)
        high = field.maximum if field.maximum is not None else max(low, 0)
        found = self.chance.one([float(low), float(high), self.chance.uniform(low, high), 1385053862.3072, 0.1 + 0.2])
        found = float32(found) if isinstance(type, wire.Float) and type.bits == 32 else found
        return found if low <= found <= high else float(low)

    def bounded(self, field: wire.Field) -> Any:
        inner = field.type.type if isinstance(field.type, wire.Nullable) else field.type
        if not isinstance(inner, wire.Integer):
            return self.bounded_float(field, inner)
        low = inner.minimum if field.minimum is None else max(field.minimum, inner.minimum)
        high = inner.maximum if field.maximum is None else min(field.maximum, inner.maximum)
        return self.source.integer(low, high)

    def bit(self, bit: wire.Bit) -> Any:
        """The wire value of bits; UNKNOWN if it is derived."""
        if bit.derive is not None:
            return UNKNOWN
        if bit.mappings is not None:
            return _evaluated(self.chance.one(bit.mappings).value, self.scope)
        if bit.flag:
            return self.chance.often(0.5)
        low = -(1 << bit.width - 1) if bit.signed else 0
        return self.source.integer(low, low + (1 << bit.width) - 1)


def _wired(drawn: Any, type: wire.Type) -> Any:
    """The wire value: for texts in a character set, bytes."""
    match drawn, type:
        case list(), wire.Array(element):
            return [_wired(each, _bare(element)) for each in drawn]
        case str(), wire.Bytes(charset=str(charset)) if charset:
            return drawn.encode(charset)
        case _:
            return drawn


def _bare(type: wire.Type) -> wire.Type:
    return type.type if isinstance(type, wire.Nullable) else type


def _sized(size: Any) -> int:
    if not isinstance(size, int) or not 0 <= size <= _LONGEST:
        raise NoValueError
    return size


def _amount(amount: wire.Amount | None, scope: Scope) -> Any:
    """The required number of bytes or elements; UNKNOWN if any number will do."""
    if isinstance(amount, wire.Padded):
        return amount.size
    expression = wire.stated(amount)
    return UNKNOWN if expression is None else _evaluated(expression, scope)


def _ended(elements: list[Any], last: wire.Last, scope: Scope) -> list[Any]:
    """The elements up to the first that satisfies the end condition; all if none does."""
    for count, element in enumerate(elements, 1):
        inner = scope.inner()
        inner.values.update(element if isinstance(element, dict) else {})
        if _evaluated(last.holds, inner) is True:
            return elements[:count]
    return elements


def _evaluated(expression: Any, scope: Scope) -> Any:
    """The value; UNKNOWN if it depends on the layout, or this evaluator cannot compute it."""
    try:
        return evaluate(expression, scope)
    except (TypeError, ValueError, AttributeError, OverflowError):
        return UNKNOWN


def settings(format: Format, chance: Chance) -> dict[str, Any]:
    """Values for some of the format's parameters."""
    found: dict[str, Any] = {}
    for each in format.parameters:
        if each.options:
            found[each.name] = chance.one(each.options)
        elif each.kind.value == "boolean":
            found[each.name] = chance.often(0.5)
        elif "range" in each.kind.value:
            found[each.name] = chance.one([None, Range(0, 3), Range(2, 100)])
        elif each.kind.value == "integer":
            found[each.name] = chance.one([0, 1, 3, 20, 100])
    return {name: value for name, value in found.items() if chance.often(0.6)}

"""The sizes of binary types and fields, where fields begin, and which values end only with their region."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from wireloom.encodings import Encoding
from wireloom.expr.ast import Binary, Literal, Position, integer_of
from wireloom.expr.sums import Sum, sum_of
from wireloom.model import types
from wireloom.model.extents import may_be_absent
from wireloom.model.traversal import parts
from wireloom.model.types import Amount, Field, Struct, Type
from wireloom.resolve.facts.exclusion import never_in_one_version
from wireloom.resolve.facts.sites import Types

SIZE = Position("size")
HERE = Position("here")
_ALL_LEFT = Binary("-", SIZE, HERE)


@dataclass(frozen=True, slots=True)
class Size:
    """The fewest and the most bytes of a value; `most` is None if there is no limit.

    `open`: only the region around the value tells where it ends. `partly`: that holds for some of its cases.
    """

    least: int = 0
    most: int | None = None
    open: bool = False
    partly: bool = False

    @property
    def fixed(self) -> int | None:
        """The number of bytes, if it is constant."""
        return self.least if self.least == self.most else None


OPEN = Size(open=True)
"""All remaining bytes, if any."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """The sizes of a format's types, each computed once; a recursive use counts as an unknown size."""

    named: Types
    _known: dict[str, Size] = field(default_factory=dict)

    def of(self, type: Type) -> Size:
        """The size of a type's values."""
        match type:
            case types.Reference(name=name):
                if name not in self._known:
                    self._known[name] = Size()
                    self._known[name] = self.of(self.named[name])
                return self._known[name]
            case types.Integer(width=width):
                return Size(1) if width is None else Size(width, width)
            case types.Float(bits=bits):
                return Size(bits // 8, bits // 8)
            case types.Boolean(share=share):
                return Size(1, 1) if share is None else Size(share, share)
            case types.Bytes(size=size) | types.Text(size=size):
                return _amount(size)
            case types.Array(packed_size=int(size)):
                return Size(size, size)
            case types.Array(element=element, count=count):
                found = _amount(count, Size() if type.packed else self.of(element))
                return found if type.salvage is None else replace(found, least=0, most=None)
            case types.Nullable(type=inner):
                return Size(self.of(inner).least)
            case types.Select() | types.Attempt():
                cases = [self.of(each) for each in parts(type)]
                partly = any(each.open or each.partly for each in cases)
                return Size(min((each.least for each in cases), default=0), partly=partly)
            case Struct(encoding=Encoding(laid_out=True)):
                return self._struct(type)
            case Struct(encoding=encoding):
                return Size(0 if encoding.numbered else 1, open=encoding.open_ended)
            case _:
                return Size()

    def of_field(self, field: Field) -> Size:
        """The size of a field, if it is present."""
        return self.of(field.type) if field.size is None else _amount(field.size)

    def _struct(self, struct: Struct) -> Size:
        """The size of a struct with its fields one after another; it includes all fields at stated offsets."""
        least, most, furthest = 0, 0, 0
        any_size = False
        for each in struct.fields:
            size, absent = self.of_field(each), each.compute is not None or each.counted or may_be_absent(each)
            at = None if each.base else integer_of(each.at)
            if at is not None and at >= 0 and not absent:
                furthest = max(furthest, at + size.least)
            least += 0 if absent or each.at is not None else size.least
            if each.in_struct:
                any_size |= size.most is None or each.is_conditional or each.at is not None
                most += size.most or 0
        last = [self.of_field(each) for each in last_fields(struct) if each.at is None]
        is_open = any(each.open for each in last) or any(map(counts_from_end, struct.fields)) or asks_for_end(struct)
        partly = any(each.partly for each in last)
        return Size(max(least, furthest), None if any_size else most, is_open, partly)

    # --- places ---

    def start_of(self, struct: Struct, field: Field) -> Sum | None:
        """The offset of a field as a sum of fields' values; None if it is not such a sum."""
        offset = from_end(field)
        if offset is not None:
            return Sum(offset, {SIZE: 1})
        reached: Sum | None = Sum()
        for each in filter(is_in_turn, struct.fields):
            if each.at is not None:
                reached = sum_of(each.at, reached)
            if each is field or reached is None:
                return reached
            certain = each.when is None and not each.since and not each.until
            size = self.sum_of(each, reached) if certain else None
            reached = None if size is None else reached.plus(size)
        return None

    def sum_of(self, field: Field, reached: Sum) -> Sum | None:
        """The size of a field as a sum of fields' values; None if it is not such a sum."""
        fixed = self.of_field(field).fixed
        if fixed is not None:
            return Sum(fixed)
        if field.size is not None:
            return _sum_of(field.size, reached)
        match field.type:
            case types.Bytes(size=size) | types.Text(size=size) if size is not None:
                return _sum_of(size, reached)
            case types.Array(packed=0, count=count, element=element) if count is not None:
                each, many = self.of(element).fixed, _sum_of(count, reached)
                return None if each is None or many is None else many.times(each)
            case _:
                return None


def _amount(amount: Amount | None, each: Size | None = None) -> Size:
    """The size of a number of elements, or of bytes without `each`, together with its prefix or terminator."""
    single = each or Size(1, 1)
    match amount:
        case None:
            return OPEN
        case Literal(int(count)):
            many = max(count, 0)
            return Size(many * single.least, None if single.most is None else many * single.most)
        case types.Padded(size):
            return Size(size, size)
        case types.Prefix(number) | types.Blocks(number):
            return Size(number.width or 1)
        case types.Delimiter(value, others=others):
            return Size(min(map(len, (value, *others))))
        case types.Terminator(value, jump=jump, behind=None):
            return Size(len(value) if jump is None else min(len(value), jump.number.width or 1))
        case types.Last():
            return Size(single.least)
        case _:
            return OPEN if amount == _ALL_LEFT and each is None else Size()


def _sum_of(amount: Amount, reached: Sum | None) -> Sum | None:
    """An amount as a sum of fields' values; None if it is not such a sum."""
    expression = types.stated(amount)
    return None if expression is None else sum_of(expression, reached)


def counts_from_end(field: Field) -> bool:
    """Whether a field has a negative offset."""
    return from_end(field) is not None


def is_in_turn(field: Field) -> bool:
    """Whether a field is read in its turn or at its offset from the start, not at one from the end."""
    return field.in_struct and from_end(field) is None


def from_end(field: Field) -> int | None:
    """The negative offset of a field that counts from the end; None for other fields."""
    at = None if field.base else integer_of(field.at)
    return at if at is not None and at < 0 else None


def last_fields(struct: Struct) -> Iterator[Field]:
    """The fields that are the last one in some version."""
    in_struct = [field for field in struct.fields if field.in_struct]
    for place, each in enumerate(in_struct):
        if all(never_in_one_version(struct, each, later) for later in in_struct[place + 1 :]):
            yield each


def asks_for_end(struct: Struct) -> bool:
    """Whether a struct must end exactly where its region does."""
    return any(isinstance(step, types.End) for step in struct.steps)


def fixed_size(field: Field, named: Types) -> int | None:
    """The number of bytes of a field, if it is constant."""
    return Sizes(named).of_field(field).fixed

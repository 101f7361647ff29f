"""The bytes of binary types and fields: how many, where they begin, and whether something tells where they end."""

from collections.abc import Iterator

from wireloom.expr.ast import Binary, Literal, Position, integer_of
from wireloom.expr.sums import Sum, sum_of
from wireloom.model import types
from wireloom.model.types import Amount, Encoding, Field, Struct, Type
from wireloom.resolve.facts.exclusion import never_in_one_version
from wireloom.resolve.facts.sites import Types

SIZE = Position("size")


HERE = Position("here")


_ALL_LEFT = Binary("-", SIZE, HERE)


def start_of(struct: Struct, field: Field, named: Types) -> Sum | None:
    """Where a field begins, as a sum of what other fields say."""
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
        size = size_sum(each, named, reached) if certain else None
        reached = None if size is None else reached.plus(size)
    return None


def size_sum(field: Field, named: Types, reached: Sum) -> Sum | None:
    """The bytes of a field, as a sum of what other fields say."""
    fixed = fixed_size(field, named)
    if fixed is not None:
        return Sum(fixed)
    if field.size is not None:
        return _sum_of(field.size, reached)
    match field.type:
        case types.Bytes(size=size) | types.Text(size=size) if size is not None:
            return _sum_of(size, reached)
        case types.Array(packed=0, count=count, element=element) if count is not None:
            each, many = type_size(element, named, frozenset()), _sum_of(count, reached)
            return None if each is None or many is None else many.times(each)
        case _:
            return None


def _sum_of(amount: Amount, reached: Sum | None) -> Sum | None:
    """An amount as a sum of what other fields say; None where it is none."""
    expression = types.stated(amount)
    return None if expression is None else sum_of(expression, reached)


def counts_from_end(field: Field) -> bool:
    """Whether a field stands at an offset below zero."""
    return from_end(field) is not None


def is_in_turn(field: Field) -> bool:
    """Whether a field stands in the struct behind those before it, or where it says, and not counted from the end."""
    return field.in_struct and from_end(field) is None


def from_end(field: Field) -> int | None:
    """The offset, below zero, of a field that counts from the end; None for others."""
    at = None if field.base else integer_of(field.at)
    return at if at is not None and at < 0 else None


def has_open_end(field: Field, named: Types, seen: frozenset[str]) -> bool:
    """Whether nothing says where a field ends but the region around it."""
    return is_greedy(field.type, named, seen) if field.size is None else field.size == _ALL_LEFT


def is_greedy(type: Type, named: Types, seen: frozenset[str]) -> bool:
    """Whether a binary type has no end of its own."""
    match type:
        case types.Bytes(size=size) | types.Text(size=size):
            return size is None or size == _ALL_LEFT
        case types.Array(count=None):
            return True
        case types.Reference(name=name) if name not in seen:
            return is_greedy(named[name], named, seen | {name})
        case types.Struct(encoding=Encoding.PROTOBUF | Encoding.JSON):
            return True
        case types.Struct(encoding=Encoding.BINARY, fields=fields):
            open_end = any(last.at is None and has_open_end(last, named, seen) for last in last_fields(type))
            return open_end or any(map(counts_from_end, fields)) or asks_for_end(type)
        case _:
            return False


def last_fields(struct: Struct) -> Iterator[Field]:
    """The fields that are the last one of some version."""
    in_struct = [field for field in struct.fields if field.in_struct]
    for place, field in enumerate(in_struct):
        if all(never_in_one_version(struct, field, later) for later in in_struct[place + 1 :]):
            yield field


def asks_for_end(struct: Struct) -> bool:
    """Whether a struct is right only where its region ends with it."""
    return any(isinstance(step, types.End) for step in struct.steps)


def fixed_size(field: Field, named: Types) -> int | None:
    """The bytes of a field, where they are always as many."""
    if field.size is not None:
        return field.size.value if isinstance(field.size, Literal) and isinstance(field.size.value, int) else None
    return type_size(field.type, named, frozenset())


def type_size(type: Type, named: Types, seen: frozenset[str]) -> int | None:
    """The bytes of a binary type, where they are always as many."""
    match type:
        case types.Integer():
            return type.width
        case types.Float(bits=bits):
            return bits // 8
        case types.Boolean(share=share):
            return 1 if share is None else share
        case types.Bytes(size=Literal(int(size))) | types.Text(size=Literal(int(size))):
            return size
        case types.Bytes(size=types.Padded(size)) | types.Text(size=types.Padded(size)):
            return size
        case types.Array(packed_size=int(size)):
            return size
        case types.Array(packed=0, count=Literal(int(count)), element=element, salvage=None):
            each = type_size(element, named, seen)
            return None if each is None else max(count, 0) * each
        case types.Reference(name=name) if name not in seen:
            return type_size(named[name], named, seen | {name})
        case types.Struct(encoding=Encoding.BINARY):
            return _struct_size(type, named, seen)
        case _:
            return None


def _struct_size(struct: Struct, named: Types, seen: frozenset[str]) -> int | None:
    total = 0
    for field in struct.fields:
        if not field.in_struct:
            continue
        size = type_size(field.type, named, seen)
        varies = field.is_conditional
        if size is None or varies or field.at is not None or field.size is not None:
            return None
        total += size
    return total

"""The fewest bytes that values have in binary, as far as their types say."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from wireloom.expr.ast import Literal
from wireloom.model import types
from wireloom.model.extents import Types, may_be_absent
from wireloom.model.types import Amount, Encoding, Field, Struct, Type

_Seen = frozenset[str]


@dataclass(frozen=True, slots=True)
class Least:
    """The fewest bytes of values; what takes all bytes that are left has `rest` of them."""

    named: Types
    rest: int = 0

    def of(self, type: Type, seen: _Seen = frozenset()) -> int:
        """The fewest bytes of a value of the type."""
        match type:
            case types.Integer() | types.Float() | types.Boolean():
                return _scalar_size(type)
            case types.Text(size=size) | types.Bytes(size=size):
                return self._amount(size)
            case types.Array(packed_size=int(size)):
                return size
            case types.Array(element=element, count=count):
                return self._amount(count, self.of(element, seen))
            case types.Nullable(type=inner):
                return self.of(inner, seen)
            case types.Reference(name=name):
                return 0 if name in seen else self.of(self.named[name], seen | {name})
            case types.Select(cases=cases):
                kept = (each.type for each in cases if not isinstance(each.type, types.Refusal))
                return min((self.of(each, seen) for each in kept), default=self.rest)
            case types.Attempt(trials=trials):
                return min(self.of(each.type, seen) for each in trials)
            case Struct(encoding=Encoding.BINARY, fields=fields):
                return max(sum(self._turn(field, seen) for field in fields), *self._ends(fields, seen), 0)
            case Struct(encoding=Encoding.PROTOBUF):
                return self.rest
            case Struct():
                return 1
            case _:
                return 0

    def _turn(self, field: Field, seen: _Seen) -> int:
        """The fewest bytes of a field behind the one before it."""
        return 0 if field.at is not None or _is_absent(field) else self._own(field, seen)

    def _ends(self, fields: Sequence[Field], seen: _Seen) -> Iterator[int]:
        """Where fields at stated offsets end at the least."""
        for field in fields:
            at = None if field.base else field.at
            if isinstance(at, Literal) and isinstance(at.value, int) and not _is_absent(field):
                yield at.value + self._own(field, seen) if at.value >= 0 else 0

    def _own(self, field: Field, seen: _Seen) -> int:
        return self.of(field.type, seen) if field.size is None else self._amount(field.size)

    def _amount(self, amount: Amount | None, each: int = 1) -> int:
        """The fewest bytes of so many elements, with what states or ends them."""
        match amount:
            case None:
                return self.rest
            case Literal(int(count)):
                return max(count, 0) * each
            case types.Padded(size):
                return size
            case types.Prefix(number) | types.Blocks(number):
                return number.width or 1
            case types.Delimiter(value, others=others):
                return min(map(len, (value, *others)))
            case types.Terminator(value, jump=jump, behind=None):
                return len(value) if jump is None else min(len(value), jump.number.width or 1)
            case types.Last():
                return each
            case _:
                return 0


def _scalar_size(type: types.Integer | types.Float | types.Boolean) -> int:
    if isinstance(type, types.Float):
        return type.bits // 8
    width = type.share if isinstance(type, types.Boolean) else type.width
    return 1 if width is None else width


def _is_absent(field: Field) -> bool:
    """Whether a field may have no bytes, or never has."""
    return field.compute is not None or field.counted or may_be_absent(field)

"""Compares the columns of two formats.

Members correspond by name; their types are compared. A column that the target lacks, or that none of its own members
fills, is left out; a column that only the target has is null.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from wireloom.runtime.columns import logical
from wireloom.runtime.columns.logical import LogicalType, Record

Kind = Literal["dropped", "null", "narrower"]


@dataclass(frozen=True, slots=True)
class Difference:
    """A member that does not become the target's unchanged.

    It is dropped if the target has no member for it, null if the source has none, and narrower if the target does not
    accept all values of the source, so that a record may be refused.
    """

    path: str
    kind: Kind
    detail: str


@dataclass(frozen=True, slots=True)
class Side:
    """The columns of a format, and the paths of those that none of its own members fills."""

    record: Record
    unplaced: Collection[str] = ()

    def members(self, prefix: str) -> dict[str, LogicalType]:
        """The types of the members, below a prefix."""
        return {field.name: field.type for field in self.record.fields if prefix + field.name not in self.unplaced}

    def of(self, record: Record) -> "Side":
        """The side of a record within this one."""
        return Side(record, self.unplaced)


def differences(source: Side, target: Side, prefix: str = "") -> Iterator[Difference]:
    """The source's members that do not become the target's members of the same name unchanged."""
    given, wanted = source.members(prefix), target.members(prefix)
    for name, type in given.items():
        path = prefix + name
        if name in wanted:
            yield from _of_types(source, target, (type, wanted[name]), path)
        else:
            yield Difference(path, "dropped", "the target has no member for it")
    for name in (name for name in wanted if name not in given):
        yield Difference(prefix + name, "null", "the source has no such member")


def _of_types(source: Side, target: Side, types: tuple[LogicalType, LogicalType], path: str) -> Iterator[Difference]:
    match _plain(types[0]), _plain(types[1]):
        case Record() as given, Record() as wanted:
            yield from differences(source.of(given), target.of(wanted), f"{path}.")
        case logical.List(element), logical.List(other):
            yield from _of_types(source, target, (element, other), path)
        case logical.Map(key, value), logical.Map(other_key, other_value):
            yield from _of_types(source, target, (key, other_key), path)
            yield from _of_types(source, target, (value, other_value), path)
        case (logical.Alternatives(), _) | (_, logical.Alternatives()):
            for option, taker in takers(*types):
                if taker is None:
                    yield Difference(path, "narrower", f"the target takes no {word(option)}")
                else:
                    yield from _of_types(source, target, (option, taker), path)
        case given, wanted if word(given) != word(wanted):
            yield Difference(path, "narrower", f"{word(given)} in the source, {word(wanted)} in the target")
        case logical.Meant(shown=logical.Scaled() as own), logical.Meant(shown=logical.Scaled() as other) if (
            not _counts(own, other)
        ):
            yield Difference(path, "narrower", f"the target counts in units of {other.multiplier} us")
        case logical.Integer() as given, logical.Integer() as wanted if not _fits(given, wanted):
            sign = "int" if wanted.signed else "uint"
            yield Difference(path, "narrower", f"the target has only {sign}{wanted.bits}")
        case _:
            return


def _plain(type: LogicalType) -> LogicalType:
    """The readers' type, with texts that contain numbers or times treated like integers that count them."""
    match type:
        case logical.Meant(shown=logical.Said() as said):
            return said.plain
        case _:
            return type


def takers(source: LogicalType, target: LogicalType) -> list[tuple[LogicalType, LogicalType | None]]:
    """The types of the source's values, each with the target's type that accepts it, or None."""
    others = options(target)
    return [(each, _taker(each, others)) for each in options(source)]


def options(type: LogicalType) -> tuple[LogicalType, ...]:
    """The types that a value of the type can have."""
    return type.options if isinstance(type, logical.Alternatives) else (type,)


def _taker(type: LogicalType, others: Sequence[LogicalType]) -> LogicalType | None:
    kind = logical.kind_name(type)
    alike = [each for each in others if logical.kind_name(each) == kind]
    if len(others) == 1:  # the target need not tell kinds apart on the wire
        alike += [each for each in others if word(_plain(each)) == word(_plain(type))]
    return alike[0] if alike else None


def word(type: LogicalType) -> str:
    """The readers' type in one word."""
    match type:
        case logical.Alternatives():
            return "alternatives"
        case logical.Meant(shown=logical.Scaled("integer")):
            return "int"
        case logical.Meant(shown=logical.Scaled(kind)):
            return kind
        case logical.Meant(shown=logical.Measured()):
            return "float"
        case logical.Meant(shown=logical.Written() | logical.Encoded() | logical.Named()):
            return "str"
        case _:
            return logical.kind_name(type)


def _counts(source: logical.Scaled, target: logical.Scaled) -> bool:
    """Whether each time or duration of the source is a whole number of the target's units."""
    misaligned = source.multiplier % target.multiplier or (source.offset - target.offset) % target.multiplier
    return source.kind not in ("timestamp", "duration") or not misaligned


def _fits(source: logical.Integer, target: logical.Integer) -> bool:
    if source.signed == target.signed:
        return source.bits <= target.bits
    return not source.signed and source.bits < target.bits

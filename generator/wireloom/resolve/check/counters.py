"""Counters of what lists lose: a salvage or a discard sets one, so that of two lists the later would overwrite it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

from wireloom.expr.ast import Expression, FieldRef, references
from wireloom.model import types
from wireloom.model.types import Field, Struct, Type
from wireloom.resolve.bind.draft import Draft
from wireloom.resolve.facts.exclusion import exclusive, never_both
from wireloom.resolve.facts.sites import structs
from wireloom.spec.documents import Place


@dataclass(frozen=True, slots=True)
class _Loss:
    """What sets a counter: where it names it, of which list, and while what holds."""

    place: Place
    counter: str
    list: str
    field: Field | None  # None where another struct lends the list
    when: Expression | None
    discards: bool


def check_counters(draft: Draft, named: Mapping[str, Type]) -> None:
    """Report counters that two lists set, where one record may have both lose elements."""
    for struct in structs(named):
        place = draft.place / "types" / struct.name / "fields"
        for first, second in combinations(_losses(struct, place), 2):
            if first.counter == second.counter and not _is_one_alone(struct, first, second):
                message = f"{first.counter} counts what {first.list} loses, and would be overwritten here"
                hint = "give each a counter of its own, as in `- lost: {type: int64, counted: true}`"
                draft.reports(second.place, "conflicting-keys", message, hint)


def _losses(struct: Struct, place: Place) -> Iterator[_Loss]:
    fields = {field.wire_name: field for field in struct.fields}
    for position, step in enumerate(struct.steps):
        match step:
            case Field(wire_name=name, type=type) if salvage := _salvage(type):
                where = place / position / name / "salvage" / "lost"
                yield _Loss(where, salvage.lost, name, step, salvage.when, discards=False)
            case types.Discard(field=name, count=counter, when=when):
                where = place / position / "discard" / "count"
                yield _Loss(where, counter, name, fields.get(name), when, discards=True)
            case _:
                pass


def _salvage(type: Type) -> types.Salvage | None:
    plain = types.not_null(type)
    return plain.salvage if isinstance(plain, types.Array) else None


def _is_one_alone(struct: Struct, first: _Loss, second: _Loss) -> bool:
    """Whether one of them at most sets the counter of a record."""
    if first.discards and second.discards and first.list == second.list:
        return True  # the first leaves no element to the second
    if first.field is not None and second.field is not None and never_both(struct, first.field, second.field):
        return True
    guards = first.when, second.when
    if any(_looks_at(guard, second.counter) for guard in guards):
        return True  # the record tells
    return first.when is not None and second.when is not None and exclusive(first.when, second.when)


def _looks_at(guard: Expression | None, name: str) -> bool:
    return guard is not None and any(isinstance(each, FieldRef) and each.name == name for each in references(guard))

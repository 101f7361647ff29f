"""Two lists must not share a counter of lost elements, since the later one would overwrite it."""

from collections.abc import Iterator
from itertools import combinations

from wireloom.expr.ast import Literal
from wireloom.model import types
from wireloom.model.types import Field, Struct
from wireloom.resolve.bind.draft import Draft
from wireloom.resolve.facts.exclusion import never_both
from wireloom.resolve.facts.sites import Types, structs
from wireloom.spec.documents import Place

_ALWAYS = (None, Literal(True))  # noqa: FBT003 - a value


def check_counters(draft: Draft, named: Types) -> None:
    """Report counters that two lists set, if one record may have both lists."""
    for struct in structs(named):
        fields = {field.wire_name: field for field in struct.fields}
        place = draft.place / "types" / struct.name / "fields"
        for (_, counter, first), (where, other, second) in combinations(_losses(struct, place), 2):
            both = [fields[name] for name in (first, second) if name in fields]
            exclusive = len(both) == 2 and never_both(struct, *both)
            if counter == other and first != second and not exclusive:
                message = f"{counter} already counts what {first} loses"
                hint = "give each list its own counter: `- lost: {type: int64, counted: true}`"
                draft.reports(where, "conflicting-keys", message, hint)


def _losses(struct: Struct, place: Place) -> Iterator[tuple[Place, str, str]]:
    """The steps that always set a counter: the place, the counter, and the list."""
    for position, step in enumerate(struct.steps):
        if isinstance(step, types.Discard) and step.when in _ALWAYS:
            yield place / position / "discard" / "count", step.count, step.field
        listed = types.not_null(step.type) if isinstance(step, Field) else None
        salvage = listed.salvage if isinstance(listed, types.Array) else None
        if isinstance(step, Field) and salvage is not None and salvage.when in _ALWAYS:
            yield place / position / step.wire_name / "salvage" / "lost", salvage.lost, step.wire_name

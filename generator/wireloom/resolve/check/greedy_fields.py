"""Fields and elements that use all remaining bytes must be the last; list elements must have bytes."""

from wireloom.expr.ast import Literal
from wireloom.model import types
from wireloom.model.ends import looks_at_end
from wireloom.model.traversal import plain, within
from wireloom.model.types import Field, Struct, Type
from wireloom.resolve.bind.draft import Draft
from wireloom.resolve.facts.exclusion import never_in_one_version
from wireloom.resolve.facts.sites import placed, structs
from wireloom.resolve.facts.sizes import OPEN, Sizes, asks_for_end, counts_from_end
from wireloom.spec.documents import Place

_SIZE_IT = "give it an end: `bytes(n)`, `str(n)`, `count`, `size`"


def check_greed(draft: Draft, sizes: Sizes) -> None:
    """Report fields that use all remaining bytes although others follow, and elements without bytes."""
    for struct in structs(sizes.named):
        if struct.encoding.laid_out:
            place = draft.place / "types" / struct.name / "fields"
            fields = [(where, field) for where, field in placed(struct, place) if field.in_struct]
            for index, (where, field) in enumerate(fields):
                later = [each for _, each in fields[index + 1 :] if not never_in_one_version(struct, field, each)]
                followers = [each for each in later if each.at is None or counts_from_end(each)]
                _check_followed(draft, where, field, followers, sizes)
            for where, field in placed(struct, place):
                for listed in within(field.type, sizes.named, types.Nullable, types.Select):
                    if isinstance(listed, types.Array):
                        _check_element(draft, where, field, listed, sizes)
            _check_used_up(draft, place, struct)


def _check_followed(draft: Draft, where: Place, field: Field, followers: list[Field], sizes: Sizes) -> None:
    """Report a field that uses all remaining bytes, if other fields follow that are not at earlier offsets."""
    size, name = sizes.of_field(field), field.wire_name
    alone = field.when is None and field.size is None and field.at is None
    asking = looks_at_end(field.type, sizes.named) if field.size is None else ""
    always = [each for each in followers if each.when is None and sizes.of_field(each) != OPEN]
    if alone and size.open and followers:
        message = f"{name} takes all bytes left, but {followers[0].wire_name} follows"
        draft.reports_entry(where, "greedy-field", message, _where_else_to_ask(field.type, sizes) or _SIZE_IT)
    elif asking and followers:
        message = f"{asking} is present only if bytes are left, but {followers[0].wire_name} follows {name}"
        hint = f"give {name} a `size`, or make {asking} depend on a flag"
        draft.reports_entry(where, "greedy-field", message, hint)
    elif alone and size.partly and always:
        message = f"{name} takes all bytes left in one of its cases, but {always[0].wire_name} follows"
        draft.reports_entry(where, "greedy-field", message, "give each case an end, or `size` to the field")


def _check_element(draft: Draft, where: Place, field: Field, listed: types.Array, sizes: Sizes) -> None:
    element = plain(listed.element, sizes.named)
    if listed.count != Literal(1):
        check_open_element(draft, where, field.wire_name, listed.element, sizes)
    if not listed.packed and sizes.of(element).fixed == 0:
        message = f"an element of {field.wire_name} has no bytes"
        hint = "give the list a `count`, since elements without bytes cannot be counted"
        draft.reports_entry(where, "wrong-shape", message, hint)


def check_open_element(draft: Draft, where: Place, name: str, element: Type, sizes: Sizes) -> None:
    """Report an element whose end is only known from the region around it."""
    if sizes.of(element).open:
        message = f"the first element of {name} takes all bytes left"
        hint = _where_else_to_ask(element, sizes) or "give the elements a size"
        draft.reports_entry(where, "greedy-field", message, hint)
    elif asking := looks_at_end(element, sizes.named):
        message = f"{asking} is present only if bytes are left, but other elements follow"
        draft.reports_entry(where, "greedy-field", message, f"make {asking} depend on a flag")


def _check_used_up(draft: Draft, place: Place, struct: Struct) -> None:
    """Report fields after an `end` step, unless they are at stated offsets."""
    end = next((position for position, step in enumerate(struct.steps) if isinstance(step, types.End)), None)
    for position, step in enumerate(struct.steps):
        if end is not None and position > end and isinstance(step, Field) and step.on_wire and step.at is None:
            message = f"{step.wire_name} comes after `end`, where no bytes are left"
            where, hint = place / position / step.wire_name, "move `end` to the end"
            draft.reports_entry(where, "greedy-field", message, hint)
            return


def _where_else_to_ask(type: Type, sizes: Sizes) -> str:
    """A hint for a struct with an `end` step; empty for other types."""
    struct = plain(type, sizes.named)
    if not isinstance(struct, Struct) or not asks_for_end(struct):
        return ""
    return f"move the `end` step out of {struct.name}, or give {struct.name} a `size`"

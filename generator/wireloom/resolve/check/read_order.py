"""Steps and expressions must use only what is known there: fields already read, an `index` only in lists."""

from collections.abc import Iterator

from wireloom.expr.ast import Expression, FieldRef, MarkRef, Position, references
from wireloom.model import types
from wireloom.model.traversal import closure
from wireloom.model.types import Struct
from wireloom.resolve.bind.draft import Draft
from wireloom.resolve.facts.sites import Names, Role, Site, Types, every_site, held, is_of_element, structs
from wireloom.resolve.logical.roots import Entry


def check_positions(draft: Draft, named: Types, names: Names, entries: tuple[Entry, ...]) -> None:
    """Report steps and expressions that use what is not known yet."""
    unlisted = _outside_lists(named, names, entries)
    for struct in structs(named):
        _check_verified(draft, struct)
    for site in every_site(draft.place, named):
        facts = {each.fact for each in references(site.expression) if isinstance(each, Position)}
        if "index" in facts and site.struct.name in unlisted:
            message = f"{site.struct.name} is not an element of a list"
            hint = "`index` is the number of an element in its list"
            if site.field is not None and is_of_element(draft.place, named, site):
                message = f"an element of {site.field.wire_name} is no struct, so it has no `index`"
                hint = "put its type into a struct of one field, which sees the `index` of the struct"
            draft.reports(site.place, "unknown-name", message, hint)
        if "here" in facts and _is_elsewhere(site):
            message = "`here` has no meaning for a field with `from`"
            draft.reports(site.place, "unknown-name", message, "write its size without `here`")


def _is_elsewhere(site: Site) -> bool:
    """Whether an expression about a field with `from` does more than state its offset or its condition."""
    field = site.field
    return field is not None and bool(field.base) and site.role not in (Role.OFFSET, Role.CONDITION)


def _outside_lists(named: Types, names: Names, entries: tuple[Entry, ...]) -> frozenset[str]:
    """The structs that are used somewhere outside of lists."""
    within: dict[str, list[str]] = {}  # for each struct, those used in it outside of lists
    for inner, holders in names.above.items():
        for each in holders:
            if not each.listed:
                within.setdefault(each.struct.name, []).append(inner)
    outermost = (struct.name for entry in entries for struct, listed in held(entry.type, named) if not listed)
    return frozenset(closure(outermost, lambda name: within.get(name, ())))


def _check_verified(draft: Draft, struct: Struct) -> None:
    """A checksum must be verified after its field, and after everything that its range depends on."""
    fields = {step.wire_name: (at, step) for at, step in enumerate(struct.steps) if isinstance(step, types.Field)}
    known_at = {name: at for name, (at, _) in fields.items()}
    known_at |= {bit.name: at for at, field in fields.values() for bit in field.bits}
    known_at |= {step.name: at for at, step in enumerate(struct.steps) if isinstance(step, types.Mark)}
    for position, step in enumerate(struct.steps):
        if not isinstance(step, types.Verify) or step.field not in fields:
            continue
        place = draft.place / "types" / struct.name / "fields" / position / "verify"
        at, field = fields[step.field]
        if at > position:
            message = f"{step.field} is verified before it is read"
            draft.reports(place / "field", "later-name", message, "move the step after the field")
        elif field.checksum is not None:
            extras = [each.value for each in (*field.checksum.ahead, *field.checksum.after)]
            bounds = field.checksum.start, field.checksum.end
            covering = dict.fromkeys(_names(*bounds, *extras), f"the range of {step.field}")
            stored = () if field.checksum.stored is None else (field.checksum.stored,)
            for name, what in (dict.fromkeys(_names(*stored), f"the stored value of {step.field}") | covering).items():
                if known_at.get(name, -1) > position:
                    message = f"{name} decides {what}, but is read after the step that verifies it"
                    draft.reports(place / "field", "later-name", message, f"move the step after {name}")


def _names(*expressions: Expression) -> Iterator[str]:
    for expression in expressions:
        for each in references(expression):
            if isinstance(each, MarkRef) or (isinstance(each, FieldRef) and each.up == 0):
                yield each.name

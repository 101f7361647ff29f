"""Names that say two things: what a field is called on the wire, and what readers call another that melts in there."""

from collections.abc import Iterator, Mapping

from wireloom.expr.ast import FieldRef, references
from wireloom.model.types import Field, Struct, Type
from wireloom.resolve.bind.draft import Draft
from wireloom.resolve.facts.sites import Names, Role, held, sites, structs

Types = Mapping[str, Type]


def check_clashes(draft: Draft, named: Types, names: Names) -> None:
    """Report expressions that ask for a name which readers have for another member of what melts in there."""
    for struct in structs(named):
        for site in sites(draft.place, named, struct):
            for reference in references(site.expression) if site.role is not Role.KEEP else ():
                if isinstance(reference, FieldRef) and (other := _other(struct, reference, named, names)):
                    called = ".".join((reference.name, *reference.members))
                    message = f"{called} is one field, and what readers call {other}, which melts in beside it"
                    draft.reports(site.place, "ambiguous-name", message, "call one of them by another name")
                    break


def _other(struct: Struct, reference: FieldRef, named: Types, names: Names) -> str:
    """The member that readers call as a reference has it, and that is another one; empty where there is none."""
    around = names.around(struct, reference.up)
    for name in (reference.name, *reference.members):
        for each in around:
            for called, own in _melted(each, named, frozenset()):
                if called == name != own:
                    return own
        around = tuple(
            found
            for each in around
            for field in each.fields
            if field.wire_name == name
            for inner, _ in held(field.type, named)
            if isinstance(found := named[inner], Struct)
        )
    return ""


def _melted(struct: Struct, named: Types, seen: frozenset[str]) -> Iterator[tuple[str, str]]:
    """What readers call the members of what melts into a struct, however deep, and their own names."""
    for field in struct.fields:
        for inner, _ in held(field.type, named) if field.flatten else ():
            found = named[inner]
            if isinstance(found, Struct) and inner not in seen:
                for each in found.fields:
                    yield from _called(each)
                yield from _melted(found, named, seen | {inner})


def _called(field: Field) -> Iterator[tuple[str, str]]:
    """What readers call a field and its bits, and what stands on the wire beside its meaning."""
    if not field.hidden and not field.flatten:
        yield field.name, field.wire_name
        yield from ((field.meaning.raw, field.wire_name),) if field.meaning is not None and field.meaning.raw else ()
    for bit in field.bits:
        if not bit.hidden:
            yield bit.title, bit.name
            yield from ((bit.meaning.raw, bit.name),) if bit.meaning is not None and bit.meaning.raw else ()

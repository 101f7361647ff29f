"""Report names that refer to two fields of one struct that a record may both have."""

from itertools import combinations

from wireloom.expr.ast import FieldRef, fields_in
from wireloom.model.types import Field, Struct
from wireloom.resolve.bind.draft import Draft
from wireloom.resolve.facts.exclusion import never_both
from wireloom.resolve.facts.sites import Names, Origin, Role, Types, every_site, held, structs


def check_clashes(draft: Draft, named: Types, names: Names) -> None:
    """Report expressions with a name that refers to two such fields."""
    if not any(field.flatten for struct in structs(named) for field in struct.fields):
        return
    for site in every_site(draft.place, named):
        for reference in fields_in(site.expression) if site.role is not Role.KEEP else ():
            called = ".".join((reference.name, *reference.members))
            if rivals := _rivals(site.struct, reference, names):
                draft.reports(site.place, "ambiguous-name", *_of_both(called, *rivals))
                break


def _rivals(struct: Struct, reference: FieldRef, names: Names) -> tuple[Field, Field] | None:
    """Two fields of one struct that share a name of the reference, and that one record may have.

    None if there are none.
    """
    around = names.around(struct, reference.up)
    for name in (reference.name, *reference.members):
        found = next(filter(None, (_both(each, name, names, frozenset()) for each in around)), None)
        if found is not None:
            return found
        fields = [origin.field for each in around for origin in names.named_in(each, name)]
        around = tuple(inner for field in fields for inner in _held(field, names.named))
    return None


def _both(struct: Struct, name: str, names: Names, seen: frozenset[str]) -> tuple[Field, Field] | None:
    """Two fields that share a name in a struct or in one flattened into it, and that one record may have.

    Two fields that are themselves named alike are reported elsewhere.
    """
    givers = list({id(field): field for field in map(_giver, names.named_in(struct, name))}.values())
    for first, second in combinations(givers, 2):
        if (first.flatten or second.flatten) and not never_both(struct, first, second):
            return first, second
    seen |= {struct.name}
    flattened = (inner for field in givers if field.flatten for inner in _held(field, names.named))
    return next(filter(None, (_both(each, name, names, seen) for each in flattened if each.name not in seen)), None)


def _giver(origin: Origin) -> Field:
    """The field of the struct itself through which a name is found."""
    return origin.lender or origin.field


def _held(field: Field, named: Types) -> tuple[Struct, ...]:
    """The structs that the value of a field may be."""
    return tuple(struct for struct, _ in held(field.type, named))


def _of_both(called: str, first: Field, second: Field) -> tuple[str, str]:
    """The message and the hint for a name that two fields share."""
    name = called.rpartition(".")[2]
    lender = second if second.flatten else first
    message = f"{called} is in {first.wire_name} and in {second.wire_name}, and a record may have both"
    other = f"{lender.wire_name}{name[:1].upper()}{name[1:]}"
    return message, f"rename one where {lender.wire_name} is flattened: `flatten: {{as: {{{name}: {other}}}}}`"

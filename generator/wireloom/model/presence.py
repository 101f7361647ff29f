"""When a field of a struct is present: its own condition, and the versions that have it."""

from functools import reduce

from wireloom.expr.ast import Binary, Conditional, Expression, FieldRef, Kind, Literal
from wireloom.model.types import Field, Struct


def presence_condition(field: Field, struct: Struct) -> Expression | None:
    """The field's condition, versions included; None if the field is always present."""
    names = [version.name for version in struct.versions]
    bounds: list[Expression] = []
    if field.since and names:
        bounds.append(Binary(">=", _version_in_force(struct), Literal(names.index(field.since))))
    if field.until and names:
        bounds.append(Binary("<=", _version_in_force(struct), Literal(names.index(field.until))))
    if field.when is not None:
        bounds.append(field.when)
    return reduce(lambda both, bound: Binary("and", both, bound), bounds) if bounds else None


def _version_in_force(struct: Struct) -> Expression:
    """The index of the record's version, oldest first: told by the arity, or by the first true condition."""
    index: Expression = FieldRef(0, "_version", kind=Kind.INTEGER)
    if any(version.arity is not None for version in struct.versions):
        return index
    for place, version in reversed(list(enumerate(struct.versions))):
        if version.when is not None:
            index = Conditional(version.when, Literal(place), index)
    return index

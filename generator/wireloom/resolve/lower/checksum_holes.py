"""Checksums within the bytes they cover: zeros take their place while they are computed."""

from dataclasses import replace

from wireloom.expr.ast import MarkRef
from wireloom.expr.sums import Sum, in_order, sum_of
from wireloom.model.traversal import NamedTypes, with_fields, with_structs
from wireloom.model.types import Checksum, Field, Mark, Struct
from wireloom.resolve.facts.sizes import Sizes


def with_holes(named: NamedTypes) -> NamedTypes:
    """The types, where each checksum is marked unless it is certainly outside of the bytes it covers."""
    sizes = Sizes(dict(named))
    return with_structs(
        named, lambda struct: with_fields(struct, lambda field: _with_hole(struct, field, field.checksum, sizes))
    )


def _with_hole(struct: Struct, field: Field, checksum: Checksum | None, sizes: Sizes) -> Field:
    if checksum is None or _is_apart(struct, field, checksum, sizes):
        return field
    start = sizes.start_of(struct, field)
    at = start.number if start is not None and not start.terms else None
    return replace(field, checksum=replace(checksum, hole=True, at=at))


def _is_apart(struct: Struct, field: Field, checksum: Checksum, sizes: Sizes) -> bool:
    """Whether the field is certainly before or after the bytes it covers."""
    steps = struct.steps
    marks = {step.name: position for position, step in enumerate(steps) if isinstance(step, Mark)}
    at = next(position for position, step in enumerate(steps) if step is field)
    if field.at is None and any(each.at is not None and not each.base for each in struct.fields):
        marks = {}  # marks may be at any offset
    match checksum.start, checksum.end:
        case _, MarkRef(name) if marks.get(name, at) < at and field.at is None:
            return True
        case MarkRef(name), _ if marks.get(name, at) > at and field.at is None:
            return True
        case _:
            pass
    start, size = sizes.start_of(struct, field), sizes.of_field(field).fixed
    if start is None or size is None:
        return False
    return in_order(sum_of(checksum.end, None), start) or in_order(start.plus(Sum(size)), sum_of(checksum.start, None))

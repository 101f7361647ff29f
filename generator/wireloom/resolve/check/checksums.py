"""Checksums: each is verified, and covers bytes, and others than its own."""

from collections.abc import Mapping

from wireloom.expr.ast import Expression, MarkRef
from wireloom.expr.extents import extent
from wireloom.expr.sums import Sum, in_order, sum_of
from wireloom.model import types
from wireloom.model.types import Checksum, Encoding, Field, Mark, Struct, Type
from wireloom.resolve.bind.draft import Draft
from wireloom.resolve.bind.expressions import BROKEN
from wireloom.resolve.facts.sites import Types, placed, structs
from wireloom.resolve.facts.sizes import fixed_size, start_of
from wireloom.spec.documents import Place
from wireloom.spec.yaml import SequenceNode


def check_covered(draft: Draft, named: Mapping[str, Type]) -> None:
    """Report checksums over no byte, or over no other than their own, which protect nothing."""
    for struct in structs(named):
        for position, step in enumerate(struct.steps):
            if isinstance(step, Field) and step.checksum is not None and struct.encoding is Encoding.BINARY:
                place = draft.place / "types" / struct.name / "fields" / position / step.wire_name / "over"
                range = place / 0 if isinstance(place.node, SequenceNode) else place
                _check(draft, range, struct, step, step.checksum, named)


def _check(  # noqa: PLR0913 - the checksum, and where it stands
    draft: Draft, place: Place, struct: Struct, field: Field, checksum: Checksum, named: Mapping[str, Type]
) -> None:
    start, end = checksum.start, checksum.end
    if checksum.ahead or checksum.after or BROKEN in (start, end):
        return
    if _is_empty(start, end) or _is_turned(struct, start, end):
        hint = "a range is START .. END, and what stands at END is no part of it"
        draft.reports(place, "bad-range", f"{place.text} are no bytes", hint)
    elif _is_within(struct, field, start, end, named):
        message = f"{place.text} are the bytes of {field.wire_name} itself"
        draft.reports(place, "bad-range", message, "cover what stands before it or behind it")


def _is_empty(start: Expression, end: Expression) -> bool:
    """Whether no byte is between two places, whatever a record says."""
    known = extent(end, {}).high <= max(extent(start, {}).low, 0)
    return known or start == end or in_order(sum_of(end, None), sum_of(start, None))


def _is_turned(struct: Struct, start: Expression, end: Expression) -> bool:
    """Whether the mark at which a range ends stands before the one that it begins at."""
    if any(field.at is not None and not field.base for field in struct.fields):
        return False  # marks may stand anywhere
    marks = {step.name: position for position, step in enumerate(struct.steps) if isinstance(step, Mark)}
    match start, end:
        case MarkRef(first), MarkRef(last) if first in marks and last in marks:
            return marks[last] < marks[first]
        case _:
            return False


def _is_within(struct: Struct, field: Field, start: Expression, end: Expression, named: Mapping[str, Type]) -> bool:
    """Whether a range surely has no byte that is not of the field."""
    own, size = start_of(struct, field, named), fixed_size(field, named)
    if own is None or size is None:
        return False
    return in_order(own, sum_of(start, None)) and in_order(sum_of(end, None), own.plus(Sum(size)))


def check_verified(draft: Draft, named: Types) -> None:
    """Report checksums that no step verifies."""
    for struct in structs(named):
        _check_verified(draft, draft.place / "types" / struct.name / "fields", struct)


def _check_verified(draft: Draft, place: Place, struct: Struct) -> None:
    verified = {step.field for step in struct.steps if isinstance(step, types.Verify)}
    if not verified <= {field.wire_name for field in struct.fields if field.checksum is not None}:
        return  # said of the step that verifies what is none
    for where, field in placed(struct, place):
        if field.checksum is not None and field.wire_name not in verified:
            hint = f"add `- verify: {{field: {field.wire_name}}}` where it can be trusted"
            draft.reports_entry(where, "unverified-checksum", f"no step verifies {field.wire_name}", hint)

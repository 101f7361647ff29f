"""Every checksum must be verified, and must cover bytes."""

from wireloom.expr.ast import Expression, MarkRef
from wireloom.expr.extents import extent
from wireloom.expr.sums import in_order, sum_of
from wireloom.model import types
from wireloom.model.types import Mark, Struct
from wireloom.resolve.bind.draft import Draft
from wireloom.resolve.bind.expressions import BROKEN
from wireloom.resolve.facts.sites import Types, placed, structs
from wireloom.spec.documents import Place
from wireloom.spec.yaml import SequenceNode


def check_checksums(draft: Draft, named: Types) -> None:
    """Report checksums that no step verifies, and checksums over no bytes."""
    for struct in structs(named):
        place = draft.place / "types" / struct.name / "fields"
        verified = {step.field for step in struct.steps if isinstance(step, types.Verify)}
        known = verified <= {field.wire_name for field in struct.fields if field.checksum is not None}
        for where, field in placed(struct, place):
            if field.checksum is None:
                continue
            if known and field.wire_name not in verified:  # otherwise the wrong `verify` step is reported
                hint = f"add `- verify: {{field: {field.wire_name}}}` before the fields that rely on it"
                draft.reports_entry(where, "unverified-checksum", f"no step verifies {field.wire_name}", hint)
            alone = not (field.checksum.ahead or field.checksum.after)
            if alone and struct.encoding.laid_out:
                _check_covered(draft, where / "over", struct, field.checksum.start, field.checksum.end)


def _check_covered(draft: Draft, place: Place, struct: Struct, start: Expression, end: Expression) -> None:
    place = place / 0 if isinstance(place.node, SequenceNode) else place
    if BROKEN not in (start, end) and (_is_empty(start, end) or _is_turned(struct, start, end)):
        hint = "write START .. END; the byte at END is not part of the range"
        draft.reports(place, "bad-range", f"the range {place.text} has no bytes", hint)


def _is_empty(start: Expression, end: Expression) -> bool:
    """Whether there is never a byte between two offsets."""
    known = extent(end, {}).high <= max(extent(start, {}).low, 0)
    return known or start == end or in_order(sum_of(end, None), sum_of(start, None))


def _is_turned(struct: Struct, start: Expression, end: Expression) -> bool:
    """Whether the mark at the end of a range comes before the mark at its start."""
    if any(field.at is not None and not field.base for field in struct.fields):
        return False  # marks may be at any offset
    marks = {step.name: position for position, step in enumerate(struct.steps) if isinstance(step, Mark)}
    match start, end:
        case MarkRef(first), MarkRef(last) if first in marks and last in marks:
            return marks[last] < marks[first]
        case _:
            return False

"""What may not collide: the names of fields, the tags of a message, the bytes of fields at stated offsets."""

from wireloom.model import types
from wireloom.model.types import Encoding, Form, Struct
from wireloom.resolve.bind.draft import Draft
from wireloom.resolve.check.field_names import (
    check_attempt_names,
    check_logical_names,
    check_members,
    check_tags,
    check_wire_names,
)
from wireloom.resolve.check.greedy_fields import check_elements, check_greed, check_used_up
from wireloom.resolve.check.offsets import check_offsets
from wireloom.resolve.facts.sites import Types, placed
from wireloom.spec.documents import Place


def check_collisions(draft: Draft, named: Types) -> None:
    """Report collisions in every struct."""
    for name, type in named.items():
        if isinstance(type, types.Attempt):
            check_attempt_names(draft, draft.place / "types" / name, type, named)
        if isinstance(type, Struct):
            place = draft.place / "types" / name / "fields"
            said = check_wire_names(draft, place, type)
            check_logical_names(draft, place, type, named, said)
            check_tags(draft, place, type)
            if type.form is Form.OBJECT:
                check_members(draft, place, type, named)
            if type.encoding is Encoding.BINARY:
                check_offsets(draft, place, type, named)
                check_greed(draft, place, type, named)
                check_used_up(draft, place, type)
                _check_verified(draft, place, type)
                check_elements(draft, place, type, named)


def _check_verified(draft: Draft, place: Place, struct: Struct) -> None:
    verified = {step.field for step in struct.steps if isinstance(step, types.Verify)}
    if not verified <= {field.wire_name for field in struct.fields if field.checksum is not None}:
        return  # said of the step that verifies what is none
    for where, field in placed(struct, place):
        if field.checksum is not None and field.wire_name not in verified:
            hint = f"add `- verify: {{field: {field.wire_name}}}` where it can be trusted"
            draft.reports_entry(where, "unverified-checksum", f"no step verifies {field.wire_name}", hint)

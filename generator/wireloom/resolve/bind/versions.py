"""Check the versions of one struct: how they are distinguished, and which fields each has."""

from collections.abc import Mapping, Sequence

from wireloom.encodings import Form
from wireloom.model.types import Field, Presence, Struct, Type, Version
from wireloom.resolve.bind.draft import Draft
from wireloom.resolve.bind.named_versions import check_span, span_of
from wireloom.spec.documents import Place


def versions_of(struct: Struct, field: Field) -> range:
    """The indexes of the struct's versions that have a field."""
    return span_of([version.name for version in struct.versions], field.since, field.until)


def check_versions(draft: Draft, named: Mapping[str, Type]) -> None:
    """Report versions that cannot be distinguished, and fields with unknown versions."""
    for name, type in named.items():
        place = draft.place / "types" / name
        if isinstance(type, Struct) and _names_known_versions(draft, place / "fields", type):
            _check_versions(draft, place, type)
        if isinstance(type, Struct) and type.form is Form.ARRAY:
            _check_last_elements(draft, place / "fields", type)


def _names_known_versions(draft: Draft, place: Place, struct: Struct) -> bool:
    """Whether every `since` and `until` names a version of the struct, the older one first."""
    order = [version.name for version in struct.versions] or (draft.versions.names if draft.versions else ())
    before = len(draft.problems.found)
    for position, field in enumerate(struct.steps):
        if isinstance(field, Field):
            check_span(draft, place / position / field.wire_name, order, field.since or None, field.until or None)
    return len(draft.problems.found) == before


def _check_versions(draft: Draft, place: Place, struct: Struct) -> None:
    taken: dict[int, str] = {}
    wrong = set[str]()
    for number, version in enumerate(struct.versions):
        name, where = version.name, place / "versions" / version.name
        if (version.arity is None) == (version.when is None):
            message = f"{name} needs one of `arity` and `when`"
            draft.reports_entry(where, "conflicting-keys", message, "give `arity` or `when`")
        if version.arity is None:
            continue
        if struct.form is not Form.ARRAY:
            draft.reports(where / "arity", "wrong-encoding", "only arrays have an arity", "tell the version by `when`")
            continue
        counted = [field for field in struct.fields if field.on_wire and number in versions_of(struct, field)]
        fields = len(counted)
        if version.arity != fields:
            wrong.add(name)
            message = f"{name} has {fields} fields, not {version.arity}"
            draft.reports(where / "arity", "version-arity", message, "mark fields with `since` and `until`")
        else:
            _check_conditions(draft, place / "fields", struct, version, counted)
        if version.arity in taken and not wrong & {name, taken[version.arity]}:
            message, hint = f"{taken[version.arity]} has the same arity", "two versions of one arity need `when`"
            draft.reports(where / "arity", "version-arity", message, hint)
        taken[version.arity] = name


def _check_last_elements(draft: Draft, place: Place, struct: Struct) -> None:
    """Optional elements must be the last ones of an array, and cannot be mixed with versions told by arity."""
    left_out = ""
    for position, field in enumerate(struct.steps):
        if not isinstance(field, Field) or not field.on_wire:
            continue
        where = place / position / field.wire_name
        if field.presence is not Presence.OPTIONAL:
            if left_out:
                message = f"{field.wire_name} is required, but {left_out} before it may be missing"
                draft.reports_entry(where, "conflicting-keys", message, "make both `optional`, or neither")
            continue
        left_out = left_out or field.wire_name
        if any(version.arity is not None for version in struct.versions):
            message = f"{field.wire_name} may be missing, but the number of elements decides the version"
            hint = "use `since` in place of `optional`, or drop the versions"
            draft.reports_entry(where, "conflicting-keys", message, hint)


def _check_conditions(draft: Draft, place: Place, struct: Struct, version: Version, counted: Sequence[Field]) -> None:
    """Report conditions of fields that the arity of a version counts, since they would always have to hold."""
    names = {field.wire_name for field in counted}
    for position, field in enumerate(struct.steps):
        if isinstance(field, Field) and field.when is not None and field.wire_name in names:
            where = place / position / field.wire_name / "when"
            message = f"{field.wire_name} cannot be absent: it is one of the {version.arity} elements of {version.name}"
            hint = "use a `check` in place of the condition, or distinguish the versions by `when`"
            draft.reports_entry(where, "conflicting-keys", message, hint)

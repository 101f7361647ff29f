"""Names must be unique: those of fields, bits and marks, readers' names, members, and tags of a message."""

from wireloom.encodings import Form
from wireloom.model import types
from wireloom.model.types import Field, Struct
from wireloom.resolve.bind.draft import Draft
from wireloom.resolve.facts.exclusion import never_both, never_in_one_version
from wireloom.resolve.facts.members import lent_names, logical_names, members
from wireloom.resolve.facts.sites import Types, placed
from wireloom.spec.documents import Place
from wireloom.spec.yaml import MappingNode


def check_names(draft: Draft, named: Types) -> None:
    """Report names and tags that are used twice."""
    for name, type in named.items():
        if isinstance(type, types.Attempt):
            _check_attempt_names(draft, draft.place / "types" / name, type, named)
        if isinstance(type, Struct):
            place = draft.place / "types" / name / "fields"
            reported = _check_wire_names(draft, place, type)
            _check_logical_names(draft, place, type, named, reported)
            _check_tags(draft, place, type)
            if type.form is Form.OBJECT:
                _check_members(draft, place, type, named)


def _check_wire_names(draft: Draft, place: Place, struct: Struct) -> set[str]:
    """Check the names that expressions use, of fields, bits and marks; return those used twice."""
    entries: list[tuple[Place, str, Field | None]] = []
    for where, field in placed(struct, place):
        entries.append((where, field.wire_name, field))
        entries += [(where / "bits" / bit.name, bit.name, None) for bit in field.bits]
    marks = ((place / at / "mark", step) for at, step in enumerate(struct.steps) if isinstance(step, types.Mark))
    entries += [(where, mark.name, None) for where, mark in marks]
    taken: dict[str, list[Field | None]] = {}
    twice = set[str]()
    for where, name, own in entries:
        others = taken.setdefault(name, [])
        if not all(_may_share(struct, other, own) for other in others):
            hint = "rename one; `as` sets the name that readers see"
            draft.reports_entry(where, "duplicate-field", f"two fields are named {name}", hint)
            twice.add(name)
        others.append(own)
    return twice


def _may_share(struct: Struct, first: Field | None, second: Field | None) -> bool:
    """Whether two fields may share a name, as fields of different versions; bits, marks and checksums may not."""
    if first is None or second is None or first.checksum is not None or second.checksum is not None:
        return False
    in_message = struct.encoding.numbered and first.on_wire and second.on_wire
    return not in_message and never_in_one_version(struct, first, second)


def _check_logical_names(draft: Draft, place: Place, struct: Struct, named: Types, reported: set[str]) -> None:
    """Check readers' names, including members of flattened structs; fields that exclude each other may share one.

    Names in `reported` were already reported as duplicates in expressions.
    """
    taken: dict[str, list[Field]] = {}
    for where, field in placed(struct, place):
        own = () if field.flatten else tuple(logical_names(field, named))
        for name in dict.fromkeys(each for each in own if own.count(each) > 1):
            hint = "a field, its `raw` and its bits each need their own name: hide one, or rename it with `as`"
            draft.reports_entry(where, "duplicate-field", f"readers see {name} twice", hint)
        for name in dict.fromkeys(logical_names(field, named)):
            others = [each for each in taken.setdefault(name, []) if each.wire_name != field.wire_name]
            known = next((each for each in others if not never_both(struct, each, field)), None)
            if known is not None and name not in reported:
                message = f"readers see {name} twice, as {_source(known)} and as {_source(field)}"
                draft.reports_entry(where, "duplicate-field", message, "hide one, or rename it with `as`")
            taken[name].append(field)


def _source(field: Field) -> str:
    """Where a readers' name comes from: a field, or a member of a flattened field."""
    if not field.flatten:
        return field.wire_name
    struct = field.type.name if isinstance(field.type, types.Reference) else "the type"
    return f"a member of {struct}, which {field.wire_name} flattens"


def _check_attempt_names(draft: Draft, place: Place, attempt: types.Attempt, named: Types) -> None:
    """The fields with the alternative's name and the refusing code must differ from all members."""
    members = {name for trial in attempt.trials for name in lent_names(trial.type, named, frozenset())}
    for key, name in (("kind", attempt.kind_field), ("reason", attempt.reason_field)):
        if name and (name in members or (key == "reason" and name == attempt.kind_field)):
            hint = f"write `{key}: NAME` to rename this one"
            draft.reports_entry(place, "duplicate-field", f"readers see {name} twice", hint)


def _check_members(draft: Draft, place: Place, struct: Struct, named: Types) -> None:
    """Check names of members in the object, including those of inline structs."""
    taken: dict[str, Field] = {}
    for where, field in placed(struct, place):
        for name in dict.fromkeys(members(field, named, frozenset({struct.name}))):
            known = taken.get(name, field)
            certain = known.when is None and field.when is None
            if known.wire_name != field.wire_name and certain and not never_in_one_version(struct, known, field):
                message = f"two fields have the member {name}"
                hint = f"the other is {known.wire_name}; give each its own `member`"
                draft.reports_entry(where, "duplicate-field", message, hint)
            taken[name] = field


def _check_tags(draft: Draft, place: Place, struct: Struct) -> None:
    """Report tags of a message that are used twice."""
    taken: dict[int, str] = {}
    for where, field in placed(struct, place):
        if field.tag in taken:
            message = f"{taken[field.tag]} already has the tag {field.tag}"
            draft.reports(where / "tag", "duplicate-tag", message, "give each field its own tag")
        if field.tag:
            taken.setdefault(field.tag, field.wire_name)


def check_rest(draft: Draft, place: Place, struct: Struct, field: Field, rest: types.Map) -> None:
    """Check a map of all other members: it must be in an object, have text keys, and be the last field."""
    following = [each for each in struct.fields if each.on_wire]
    following = following[following.index(field) + 1 :]
    if struct.form is not Form.OBJECT:
        message = f"{struct.name} is an array, and an array has no other members to collect"
        draft.reports_entry(place / "inline", "wrong-shape", message, "write `form: object`, or drop `inline`")
    elif not (struct.encoding.text or isinstance(rest.key, types.Text)):
        message = f"the keys of {field.wire_name} must be texts"
        draft.reports_entry(place / "inline", "wrong-shape", message, "write map(str, TYPE)")
    elif following:
        message = f"{field.wire_name} takes all other members, but {following[0].wire_name} follows"
        hint = "make it the last field, and the only one with `inline` of a map"
        draft.reports_entry(place, "greedy-field", message, hint)
    elif field.presence is types.Presence.OPTIONAL:
        message = "a map of all other members cannot be optional"
        hint = "drop `optional`: without other members the map is empty"
        draft.reports_entry(place / "inline", "conflicting-keys", message, hint)
    elif isinstance(place.node, MappingNode) and place.node.entry("member") is not None:
        message = "`member` beside `inline`"
        hint = "a map of all other members has no name on the wire"
        draft.reports_entry(place / "member", "conflicting-keys", message, hint)

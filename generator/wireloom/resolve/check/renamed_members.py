"""New names for flattened members must be names of existing members, and unique."""

from collections import Counter
from collections.abc import Iterator, Sequence

from wireloom import names
from wireloom.problems import nearest
from wireloom.resolve.bind.draft import Draft, TypeForm, entries_of
from wireloom.resolve.bind.outline import direct_names
from wireloom.resolve.bind.renamings import Renaming, renamed, renaming_of
from wireloom.spec.documents import Place
from wireloom.spec.language import AttemptType, Bits, Entry, FieldDocument, StructType


def check_renamings(draft: Draft) -> bool:
    """Whether all new names are valid; reports those that are not."""
    before = len(draft.problems.found)
    for struct, number, entry in draft.entries:
        place = draft.place_of(struct, number, entry) / "flatten"
        for renaming in renaming_of(entry.key, entry.full):
            _check_renaming(draft, place, entry.type, renaming)
        if entry.full.flatten:
            _check_marks(draft, place, entries_of(draft.content.types[struct]), entry)
    return len(draft.problems.found) == before


def _check_renaming(draft: Draft, place: Place, form: TypeForm, renaming: Renaming) -> None:
    """Report mistakes in the new names for the members of a type."""
    if not renaming.prefix and not renaming.stated:
        hint = "give `prefix` or `as`, or write `flatten: true`"
        draft.reports(place, "conflicting-keys", "`flatten` renames nothing", hint)
    if renaming.prefix and (flaw := names.logical_name_flaw(renaming.prefix)):
        draft.reports(place / "prefix", "bad-name", f"{renaming.prefix} cannot begin a name", flaw)
    for old, new in renaming.stated:
        if flaw := names.name_flaw(new):
            draft.reports(place / "as" / old, "bad-name", f"{new} cannot be the name of a field", flaw)
    members = dict.fromkeys(_added_names(draft, form, frozenset()))
    if not members:
        return  # it is not a struct, which is reported at the field
    for old, _ in renaming.stated:
        if old not in members:
            message, hint = f"there is no member {old} to rename", nearest(old, members)
            draft.reports_entry(place / "as" / old, "unknown-field", message, hint)
    taken = Counter(renaming.new(name) for name in members)
    twice = next((old for old, new in renaming.stated if old in members and taken[new] > 1), None)
    if twice is not None:
        message, hint = f"two members would be named {renaming.new(twice)}", "give each its own name"
        draft.reports(place / "as" / twice, "duplicate-field", message, hint)
    for name in dict.fromkeys(_recursive_names(draft, form, frozenset())):
        message = f"{name} may contain itself, so its members cannot be renamed"
        draft.reports(place, "wrong-shape", message, "write `flatten: true`, or drop it")


def _check_marks(draft: Draft, place: Place, entries: Sequence[Entry], field: Entry) -> None:
    """Report a mark with the name of a member that is flattened into its struct."""
    added = set(_named(draft, field.key, field.full, frozenset()))
    for other in entries:
        if not other.is_field and other.mark in added:
            message, hint = f"a mark and a member are both named {other.mark}", "give the mark another name"
            draft.reports(place, "duplicate-field", message, hint)


def _recursive_names(draft: Draft, form: TypeForm, seen: frozenset[str]) -> Iterator[str]:
    """The structs with a `depth` among those that are flattened."""
    for name, struct in _flattened_types(draft, form, frozenset()):
        if isinstance(struct, StructType) and name not in seen:
            yield from (name,) if struct.depth is not None else ()
            for entry in struct.fields:
                if entry.full.flatten:
                    yield from _recursive_names(draft, entry.type, seen | {name})


def _flattened_types(
    draft: Draft, form: TypeForm, seen: frozenset[str]
) -> Iterator[tuple[str, StructType | AttemptType]]:
    """The structs and attempts whose members a flattened type adds to the struct around it."""
    for name, _ in () if isinstance(form, StructType) else direct_names(draft, form):
        inner = draft.content.types[name]
        if isinstance(inner, StructType | AttemptType):
            yield name, inner
        if name not in seen:
            yield from _flattened_types(draft, inner, seen | {name})


def _added_names(draft: Draft, form: TypeForm, seen: frozenset[str]) -> Iterator[str]:
    """The names of the members that a flattened type adds."""
    for name, inner in _flattened_types(draft, form, frozenset()):
        if isinstance(inner, AttemptType):
            yield from filter(None, (inner.kind, inner.reason))
        elif name not in seen:
            for entry in inner.fields:
                if entry.is_field:
                    yield from _named(draft, entry.key, entry.full, seen | {name})


def _named(draft: Draft, name: str, document: FieldDocument, seen: frozenset[str]) -> Iterator[str]:
    """The names that a field adds to its struct."""
    yield name
    yield from (document.raw,) if document.raw else ()
    for bit, form in (document.bits or {}).items():
        yield from (bit, form.raw) if isinstance(form, Bits) and form.raw else (bit,)
    if document.flatten:
        renamings = renaming_of(name, document)
        yield from (renamed(renamings, each) for each in _added_names(draft, document.type, seen))

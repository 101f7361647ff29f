"""Resolve the roots: their wire types, what readers see of them, and whether that fits the shared schema."""

from collections.abc import Mapping
from dataclasses import dataclass

from wireloom.model.format import Root
from wireloom.model.types import Array, Reference, Type
from wireloom.problems import nearest
from wireloom.resolve.bind.draft import Draft
from wireloom.resolve.bind.outline import Outlines
from wireloom.resolve.bind.scopes import Scope
from wireloom.resolve.logical.schemas import Schema, fitted, misfits, unplaced
from wireloom.resolve.logical.shapes import ColumnsClash, shape
from wireloom.resolve.types.notations import Surroundings, type_of_text
from wireloom.runtime.columns import logical
from wireloom.runtime.columns.logical import Record
from wireloom.spec.documents import Place
from wireloom.spec.language import RootDocument


@dataclass(frozen=True, slots=True)
class Entry:
    """A root before its logical type is known."""

    name: str
    place: Place
    document: RootDocument
    type: Type


def root_types(draft: Draft, outlines: Outlines) -> tuple[Entry, ...]:
    """The roots with their wire types."""
    around = Surroundings(Scope(draft, outlines), draft.encoding)
    content = draft.content
    is_whole = draft.document.dropped is None
    if is_whole and ((content.root is None) == (content.roots is None) or content.roots == {}):
        message = "the format has no root" if content.root is None else "the format has `root` and `roots`"
        hint = "give `root: TYPE`, or `roots` with several"
        draft.reports_entry(draft.place / "format", "missing-root", message, hint)
    if content.root is None and content.rows is not None:
        message, hint = "`rows` beside `roots`", "write it in that root"
        draft.reports_entry(draft.place / "rows", "conflicting-keys", message, hint)
    if content.root is not None:
        place = draft.place / "root"
        document = RootDocument(type=content.root, doc="", rows=content.rows)
        return (Entry("record", place, document, type_of_text(around, place, content.root)),)
    found = ((name, draft.place / "roots" / name, each) for name, each in (content.roots or {}).items())
    return tuple(Entry(name, at, each, type_of_text(around, at / "type", each.type)) for name, at, each in found)


def roots(
    draft: Draft, entries: tuple[Entry, ...], named: Mapping[str, Type], schema: Schema | None
) -> tuple[Root, ...]:
    """The roots with their logical types."""
    default = _row_type(entries[0].type) if entries else None
    found = (_root(draft, entry, named, schema, default) for entry in entries)
    return tuple(root for root in found if root is not None)


def _root(
    draft: Draft, entry: Entry, named: Mapping[str, Type], schema: Schema | None, default: Type | None
) -> Root | None:
    row = _row_type(entry.type)
    try:
        found = shape(row, named)
    except ColumnsClash as clash:
        message = f"{clash.name or 'a column'} {clash.what}"
        draft.reports_entry(_declared(draft, clash.name) or entry.place, clash.id, message, clash.hint)
        return None
    record = found.type
    if isinstance(record, Record) and found.nullable:
        what = entry.name if row is entry.type else f"an element of {entry.name}"
        hint = "a record must be a struct: put the nullable value into a field"
        draft.reports_entry(entry.place, "wrong-shape", f"{what} may be null", hint)
        return None
    if not isinstance(record, Record):
        message = f"{entry.name} cannot be a record"
        hint = "a root must be a struct, a union of structs, or a list of them"
        draft.reports_entry(entry.place, "wrong-shape", message, hint)
        return None
    columns = _columns(schema, row, row == default)
    lacking: tuple[str, ...] = ()
    if columns is not None:
        lacking = tuple(unplaced(record, columns))
        wrong = list(misfits(record, columns))
        for path, message, hint in wrong:
            place = _declared(draft, path) or draft.place / "schema"
            draft.reports_entry(place, "schema-misfit", message, hint)
        fitting = columns if wrong else fitted(record, columns)
        record = fitting if isinstance(fitting, Record) else columns
    rows = _rows(draft, entry, record)
    return Root(entry.name, entry.type, record, isinstance(entry.type, Array), rows, entry.document.doc, lacking)


def _row_type(type: Type) -> Type:
    return type.element if isinstance(type, Array) and not type.entries else type


def _columns(schema: Schema | None, row: Type, is_default: bool) -> Record | None:  # noqa: FBT001 - a fact about the row
    """The schema's record for a root: the whole schema for the default root, its type of the same name for another."""
    if schema is None or is_default:
        return schema.record if schema else None
    return schema.types.get(row.name) if isinstance(row, Reference) else None


def _declared(draft: Draft, path: str) -> Place | None:
    """The field that a logical path comes from, if a struct declares one with its last name."""
    name = path.replace("[]", "").split(".")[-1]
    for item in draft.entries:
        full, key = item[2].full, item[2].key
        if name in (full.as_ or key, *(full.bits or ())):
            return draft.place_of(*item)
    return None


def _rows(draft: Draft, entry: Entry, record: Record) -> tuple[str, ...]:
    """The path of the list whose elements become rows."""
    written = entry.document.rows
    if written is None:
        return ()
    path = tuple(written.split("."))
    place = draft.place / "rows" if draft.content.root is not None else entry.place / "rows"
    type: logical.LogicalType = record
    for step in path:
        fields = {field.name: field.type for field in type.fields} if isinstance(type, Record) else {}
        if step not in fields:
            draft.reports(place, "unknown-field", f"the record has no field {step}", nearest(step, fields))
            return ()
        type = fields[step]
    if not (isinstance(type, logical.List) and isinstance(type.element, Record)):
        draft.reports(place, "wrong-shape", f"{written} is not a list of structs", "`rows` must name a list of structs")
    return path

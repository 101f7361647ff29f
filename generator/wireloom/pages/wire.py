"""The wire types of a format: one section for each, in the order of the spec.

A struct has a table of its fields in wire order, including hidden ones, then its tables of values, and its checks. A
choice has a table of its cases.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import assert_never

from wireloom.emit.frames import described
from wireloom.encodings import Form
from wireloom.escapes import code_span, inline
from wireloom.explain import write_plan
from wireloom.expr.text import text_of
from wireloom.model import types
from wireloom.model.format import Format
from wireloom.model.traversal import reached
from wireloom.model.types import Bit, Field, Struct, Type
from wireloom.pages.choices import choice, field_choice
from wireloom.pages.forms import field_form, link
from wireloom.pages.markdown import blocks, table
from wireloom.pages.offsets import Offset, offset_text, offsets
from wireloom.pages.rules import bit_rules, rules, value_rules, value_tables
from wireloom.pages.steps import checks, versions
from wireloom.pages.visible_records import shown_records
from wireloom.resolve.facts.sizes import from_end
from wireloom.runtime.columns.logical import Record

_PLACES = {Form.SEQUENCE: "offset", Form.ARRAY: "place", Form.OBJECT: "member", Form.MESSAGE: "tag"}
_PLAIN_SOURCES = ("the value", "the value, 0 if null", "its bits", "not written", "zeros")
"""Sources of written values that need no mention."""
_LAID_OUT = ("after its length", "after its count", "packed by", "as ")
"""Parts of a source that describe the wire form, which has its own column."""
_LONG = 120
"""A form with more characters is shown only once."""


@dataclass(frozen=True, slots=True)
class Row:
    """A field, some of its bits, or a mark, as Markdown cells."""

    place: str
    name: str
    form: str
    rules: str = ""
    written: str = ""
    when: str = ""
    meaning: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """The section of a named type."""

    name: str
    type: Type
    body: str


def sections(format: Format) -> Iterator[Section]:
    """The sections of the named types that the roots use."""
    found = set[str]().union(*({*reached(root.type, format.named), *_own(root.type)} for root in format.roots))
    plans = {part.name: part for part in write_plan.plans(format)}
    structs = _Structs(format, plans, shown_records(format), {})
    for name, type in format.types:
        if name in found:
            body = structs.body(type) if isinstance(type, Struct) else choice(type, format.encoding)
            yield Section(name, type, body)


def _own(type: Type) -> Iterator[str]:
    if isinstance(type, types.Reference):
        yield type.name


# --- structs ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Structs:
    format: Format
    plans: Mapping[str, write_plan.Part]
    records: Mapping[str, Record]
    long: dict[str, tuple[str, str]]

    def body(self, struct: Struct) -> str:
        """The struct's form, fields, values, choices and checks."""
        rows = list(self.rows(struct))
        head = (_PLACES[struct.form], "field", "on the wire", "values", "written", "if", "meaning")
        cells = [(row.place, row.name, row.form, row.rules, row.written, row.when, row.meaning) for row in rows]
        return blocks(
            versions(struct),
            table(head, cells),
            *value_tables(struct),
            *(field_choice(struct, field) for field in struct.fields if field.on_wire),
            checks(struct),
        )

    def rows(self, struct: Struct) -> Iterator[Row]:
        """The rows of the struct's table."""
        begins = offsets(struct, self.format) if struct.form is Form.SEQUENCE else {}
        before, place = "", 0
        for step in struct.steps:
            if isinstance(step, types.Mark) and begins.get(step.name):
                yield Row(
                    offset_text(begins[step.name], before), f"*{code_span(step.name)}*", "*a name for this offset*"
                )
            if not isinstance(step, Field):
                continue
            yield from self._field(struct, step, _place(struct, step, begins, before, place))
            before = step.wire_name if step.on_wire else before
            place += step.on_wire

    def _field(self, struct: Struct, field: Field, place: str) -> Iterator[Row]:
        source, when = self._source(struct, field)
        name = _named(field, struct.form)
        if not field.on_wire:
            how = "counted by readers" if field.compute is None else f"computed: {code_span(text_of(field.compute))}"
            yield Row("-", name, how, "; ".join(value_rules(field)), source, when, self._meaning(struct, field))
            return
        form = self._form(struct, field)
        if field.shared:
            name, source = "(bits)", ""
        yield Row(place, name, form, "; ".join(rules(struct, field)), source, when, self._meaning(struct, field))
        for bit in sorted(field.bits, key=lambda bit: bit.low, reverse=_high_first(field)):
            yield self._bit(struct, bit)

    def _form(self, struct: Struct, field: Field) -> str:
        """How the field is written; if that is long and an earlier field has the same form, a link to that field."""
        form = field_form(field, struct.encoding)
        if len(form) <= _LONG:
            return form
        place = self.long.setdefault(form, (struct.name, field.wire_name))
        return form if place == (struct.name, field.wire_name) else f"as {code_span(place[1])} of {link(place[0])}"

    def _source(self, struct: Struct, field: Field) -> tuple[str, str]:
        """What a builder writes, and when."""
        name = field.wire_name if field.hidden else field.name
        row = self._planned(struct, name, 0)
        if row is None or field.shared:
            return "", ""
        return _sourced(row.source) if field.checksum is None else "checksum", _when(field)

    def _planned(self, struct: Struct, name: str, level: int) -> write_plan.Row | None:
        rows = self.plans[struct.name].rows if struct.name in self.plans else ()
        return next((row for row in rows if row.name == name and row.level == level), None) or next(
            (row for row in rows if row.name == name), None
        )

    def _bit(self, struct: Struct, bit: Bit) -> Row:
        row = self._planned(struct, bit.name if bit.hidden else bit.title, 1)
        where = f"bit {bit.low}" if bit.width == 1 else f"bits {bit.low}-{bit.low + bit.width - 1}"
        sign = "signed (two's complement), " if bit.signed else ""
        form = "flag" if bit.flag else f"{sign}{bit.width} bit{'' if bit.width == 1 else 's'}"
        name = f"{code_span(bit.name)}{' (hidden)' if bit.hidden else _as(bit.title, bit.name)}"
        source = "" if row is None else _sourced(row.source)
        meaning = described(bit.doc, bit.unit) or self._shown(struct, bit.title)
        return Row(where, name, form, "; ".join(bit_rules(bit)), source, "", inline(meaning))

    def _meaning(self, struct: Struct, field: Field) -> str:
        """The documentation of a field, or of its column."""
        own = described(field.doc, field.unit)
        return inline(own if field.doc or field.hidden else self._shown(struct, field.name) or own)

    def _shown(self, struct: Struct, name: str) -> str:
        record = self.records.get(struct.name)
        member = next((each for each in record.fields if each.name == name), None) if record else None
        return described(member.doc, member.unit) if member else ""


def _place(struct: Struct, field: Field, begins: Mapping[str, tuple[Offset, ...]], before: str, place: int) -> str:
    """The position of a field in its struct."""
    match struct.form:
        case Form.SEQUENCE if field.base:
            return f"{code_span(field.base)} + {code_span(text_of(field.at))}" if field.at else code_span(field.base)
        case Form.SEQUENCE if (end := from_end(field)) is not None:
            return f"{-end} before the end"
        case Form.SEQUENCE:
            return offset_text(begins.get(field.wire_name, ()), before)
        case Form.ARRAY:
            return str(place)
        case Form.OBJECT:
            return "its own members" if field.inline else code_span(field.key)
        case Form.MESSAGE:
            return str(field.tag)
        case _:
            assert_never(struct.form)


def _named(field: Field, form: Form) -> str:
    is_plain = field.on_wire and not field.inline and field.key == field.wire_name == field.name
    if form is Form.OBJECT and is_plain:
        return "(hidden)" if field.hidden else "(flat)" if field.flatten else ""
    if field.flatten:
        return f"{code_span(field.wire_name)} (flat)"
    return f"{code_span(field.wire_name)}{' (hidden)' if field.hidden else _as(field.name, field.wire_name)}"


def _as(name: str, wire_name: str) -> str:
    return "" if name == wire_name else f" (read as {code_span(name)})"


def _high_first(field: Field) -> bool:
    """Whether bits are listed from the highest."""
    return not isinstance(field.type, types.Integer) or field.type.form is not types.NumberForm.LITTLE


def _sourced(source: str) -> str:
    if source.startswith(("constant", "the members of", "not written")):
        return ""
    lead, derived, expression = source.partition("derived: ")
    source = ", ".join(each for each in lead.split(", ") if not each.startswith(_LAID_OUT)) + derived + expression
    return "" if source in _PLAIN_SOURCES else _expressed(source)


def _expressed(source: str) -> str:
    """A source of the write plan, with its expression as code."""
    lead, derived, expression = source.partition("derived: ")
    if not derived:
        return inline(source)
    expression, late, _ = expression.partition(", known after layout")
    late_note = " (once all offsets are known)" if late else ""
    return f"{code_span(expression)}{late_note}{', unless the value says it' if lead.startswith('the value') else ''}"


def _when(field: Field) -> str:
    said = [] if field.when is None else [code_span(text_of(field.when))]
    said += [f"since version {code_span(field.since)}"] if field.since else []
    said += [f"until version {code_span(field.until)}"] if field.until else []
    return ", ".join(said)

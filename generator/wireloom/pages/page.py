"""The page of a format: parameters, wire types, columns of its roots, error codes and examples."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wireloom.emit.frames import described, framed
from wireloom.emit.jsonschema.beyond import Gap, gaps
from wireloom.escapes import cell, code_block, code_span, inline, paragraphs
from wireloom.expr.functions import FUNCTIONS
from wireloom.model import types
from wireloom.model.format import Format, Parameter, Root
from wireloom.model.versions import Revision, revisions
from wireloom.pages.algorithms import algorithms, ranges
from wireloom.pages.columns import columns, ddl
from wireloom.pages.examples import Traces, examples
from wireloom.pages.forms import NUMBERS, type_form
from wireloom.pages.markdown import blocks, table, text
from wireloom.pages.pictures.diagrams import picture
from wireloom.pages.wire import Section, sections
from wireloom.runtime.parameters import parameter_text
from wireloom.runtime.streams import framing

_OF_DOCUMENTS = (
    "`schema.json` describes documents. It takes what decoders take and refuses what they refuse, except for:"
)
_OF_RENDERINGS = (
    "`schema.json` describes the canonical JSON rendering of records, as the column JSON above tells it. Each record "
    "fits. Some rules that compare several fields, and sizes that depend on others, are not in it."
)
_READING = (
    "A sender writes the value of each field, unless the column *written* says what to compute it from. "
    "Hidden fields are on the wire, and readers do not see them. The fields of a *flat* field are read as fields of "
    "the type around it. Offsets count from the start of the type; *next* is directly after the field before. "
    "Bit 0 is the lowest bit of a number; bits without a row are written as 0. "
    "Expressions read as in Python, with `c ? a : b` for a choice."
)
_LONGEST = 400
"""Most characters of a picture's text alternative."""
_POSITIONS = {
    "here": "the offset reached, counted from the start of the type",
    "size": "the bytes of the type's region; of a root those of the record",
    "index": "the place in the list around, from 0",
}


@dataclass(frozen=True, slots=True)
class Titled:
    """A section of the page, with its title."""

    name: str
    body: str


def files(format: Format, traces: Traces) -> dict[str, str]:
    """The page of a format, `<format>.md`, and the pictures of its types in a folder beside it."""
    found = list(sections(format))
    drawn = {each.name: made for each in found if (made := picture(each.name, each.type, format)) is not None}
    names = {name: f"{format.name}/{name}.svg" for name in drawn}
    links = {name: f"![{_alternative(each.words)}]({names[name]})" for name, each in drawn.items()}
    page = _page(format, traces, found, links)
    return {f"{format.name}.md": page, **{names[name]: each.svg for name, each in drawn.items()}}


def _alternative(words: str) -> str:
    """The text alternative of a picture; the table below it has all details."""
    short = words if len(words) <= _LONGEST else f"{words[:_LONGEST].rpartition(', ')[0]}, and more"
    return inline(short).replace("]", "\\]")


def _page(format: Format, traces: Traces, found: Sequence[Section], pictures: Mapping[str, str]) -> str:
    said = "\n".join(each.body for each in found)
    return framed(
        __file__,
        "page.md.jinja",
        format,
        id=format.name,
        title=text(format.title),
        doc=paragraphs(format.doc),
        origin=cell(text(format.source)),
        encoding=format.encoding.name,
        framing=cell(text(format.framing.text)),
        parameters=table(("parameter", "values", "default", "meaning"), map(_parameter, format.parameters)),
        versions=table(("version", "told by", "new", "gone"), map(_revision, revisions(format))),
        wire=blocks(_framing(format), _orders(format), _limits(format), _roots(format)),
        sections=[Titled(each.name, _section(each, pictures.get(each.name, ""))) for each in found],
        checksums=algorithms(format),
        ranges=ranges(format),
        legend=_legend(said),
        roots=[Titled(root.name, _columns(root)) for root in format.roots],
        errors=table(("code", "meaning"), ((code_span(error.code), text(error.doc)) for error in format.errors)),
        examples=examples(format.examples, traces) or "None yet.",
        schema=_schema(format),
    )


def _revision(revision: Revision) -> Sequence[str]:
    new, gone = (", ".join(map(code_span, each)) for each in (revision.new, revision.gone))
    return code_span(revision.name), inline(revision.told), new, gone


def _section(section: Section, picture: str) -> str:
    doc = section.type.doc if isinstance(section.type, types.Struct) else ""
    return blocks(paragraphs(doc), picture, section.body)


# --- the wire --------------------------------------------------------------------------------------------------------


def _framing(format: Format) -> str:
    match format.framing:
        case framing.Headed(header=header, gives=gives, records=records):
            told = ", ".join(f"{code_span(name)} from its {code_span(field)}" for name, field in gives)
            after = f" It sets the parameters {told}." if told else ""
            return f"A record {code_span(header)} comes once, before all others.{after} {_bare(records)}"
        case bare:
            return _bare(bare)


def _bare(bare: framing.Bare) -> str:
    """The framing of records, in words."""
    name = code_span(bare.text)
    words: Mapping[str, str] = {
        "none": "One record is the whole input.",
        "concatenated": "Records follow one another without anything between; each tells its own end.",
        "lines": "One record a line, ended by a line feed.",
        "array": "Records are the elements of one JSON array.",
        "cobs": "Each record is written in COBS and ended by a zero byte.",
    }
    if bare.text in words:
        return words[bare.text]
    if isinstance(bare, framing.Prefixed):
        return f"The size of each record in bytes comes before it (framing {name})."
    if isinstance(bare, framing.Sized):
        return f"Each record has {bare.size} bytes."
    return f"Each record is ended by a delimiter (framing {name})."


def _orders(format: Format) -> str:
    """How numbers and values are written, in the format's encoding and in that of inner messages."""
    if not format.encoding.laid_out:
        return f"{format.encoding.doc} {_other_members(format)}" if format.encoding.text else format.encoding.doc
    within = {each.encoding for _, each in format.types if isinstance(each, types.Struct) and each.encoding.numbered}
    order = format.byte_order
    said = (
        f"{order.fixed}-endian"
        if order.parameter is None
        else f"in the order that the parameter {code_span(order.parameter)} names"
    )
    words = f"Numbers of several bytes are {said}, unless their row says otherwise."
    return blocks(words, *sorted(each.doc for each in within))


def _other_members(format: Format) -> str:
    """What decoders do with unknown members."""
    if format.unknown_members is None:
        return "Readers refuse members that a type does not name."
    parameter = code_span(format.unknown_members)
    return f"The parameter {parameter} says whether readers ignore members that a type does not name."


def _limits(format: Format) -> str:
    said = [f"A record has at most {_limit(format.size)} bytes."] if format.size is not None else []
    if any("variant" in ddl(root.logical) for root in format.roots):
        said.append(f"Values of any type are nested at most {_limit(format.depth)} deep.")
    return " ".join(said)


def _limit(limit: int | str) -> str:
    return str(limit) if isinstance(limit, int) else f"{code_span(limit)} (a parameter)"


def _roots(format: Format) -> str:
    rows = [(code_span(root.name), type_form(root.type, format.encoding), text(root.doc)) for root in format.roots]
    return table(("record", "type", "meaning"), rows)


def _legend(said: str) -> str:
    """Explanations that the tables need: offsets, functions and number formats."""
    terms = [(code_span(name), words) for name, words in _POSITIONS.items() if re.search(rf"`[^`|]*\b{name}\b", said)]
    terms += [(code_span(name), text(each.doc)) for name, each in FUNCTIONS.items() if re.search(rf"\b{name}\(", said)]
    terms += [(name, words) for name, words in NUMBERS.values() if name in said]
    return blocks(_READING, table(("term", "meaning"), terms))


# --- the rest --------------------------------------------------------------------------------------------------------


def _columns(root: Root) -> str:
    rows = (
        f"The elements of {code_span('.'.join(root.rows))} become rows of their own with `--explode`."
        if root.rows
        else ""
    )
    statement = blocks("Spark DDL:", code_block("sql", ddl(root.logical)))
    return blocks(paragraphs(root.doc), rows, columns(root.logical), statement)


def _schema(format: Format) -> str:
    if not format.encoding.text:
        return _OF_RENDERINGS
    return blocks(
        _OF_DOCUMENTS, table(("the JSON Schema does not say", "of", "decoders then give"), map(_gap, gaps(format)))
    )


def _gap(gap: Gap) -> Sequence[str]:
    codes = "any code" if gap.codes is None else ", ".join(map(code_span, gap.codes))
    return gap.what, ", ".join(map(code_span, gap.fields)), codes


def _parameter(parameter: Parameter) -> Sequence[str]:
    values = ", ".join(map(code_span, parameter.options)) or parameter.kind.value
    default = code_span(parameter_text(parameter.default))
    return code_span(parameter.name), values, default, inline(described(parameter.doc, parameter.unit))

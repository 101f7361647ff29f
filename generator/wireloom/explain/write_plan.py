"""Describes how `build` and `encode` write a format: the source of each field, and what decides each choice.

A plan is a list of parts: one for each struct and each named choice that the roots use. A part has a row for each
field, and a choice for each place where a record may have one of several types. Only `plans` knows the model; code that
shows a plan sees parts alone.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from wireloom.expr.ast import Expression, Literal
from wireloom.expr.text import text_of
from wireloom.model import types
from wireloom.model.format import Format
from wireloom.model.traversal import parts, reached
from wireloom.model.types import Field, Struct, Type
from wireloom.resolve.facts.decisions import Decision, Decisions
from wireloom.runtime.columns.logical import Named

_LATER = "known after layout"
_DECIDED = {Decision.VALUE: " (the value decides)", Decision.PLACES: " (the value decides, places must agree)"}
Late = Mapping[int, bool]
"""For expressions, by their `id`: whether their value is known only after layout."""


@dataclass(frozen=True, slots=True)
class Row:
    """A field, or a bit of one (one level deeper): the source of the written value, and when it is present."""

    name: str
    source: str
    when: str = ""
    level: int = 0


@dataclass(frozen=True, slots=True)
class Choice:
    """A choice between types: what decides, and the cases, each with its type."""

    name: str  # the field; empty for the part itself
    decision: str
    cases: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Part:
    """A struct or a named choice."""

    name: str
    rows: tuple[Row, ...]
    choices: tuple[Choice, ...]


def plans(format: Format) -> Iterator[Part]:
    """The parts that the roots of a format use, in the order of the spec."""
    named, decisions = dict(format.types), Decisions(format.named)
    for root in format.roots:
        yield from (Part(f"root {root.name}", (), (each,)) for each in _choices("", root.type))
    found = set[str]().union(*({*reached(root.type, named), *_names(root.type)} for root in format.roots))
    for name, type in format.types:
        if name in found and isinstance(type, Struct):
            choices = [choice for field in type.fields for choice in _choices(field.name, field.type)]
            yield Part(name, tuple(_rows(type, decisions)), (*_versions(type), *choices))
        elif name in found and (own := tuple(_choices("", type))):
            yield Part(name, (), own)


def _names(type: Type) -> Iterator[str]:
    if isinstance(type, types.Reference):
        yield type.name


# --- sources ---------------------------------------------------------------------------------------------------------


def _rows(struct: Struct, decisions: Decisions) -> Iterator[Row]:
    for field in struct.fields:
        late = {id(each): decisions.is_late(struct, each) for each in _derives(field)}
        if not field.shared:
            name = field.wire_name if field.hidden else field.name
            yield Row(name, _source(field, late), _condition(field, decisions.there(struct, field)))
        yield from (
            Row(bit.name if bit.hidden else bit.title, _bit(bit, field, late), level=not field.shared)
            for bit in field.bits
        )


def _derives(field: Field) -> Iterator[Expression]:
    derives = (field.derive, *(bit.derive for bit in field.bits))
    yield from (each for each in derives if each is not None)


def _condition(field: Field, there: Decision) -> str:
    """When a field is present."""
    said = [] if field.when is None else [text_of(field.when) + _DECIDED.get(there, "")]
    said += [f"since {field.since}"] if field.since else []
    said += [f"until {field.until}"] if field.until else []
    return ", ".join(said)


def _source(field: Field, late: Late) -> str:
    """The source of the written value."""
    match field:
        case Field(on_wire=False, meaning=types.Meaning(shown=Named(raw=raw))) if raw:
            return f"gives {raw} if that is missing"
        case Field(on_wire=False):
            return "not written" if field.derive is None else f"not written, {_expression(field.derive, late)}"
        case Field(flatten=True):
            return f"the members of {type_name(field.type)}"
        case Field(checksum=types.Checksum(algorithm=algorithm, start=start, end=end)):
            return f"checksum {algorithm} over {text_of(start)} .. {text_of(end)}, {_LATER}"
        case Field(table=True):
            return "the entries that fields refer to"
        case _ if field.const is not None:
            return f"constant {text_of(Literal(field.const, field.notation))}"  # type: ignore[arg-type]
        case _ if field.derive is not None:
            return _derived(field.derive, late, hidden=field.hidden)
        case Field(hidden=True, bits=(_, *_)):
            return "its bits"
        case Field(hidden=True):
            return "zeros" if isinstance(field.type, types.Bytes) and field.type.size is not None else "nothing"
        case _:
            return _given(field)


def _given(field: Field) -> str:
    """The value of a field: how it is wrapped, and what is written if it is missing."""
    said = ["the value", *_amounts(field)]
    if field.has_default:
        default = text_of(Literal(field.default))  # type: ignore[arg-type]
        said.append(f"left out if {default}")
    elif field.presence is types.Presence.OPTIONAL:
        said.append("left out if null")
    elif field.meaning is not None and field.meaning.null is not None:
        said.append(f"{text_of(Literal(field.meaning.null))} if null")  # type: ignore[arg-type]
    return ", ".join(said)


def _amounts(field: Field) -> Iterator[str]:
    type = types.not_null(field.type)
    size = type.size if isinstance(type, types.Text | types.Bytes) else None
    count = type.count if isinstance(type, types.Array) else None
    if isinstance(size, types.Prefix) or isinstance(field.size, types.Prefix):
        yield "after its length"
    if isinstance(count, types.Prefix):
        yield "after its count"
    if field.packing is not None:
        codecs = dict.fromkeys(codec for _, codec in field.packing.cases)
        by = "" if field.packing.tag is None else f", as {text_of(field.packing.tag)} says"
        yield f"packed by {' or '.join(codecs)}{by}"


def _bit(bit: types.Bit, field: Field, late: Late) -> str:
    if bit.derive is not None:
        return _derived(bit.derive, late, hidden=bit.hidden)
    return "the value" if field.shared else "the value, 0 if null"


def _derived(derive: Expression, late: Late, *, hidden: bool) -> str:
    """A derived value. For a visible field, it is used only if the value is not given."""
    if isinstance(derive, Literal):
        return f"constant {text_of(derive)}"
    return f"{'' if hidden else 'the value, else '}{_expression(derive, late)}"


def _expression(derive: Expression, late: Late) -> str:
    return f"derived: {text_of(derive)}{f', {_LATER}' if late[id(derive)] else ''}"


# --- decisions -------------------------------------------------------------------------------------------------------


def _choices(name: str, type: Type) -> Iterator[Choice]:
    """The choices within an unnamed type."""
    match type:
        case types.Select(tag=tag, cases=cases):
            said = [(_values(case.values, type.notation), _case(case.type)) for case in cases]
            yield Choice(name, _tagged(tag), tuple(said))
        case types.OneOf(alternatives=alternatives):
            yield Choice(
                name, "by the kind of the value", tuple((each.name, type_name(each.type)) for each in alternatives)
            )
        case types.Attempt(trials=trials):
            yield Choice(name, _tried(type), tuple(_trial(each) for each in trials))
        case _:
            pass
    for part in parts(type):
        yield from _choices(name, part)


def _tagged(tag: types.FieldTag | types.PeekTag | types.MemberTag) -> str:
    match tag:
        case types.FieldTag(expression):
            return f"by {text_of(expression)}"
        case types.PeekTag():
            return "the first case that takes the value, by its constants, words and members; its first bytes say so"
        case types.MemberTag(member, presence=True):
            return f"the first case that takes the value; it must have the member {member} where the key says so"
        case types.MemberTag(member):
            return f"the first case that takes the value; its member {member} must select it again"
        case _:
            assert_never(tag)


def _tried(attempt: types.Attempt) -> str:
    first = "the first that takes the value, by its constants, words and members"
    return f"by {attempt.kind_field}, else {first}" if attempt.kind_field else first


def _trial(trial: types.Trial) -> tuple[str, str]:
    when = "" if trial.build_when is None else f", if {text_of(trial.build_when)}"
    return trial.name, f"{type_name(trial.type)}{when}"


def _versions(struct: Struct) -> Iterator[Choice]:
    if not struct.versions:
        return
    by_arity = any(version.arity is not None for version in struct.versions)
    newest = "the version that a parameter names, else the newest with a place for every member of the value"
    said = [(each.name, f"arity {each.arity}" if each.when is None else text_of(each.when)) for each in struct.versions]
    yield Choice("", newest if by_arity else "the version whose condition holds", tuple(said))


def _values(values: Sequence[types.Scalar], notation: str) -> str:
    literals = [text_of(Literal(value, notation)) for value in values]  # type: ignore[arg-type]
    return ", ".join(literals) or "otherwise"


def _case(type: Type | types.Refusal) -> str:
    return f"refused: {type.code}" if isinstance(type, types.Refusal) else type_name(type)


_PLAIN: Mapping[type, str] = {
    types.Float: "float",
    types.Boolean: "bool",
    types.Null: "nil",
    types.Text: "str",
    types.Bytes: "bytes",
    types.JsonText: "json",
    types.Extension: "ext",
    types.OneOf: "a choice",
    types.Select: "a choice",
    types.Attempt: "a choice",
}


def type_name(type: Type) -> str:
    """A short text for a type."""
    match type:
        case types.Reference(name) | Struct(name=name):
            return name
        case types.Nullable(inner):
            return f"{type_name(inner)}?"
        case types.Array(element):
            return f"list({type_name(element)})"
        case types.Map(key, value):
            return f"map({type_name(key)}, {type_name(value)})"
        case types.Integer(bits=bits, signed=signed):
            return f"{'' if signed else 'u'}int{bits}"
        case _:
            return _PLAIN[type.__class__]


# --- lines -----------------------------------------------------------------------------------------------------------


def lines(part: Part) -> Iterator[str]:
    """The lines of a part, with aligned columns."""
    yield part.name
    heads = [f"{'  ' * row.level}{row.name}" for row in part.rows]
    widths = [max(map(len, column), default=0) for column in (heads, [row.source for row in part.rows if row.when])]
    for head, row in zip(heads, part.rows, strict=True):
        yield f"  {head:{widths[0]}}  {f'{row.source:{widths[1]}}  when {row.when}' if row.when else row.source}"
    for choice in part.choices:
        yield f"  {f'{choice.name} is ' if choice.name else ''}one of {len(choice.cases)}, {choice.decision}"
        width = max((len(key) for key, _ in choice.cases), default=0)
        yield from (f"    {key:{width}}  {leads}" for key, leads in choice.cases)

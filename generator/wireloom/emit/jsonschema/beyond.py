"""List the rules of a format that decoders check but the JSON Schema of its documents cannot express.

Each gap is a row of a table on the format's page, with the error codes that decoders report. If a decoder refuses a
document that the schema accepts, the error has one of these codes. The schema never refuses a document that decoders
accept.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from wireloom.emit.jsonschema.documents import Documents
from wireloom.emit.jsonschema.members import Members
from wireloom.emit.jsonschema.objects import undecided
from wireloom.encodings import Form
from wireloom.escapes import code_span
from wireloom.expr import ast
from wireloom.expr.ast import Binary, Call, Expression, Literal, Unary
from wireloom.expr.extents import Extents, extent
from wireloom.expr.text import text_of
from wireloom.model.extents import field_extents, may_misfit
from wireloom.model.format import Format
from wireloom.model.presence import presence_condition
from wireloom.model.traversal import bare, expands, makes_texts, parts, reads_again, within
from wireloom.model.types import (
    Amount,
    Array,
    Attempt,
    Bytes,
    Check,
    FieldTag,
    Float,
    Integer,
    JsonText,
    Map,
    OneOf,
    Reference,
    Salvage,
    Select,
    Struct,
    Type,
    not_null,
    stated,
)

ABSENCE = ("missing_key", "unexpected_property", "bad_arity")


@dataclass(frozen=True, slots=True)
class Gap:
    """A rule that the schema lacks: its description (Markdown), the fields, and the decoders' codes (None: any)."""

    what: str
    fields: tuple[str, ...] = ()
    codes: tuple[str, ...] | None = ()


@dataclass(frozen=True, slots=True)
class _Place:
    """A type and its location; `direct` if it is the type of a field itself."""

    type: Type
    path: str
    direct: bool = False


def gaps(format: Format) -> tuple[Gap, ...]:
    """All rules that the schema of a format of JSON documents lacks."""
    places = tuple(_places(format))
    found = [*_text(format, places), *_limits(format, places), *_rules(format, places), *_settings(format)]
    return tuple(dict.fromkeys(found))


# --- walking -------------------------------------------------------------------------------------------------------


def _places(format: Format) -> Iterator[_Place]:
    """Every type that a record is made of, once."""
    seen: set[tuple[str, bool]] = set()
    pending = [_Place(root.type, "") for root in reversed(format.roots)]
    while pending:
        place = pending.pop()
        type = place.type
        if isinstance(type, Reference):
            if (type.name, place.direct) not in seen:
                seen.add((type.name, place.direct))
                pending.append(_Place(format.type(type.name), type.name, place.direct))
            continue
        yield place
        if not _is_body(type):
            pending += reversed(list(_inside(place)))


def _is_body(type: Type) -> bool:
    """Whether documents hold the type as an encoded string, whose content the schema does not describe."""
    return isinstance(type, Struct) and not type.encoding.text


def _inside(place: _Place) -> Iterator[_Place]:
    match place.type:
        case Struct() as struct:
            for field in struct.fields:
                if field.on_wire:
                    yield _Place(field.type, f"{struct.name}.{field.wire_name}", direct=True)
        case type:
            yield from (_Place(part, place.path) for part in parts(type))


def _where(places: Iterable[_Place]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(place.path for place in places if place.path))


# --- the text ------------------------------------------------------------------------------------------------------


def _text(format: Format, places: Sequence[_Place]) -> Iterator[Gap]:
    """Rules about the JSON text, which is parsed before the schema is applied."""
    unread = ("json_syntax", "truncated", "trailing_bytes", "invalid_utf8", "json_nonfinite")
    yield Gap("Text that is no JSON, lone surrogates in it, and numbers beyond a double", codes=unread)
    if any(isinstance(place.type, Struct | Map | JsonText) for place in places):
        yield Gap("A member that is there twice", codes=("duplicate_key",))
    if any(isinstance(place.type, Integer) for place in places):
        unions = [place.type.code for place in places if isinstance(place.type, OneOf)]
        codes = tuple(dict.fromkeys(("type_mismatch", *unions)))
        yield Gap("An integer that is written with a fraction or an exponent: `1.0`, `1e3`", codes=codes)
    if bodies := tuple(place.type.name for place in places if isinstance(place.type, Struct) and _is_body(place.type)):
        yield Gap("What the bytes say that stand in a string", tuple(dict.fromkeys(bodies)), None)
    both = [place for place in places if isinstance(place.type, OneOf) and _numbers(format, place.type)]
    if both:
        yield Gap("An integer beyond its range where a float may stand, too", _where(both), ("int_range",))


def _numbers(format: Format, union: OneOf) -> bool:
    """Whether integers and floats are both alternatives."""
    types = [bare(each.type, format.named) for each in union.alternatives]
    return any(isinstance(type, Integer) for type in types) and any(isinstance(type, Float) for type in types)


# --- limits --------------------------------------------------------------------------------------------------------


def _limits(format: Format, places: Sequence[_Place]) -> Iterator[Gap]:
    nested = [place for place in places if _open(place.type)]
    if nested:
        yield Gap("How deep open values are nested", _where(nested), ("depth_limit",))
    if format.size is not None:
        yield Gap("How large a record is", codes=("size_limit",))
    if makes_texts(format):
        yield Gap("How many bytes the texts make in all that are computed", codes=("size_limit",))
    elif expands(format):
        yield Gap("How many bytes the entries of tables make in all", codes=("size_limit",))
    if reads_again(format.named, [root.type for root in format.roots]):
        yield Gap("How often alternatives and checksums read the same bytes", codes=("size_limit",))


def _open(type: Type) -> bool:
    return isinstance(type, JsonText) or (isinstance(type, OneOf) and type.open)


# --- rules ---------------------------------------------------------------------------------------------------------


def _rules(format: Format, places: Sequence[_Place]) -> Iterator[Gap]:
    """Rules that span several members or depend on the record's values."""
    checks = {id(step.that): step for place in places for step in _checks(place.type)}
    choices, types = set(_choices(places)), format.named
    for name, members in _objects(format):
        loose, unsaid = undecided(members)
        names = [member.name for member in members.members]
        chosen = {member for member in loose if names.count(member.name) > 1 or (name, member.key[1]) in choices}
        absent = tuple(f"{name}.{member.key[1]}" for member in loose if member not in chosen)
        various = tuple(f"{name}.{member.key[1]}" for member in loose if member in chosen)
        struct = types.get(name)
        is_array = isinstance(struct, Struct) and struct.form is Form.ARRAY
        if absent and is_array:
            yield Gap("Whether an element is there, by its condition, and so what each one behind it is", absent, None)
        elif absent:
            yield Gap("Whether a member is there, by its condition", absent, ABSENCE)
        if various:
            yield Gap("Of which type a member is, by its tag", tuple(dict.fromkeys(various)), None)
        for check in unsaid:
            yield _check_gap(name, checks.get(id(check[-1].expression)))
    if inlined := tuple(_inlined(format, places)):
        yield Gap("Members of a type that stands inline and is neither a struct nor a choice of structs", inlined, None)
    if rests := tuple(_conditioned_rests(places)):
        yield Gap("What the members are that no field names, by a condition", rests, None)
    for place in places:
        yield from _gaps_of(place)


def _choices(places: Sequence[_Place]) -> Iterator[tuple[str, str]]:
    """The fields, each with its struct's name, whose type is selected by a tag."""
    for struct in (place.type for place in places if isinstance(place.type, Struct)):
        for field in struct.fields:
            if isinstance(not_null(field.type), Select):
                yield struct.name, field.wire_name


def _conditioned_rests(places: Sequence[_Place]) -> Iterator[str]:
    """The fields that receive all other members, but only under a condition."""
    for struct in (place.type for place in places if isinstance(place.type, Struct)):
        for field in struct.fields:
            if field.besides is not None and presence_condition(field, struct) is not None:
                yield f"{struct.name}.{field.wire_name}"


def _inlined(format: Format, places: Sequence[_Place]) -> Iterator[str]:
    """The inline fields whose members the schema does not describe."""
    for struct in (place.type for place in places if isinstance(place.type, Struct)):
        for field in struct.fields:
            types = within(field.type, format.named, Select) if field.inline and field.besides is None else ()
            if not all(isinstance(each, Struct | Select) for each in types):
                yield f"{struct.name}.{field.wire_name}"


def _objects(format: Format) -> list[tuple[str, Members]]:
    """The name of each struct that becomes an object, with the object's members."""
    documents = Documents(format)
    for root in format.roots:
        documents.schema(root.type)
    documents.definitions()
    return documents.described


def _checks(type: Type) -> Iterator[Check]:
    if isinstance(type, Struct):
        yield from (step for step in type.steps if isinstance(step, Check))


def _check_gap(name: str, step: Check | None) -> Gap:
    if step is None:
        return Gap("That the tag of a union is one of its cases", (name,), None)
    while_ = f" while {code_span(text_of(step.when))}" if step.when is not None else ""
    return Gap(
        f"{code_span(text_of(step.that))}{while_}", (f"{name}.{step.field}" if step.field else name,), (step.code,)
    )


def _gaps_of(place: _Place) -> Iterator[Gap]:
    """Rules of a single type that the schema lacks."""
    where = (place.path,) if place.path else ()
    match place.type:
        case Array(unique=str(name), salvage=None) as array:
            yield Gap(f"That elements differ in {code_span(name)}", where, (array.unique_code,))
        case Bytes(size=amount, code=code) if (size := _computed(amount)) is not None:
            yield Gap(f"That there are {code_span(text_of(size))} bytes", where, (code,))
        case Struct() as struct:
            yield from _computed_gaps(struct)
        case Array(salvage=Salvage()):
            yield Gap("Elements of a list that keeps those before the first bad one", where, None)
        case Select(tag=FieldTag(expression)) if not place.direct:
            yield Gap(f"Which type {code_span(text_of(expression))} selects", where, None)
        case Attempt():
            yield Gap("Which alternative an error makes way for", where, None)
        case _:
            return


def _computed_gaps(struct: Struct) -> Iterator[Gap]:
    """The schema does not check that computed values fit their types."""
    computed = [(field, field.compute) for field in struct.fields if field.compute is not None]
    known = field_extents(struct, {})
    kinds = (
        ("Numbers that are computed and have no room in their type", "int_range", partial(_is_unbounded, known)),
        ("Values that are computed and are not of their type", "type_mismatch", may_misfit),
    )
    for text, code, may_be in kinds:
        found = [field for field, compute in computed if may_be(compute, field.type)]
        if found:
            codes = dict.fromkeys((code, *(field.code for field in found if field.code)))
            yield Gap(text, tuple(f"{struct.name}.{field.wire_name}" for field in found), tuple(codes))


def _computed(amount: Amount | None) -> Expression | None:
    """The expression of a size that depends on the record; None for a constant size."""
    expression = stated(amount)
    return None if isinstance(expression, Literal) else expression


def _is_unbounded(known: Extents, compute: Expression, type: Type) -> bool:
    """Whether a computed number may exceed the range of its type."""
    type = not_null(type)
    found = extent(compute, known)
    beyond = isinstance(type, Integer) and (found.low < type.minimum or found.high > type.maximum)
    return beyond or _calculates(compute)


def _calculates(expression: Expression) -> bool:
    """Whether an expression calculates: its value may differ from all values it is computed from."""
    match expression:
        case Binary("+" | "-" | "*" | "//" | "%" | "<<" | ">>" | "&" | "|" | "^"):
            return True
        case Unary("-" | "~") | Call("decimal" | "md5" | "int"):
            return True
        case _:
            return any(map(_calculates, ast.parts(expression)))


def _settings(format: Format) -> Iterator[Gap]:
    if format.parameters:
        yield Gap("What parameters change that are not at their defaults")

"""Generate JSON Schemas of JSON documents from the wire types."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as dataclass_field
from typing import assert_never

from wireloom.emit.jsonschema.conditions import Unknown, Value, evaluate, same, seen
from wireloom.emit.jsonschema.constants import NEVER, Schema, one_of, values, written
from wireloom.emit.jsonschema.members import ABSENT, OTHER, SOMETHING, Key, Member, Members, Option, Scope, Scoped
from wireloom.emit.jsonschema.objects import arrays, objects
from wireloom.emit.jsonschema.rendering import binary, described_schema, integer, spelled
from wireloom.emit.jsonschema.scopes import (
    Checks,
    Conditions,
    arities,
    cases,
    chosen,
    exhausted,
    hidden_tag,
    told,
    under,
    version_tag,
)
from wireloom.encodings import Encoding, Form
from wireloom.expr.ast import Expression, Literal
from wireloom.model.format import Format
from wireloom.model.presence import presence_condition
from wireloom.model.traversal import bare, parts, plain, within
from wireloom.model.types import (
    Amount,
    Array,
    Attempt,
    Boolean,
    Bytes,
    Case,
    Check,
    Extension,
    Field,
    Float,
    Held,
    Integer,
    JsonText,
    Map,
    MemberTag,
    Null,
    Nullable,
    OneOf,
    Presence,
    Reference,
    Refusal,
    Salvage,
    Scalar,
    Select,
    Struct,
    Text,
    Type,
)
from wireloom.runtime.values import float32

_SINGLE = 32  # bits of a float that is rounded
_NULL = "null"  # the text of null in JSON that is kept as text


class Documents:
    """Generates the schemas of a format's wire types, and collects the named types that they refer to.

    Parameters have their defaults, except those in `given`.
    """

    def __init__(self, format: Format, given: Mapping[str, Value] | None = None) -> None:
        self.format = format
        self.described: list[tuple[str, Members]] = []  # the objects so far, with the names of their structs
        self._needed: list[str] = []
        settled = {parameter.name: parameter.default for parameter in format.parameters} | dict(given or {})
        self._parameters = {name: seen(value) for name, value in settled.items()}
        order = format.byte_order.parameter
        if order is not None and settled.get(order) == "auto":
            self._parameters[order] = Unknown.SOMETHING  # expressions see the byte order detected for the record
        self._closed = settled.get(format.unknown_members or "", "error") == "error"

    def definitions(self) -> dict[str, object]:
        """The definitions of all named types referred to so far, directly or indirectly, in the order of the spec."""
        done: dict[str, Schema] = {}
        while pending := [name for name in self._needed if name not in done]:
            for name in pending:
                done[name] = self.schema(self.format.type(name))
        return {name: done[name] for name, _ in self.format.types if name in done}

    def schema(self, type: Type) -> Schema:
        """The schema of the JSON form of a wire type."""
        match type:
            case Integer() | Float() | Boolean() | Null() | Text() | Bytes() | JsonText():
                return _scalar(type)
            case Array(salvage=Salvage()):
                return {"type": "array"}  # bad elements are dropped, so elements may be anything
            case Array(element=element, count=count, held=held):
                items = self.schema(element) if held is None else self._checked(element, held)
                return {"type": "array", "items": items, **_counted(_constant(count))}
            case Map(value=value, spelling=spelling):
                names = {} if spelling is None else {"propertyNames": spelled(spelling)}
                return {"type": "object", "additionalProperties": self.schema(value), **names}
            case Nullable(inner):
                return _nullable(self.schema(inner), null=self._takes_null(inner))
            case Reference(name):
                return self._reference(name)
            case OneOf() if self._any(type):
                return {}  # a recursive schema without constraints makes some tools loop
            case OneOf():
                return one_of(self._distinct(parts(type)))
            case Select():
                return self._select(type)
            case Attempt(trials):
                return {"anyOf": [self.schema(trial.type) for trial in trials]}
            case Struct():
                return self._struct(type)
            case Extension():
                raise AssertionError("JSON has no extension values; the resolver refuses them")
            case _:
                assert_never(type)

    def _reference(self, name: str) -> Schema:
        if name not in self._needed:
            self._needed.append(name)
        return {"$ref": f"#/$defs/{name}"}

    def _any(self, union: OneOf) -> bool:
        """Whether a union accepts every JSON value: all scalars, and lists and maps of itself."""
        types = [bare(each.type, self.format.named) for each in union.alternatives]
        scalars = (Boolean, Float, Text)
        lists = [type.element for type in types if isinstance(type, Array) and type == Array(type.element)]
        maps = [type.value for type in types if isinstance(type, Map)]
        inner = [bare(each, self.format.named) == union for each in (*lists, *maps)]
        every = all(any(isinstance(type, one) for type in types) for one in scalars) and self._takes_null(union)
        return every and inner == [True, True]

    def _distinct(self, types: Sequence[Type]) -> list[Schema]:
        """The schemas of the alternatives; integers are left out beside floats, whose schema accepts them."""
        floats = [type for type in types if isinstance(bare(type, self.format.named), Float)]
        kept = [type for type in types if not (floats and isinstance(bare(type, self.format.named), Integer))]
        null = any(map(self._takes_null, types)) and not any(map(self._takes_null, kept))
        return [self.schema(Nullable(type) if null and type in floats else type) for type in kept]

    def _takes_null(self, type: Type) -> bool:
        """Whether null is a value of the type."""
        return bool(self._seen_null(type))

    def _seen_null(self, type: Type) -> tuple[Value, ...]:
        """The values that expressions see for null, such as the text `null` of JSON kept as text."""
        match type:
            case Null() | Nullable():
                return (None,)
            case JsonText("any"):
                return (_NULL,)
            case Reference(name):
                return self._seen_null(self.format.type(name))
            case OneOf() | Select():
                seen = dict.fromkeys(value for each in parts(type) for value in self._seen_null(each))
                return tuple(seen) if len(seen) < 2 else (Unknown.ANYTHING,)
            case _:
                return ()

    # --- unions ----------------------------------------------------------------------------------------------------

    def _select(self, select: Select) -> Schema:
        """The schema of a union: exactly one case matches if a member is the tag, else any of them."""
        schemas = self._cases(select)
        if isinstance(select.tag, MemberTag):
            return one_of(schemas)
        return one_of(schemas, "anyOf")

    def _cases(self, select: Select) -> list[Schema]:
        """The schemas of the cases; a case that is another such union contributes its own cases."""
        return [schema for case in select.cases for schema in self._case(select, case)]

    def _case(self, select: Select, case: Case) -> Iterator[Schema]:
        if isinstance(case.type, Refusal):
            return
        target = plain(case.type, self.format.named)
        inner = self._cases(target) if isinstance(target, Select) else [self.schema(case.type)]
        if isinstance(select.tag, MemberTag):  # only objects have the member
            inner = [schema or {"type": "object"} for schema in inner]
        if not isinstance(select.tag, MemberTag) or (select.tag.presence and {True, False} <= {*case.values}):
            yield from inner
            return
        structs = [each for each in within(target, self.format.named, Select) if isinstance(each, Struct)]
        is_restricted = self._restrict_tag(select.tag, case, structs)
        for schema in inner:
            yield schema if is_restricted else _restricted(schema, select.tag, case)

    def _restrict_tag(self, tag: MemberTag, case: Case, structs: list[Struct]) -> bool:
        """Whether the structs of a case restrict the tag's member themselves."""
        found = [[member for member in self.members(struct).members if member.name == tag.member] for struct in structs]
        if tag.presence and not any(case.values):
            return self._closed and bool(found) and not any(found)
        return bool(found) and all(len(members) == 1 and _restricts_tag(members[0], tag, case) for members in found)

    # --- structs ---------------------------------------------------------------------------------------------------

    def _struct(self, struct: Struct) -> Schema:
        if not struct.encoding.text:
            return described_schema(binary(), struct.doc, "")
        members = self.members(struct)
        self.described.append((struct.name, members))
        body = arrays(members, arities(struct)) if struct.form is Form.ARRAY else objects(members)
        return described_schema(body, struct.doc, "")

    def members(self, struct: Struct) -> Members:
        """The members of a struct's object, including those of inline structs."""
        found = self._collected(struct, (), ())
        closed = self._closed and found.known
        never = [case for name, case in found.tagged if closed and not _is_beside(name, case[-1].scope, found.members)]
        checks = [*found.checks, *((*case, Scoped(Literal(value=False), ())) for case in never)]
        beside = {tag: _is_beside(tag.name, tag.key[0], found.members) for tag in found.tags}
        tags = [replace(tag, narrows=is_beside) for tag, is_beside in beside.items() if is_beside or not closed]
        return Members(
            (*found.members, *tags), tuple(checks), self._parameters, closed, found.rest, found.besides, found.spelled
        )

    def _collected(self, struct: Struct, scope: Scope, conditions: tuple[Scoped, ...]) -> "_Found":
        """The members and checks that a struct adds to the object."""
        whole = _Found(list(version_tag(struct, scope)))
        members, checks = whole.members, whole.checks
        for step in struct.steps:
            match step:
                case Check(that=that, when=when):
                    checks.append((*under(conditions, when, scope), Scoped(that, scope)))
                case Field() if step.counted:
                    pass
                case Field():
                    conditioned = under(conditions, presence_condition(step, struct), scope)
                    type = plain(step.type, self.format.named)
                    declared = list(cases(type, step.type, scope))
                    if step.inline or step.presence is Presence.REQUIRED:
                        checks += exhausted(type, conditioned, scope)
                    if step.compute is not None:
                        members.append(_hidden(step, step.compute, scope, conditioned))
                    elif step.besides is not None:
                        whole.rest, whole.besides = self._rest(type, conditioned), step.besides
                        if isinstance(type, Map) and type.spelling is not None and not conditioned:
                            whole.spelled = spelled(type.spelling)
                    elif step.inline:
                        for place, (case, extra) in enumerate(declared):
                            inside = (*scope, f"{step.wire_name}#{place}")
                            whole.add(self._inline(case, inside, (*conditioned, *extra)))
                    else:
                        made = (self._member(step, case, scope, (*conditioned, *extra)) for case, extra in declared)
                        members += map(_placed, made) if struct.form is Form.ARRAY else made
                case _:
                    pass  # other steps do not affect members
        return whole

    def _rest(self, type: Type, conditions: Conditions) -> Schema:
        """The schema of each member that a map receives; unrestricted if the map is conditional."""
        return {} if conditions or not isinstance(type, Map) else self.schema(type.value)

    def _inline(self, type: Type, scope: Scope, conditions: Conditions) -> "_Found":
        match plain(type, self.format.named):
            case Struct(encoding=Encoding(text=True)) as struct:
                return self._collected(struct, scope, conditions)
            case Select(tag=MemberTag() as tag, cases=cases):
                return self._inline_choice(tag, cases, scope, conditions)
            case _:
                return _Found(known=False)

    def _inline_choice(self, tag: MemberTag, cases: Sequence[Case], scope: Scope, conditions: Conditions) -> "_Found":
        """The members of all cases of an inline union, of which a hidden tag selects one."""
        kept = [(case, case.type) for case in cases if not isinstance(case.type, Refusal)]
        choice = hidden_tag(scope, "|", range(len(kept)))
        whole = _Found([choice])
        for place, (case, type) in enumerate(kept):
            held = (*conditions, chosen(choice, (place,)))
            found = self._inline(type, (*scope, f"#{place}"), held)
            own = [member for member in found.members if member.name == tag.member]
            members = [_settled(member, tag, case) if member in own else member for member in found.members]
            whole.add(replace(found, members=members))
            whole.tagged += [(tag.member, held)] if not own and _needs_tag(tag, case) else []
            whole.tags += [] if own else [_tag_alone(tag, case, (scope, f"#{place}"), held)]
        return whole

    def _member(self, field: Field, type: Type, scope: Scope, conditions: tuple[Scoped, ...]) -> Member:
        number = bare(type, self.format.named)
        options, constant = self._options(field, type)
        required = field.presence is Presence.REQUIRED
        if not required:
            options = (*options, replace(ABSENT, value=self._default(field)))
        return Member(
            (scope, field.wire_name),
            field.key,
            self._property(field, type),
            conditions,
            required,
            options,
            constant,
            _highest(number.minimum if isinstance(number, Integer) else None, field.minimum),
            _lowest(number.maximum if isinstance(number, Integer) else None, field.maximum),
            field.spelling,
        )

    def _checked(self, type: Type, checks: Field | Held) -> Schema:
        """The schema of a value with its value table, range and spelling; these do not apply to null."""
        if checks.mappings is not None:
            return values([each for mapping in checks.mappings for each in _spellings(mapping.wire, type)])
        if bare(type, self.format.named) == Float(_SINGLE):
            schema = _rounded(self.schema(type), checks.minimum, checks.maximum)
        else:
            schema = _ranged(self.schema(type), checks.minimum, checks.maximum)
        return schema if checks.spelling is None else {**schema, **spelled(checks.spelling)}

    def _options(self, field: Field, type: Type) -> tuple[tuple[Option, ...], type | None]:
        """The possible values of a member that is present, and the kind of constants that can tell its values apart."""
        if field.const is not None:
            return (Option(written(field.const), self._seen(field, field.const)),), None
        if field.mappings is not None:
            meanings = ((each.wire, self._meaning(each.value)) for each in field.mappings)
            return tuple(Option(written(wire), meaning) for wire, meaning in meanings), None
        null = tuple(Option(None, value) for value in self._seen_null(type))
        match bare(type, self.format.named):
            case Boolean():
                return (Option(shown=True, value=True), Option(shown=False, value=False), *null), None
            case Integer():
                return (OTHER, *null), int
            case Text():
                return (OTHER, *null), str
            case Null():
                return null, None
            case _:
                return (SOMETHING, *null), None

    def _meaning(self, expression: Expression) -> Value:
        return evaluate(expression, lambda _: Unknown.ANYTHING, self._parameters)

    def _default(self, field: Field) -> Value:
        """The value that expressions see if an optional member is absent."""
        return self._seen(field, field.default) if field.has_default else None

    def _seen(self, field: Field, wire: Scalar) -> Value:
        """The value that expressions see for a wire value."""
        if field.mappings is None:
            return seen(wire)
        return next((self._meaning(each.value) for each in field.mappings if each.wire == wire), Unknown.ANYTHING)

    def _property(self, field: Field, type: Type) -> Schema:
        """The schema of one member or element."""
        schema = self._checked(type, field) if field.const is None else self._fixed(field.const, type)
        default = {"default": self._stated(field.default, type)} if field.has_default else {}
        return described_schema({**schema, **default}, field.doc, field.unit)

    def _stated(self, default: Scalar, type: Type) -> object:
        """A default in its JSON form."""
        is_json = isinstance(bare(type, self.format.named), JsonText) and isinstance(default, str)
        return json.loads(str(default)) if is_json else written(default)

    def _fixed(self, const: Scalar, type: Type) -> Schema:
        """The schema of a constant, which may have several JSON forms."""
        if isinstance(const, float) and bare(type, self.format.named) == Float(_SINGLE):
            return _rounded(_scalar(Float(_SINGLE)), const, const)
        return values(_spellings(const, type))


# --- members -------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Found:
    """The members and checks that structs add to an object, the tags of inline cases, and whether all are known."""

    members: list[Member] = dataclass_field(default_factory=list)
    checks: Checks = dataclass_field(default_factory=list)
    known: bool = True
    tagged: list[tuple[str, Conditions]] = dataclass_field(default_factory=list)
    tags: list[Member] = dataclass_field(default_factory=list)  # of cases that have no such member themselves
    rest: Schema | None = None
    besides: tuple[str, ...] = ()
    spelled: Schema | None = None

    def add(self, other: "_Found") -> None:
        """Add the members and checks of an inline struct."""
        self.members += other.members
        self.checks += other.checks
        self.tagged += other.tagged
        self.tags += other.tags
        self.known = self.known and other.known


def _hidden(field: Field, compute: Expression, scope: Scope, conditions: Conditions) -> Member:
    """A computed value: not in the object, but other members may depend on it."""
    return Member(
        (scope, field.wire_name), None, {}, conditions, required=False, compute=told(field, compute, scope, conditions)
    )


def _placed(member: Member) -> Member:
    """A member as an array element: only its conditions can make it absent."""
    return replace(member, required=True, options=tuple(option for option in member.options if not option.absent))


def _highest(first: int | None, second: int | None) -> int | None:
    return max((each for each in (first, second) if each is not None), default=None)


def _lowest(first: int | None, second: int | None) -> int | None:
    return min((each for each in (first, second) if each is not None), default=None)


# --- schemas -------------------------------------------------------------------------------------------------------


def _scalar(type: Integer | Float | Boolean | Null | Text | Bytes | JsonText) -> Schema:
    match type:
        case Integer():
            return integer(type.minimum, type.maximum)
        case Float():
            return {"type": "number"}
        case Boolean():
            return {"type": "boolean"}
        case Null():
            return {"type": "null"}
        case Text():
            return {"type": "string"}
        case Bytes(size=size, line_feeds=line_feeds):
            return binary(_constant(size), line_feeds=line_feeds)
        case JsonText(kind):
            return {} if kind == "any" else {"type": kind}
        case _:
            assert_never(type)


def _spellings(value: Scalar, type: Type) -> list[object]:
    """The JSON forms of a constant: base64 with and without line feeds."""
    text = written(value)
    if not isinstance(value, bytes) or not isinstance(text, str) or not (isinstance(type, Bytes) and type.line_feeds):
        return [text]
    lines = [text[place : place + 76] for place in range(0, len(text), 76)]
    spellings = dict.fromkeys((text, "\n".join(lines)))
    if lines and len(lines[-1]) == 76:
        spellings["\n".join(lines) + "\n"] = None
    return list(spellings)


def _restricts_tag(member: Member, tag: MemberTag, case: Case) -> bool:
    """Whether a struct's own member already restricts the tag to the values of the case."""
    required = member.required and not member.conditions
    if tag.presence:
        return required
    absent = _selects_absent(tag, case)
    shown = [option for option in member.options if not option.absent]
    known = all(not option.open and any(same(option.shown, value) for value in case.values) for option in shown)
    return known and (required or absent)


def _is_beside(name: str | None, scope: Scope, members: Sequence[Member]) -> bool:
    """Whether the object has a member of this name outside of the cases of the union in this scope."""

    def within(place: Scope) -> bool:
        return place[: len(scope)] == scope and place[len(scope) :] != () and place[len(scope)].startswith("#")

    return any(member.name == name and not within(member.key[0]) for member in members)


def _needs_tag(tag: MemberTag, case: Case) -> bool:
    """Whether a case is selected only if its tag is present."""
    return any(case.values) if tag.presence else bool(case.values) and not _selects_absent(tag, case)


def _tag_alone(tag: MemberTag, case: Case, key: Key, conditions: Conditions) -> Member:
    """The tag as a member of a case whose struct does not declare it."""
    needed = _needs_tag(tag, case)
    presence: Schema = {} if needed else NEVER
    schema = presence if tag.presence else values([written(value) for value in case.values])
    return Member(key, tag.member, schema, conditions, needed, (SOMETHING,) if needed else (SOMETHING, ABSENT))


def _settled(member: Member, tag: MemberTag, case: Case) -> Member:
    """The tag's member in a case: required if the case needs it, and restricted to the case's values."""
    if _needs_tag(tag, case):
        member = replace(member, required=True, options=tuple(each for each in member.options if not each.absent))
    if tag.presence or not case.values or member.schema.keys() & {"const", "enum"}:
        return member
    return replace(member, schema={**member.schema, **values([written(value) for value in case.values])})


def _selects_absent(tag: MemberTag, case: Case) -> bool:
    """Whether a case is selected if its tag is absent."""
    return not tag.required and any(same(tag.default, value) for value in case.values)


def _restricted(schema: Schema, tag: MemberTag, case: Case) -> Schema:
    """The schema of a case, with the tag restricted to its values."""
    if tag.presence:
        there: Schema = {"required": [tag.member]}
        return {"allOf": [schema], **(there if any(case.values) else {"properties": {tag.member: False}})}
    absent = _selects_absent(tag, case)
    allowed = values([written(value) for value in case.values])
    return {"allOf": [schema], "properties": {tag.member: allowed}, **({} if absent else {"required": [tag.member]})}


def _nullable(schema: Schema, *, null: bool) -> Schema:
    """The schema with null allowed; unchanged if it accepts null already."""
    match schema:
        case _ if null:
            return schema
        case {"type": str(name)} if "const" not in schema and "enum" not in schema:
            return {**schema, "type": [name, "null"]}
        case {"oneOf": list(options)} if len(schema) == 1:
            return {"oneOf": [*options, {"type": "null"}]}
        case _:
            return {"oneOf": [schema, {"type": "null"}]}


def _ranged(schema: Schema, minimum: int | None, maximum: int | None) -> Schema:
    """The schema with narrower bounds."""
    bounds = {
        "minimum": _highest(_bound(schema, "minimum"), minimum),
        "maximum": _lowest(_bound(schema, "maximum"), maximum),
    }
    return {**schema, **{name: bound for name, bound in bounds.items() if bound is not None}}


def _rounded(schema: Schema, minimum: float | None, maximum: float | None) -> Schema:
    """The schema of a 32-bit float; its bounds include all numbers that decoders round into the range."""
    least = {} if minimum is None else {"minimum": _rounded_to(minimum)}
    most = {} if maximum is None else {"maximum": -_rounded_to(-maximum)}
    return {**schema, **least, **most}


def _rounded_to(least: float) -> float:
    """The smallest double whose value, rounded to 32 bits, is at least `least`."""
    step = max(abs(least) * 2.0**-22, 2.0**-148)
    below, reached = least - step, least + step
    while below < (middle := (below + reached) / 2) < reached:
        below, reached = (below, middle) if float32(middle) >= least else (middle, reached)
    return reached


def _bound(schema: Schema, name: str) -> int | None:
    bound = schema.get(name)
    return bound if isinstance(bound, int) else None


def _counted(count: int | None) -> Schema:
    return {} if count is None else {"minItems": count, "maxItems": count}


def _constant(amount: Amount | None) -> int | None:
    match amount:
        case Literal(int(value)):
            return value
        case _:
            return None

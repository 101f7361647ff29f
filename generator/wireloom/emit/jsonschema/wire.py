"""JSON Schemas of JSON documents, from the wire types that describe them."""

from typing import assert_never

from wireloom.emit.jsonschema.constants import values, written
from wireloom.emit.jsonschema.members import Members
from wireloom.emit.jsonschema.objects import objects
from wireloom.emit.jsonschema.rendering import Schema, binary, described_schema, integer
from wireloom.expr.ast import Expression, Literal
from wireloom.model.format import Format
from wireloom.model.types import (
    Array,
    Attempt,
    Boolean,
    Bytes,
    Case,
    Encoding,
    Extension,
    Field,
    FieldTag,
    Float,
    Form,
    Integer,
    JsonText,
    Map,
    MemberTag,
    Null,
    Nullable,
    OneOf,
    PeekTag,
    Presence,
    Reference,
    Refusal,
    Select,
    Struct,
    Text,
    Type,
)


class Wire:
    """The schemas of one format's wire types, and the named types that they turned out to need."""

    def __init__(self, format: Format) -> None:
        self.format = format
        self._needed: list[str] = []

    def definitions(self) -> dict[str, object]:
        """The definitions of all named types needed so far and of what they need in turn, in the order of the spec."""
        done: dict[str, Schema] = {}
        while pending := [name for name in self._needed if name not in done]:
            for name in pending:
                done[name] = self.schema(self.format.type(name))
        return {name: done[name] for name, _ in self.format.types if name in done}

    def schema(self, type: Type) -> Schema:
        """The schema of the JSON of a wire type."""
        match type:
            case Integer() | Float() | Boolean() | Null() | Text() | Bytes() | JsonText():
                return _scalar(type)
            case Array(element=element, count=count):
                return {"type": "array", "items": self.schema(element), **_counted(_constant(count))}
            case Map(value=value):
                return {"type": "object", "additionalProperties": self.schema(value)}
            case Nullable(inner):
                return _nullable(self.schema(inner))
            case Reference(name):
                return self._reference(name)
            case OneOf(alternatives):
                return _one_of(self._distinct([alternative.type for alternative in alternatives]))
            case Select():
                return _one_of(self._cases(type))
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

    def _distinct(self, types: list[Type]) -> list[Schema]:
        """The alternatives, no two for one value: to a schema 1.0 is an integer, so numbers hold the integers."""
        if any(isinstance(type, Float) for type in types):
            types = [type for type in types if not isinstance(type, Integer)]
        return [self.schema(type) for type in types]

    # --- unions ----------------------------------------------------------------------------------------------------

    def _cases(self, select: Select) -> list[Schema]:
        """The cases of a union; a case that is itself such a union adds its own, so that the list is flat."""
        return [schema for case in select.cases for schema in self._case(select, case)]

    def _case(self, select: Select, case: Case) -> list[Schema]:
        if isinstance(case.type, Refusal):
            return []
        target = self._resolved(case.type)
        if isinstance(target, Select):
            return self._cases(target)
        match select.tag:
            case MemberTag() as tag if isinstance(target, Struct):
                return [_restricted(self.schema(case.type), tag, case, target)]
            case MemberTag() | FieldTag() | PeekTag():
                return [self.schema(case.type)]
            case _:
                assert_never(select.tag)

    def _resolved(self, type: Type) -> Type:
        while isinstance(type, Reference):
            type = self.format.type(type.name)
        return type

    # --- structs ---------------------------------------------------------------------------------------------------

    def _struct(self, struct: Struct) -> Schema:
        if struct.encoding is not Encoding.JSON:
            return described_schema(binary(), struct.doc, "")
        body = self._positions(struct) if struct.form is Form.ARRAY else objects(self._members(struct), self._property)
        return described_schema(body, struct.doc, "")

    def _members(self, struct: Struct) -> Members:
        parameters = {parameter.name: parameter.default for parameter in self.format.parameters}
        closed = parameters.get(self.format.unknown_members or "", "error") == "error"
        return Members.of(struct, parameters, self._resolved, closed=closed)

    def _property(self, field: Field, type: Type) -> Schema:
        """The schema of one member or element."""
        schema = self.schema(type)
        if field.const is not None:
            schema = {"const": written(field.const)}
        elif field.mappings is not None:
            schema = values([written(mapping.wire) for mapping in field.mappings])
        elif field.minimum is not None or field.maximum is not None:
            schema = _ranged(schema, field.minimum, field.maximum)
        default = {"default": written(field.default)} if field.has_default else {}
        return described_schema({**schema, **default}, field.doc, field.unit)

    def _positions(self, struct: Struct) -> Schema:
        """An array by position: one length for each version."""
        if not struct.versions:
            return self._tuple(_on_wire(struct))
        names = [version.name for version in struct.versions]
        return _one_of([self._tuple(_of_version(struct, name, names)) for name in names])

    def _tuple(self, fields: list[Field]) -> Schema:
        required = sum(field.presence is Presence.REQUIRED for field in fields)
        items = [self._property(field, field.type) for field in fields]
        return {"type": "array", "prefixItems": items, "items": False, "minItems": required}


def _scalar(type: Integer | Float | Boolean | Null | Text | Bytes | JsonText) -> Schema:
    match type:
        case Integer(bits, signed):
            return integer(bits, signed=signed)
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


def _on_wire(struct: Struct) -> list[Field]:
    return [field for field in struct.fields if field.compute is None and not field.counted]


def _of_version(struct: Struct, version: str, versions: list[str]) -> list[Field]:
    """The fields that a version has: those since it or an older one, and not until it or an older one."""
    place = versions.index(version)
    return [
        field
        for field in _on_wire(struct)
        if (not field.since or versions.index(field.since) <= place)
        and (not field.until or versions.index(field.until) >= place)
    ]


def _restricted(schema: Schema, tag: MemberTag, case: Case, struct: Struct) -> Schema:
    """The schema of a case; where the struct itself does not say which tags it has, with the tag's values."""
    member = next((field for field in _on_wire(struct) if field.member == tag.member), None)
    if tag.presence or (member is not None and (member.const is not None or member.mappings is not None)):
        return schema
    allowed = values([written(value) for value in case.values])
    required = [] if tag.default in case.values and not tag.required else [tag.member]
    return {"allOf": [schema], "properties": {tag.member: allowed}, "required": required}


def _one_of(schemas: list[Schema]) -> Schema:
    return schemas[0] if len(schemas) == 1 else {"oneOf": schemas}


def _nullable(schema: Schema) -> Schema:
    match schema:
        case {"type": str(name)} if "const" not in schema and "enum" not in schema:
            return {**schema, "type": [name, "null"]}
        case {"oneOf": list(options)} if len(schema) == 1:
            return schema if {"type": "null"} in options else {"oneOf": [*options, {"type": "null"}]}
        case {}:
            return {"oneOf": [schema, {"type": "null"}]} if schema else schema


def _ranged(schema: Schema, minimum: int | None, maximum: int | None) -> Schema:
    lowest = {} if minimum is None else {"minimum": minimum}
    highest = {} if maximum is None else {"maximum": maximum}
    return {**schema, **lowest, **highest}


def _counted(count: int | None) -> Schema:
    return {} if count is None else {"minItems": count, "maxItems": count}


def _constant(expression: Expression | None) -> int | None:
    match expression:
        case Literal(int(value)):
            return value
        case _:
            return None

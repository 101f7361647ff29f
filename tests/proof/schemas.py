"""Adds a shared schema to a format: its columns, some of them wider, and one that it lacks."""

from collections.abc import Mapping
from typing import Any, assert_never

from proof.chance import Chance
from proof.scope import ABSENT, document
from wireloom.model.format import Format
from wireloom.runtime.columns import logical
from wireloom.spec.language import FormatDocument, SchemaDocument, SchemaField, SchemaType

NAME = "shared.schema.yaml"


def with_schema(content: Mapping[str, Any], format: Format, chance: Chance) -> dict[str, dict[str, Any]]:
    """The format with a schema that it fits, as two files."""
    writer = _Writer(chance)
    fields = writer.fields(format.roots[0].logical)
    if chance.often(0.3):
        fields.append({"lacking": "str?"})
    schema = document(
        SchemaDocument,
        {
            "wireloom": 1,
            "schema": "shared",
            "title": "Columns by chance",
            "doc": "At length." if chance.often(0.2) else ABSENT,
            "fields": fields,
            "types": writer.types or ABSENT,
        },
    )
    named = {**content, "schema": "shared"}
    order = FormatDocument.keys()
    return {"proof.yaml": {key: named[key] for key in order if key in named}, NAME: schema}


class _Writer:
    def __init__(self, chance: Chance) -> None:
        self.chance = chance
        self.types: dict[str, Any] = {}

    def fields(self, record: logical.Record) -> list[dict[str, Any]]:
        """The columns of a record."""
        return [{field.name: self.field(field)} for field in record.fields]

    def field(self, field: logical.LogicalField) -> Any:
        """A column: as in the format, or nullable without need."""
        nullable = field.nullable or self.chance.often(0.1)
        text = self.optional(self.type(field.type), nullable=nullable)
        if self.chance.often(0.8):
            return text
        doc = self.chance.one([ABSENT, "What it is."])
        return document(SchemaField, {"type": text, "doc": doc, "unit": self.chance.one([ABSENT, "bytes"])})

    def optional(self, text: str, *, nullable: bool) -> str:
        """The type, possibly null; in a union, null is one of the types."""
        if not nullable or text == "any":
            return text
        return f"{text} | nil" if " | " in text else f"{text}?"

    def type(self, type: logical.LogicalType) -> str:
        """The notation of a type."""
        match type:
            case logical.Boolean():
                return "bool"
            case logical.Integer(bits=65):
                return "int64 | uint64"
            case logical.Integer(bits, signed):
                wider = bits * 2 if bits < 64 and self.chance.often(0.15) else bits
                return f"{'int' if signed else 'uint'}{wider}"
            case logical.BigInteger():
                return "uint128"
            case logical.Float(bits):
                return f"float{bits}"
            case logical.Text():
                return "str"
            case logical.Binary(size):
                return "bytes" if size is None else f"bytes({size})"
            case logical.List(element, nullable):
                return f"list({self.optional(self.type(element), nullable=nullable)})"
            case logical.Map(key, value, nullable):
                return f"map({self.type(key)}, {self.optional(self.type(value), nullable=nullable)})"
            case logical.Record():
                return self.record(type)
            case logical.Alternatives(options):
                return " | ".join(self.type(option) for option in options)
            case logical.Open():
                return "any"
            case logical.Meant():
                return self.meant(type)
            case _:
                assert_never(type)

    def meant(self, type: logical.Meant) -> str:
        """The notation of a value for readers; a decimal may get more digits."""
        match type.shown:
            case None:
                return self.type(type.wire)
            case logical.Scaled("decimal", precision=precision, digits=digits):
                more = self.chance.randint(0, 38 - precision) if self.chance.often(0.3) else 0
                return f"decimal({precision + more}, {digits + self.chance.randint(0, more)})"
            case logical.Scaled("integer"):
                return "int64"
            case logical.Scaled(kind):
                return kind
            case logical.Said():
                return self.type(type.shown.plain)
            case logical.Measured():
                return "float64"
            case logical.Written() | logical.Encoded() | logical.Named():
                return "str"
            case _:
                assert_never(type.shown)

    def record(self, record: logical.Record) -> str:
        """The name of a record's type."""
        name = f"R{len(self.types) + 1}"
        self.types[name] = {}
        doc = "A record." if self.chance.often(0.2) else ABSENT
        self.types[name] = document(SchemaType, {"fields": self.fields(record), "doc": doc})
        return name

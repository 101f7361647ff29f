"""Shared schemas: columns that several encodings of one event share."""

from typing import Annotated, Literal

from pydantic import Field

from wireloom.spec.language.base import Document, TextOrMapping, TypeText, key, required_key


class SchemaField(Document):
    """A column of a shared schema, in full. The short form is `name: TYPE`."""

    type: TypeText = required_key("The type of its value.", "int64?")
    doc: str = key("What it is; becomes the column's comment.", "When it expires", default="")
    unit: str = key("The unit of its value.", "s since epoch", default="")


SchemaEntry = dict[str, TextOrMapping[TypeText, SchemaField]]
SchemaEntries = Annotated[
    list[Annotated[SchemaEntry, Field(min_length=1, max_length=1)]], Field(description="The columns, in order.")
]


class SchemaType(Document):
    """A record of a shared schema."""

    fields: SchemaEntries = required_key("The columns, in order.", [{"name": "str"}])
    doc: str = key("What it is.", "One bin.", default="")


class SchemaDocument(Document):
    """The columns that several encodings of one event share."""

    wireloom: Literal[1] = required_key("The version of the language.", 1)
    schema_: str = required_key("Its name, which formats refer to.", "change", alias="schema")
    title: str = required_key("What it is, in one line.", "What a change says")
    doc: str = key("What it is, at length.", "The columns of both encodings.", default="")
    fields: SchemaEntries = required_key("The columns, in order.", [{"key": "Key"}, {"generation": {"type": "int64?"}}])
    types: dict[str, SchemaType] = key(
        "Records that fields hold.", {"Key": {"fields": [{"namespace": "str"}]}}, default={}
    )

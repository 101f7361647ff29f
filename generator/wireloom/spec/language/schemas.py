"""Shared schemas: the columns that several encodings of one event have in common."""

from typing import Annotated, Literal

from pydantic import Field, Tag

from wireloom.spec.language.base import Document, TypeText, mapping_or_text


class SchemaField(Document):
    """A column of a shared schema, in full. The short form is `name: TYPE`."""

    type: TypeText = Field(description="The type of its value.", examples=["int64?"])
    doc: str = Field(default="", description="What it is; becomes the column's comment.", examples=["When it expires"])
    unit: str = Field(default="", description="The unit of its value.", examples=["s since epoch"])


SchemaEntry = dict[
    str,
    Annotated[Annotated[TypeText, Tag("<text>")] | Annotated[SchemaField, Tag("<field>")], mapping_or_text("<field>")],
]
SchemaEntries = Annotated[
    list[Annotated[SchemaEntry, Field(min_length=1, max_length=1)]], Field(description="The columns, in order.")
]


class SchemaType(Document):
    """A record of a shared schema."""

    fields: SchemaEntries = Field(description="The columns, in order.", examples=[[{"name": "str"}]])
    doc: str = Field(default="", description="What it is.", examples=["One bin."])


class SchemaDocument(Document):
    """The columns that several encodings of one event share."""

    wireloom: Literal[1] = Field(description="The version of the language.", examples=[1])
    schema_: str = Field(alias="schema", description="Its name, which formats refer to.", examples=["change"])
    title: str = Field(description="What it is, in one line.", examples=["What a change says"])
    doc: str = Field(default="", description="What it is, at length.", examples=["The columns of both encodings."])
    fields: SchemaEntries = Field(
        description="The columns, in order.", examples=[[{"key": "Key"}, {"generation": {"type": "int64?"}}]]
    )
    types: dict[str, SchemaType] = Field(
        default={}, description="Records that fields hold.", examples=[{"Key": {"fields": [{"namespace": "str"}]}}]
    )

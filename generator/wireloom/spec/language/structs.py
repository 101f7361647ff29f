"""Structs: their entries, their versions, and every type that can have a name."""

from functools import cached_property
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, Tag, model_validator
from pydantic_core import PydanticCustomError

from wireloom.spec.language.base import (
    Charset,
    Code,
    Document,
    EncodingName,
    ExpressionText,
    ScalarValue,
    TypeText,
    form_by_key,
    mapping_or_list,
    mapping_or_text,
)
from wireloom.spec.language.fields import FieldDocument
from wireloom.spec.language.steps import CheckStep, DiscardStep, NeedStep, VerifyStep
from wireloom.spec.language.types import AttemptType, OneOfType, SelectType

FieldForm = Annotated[
    Annotated[TypeText, Tag("<text>")] | Annotated[FieldDocument, Tag("<field>")], mapping_or_text("<field>")
]


class Entry(Document):
    """An item of `fields`: one field (`name: TYPE` or `name: {...}`), or one of these steps."""

    model_config = ConfigDict(
        extra="allow",
        frozen=True,
        strict=True,
        protected_namespaces=(),
        json_schema_extra={"minProperties": 1, "maxProperties": 1},
    )
    __pydantic_extra__: dict[str, FieldForm]

    check: CheckStep | None = Field(
        default=None,
        description="A condition that must hold here.",
        examples=[{"that": "length >= 18", "else": "bad_length"}],
    )
    verify: VerifyStep | None = Field(default=None, description="Verify a checksum here.", examples=[{"field": "crc"}])
    mark: str | None = Field(default=None, description="Name the offset reached here.", examples=["headerEnd"])
    need: NeedStep | None = Field(
        default=None,
        description="So many bytes must be there, counted from the start of the struct.",
        examples=[{"bytes": "headerLength"}],
    )
    frame: ExpressionText | None = Field(
        default=None, description="The record ends so many bytes after its start.", examples=["length"]
    )
    end: Code | None = Field(
        default=None,
        description="The region must end here, else the record has this error.",
        examples=["bad_length"],
    )
    discard: DiscardStep | None = Field(
        default=None,
        description="Empty a list unless a condition holds for all elements.",
        examples=[{"list": "records", "keep": "wanted", "count": "discarded"}],
    )

    @model_validator(mode="after")
    def _one_key(self) -> "Entry":
        if len(self.model_fields_set) != 1:
            raise PydanticCustomError("entry_keys", "one key: a field's name, or a step")
        return self

    @property
    def key(self) -> str:
        """The name of the field or step."""
        return next(iter(self.model_fields_set))

    @property
    def is_field(self) -> bool:
        """Whether the entry is a field, not a step."""
        return self.key in self.__pydantic_extra__

    @property
    def field(self) -> str | FieldDocument:
        """The field, where the entry is one."""
        return self.__pydantic_extra__[self.key]

    @cached_property
    def full(self) -> FieldDocument:
        """The field with all of its keys; where the entry is a step, one that says nothing."""
        field = self.field if self.is_field else ""
        return FieldDocument(type=field) if isinstance(field, str) else field

    @property
    def type(self) -> str | SelectType | OneOfType:
        """The field's type."""
        return self.full.type


class Version(Document):
    """A version of a struct; give `arity` or `when`."""

    arity: int | None = Field(default=None, description="The number of elements of its array.", examples=[5])
    when: ExpressionText | None = Field(
        default=None,
        description="An expression over parameters and enclosing fields.",
        examples=["variant == 'current'"],
    )


class Versions(Document):
    """Versions by name, and what tells which one a record is of."""

    order: Annotated[
        Annotated[list[str], Tag("<list>")] | Annotated[dict[str, ScalarValue], Tag("<order>")],
        mapping_or_list("<order>"),
    ] = Field(
        description="Their names, the oldest first, and the value of each in records; in a list it is the name.",
        examples=[{"v1": 1, "v2": 2}],
    )
    from_: str = Field(
        alias="from",
        description="Where a record's version is: in a field (`version`, `head.version`) or a parameter; "
        "or `fits`: the newest that the record fits.",
        examples=["version"],
    )
    column: str | None = Field(
        default=None, description="A column with the name of the version.", examples=["formatVersion"]
    )
    newer: Literal["error", "newest"] = Field(
        default="error",
        description="Whether a version beyond the newest is an error, or is read as the newest.",
        examples=["newest"],
    )
    else_: Code | None = Field(
        default=None,
        alias="else",
        description="The error code for a value that names no version; by default `unknown_version`.",
        examples=["bad_version"],
    )


class StructType(Document):
    """Fields in order, with the checks between them."""

    fields: list[Entry] = Field(
        description="Fields and steps, in the order of decoding.",
        examples=[[{"length": "uint16"}, {"check": {"that": "length > 2", "else": "bad_length"}}]],
    )
    encoding: EncodingName | None = Field(
        default=None,
        description="Its encoding; by default the format's.",
        examples=["protobuf"],
    )
    form: Literal["array", "object"] | None = Field(
        default=None,
        description="Its container: `array` (positions, MessagePack's default) or `object` (names, JSON's default).",
        examples=["array"],
    )
    byte_order: Literal["big", "little"] | None = Field(
        default=None,
        alias="byteOrder",
        description="The byte order of its numbers (binary); by default the format's.",
        examples=["little"],
    )
    charset: Charset | None = Field(
        default=None,
        description="The character set of its texts; by default UTF-8.",
        examples=["cp037"],
    )
    versions: (
        Annotated[
            Annotated[Versions, Tag("<versions>")] | Annotated[dict[str, Version], Tag("<each>")],
            form_by_key({"order": "<versions>"}, "<each>"),
        ]
        | None
    ) = Field(
        default=None,
        description="Its versions, from the oldest to the newest; by default the format's.",
        examples=[{"order": ["legacy", "current"], "from": "fits"}],
    )
    depth: int | None = Field(
        default=None,
        ge=1,
        le=64,
        description="It may contain itself, to this depth; deeper levels are kept as bytes, or are a `depth_limit`.",
        examples=[4],
    )
    doc: str = Field(default="", description="What it is.", examples=["One reading."])


NamedType = Annotated[
    Annotated[TypeText, Tag("<text>")]
    | Annotated[SelectType, Tag("<select>")]
    | Annotated[OneOfType, Tag("<oneOf>")]
    | Annotated[AttemptType, Tag("<attempt>")]
    | Annotated[StructType, Tag("<struct>")],
    form_by_key({"select": "<select>", "oneOf": "<oneOf>", "attempt": "<attempt>"}, "<struct>"),
]

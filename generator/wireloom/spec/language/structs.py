"""Structs, their entries and versions, and the union of all forms of named types."""

from functools import cached_property
from typing import Annotated, Literal

from pydantic import ConfigDict, Tag, model_validator
from pydantic_core import PydanticCustomError

from wireloom.spec.language.base import (
    Charset,
    Code,
    Document,
    EncodingName,
    ExpressionText,
    ScalarValue,
    TextOrMapping,
    TypeText,
    form_by_key,
    key,
    mapping_or_list,
    required_key,
)
from wireloom.spec.language.fields import FieldDocument
from wireloom.spec.language.steps import CheckStep, DiscardStep, NeedStep, VerifyStep
from wireloom.spec.language.types import AttemptType, OneOfType, SelectType

FieldForm = TextOrMapping[TypeText, FieldDocument]


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

    check: CheckStep | None = key("A condition that must hold here.", {"that": "length >= 18", "else": "bad_length"})
    verify: VerifyStep | None = key("Verify a checksum here.", {"field": "crc"})
    mark: str | None = key("Name the offset reached here.", "headerEnd")
    need: NeedStep | None = key(
        "This many bytes must be present, counted from the start of the struct.", {"bytes": "headerLength"}
    )
    frame: ExpressionText | None = key("The record ends this many bytes after its start.", "length")
    end: Code | None = key("The region must end here, else the record has this error.", "bad_length")
    discard: DiscardStep | None = key(
        "Empty a list unless a condition holds for all elements.",
        {"list": "records", "keep": "wanted", "count": "discarded"},
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
        """Whether the entry is a field and not a step."""
        return self.key in self.__pydantic_extra__

    @property
    def field(self) -> str | FieldDocument:
        """The field, either its short form (the type) or all keys; only if the entry is a field."""
        return self.__pydantic_extra__[self.key]

    @cached_property
    def full(self) -> FieldDocument:
        """The field with all of its keys; for a step, a field with an empty type."""
        field = self.field if self.is_field else ""
        return FieldDocument(type=field) if isinstance(field, str) else field

    @property
    def type(self) -> str | SelectType | OneOfType:
        """The field's type."""
        return self.full.type


class Version(Document):
    """A version of a struct; give `arity` or `when`."""

    arity: int | None = key("The number of elements of its array.", 5)
    when: ExpressionText | None = key("An expression over parameters and enclosing fields.", "variant == 'current'")


class Versions(Document):
    """Versions by name, and what tells which one a record is of."""

    order: Annotated[
        Annotated[list[str], Tag("<list>")] | Annotated[dict[str, ScalarValue], Tag("<order>")],
        mapping_or_list("<order>"),
    ] = required_key(
        "Their names, the oldest first, and the value of each in records; in a list it is the name.", {"v1": 1, "v2": 2}
    )
    from_: str = required_key(
        "Where a record's version is: in a field (`version`, `head.version`) or a parameter; "
        "or `fits`: the newest that the record fits.",
        "version",
        alias="from",
    )
    column: str | None = key("A column with the name of the version.", "formatVersion")
    newer: Literal["error", "newest"] = key(
        "Whether a version beyond the newest is an error, or is read as the newest.", "newest", default="error"
    )
    else_: Code | None = key(
        "The error code for a value that names no version; by default `unknown_version`.", "bad_version", alias="else"
    )


class StructType(Document):
    """Fields in order, with the checks between them."""

    fields: list[Entry] = required_key(
        "Fields and steps, in the order of decoding.",
        [{"length": "uint16"}, {"check": {"that": "length > 2", "else": "bad_length"}}],
    )
    encoding: EncodingName | None = key("Its encoding; by default the format's.", "protobuf")
    form: Literal["array", "object"] | None = key(
        "Its container: `array` (positions, MessagePack's default) or `object` (names, JSON's default).", "array"
    )
    byte_order: Literal["big", "little"] | None = key(
        "The byte order of its numbers (binary); by default the format's.", "little", alias="byteOrder"
    )
    charset: Charset | None = key("The character set of its texts; by default UTF-8.", "cp037")
    versions: (
        Annotated[
            Annotated[Versions, Tag("<versions>")] | Annotated[dict[str, Version], Tag("<each>")],
            form_by_key({"order": "<versions>"}, "<each>"),
        ]
        | None
    ) = key(
        "Its versions, from the oldest to the newest; by default the format's.",
        {"order": ["legacy", "current"], "from": "fits"},
    )
    depth: int | None = key(
        "It may contain itself, to this depth; deeper levels are kept as bytes, or are a `depth_limit`.", 4, ge=1, le=64
    )
    doc: str = key("What it is.", "One reading.", default="")


NamedType = Annotated[
    Annotated[TypeText, Tag("<text>")]
    | Annotated[SelectType, Tag("<select>")]
    | Annotated[OneOfType, Tag("<oneOf>")]
    | Annotated[AttemptType, Tag("<attempt>")]
    | Annotated[StructType, Tag("<struct>")],
    form_by_key({"select": "<select>", "oneOf": "<oneOf>", "attempt": "<attempt>"}, "<struct>"),
]

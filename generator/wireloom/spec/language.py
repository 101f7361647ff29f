"""The spec language: every key, its type, its default and its meaning.

One class for each mapping that a spec can hold, 1:1 with the file; nothing is looked up or computed here. The loader
checks files against these classes, and the published JSON Schema (for editors) is made from the same ones.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, ValidationInfo, WithJsonSchema, model_validator
from pydantic.functional_validators import AfterValidator
from pydantic_core import PydanticCustomError

# --- scalars of the language ---------------------------------------------------------------------------------------


def _expression(value: object) -> object:
    if isinstance(value, str | int):
        return value
    raise PydanticCustomError("expression", "an expression")


def _scalar(value: object) -> object:
    if value is None or isinstance(value, str | int | float):
        return value
    raise PydanticCustomError("scalar", "a text, a number, true, false or null")


ExpressionText = Annotated[
    Any,
    AfterValidator(_expression),
    WithJsonSchema({"type": ["string", "integer", "boolean"], "format": "expression"}),
]
ScalarValue = Annotated[Any, AfterValidator(_scalar), WithJsonSchema({"type": ["string", "number", "boolean", "null"]})]
HexText = Annotated[
    Any,
    AfterValidator(_expression),
    WithJsonSchema({"type": ["string", "integer"], "format": "hexadecimal"}),
]
Code = Annotated[str, WithJsonSchema({"type": "string", "format": "code"})]
TypeText = Annotated[str, WithJsonSchema({"type": "string", "format": "type"})]


class Document(BaseModel):
    """A mapping of the language: no other keys than these."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, populate_by_name=False, protected_namespaces=())

    @classmethod
    def keys(cls) -> tuple[str, ...]:
        """The keys, as they are written."""
        return tuple(field.alias or name for name, field in cls.model_fields.items())

    @property
    def given(self) -> frozenset[str]:
        """The keys that are there, as they are written."""
        fields = type(self).model_fields
        return frozenset(fields[name].alias or name for name in self.model_fields_set)

    @model_validator(mode="before")
    @classmethod
    def _note_class(cls, data: object, info: ValidationInfo) -> object:
        """Tell the loader which class a mapping was checked against, so that it can say what would be right."""
        if isinstance(info.context, dict):
            info.context[id(data)] = cls
        return data


def _form_by_key(keys: Mapping[str, str], otherwise: str) -> Discriminator:
    """Tell the forms of a value apart: a text, or a mapping with one of `keys`."""

    def form(value: object) -> str:
        if isinstance(value, Mapping):
            return next((tag for key, tag in keys.items() if key in value), otherwise)
        return "<text>"

    return Discriminator(form)


def _mapping_or_text(tag: str) -> Discriminator:
    return Discriminator(lambda value: tag if isinstance(value, Mapping) else "<text>")


# --- types ---------------------------------------------------------------------------------------------------------


class PeekTag(Document):
    """Select on an integer read ahead without consuming it (binary)."""

    peek: str = Field(description="The integer's type, such as `int8`.", examples=["int8"])


class MemberTag(Document):
    """Select on a member of the JSON object itself."""

    member: str = Field(description="The member's name.", examples=["type"])
    presence: bool = Field(
        default=False, description="Select on whether the member is there: cases `true` and `false`.", examples=[True]
    )
    default: ScalarValue = Field(
        default=None,
        description="What an absent member counts as; without it the member must be there.",
        examples=[False],
    )


class Refusal(Document):
    """A case that is known and is an error."""

    error: Code = Field(description="The code of the error.", examples=["remote_error"])


class SelectType(Document):
    """A union chosen by a tag."""

    select: Annotated[
        Annotated[ExpressionText, Tag("<text>")]
        | Annotated[PeekTag, Tag("<peek>")]
        | Annotated[MemberTag, Tag("<member>")],
        _form_by_key({"peek": "<peek>"}, "<member>"),
    ] = Field(
        description="The tag: an expression over earlier fields, `{peek: TYPE}` or `{member: NAME}`.", examples=["kind"]
    )
    cases: dict[
        str,
        Annotated[Annotated[TypeText, Tag("<text>")] | Annotated[Refusal, Tag("<error>")], _mapping_or_text("<error>")],
    ] = Field(
        min_length=1,
        description="What each value of the tag selects: a type or `{error: CODE}`. A key may list several values.",
        examples=[{"point": "Point", "line, arc": "Line"}],
    )
    else_: Code | None = Field(
        default=None,
        alias="else",
        description="The code of a value of no case; `unknown_case` if not given.",
        examples=["unknown_kind"],
    )
    doc: str = Field(default="", description="What it is.", examples=["A shape."])


class OneOfType(Document):
    """Alternatives told apart by the kind of value on the wire (MessagePack, JSON)."""

    one_of: dict[str, TypeText] = Field(
        alias="oneOf",
        min_length=1,
        description="The alternatives: name and type.",
        examples=[{"nil": "nil", "int": "int", "list": "list(Value)"}],
    )
    ext_else: Code | None = Field(
        default=None,
        alias="extElse",
        description="The code of a MessagePack ext value of no alternative; `type_mismatch` if not given.",
        examples=["bad_ext_type"],
    )
    else_: Code | None = Field(
        default=None,
        alias="else",
        description="The code of a value of no alternative; `type_mismatch` if not given.",
        examples=["bad_value"],
    )
    doc: str = Field(default="", description="What it is.", examples=["Any value."])


class Fallback(Document):
    """Codes that send an attempt on to its next alternative."""

    codes: list[Code] = Field(min_length=1, description="The codes.", examples=[["no_magic", "too_short"]])
    when: ExpressionText | None = Field(
        default=None,
        description="Only while this holds; an expression over parameters.",
        examples=["on_corrupt != 'error'"],
    )


class Trial(Document):
    """One alternative of an attempt."""

    name: str = Field(description="Its name, which the `kind` field receives.", examples=["aggregated"])
    type: TypeText = Field(description="The type of its value.", examples=["Aggregate"])
    fallback: list[Fallback] = Field(
        default=[],
        description="Errors that are none, but send on to the next alternative.",
        examples=[[{"codes": ["no_magic"]}]],
    )
    build_when: ExpressionText | None = Field(
        default=None,
        alias="buildWhen",
        description="Choose it on build where this holds and the value does not say its kind.",
        examples=["count(records) != 1"],
    )


class AttemptType(Document):
    """Alternatives tried in order over the same bytes."""

    attempt: list[Trial] = Field(
        min_length=1,
        description="The alternatives, in order.",
        examples=[
            [
                {"name": "framed", "type": "Frame", "fallback": [{"codes": ["no_magic"]}]},
                {"name": "plain", "type": "Plain"},
            ]
        ],
    )
    kind: str = Field(default="kind", description="The field that says which alternative held.", examples=["kind"])
    reason: str = Field(
        default="reason",
        description="The field that says which code refused the alternative before; else null.",
        examples=["reason"],
    )
    doc: str = Field(default="", description="What it is.", examples=["A frame, or any other bytes."])


Type = Annotated[
    Annotated[TypeText, Tag("<text>")] | Annotated[SelectType, Tag("<select>")] | Annotated[OneOfType, Tag("<oneOf>")],
    _form_by_key({"oneOf": "<oneOf>"}, "<select>"),
]


# --- fields --------------------------------------------------------------------------------------------------------


class MappedValue(Document):
    """A value that readers see, with a document."""

    value: ScalarValue = Field(description="What readers see.", examples=["line"])
    doc: str = Field(default="", description="What the value means.", examples=["Two points"])


ValueTable = dict[
    str,
    Annotated[
        Annotated[ScalarValue, Tag("<text>")] | Annotated[MappedValue, Tag("<value>")], _mapping_or_text("<value>")
    ],
]


class Bits(Document):
    """A bit or a range of bits of an integer, a field of its own to readers and expressions."""

    at: str | int = Field(description="`3` or `0..1`; bit 0 is the lowest.", examples=["0..1"])
    signed: bool = Field(default=False, description="Two's complement.", examples=[True])
    values: ValueTable | None = Field(
        default=None,
        description="What the number means to readers; other numbers are an error.",
        examples=[{"0": "off", "1": "on"}],
    )
    else_: Code | None = Field(
        default=None,
        alias="else",
        description="The code for a number that `values` does not have.",
        examples=["bad_flags"],
    )
    derive: ExpressionText | None = Field(
        default=None, description="Its value on build.", examples=["present(position)"]
    )
    hidden: bool = Field(default=False, description="Expressions see it, readers do not.", examples=[True])
    doc: str = Field(default="", description="What it is.", examples=["What it was doing"])


class Salvage(Document):
    """Keep the elements before the first bad one."""

    codes: list[Code] = Field(
        min_length=1, description="The errors of elements that end the list instead.", examples=[["bad_entry"]]
    )
    when: ExpressionText = Field(description="Only while this holds.", examples=["mode == 'prefix'"])
    lost: str = Field(description="The `counted` field that receives the number of elements lost.", examples=["lost"])


class FieldDocument(Document):
    """A field, in full. The short form is `name: TYPE`."""

    type: Type = Field(description="The type of its value.", examples=["list(Reading)"])
    doc: str = Field(
        default="", description="What it is; becomes the column's comment.", examples=["What was measured"]
    )
    unit: str = Field(
        default="", description="The unit of its value, such as `ms since epoch`.", examples=["ms since epoch"]
    )
    as_: str | None = Field(
        default=None,
        alias="as",
        description="What readers call it; its own name if not given.",
        examples=["partitionKey"],
    )
    else_: Code | None = Field(
        default=None,
        alias="else",
        description="The code of its own check: const, values, range, size, bits, checksum, refers, unique, bytes(n).",
        examples=["bad_version"],
    )
    at: ExpressionText | None = Field(
        default=None,
        description="Its offset in the struct; a negative one counts from the end (binary).",
        examples=[-16],
    )
    size: ExpressionText | None = Field(
        default=None,
        description="Bytes that belong to its type, all of which it must use (binary).",
        examples=["length - here"],
    )
    when: ExpressionText | None = Field(
        default=None, description="It is there only if this holds; else its value is null.", examples=["hasPosition"]
    )
    optional: bool = Field(default=False, description="It may be left out (JSON, protobuf).", examples=[True])
    default: ScalarValue = Field(
        default=None,
        description="The value on the wire that stands for an absent one; null if not given.",
        examples=[False],
    )
    const: ScalarValue = Field(
        default=None, description="The only value it may have; bytes in hexadecimal.", examples=["f3899ac2"]
    )
    values: ValueTable | None = Field(
        default=None,
        description="What each value on the wire means to readers; others are an error. `= EXPRESSION` is computed.",
        examples=[{"1": "write", "2": "delete"}],
    )
    range: str | int | None = Field(
        default=None, description="The values it may have: `0 .. 100`, `0 ..`, `.. 100`.", examples=["0 .. 100"]
    )
    bits: (
        dict[
            str,
            Annotated[Annotated[str | int, Tag("<text>")] | Annotated[Bits, Tag("<bits>")], _mapping_or_text("<bits>")],
        ]
        | None
    ) = Field(
        default=None,
        description="Its bits by name: `name: 3`, `name: 0..1`, or in full.",
        examples=[{"urgent": 0, "battery": "4..7"}],
    )
    derive: ExpressionText | None = Field(
        default=None, description="Its value on build, over all fields of the struct.", examples=["len(name)"]
    )
    compute: ExpressionText | None = Field(
        default=None, description="Not on the wire: its value on parse, over earlier fields.", examples=["first + 1"]
    )
    checksum: str | None = Field(
        default=None,
        description="It holds this checksum: one of `checksums`, or `md5`, `sha1`, `sha256`.",
        examples=["crc16"],
    )
    over: str | None = Field(
        default=None,
        description="The bytes that the checksum covers, `START .. END`, counted from the struct's start.",
        examples=["0 .. size - 2"],
    )
    refers: str | None = Field(
        default=None,
        description="It is an index into this table of the enclosing struct, and its value the entry there.",
        examples=["keys"],
    )
    table: bool = Field(default=False, description="A table that `refers` fields fill on build.", examples=[True])
    flatten: bool = Field(
        default=False, description="The members of its struct become members of this one, for readers.", examples=[True]
    )
    inline: bool = Field(
        default=False,
        description="The members of its struct stand in this struct's own object (JSON).",
        examples=[True],
    )
    counted: bool = Field(
        default=False, description="Not on the wire: a `salvage` or a `discard` sets it, else it is 0.", examples=[True]
    )
    hidden: bool = Field(default=False, description="Expressions see it, readers do not.", examples=[True])
    tag: int | None = Field(default=None, description="Its field number (protobuf).", examples=[1])
    member: str | None = Field(
        default=None,
        description="Its member name (JSON, MessagePack map); its own name if not given.",
        examples=["gen"],
    )
    since: str | None = Field(default=None, description="The version that it came with.", examples=["current"])
    until: str | None = Field(default=None, description="The last version that has it.", examples=["legacy"])
    count: ExpressionText | None = Field(
        default=None,
        description="Elements of its list (binary); without it they fill the region.",
        examples=["readingCount"],
    )
    unique: str | None = Field(
        default=None, description="A member of its elements that must not repeat.", examples=["name"]
    )
    salvage: Salvage | None = Field(
        default=None,
        description="Keep the elements before the first bad one.",
        examples=[{"codes": ["bad_entry"], "when": "mode == 'prefix'", "lost": "lost"}],
    )
    line_feeds: bool = Field(
        default=False,
        alias="lineFeeds",
        description="Its base64 has a line feed after every 76 characters (JSON).",
        examples=[True],
    )
    wire: Literal["varint", "zigzag", "fixed"] = Field(
        default="varint", description="How protobuf writes its integer.", examples=["zigzag"]
    )


class CheckStep(Document):
    """A condition that must hold."""

    that: ExpressionText = Field(description="The condition.", examples=["length >= 18"])
    else_: Code = Field(alias="else", description="The code where it does not hold.", examples=["bad_length"])
    field: str | None = Field(
        default=None,
        description="The field that the error names; the first one in `that` if not given.",
        examples=["length"],
    )
    when: ExpressionText | None = Field(default=None, description="Only checked while this holds.", examples=["strict"])
    doc: str = Field(default="", description="Why.", examples=["The header alone has 18 bytes"])


class VerifyStep(Document):
    """Verify a checksum here."""

    field: str = Field(description="The field that holds it.", examples=["crc"])
    when: ExpressionText | None = Field(default=None, description="Only while this holds.", examples=["verifyCrc"])


class NeedStep(Document):
    """So many bytes must be there."""

    bytes: ExpressionText = Field(description="Bytes from the struct's start.", examples=["headerLength"])
    field: str | None = Field(
        default=None,
        description="The field that `truncated` names; the first one in `bytes` if not given.",
        examples=["headerLength"],
    )


class DiscardStep(Document):
    """Empty a list unless a condition holds for each element."""

    list_: str = Field(alias="list", description="The list.", examples=["records"])
    keep: ExpressionText = Field(
        description="The condition, in the scope of an element.", examples=["hash >= range.start"]
    )
    count: str = Field(
        description="The `counted` field that receives the number of elements discarded.", examples=["discarded"]
    )
    when: ExpressionText | None = Field(default=None, description="Only while this holds.", examples=["present(range)"])


FieldForm = Annotated[
    Annotated[TypeText, Tag("<text>")] | Annotated[FieldDocument, Tag("<field>")], _mapping_or_text("<field>")
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
        default=None, description="So many bytes must be there.", examples=[{"bytes": "headerLength"}]
    )
    frame: ExpressionText | None = Field(
        default=None, description="The record is known to end so many bytes after its start.", examples=["length"]
    )
    end: Code | None = Field(
        default=None, description="The region must be used up here, else this code.", examples=["bad_length"]
    )
    discard: DiscardStep | None = Field(
        default=None,
        description="Empty a list unless a condition holds for each element.",
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

    @property
    def type(self) -> str | SelectType | OneOfType:
        """The field's type."""
        return self.field if isinstance(self.field, str) else self.field.type


class Version(Document):
    """A layout of a struct; give `arity` or `when`."""

    arity: int | None = Field(default=None, description="The number of elements of its array.", examples=[5])
    when: ExpressionText | None = Field(
        default=None,
        description="An expression over parameters and enclosing fields.",
        examples=["variant == 'current'"],
    )


class StructType(Document):
    """Fields in order, with the checks between them."""

    fields: list[Entry] = Field(
        description="Fields and steps, in the order in which decoders go.",
        examples=[[{"length": "uint16"}, {"check": {"that": "length > 2", "else": "bad_length"}}]],
    )
    encoding: Literal["binary", "msgpack", "protobuf", "json"] | None = Field(
        default=None,
        description="How its values follow one another; the format's encoding if not given.",
        examples=["protobuf"],
    )
    form: Literal["array", "object"] | None = Field(
        default=None,
        description="Its container: `array` (positions, MessagePack's default) or `object` (names, JSON's default).",
        examples=["array"],
    )
    versions: dict[str, Version] | None = Field(
        default=None,
        description="Its layouts, from the oldest to the newest.",
        examples=[{"legacy": {"arity": 2}, "current": {"arity": 5}}],
    )
    doc: str = Field(default="", description="What it is.", examples=["One reading."])


NamedType = Annotated[
    Annotated[TypeText, Tag("<text>")]
    | Annotated[SelectType, Tag("<select>")]
    | Annotated[OneOfType, Tag("<oneOf>")]
    | Annotated[AttemptType, Tag("<attempt>")]
    | Annotated[StructType, Tag("<struct>")],
    _form_by_key({"select": "<select>", "oneOf": "<oneOf>", "attempt": "<attempt>"}, "<struct>"),
]


# --- formats -------------------------------------------------------------------------------------------------------


class ParameterByName(Document):
    """Decided by a parameter."""

    parameter: str = Field(description="The parameter's name.", examples=["invalid_text"])


class ByteOrderByParameter(Document):
    """A byte order that the bytes do not tell."""

    parameter: str = Field(description="The parameter that says `big`, `little` or `auto`.", examples=["byteOrder"])
    wrong_when: list[Code] = Field(
        default=[],
        alias="wrongWhen",
        description="Codes that mean, under `auto`, that the other order should be tried.",
        examples=[["header_crc"]],
    )


class Parameter(Document):
    """A choice that the bytes do not tell; give `oneOf` or `type`."""

    one_of: list[str] | None = Field(
        default=None, alias="oneOf", description="The texts that it may be.", examples=[["id", "version"]]
    )
    type: Literal["int", "bool", "str", "range"] | None = Field(
        default=None, description="`range` is a pair of integers with members `start` and `end`.", examples=["bool"]
    )
    default: ScalarValue = Field(description="Its value where none is given.", examples=[True])
    doc: str = Field(default="", description="What it decides.", examples=["Verify both checksums"])
    unit: str = Field(default="", description="The unit of its value.", examples=["bytes"])


class Limits(Document):
    """What a decoder refuses to do."""

    depth: str | int = Field(
        default=64, description="Nesting of open values: a number, or the name of a parameter.", examples=["max_depth"]
    )
    size: str | int | None = Field(
        default=None,
        description="Bytes of a record, else `size_limit`: a number or the name of a parameter; none if not given.",
        examples=["max_size"],
    )


class Crc(Document):
    """A CRC by the parameters of the Rocksoft model."""

    width: int = Field(description="Bits: 8, 16, 24, 32 or 64.", examples=[16])
    poly: int = Field(description="The polynomial, without its highest bit, not reflected.", examples=[4129])
    init: int = Field(default=0, description="The initial value.", examples=[65535])
    xorout: int = Field(default=0, description="The final exclusive or.", examples=[0])
    reflected: bool = Field(default=False, description="Bits go in and come out lowest first.", examples=[True])
    check: int = Field(
        description="The checksum of the nine bytes `123456789`; verified when the spec is read.", examples=[10673]
    )
    doc: str = Field(default="", description="What is special about it.", examples=["CRC-16/IBM-3740"])


class NamedRange(Document):
    """Integers and the name that they have."""

    name: str = Field(description="The name.", examples=["control"])
    min: int | None = Field(default=None, description="The smallest; open if not given.", examples=[-49])
    max: int | None = Field(default=None, description="The largest; open if not given.", examples=[-5])
    equals: int | None = Field(default=None, description="One integer, in place of `min` and `max`.", examples=[-2])


class RootDocument(Document):
    """An entry point."""

    type: TypeText = Field(description="The type of its value.", examples=["list(Message)"])
    doc: str = Field(default="", description="What it is.", examples=["A batch"])
    rows: str | None = Field(
        default=None, description="The list whose elements are the rows of the flat form.", examples=["records"]
    )


class Example(Document):
    """Bytes, and the value or the error that they mean; give `hex` or `text`, and `value` or `error`."""

    name: str = Field(description="What it shows.", examples=["two readings"])
    hex: HexText | None = Field(
        default=None, description="The bytes, in hexadecimal; spaces do not matter.", examples=["cafe 0001"]
    )
    text: str | None = Field(default=None, description="The bytes, as UTF-8 text.", examples=['{"id":1}'])
    root: str | None = Field(default=None, description="The root; the first if not given.", examples=["batch"])
    parameters: dict[str, Annotated[Any, WithJsonSchema({})]] = Field(
        default={}, description="Parameters that differ from their defaults.", examples=[{"byteOrder": "little"}]
    )
    value: Annotated[Any, WithJsonSchema({})] = Field(
        default=None,
        description="The value in the canonical JSON rendering; null members left out.",
        examples=[{"sensor": 4711}],
    )
    error: Code | None = Field(
        default=None, description="The code of the error that decoding gives.", examples=["bad_crc"]
    )
    path: str | None = Field(default=None, description="The path of the error.", examples=["readings[1].kind"])
    offset: int | None = Field(default=None, description="The offset of the error.", examples=[15])
    rebuilds: bool = Field(default=True, description="Building the value gives these bytes again.", examples=[False])
    doc: str = Field(default="", description="Why it is as it is.", examples=["The length is 0"])


class FormatDocument(Document):
    """A format: one spec file."""

    wireloom: Literal[1] = Field(description="The version of the language.", examples=[1])
    format: str = Field(description="Its name, which the generated module has.", examples=["sensor_frame"])
    title: str = Field(description="What it is, in one line.", examples=["Frame of a field sensor"])
    doc: str = Field(default="", description="What it is, at length.", examples=["What a sensor sends."])
    source: str = Field(default="", description="The document that it follows.", examples=["Sensor manual, chapter 4"])
    encoding: Literal["binary", "msgpack", "protobuf", "json"] = Field(
        description="How values follow one another, unless a struct says otherwise.", examples=["binary"]
    )
    schema_: str | None = Field(
        default=None, alias="schema", description="The shared schema whose columns it gives.", examples=["reading"]
    )
    byte_order: Annotated[
        Annotated[Literal["big", "little"], Tag("<text>")] | Annotated[ByteOrderByParameter, Tag("<parameter>")],
        _mapping_or_text("<parameter>"),
    ] = Field(
        default="big",
        alias="byteOrder",
        description="The order of a binary integer's bytes: `big`, `little` or `{parameter: NAME}`.",
        examples=["little"],
    )
    framing: Literal["none", "concatenated", "length-prefixed", "lines"] = Field(
        default="none", description="How records follow one another in a stream.", examples=["length-prefixed"]
    )
    parameters: dict[str, Parameter] = Field(
        default={},
        description="Choices that the bytes do not tell.",
        examples=[{"strict": {"type": "bool", "default": True}}],
    )
    limits: Limits = Field(
        default=Limits(depth=64), description="What a decoder refuses to do.", examples=[{"depth": 32}]
    )
    invalid_text: ParameterByName | None = Field(
        default=None,
        alias="invalidText",
        description="A parameter that says `error` or `replace` for text that is not UTF-8; error if not given.",
        examples=[{"parameter": "invalid_text"}],
    )
    unknown_members: ParameterByName | None = Field(
        default=None,
        alias="unknownMembers",
        description="A parameter that says `error` or `ignore` for unknown members; error if not given.",
        examples=[{"parameter": "unknown"}],
    )
    errors: dict[str, str] = Field(
        default={},
        description="Error codes of the format and what they mean.",
        examples=[{"bad_crc": "The checksum does not match."}],
    )
    checksums: dict[str, Crc] = Field(
        default={},
        description="Checksums by name.",
        examples=[{"crc16": {"width": 16, "poly": 4129, "init": 65535, "check": 10673}}],
    )
    ranges: dict[str, list[NamedRange]] = Field(
        default={},
        description="Named ranges of integers, for `rangeName`; the first that holds a number names it.",
        examples=[{"Source": [{"max": -1, "name": "control"}, {"min": 0, "name": "data"}]}],
    )
    root: TypeText | None = Field(
        default=None, description="The type of a record; the one root is called `record`.", examples=["Frame"]
    )
    rows: str | None = Field(
        default=None,
        description="With `root`: the list whose elements are the rows of the flat form.",
        examples=["readings"],
    )
    roots: dict[str, RootDocument] | None = Field(
        default=None,
        description="Entry points, in place of `root`; the first is the default.",
        examples=[{"record": {"type": "Message"}, "batch": {"type": "list(Message)"}}],
    )
    types: dict[str, NamedType] = Field(
        description="The types by name.", examples=[{"Frame": {"fields": [{"sensor": "uint32"}]}}]
    )
    examples: list[Example] = Field(
        default=[],
        description="Bytes and what they mean; run by the tests and printed in the documents.",
        examples=[[{"name": "a frame", "hex": "00001267", "value": {"sensor": 4711}}]],
    )


class SchemaField(Document):
    """A column of a shared schema, in full. The short form is `name: TYPE`."""

    type: TypeText = Field(description="The type of its value.", examples=["int64?"])
    doc: str = Field(default="", description="What it is; becomes the column's comment.", examples=["When it expires"])
    unit: str = Field(default="", description="The unit of its value.", examples=["s since epoch"])


SchemaEntry = dict[
    str,
    Annotated[Annotated[TypeText, Tag("<text>")] | Annotated[SchemaField, Tag("<field>")], _mapping_or_text("<field>")],
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

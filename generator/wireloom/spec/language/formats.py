"""Formats: the whole of a spec file, with its parameters, limits, checksums, roots and examples."""

from typing import Annotated, Any, Literal

from pydantic import Field, Tag, WithJsonSchema

from wireloom.spec.language.base import (
    Code,
    Document,
    EncodingName,
    HexText,
    ScalarValue,
    TypeText,
    form_by_key,
    list_or_text,
    mapping_or_text,
)
from wireloom.spec.language.framings import FramingForm
from wireloom.spec.language.structs import NamedType, Versions


class ParameterByName(Document):
    """Decided by a parameter."""

    parameter: str = Field(description="The parameter's name.", examples=["invalid_text"])


class ByteOrderByParameter(Document):
    """A byte order that the bytes do not tell."""

    parameter: str = Field(description="The parameter that says `big`, `little` or `auto`.", examples=["byteOrder"])
    wrong_when: list[Code] = Field(
        default=[],
        alias="wrongWhen",
        description=(
            "With `auto`: codes that show a wrong order. If a record can be read in neither, the other order counts."
        ),
        examples=[["header_crc"]],
    )


class Parameter(Document):
    """A choice that the bytes do not tell; give `oneOf` or `type`."""

    one_of: list[str] | None = Field(
        default=None, alias="oneOf", description="The allowed texts.", examples=[["id", "version"]]
    )
    type: Literal["int", "bool", "str", "range"] | None = Field(
        default=None, description="`range` is a pair of integers with members `start` and `end`.", examples=["bool"]
    )
    default: ScalarValue = Field(description="Its value if the caller gives none.", examples=[True])
    doc: str = Field(default="", description="What it decides.", examples=["Verify both checksums"])
    unit: str = Field(default="", description="The unit of its value.", examples=["bytes"])


class Limits(Document):
    """Limits of nesting and size."""

    depth: str | int = Field(
        default=64, description="Nesting of open values: a number, or the name of a parameter.", examples=["max_depth"]
    )
    size: str | int | None = Field(
        default=None,
        description="The most bytes of a record: a number or the name of a parameter; by default no limit.",
        examples=["max_size"],
    )
    expansion: str | int = Field(
        default=67108864,
        description="The most bytes that a record may grow to by `unpack`, `refers`, and computed texts and bytes, "
        "else `size_limit`: a number or the name of a parameter.",
        examples=[1000000],
    )
    ratio: str | int = Field(
        default=64,
        description="How many times their own size all `unpack` regions of a record may become, beyond the first MiB, "
        "else `size_limit`: a number or the name of a parameter.",
        examples=[1000],
    )


class Crc(Document):
    """A CRC by the parameters of the Rocksoft model."""

    width: int = Field(description="Bits, 8 to 64.", examples=[16])
    poly: int = Field(description="The polynomial, without its highest bit, not reflected.", examples=[4129])
    init: int = Field(default=0, description="The initial value.", examples=[65535])
    xorout: int = Field(default=0, description="The final exclusive or.", examples=[0])
    reflected: bool = Field(default=False, description="Bits are processed lowest first.", examples=[True])
    check: int = Field(
        description="The checksum of the bytes `123456789`; verified when the spec is read.", examples=[10673]
    )
    doc: str = Field(default="", description="A description.", examples=["CRC-16/IBM-3740"])


class Sum(Document):
    """A checksum that adds bytes up."""

    sum: Literal["add", "xor", "fletcher", "internet"] = Field(
        description="`add` or `xor` of all bytes, `fletcher` (two sums), or `internet` (pairs of bytes).",
        examples=["fletcher"],
    )
    width: int = Field(description="Bits: 8 to 64 for `add`, 8 for `xor`, 16 or 32 for `fletcher`.", examples=[16])
    modulus: int | None = Field(default=None, description="The modulus of both sums of `fletcher`.", examples=[255])
    init: int = Field(default=0, description="The initial value.", examples=[1])
    xorout: int = Field(default=0, description="The final exclusive or.", examples=[255])
    check: int = Field(
        description="The checksum of the bytes `123456789`; verified when the spec is read.", examples=[7902]
    )
    doc: str = Field(default="", description="A description.", examples=["Fletcher-16"])


DigestName = Literal["md5", "sha1", "sha256", "sha512"]
_Digests = Annotated[list[DigestName], Field(min_length=1, max_length=4)]


class Digest(Document):
    """A digest of which the beginning stands there, or a digest of digests."""

    digest: Annotated[Annotated[DigestName, Tag("<text>")] | Annotated[_Digests, Tag("<list>")], list_or_text()] = (
        Field(
            description="The digest, or several, applied one after another: `[sha256, sha256]`.",
            examples=[["sha256", "sha256"]],
        )
    )
    size: int | None = Field(
        default=None, description="How many of its first bytes are used; by default all.", examples=[4]
    )
    doc: str = Field(default="", description="A description.", examples=["As Bitcoin has it"])


ChecksumForm = Annotated[
    Annotated[Sum, Tag("<sum>")] | Annotated[Digest, Tag("<digest>")] | Annotated[Crc, Tag("<crc>")],
    form_by_key({"sum": "<sum>", "digest": "<digest>"}, "<crc>"),
]


class NamedRange(Document):
    """Integers and the name that they have."""

    name: str = Field(description="The name.", examples=["control"])
    min: int | None = Field(default=None, description="The smallest number; by default no limit.", examples=[-49])
    max: int | None = Field(default=None, description="The largest number; by default no limit.", examples=[-5])
    equals: int | None = Field(default=None, description="One integer, in place of `min` and `max`.", examples=[-2])


class RootDocument(Document):
    """An entry point."""

    type: TypeText = Field(description="The type of its value.", examples=["list(Message)"])
    doc: str = Field(default="", description="What it is.", examples=["A batch"])
    rows: str | None = Field(default=None, description="The list whose elements become rows.", examples=["records"])


class Example(Document):
    """Bytes, and the value or the error that they mean; give `hex` or `text`, and `value` or `error`.

    One that has neither of the latter is begun: it does not hold, and `wireloom test --record` writes what comes.
    """

    name: str = Field(description="What it shows.", examples=["two readings"])
    hex: HexText | None = Field(
        default=None, description="The bytes, in hexadecimal; spaces do not matter.", examples=["cafe 0001"]
    )
    text: str | None = Field(default=None, description="The bytes, as UTF-8 text.", examples=['{"id":1}'])
    root: str | None = Field(default=None, description="The root; by default the first.", examples=["batch"])
    parameters: dict[str, Annotated[Any, WithJsonSchema({})]] = Field(
        default={}, description="Parameters that differ from their defaults.", examples=[{"byteOrder": "little"}]
    )
    value: Annotated[Any, WithJsonSchema({})] = Field(
        default=None,
        description="The value in canonical JSON; null members are left out.",
        examples=[{"sensor": 4711}],
    )
    error: Code | None = Field(default=None, description="The code of the expected error.", examples=["bad_crc"])
    path: str | None = Field(default=None, description="The path of the error.", examples=["readings[1].kind"])
    offset: int | None = Field(default=None, description="The offset of the error.", examples=[15])
    rebuilds: bool = Field(
        default=True, description="Whether building the value gives the same bytes.", examples=[False]
    )
    doc: str = Field(default="", description="A description.", examples=["The length is 0"])

    def without_outcome(self) -> "Example":
        """The same bytes, read the same way, with no word of what they mean."""
        stays = self.model_fields_set - {"value", "error", "path", "offset", "rebuilds"}
        return self.model_construct(stays, **{name: getattr(self, name) for name in stays})


class Allowance(Document):
    """A warning that the author knows of."""

    id: str = Field(description="The warning's id.", examples=["certain-condition"])
    at: str = Field(
        default="",
        description="A path: the warning is allowed there and below; by default everywhere.",
        examples=["types.Frame"],
    )
    why: str = Field(description="The reason.", examples=["The next version has other values."])


class Lint(Document):
    """What to make of warnings."""

    allow: list[Allowance] = Field(
        default=[],
        description="Warnings that are not shown.",
        examples=[[{"id": "certain-condition", "why": "The next version has other values."}]],
    )


class FormatDocument(Document):
    """A format: one spec file."""

    wireloom: Literal[1] = Field(description="The version of the language.", examples=[1])
    format: str = Field(description="Its name, and the name of the generated module.", examples=["sensor_frame"])
    title: str = Field(description="What it is, in one line.", examples=["Frame of a field sensor"])
    doc: str = Field(default="", description="What it is, at length.", examples=["What a sensor sends."])
    source: str = Field(default="", description="The document that it follows.", examples=["Sensor manual, chapter 4"])
    encoding: EncodingName = Field(description="The encoding, unless a struct has its own.", examples=["binary"])
    schema_: str | None = Field(
        default=None, alias="schema", description="The shared schema whose columns it gives.", examples=["reading"]
    )
    imports: list[str] = Field(default=[], description="Libraries whose types it uses.", examples=[["network"]])
    byte_order: Annotated[
        Annotated[Literal["big", "little"], Tag("<text>")] | Annotated[ByteOrderByParameter, Tag("<parameter>")],
        mapping_or_text("<parameter>"),
    ] = Field(
        default="big",
        alias="byteOrder",
        description="The byte order of numbers: `big`, `little` or `{parameter: NAME}`.",
        examples=["little"],
    )
    framing: FramingForm = Field(
        default="none", description="How records follow one another in a stream.", examples=["length-prefixed"]
    )
    parameters: dict[str, Parameter] = Field(
        default={},
        description="Choices that the caller makes, since the bytes do not tell.",
        examples=[{"strict": {"type": "bool", "default": True}}],
    )
    limits: Limits = Field(
        default=Limits(depth=64), description="Limits of nesting and size.", examples=[{"depth": 32}]
    )
    versions: Versions | None = Field(
        default=None,
        description="Its versions, from the oldest to the newest, and where a record states its version.",
        examples=[{"order": {"v1": 1, "v2": 2}, "from": "version"}],
    )
    invalid_text: ParameterByName | None = Field(
        default=None,
        alias="invalidText",
        description="A parameter that says `error`, `bytes` (`error`, where an `attempt` keeps them) or `replace` "
        "for text that is not UTF-8; error if not given.",
        examples=[{"parameter": "invalid_text"}],
    )
    unknown_members: ParameterByName | None = Field(
        default=None,
        alias="unknownMembers",
        description="A parameter that says `error` or `ignore` for unknown members; by default `error`.",
        examples=[{"parameter": "unknown"}],
    )
    errors: dict[str, str] = Field(
        default={},
        description="Error codes of the format and what they mean.",
        examples=[{"bad_crc": "The checksum does not match."}],
    )
    checksums: dict[str, ChecksumForm] = Field(
        default={},
        description="Checksums by name.",
        examples=[{"crc16": {"width": 16, "poly": 4129, "init": 65535, "check": 10673}}],
    )
    ranges: dict[str, list[NamedRange]] = Field(
        default={},
        description="Named ranges of integers, for `rangeName`; the first that contains a number counts.",
        examples=[{"Source": [{"max": -1, "name": "control"}, {"min": 0, "name": "data"}]}],
    )
    root: TypeText | None = Field(
        default=None, description="The type of a record; the one root is called `record`.", examples=["Frame"]
    )
    rows: str | None = Field(
        default=None,
        description="With `root`: the list whose elements become rows.",
        examples=["readings"],
    )
    roots: dict[str, RootDocument] | None = Field(
        default=None,
        description="Entry points, in place of `root`; the first is the default.",
        examples=[{"record": {"type": "Message"}, "batch": {"type": "list(Message)"}}],
    )
    lint: Lint = Field(
        default=Lint(),
        description="Warnings to allow, each with a reason.",
        examples=[{"allow": [{"id": "unframed-stream", "why": "The files are checked before."}]}],
    )
    types: dict[str, NamedType] = Field(
        description="The types by name.", examples=[{"Frame": {"fields": [{"sensor": "uint32"}]}}]
    )
    examples: list[Example] = Field(
        default=[],
        description="Bytes and their meaning; run by `wireloom test`, printed on pages.",
        examples=[[{"name": "a frame", "hex": "00001267", "value": {"sensor": 4711}}]],
    )

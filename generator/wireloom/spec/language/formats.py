"""A format: the whole spec file with its parameters, limits, checksums, roots and examples."""

from typing import Annotated, Any, Literal

from pydantic import Field, Tag, WithJsonSchema

from wireloom.spec.language.base import (
    Code,
    Document,
    EncodingName,
    HexText,
    ScalarValue,
    TextOrList,
    TextOrMapping,
    TypeText,
    flag,
    form_by_key,
    key,
    required_key,
)
from wireloom.spec.language.framings import FramingForm
from wireloom.spec.language.structs import NamedType, Versions


class ParameterByName(Document):
    """A behaviour that a parameter decides."""

    parameter: str = required_key("The parameter's name.", "invalid_text")


class ByteOrderByParameter(Document):
    """A byte order that a parameter decides."""

    parameter: str = required_key("The parameter that says `big`, `little` or `auto`.", "byteOrder")
    wrong_when: list[Code] = key(
        "With `auto`: codes that show a wrong order. If a record can be read in neither, the other order counts.",
        ["header_crc"],
        default=[],
        alias="wrongWhen",
    )


class Parameter(Document):
    """A choice that the caller makes, since the bytes do not tell; give `oneOf` or `type`."""

    one_of: list[str] | None = key("The allowed texts.", ["id", "version"], alias="oneOf")
    type: Literal["int", "bool", "str", "range"] | None = key(
        "`range` is a pair of integers with members `start` and `end`.", "bool"
    )
    default: ScalarValue = required_key("Its value if the caller gives none.", example=True)
    doc: str = key("What it decides.", "Verify both checksums", default="")
    unit: str = key("The unit of its value.", "bytes", default="")


class Limits(Document):
    """Limits of nesting and size."""

    depth: str | int = key("Nesting of open values: a number, or the name of a parameter.", "max_depth", default=64)
    size: str | int | None = key(
        "The most bytes of a record: a number or the name of a parameter; by default no limit.", "max_size"
    )
    expansion: str | int = key(
        "The most bytes that a record may grow to by `unpack`, `refers`, and computed texts and bytes, "
        "else `size_limit`: a number or the name of a parameter.",
        1000000,
        default=67108864,
    )
    ratio: str | int = key(
        "How many times their own size all `unpack` regions of a record may become, beyond the first MiB, "
        "else `size_limit`: a number or the name of a parameter.",
        1000,
        default=64,
    )


class Crc(Document):
    """A CRC by the parameters of the Rocksoft model."""

    width: int = required_key("Bits, 8 to 64.", 16)
    poly: int = required_key("The polynomial, without its highest bit, not reflected.", 4129)
    init: int = key("The initial value.", 65535, default=0)
    xorout: int = key("The final exclusive or.", 0, default=0)
    reflected: bool = flag("Bits are processed lowest first.")
    check: int = required_key("The checksum of the bytes `123456789`; verified when the spec is read.", 10673)
    doc: str = key("A description.", "CRC-16/IBM-3740", default="")


class Sum(Document):
    """A checksum that adds bytes up."""

    sum: Literal["add", "xor", "fletcher", "internet"] = required_key(
        "`add` or `xor` of all bytes, `fletcher` (two sums), or `internet` (pairs of bytes).", "fletcher"
    )
    width: int = required_key("Bits: 8 to 64 for `add`, 8 for `xor`, 16 or 32 for `fletcher`.", 16)
    modulus: int | None = key("The modulus of both sums of `fletcher`.", 255)
    init: int = key("The initial value.", 1, default=0)
    xorout: int = key("The final exclusive or.", 255, default=0)
    check: int = required_key("The checksum of the bytes `123456789`; verified when the spec is read.", 7902)
    doc: str = key("A description.", "Fletcher-16", default="")


DigestName = Literal["md5", "sha1", "sha256", "sha512"]
_Digests = Annotated[list[DigestName], Field(min_length=1, max_length=4)]


class Digest(Document):
    """A digest or its first bytes; the digest may be applied several times."""

    digest: TextOrList[DigestName, _Digests] = required_key(
        "The digest, or several, applied one after another: `[sha256, sha256]`.", ["sha256", "sha256"]
    )
    size: int | None = key("How many of its first bytes are used; by default all.", 4)
    doc: str = key("A description.", "As Bitcoin has it", default="")


ChecksumForm = Annotated[
    Annotated[Sum, Tag("<sum>")] | Annotated[Digest, Tag("<digest>")] | Annotated[Crc, Tag("<crc>")],
    form_by_key({"sum": "<sum>", "digest": "<digest>"}, "<crc>"),
]


class NamedRange(Document):
    """A named range of integers."""

    name: str = required_key("The name.", "control")
    min: int | None = key("The smallest number; by default no limit.", -49)
    max: int | None = key("The largest number; by default no limit.", -5)
    equals: int | None = key("One integer, in place of `min` and `max`.", -2)


class RootDocument(Document):
    """An entry point."""

    type: TypeText = required_key("The type of its value.", "list(Message)")
    doc: str = key("What it is.", "A batch", default="")
    rows: str | None = key("The list whose elements become rows.", "records")


class Example(Document):
    """Bytes, and the value or the error that they mean; give `hex` or `text`, and `value` or `error`.

    An example without `value` and `error` fails until `wireloom test --record` writes the outcome.
    """

    name: str = required_key("What it shows.", "two readings")
    hex: HexText | None = key("The bytes, in hexadecimal; spaces do not matter.", "cafe 0001")
    text: str | None = key("The bytes, as UTF-8 text.", '{"id":1}')
    root: str | None = key("The root; by default the first.", "batch")
    parameters: dict[str, Annotated[Any, WithJsonSchema({})]] = key(
        "Parameters that differ from their defaults.", {"byteOrder": "little"}, default={}
    )
    value: Annotated[Any, WithJsonSchema({})] = key(
        "The value in canonical JSON; null members are left out.", {"sensor": 4711}
    )
    error: Code | None = key("The code of the expected error.", "bad_crc")
    path: str | None = key("The path of the error.", "readings[1].kind")
    offset: int | None = key("The offset of the error.", 15)
    rebuilds: bool = key("Whether building the value gives the same bytes.", example=False, default=True)
    doc: str = key("A description.", "The length is 0", default="")

    def without_outcome(self) -> "Example":
        """The same input without the expected value or error."""
        stays = self.model_fields_set - {"value", "error", "path", "offset", "rebuilds"}
        return self.model_construct(stays, **{name: getattr(self, name) for name in stays})


class Allowance(Document):
    """A warning that is allowed."""

    id: str = required_key("The warning's id.", "certain-condition")
    at: str = key("A path: the warning is allowed there and below; by default everywhere.", "types.Frame", default="")
    why: str = required_key("The reason.", "The next version has other values.")


class Lint(Document):
    """What to make of warnings."""

    allow: list[Allowance] = key(
        "Warnings that are not shown.",
        [{"id": "certain-condition", "why": "The next version has other values."}],
        default=[],
    )


class FormatDocument(Document):
    """A format: one spec file."""

    wireloom: Literal[1] = required_key("The version of the language.", 1)
    format: str = required_key("Its name, and the name of the generated module.", "sensor_frame")
    title: str = required_key("What it is, in one line.", "Frame of a field sensor")
    doc: str = key("What it is, at length.", "What a sensor sends.", default="")
    source: str = key("The document that it follows.", "Sensor manual, chapter 4", default="")
    encoding: EncodingName = required_key("The encoding, unless a struct has its own.", "binary")
    schema_: str | None = key("The shared schema whose columns it gives.", "reading", alias="schema")
    imports: list[str] = key("Libraries whose types it uses.", ["network"], default=[])
    byte_order: TextOrMapping[Literal["big", "little"], ByteOrderByParameter] = key(
        "The byte order of numbers: `big`, `little` or `{parameter: NAME}`.", "little", default="big", alias="byteOrder"
    )
    framing: FramingForm = key("How records follow one another in a stream.", "length-prefixed", default="none")
    parameters: dict[str, Parameter] = key(
        "Choices that the caller makes, since the bytes do not tell.",
        {"strict": {"type": "bool", "default": True}},
        default={},
    )
    limits: Limits = key("Limits of nesting and size.", {"depth": 32}, default=Limits(depth=64))
    versions: Versions | None = key(
        "Its versions, from the oldest to the newest, and where a record states its version.",
        {"order": {"v1": 1, "v2": 2}, "from": "version"},
    )
    invalid_text: ParameterByName | None = key(
        "A parameter that says `error`, `bytes` (`error`, where an `attempt` keeps them) or `replace` "
        "for text that is not UTF-8; error if not given.",
        {"parameter": "invalid_text"},
        alias="invalidText",
    )
    unknown_members: ParameterByName | None = key(
        "A parameter that says `error` or `ignore` for unknown members; by default `error`.",
        {"parameter": "unknown"},
        alias="unknownMembers",
    )
    errors: dict[str, str] = key(
        "Error codes of the format and what they mean.", {"bad_crc": "The checksum does not match."}, default={}
    )
    checksums: dict[str, ChecksumForm] = key(
        "Checksums by name.", {"crc16": {"width": 16, "poly": 4129, "init": 65535, "check": 10673}}, default={}
    )
    ranges: dict[str, list[NamedRange]] = key(
        "Named ranges of integers, for `rangeName`; the first that contains a number counts.",
        {"Source": [{"max": -1, "name": "control"}, {"min": 0, "name": "data"}]},
        default={},
    )
    root: TypeText | None = key("The type of a record; the one root is called `record`.", "Frame")
    rows: str | None = key("With `root`: the list whose elements become rows.", "readings")
    roots: dict[str, RootDocument] | None = key(
        "Entry points, in place of `root`; the first is the default.",
        {"record": {"type": "Message"}, "batch": {"type": "list(Message)"}},
    )
    lint: Lint = key(
        "Warnings to allow, each with a reason.",
        {"allow": [{"id": "unframed-stream", "why": "The files are checked before."}]},
        default=Lint(),
    )
    types: dict[str, NamedType] = required_key("The types by name.", {"Frame": {"fields": [{"sensor": "uint32"}]}})
    examples: list[Example] = key(
        "Bytes and their meaning; run by `wireloom test`, printed on pages.",
        [{"name": "a frame", "hex": "00001267", "value": {"sensor": 4711}}],
        default=[],
    )

    @property
    def root_types(self) -> dict[str, str]:
        """The type of each entry point, by its name."""
        if self.root is not None:
            return {"record": self.root}
        return {name: root.type for name, root in (self.roots or {}).items()}

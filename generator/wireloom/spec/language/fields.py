"""Fields: where their bytes are, what they must hold, how readers see them."""

from typing import Annotated, Literal

from pydantic import Field, Tag

from wireloom.spec.language.base import (
    Charset,
    Code,
    Document,
    ExpressionText,
    HexText,
    LogicalText,
    ScalarValue,
    TypeText,
    list_or_text,
    mapping_or_text,
)
from wireloom.spec.language.types import Type


class MappedValue(Document):
    """A value that readers see, with a document."""

    value: ScalarValue = Field(description="What readers see.", examples=["line"])
    doc: str = Field(default="", description="What the value means.", examples=["Two points"])
    since: str | None = Field(default=None, description="The first version that has it.", examples=["v2"])
    until: str | None = Field(default=None, description="The last version that has it.", examples=["v3"])


ValueTable = dict[
    str,
    Annotated[
        Annotated[ScalarValue, Tag("<text>")] | Annotated[MappedValue, Tag("<value>")], mapping_or_text("<value>")
    ],
]


class Bits(Document):
    """A bit or a range of bits of an integer, a field of its own to readers and expressions."""

    at: str | int = Field(description="`3` or `0..1`; bit 0 is the lowest.", examples=["0..1"])
    signed: bool = Field(default=False, description="Two's complement.", examples=[True])
    values: ValueTable | None = Field(
        default=None,
        description="The meaning of each number; other numbers are an error, or null beside `raw`.",
        examples=[{"0": "off", "1": "on"}],
    )
    raw: str | None = Field(
        default=None, description="The reader's name for the number, to show it as well.", examples=["modeNumber"]
    )
    else_: Code | None = Field(
        default=None,
        alias="else",
        description="The error code for a number that `values` lacks.",
        examples=["bad_flags"],
    )
    derive: ExpressionText | None = Field(
        default=None, description="The value to write, computed from the record.", examples=["present(position)"]
    )
    hidden: bool = Field(default=False, description="Expressions see it, readers do not.", examples=[True])
    doc: str = Field(default="", description="What it is.", examples=["What it was doing"])


class Salvage(Document):
    """Keep the elements before the first bad one."""

    codes: list[Code] = Field(
        min_length=1,
        description="Error codes of an element that end the list instead of failing.",
        examples=[["bad_entry"]],
    )
    when: ExpressionText = Field(description="Only if this holds.", examples=["mode == 'prefix'"])
    lost: str = Field(description="The `counted` field that receives the number of elements lost.", examples=["lost"])


class Jump(Document):
    """The elements of a list go on elsewhere in the record."""

    type: TypeText = Field(description="The unsigned integer's type.", examples=["uint16"])
    range: str | int = Field(
        description="The numbers that are pointers to the rest of the list, not elements.", examples=["0xC000 .."]
    )
    start: int | None = Field(
        default=None,
        description="The number that points to the start of the record; by default the smallest.",
        examples=[0xC000],
    )
    most: int | None = Field(
        default=None,
        ge=1,
        description="The most bytes of the whole list, terminator included; more are `bad_size`.",
        examples=[255],
    )


class Logical(Document):
    """A time counted in a unit: one of the two."""

    timestamp: str | None = Field(
        default=None,
        description="A time in `s`, `ms`, `us` (or multiples: `10ms`) since `epoch`; `ns` needs `raw`.",
        examples=["ms"],
    )
    duration: str | None = Field(default=None, description="A length of time, in these units.", examples=["s"])


class NamedPattern(Document):
    """A pattern that has a name."""

    named: Literal["date-time", "date", "time", "uuid"] = Field(
        description="`date-time`, `date`, `time` (RFC 3339, in one form) or `uuid` (RFC 9562).",
        examples=["date-time"],
    )


PackingName = Literal["none", "gzip", "zlib", "deflate", "zstd", "lz4", "snappy", "xerial", "base64", "hex", "HEX"]


class PackingChoice(Document):
    """The codec of a region, chosen by a tag."""

    select: ExpressionText = Field(description="The tag: an expression over earlier fields.", examples=["compression"])
    cases: dict[str, PackingName] = Field(
        min_length=1,
        description="The codec for each value of the tag; a key lists values and ranges.",
        examples=[{"0": "none", "1": "gzip"}],
    )
    else_: Code | None = Field(
        default=None,
        alias="else",
        description="The error code for a value without a case; by default `unknown_case`.",
        examples=["unknown_codec"],
    )


class Flattening(Document):
    """The members of a struct get other names in the one around it: some by name, the others by a prefix."""

    prefix: str | None = Field(
        default=None,
        description="A prefix for their names: `source` gives `sourceAddress`, `source_` gives `source_address`.",
        examples=["source"],
    )
    as_: dict[str, str] | None = Field(
        default=None,
        alias="as",
        description="New names for some members: the name in the struct, and the name here.",
        examples=[{"address": "sender"}],
    )


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
        description="The reader's name and the column; by default the field's name.",
        examples=["partitionKey"],
    )
    else_: Code | None = Field(
        default=None,
        alias="else",
        description="The error code for its checks: const, values, range, length, pattern, size, delimiter, bits ...",
        examples=["bad_version"],
    )
    byte_order: Literal["big", "little"] | None = Field(
        default=None,
        alias="byteOrder",
        description="The byte order of its numbers (binary); by default the struct's.",
        examples=["little"],
    )
    charset: Charset | None = Field(
        default=None,
        description="The character set of its texts (then bytes in MessagePack and protobuf); by default the struct's.",
        examples=["cp037"],
    )
    at: ExpressionText | None = Field(
        default=None,
        description="Its offset in the struct; a negative number counts from the end.",
        examples=[-16],
    )
    base: str | None = Field(
        default=None,
        alias="from",
        description="A mark of this struct or an outer one that `at` counts from; reading then goes on where it was.",
        examples=["heap"],
    )
    size: ExpressionText | None = Field(
        default=None,
        description="The bytes of its region, which it must use up; or the type of a number before it.",
        examples=["length - here"],
    )
    unpack: (
        Annotated[
            Annotated[PackingName, Tag("<text>")] | Annotated[PackingChoice, Tag("<choice>")],
            mapping_or_text("<choice>"),
        ]
        | None
    ) = Field(
        default=None,
        description="How its region is compressed, or encoded as text: a codec, or a choice by a field.",
        examples=["gzip"],
    )
    when: ExpressionText | None = Field(
        default=None,
        description="A condition; if it does not hold, the field is absent and null.",
        examples=["hasPosition"],
    )
    optional: bool = Field(
        default=False,
        description="It may be missing; in a MessagePack array, only at the end.",
        examples=[True],
    )
    default: ScalarValue = Field(
        default=None,
        description="The wire value that an absent field has; by default null.",
        examples=[False],
    )
    const: ScalarValue = Field(
        default=None, description="The only allowed value; bytes in hexadecimal.", examples=["f3899ac2"]
    )
    values: ValueTable | None = Field(
        default=None,
        description="The meaning of each value (or element); other values are an error, or null beside `raw`. "
        "`= X` is computed.",
        examples=[{"1": "write", "2": "delete"}],
    )
    null: ScalarValue = Field(
        default=None,
        description="The wire value that means null; bytes in hexadecimal. For a list, of its elements.",
        examples=[-1],
    )
    logical: (
        Annotated[
            Annotated[LogicalText, Tag("<text>")] | Annotated[Logical, Tag("<time>")],
            mapping_or_text("<time>"),
        ]
        | None
    ) = Field(
        default=None,
        description="What readers see: a time in a unit, `date` (days), `uuid`, `ipv4`, `ipv6`, `mac`; "
        "of a text `timestamp`, `date`, `int64` (`int8` to `uint64`) or `decimal(10, 2)`.",
        examples=[{"timestamp": "ms"}],
    )
    epoch: str | None = Field(
        default=None,
        description="The day (and time in UTC) that times and dates count from; by default 1970-01-01.",
        examples=["1900-01-01"],
    )
    scale: str | int | float | None = Field(
        default=None,
        description="A factor for readers: a decimal, or `1/256`; `logical: float` gives a float.",
        examples=[0.01],
    )
    offset: str | int | float | None = Field(
        default=None, description="A number added for readers, after `scale`.", examples=[-40]
    )
    raw: str | None = Field(
        default=None,
        description="The reader's name for the wire value, to show it beside its meaning.",
        examples=["sentAtNanos"],
    )
    range: str | int | None = Field(
        default=None,
        description="The allowed values of it or of each element: `0 .. 100`, `0 ..`, `.. 100`, `7`.",
        examples=["0 .. 100"],
    )
    length: str | int | None = Field(
        default=None,
        description="The characters of its text, of each element, or of each key: `1 ..`, `.. 80`, `2`.",
        examples=["1 .. 80"],
    )
    pattern: (
        Annotated[Annotated[str, Tag("<text>")] | Annotated[NamedPattern, Tag("<named>")], mapping_or_text("<named>")]
        | None
    ) = Field(
        default=None,
        description="A pattern for its whole text, each element, or each key of its map; or a named one.",
        examples=["[A-Z]{3}-[0-9]+"],
    )
    bits: (
        dict[
            str,
            Annotated[Annotated[str | int, Tag("<text>")] | Annotated[Bits, Tag("<bits>")], mapping_or_text("<bits>")],
        ]
        | None
    ) = Field(
        default=None,
        description="Names for its bits: `name: 3`, `name: 0..1`, or with more keys.",
        examples=[{"urgent": 0, "battery": "4..7"}],
    )
    derive: ExpressionText | None = Field(
        default=None, description="The value to write, computed from any field of the struct.", examples=["len(name)"]
    )
    compute: ExpressionText | None = Field(
        default=None,
        description="Not on the wire: the value computed from earlier fields.",
        examples=["first + 1"],
    )
    checksum: str | None = Field(
        default=None,
        description="It holds a checksum: one of `checksums`, or `md5`, `sha1`, `sha256`, `sha512`.",
        examples=["crc16"],
    )
    over: str | list[str] | None = Field(
        default=None,
        description="The bytes that the checksum covers, `START .. END`, counted from the start of the struct; "
        "or a list of ranges, `uint16(EXPRESSION)` and `bytes(FIELD)`.",
        examples=["0 .. size - 2"],
    )
    stored: ExpressionText | None = Field(
        default=None,
        description="The stored value, computed from the checksum, which has the field's name.",
        examples=["crc ^ address"],
    )
    refers: str | None = Field(
        default=None,
        description="It is an index into this table of an outer struct; its value is the entry.",
        examples=["keys"],
    )
    table: bool = Field(default=False, description="A table for `refers` fields; builders fill it.", examples=[True])
    flatten: Annotated[
        Annotated[bool, Tag("<text>")] | Annotated[Flattening, Tag("<renaming>")], mapping_or_text("<renaming>")
    ] = Field(
        default=False,
        description="The members of its struct become members of this one, for readers; with other names, if given.",
        examples=[{"prefix": "source"}],
    )
    inline: bool = Field(
        default=False,
        description="The members of its struct are in this struct's own object (JSON); "
        "of a map: all that no field names.",
        examples=[True],
    )
    counted: bool = Field(
        default=False, description="Not on the wire: the count of a `salvage` or `discard`, else 0.", examples=[True]
    )
    hidden: bool = Field(default=False, description="Expressions see it, readers do not.", examples=[True])
    tag: int | None = Field(default=None, description="Its field number.", examples=[1])
    one_of: str | None = Field(
        default=None,
        alias="oneOf",
        description="Its `oneof` group: only the last field of the group on the wire counts.",
        examples=["payload"],
    )
    member: str | None = Field(
        default=None,
        description="Its name in a JSON object or MessagePack map; by default the field's name.",
        examples=["gen"],
    )
    since: str | None = Field(default=None, description="The first version that has it.", examples=["current"])
    until: str | None = Field(default=None, description="The last version that has it.", examples=["legacy"])
    count: ExpressionText | None = Field(
        default=None,
        description="The number of elements, the type of a number before them, or blocks; else it fills its region.",
        examples=["readingCount"],
    )
    last_when: ExpressionText | None = Field(
        default=None,
        alias="lastWhen",
        description="The list ends with the first element for which this holds; an expression inside of the element.",
        examples=["more == 0"],
    )
    terminator: HexText | None = Field(
        default=None,
        description="The bytes after the last element, in hexadecimal; with `?`, the region may end instead.",
        examples=["00"],
    )
    jump: Jump | None = Field(
        default=None,
        description="A number in place of an element points to where the list continues.",
        examples=[{"type": "uint16", "range": "0xC000 .."}],
    )
    delimiter: (
        Annotated[
            Annotated[HexText, Tag("<text>")] | Annotated[list[HexText], Tag("<list>")],
            list_or_text(),
        ]
        | None
    ) = Field(
        default=None,
        description="The bytes, or a list of them, in hexadecimal, after its text, bytes or digits.",
        examples=["00"],
    )
    kept: bool = Field(
        default=False,
        description="The delimiter is part of the value, its end.",
        examples=[True],
    )
    escape: HexText | None = Field(
        default=None,
        description="The byte before a delimiter that does not end the value, and before itself.",
        examples=["5c"],
    )
    escaped: dict[str, HexText] | None = Field(
        default=None,
        description="What bytes after the escape mean; any other byte means itself.",
        examples=[{"6e": "0a", "74": "09"}],
    )
    pad: HexText | None = Field(
        default=None,
        description="The byte, in hexadecimal, that fills its text or bytes up to the size.",
        examples=["20"],
    )
    unique: str | None = Field(
        default=None, description="A member that no two elements may have in common.", examples=["name"]
    )
    salvage: Salvage | None = Field(
        default=None,
        description="Keep the elements before the first bad one.",
        examples=[{"codes": ["bad_entry"], "when": "mode == 'prefix'", "lost": "lost"}],
    )
    line_feeds: bool = Field(
        default=False,
        alias="lineFeeds",
        description="Its base64 is written with line feeds after 76 characters; readers accept both.",
        examples=[True],
    )
    wire: Literal["varint", "zigzag", "fixed", "group"] = Field(
        default="varint",
        description="How its integer is written; `group`: its message is between two tags.",
        examples=["zigzag"],
    )

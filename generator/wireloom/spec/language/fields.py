"""Fields: where their bytes are, what they must hold, how readers see them."""

from collections.abc import Mapping
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
        description="What the number means to readers; others are an error, or null beside `raw`.",
        examples=[{"0": "off", "1": "on"}],
    )
    raw: str | None = Field(
        default=None, description="What readers call the number, to see it too.", examples=["modeNumber"]
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


class Jump(Document):
    """The elements of a list go on elsewhere in the record."""

    type: TypeText = Field(description="The unsigned integer's type.", examples=["uint16"])
    range: str | int = Field(
        description="The numbers that are no element, but say where the list goes on.", examples=["0xC000 .."]
    )
    start: int | None = Field(
        default=None,
        description="The number that means the record's start; the smallest if not given. Those below lead nowhere.",
        examples=[0xC000],
    )
    most: int | None = Field(
        default=None,
        ge=1,
        description="The most bytes that the whole list may have, its terminator among them; more are `bad_size`.",
        examples=[255],
    )


class Logical(Document):
    """A time counted in a unit: one of the two."""

    timestamp: str | None = Field(
        default=None,
        description="A moment, in `s`, `ms`, `us` (or so many of them: `10ms`) since `epoch`; `ns` beside `raw`.",
        examples=["ms"],
    )
    duration: str | None = Field(default=None, description="A length of time, in these units.", examples=["s"])


class NamedPattern(Document):
    """A pattern that has a name."""

    named: Literal["date-time", "date", "time", "uuid"] = Field(
        description="`date-time`, `date`, `time` (of RFC 3339, as said below) or `uuid` (RFC 9562).",
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
        description="The code of a value of no case; `unknown_case` if not given.",
        examples=["unknown_codec"],
    )


class Flattening(Document):
    """The members of a struct get other names in the one around it: some by name, the others by a prefix."""

    prefix: str | None = Field(
        default=None,
        description="Stands before their names: `source` makes `address` `sourceAddress`, `source_` `source_address`.",
        examples=["source"],
    )
    as_: dict[str, str] | None = Field(
        default=None,
        alias="as",
        description="The names of some: the struct's own name of a member, and the one that it has here.",
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
        description="What readers call it; its own name if not given.",
        examples=["partitionKey"],
    )
    else_: Code | None = Field(
        default=None,
        alias="else",
        description="The code of its own check: const, values, range, length, pattern, size, delimiter, bits ...",
        examples=["bad_version"],
    )
    byte_order: Literal["big", "little"] | None = Field(
        default=None,
        alias="byteOrder",
        description="The order of the bytes of its numbers (binary); the struct's if not given.",
        examples=["little"],
    )
    charset: Charset | None = Field(
        default=None,
        description="The character set of its texts (MessagePack and protobuf: bytes then); the struct's if not given.",
        examples=["cp037"],
    )
    at: ExpressionText | None = Field(
        default=None,
        description="Its offset in the struct; a negative number counts from the end (binary).",
        examples=[-16],
    )
    base: str | None = Field(
        default=None,
        alias="from",
        description="The mark, of this struct or of one around, that `at` counts from; reading goes on where it was.",
        examples=["heap"],
    )
    size: ExpressionText | None = Field(
        default=None,
        description="Bytes of its type, all of which it must use, or the type of a number in front (binary).",
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
        description="How the bytes of its region are compressed, or written as text: a codec, or a choice (binary).",
        examples=["gzip"],
    )
    when: ExpressionText | None = Field(
        default=None, description="It is there only if this holds; else its value is null.", examples=["hasPosition"]
    )
    optional: bool = Field(
        default=False,
        description="It may be left out (JSON, protobuf, MessagePack; of an array the last elements).",
        examples=[True],
    )
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
        description="What each value, or element of its list, means; others are an error, or null beside `raw`. "
        "`= X` is computed.",
        examples=[{"1": "write", "2": "delete"}],
    )
    null: ScalarValue = Field(
        default=None,
        description="The value on the wire that means null; bytes in hexadecimal. Of a list, for its elements.",
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
        description="What it is to readers: a time in a unit, `date` (days), `uuid`, `ipv4`, `ipv6`, `mac`; "
        "of a text `timestamp`, `date`, `int64` (`int8` to `uint64`) or `decimal(10, 2)`.",
        examples=[{"timestamp": "ms"}],
    )
    epoch: str | None = Field(
        default=None,
        description="The day (and time in UTC) that times and dates count from; 1970-01-01 if not given.",
        examples=["1900-01-01"],
    )
    scale: str | int | float | None = Field(
        default=None,
        description="Readers see so many times the integer: a decimal, or `1/256`; `logical: float` for a float.",
        examples=[0.01],
    )
    offset: str | int | float | None = Field(
        default=None, description="What readers see added, behind `scale`.", examples=[-40]
    )
    raw: str | None = Field(
        default=None,
        description="What readers call the value on the wire, to see it too.",
        examples=["sentAtNanos"],
    )
    range: str | int | None = Field(
        default=None,
        description="The values it, or each element of its list, may have: `0 .. 100`, `0 ..`, `.. 100`, `7`.",
        examples=["0 .. 100"],
    )
    length: str | int | None = Field(
        default=None,
        description="How many characters its text has, each of a list, or each key of its map: `1 ..`, `.. 80`, `2`.",
        examples=["1 .. 80"],
    )
    pattern: (
        Annotated[Annotated[str, Tag("<text>")] | Annotated[NamedPattern, Tag("<named>")], mapping_or_text("<named>")]
        | None
    ) = Field(
        default=None,
        description="What its whole text, each of a list, or each key of its map looks like: a pattern, or its name.",
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
        description="Its bits by name: `name: 3`, `name: 0..1`, or in full.",
        examples=[{"urgent": 0, "battery": "4..7"}],
    )
    derive: ExpressionText | None = Field(
        default=None, description="Its value on build, over all fields of the struct.", examples=["len(name)"]
    )
    compute: ExpressionText | None = Field(
        default=None,
        description="Not on the wire: its value on parse, over earlier fields; on build that of `derive`, if given.",
        examples=["first + 1"],
    )
    checksum: str | None = Field(
        default=None,
        description="It holds this checksum: one of `checksums`, or `md5`, `sha1`, `sha256`, `sha512`.",
        examples=["crc16"],
    )
    over: str | list[str] | None = Field(
        default=None,
        description="The bytes that the checksum covers, `START .. END`, counted from the struct's start; in a list "
        "also what stands elsewhere, `uint16(EXPRESSION)` or `bytes(FIELD)`, before and behind them.",
        examples=["0 .. size - 2"],
    )
    stored: ExpressionText | None = Field(
        default=None,
        description="What stands there of the checksum, which has the field's name in it.",
        examples=["crc ^ address"],
    )
    refers: str | None = Field(
        default=None,
        description="protobuf: it is an index into this table of the enclosing struct, and its value the entry there.",
        examples=["keys"],
    )
    table: bool = Field(
        default=False, description="protobuf: a table that `refers` fields fill on build.", examples=[True]
    )
    flatten: Annotated[
        Annotated[bool, Tag("<text>")] | Annotated[Flattening, Tag("<renaming>")], mapping_or_text("<renaming>")
    ] = Field(
        default=False,
        description="The members of its struct become members of this one, for readers; under other names, if stated.",
        examples=[{"prefix": "source"}],
    )
    inline: bool = Field(
        default=False,
        description="The members of its struct stand in this struct's own object (JSON); "
        "of a map: all that no field names.",
        examples=[True],
    )
    counted: bool = Field(
        default=False, description="Not on the wire: a `salvage` or a `discard` sets it, else it is 0.", examples=[True]
    )
    hidden: bool = Field(default=False, description="Expressions see it, readers do not.", examples=[True])
    tag: int | None = Field(default=None, description="Its field number (protobuf).", examples=[1])
    one_of: str | None = Field(
        default=None,
        alias="oneOf",
        description="The group of fields of which the last one on the wire is there alone (protobuf).",
        examples=["payload"],
    )
    member: str | None = Field(
        default=None,
        description="Its member name (JSON, MessagePack map); its own name if not given.",
        examples=["gen"],
    )
    since: str | None = Field(default=None, description="The version that it came with.", examples=["current"])
    until: str | None = Field(default=None, description="The last version that has it.", examples=["legacy"])
    count: ExpressionText | None = Field(
        default=None,
        description="Its elements, the type of a number in front, or blocks (binary); else they fill the region.",
        examples=["readingCount"],
    )
    last_when: ExpressionText | None = Field(
        default=None,
        alias="lastWhen",
        description="Its list ends with the first element for which this holds, in the scope of an element (binary).",
        examples=["more == 0"],
    )
    terminator: HexText | None = Field(
        default=None,
        description="The bytes, in hexadecimal, behind its list; with `?` its region may end there, too (binary).",
        examples=["00"],
    )
    jump: Jump | None = Field(
        default=None,
        description="Beside `terminator`: a number in place of an element says where its list goes on (binary).",
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
        description="The bytes, or several, in hexadecimal, behind its text, bytes or digits (binary).",
        examples=["00"],
    )
    kept: bool = Field(
        default=False,
        description="The delimiter is part of its text or bytes: their end.",
        examples=[True],
    )
    escape: HexText | None = Field(
        default=None,
        description="The byte before one that does not end the text or the bytes, and before itself (binary).",
        examples=["5c"],
    )
    escaped: dict[str, HexText] | None = Field(
        default=None,
        description="What stands behind the escape for other bytes; any other byte there stands for itself.",
        examples=[{"6e": "0a", "74": "09"}],
    )
    pad: HexText | None = Field(
        default=None,
        description="The byte, in hexadecimal, that fills its text or bytes up to their constant size (binary).",
        examples=["20"],
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
        description="Its base64 has line feeds after every 76 characters; reading takes it without, too (JSON).",
        examples=[True],
    )
    wire: Literal["varint", "zigzag", "fixed", "group"] = Field(
        default="varint",
        description="How protobuf writes its integer; `group`: its message, or each of a list, between two tags.",
        examples=["zigzag"],
    )


ENCODINGS_OF_KEYS: Mapping[str, tuple[str, ...]] = {
    "at": ("binary",),
    "from": ("binary",),
    "size": ("binary",),
    "unpack": ("binary",),
    "count": ("binary",),
    "delimiter": ("binary",),
    "kept": ("binary",),
    "escape": ("binary",),
    "escaped": ("binary",),
    "pad": ("binary",),
    "charset": ("binary", "msgpack", "protobuf"),
    "terminator": ("binary",),
    "jump": ("binary",),
    "lastWhen": ("binary",),
    "bits": ("binary",),
    "byteOrder": ("binary",),
    "checksum": ("binary",),
    "stored": ("binary",),
    "tag": ("protobuf",),
    "wire": ("protobuf",),
    "oneOf": ("protobuf",),
    "refers": ("protobuf",),
    "table": ("protobuf",),
    "salvage": ("protobuf",),
    "inline": ("json", "msgpack"),
    "lineFeeds": ("json",),
    "member": ("json", "msgpack"),
    "optional": ("json", "protobuf", "msgpack"),
    "default": ("json", "protobuf", "msgpack"),
}
"""Keys of a field that mean something in some encodings only."""

"""Fields: where their bytes are, which values are allowed, and how readers see them."""

from typing import Literal

from wireloom.spec.language.base import (
    Charset,
    Code,
    Document,
    ExpressionText,
    HexText,
    LogicalText,
    ScalarValue,
    TextOrList,
    TextOrMapping,
    TypeText,
    flag,
    key,
    required_key,
)
from wireloom.spec.language.types import Type


class MappedValue(Document):
    """A value that readers see, with a document."""

    value: ScalarValue = required_key("What readers see.", "line")
    doc: str = key("What the value means.", "Two points", default="")
    since: str | None = key("The first version that has it.", "v2")
    until: str | None = key("The last version that has it.", "v3")


ValueTable = dict[str, TextOrMapping[ScalarValue, MappedValue]]


class Bits(Document):
    """A bit or a range of bits of an integer, a field of its own to readers and expressions."""

    at: str | int = required_key("`3` or `0..1`; bit 0 is the lowest.", "0..1")
    signed: bool = flag("Two's complement.")
    values: ValueTable | None = key(
        "The meaning of each number; other numbers are an error, or null beside `raw`.", {"0": "off", "1": "on"}
    )
    raw: str | None = key("The reader's name for the number, to show it as well.", "modeNumber")
    else_: Code | None = key("The error code for a number that `values` lacks.", "bad_flags", alias="else")
    derive: ExpressionText | None = key("The value to write, computed from the record.", "present(position)")
    hidden: bool = flag("Expressions see it, readers do not.")
    doc: str = key("What it is.", "What it was doing", default="")


class Salvage(Document):
    """Keep the elements before the first bad one."""

    codes: list[Code] = required_key(
        "Error codes of an element that end the list instead of failing.", ["bad_entry"], min_length=1
    )
    when: ExpressionText = required_key("Only if this holds.", "mode == 'prefix'")
    lost: str = required_key("The `counted` field that receives the number of elements lost.", "lost")


class Jump(Document):
    """A pointer, in place of an element, to where the list continues."""

    type: TypeText = required_key("The unsigned integer's type.", "uint16")
    range: str | int = required_key("The numbers that are pointers to the rest of the list, not elements.", "0xC000 ..")
    start: int | None = key("The number that points to the start of the record; by default the smallest.", 0xC000)
    most: int | None = key("The most bytes of the whole list, terminator included; more are `bad_size`.", 255, ge=1)


class Logical(Document):
    """A time counted in a unit; give `timestamp` or `duration`."""

    timestamp: str | None = key(
        "A time in `s`, `ms`, `us` (or multiples: `10ms`) since `epoch`; `ns` needs `raw`. For a float, `s` or `ms`.",
        "ms",
    )
    duration: str | None = key("A length of time, in these units.", "s")


class NamedPattern(Document):
    """A pattern that has a name."""

    named: Literal["date-time", "date", "time", "uuid"] = required_key(
        "`date-time`, `date`, `time` (RFC 3339, in one form) or `uuid` (RFC 9562).", "date-time"
    )


PackingName = Literal["none", "gzip", "zlib", "deflate", "zstd", "lz4", "snappy", "xerial", "base64", "hex", "HEX"]


class PackingChoice(Document):
    """The codec of a region, chosen by a tag."""

    select: ExpressionText = required_key("The tag: an expression over earlier fields.", "compression")
    cases: dict[str, PackingName] = required_key(
        "The codec for each value of the tag; a key lists values and ranges.", {"0": "none", "1": "gzip"}, min_length=1
    )
    else_: Code | None = key(
        "The error code for a value without a case; by default `unknown_case`.", "unknown_codec", alias="else"
    )


class Flattening(Document):
    """New names for the members of a flattened struct: some by name, the others by a prefix."""

    prefix: str | None = key(
        "A prefix for their names: `source` gives `sourceAddress`, `source_` gives `source_address`.", "source"
    )
    as_: dict[str, str] | None = key(
        "New names for some members: the name in the struct, and the name here.", {"address": "sender"}, alias="as"
    )


class FieldDocument(Document):
    """A field, in full. The short form is `name: TYPE`."""

    type: Type = required_key("The type of its value.", "list(Reading)")
    doc: str = key("What it is; becomes the column's comment.", "What was measured", default="")
    unit: str = key("The unit of its value, such as `ms since epoch`.", "ms since epoch", default="")
    as_: str | None = key("The reader's name and the column; by default the field's name.", "partitionKey", alias="as")
    else_: Code | None = key(
        "The error code for its checks: const, values, range, length, pattern, size, delimiter, bits ...",
        "bad_version",
        alias="else",
    )
    byte_order: Literal["big", "little"] | None = key(
        "The byte order of its numbers (binary); by default the struct's.", "little", alias="byteOrder"
    )
    charset: Charset | None = key(
        "The character set of its texts (then bytes in MessagePack and protobuf); by default the struct's.", "cp037"
    )
    at: ExpressionText | None = key("Its offset in the struct; a negative number counts from the end.", -16)
    base: str | None = key(
        "A mark of this struct or an outer one that `at` counts from; reading then goes on where it was.",
        "heap",
        alias="from",
    )
    size: ExpressionText | None = key(
        "The bytes of its region, which it must use up; or the type of a number before it.", "length - here"
    )
    unpack: TextOrMapping[PackingName, PackingChoice] | None = key(
        "How its region is compressed, or encoded as text: a codec, or a choice by a field.", "gzip"
    )
    when: ExpressionText | None = key("A condition; if it does not hold, the field is absent and null.", "hasPosition")
    optional: bool = flag("It may be missing; in a MessagePack array, only at the end.")
    default: ScalarValue = key("The wire value that an absent field has; by default null.", example=False)
    const: ScalarValue = key("The only allowed value; bytes in hexadecimal.", "f3899ac2")
    values: ValueTable | None = key(
        "The meaning of each value (or element); other values are an error, or null beside `raw`. `= X` is computed.",
        {"1": "write", "2": "delete"},
    )
    null: ScalarValue = key("The wire value that means null; bytes in hexadecimal. For a list, of its elements.", -1)
    logical: TextOrMapping[LogicalText, Logical] | None = key(
        "What readers see: a time in a unit, `date` (days), `uuid`, `ipv4`, `ipv6`, `mac`; "
        "of a text `timestamp`, `date`, `int64` (`int8` to `uint64`) or `decimal(10, 2)`.",
        {"timestamp": "ms"},
    )
    epoch: str | None = key(
        "The day (and time in UTC) that times and dates count from; by default 1970-01-01.", "1900-01-01"
    )
    scale: str | int | float | None = key(
        "A factor for readers: a decimal, or `1/256`; `logical: float` gives a float.", 0.01
    )
    offset: str | int | float | None = key("A number added for readers, after `scale`.", -40)
    raw: str | None = key("The reader's name for the wire value, to show it beside its meaning.", "sentAtNanos")
    range: str | int | None = key(
        "The allowed values of it or of each element: `0 .. 100`, `0 ..`, `.. 100`, `7`.", "0 .. 100"
    )
    length: str | int | None = key(
        "The characters of its text, of each element, or of each key: `1 ..`, `.. 80`, `2`.", "1 .. 80"
    )
    pattern: TextOrMapping[str, NamedPattern] | None = key(
        "A pattern for its whole text, each element, or each key of its map; or a named one.", "[A-Z]{3}-[0-9]+"
    )
    bits: dict[str, TextOrMapping[str | int, Bits]] | None = key(
        "Names for its bits: `name: 3`, `name: 0..1`, or with more keys.", {"urgent": 0, "battery": "4..7"}
    )
    derive: ExpressionText | None = key("The value to write, computed from any field of the struct.", "len(name)")
    compute: ExpressionText | None = key("Not on the wire: the value computed from earlier fields.", "first + 1")
    checksum: str | None = key(
        "It holds a checksum: one of `checksums`, or `md5`, `sha1`, `sha256`, `sha512`.", "crc16"
    )
    over: str | list[str] | None = key(
        "The bytes that the checksum covers, `START .. END`, counted from the start of the struct; "
        "or a list of ranges, `uint16(EXPRESSION)` and `bytes(FIELD)`.",
        "0 .. size - 2",
    )
    stored: ExpressionText | None = key(
        "The stored value, computed from the checksum, which has the field's name.", "crc ^ address"
    )
    refers: str | None = key("It is an index into this table of an outer struct; its value is the entry.", "keys")
    table: bool = flag("A table for `refers` fields; builders fill it.")
    flatten: TextOrMapping[bool, Flattening] = key(
        "The members of its struct become members of this one, for readers; with other names, if given.",
        {"prefix": "source"},
        default=False,
    )
    inline: bool = flag(
        "The members of its struct are in this struct's own object (JSON); of a map: all that no field names."
    )
    counted: bool = flag("Not on the wire: the count of a `salvage` or `discard`, else 0.")
    hidden: bool = flag("Expressions see it, readers do not.")
    tag: int | None = key("Its field number.", 1)
    one_of: str | None = key(
        "Its `oneof` group: only the last field of the group on the wire counts.", "payload", alias="oneOf"
    )
    member: str | None = key("Its name in a JSON object or MessagePack map; by default the field's name.", "gen")
    since: str | None = key("The first version that has it.", "current")
    until: str | None = key("The last version that has it.", "legacy")
    count: ExpressionText | None = key(
        "The number of elements, the type of a number before them, or blocks; else it fills its region.", "readingCount"
    )
    last_when: ExpressionText | None = key(
        "The list ends with the first element for which this holds; an expression inside of the element.",
        "more == 0",
        alias="lastWhen",
    )
    terminator: HexText | None = key(
        "The bytes after the last element, in hexadecimal; with `?`, the region may end instead.", "00"
    )
    jump: Jump | None = key(
        "A number in place of an element points to where the list continues.", {"type": "uint16", "range": "0xC000 .."}
    )
    delimiter: TextOrList[HexText, list[HexText]] | None = key(
        "The bytes, or a list of them, in hexadecimal, after its text, bytes or digits.", "00"
    )
    kept: bool = flag("The delimiter is part of the value, its end.")
    escape: HexText | None = key("The byte before a delimiter that does not end the value, and before itself.", "5c")
    escaped: dict[str, HexText] | None = key(
        "What bytes after the escape mean; any other byte means itself.", {"6e": "0a", "74": "09"}
    )
    pad: HexText | None = key("The byte, in hexadecimal, that fills its text or bytes up to the size.", "20")
    unique: str | None = key("A member that no two elements may have in common.", "name")
    salvage: Salvage | None = key(
        "Keep the elements before the first bad one.",
        {"codes": ["bad_entry"], "when": "mode == 'prefix'", "lost": "lost"},
    )
    line_feeds: bool = flag(
        "Its base64 is written with line feeds after 76 characters; readers accept both.", alias="lineFeeds"
    )
    wire: Literal["varint", "zigzag", "fixed", "group"] = key(
        "How its integer is written; `group`: its message is between two tags.", "zigzag", default="varint"
    )

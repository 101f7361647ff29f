"""Framings: how records follow one another in a stream."""

from typing import Annotated, Literal

from pydantic import Tag

from wireloom.spec.language.base import Document, HexText, form_by_key, key, required_key


class PrefixFraming(Document):
    """A number before each record that says its size."""

    prefix: str = required_key(
        "The type of the number: `uint8` to `int64`, `varint32`, `zigzag32` and so on.", "uint16"
    )
    byte_order: Literal["big", "little"] | None = key(
        "Its byte order; by default the format's, or `big` if a parameter decides that.", "little", alias="byteOrder"
    )
    counts: Literal["record", "itself"] = key(
        "What it counts: the `record`, or also the number `itself`.", "itself", default="record"
    )
    plus: int = key("Bytes that the record has in addition; may be negative.", 4, default=0)


class SizeFraming(Document):
    """Records of one size."""

    size: int = required_key("Bytes of each record.", 188)


class DelimiterFraming(Document):
    """Bytes after each record."""

    delimiter: HexText = required_key("The bytes.", "0d0a")
    escape: HexText | None = key("The escape byte.", "7d")
    xor: HexText | None = key("The byte after the escape is XORed with this.", "20")
    escaped: dict[str, HexText] | None = key("Or: what each byte after the escape means.", {"dc": "c0", "dd": "db"})


BareForm = Annotated[
    Annotated[Literal["none", "concatenated", "length-prefixed", "lines", "array", "slip", "cobs"], Tag("<text>")]
    | Annotated[PrefixFraming, Tag("<prefix>")]
    | Annotated[SizeFraming, Tag("<size>")]
    | Annotated[DelimiterFraming, Tag("<delimiter>")],
    form_by_key({"size": "<size>", "delimiter": "<delimiter>"}, "<prefix>"),
]


class HeaderFraming(Document):
    """A header before all records."""

    header: str = required_key("The root of the header.", "header")
    gives: dict[str, str] = key(
        "Parameters of the records, and the member of the header that gives each.",
        {"resolution": "resolution"},
        default={},
    )
    records: BareForm = required_key("The framing of the records after it.", "concatenated")


FramingForm = Annotated[
    Annotated[Literal["none", "concatenated", "length-prefixed", "lines", "array", "slip", "cobs"], Tag("<text>")]
    | Annotated[PrefixFraming, Tag("<prefix>")]
    | Annotated[SizeFraming, Tag("<size>")]
    | Annotated[DelimiterFraming, Tag("<delimiter>")]
    | Annotated[HeaderFraming, Tag("<header>")],
    form_by_key({"header": "<header>", "size": "<size>", "delimiter": "<delimiter>"}, "<prefix>"),
]

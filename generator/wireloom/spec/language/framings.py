"""Framings: how records follow one another in a stream."""

from typing import Annotated, Literal

from pydantic import Field, Tag

from wireloom.spec.language.base import Document, HexText, form_by_key


class PrefixFraming(Document):
    """A number before each record that says its size."""

    prefix: str = Field(
        description="The type of the number: `uint8` to `int64`, `varint32`, `zigzag32` and so on.", examples=["uint16"]
    )
    byte_order: Literal["big", "little"] | None = Field(
        default=None,
        alias="byteOrder",
        description="Its byte order; by default the format's, or `big` if a parameter decides that.",
        examples=["little"],
    )
    counts: Literal["record", "itself"] = Field(
        default="record",
        description="What it counts: the `record`, or also the number `itself`.",
        examples=["itself"],
    )
    plus: int = Field(default=0, description="Bytes that the record has in addition; may be negative.", examples=[4])


class SizeFraming(Document):
    """Records of one size."""

    size: int = Field(description="Bytes of each record.", examples=[188])


class DelimiterFraming(Document):
    """Bytes behind each record."""

    delimiter: HexText = Field(description="The bytes.", examples=["0d0a"])
    escape: HexText | None = Field(
        default=None,
        description="The escape byte.",
        examples=["7d"],
    )
    xor: HexText | None = Field(
        default=None, description="The byte after the escape is XORed with this.", examples=["20"]
    )
    escaped: dict[str, HexText] | None = Field(
        default=None,
        description="Or: what each byte after the escape means.",
        examples=[{"dc": "c0", "dd": "db"}],
    )


BareForm = Annotated[
    Annotated[Literal["none", "concatenated", "length-prefixed", "lines", "array", "slip", "cobs"], Tag("<text>")]
    | Annotated[PrefixFraming, Tag("<prefix>")]
    | Annotated[SizeFraming, Tag("<size>")]
    | Annotated[DelimiterFraming, Tag("<delimiter>")],
    form_by_key({"size": "<size>", "delimiter": "<delimiter>"}, "<prefix>"),
]


class HeaderFraming(Document):
    """A header before all records."""

    header: str = Field(description="The root of the header.", examples=["header"])
    gives: dict[str, str] = Field(
        default={},
        description="Parameters of the records, and the member of the header that gives each.",
        examples=[{"resolution": "resolution"}],
    )
    records: BareForm = Field(description="The framing of the records after it.", examples=["concatenated"])


FramingForm = Annotated[
    Annotated[Literal["none", "concatenated", "length-prefixed", "lines", "array", "slip", "cobs"], Tag("<text>")]
    | Annotated[PrefixFraming, Tag("<prefix>")]
    | Annotated[SizeFraming, Tag("<size>")]
    | Annotated[DelimiterFraming, Tag("<delimiter>")]
    | Annotated[HeaderFraming, Tag("<header>")],
    form_by_key({"header": "<header>", "size": "<size>", "delimiter": "<delimiter>"}, "<prefix>"),
]

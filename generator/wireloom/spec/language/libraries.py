"""Libraries: types that several formats have in common."""

from typing import Literal

from pydantic import Field

from wireloom.spec.language.base import Document, EncodingName
from wireloom.spec.language.formats import ChecksumForm, NamedRange, Parameter
from wireloom.spec.language.structs import NamedType


class LibraryDocument(Document):
    """Types for formats to import, and what these types name."""

    wireloom: Literal[1] = Field(description="The version of the language.", examples=[1])
    library: str = Field(description="Its name, which formats import.", examples=["network"])
    title: str = Field(description="What it is, in one line.", examples=["Names and addresses of networks"])
    doc: str = Field(default="", description="What it is, at length.", examples=["As RFC 1035 has them."])
    source: str = Field(default="", description="The document that it follows.", examples=["RFC 1035"])
    encoding: EncodingName = Field(
        description="The encoding of its structs, unless one has its own.", examples=["binary"]
    )
    byte_order: Literal["big", "little"] = Field(
        default="big", alias="byteOrder", description="The byte order of numbers.", examples=["little"]
    )
    imports: list[str] = Field(default=[], description="Libraries whose types it uses.", examples=[["text"]])
    parameters: dict[str, Parameter] = Field(
        default={},
        description="Parameters that its types use; formats that import these have them, too.",
        examples=[{"strict": {"type": "bool", "default": True}}],
    )
    errors: dict[str, str] = Field(
        default={}, description="Error codes of its types and what they mean.", examples=[{"bad_label": "No label."}]
    )
    checksums: dict[str, ChecksumForm] = Field(
        default={},
        description="Checksums by name.",
        examples=[{"crc16": {"width": 16, "poly": 4129, "init": 65535, "check": 10673}}],
    )
    ranges: dict[str, list[NamedRange]] = Field(
        default={}, description="Named ranges of integers.", examples=[{"Port": [{"max": 1023, "name": "system"}]}]
    )
    types: dict[str, NamedType] = Field(
        description="The types by name.", examples=[{"Address": {"fields": [{"port": "uint16"}]}}]
    )

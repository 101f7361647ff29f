"""Libraries: types that several formats share."""

from typing import Literal

from wireloom.spec.language.base import Document, EncodingName, key, required_key
from wireloom.spec.language.formats import ChecksumForm, NamedRange, Parameter
from wireloom.spec.language.structs import NamedType


class LibraryDocument(Document):
    """Types for formats to import, with everything that they refer to."""

    wireloom: Literal[1] = required_key("The version of the language.", 1)
    library: str = required_key("Its name, which formats import.", "network")
    title: str = required_key("What it is, in one line.", "Names and addresses of networks")
    doc: str = key("What it is, at length.", "As RFC 1035 has them.", default="")
    source: str = key("The document that it follows.", "RFC 1035", default="")
    encoding: EncodingName = required_key("The encoding of its structs, unless one has its own.", "binary")
    byte_order: Literal["big", "little"] = key("The byte order of numbers.", "little", default="big", alias="byteOrder")
    imports: list[str] = key("Libraries whose types it uses.", ["text"], default=[])
    parameters: dict[str, Parameter] = key(
        "Parameters that its types use; formats that import these have them, too.",
        {"strict": {"type": "bool", "default": True}},
        default={},
    )
    errors: dict[str, str] = key("Error codes of its types and what they mean.", {"bad_label": "No label."}, default={})
    checksums: dict[str, ChecksumForm] = key(
        "Checksums by name.", {"crc16": {"width": 16, "poly": 4129, "init": 65535, "check": 10673}}, default={}
    )
    ranges: dict[str, list[NamedRange]] = key(
        "Named ranges of integers.", {"Port": [{"max": 1023, "name": "system"}]}, default={}
    )
    types: dict[str, NamedType] = required_key("The types by name.", {"Address": {"fields": [{"port": "uint16"}]}})

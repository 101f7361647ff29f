"""The properties of an encoding that the stages ask for, and the words that describe it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

FLATTEN = "use `flatten`, which puts the columns of a struct beside those around it"


class Form(Enum):
    """The container that holds a struct's fields."""

    SEQUENCE = "sequence"  # binary: one after the other, or at offsets
    ARRAY = "array"  # MessagePack, JSON: by position
    OBJECT = "object"  # JSON, MessagePack: by member name
    MESSAGE = "message"  # protobuf: by field number


@dataclass(frozen=True, slots=True, eq=False)
class Encoding:
    """How the values of a struct are written. Encodings with the same name are equal."""

    name: str
    forms: tuple[Form, ...]  # of its structs; the first is the default
    laid_out: bool = False
    """Whether the spec lays out the bytes: offsets, sizes and byte order have a meaning."""
    text: bool = False
    """Whether values are JSON texts, with bytes as base64."""
    tells_kinds: bool = False
    """Whether each value on the wire shows its kind. Then unions choose by kind, and numbers may have any width."""
    numbered: bool = False
    """Whether fields are found by number, in any order, and a list is a repeated field."""
    open_ended: bool = False
    """Whether a struct does not show where it ends, so that the bytes around it must."""
    leaves_out: bool = False
    """Whether a struct may leave out any of its fields."""
    tries: bool = False
    """Whether bytes can be read a second time, as `attempt` needs."""
    null: str = "null"
    """The word for null on pages."""
    doc: str = ""
    """The description of the encoding on the pages of its formats."""
    codes: tuple[str, ...] = ()
    """The error codes that every format of the encoding may report."""
    keys: frozenset[str] = frozenset()
    """The keys of fields that have a meaning here, but not in every encoding."""
    types: Mapping[str, str] = field(default_factory=dict)
    """How each type of the language is written; types that the encoding lacks are missing."""
    instead: Mapping[str, str] = field(default_factory=dict)
    """What to write instead of a missing type, if the advice is special to the encoding."""
    instead_of_keys: Mapping[str, str] = field(default_factory=dict)
    """What to write instead of a key that has no meaning here, if there is a better way."""
    choice: str = ""
    """How a spec tells structs apart; shown as advice if a spec uses the way of another encoding."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Encoding) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)

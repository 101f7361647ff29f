"""What an encoding is: the properties that the stages ask for, and the words that describe it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum


class Form(Enum):
    """The container that holds a struct's fields."""

    SEQUENCE = "sequence"  # binary: one after the other, or at offsets
    ARRAY = "array"  # MessagePack, JSON: by position
    OBJECT = "object"  # JSON, MessagePack: by member name
    MESSAGE = "message"  # protobuf: by field number


@dataclass(frozen=True, slots=True, eq=False)
class Encoding:
    """How the values of a struct follow one another; those of one name are the same."""

    name: str
    forms: tuple[Form, ...]  # of its structs; the first is the default
    laid_out: bool = False
    """Whether the spec says where each value stands: places, sizes and the order of bytes have a meaning."""
    text: bool = False
    """Whether values are JSON texts, and bytes base64 in them."""
    tells_kinds: bool = False
    """Whether each value tells its kind, so that unions choose by it, and numbers have any width."""
    numbered: bool = False
    """Whether fields are told by numbers, in any order, and lists repeat their field."""
    open_ended: bool = False
    """Whether only the bytes around a struct tell where it ends."""
    leaves_out: bool = False
    """Whether a struct may leave out any of its fields."""
    tries: bool = False
    """Whether bytes can be read a second time, as `attempt` does."""
    null: str = "null"
    """What pages call the value null."""
    doc: str = ""
    """How pages describe it, for formats of that encoding."""
    codes: tuple[str, ...] = ()
    """The error codes that any input can give."""
    keys: frozenset[str] = frozenset()
    """The keys of a field that have a meaning, of those that do not have one in each encoding."""
    types: Mapping[str, str] = field(default_factory=dict)
    """How the types of the language are written, of those that have a form."""
    instead: Mapping[str, str] = field(default_factory=dict)
    """What to write for a type without a form, where the encoding knows better than the type."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Encoding) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)

"""The encodings of the language: one file for each, with the properties that the stages ask for.

A stage asks for a property of an encoding, never for its name. Where code must differ by encoding, each stage has it in
one place, under the encoding's name (docs/decisions/0023-encodings-as-properties.md).
"""

from wireloom.encodings.binary import BINARY
from wireloom.encodings.encoding import Encoding, Form
from wireloom.encodings.json import JSON
from wireloom.encodings.msgpack import MSGPACK
from wireloom.encodings.protobuf import PROTOBUF

__all__ = ["ENCODINGS", "Encoding", "Form", "encodings_of_key"]

ENCODINGS = {each.name: each for each in (BINARY, MSGPACK, PROTOBUF, JSON)}
"""Every encoding by its name, in the order in which the documentation names them."""


def encodings_of_key(key: str) -> tuple[str, ...]:
    """The encodings in which a key of a field has a meaning; empty if it has one in all."""
    return tuple(each.name for each in ENCODINGS.values() if key in each.keys)

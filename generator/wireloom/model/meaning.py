"""The meaning of a format as a digest: columns, layout, checks and parameters, but no documentation or examples.

Two specs with the same meaning read every record alike, into the same columns. So an edited comment does not make a new
version of a table. `contents` digests the whole model instead, documentation included. Both digests are the same in
every process.
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from wireloom.encodings import Encoding
from wireloom.model.format import Format

WORDS = frozenset(
    {"doc", "title", "source", "spec", "digest", "examples", "agrees", "circular", "needs", "named_versions"}
)
"""Fields of the model that do not affect decoded data."""
PLACES = frozenset({"column"})
"""Fields that hold a location in the spec."""
LATER = {
    "charset": "",
    "unit": 1,
    "behind": None,
    "filler": False,
    "spelling": None,
    "misspelled": "",
    "besides": None,
    "markers": None,
}
LATER |= {"escape": None, "escaped": (), "others": (), "ending": b"", "given": False, "stored": None}
LATER |= {"ahead": (), "after": (), "group": False, "held": None, "kept": False, "base": "", "entries": False}
LATER |= {"pieces": False, "octets": False, "ratio": 64, "microseconds": 0, "epoch": 0}
"""Fields added after the first digests: a field with this value is left out, so that the digests of old specs hold."""
FORMER = {"member": ""}
"""The value that the digest shows for None: these fields had it before None replaced it."""


def meaning(format: Format) -> str:
    """SHA-256, hexadecimal, of the meaning of the format."""
    return _digest(_plain(format, _relevant))


def contents(format: Format) -> str:
    """SHA-256, hexadecimal, of everything in the model of the format."""
    return _digest(_plain(format, lambda value: [(field.name, getattr(value, field.name)) for field in fields(value)]))


def _digest(plain: object) -> str:
    return hashlib.sha256(json.dumps(plain, separators=(",", ":")).encode()).hexdigest()


def _relevant(value: Any) -> list[tuple[str, object]]:  # noqa: ANN401 - any dataclass of the model
    """The fields of a part of the model that affect decoded data, and their values."""
    names = [field.name for field in fields(value) if field.compare and field.name not in WORDS | PLACES]
    names = [name for name in names if name not in LATER or getattr(value, name) != LATER[name]]
    values = ((name, getattr(value, name)) for name in names)
    return [(name, FORMER.get(name) if member is None else member) for name, member in values]


def _plain(value: object, members_of: Callable[[Any], list[tuple[str, object]]]) -> object:
    """The value as JSON values, each class by its name; `told` lists the fields of a part of the model."""
    match value:
        case Enum():
            return [type(value).__name__, value.name]
        case Encoding(name=name):
            return ["Encoding", name.upper()]
        case None | bool() | int() | float() | str():
            return value
        case bytes():
            return ["bytes", value.hex()]
        case tuple() | list():
            return [_plain(each, members_of) for each in value]
        case dict():
            return [[_plain(key, members_of), _plain(each, members_of)] for key, each in value.items()]
        case frozenset() | set():
            return sorted(json.dumps(_plain(each, members_of)) for each in value)
        case _ if is_dataclass(value) and not isinstance(value, type):
            return [type(value).__name__, *([name, _plain(member, members_of)] for name, member in members_of(value))]
        case _:
            raise TypeError(f"no part of a format is {value!r}")

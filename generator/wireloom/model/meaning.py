"""What a format means, as a digest: columns, layout, checks, parameters; not its documents, comments and examples.

`contents` is the digest of all that the model says, those included; both are the same in every process.

Two specs of the same meaning read every record alike, into the same columns; so an edit of a comment is no new version
of a table.
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
"""Fields of the model that readers of data do not notice."""
PLACES = frozenset({"column"})
"""Fields that say where in the spec something stands."""
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
LATER |= {"pieces": False, "octets": False, "ratio": 64}
"""Fields that came later, with what they say of specs that say nothing of them, whose meaning is as it was."""
FORMER = {"member": ""}
"""What fields that have nothing had in its place, when that said the same."""


def meaning(format: Format) -> str:
    """SHA-256, hexadecimal, of what the format means."""
    return _digest(_plain(format, _told))


def contents(format: Format) -> str:
    """SHA-256, hexadecimal, of everything that the model says of the format."""
    return _digest(_plain(format, lambda value: [(field.name, getattr(value, field.name)) for field in fields(value)]))


def _digest(plain: object) -> str:
    return hashlib.sha256(json.dumps(plain, separators=(",", ":")).encode()).hexdigest()


def _told(value: Any) -> list[tuple[str, object]]:  # noqa: ANN401 - any dataclass of the model
    """The fields of a part of the model that readers of data notice, and their values."""
    told = [field.name for field in fields(value) if field.compare and field.name not in WORDS | PLACES]
    told = [name for name in told if name not in LATER or getattr(value, name) != LATER[name]]
    values = ((name, getattr(value, name)) for name in told)
    return [(name, FORMER.get(name) if said is None else said) for name, said in values]


def _plain(value: object, told: Callable[[Any], list[tuple[str, object]]]) -> object:
    """The value in what JSON has, each class by its name; `told` are the fields of a part of the model."""
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
            return [_plain(each, told) for each in value]
        case dict():
            return [[_plain(key, told), _plain(each, told)] for key, each in value.items()]
        case frozenset() | set():
            return sorted(json.dumps(_plain(each, told)) for each in value)
        case _ if is_dataclass(value) and not isinstance(value, type):
            return [type(value).__name__, *([name, _plain(said, told)] for name, said in told(value))]
        case _:
            raise TypeError(f"no part of a format is {value!r}")

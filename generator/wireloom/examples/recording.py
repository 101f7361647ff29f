"""Outcomes, written into the examples of a spec that state none: a few lines more, everything else as it was.

YAML that is read and written again loses its layout, so the new entries are put into the text, behind the last entry of
their example. What comes out is read once more and must be what was there, and the entries; else nothing is written.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from wireloom.examples.differences import without_nulls
from wireloom.failures import DataError
from wireloom.problems import Location
from wireloom.runtime.errors import DecodeError
from wireloom.spec import yaml
from wireloom.spec.documents import Document

WIDTH = 120  # of a line, where there is a choice
INDENT = 2

Entries = Sequence[tuple[str, object]]

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_.+/=-]*( [A-Za-z0-9_.+/=-]+)*")
_OTHERWISE = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}  # what a plain text means to some reader


@dataclass(frozen=True, slots=True)
class Recorded:
    """What was written into an example."""

    location: Location
    format: str
    example: str
    entries: Entries

    def __str__(self) -> str:
        """`specs/x.yaml:41:5: x: two readings: recorded value: {...}`."""
        shown = ", ".join(f"{key}: {_flow(value)}" for key, value in self.entries)
        return f"{self.location}: {self.format}: {self.example}: recorded {shown}"


def entries(outcome: object) -> Entries:
    """What an example says of its outcome: a rendering, or a DecodeError."""
    if isinstance(outcome, DecodeError):
        path = [("path", outcome.path)] if outcome.path else []
        return (("error", outcome.code), *path, ("offset", outcome.offset))
    return (("value", without_nulls(outcome)),)


def record(document: Document, new: Mapping[int, Entries]) -> None:
    """Write entries into the examples of those numbers; raises DataError where the file cannot take them."""
    path, text = Path(document.file), document.data.decode("utf-8")
    if path.read_bytes() != document.data:
        raise DataError(f"{path} has changed meanwhile; nothing was written into it")
    written = recorded(text, new)
    if not _as_wished(text, written, new):
        raise DataError(f"{path}: the examples are written in a way that takes no more entries; write them by hand")
    path.write_bytes(written.encode("utf-8"))


def recorded(text: str, new: Mapping[int, Entries]) -> str:
    """The text with the entries in it."""
    ending = "\r\n" if "\r\n" in text else "\n"
    for index in sorted(new, reverse=True):  # from behind, so that places stay right
        example = yaml.raw_example(text, index)
        place = example.end
        if example.flow:
            inserted = "".join(f", {key}: {_flow(value)}" for key, value in new[index])
        else:
            place = _line_end(text, place)
            lines = [line for key, value in new[index] for line in _block(key, value, example.column)]
            inserted = "".join(ending + line for line in lines)
        text = text[:place] + inserted + text[place:]
    return text


def _as_wished(before: str, after: str, new: Mapping[int, Entries]) -> bool:
    """Whether nothing but the entries was added."""
    (old, _), (found, problems) = (yaml.parse(text, "") for text in (before, after))
    if old is None or found is None or problems:
        return False
    wished, now = yaml.plain(old), yaml.plain(found)
    assert isinstance(wished, dict)  # noqa: S101 - a spec that was read
    for index, added in new.items():
        wished["examples"][index].update(added)
    return repr(wished) == repr(now)  # true is not 1


def _line_end(text: str, place: int) -> int:
    found = text.find("\n", place)
    end = len(text) if found < 0 else found
    return end - 1 if text[:end].endswith("\r") else end


# --- values as YAML ------------------------------------------------------------------------------------------------


def _block(key: str, value: object, column: int) -> Iterator[str]:
    """An entry of a block mapping, on one line where it fits."""
    lead = f"{' ' * column}{_flow(key)}:"
    line = f"{lead} {_flow(value)}"
    match value:
        case dict() if len(line) > WIDTH:
            yield lead
            for name, member in value.items():
                yield from _block(name, member, column + INDENT)
        case list() if len(line) > WIDTH:
            yield lead
            yield from (f"{' ' * (column + INDENT)}- {_flow(element)}" for element in value)
        case _:
            yield line


def _flow(value: object) -> str:
    """A value on one line, as this language and YAML 1.1 read it alike."""
    match value:
        case dict():
            return "{" + ", ".join(f"{_flow(key)}: {_flow(inner)}" for key, inner in value.items()) + "}"
        case list():
            return "[" + ", ".join(map(_flow, value)) + "]"
        case str():
            return value if _PLAIN.fullmatch(value) and value.lower() not in _OTHERWISE else _quoted(value)
        case float():
            return _float(value)
        case _:
            return json.dumps(value)


def _quoted(text: str) -> str:
    quoted = json.dumps(text, ensure_ascii=False)
    return "".join(character if character.isprintable() else _escaped(character) for character in quoted)


def _escaped(character: str) -> str:
    return f"\\u{ord(character):04x}" if ord(character) < 1 << 16 else f"\\U{ord(character):08x}"


def _float(value: float) -> str:
    """A float has a point, so that it is one."""
    digits, exponent, power = repr(value).partition("e")
    return (digits if "." in digits else f"{digits}.0") + exponent + power

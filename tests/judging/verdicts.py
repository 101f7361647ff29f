"""The verdict about a vector, and the comparisons that judges share.

A vector passes if there are no findings. Any failure while it is judged, including a crash of a decoder, is a finding.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wireloom.runtime.errors import DecodeError

Manifest = Mapping[str, Any]
MOST_SHOWN = 8
WIDEST = 160


@dataclass(frozen=True, slots=True)
class Verdict:
    """A vector, the family in which it is counted, and the findings."""

    family: str
    name: str
    findings: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether there are no findings."""
        return not self.findings


def verdict(family: str, name: str, judge: Callable[[], Iterable[str]]) -> Verdict:
    """The findings of `judge`, including its own crash."""
    findings: list[str] = []
    try:
        findings.extend(judge())
    except Exception as error:  # noqa: BLE001 - a decoder may crash in any way, and the run must go on
        findings.append(f"crashed: {type(error).__name__}: {cut(str(error))}")
    return Verdict(family, name, tuple(findings))


def name_of(vector: object, number: int) -> str:
    """The name of a vector; without one, its index in the manifest."""
    named = isinstance(vector, dict) and (vector.get("id") or vector.get("name") or vector.get("file"))
    return str(named or f"[{number}]")


def require(vector: object, *members: str) -> None:
    """Raise ValueError if the manifest lacks data that are needed for judging the vector."""
    if not isinstance(vector, dict):
        raise ValueError(f"the manifest has no object here: {cut(repr(vector))}")  # noqa: TRY004 - a bad value of it
    if missing := [member for member in members if member not in vector]:
        raise ValueError(f"the manifest does not give {', '.join(missing)}")


def objects(found: object) -> list[Mapping[str, Any]]:
    """The objects in a value that should be a list of objects."""
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def read(folder: Path, vector: Mapping[str, Any], size: str) -> bytes:
    """The vector's bytes; raises if they do not match the manifest's description (`size` names their size)."""
    data = (folder / str(vector["file"])).read_bytes()
    if size in vector and len(data) != vector[size]:
        raise ValueError(f"{vector['file']} has {len(data)} bytes, the manifest says {vector[size]}")
    if "sha256" in vector and hashlib.sha256(data).hexdigest() != vector["sha256"]:
        raise ValueError(f"{vector['file']} is not the file that the manifest describes: another SHA-256")
    return data


def refusal(decode: Callable[[], object]) -> DecodeError | object:
    """The DecodeError of decoding, otherwise the value."""
    try:
        return decode()
    except DecodeError as error:
        return error


def refused_with(codes: Iterable[str], decode: Callable[[], object]) -> Iterator[str]:
    """Findings if decoding does not fail with one of these codes."""
    wanted = tuple(codes)
    found = refusal(decode)
    if not isinstance(found, DecodeError):
        yield f"expected {' or '.join(wanted)}, came the value {cut(repr(found))}"
    elif found.code not in wanted:
        yield f"expected {' or '.join(wanted)}, came {cut(str(found))}"


def accepted(decode: Callable[[], object]) -> tuple[Any, tuple[str, ...]]:
    """The value, and a finding if decoding fails."""
    found = refusal(decode)
    if isinstance(found, DecodeError):
        return None, (f"expected a value, came {cut(str(found))}",)
    return found, ()


def differences(expected: object, actual: object, path: str = "") -> Iterator[str]:
    """The differences of two trees of plain values; kinds count (1, 1.0 and true differ)."""
    place = path or "value"
    if type(expected) is not type(actual):
        yield f"{place}: expected {cut(repr(expected))}, came {cut(repr(actual))}"
    elif isinstance(expected, dict) and isinstance(actual, dict):
        for name in [*expected, *(name for name in actual if name not in expected)]:
            if name not in actual:
                yield f"{path}.{name}: expected {cut(repr(expected[name]))}, came nothing"
            elif name not in expected:
                yield f"{path}.{name}: expected nothing, came {cut(repr(actual[name]))}"
            else:
                yield from differences(expected[name], actual[name], f"{path}.{name}")
    elif isinstance(expected, list) and isinstance(actual, list):
        if len(expected) != len(actual):
            yield f"{place}: expected {len(expected)} elements, came {len(actual)}"
        for index, (left, right) in enumerate(zip(expected, actual, strict=False)):
            yield from differences(left, right, f"{path}[{index}]")
    elif expected != actual:
        yield f"{place}: expected {cut(repr(expected))}, came {cut(repr(actual))}"


def first(findings: Iterable[str]) -> Iterator[str]:
    """The first findings, and the number of the others."""
    every = list(findings)
    yield from every[:MOST_SHOWN]
    if len(every) > MOST_SHOWN:
        yield f"and {len(every) - MOST_SHOWN} more"


def cut(text: str) -> str:
    """The text on one line, cut to a maximum length."""
    line = " ".join(text.split())
    return line if len(line) <= WIDEST else f"{line[:WIDEST]}..."

"""Writes results into the examples of a spec: into those that state none, or another one.

Only the text that differs is edited (`editing`). The edited text is parsed again and must have the old content with the
new results; otherwise nothing is written.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from typing import Any

from wireloom.examples.differences import differences, without_nulls
from wireloom.examples.editing import Editor, edited, flow
from wireloom.failures import DataError
from wireloom.problems import Location
from wireloom.runtime.errors import DecodeError
from wireloom.spec import yaml
from wireloom.spec.documents import Document

Entries = Sequence[tuple[str, object]]


@dataclass(frozen=True, slots=True)
class Recorded:
    """A result that was written into an example."""

    location: Location
    format: str
    example: str
    entries: Entries

    def __str__(self) -> str:
        """`specs/x.yaml:41:5: x: two readings: recorded value: {...}`."""
        shown = ", ".join(f"{key}: {flow(value)}" for key, value in self.entries)
        return f"{self.location}: {self.format}: {self.example}: recorded {shown}"


@dataclass(frozen=True, slots=True)
class Revision:
    """A spec file, and its new text."""

    document: Document
    text: str

    def write(self) -> None:
        """Write the text; raises DataError if the file has changed since it was read."""
        path = Path(self.document.file)
        if path.read_bytes() != self.document.data:
            raise DataError(f"{path} has changed meanwhile; nothing was written into it")
        path.write_bytes(self.text.encode("utf-8"))

    def diff(self) -> Iterator[str]:
        """The lines of a unified diff."""
        before, after = self.document.data.decode("utf-8"), self.text
        old, new = ([line.removesuffix("\r") for line in text.split("\n")] for text in (before, after))
        return unified_diff(old, new, self.document.file, self.document.file, lineterm="")


def entries(outcome: object) -> Entries:
    """The members of an example that state a result: a rendering, or a DecodeError."""
    if isinstance(outcome, DecodeError):
        path = [("path", outcome.path)] if outcome.path else []
        return (("error", outcome.code), *path, ("offset", outcome.offset))
    return (("value", without_nulls(outcome)),)


def revise(document: Document, new: Mapping[int, Entries]) -> Revision:
    """Set the results of examples, by index; raises DataError if the text cannot be edited."""
    text = document.data.decode("utf-8")
    written = revised(text, new)
    if not _as_wished(text, written, new):
        message = "the examples are written in a way that this cannot edit; write by hand what `wireloom test` shows"
        raise DataError(f"{document.file}: {message}")
    return Revision(document, written)


def revised(text: str, new: Mapping[int, Entries]) -> str:
    """The text with new results of examples."""
    editor, nodes, examples = Editor(text), yaml.raw_examples(text), _plain(text)["examples"]
    return edited(
        text,
        [
            edit
            for index in sorted(new)
            for edit in editor.mapping(nodes[index], examples[index], _with(examples[index], new[index]))
        ],
    )


def _with(example: Mapping[str, object], outcome: Entries) -> dict[str, object]:
    """The example with the new result, without members that contradict it."""
    stated = dict(outcome)
    excluded = {"value", "rebuilds", "path", "offset"} if "error" in stated else {"error", "path", "offset"}
    return {name: value for name, value in example.items() if name in stated or name not in excluded} | stated


def _as_wished(before: str, after: str, new: Mapping[int, Entries]) -> bool:
    """Whether the edited examples have their new results, and everything else is unchanged."""
    found, problems = yaml.parse(after, "")
    if found is None or problems:
        return False
    wished: Any = _plain(before)
    now: Any = yaml.plain(found)
    for index, outcome in new.items():
        example, came = _with(wished["examples"][index], outcome), now["examples"][index]
        if example.keys() != came.keys() or any(differences(example, came)):
            return False
        wished["examples"][index] = came
    return repr(wished) == repr(now)  # unlike ==, tells true from 1


def _plain(text: str) -> Any:  # noqa: ANN401 - a spec that was read
    node, _ = yaml.parse(text, "")
    assert node is not None  # noqa: S101 - it was read
    return yaml.plain(node)

"""Finds the line in the spec of a field, or of the check that refused it: `specs/x.yaml:41`."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path

from wireloom.project import spec_files
from wireloom.runtime.errors import DecodeError
from wireloom.runtime.spans import Explained, Span
from wireloom.spec.yaml import (
    MappingNode,
    Node,
    ScalarNode,
    SequenceNode,
    child,
    entries,
    entries_below,
    items,
    parse,
    scalar,
)

_STEPS = ("check", "frame", "need", "end", "verify", "discard")


class SpecLines:
    """The lines of one format's fields, if its spec is in the folder."""

    def __init__(self, specs: Path, format: str, read: Sequence[Node] | None = None) -> None:
        """`read` has the parsed documents of the folder, if available."""
        self._specs, self._format, self._read = specs, format, read

    @cached_property
    def _documents(self) -> tuple[MappingNode, ...]:
        """The spec, and the libraries that it imports."""
        texts = self._texts() if self._read is None else {}
        found = self._named("format", self._format, texts)
        waiting, seen = list(found), list(found)
        while waiting:
            for name in _texts(child(waiting.pop(), "imports")):
                imported = [each for each in self._named("library", name, texts) if each not in seen]
                seen += imported
                waiting += imported
        return tuple(seen)

    def _texts(self) -> dict[Path, str]:
        if not self._specs.is_dir():
            return {}
        try:
            return {path: path.read_text(encoding="utf-8") for path in spec_files(self._specs)}
        except (OSError, UnicodeDecodeError):
            return {}

    def _named(self, key: str, name: str, texts: dict[Path, str]) -> list[MappingNode]:
        likely = (
            parse(text, str(path))[0]
            for path, text in texts.items()
            if f"{key}: {name}" in text or (f"{key}:" in text and name in text.partition("types:")[0])
        )
        nodes = likely if self._read is None else self._read
        return [node for node in nodes if isinstance(node, MappingNode) and scalar(child(node, key)) == name]

    def of(self, span: Span) -> str:
        """The line of a field; empty if unknown."""
        return self._line(span.holder, span.name) if span.name else ""

    def of_error(self, explained: Explained) -> str:
        """The line that refused a record: that of the check with its code, otherwise of the last field in its path."""
        error = explained.error
        if error is None:
            return ""
        failed = [span for span in explained.span.walk() if span.failed]
        holders = list(dict.fromkeys(each for span in reversed(failed) for each in (span.struct, span.holder) if each))
        for holder in holders:
            for step in self._steps(holder):
                if _has_code(step, error):
                    return _place(step.entries[0][0])
        names = [each for each in reversed(error.components) if isinstance(each, str)]
        for name in names:
            for holder in [*holders, ""]:
                line = self._line(holder, name)
                if line:
                    return line
        tags = (key for document in self._documents for name in names for key in _tagged(document, name))
        types = chain(tags, (key for holder in holders for key, _ in self._types(holder)))
        said = (key for document in self._documents for key in _about(document, error.code))
        return next((_place(key) for key in chain(types, said)), "")

    def _types(self, name: str) -> Iterator[tuple[ScalarNode, Node]]:
        """The entries for a type of that name in the documents."""
        every = (entry for document in self._documents for entry in entries(child(document, "types")))
        return (entry for entry in every if entry[0].text == name)

    def _line(self, holder: str, name: str) -> str:
        """The line of a field of a type. If the type is not found, that of the only field with the name."""
        for _, type in self._types(holder):
            for key in _keys(type):
                if key.text == name:
                    return _place(key)
        everywhere = [key for document in self._documents for key in _fields(document) if key.text == name]
        return _place(everywhere[0]) if len(everywhere) == 1 else ""

    def _steps(self, holder: str) -> Iterator[MappingNode]:
        """The steps between the fields of a type."""
        for _, type in self._types(holder):
            for item in items(child(type, "fields")):
                if isinstance(item, MappingNode) and item.entries and item.entries[0][0].text in _STEPS:
                    yield item


def _has_code(step: MappingNode, error: DecodeError) -> bool:
    """Whether a step has the code of the error, and concerns the field of the error."""
    name, said = step.entries[0]
    if name.text == "end":
        return scalar(said) == error.code
    field = scalar(child(said, "field"))
    at = error.components[-1] if error.components else ""
    return scalar(child(said, "else")) == error.code and field in ("", at)


def _keys(type: Node) -> Iterator[ScalarNode]:
    """The names of a type's fields and of their bits."""
    for item in items(child(type, "fields")):
        if isinstance(item, MappingNode) and item.entries and item.entries[0][0].text not in _STEPS:
            name, said = item.entries[0]
            yield name
            yield from (key for key, _ in entries(child(said, "bits")))
    for key in ("versions", "members"):
        for inner in items(child(type, key)):
            yield from _keys(inner)


def _fields(node: Node) -> Iterator[ScalarNode]:
    """The names of all fields below a node."""
    match node:
        case MappingNode():
            yield from _keys(node)
            for key, inner in node.entries:
                if key.text != "examples":
                    yield from _fields(inner)
        case SequenceNode():
            for inner in node.items:
                yield from _fields(inner)
        case ScalarNode():
            pass


def _about(document: MappingNode, code: str) -> Iterator[ScalarNode]:
    """The places where a document uses an error code, then those where it documents the code."""
    types = [inner for key, inner in document.entries if key.text not in ("errors", "examples")]
    yield from (key for node in types for key, inner in _keyed(node, "else") if scalar(inner) == code)
    yield from (key for key, _ in entries(child(document, "errors")) if key.text == code)


def _tagged(document: MappingNode, name: str) -> Iterator[ScalarNode]:
    """The places where a member of that name selects an alternative."""
    return (key for key, inner in _keyed(document, "select") if scalar(child(inner, "member")) == name)


def _keyed(node: Node, name: str) -> Iterator[tuple[ScalarNode, Node]]:
    """The entries with that key below a node."""
    return (entry for entry in entries_below(node) if entry[0].text == name)


def _texts(node: Node | None) -> Iterator[str]:
    yield from filter(None, map(scalar, (node, *items(node))))


def _place(node: ScalarNode) -> str:
    return f"{node.location.file}:{node.location.line}"

"""Converts Kaitai Struct (.ksy) to a spec: read files, define types, translate them, write the spec.

`draft` gives the text of a spec and its findings. The caller checks the text, collects the places that the check
refuses (`Draft.blamed`), and asks for another draft without those, until the check accepts one.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wireloom.importing import writing
from wireloom.importing.findings import Finding, ImportRefusedError
from wireloom.importing.ksy.definitions import Definition, define
from wireloom.importing.ksy.forms import Use
from wireloom.importing.ksy.reading import Files
from wireloom.importing.ksy.reading import text as text_of
from wireloom.importing.ksy.scopes import UntranslatableError
from wireloom.importing.ksy.structs import Structs
from wireloom.importing.ksy.words import INVALID
from wireloom.importing.naming import format_name, one_line
from wireloom.importing.settling import Draft, Refusals
from wireloom.names import format_name_flaw
from wireloom.spec.yaml import child

__all__ = ["Description", "Draft", "draft", "read"]

_WORD = re.compile(r"[A-Z][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Description:
    """A file with its imports, and what is wrong with it."""

    files: Files
    definition: Definition
    findings: tuple[Finding, ...]


def read(file: Path, folders: Sequence[Path] = ()) -> Description:
    """Read a description; raises ImportRefusedError if the file has none."""
    files = Files(file, folders)
    definition = define(files)
    return Description(files, definition, tuple(files.findings))


def draft(description: Description, refused: Refusals) -> Draft:
    """The spec of a description, without the refused parts; raises ImportRefusedError."""
    files, definition = description.files, description.definition
    files.findings[:] = description.findings
    structs = Structs(files, refused)
    try:
        root = structs.struct(definition, None, Use(in_region=True))
    except UntranslatableError as error:
        raise ImportRefusedError(
            *files.findings, Finding(definition.location, error.kind, error.message, error.hint)
        ) from error
    for name, scope in structs.scopes.items():
        structs.types[name] = structs.body(scope)
    name = _format_name(files, definition)
    types = _reached(root.name, structs.types)
    head = _head(name, definition, structs, root.name, root.byte_order)
    origins = {
        (each, number): entry.origin
        for each, scope in structs.scopes.items()
        for number, entry in enumerate(scope.entries)
        if entry.origin is not None
    }
    findings = tuple(sorted(set(files.findings)))
    text = writing.document(head, types, f"From {files.main.name}, by `wireloom import ksy`.")
    return Draft(name, text, findings, origins, structs.origins, structs.rounds, structs.depth)


def _head(name: str, definition: Definition, structs: Structs, root: str, order: str | None) -> dict[str, Any]:
    head: dict[str, Any] = {"wireloom": 1, "format": name}
    head["title"] = one_line(text_of(definition.meta("title")) or name)
    if definition.doc:
        head["doc"] = one_line(definition.doc)
    if isinstance(source := text_of(child(definition.node, "doc-ref")), str):
        head["source"] = one_line(source)
    head["encoding"] = "binary"
    if order == "little":
        head["byteOrder"] = order
    if structs.ranges:
        head["ranges"] = structs.ranges
    if structs.has_checks:
        head["errors"] = {INVALID: "A value that the description does not allow."}
    return head | {"root": root}


def _format_name(files: Files, definition: Definition) -> str:
    name, other = definition.name, format_name(definition.name)
    flaw = format_name_flaw(name)
    if not flaw:
        return name
    files.find("name", definition.node, f"the format is called {other}, not {name}: {flaw}", "choose another name")
    return other


def _reached(root: str, types: Mapping[str, Any]) -> dict[str, Any]:
    """The root, then the types that it uses, in their original order."""
    reached, ahead = {root}, [root]
    while ahead:
        for word in set(_WORD.findall(repr(types[ahead.pop()]))):
            if word in types and word not in reached:
                reached.add(word)
                ahead.append(word)
    return {root: types[root], **{name: body for name, body in types.items() if name in reached and name != root}}

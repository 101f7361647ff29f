"""Kaitai Struct (.ksy) to a spec: read, define, translate, write.

`draft` gives the text of a spec and what it lacks. Whoever has the resolver checks the text, says which places of it
were refused (`Draft.blamed`), and asks for another draft without those: so what is written is a spec.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wireloom.importing.findings import Finding, ImportRefusedError
from wireloom.importing.ksy import writing
from wireloom.importing.ksy.definitions import Definition, define
from wireloom.importing.ksy.forms import Use
from wireloom.importing.ksy.making import BYTES_TOO, SHALLOWER, one_line
from wireloom.importing.ksy.reading import Files
from wireloom.importing.ksy.reading import text as said
from wireloom.importing.ksy.scopes import NotCarriedError
from wireloom.importing.ksy.structs import Structs
from wireloom.importing.ksy.words import INVALID
from wireloom.importing.settling import Refusals
from wireloom.names import format_name_flaw
from wireloom.problems import Location, Problem
from wireloom.spec.yaml import child

__all__ = ["Description", "Draft", "draft", "read"]

_PREAMBLE = "# yaml-language-server: $schema=wireloom.schema.json\n# From {name}, by `wireloom import ksy`.\n"
_WORD = re.compile(r"[A-Z][A-Za-z0-9_]*")
_PATH = re.compile(r"types\.(?P<type>[A-Za-z0-9_]+)(?:\.fields\[(?P<field>[0-9]+)\])?")


@dataclass(frozen=True, slots=True)
class Draft:
    """A spec, and what it lacks of the description."""

    format: str
    text: str
    findings: tuple[Finding, ...]
    origins: Mapping[tuple[str, int], Location]
    types: Mapping[str, Location]
    rounds: Mapping[str, Sequence[Location]]
    depth: int

    def blamed(self, problems: Iterable[Problem], known: Refusals) -> dict[Location, tuple[str, str]]:
        """The places of the description that problems of the spec come from, with what they say that is not known."""
        found: dict[Location, tuple[str, str]] = {}
        for problem in problems:
            match = _PATH.match(problem.path)
            if match is None:
                continue
            place = (match["type"], int(match["field"] or -1))
            location = self.origins.get(place)
            own = self.types.get(match["type"])
            for each in [location] if location else self.rounds.get(match["type"]) or ([own] if own else []):
                _add(found, each, _verdict(problem, self.depth))
        news = {each: _again(known[each], said) if each in known else said for each, said in found.items()}
        return {each: said for each, said in news.items() if said != known.get(each)}


def _add(found: dict[Location, tuple[str, str]], place: Location, said: tuple[str, str]) -> None:
    found[place] = _both(found.get(place), said)


def _again(known: tuple[str, str], said: tuple[str, str]) -> tuple[str, str]:
    """What is refused of a place that was before: its bytes, too, where something was refused as a whole."""
    if known[0] == SHALLOWER:
        return _both(known, said)
    return known if known[1].endswith(BYTES_TOO) else (known[0], f"{known[1]}{BYTES_TOO}")


def _both(known: tuple[str, str] | None, said: tuple[str, str]) -> tuple[str, str]:
    """What two refusals of one place come to: the smaller depth, unless something cannot be said at all."""
    if known is None or (known[0] == SHALLOWER and said[0] != SHALLOWER):
        return said
    return min(known, said, key=lambda each: int(each[1])) if said[0] == known[0] == SHALLOWER else known


def _verdict(problem: Problem, depth: int) -> tuple[str, str]:
    """What is refused and why; or the depth that types which hold themselves are to have instead."""
    if problem.id == "too-large" and depth > 1:
        return SHALLOWER, str(depth // 2)
    return f"the spec cannot say it: {problem.message}", problem.hint


@dataclass(frozen=True, slots=True)
class Description:
    """A file as it was read, with its imports, and what is wrong with it."""

    files: Files
    definition: Definition
    findings: tuple[Finding, ...]


def read(file: Path, folders: Sequence[Path] = ()) -> Description:
    """The description that a file is; raises ImportRefusedError where it is none."""
    files = Files(file, folders)
    definition = define(files)
    return Description(files, definition, tuple(files.findings))


def draft(description: Description, refused: Refusals) -> Draft:
    """The spec that a description stands for, without what was refused; raises ImportRefusedError."""
    files, definition = description.files, description.definition
    files.findings[:] = description.findings
    structs = Structs(files, refused)
    try:
        root = structs.struct(definition, None, Use(in_region=True))
    except NotCarriedError as error:
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
    text = f"{_PREAMBLE.format(name=files.main.name)}{writing.document(head, types)}"
    return Draft(name, text, findings, origins, structs.origins, structs.rounds, structs.depth)


def _head(name: str, definition: Definition, structs: Structs, root: str, order: str | None) -> dict[str, Any]:
    head: dict[str, Any] = {"wireloom": 1, "format": name}
    head["title"] = one_line(said(definition.meta("title")) or name)
    if definition.doc:
        head["doc"] = one_line(definition.doc)
    if isinstance(source := said(child(definition.node, "doc-ref")), str):
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
    name = definition.name
    flaw = format_name_flaw(name)
    if not flaw:
        return name
    other = f"{re.sub('[^a-z0-9_]', '_', name.lower())[:90]}_format"
    other = other if other[0].isalpha() else f"f{other}"
    files.find("name", definition.node, f"the format is called {other}, not {name}: {flaw}", "choose another name")
    return other


def _reached(root: str, types: Mapping[str, Any]) -> dict[str, Any]:
    """The root first, then the types that it leads to, in their order."""
    reached, ahead = {root}, [root]
    while ahead:
        for word in set(_WORD.findall(repr(types[ahead.pop()]))):
            if word in types and word not in reached:
                reached.add(word)
                ahead.append(word)
    return {root: types[root], **{name: body for name, body in types.items() if name in reached and name != root}}

"""The problems of a JSON document that the decoder refuses: its text's, its schema's, and the decoder's own.

What the reader of texts can go on behind (a member that is there twice) is a problem beside the schema's; what it
cannot go on behind is the last one, since nothing is known of the rest.
"""

import json
from collections.abc import Sequence
from dataclasses import replace

from wireloom.runtime.errors import CheckError, Component, DecodeError, shown
from wireloom.runtime.parsers.json.nodes import Node
from wireloom.runtime.parsers.json.text import read
from wireloom.runtime.validation.problems import Places, Problem, message, of_error, pointer, positions
from wireloom.runtime.validation.schema import MOST, Finding, Schema

DEEPEST = 200
"""Containers in one another that a document may have to be judged by its schema; of deeper ones the decoder speaks."""
_OF_TEXTS = frozenset(
    (
        *("truncated", "trailing_bytes", "json_syntax", "json_nonfinite", "invalid_utf8", "duplicate_key"),
        *("depth_limit", "size_limit"),
    )
)
"""Codes that no schema has words for."""


def problems(data: bytes, error: DecodeError, schema: Schema, document: Node | None = None) -> list[Problem]:
    """Everything that is wrong with a text that the decoder refuses with that error, in the order of the text.

    `document` is the text as the decoder has read it, where it could.
    """
    repeated: list[DecodeError] = []
    try:
        if document is None or data.count(b"{") + data.count(b"[") > DEEPEST:
            document = read(data, DEEPEST, repeated=repeated)
    except DecodeError as unread:
        if unread.code == "depth_limit":
            unread = error
        errors = [*repeated, unread, *([] if _same(unread, error) else [error])]
        return _placed(data, [of_error(each) for each in errors[:MOST]])
    places = Places(document)
    try:
        findings = schema.findings(document)[:MOST]
    except RecursionError:
        findings = ()
    own = places.found(error.components, error.offset)
    if isinstance(error, CheckError):
        findings = [finding for finding in findings if not _says(finding, own, places)]
    found = [_of_finding(finding, places) for finding in findings]
    found += [_of_error(each, places.found(each.components, each.offset)) for each in repeated[:MOST]]
    if not (_covered(error, own, findings, places) or any(_same(each, error) for each in repeated)):
        found.append(_of_error(error, own))
    return _placed(data, list(dict.fromkeys(found)))


def judged(data: bytes, schema: Schema) -> list[Problem]:
    """What the schema alone says of a text; raises DecodeError where it is no JSON."""
    document = read(data, DEEPEST)
    places = Places(document)
    return _placed(data, [_of_finding(finding, places) for finding in schema.findings(document)])


def _of_finding(finding: Finding, places: Places) -> Problem:
    text = message(finding.expected, finding.actual)
    path = pointer(places.path(finding.node))
    return Problem(path, finding.rule, text, finding.expected, finding.actual, finding.offset)


def _of_error(error: DecodeError, path: Sequence[Component]) -> Problem:
    return replace(of_error(error), path=pointer(path))


def _covered(error: DecodeError, own: tuple[Component, ...], findings: Sequence[Finding], places: Places) -> bool:
    """Whether the schema says the decoder's error, too: of the same place, or of what is around or within it."""
    if error.code in _OF_TEXTS or isinstance(error, CheckError):
        return False
    paths = (places.path(finding.node) for finding in findings)
    return any(path[: len(own)] == own[: len(path)] for path in paths)


def _says(finding: Finding, own: tuple[Component, ...], places: Places) -> bool:
    """Whether the schema says no more than the check that refuses a value in that place, which has code and reason."""
    path = places.path(finding.node)
    return path == own or (finding.rule == "not" and path == own[: len(path)])


def _same(one: DecodeError, other: DecodeError) -> bool:
    return (one.code, one.offset) == (other.code, other.offset)


def _placed(data: bytes, found: list[Problem]) -> list[Problem]:
    """The problems in the order of the text, each with its line and column."""
    known = positions(data, (each.offset for each in found if each.offset is not None))
    placed = [_at(each, known) for each in found]
    return sorted(placed, key=lambda each: (each.offset or 0, each.path, each.rule))


def _at(problem: Problem, known: dict[int, tuple[int, int]]) -> Problem:
    line, column = known[problem.offset or 0]
    return replace(problem, line=line, column=column)


# --- parsed documents ----------------------------------------------------------------------------------------------


def text(document: object) -> bytes | Problem:
    """The text of a parsed document, as `json` writes it; a problem where it holds what JSON has no value for."""
    try:
        return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    except (TypeError, ValueError, RecursionError) as error:
        return _unwritable(document, error)


def _unwritable(document: object, error: Exception) -> Problem:
    """The first value that JSON does not have, or what is wrong with the whole where there is none."""
    pending: list[tuple[object, tuple[Component, ...]]] = [(document, ())]
    while pending:
        value, path = pending.pop()
        match value:
            case _ if len(path) > DEEPEST:
                expected, actual = f"at most {DEEPEST} containers in one another", "one more inside"
                return Problem(pointer(path), "depth_limit", message(expected, actual), expected, actual)
            case dict() if all(isinstance(name, str) for name in value):
                pending += reversed([(below, (*path, name)) for name, below in value.items()])
            case list() | tuple():
                pending += reversed([(below, (*path, place)) for place, below in enumerate(value)])
            case None | bool() | int() | float() | str():
                pass
            case _:
                expected, actual = "a value that JSON has", shown(value)
                return Problem(pointer(path), "type", message(expected, actual), expected, actual)
    expected = "a document that can be written as JSON"
    return Problem("", "type", message(expected, str(error)), expected, str(error))

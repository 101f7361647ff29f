"""The problems of a JSON document that the decoder refuses: of its text, by the schema, and of the decoder.

If the text reader can continue after a problem (a duplicate name), it is listed beside those of the schema. If it
cannot, that problem is the last one, since the rest is unknown.
"""

import json
from collections.abc import Sequence

from wireloom.runtime.engine import module
from wireloom.runtime.errors import CheckError, Component, DecodeError, shown
from wireloom.runtime.parsers.json.nodes import Nesting, Node, SourceText
from wireloom.runtime.parsers.json.text import read
from wireloom.runtime.validation.findings import MOST, Finding
from wireloom.runtime.validation.problems import Path, Problem, Wrong, path_at, path_found, placed, problem
from wireloom.runtime.validation.schema import Schema

DEEPEST = 200
"""The most nested containers of a document that the schema judges; a deeper one gets only the decoder's error."""
_OF_TEXTS = frozenset(
    (
        *("truncated", "trailing_bytes", "json_syntax", "json_nonfinite", "invalid_utf8", "duplicate_key"),
        *("depth_limit", "size_limit"),
    )
)
"""Error codes that a schema cannot express."""
_OF_CONTENTS = ("required", "minItems", "maxItems")  # these rules say nothing about the values inside a container


def regular(data: bytes, max_depth: int, start: int = 0, _known: object = None) -> Node:
    """The nodes of a text as `read` returns them, from the engine if it is available and the text is regular."""
    native = module()
    found: Node | None = None
    if native is not None and start == 0:
        found = native.document(data, max_depth, Node, SourceText(data, Nesting(max_depth)))
    return read(data, max_depth, start) if found is None else found


def problems(data: bytes, error: DecodeError, schema: Schema, document: Node | None = None) -> list[Problem]:
    """Everything that is wrong with a text that the decoder refuses with `error`, in the order of the text.

    `document` is the text as the decoder has read it, if it could.
    """
    repeated: list[DecodeError] = []
    try:
        if document is None or data.count(b"{") + data.count(b"[") > DEEPEST:
            document = read(data, DEEPEST, repeated=repeated)
    except DecodeError as unread:
        if unread.code == "depth_limit":
            unread = error
        errors = [*repeated, unread, *([] if _same(unread, error) else [error])]
        return placed(data, [_of_error(each, each.components) for each in errors[:MOST]])
    try:
        findings = schema.findings(document)[:MOST]
    except RecursionError:
        findings = ()
    own = path_found(document, error.components, error.offset)
    found = [(finding, path_at(document, finding.node.start)) for finding in findings]
    if isinstance(error, CheckError):
        found = [(finding, path) for finding, path in found if not _states(finding, path, own)]
    wrong = [_of_finding(finding, path) for finding, path in found]
    wrong = [_in_words_of(error, each, own) for each in wrong]
    wrong += [_of_error(each, path_found(document, each.components, each.offset)) for each in repeated[:MOST]]
    if not (_covered(error, own, found) or any(_same(each, error) for each in repeated)):
        wrong.append(_of_error(error, own))
    return placed(data, dict.fromkeys(wrong))


def judged(data: bytes, schema: Schema) -> list[Problem]:
    """The problems of a text by the schema alone; raises DecodeError if it is not JSON."""
    document = regular(data, DEEPEST)
    return placed(data, [_of_finding(each, path_at(document, each.node.start)) for each in schema.findings(document)])


def _of_finding(finding: Finding, path: Sequence[Component]) -> Wrong:
    demand = finding.demand
    return Wrong(finding.offset, tuple(path), demand.rule, demand.expected, finding.actual)


def _in_words_of(error: DecodeError, wrong: Wrong, own: Path) -> Wrong:
    """A misspelled text in the words of the decoder, if the decoder refuses the same value."""
    if wrong.rule != "pattern" or wrong.path != own:
        return wrong
    return wrong._replace(expected=error.expected, actual=error.actual)


def _of_error(error: DecodeError, path: Sequence[Component]) -> Wrong:
    return Wrong(error.offset, tuple(path), error.code, error.expected, error.actual)


def _covered(error: DecodeError, own: Path, found: Sequence[tuple[Finding, Path]]) -> bool:
    """Whether the schema reports the decoder's error too."""
    if error.code in _OF_TEXTS or isinstance(error, CheckError):
        return False
    return any(_covers(finding.demand.rule, path, own) for finding, path in found)


def _covers(rule: str, path: Path, own: Path) -> bool:
    """Whether a finding is about the value at a path: at the same path, within it, or about a container around it."""
    return path[: len(own)] == own or (path == own[: len(path)] and rule not in _OF_CONTENTS)


def _states(finding: Finding, path: Path, own: Path) -> bool:
    """Whether a finding only repeats a failed check at that path; the check has its own code and reason."""
    return path == own or (finding.demand.rule == "not" and path == own[: len(path)])


def _same(one: DecodeError, other: DecodeError) -> bool:
    return (one.code, one.offset) == (other.code, other.offset)


# --- parsed documents ----------------------------------------------------------------------------------------------


def text(document: object) -> bytes | Problem:
    """The text of a parsed document, as `json` writes it; a problem if it has a value that JSON lacks."""
    try:
        return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    except (TypeError, ValueError, RecursionError) as error:
        return _unwritable(document, error)


def _unwritable(document: object, error: Exception) -> Problem:
    """The first value that JSON lacks, or the problem of the whole document if there is none."""
    pending: list[tuple[object, tuple[Component, ...]]] = [(document, ())]
    while pending:
        value, path = pending.pop()
        match value:
            case _ if len(path) > DEEPEST:
                expected, actual = f"at most {DEEPEST} nested containers", "a deeper one"
                return problem(path, "depth_limit", expected, actual)
            case dict() if all(isinstance(name, str) for name in value):
                pending += reversed([(below, (*path, name)) for name, below in value.items()])
            case list() | tuple():
                pending += reversed([(below, (*path, place)) for place, below in enumerate(value)])
            case None | bool() | int() | float() | str():
                pass
            case _:
                expected, actual = "a value that JSON has", shown(value)
                return problem(path, "type", expected, actual)
    expected = "a document that can be written as JSON"
    return problem((), "type", expected, str(error))

"""Of a document that lacks parts: the problems that it has anyway, without those that follow from what is lacking.

Parts are lacking where their shape was wrong, which was said already. A problem counts where it is about one place
alone, and where neither that place nor the message has a name that went with those parts.
"""

import re
from collections.abc import Iterable, Iterator

from wireloom.problems import Problem
from wireloom.spec.documents import Document

_WORD = re.compile(r"\w+")
_FOLLOWING = frozenset(
    {  # what is wrong with the document as a whole, as soon as a part of it is lacking
        "missing-root",
        "recursive-type",
        "split-byte",
        "unreachable-type",
        "unused-parameter",
        "ambiguous-alternatives",
        "conflicting-keys",
        "wrong-shape",
        "bad-case",
        "impossible-value",
        "gap-in-layout",
        "overlapping-fields",
        "greedy-field",
        "version-arity",
        "unknown-version",
        "unknown-field",
        "unverified-checksum",
        "unused-code",
        "useless-else",
        "missing-tag",
        "checksum-check-value",
        "schema-misfit",
        "unfit-parameter",
        "wrong-encoding",
        "example-outcome",
        "example-root",
        "example-parameter",
        "example-value",
    }
)
_OF_FIELD = ("bad-value-key", "mixed-values")  # what follows where something of a field is lacking
_OF_MAPPING = {  # what follows where a whole mapping is lacking
    "types:": {"unknown-type", "unknown-name", "later-name", "unknown-field", "duplicate-field"},
    "imports:": {"unknown-type"},
    "parameters:": {"unknown-parameter", "unknown-name"},
    "errors:": {"unknown-code"},
    "checksums:": {"unknown-checksum"},
    "ranges:": {"unknown-ranges"},
}


def independent(problems: Iterable[Problem], document: Document, dropped: frozenset[str]) -> Iterator[Problem]:
    """The problems that the document has whatever the lacking parts say."""
    lines = document.data.decode("utf-8").splitlines()
    dropped |= {name.partition("(")[0] for name in dropped if "(" in name}  # types with parameters
    excluded = _FOLLOWING.union(*(ids for mapping, ids in _OF_MAPPING.items() if mapping in dropped))
    for problem in problems:
        written = _written(problem, lines) if problem.location.file == document.file else ""  # else of a library
        words = {*_WORD.findall(problem.message), *_WORD.findall(written)}
        if problem.id in _OF_FIELD and dropped & set(_WORD.findall(problem.path)):
            continue
        if problem.id not in excluded and not words & dropped and not problem.path.startswith("examples"):
            yield problem


def _written(problem: Problem, lines: list[str]) -> str:
    """What is written at the problem's place: from the beginning of the value that it stands in."""
    line, column = lines[problem.location.line - 1], problem.location.column - 1
    return re.split(r"[{,:-] ", line[:column])[-1] + re.split(r", |}", line[column:])[0]

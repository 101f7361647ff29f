"""Reports of problems: lines for people, lines of JSON, annotations of GitHub, and SARIF for other tools.

Each is written as the problems come, so that a report may be larger than memory.
"""

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Literal, assert_never, get_args
from urllib.parse import quote

from wireloom import __version__
from wireloom.escapes import json_text
from wireloom.runtime.validation.problems import Problem
from wireloom.validating import Bad

Form = Literal["text", "json", "sarif", "github"]
FORMS: tuple[str, ...] = get_args(Form)
_SARIF = "https://json.schemastore.org/sarif-2.1.0.json"


class Report:
    """A report being written by `say`, and the count of problems by rule."""

    def __init__(self, form: Form, say: Callable[[str], None]) -> None:
        self.rules: Counter[str] = Counter()
        self._form, self._say = form, say
        if form == "sarif":
            say(f'{{"$schema": "{_SARIF}", "version": "2.1.0", "runs": [{{"results": [')

    @property
    def count(self) -> int:
        """The problems so far."""
        return self.rules.total()

    def add(self, file: str, bad: Bad, problem: Problem) -> None:
        """One problem more, of a file."""
        match self._form:
            case "text":
                self._say(_line(file, bad, problem))
            case "json":
                self._say(json_text({"file": file, "record": bad.index, **asdict(problem)}))
            case "sarif":
                comma = "," if self.count else ""
                self._say(comma + json_text(_result(file, bad, problem)))
            case "github":
                self._say(_annotation(file, bad, problem))
            case _:
                assert_never(self._form)
        self.rules[problem.rule] += 1

    def end(self) -> None:
        """The report is whole."""
        if self._form == "sarif":
            rules = [{"id": rule} for rule in self.rules]
            driver = {"name": "wireloom", "version": __version__, "rules": rules}
            self._say(f'], "columnKind": "unicodeCodePoints", "tool": {json.dumps({"driver": driver})}}}]}}')

    def summary(self) -> Iterator[str]:
        """The rules that were broken, the most often first."""
        width = len(f"{max(self.rules.values(), default=0):,}")
        for rule, count in sorted(self.rules.items(), key=lambda entry: (-entry[1], entry[0])):
            yield f"  {count:>{width},}  {rule}"


def _line(file: str, bad: Bad, problem: Problem) -> str:
    """`events.jsonl:3:14: bins[0].value (/bins/0/value): expected an integer, found a string [type]`."""
    known = problem.line is not None
    place = f"{file}:{problem.line}:{problem.column}" if known else f"{file}: {_place(bad, problem)}"
    return f"{place}: {_text(problem)} [{problem.rule}]"


def _place(bad: Bad, problem: Problem) -> str:
    return f"record {bad.index}, byte {problem.offset}"


def _text(problem: Problem) -> str:
    """The message at its path, with the JSON pointer where that is written otherwise."""
    if not problem.path:
        return problem.message
    pointed = f" ({problem.pointer})" if problem.pointer != f"/{problem.path}" else ""
    return f"{problem.path}{pointed}: {problem.message}"


def _annotation(file: str, bad: Bad, problem: Problem) -> str:
    """A command of GitHub's workflows: an error at a line of a file, or at the file where no line is known."""
    places = {"file": file, "line": problem.line, "col": problem.column, "title": problem.rule}
    stated = ",".join(f"{name}={_property(str(place))}" for name, place in places.items() if place is not None)
    text = _text(problem) if problem.line is not None else f"{_place(bad, problem)}: {_text(problem)}"
    return f"::error {stated}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _result(file: str, bad: Bad, problem: Problem) -> dict[str, object]:
    region: dict[str, object] = {"byteOffset": problem.offset}
    if problem.line is not None:
        region |= {"startLine": problem.line, "startColumn": problem.column}
    name = f"record {bad.index}{problem.pointer}"
    return {
        "ruleId": problem.rule,
        "level": "error",
        "message": {"text": _text(problem)},
        "locations": [
            {
                "physicalLocation": {"artifactLocation": {"uri": quote(os.fsencode(file))}, "region": region},
                "logicalLocations": [{"fullyQualifiedName": name}],
            }
        ],
    }

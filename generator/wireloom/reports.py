"""Reports of findings: lines for people, lines of JSON, annotations of GitHub, and SARIF for other tools.

Findings are written as they come, so a report may be larger than memory.
"""

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, assert_never, get_args
from urllib.parse import quote

from wireloom import __version__
from wireloom.escapes import json_text
from wireloom.problems import Location

Form = Literal["text", "json", "sarif", "github"]
FORMS: tuple[str, ...] = get_args(Form)
Level = Literal["error", "warning", "note"]
_SARIF = "https://json.schemastore.org/sarif-2.1.0.json"


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong in a file: its rule, its place, and a message.

    `place` is the place in a file without lines; `name` is what the finding is about. `record` is the finding as a JSON
    object for tools; `others` are further lines for people.
    """

    rule: str
    text: str
    file: str
    record: Mapping[str, object]
    line: int | None = None
    column: int | None = None
    place: str = ""
    name: str = ""
    offset: int | None = None
    level: Level = "error"
    others: tuple[str, ...] = ()
    related: Location | None = None  # the old place in a comparison


class Report:
    """A report that is written by `say`, and the number of findings by rule."""

    def __init__(self, form: Form, say: Callable[[str], None]) -> None:
        self.rules: Counter[str] = Counter()
        self._form, self._say = form, say
        if form == "sarif":
            say(f'{{"$schema": "{_SARIF}", "version": "2.1.0", "runs": [{{"results": [')

    @property
    def count(self) -> int:
        """The number of findings so far."""
        return self.rules.total()

    def add(self, finding: Finding) -> None:
        """Add a finding."""
        match self._form:
            case "text":
                self._say(_line(finding))
                for line in finding.others:
                    self._say(f"    {line}")
            case "json":
                self._say(json_text(finding.record))
            case "sarif":
                comma = "," if self.count else ""
                self._say(comma + json_text(_result(finding)))
            case "github":
                self._say(_annotation(finding))
            case _:
                assert_never(self._form)
        self.rules[finding.rule] += 1

    def end(self) -> None:
        """Finish the report."""
        if self._form == "sarif":
            rules = [{"id": rule} for rule in self.rules]
            driver = {"name": "wireloom", "version": __version__, "rules": rules}
            self._say(f'], "columnKind": "unicodeCodePoints", "tool": {json.dumps({"driver": driver})}}}]}}')

    def summary(self) -> Iterator[str]:
        """The broken rules, most frequent first."""
        width = len(f"{max(self.rules.values(), default=0):,}")
        for rule, count in sorted(self.rules.items(), key=lambda entry: (-entry[1], entry[0])):
            yield f"  {count:>{width},}  {rule}"


def _line(finding: Finding) -> str:
    """`events.jsonl:3:14: bins[0].value (/bins/0/value): expected an integer, found a string [type]`."""
    known = finding.line is not None
    place = f"{finding.file}:{finding.line}:{finding.column}" if known else f"{finding.file}: {finding.place}"
    level = "" if finding.level == "error" else f"{finding.level}: "
    return f"{place}: {level}{finding.text} [{finding.rule}]"


def _annotation(finding: Finding) -> str:
    """A workflow command of GitHub: an error at a line of a file, or at the file if the line is unknown."""
    places = {"file": finding.file, "line": finding.line, "col": finding.column, "title": finding.rule}
    stated = ",".join(f"{name}={_property(str(place))}" for name, place in places.items() if place is not None)
    text = finding.text if finding.line is not None else f"{finding.place}: {finding.text}"
    return f"::{'notice' if finding.level == 'note' else finding.level} {stated}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _result(finding: Finding) -> dict[str, object]:
    region: dict[str, object] = {} if finding.offset is None else {"byteOffset": finding.offset}
    if finding.line is not None:
        region |= {"startLine": finding.line, "startColumn": finding.column}
    return {
        "ruleId": finding.rule,
        "level": finding.level,
        "message": {"text": finding.text},
        "locations": [
            {
                "physicalLocation": _physical(finding.file, region),
                "logicalLocations": [{"fullyQualifiedName": finding.name}],
            }
        ],
        "relatedLocations": [
            {
                "physicalLocation": _physical(each.file, {"startLine": each.line, "startColumn": each.column}),
                "message": {"text": "before"},
            }
            for each in (finding.related,)
            if each is not None
        ],
    }


def _physical(file: str, region: Mapping[str, object]) -> dict[str, object]:
    return {"artifactLocation": {"uri": quote(os.fsencode(file))}, "region": region}

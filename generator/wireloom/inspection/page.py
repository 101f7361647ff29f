"""A record as a single HTML page: no network, only its own script, rows created when they scroll into view.

The page has the bytes of each space, and rows as numbers that index a table of texts, all compressed: a record of a
megabyte takes less than five. Everything from the record or its spec is data, never markup: it is base64 in a block
that browsers do not run, and the script only puts it into text nodes.
"""

import base64
import hashlib
import json
import zlib
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from wireloom.catalog import FormatModule
from wireloom.escapes import html_text, visible
from wireloom.inspection import rows
from wireloom.inspection.lines import SpecLines
from wireloom.inspection.records import Found
from wireloom.inspection.rows import Fault, meaning_of, name_of, space_text, value_of
from wireloom.inspection.text import summary
from wireloom.runtime.spans import BODILESS as NO_BYTES
from wireloom.runtime.spans import Explained, Span

_HERE = Path(__file__).parent
FAILED, HIDDEN, SHARED, BODILESS, AUXILIARY, PATHLESS = 1, 2, 4, 8, 16, 32
"""Flags of a row."""
_COLUMNS = 10
_QUIET = (*rows.AUXILIARY, "ignored", "unread")


def page(module: FormatModule, found: Found, explained: Explained, fault: Fault | None, lines: SpecLines) -> str:
    """The page of a record."""
    place = "" if found.is_alone else f"record {found.index} of "
    title = f"{module.FORMAT}: {place}{Path(found.name).name or found.name}"
    style, script = asset("page.css"), asset("page.js")
    return (
        templates(_HERE)
        .get_template("page.html.jinja")
        .render(
            title=html_text(title),
            summary=html_text(summary(found, module.FORMAT)),
            policy=_policy(style, script),
            style=style,
            script=script,
            data=packed(viewed(explained, fault, lines)),
        )
    )


def packed(data: object) -> str:
    """Data for the page's script: JSON, compressed, as base64."""
    return base64.b64encode(zlib.compress(json.dumps(data, separators=(",", ":")).encode())).decode()


def viewed(explained: Explained, fault: Fault | None, lines: SpecLines) -> dict[str, Any]:
    """A record as the page's script expects it."""
    return {
        "spaces": [base64.b64encode(space.data).decode() for space in explained.spaces],
        "names": ["the record", *(space_text(space) for space in explained.spaces[1:])],
        "fault": None if fault is None else _fault(fault),
        **_Rows(explained, lines).table(),
    }


def _fault(fault: Fault) -> dict[str, Any]:
    said = [[name, visible(text)] for name, text in _fault_texts(fault).items() if text]
    return {"space": fault.space, "start": fault.start, "end": fault.end, "suspect": fault.suspect, "said": said}


def _fault_texts(fault: Fault) -> dict[str, str]:
    return {
        "Code": f"{fault.code}: {fault.meaning}" if fault.meaning else fault.code,
        "Path": fault.path,
        "Byte": _byte(fault),
        "Expected": fault.expected,
        "Found": fault.actual,
        "Spec": fault.line,
        "Lengths": fault.lengths,
        "Hint": fault.hint,
    }


def _byte(fault: Fault) -> str:
    """The byte of a fault, and the wrong byte if it is another."""
    first = "" if fault.start == fault.offset else f"; byte {fault.start} is the first that is wrong"
    return f"{fault.offset}{f' of what a region unpacked to (number {fault.space})' if fault.space else ''}{first}"


def _policy(style: str, script: str) -> str:
    """The content security policy: only the page's own script and style."""
    hashes = (base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (style, script))
    of_style, of_script = hashes
    return (
        f"default-src 'none'; style-src 'sha256-{of_style}'; script-src 'sha256-{of_script}'; "
        "base-uri 'none'; form-action 'none'"
    )


class _Rows:
    """The rows of all spans in order: numbers, and the texts that they index.

    A row's path is stored only if the page cannot derive it from the outer row and the row's name or index.
    """

    def __init__(self, explained: Explained, lines: SpecLines) -> None:
        self._explained, self._lines = explained, lines
        self._texts: dict[str, int] = {"": 0}
        self._known: dict[tuple[str, str], str] = {}
        self._rows: list[int] = []

    def table(self) -> dict[str, Any]:
        """The columns, as differences between rows, which are small and repetitive numbers.

        They are: level, start, length, space, name, path, value, meaning, spec, flags.
        """
        self._add(self._explained.span, 0, "")
        columns = (self._rows[at::_COLUMNS] for at in range(_COLUMNS))
        differences = [[after - before for before, after in pairwise([0, *column])] for column in columns]
        return {"texts": [visible(text) for text in self._texts], "columns": differences}

    def _text(self, text: str) -> int:
        return self._texts.setdefault(text, len(self._texts))

    def _add(self, span: Span, level: int, around: str) -> None:
        path = span.path
        texts = (name_of(span), _other_path(span, around), value_of(span), meaning_of(span), self._line(span))
        places = (level, span.start, span.end - span.start, span.space)
        self._rows += (*places, *map(self._text, texts), _flags(span))
        for child in span.children:
            self._add(child, level + 1, path or around)

    def _line(self, span: Span) -> str:
        if span.kind not in ("field", "bits", "computed"):
            return ""
        key = span.holder, span.name
        if key not in self._known:
            self._known[key] = self._lines.of(span)
        return self._known[key]


def _other_path(span: Span, around: str) -> str:
    """The path of a span, if the page cannot derive it from the outer row's path."""
    own = f"[{span.name}]" if span.name.isdecimal() else f".{span.name}" if around else span.name
    return "" if span.path == around + own else span.path


def _flags(span: Span) -> int:
    return (
        FAILED * span.failed
        + HIDDEN * span.hidden
        + SHARED * span.shared
        + BODILESS * (span.kind in NO_BYTES)
        + AUXILIARY * (span.kind in _QUIET)
        + PATHLESS * (not span.path)
    )


def asset(name: str) -> str:
    """The text of the page's style or script file."""
    return (_HERE / name).read_text(encoding="utf-8")


@cache
def templates(*folders: Path) -> Environment:
    """The templates of pages."""
    return Environment(
        autoescape=False,  # noqa: S701 - `escapes` escapes all texts, which tests of the page check
        loader=FileSystemLoader(folders),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )

"""A record as one page for a browser: no network, no script but its own, rows made when they come into view.

The page holds the bytes of each space, and the rows as numbers into a table of texts, all of it compressed: a record of
a megabyte takes less than five. Whatever comes from the record or its spec is data, never markup: it is
base64 in a block that no browser runs, and the script puts it into text nodes only.
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
"""What a row is, as bits of a number."""
_COLUMNS = 10
_QUIET = (*rows.AUXILIARY, "ignored", "unread")


def page(module: FormatModule, found: Found, explained: Explained, fault: Fault | None, lines: SpecLines) -> str:
    """The page of a record."""
    title = f"{module.FORMAT}: record {found.index} of {Path(found.name).name or found.name}"
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
    """Data for the script of a page: JSON, compressed, as base64."""
    return base64.b64encode(zlib.compress(json.dumps(data, separators=(",", ":")).encode())).decode()


def viewed(explained: Explained, fault: Fault | None, lines: SpecLines) -> dict[str, Any]:
    """A record as the script of a page shows it."""
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
    """Which byte it is, and which is wrong where that is another."""
    first = "" if fault.start == fault.offset else f"; byte {fault.start} is the first that is wrong"
    return f"{fault.offset}{f' of what a region unpacked to (number {fault.space})' if fault.space else ''}{first}"


def _policy(style: str, script: str) -> str:
    """What the page may do: run its own script and style, and nothing else."""
    hashes = (base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (style, script))
    of_style, of_script = hashes
    return (
        f"default-src 'none'; style-src 'sha256-{of_style}'; script-src 'sha256-{of_script}'; "
        "base-uri 'none'; form-action 'none'"
    )


class _Rows:
    """The rows of all spans, one after the other: numbers, and the texts that they point to.

    A path is only there where it is not that of the row around and the row's own name or index.
    """

    def __init__(self, explained: Explained, lines: SpecLines) -> None:
        self._explained, self._lines = explained, lines
        self._texts: dict[str, int] = {"": 0}
        self._known: dict[tuple[str, str], str] = {}
        self._rows: list[int] = []

    def table(self) -> dict[str, Any]:
        """The columns, as differences from row to row, which are small numbers, and mostly the same.

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
    """The path of a span, where the page would not find it of the one around."""
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
    """A file of the page: its style or its script."""
    return (_HERE / name).read_text(encoding="utf-8")


@cache
def templates(*folders: Path) -> Environment:
    """The templates of pages, from the first folder that has them."""
    return Environment(
        autoescape=False,  # noqa: S701 - every text is escaped by `escapes`, which the page's tests hold it to
        loader=FileSystemLoader(folders),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )

"""A record as one page for a browser: no network, no script but its own, rows made when they come into view.

The page holds the bytes of each space as base64, and the rows as numbers into a table of texts, so that a record of a
megabyte stays small. Whatever comes from the record or its spec is data, never markup: it is JSON in a block that no
browser runs, and the script puts it into text nodes only.
"""

import base64
import hashlib
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from wireloom.catalog import FormatModule
from wireloom.escapes import html_text, script_json, visible
from wireloom.inspection import rows
from wireloom.inspection.lines import SpecLines
from wireloom.inspection.records import Found
from wireloom.inspection.rows import Fault, meaning_of, name_of, space_text, value_of
from wireloom.inspection.text import summary
from wireloom.runtime.spans import Explained, Span

_HERE = Path(__file__).parent
FAILED, HIDDEN, SHARED, BODILESS, AUXILIARY = 1, 2, 4, 8, 16
"""What a row is, as bits of a number."""
_QUIET = (*rows.AUXILIARY, "ignored", "unread")


def page(module: FormatModule, found: Found, explained: Explained, fault: Fault | None, lines: SpecLines) -> str:
    """The page of a record."""
    title = f"{module.FORMAT}: record {found.index} of {Path(found.name).name or found.name}"
    style, script = _text("page.css"), _text("page.js")
    data = {
        "spaces": [base64.b64encode(space.data).decode() for space in explained.spaces],
        "names": ["the record", *(space_text(space) for space in explained.spaces[1:])],
        "fault": None if fault is None else [fault.space, fault.offset],
        **_Rows(explained, lines).table(),
    }
    return (
        _environment()
        .get_template("page.html.jinja")
        .render(
            title=html_text(title),
            summary=html_text(summary(found, module.FORMAT)),
            fault=None if fault is None else {name: html_text(text) for name, text in _said(fault).items() if text},
            policy=_policy(style, script),
            style=style,
            script=script,
            data=script_json(data),
        )
    )


def _said(fault: Fault) -> dict[str, str]:
    return {
        "Code": f"{fault.code}: {fault.meaning}" if fault.meaning else fault.code,
        "Path": fault.path,
        "Byte": str(fault.offset) if fault.space == 0 else f"{fault.offset} of unpacked bytes ({fault.space})",
        "Expected": fault.expected,
        "Found": fault.actual,
        "Spec": fault.line,
    }


def _policy(style: str, script: str) -> str:
    """What the page may do: run its own script and style, and nothing else."""
    hashes = (base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (style, script))
    of_style, of_script = hashes
    return (
        f"default-src 'none'; style-src 'sha256-{of_style}'; script-src 'sha256-{of_script}'; "
        "base-uri 'none'; form-action 'none'"
    )


class _Rows:
    """The rows of all spans, one after the other: numbers, and the texts that they point to."""

    def __init__(self, explained: Explained, lines: SpecLines) -> None:
        self._explained, self._lines = explained, lines
        self._texts: dict[str, int] = {"": 0}
        self._known: dict[tuple[str, str], str] = {}
        self._rows: list[int] = []

    def table(self) -> dict[str, Any]:
        """Rows of ten numbers each: level, start, length, space, name, path, value, meaning, spec, flags."""
        self._add(self._explained.span, 0)
        return {"texts": [visible(text) for text in self._texts], "rows": self._rows}

    def _text(self, text: str) -> int:
        return self._texts.setdefault(text, len(self._texts))

    def _add(self, span: Span, level: int) -> None:
        texts = (name_of(span), self._path(span), value_of(span), meaning_of(span), self._line(span))
        places = (level, span.start, span.end - span.start, span.space)
        self._rows += (*places, *map(self._text, texts), self._flags(span))
        for child in span.children:
            self._add(child, level + 1)

    @staticmethod
    def _path(span: Span) -> str:
        """The path where it ends in a name; that of an element is made of its list's."""
        return "" if span.name.isdecimal() else span.path

    def _line(self, span: Span) -> str:
        if span.kind not in ("field", "bits", "computed"):
            return ""
        key = span.holder, span.name
        if key not in self._known:
            self._known[key] = self._lines.of(span)
        return self._known[key]

    def _flags(self, span: Span) -> int:
        bodiless = span.kind in ("computed", "mark", "bits")
        return (
            FAILED * span.failed
            + HIDDEN * span.hidden
            + SHARED * span.shared
            + BODILESS * bodiless
            + AUXILIARY * (span.kind in _QUIET)
        )


def _text(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    return Environment(
        autoescape=False,  # noqa: S701 - every text is escaped by `escapes`, which the page's tests hold it to
        loader=FileSystemLoader(_HERE),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )

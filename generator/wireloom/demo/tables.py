"""Tables of a few rows for a terminal: the columns that have values, as many as fit."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.markup import escape
from rich.table import Table

from wireloom.demo.road import Shown
from wireloom.escapes import json_text, visible
from wireloom.spark.preview import Preview

WIDTH = 30  # most characters of a cell
FRAME = 3  # extra width of a column: a line and two spaces
QUARANTINE_COLUMNS = ("code", "path", "offset", "expected", "actual", "meaning", "_source", "_record", "raw")


def records_table(shown: Shown, room: int) -> Table:
    """The first rows of the records table."""
    names = [name for name in _names(shown.records) if any(row[name] is not None for row in shown.records)]
    fitting = list(_fitting(names, shown.records, room))
    hidden = [name for name in _names(shown.records) if name not in fitting]
    return _table(f"{shown.output}/records ({shown.summary.rows} rows)", fitting, shown.records, _more(hidden))


def quarantine_table(shown: Shown, room: int) -> Table:
    """The first rows of the quarantine table: records that could not be decoded, and why."""
    fitting = list(_fitting(QUARANTINE_COLUMNS, shown.quarantine, room))
    hidden = [name for name in _names(shown.quarantine) if name not in fitting]
    return _table(
        f"{shown.output}/quarantine ({shown.summary.quarantined} rows)", fitting, shown.quarantine, _more(hidden)
    )


def _more(hidden: Sequence[str]) -> str:
    """A line that names the columns that are not shown."""
    return f"and {len(hidden)} more column{'' if len(hidden) == 1 else 's'}: {', '.join(hidden)}" if hidden else ""


def _names(rows: Preview) -> Sequence[str]:
    return list(rows[0]) if rows else []


def _fitting(names: Sequence[str], rows: Preview, room: int) -> Iterator[str]:
    """The first columns that fit side by side."""
    left = room - 1
    for name in names:
        left -= FRAME + max(len(name), *(len(_cell(name, row[name])) for row in rows), 1)
        if left < 0:
            return
        yield name


def _table(title: str, names: Sequence[str], rows: Preview, more: str) -> Table:
    table = Table(
        title=escape(title),
        title_justify="left",
        title_style="bold",
        caption=escape(more) or None,
        caption_justify="left",
    )
    for name in names:
        table.add_column(name, no_wrap=True)
    for row in rows:
        table.add_row(*(escape(_cell(name, row[name])) for name in names))
    return table


def _cell(name: str, value: object) -> str:
    if name == "_source" and isinstance(value, str):
        return Path(value).name
    text = visible(value) if isinstance(value, str) else "" if value is None else json_text(value)
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 1]}…"

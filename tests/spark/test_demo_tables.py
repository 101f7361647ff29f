"""Tables of the demonstration name every column that they do not show."""

import io
from pathlib import Path

from rich.console import Console

from wireloom.demo.road import Shown
from wireloom.demo.tables import quarantine_table, records_table
from wireloom.ingest.plan import Summary

ROW = {"first": "a" * 20, "second": "b" * 20, "messageSize": 7, "empty": None}
BAD = dict.fromkeys(
    ("code", "path", "offset", "meaning", "expected", "actual", "_source", "_record", "raw", "raw_size"), "x" * 9
)


def shown():
    summary = Summary(1, 1, 1, 1)
    return Shown("f", "F", "none", Path("in"), summary, Path("out"), (ROW,), (BAD,))


def text(make, width):
    console = Console(width=width, record=True, file=io.StringIO())
    console.print(make(shown(), width))
    return " ".join(console.export_text().split())


def test_columns_without_room_are_named_below_the_table():
    assert "and 3 more columns: second, messageSize, empty" in text(records_table, 40)
    assert "more columns: " in text(quarantine_table, 40)


def test_one_column_that_is_empty_is_named_and_a_table_that_is_whole_says_nothing():
    assert "and 1 more column: empty" in text(records_table, 200)
    assert "raw_size" in text(quarantine_table, 200)

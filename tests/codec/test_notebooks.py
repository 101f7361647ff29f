"""Notebooks show records and errors in short form, with all data escaped."""

import pytest

from wireloom.ingest.quarantine.listing import Row
from wireloom.runtime.errors import DecodeError
from wireloom.runtime.values import Pairs, Parsed, ParsedElements
from wireloom_formats import kpl_record, netflow_v5

MARKUP = "<script>alert(1)</script>\u202e\x1b"


def test_a_parsed_record_is_a_table_of_its_members():
    value = kpl_record.parse(b"hello")
    assert "<td" in value._repr_html_()
    assert "68 65 6c 6c 6f" in value._repr_html_()


def test_a_record_that_is_a_list_is_shown():
    assert "a" in ParsedElements([{"a": 1}])._repr_html_()


@pytest.mark.parametrize(
    "shown",
    [
        Parsed({MARKUP: MARKUP, "pairs": Pairs([(MARKUP, MARKUP)]), "list": [[MARKUP]]}, {})._repr_html_(),
        DecodeError(MARKUP, offset=1, expected=MARKUP, actual=MARKUP, meaning=MARKUP).at(MARKUP)._repr_html_(),
        Row(0, MARKUP, MARKUP, MARKUP, MARKUP, 1, MARKUP, MARKUP, 3, MARKUP, b"abc")._repr_html_(),
    ],
)
def test_nothing_of_the_data_is_markup_or_unseen(shown):
    assert "<script" not in shown
    assert "\u202e" not in shown
    assert "\x1b" not in shown
    assert "&lt;script&gt;" in shown


def test_what_is_large_is_shown_in_part():
    value = Parsed({"text": "a" * 10**6, "bytes": bytes(10**6), "list": [{"x": list(range(1000))}] * 1000}, {})
    deep = {}
    for _ in range(500):
        deep = {"in": deep}
    assert len(value._repr_html_()) < 200_000
    assert len(Parsed(deep, {})._repr_html_()) < 2000


def test_an_error_says_what_is_wrong_where():
    with pytest.raises(DecodeError) as raised:
        netflow_v5.parse(b"\x00\x06")
    shown = raised.value._repr_html_()
    for part in (raised.value.code, raised.value.meaning, "byte", "expected"):
        assert part in shown


def test_a_row_of_a_quarantine_marks_the_byte():
    row = Row(3, "x", "bad", "", "a", 1, "1", "2", 3, "file", b"\x00\xff\x01")
    assert "<mark>ff</mark>" in row._repr_html_()

"""Patterns of texts mean the same to Python, to a validator in Rust and to the automaton that the engine has."""

import re
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wireloom.runtime.patterns import NAMED, PatternError, automaton

_PIECES = ("a", "b", "[ab]", "[^a]", "(a|b)", "(?:ab|c)", "\\.", "\\\\", "[\\-.]", "[a-c]", "[^\\n]", "(ab?|c)")
_TIMES = ("", "", "?", "*", "+", "{2}", "{1,3}", "{2,}")
_TEXTS = st.text(st.sampled_from("abc.-\\\n é𝄞"), max_size=8)


@st.composite
def patterns(draw: st.DrawFn) -> str:
    pieces = st.lists(st.tuples(st.sampled_from(_PIECES), st.sampled_from(_TIMES)).map("".join), max_size=4)
    parts = draw(st.lists(pieces.map("".join), min_size=1, max_size=3))
    return "|".join(parts)


def _automaton_or_none(pattern: str) -> object:
    try:
        return automaton(pattern)
    except PatternError:
        return None


@given(patterns(), st.lists(_TEXTS, min_size=1, max_size=20))
def test_what_a_pattern_takes_python_and_a_validator_take(pattern, texts):
    found = _automaton_or_none(pattern)
    if found is None:
        return
    rust = pytest.importorskip("jsonschema_rs").validator_for({"pattern": f"^(?:{pattern})(?!\\n)$"})
    for text in texts:
        expected = re.fullmatch(pattern, text) is not None
        assert automaton(pattern).accepts(text) == expected, text
        assert rust.is_valid(text) == expected, text


@given(st.sampled_from(["date-time", "date", "time", "uuid"]), st.data())
def test_named_patterns_take_what_python_takes(name, data):
    text = data.draw(st.from_regex(NAMED[name], fullmatch=True, alphabet=st.characters(max_codepoint=127)))
    assert automaton(NAMED[name]).accepts(text)
    place = data.draw(st.integers(0, len(text) - 1))
    changed = text[:place] + data.draw(st.sampled_from("0129-:TZ.+ a")) + text[place + 1 :]
    assert automaton(NAMED[name]).accepts(changed) == (re.fullmatch(NAMED[name], changed) is not None)


@given(st.dates())
def test_each_day_is_a_date_and_the_day_behind_a_month_is_none(day):
    dates = automaton(NAMED["date"])
    assert dates.accepts(day.isoformat())
    for last in range(28, 33):
        text = f"{day.isoformat()[:8]}{last}"
        assert dates.accepts(text) == _is_day(text), text


def _is_day(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize(
    "pattern",
    [
        "(a+)+",
        "(a*)*",
        "(a|a)*",
        "(a|ab)(c|bcd)",
        "a*a",
        "(a?){9}",
        ".*",
        "\\w",
        "a{2}{3}",
        "a*?",
        "(?i)a",
        "\\b",
    ],
)
def test_what_could_take_long_or_differs_is_no_pattern(pattern):
    with pytest.raises(PatternError):
        automaton(pattern)


def test_an_automaton_tells_the_ways_from_the_ends():
    found = automaton("a(b|c){1,2}d?")
    assert [text for text in ("", "a", "ab", "abc", "abcd", "abcc", "abbbd", "ad") if found.accepts(text)] == [
        "ab",
        "abc",
        "abcd",
    ]

"""Patterns of texts mean the same to Python, to a validator in Rust and to the engine's automaton."""

import re
from datetime import datetime
from itertools import chain, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wireloom.runtime.patterns import NAMED, Automaton, PatternError, automaton, check, decimals, integers

_PIECES = (
    "a",
    "b",
    "[ab]",
    "[^a]",
    "(a|b)",
    "(?:ab|c)",
    "\\.",
    "\\\\",
    "[\\-.]",
    "[a-c]",
    "[^\\n]",
    "(ab?|c)",
    "[^\\x00\\x1f]",
    "\\x2d",
)
_TIMES = ("", "", "?", "*", "+", "{2}", "{1,3}", "{2,}")
_TEXTS = st.text(st.sampled_from("abc.-\\\n é𝄞\x00\x1f\x7f"), max_size=8)


@st.composite
def patterns(draw: st.DrawFn) -> str:
    pieces = st.lists(st.tuples(st.sampled_from(_PIECES), st.sampled_from(_TIMES)).map("".join), max_size=4)
    parts = draw(st.lists(pieces.map("".join), min_size=1, max_size=3))
    return "|".join(parts)


def _automaton_or_none(pattern: str) -> Automaton | None:
    try:
        check(pattern)
    except PatternError:
        return None
    return automaton(pattern)


@given(patterns(), st.lists(_TEXTS, min_size=1, max_size=20))
def test_what_a_pattern_takes_python_and_a_validator_take(pattern, texts):
    found = _automaton_or_none(pattern)
    if found is None:
        return
    rust = pytest.importorskip("jsonschema_rs").validator_for({"pattern": f"^(?:{pattern})(?!\\n)$"})
    for text in texts:
        expected = re.fullmatch(pattern, text) is not None
        assert found.accepts(text) == expected, text
        assert rust.is_valid(text) == expected, text


@given(st.sampled_from(["date-time", "date", "time", "uuid"]), st.data())
def test_named_patterns_take_what_python_takes(name, data):
    text = data.draw(st.from_regex(NAMED[name], fullmatch=True, alphabet=st.characters(max_codepoint=127)))
    assert automaton(NAMED[name]).accepts(text)
    place = data.draw(st.integers(0, len(text) - 1))
    changed = text[:place] + data.draw(st.sampled_from("0129-:TZ.+ a")) + text[place + 1 :]
    assert automaton(NAMED[name]).accepts(changed) == (re.fullmatch(NAMED[name], changed) is not None)


@given(st.dates())
def test_each_day_is_a_date_and_the_day_after_a_month_is_not(day):
    dates = automaton(NAMED["date"])
    assert dates.accepts(day.isoformat())
    for last in range(28, 33):
        text = f"{day.isoformat()[:8]}{last}"
        assert dates.accepts(text) == _is_day(text), text


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_integers_are_those_of_their_bits_written_in_one_way(bits):
    signed, unsigned = integers(-(1 << bits - 1), (1 << bits - 1) - 1), integers(0, (1 << bits) - 1)
    last = 1 << bits
    numbers = {*range(-300, 301), *(end + n for end in (-last, -last // 2, last // 2, last) for n in range(-300, 301))}
    for number in numbers:
        assert automaton(signed).accepts(str(number)) == (-last // 2 <= number < last // 2), number
        assert automaton(unsigned).accepts(str(number)) == (0 <= number < last), number
    for text in ("", "-", "-0", "00", "01", "-01", "+1", " 1", "1 ", "1.0", "1e2", "0x1", "\u0661"):
        assert not automaton(signed).accepts(text), text


@pytest.mark.parametrize(("precision", "digits"), [(1, 0), (1, 1), (3, 0), (3, 2), (2, 2), (4, 1)])
def test_decimals_are_those_of_their_digits(precision, digits):
    several, padded = (automaton(decimals(precision, digits, padded=each)) for each in (False, True))
    for text in map("".join, chain.from_iterable(product("-01.", repeat=length) for length in range(8))):
        whole, _, fraction = text.removeprefix("-").partition(".")
        zero = not text.strip("-0.")
        fits = len(fraction) <= digits and (whole == "0" or len(whole) <= precision - digits)
        plain = re.fullmatch(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?", text) is not None
        expected = plain and fits and not (zero and text.startswith("-"))
        assert several.accepts(text) == expected, text
        assert padded.accepts(text) == (expected and len(fraction) == digits), text


def _is_day(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("pattern", ["[+-]", "[-+]", "[^+-]", "[^-+]", "[-]", "[^-]", "[a-c-]", "[-a-c]"])
def test_a_hyphen_at_an_end_of_a_class_stands_for_itself(pattern):
    check(pattern)
    for letter in "+-abc,":
        assert automaton(pattern).accepts(letter) == (re.fullmatch(pattern, letter) is not None), letter


@pytest.mark.parametrize("pattern", ["[a-c-e]", "[--a]", "[+--]", "[a-]b]", "[-", "[a-"])
def test_a_hyphen_elsewhere_in_a_class_is_escaped(pattern):
    with pytest.raises(PatternError):
        check(pattern)


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
        "\\x8",
        "[\\x80]",
        "\\u0041",
    ],
)
def test_what_could_take_long_or_differs_is_no_pattern(pattern):
    with pytest.raises(PatternError):
        check(pattern)


def test_an_automaton_tells_the_ways_from_the_ends():
    found = automaton("a(b|c){1,2}d?")
    assert [text for text in ("", "a", "ab", "abc", "abcd", "abcc", "abbbd", "ad") if found.accepts(text)] == [
        "ab",
        "abc",
        "abcd",
    ]

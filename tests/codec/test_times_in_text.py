"""Times in text: the engine's conversion of whole columns gives the same as Python for single values."""

from datetime import UTC, date, datetime, timedelta, timezone

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wireloom.runtime.columns import interpretation, meanings
from wireloom.runtime.columns.interpretation import MeaninglessError
from wireloom.runtime.columns.logical import Meant, Said, Scaled, Text
from wireloom.runtime.patterns import FINE_MOMENT, MOMENT, automaton

engine = pytest.importorskip("wireloom.runtime.engine._engine", reason="the engine was not built")
MOMENT_TYPE, DAY_TYPE = Meant(Text(), Said(Scaled("timestamp"))), Meant(Text(), Said(Scaled("date")))
MOMENTS = st.datetimes(timezones=st.just(UTC))
INNER = st.datetimes(datetime(2, 1, 1), datetime(9998, 12, 31, 23, 59, 59, 999999))  # noqa: DTZ001 - the zone is drawn
ZONES = st.integers(-1439, 1439).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@given(st.lists(MOMENTS | st.none(), max_size=9))
def test_moments_become_texts_and_moments_again(moments):
    columns = pa.array(moments, pa.timestamp("us", "UTC"))
    texts = interpretation.wire_array(columns, MOMENT_TYPE, engine)
    assert texts.to_pylist() == [None if each is None else meanings.wire_value(each, MOMENT_TYPE) for each in moments]
    assert all(automaton(MOMENT).accepts(each) for each in texts.to_pylist() if each is not None)
    assert interpretation.shown(texts, MOMENT_TYPE, engine).equals(columns)


@given(st.lists(st.dates() | st.none(), max_size=9))
def test_days_become_texts_and_days_again(days):
    columns = pa.array(days, pa.date32())
    texts = interpretation.wire_array(columns, DAY_TYPE, engine)
    assert texts.to_pylist() == [None if each is None else each.isoformat() for each in days]
    assert interpretation.shown(texts, DAY_TYPE, engine).equals(columns)
    assert [None if each is None else meanings.meaning(each, DAY_TYPE) for each in texts.to_pylist()] == days


@given(INNER, ZONES, st.text("0123456789", max_size=9))
def test_a_text_in_any_zone_and_of_any_number_of_digits_says_its_moment(moment, zone, more):
    local = moment.replace(tzinfo=zone)
    text = local.isoformat(timespec="microseconds")
    finer = text[:26] + more + text[26:]
    assert automaton(FINE_MOMENT).accepts(finer)
    assert automaton(MOMENT).accepts(finer) is (not more)
    assert meanings.meaning(finer, MOMENT_TYPE) == local
    (found,) = interpretation.shown(pa.array([finer]), MOMENT_TYPE, engine).to_pylist()
    assert found == local


@pytest.mark.parametrize(
    "text",
    [
        *("2026-01-31", "2026-01-31T12:00:00", "2026-01-31 12:00:00Z", "2026-01-31T24:00:00Z", "2026-02-29T00:00:00Z"),
        *("0000-01-01T00:00:00Z", "0001-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01", "2016-12-31T23:59:60Z"),
        *("2026-01-31t12:00:00z", "2026-01-31T12:00:00.Z", "2026-01-31T12:00:00+24:00", ""),
    ],
)
def test_what_says_no_moment_of_the_calendar_is_none(text):
    assert not automaton(FINE_MOMENT).accepts(text)


def test_what_is_beyond_the_calendar_has_no_text():
    with pytest.raises(MeaninglessError):
        interpretation.wire_array(pa.array([1 << 60], pa.timestamp("us", "UTC")), MOMENT_TYPE, engine)
    with pytest.raises(MeaninglessError):
        interpretation.wire_array(pa.array([date.max.toordinal()], pa.int32()).cast(pa.date32()), DAY_TYPE, engine)

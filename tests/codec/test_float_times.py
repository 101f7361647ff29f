"""Floats that are timestamps: columns and single values agree, and what is written reads back."""

from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pyarrow as pa
import pytest

from proof.chance import Chance
from wireloom.runtime.columns import interpretation, meanings
from wireloom.runtime.columns.interpretation import MeaninglessError
from wireloom.runtime.columns.logical import Float, Meant, Said, Scaled
from wireloom.runtime.errors import EncodeError
from wireloom.runtime.values import float32

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SECONDS = Meant(Float(64), Said(Scaled("timestamp"), microseconds=1_000_000))
MILLISECONDS = Meant(Float(64), Said(Scaled("timestamp"), microseconds=1_000, epoch=978_307_200_000_000))
NARROW = Meant(Float(32), Said(Scaled("timestamp"), microseconds=1_000_000))
TYPES = pytest.mark.parametrize("type", [SECONDS, MILLISECONDS, NARROW], ids=["s", "ms since 2001", "32 bits"])


def drawn(type, count=20_000):
    """Floats of all sizes in the years 1 to 9999, as senders write them."""
    chance, unit, epoch = Chance(7), type.shown.microseconds, type.shown.epoch
    first, last = ((end - epoch) // unit for end in (-62_135_596_800_000_000, 253_402_300_799_000_000))
    ends = [(first, last), (0, 2_000_000_000_000_000 // unit), (-1, 1), (-0.00001, 0.00001)]
    found = [chance.uniform(*chance.choice(ends)) for _ in range(count)]
    found += [round(each, digits) for each in found[:2000] for digits in (0, 1, 3, 6)]
    found += [(2 * chance.randrange(1 << 20) + 1) / (1 << chance.randrange(1, 30)) for _ in range(2000)]  # halves
    found = [float32(each) for each in found] if type.wire.bits == 32 else found
    return [each for each in found if first <= each <= last]


def array_of(values, type):
    return pa.array(values, pa.float32() if type.wire.bits == 32 else pa.float64())


@TYPES
def test_columns_and_values_have_the_nearest_microsecond(type):
    values = drawn(type)
    single = [meanings.meaning(each, type) for each in values]
    assert interpretation.shown(array_of(values, type), type, None).to_pylist() == single
    unit, epoch = type.shown.microseconds, timedelta(microseconds=type.shown.epoch)
    for value, moment in zip(values, single, strict=True):
        exact = Fraction(value) * unit
        count = (moment - EPOCH - epoch) // timedelta(microseconds=1)
        assert abs(count - exact) <= Fraction(1, 2) + Fraction(1, 10**9)


@TYPES
def test_every_time_that_was_read_is_written_as_a_float_of_the_same_time(type):
    moments = sorted({meanings.meaning(each, type) for each in drawn(type)})
    written = [meanings.wire_value(each, type) for each in moments]
    assert [meanings.meaning(each, type) for each in written] == moments
    assert all(float32(each) == each for each in written) or type.wire.bits == 64
    column = interpretation.wire_array(pa.array(moments, pa.timestamp("us", "UTC")), type, None)
    assert column.to_pylist() == written


def test_floats_have_every_microsecond_until_the_year_2242():
    chance = Chance(3)
    for _ in range(5000):
        moment = EPOCH + timedelta(microseconds=chance.randrange(-(1 << 33) * 1_000_000, (1 << 33) * 1_000_000))
        assert meanings.meaning(meanings.wire_value(moment, SECONDS), SECONDS) == moment


@pytest.mark.parametrize(
    ("type", "moment"),
    [(SECONDS, datetime(9000, 1, 1, 0, 0, 0, 1, UTC)), (NARROW, datetime(2026, 1, 1, 0, 0, 1, tzinfo=UTC))],
)
def test_a_time_that_no_float_holds_is_refused(type, moment):
    with pytest.raises(EncodeError, match=f"a time that a float of {type.wire.bits} bits can hold"):
        meanings.wire_value(moment, type)
    with pytest.raises(MeaninglessError):
        interpretation.wire_array(pa.array([moment], pa.timestamp("us", "UTC")), type, None)


def test_what_means_null_does_so_as_any_float_of_its_microsecond():
    type = Meant(Float(64), SECONDS.shown, null=0.0)
    values = [0.0, 1e-9, -1e-9, 1e-6]
    single = [meanings.meaning(each, type) for each in values]
    assert single == [None, None, None, EPOCH + timedelta(microseconds=1)]
    assert interpretation.shown(pa.array(values), type, None).to_pylist() == single
    with pytest.raises(EncodeError, match="which means null"):
        meanings.wire_value(EPOCH, type)

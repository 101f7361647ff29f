"""Numbers in text: converting whole columns gives the same as Python for single values."""

from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wireloom.runtime.columns import interpretation, meanings
from wireloom.runtime.columns.arrow import arrow_type
from wireloom.runtime.columns.interpretation import MeaninglessError
from wireloom.runtime.columns.logical import Integer, Meant, Said, Scaled, Text
from wireloom.runtime.errors import EncodeError
from wireloom.runtime.patterns import automaton

INTEGERS = [Integer(bits, signed) for bits in (8, 16, 32, 64) for signed in (True, False)]
DECIMALS = [
    Scaled("decimal", precision=digits, digits=behind) for digits, behind in ((10, 2), (38, 38), (38, 0), (1, 1))
]
WIDER = Scaled("decimal", 10, 0, 12, 3)  # texts have two digits behind the point


def said(counted):
    return Meant(Text(), Said(counted))


def values(counted):
    if isinstance(counted, Integer):
        return st.integers(counted.minimum, counted.maximum)
    most = 10**counted.precision - 1
    counts = st.integers(-most, most)
    return counts.map(lambda n: Decimal((n < 0, tuple(map(int, str(abs(n)))), -counted.digits)))


@pytest.mark.parametrize("counted", [*INTEGERS, *DECIMALS], ids=repr)
@given(data=st.data())
def test_numbers_become_texts_and_numbers_again(counted, data):
    type = said(counted)
    given_ = data.draw(st.lists(values(counted) | st.none(), max_size=9))
    columns = pa.array(given_, arrow_type(type))
    texts = interpretation.wire_array(columns, type, None)
    assert texts.type == pa.string()
    assert texts.to_pylist() == [None if each is None else meanings.wire_value(each, type) for each in given_]
    pattern = automaton(meanings.spelling_of_said(type.shown, fine=False))
    assert all(pattern.accepts(each) for each in texts.to_pylist() if each is not None)
    assert interpretation.shown(texts, type, None).equals(columns)
    assert [None if each is None else meanings.meaning(each, type) for each in texts.to_pylist()] == given_


def test_a_decimal_of_fewer_digits_is_the_same():
    type = said(DECIMALS[0])
    texts = ["0", "-0.5", "7.1", "12.25", "-99999999.99"]
    found = interpretation.shown(pa.array(texts), type, None).to_pylist()
    assert found == [Decimal(each) for each in texts] == [meanings.meaning(each, type) for each in texts]


def test_a_column_of_more_digits_has_those_of_the_text():
    texts = ["0.50", "-7.25"]
    assert interpretation.shown(pa.array(texts), said(WIDER), None).to_pylist() == [Decimal("0.500"), Decimal("-7.250")]
    columns = pa.array([Decimal("0.5"), Decimal("-7.25")], pa.decimal128(12, 3))
    assert interpretation.wire_array(columns, said(WIDER), None).to_pylist() == texts
    with pytest.raises(pa.ArrowInvalid):
        interpretation.wire_array(pa.array([Decimal("0.005")], pa.decimal128(12, 3)), said(WIDER), None)
    with pytest.raises(EncodeError):
        meanings.wire_value(Decimal("0.005"), said(WIDER))


@pytest.mark.parametrize("counted", [*INTEGERS, *DECIMALS], ids=repr)
def test_texts_of_refused_records_say_nothing(counted):
    found = interpretation.shown(pa.array(["x", "1", "", None, "-0", "1e1", "0"]), said(counted), None).to_pylist()
    assert found[-1] == 0
    assert found[0] is found[2] is found[3] is None


@pytest.mark.parametrize("array", [pa.array([1.5]), pa.array(["1"]), pa.array([True])])
def test_what_is_no_number_of_a_column_has_no_text(array):
    for counted in (INTEGERS[0], DECIMALS[0]):
        with pytest.raises(MeaninglessError):
            interpretation.wire_array(array, said(counted), None)


@pytest.mark.parametrize(
    ("counted", "value"),
    [
        *((INTEGERS[0], each) for each in (128, -129, True, 1.0, "1")),
        *((DECIMALS[0], each) for each in (Decimal("0.001"), 10**8, "1", Decimal("NaN"))),
    ],
)
def test_what_no_text_says_is_refused(counted, value):
    with pytest.raises(EncodeError):
        meanings.wire_value(value, said(counted))

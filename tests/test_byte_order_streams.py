"""Streams whose byte order is to be found out: a record that a window cuts off is never taken for a bad one."""

import io

import pytest

from wireloom.runtime.errors import DecodeError
from wireloom.runtime.streams import parts as streams
from wireloom_formats import databus_event

EVENT = bytes.fromhex(
    "00 831a625a 3f000000 0100 6400000000000000 0100 0200 00002a36fe9c9717 0500 000102030405060708090a0b0c0d0e0f"
    "53384a99 0700000000000000 6869"
)
WINDOW = 1 << 18
COUNT = (WINDOW + WINDOW // 8) // len(EVENT)


@pytest.mark.parametrize("verify", [True, False], ids=["verified", "not verified"])
def test_records_of_a_found_order_go_on_behind_the_first_window(verify: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut off in its own order, a record is something else in the other: more of the stream decides."""
    monkeypatch.setattr(streams, "WINDOW", WINDOW)
    settings = {"byteOrder": "auto", "verifyCrc": verify}
    parts = databus_event.decode_stream(io.BytesIO(EVENT * COUNT), on_error="skip", columns=["sequence"], **settings)
    counted = [(len(part.offsets), part.errors.null_count) for part in parts]
    assert len(counted) > 1
    assert (sum(count for count, _ in counted), sum(good for _, good in counted)) == (COUNT, COUNT)


@pytest.mark.parametrize("size", [4, 12, 40, 60])
def test_a_record_that_is_cut_off_in_one_order_says_so(size: int) -> None:
    """Whatever is wrong with it in the other."""
    with pytest.raises(DecodeError) as refusal:
        databus_event.parse(EVENT[:size], byteOrder="auto", verifyCrc=False)
    assert refusal.value.cut_off

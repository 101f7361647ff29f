"""Streams with detected byte order: a record at the end of a window is not mistaken for a bad one."""

import io
import struct

import pyarrow as pa
import pytest

from proof.modules import documents, generated, resolved
from wireloom.runtime.errors import DecodeError
from wireloom.runtime.streams import framed
from wireloom.runtime.streams import parts as streams
from wireloom_formats import databus_event

EVENT = bytes.fromhex(
    "00 831a625a 3f000000 0100 6400000000000000 0100 0200 00002a36fe9c9717 0500 000102030405060708090a0b0c0d0e0f"
    "53384a99 0700000000000000 6869"
)
WINDOW = 1 << 18
COUNT = (WINDOW + WINDOW // 8) // len(EVENT)


@pytest.mark.parametrize("verify", [True, False], ids=["verified", "not verified"])
def test_a_detected_byte_order_holds_after_the_first_window(verify: bool, monkeypatch: pytest.MonkeyPatch) -> None:
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


FIELDS = [{"n": "uint16"}, {"data": "bytes(n)"}, {"word": {"type": "uint16", "values": {0x506: "a", 0x605: "b"}}}]
AUTO = {
    "wireloom": 1,
    "format": "made",
    "title": "A length, bytes, and a word that may be read in either order",
    "encoding": "binary",
    "byteOrder": {"parameter": "order"},
    "parameters": {"order": {"oneOf": ["big", "little", "auto"], "default": "auto"}},
    "framing": "concatenated",
    "root": "R",
    "types": {"R": {"fields": FIELDS}},
}
BODY = b"\x05\x06" * 640  # of 0x500 bytes, which are 5 in the other order, with a word behind them


def test_a_record_at_the_end_of_a_window_is_no_record_of_the_other_order() -> None:
    """Although the cut record is valid in the other order: the bytes after the window are read first."""
    data = (struct.pack(">H", len(BODY)) + BODY + b"\x05\x06") * 3_000
    with generated(resolved(documents({"made.yaml": AUTO}))) as made:
        assert len(data) > 3 * framed.AHEAD
        assert {len(each.value["data"]) for each in made.module.iter_parse(data)} == {len(BODY)}
        parts = list(made.module.decode_stream(data))
        assert {len(each) for part in parts for each in part.records.field("data").to_pylist()} == {len(BODY)}
        assert sum(part.reread for part in parts) < 20


def test_at_the_end_of_a_stream_the_other_order_counts() -> None:
    data = struct.pack("<H", 5) + b"hello" + b"\x05\x06"
    with generated(resolved(documents({"made.yaml": AUTO}))) as made:
        assert [each.value["data"] for each in made.module.iter_parse(data * 3)] == [b"hello"] * 3
        (part,) = made.module.decode_stream(data * 3)
        assert part.records.field("data").to_pylist() == [b"hello"] * 3
        assert part.reread == 0


def test_a_text_that_a_window_cuts_off_is_none_that_has_no_end() -> None:
    """Whatever code the spec gives that: in the other order the record would be one of three bytes."""
    fields = [
        {"n": "uint16"},
        {"check": {"that": "n == 1 or n == 256", "else": "bad_kind"}},
        {"text": {"type": "str", "delimiter": "2c", "else": "endless", "when": "n == 256"}},
        {"byte": {"type": "uint8", "when": "n == 1"}},
    ]
    errors = {"endless": "A text does not end.", "bad_kind": "There is no such kind."}
    data = (b"\x01\0" + b"x" * 2_000 + b",") * 2_000
    with generated(
        resolved(documents({"made.yaml": AUTO | {"errors": errors, "types": {"R": {"fields": fields}}}}))
    ) as made:
        assert len(data) > 3 * framed.AHEAD
        assert {each.value["n"] for each in made.module.iter_parse(data)} == {256}
        parts = list(made.module.decode_stream(data))
        assert sum(len(part.records) for part in parts) == 2_000
        assert {n for part in parts for n in part.records.field("n").to_pylist()} == {256}
        assert sum(part.reread for part in parts) < 20
        assert made.module.CODEC.decode(pa.array([b"\x01\0a"]), order="auto").records.to_pylist() == [
            {"n": 1, "text": None, "byte": 97}
        ]

"""Streams written by `iter_build` and `encode_stream` read back as the given values."""

import importlib
import struct
from collections.abc import Callable, Iterator
from itertools import islice
from types import ModuleType
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest

from conftest import case_formats, shipped_formats
from support.databus_events import built
from support.drawing import THOROUGH
from wireloom.model.format import Format
from wireloom.runtime.errors import DecodeError, EncodeError, ParameterError
from wireloom.runtime.streams import writing
from wireloom.runtime.streams.framing import framing_of
from wireloom.runtime.values import same
from wireloom_formats import databus_event, databus_json, kpl_record

FORMATS = {format.name: format for format in (*shipped_formats(), *case_formats())}
SHIPPED = {format.name for format in shipped_formats()}
FRAMINGS = (None, "concatenated", "prefix:uint16:little:itself", "lines", "array", "cobs", "delimiter:0d0a")
SEVERAL = 4
EVENTS = [databus_event.parse(built(number)) for number in range(5)]


@pytest.fixture(name="module")
def _module(case_package: ModuleType) -> Callable[[str], ModuleType]:
    package = {True: "wireloom_formats", False: case_package.__name__}
    return lambda name: importlib.import_module(f"{package[name in SHIPPED]}.{name}")


def values(module: ModuleType, format: Format) -> Iterator[tuple[dict[str, Any], list[Any]]]:
    """The good examples of each root by their parameters, as values that can be built."""
    found: dict[tuple[str, tuple[tuple[str, Any], ...]], list[bytes]] = {}
    for example in format.examples:
        if example.error is None:
            found.setdefault((example.root, example.parameters), []).append(example.data)
    for (root, parameters), records in found.items():
        keywords, good = {"root": root, **dict(parameters)}, []
        for data in records[:SEVERAL]:
            try:
                value = module.parse(data, **keywords)
                module.build(value, **keywords)
            except (DecodeError, EncodeError):
                continue
            good.append(value)
        yield keywords, good


def stream(write: Callable[..., Iterator[bytes]], given: Any, **keywords: Any) -> bytes | None:
    """The written stream; None if a record in it could not be found again."""
    try:
        return b"".join(write(given, **keywords))
    except EncodeError:
        return None


@pytest.mark.drawing
@pytest.mark.parametrize(
    ("name", "framing"),
    [
        (name, framing)
        for place, name in enumerate(FORMATS)
        for turn, framing in enumerate(FRAMINGS)
        if THOROUGH or name in SHIPPED or (place + turn) % 4 == 0
    ],
)
def test_what_is_written_as_a_stream_reads_as_the_values_that_were_given(
    module: Callable[[str], ModuleType], name: str, framing: str | None
) -> None:
    codec = module(name)
    if framing is None and codec.FRAMING.startswith("header:"):
        pytest.skip("values follow from the header; a test of its own")
    for keywords, given in values(codec, FORMATS[name]):
        try:
            codec.iter_build((), framing=framing, **keywords)
        except ParameterError:  # records that do not tell their end, or are no JSON
            with pytest.raises(ParameterError):
                codec.encode_stream((), framing=framing, **keywords)
            continue
        several = given[:1] if (framing or codec.FRAMING) == "none" else given
        data = stream(codec.iter_build, several, framing=framing, **keywords)
        if data is None:
            continue
        read = [each.value for each in codec.iter_parse(data, framing=framing, **keywords)]
        assert len(read) == len(several)
        assert all(same(left, right) for left, right in zip(read, several, strict=True))
        if codec.CODEC.root(keywords["root"]).elements:
            continue
        columns = [part.records for part in codec.decode_stream(data, framing=framing, **keywords)]
        try:
            records = [each.as_py() for part in columns for each in codec.encode(part, **keywords)]
        except EncodeError:  # columns lose what the value has, such as the order of a map
            continue
        again = stream(codec.encode_stream, columns, framing=framing, **keywords)
        if again is not None:
            found = [each.data for each in codec.iter_parse(again, framing=framing, **keywords)]
            assert found == records
        else:
            assert framing in ("lines", "delimiter:0d0a"), "records that have a delimiter in them"


def test_columns_are_written_as_values_are() -> None:
    data = b"".join(databus_event.iter_build(EVENTS))
    assert data == b"".join(map(built, range(5)))
    (part,) = databus_event.decode_stream(data)
    batch = pa.RecordBatch.from_struct_array(part.records)
    for given in (part.records, batch, pa.Table.from_batches([batch]), [batch[:2], batch[2:]], part.records.slice(0)):
        for framing in (None, "length-prefixed", "cobs"):
            wanted = b"".join(databus_event.iter_build(EVENTS, framing=framing))
            assert b"".join(databus_event.encode_stream(given, framing=framing)) == wanted
    texts = [databus_json.parse(b'{"sequence":1,"timestampInNanos":2,"endOfPeriod":true}')] * 3
    (part,) = databus_json.decode_stream(b"".join(databus_json.iter_build(texts, framing="array")), framing="array")
    assert b"".join(databus_json.encode_stream(part.records, framing="array")).count(b",\n") == 2
    assert b"".join(databus_json.iter_build([], framing="array")) == b"[]\n"


def test_nothing_is_read_ahead_of_what_is_asked_for() -> None:
    taken = []

    def endless() -> Iterator[Any]:
        for event in EVENTS * 1000:
            taken.append(event)
            yield event

    assert list(islice(databus_event.iter_build(endless()), 2)) == [built(0), built(1)]
    assert len(taken) == 2


@pytest.mark.thorough
def test_large_streams_of_columns_come_in_pieces() -> None:
    records = databus_event.decode([built(number) for number in range(100)]).records
    whole = b"".join(databus_event.encode_stream(records))
    with patch.object(writing, "PIECE", 1000):
        pieces = list(databus_event.encode_stream(records))
    assert b"".join(pieces) == whole
    assert len(pieces) > 5
    assert max(map(len, pieces)) < 1000 + len(built(0))


def test_an_error_says_the_number_of_its_record_over_all_batches() -> None:
    wrong = {**EVENTS[0], "sequence": 1 << 70}
    with pytest.raises(EncodeError, match=r"^\[2\]\.sequence: "):
        list(databus_event.iter_build([*EVENTS[:2], wrong]))
    good = databus_event.decode([built(0), built(1)]).records
    bad = pa.array([*good.to_pylist(), None], good.type)
    with pytest.raises(EncodeError, match=r"^\[4\]: expected a record, found null"):
        list(databus_event.encode_stream([good, bad]))
    names = [field.name for field in good.type]
    at = names.index("opcode")
    spoiled = [pa.array(["NEVER", "NEVER"]) if place == at else column for place, column in enumerate(good.flatten())]
    with pytest.raises(EncodeError, match=r"^\[2\]\.attributes\.opcode: "):
        list(databus_event.encode_stream([good, pa.StructArray.from_arrays(spoiled, names)]))
    with pytest.raises(EncodeError, match=r"^\[1\]: expected one record in the stream"):
        list(kpl_record.iter_build([kpl_record.parse(b"a"), kpl_record.parse(b"b")], framing="none"))


@pytest.mark.parametrize("write", [databus_event.iter_build, databus_event.encode_stream])
def test_what_cannot_be_meant_is_refused_before_anything_is_read(write: Callable[..., Any]) -> None:
    for keywords in ({"framing": "line"}, {"framing": "array"}, {"root": "records"}, {"byteOrder": "middle"}):
        with pytest.raises(ParameterError):
            write(iter(()), **keywords)
    with pytest.raises(ParameterError, match=r"the end of .* is not known"):
        kpl_record.iter_build((), framing="concatenated")


def test_the_header_of_a_stream_is_written_of_the_parameters_that_it_gives(case_package: ModuleType) -> None:
    capture = importlib.import_module(f"{case_package.__name__}.capture_packet")
    value = capture.parse(struct.pack(">IIII", 1, 5, 3, 3) + b"abc", byteOrder="big", resolution="ns", linkType=7)
    for order in ("little", "big"):
        data = b"".join(capture.iter_build([value, value], byteOrder=order, resolution="ns", linkType=7))
        read = list(capture.iter_parse(data))
        assert [(each.value["fraction"], each.value["medium"]) for each in read] == [(5, 7)] * 2
        columns = [part.records for part in capture.decode_stream(data)]
        keywords = {"byteOrder": order, "resolution": "ns", "linkType": 7}
        assert b"".join(capture.encode_stream(columns, **keywords)) == data
    with pytest.raises(EncodeError):
        capture.iter_build([value], linkType=-1)


def test_a_record_that_would_lose_bytes_in_a_line_is_refused() -> None:
    for data in (b"a\r", b"\r", b" ", b"a\n"):
        with pytest.raises(EncodeError):
            writing.frame(framing_of("lines"), data, first=True)
    assert writing.frame(framing_of("lines"), b"a\rb", first=True) == b"a\rb\n"

"""`parse` and the engine read bytes that real programs wrote, and build the same bytes again."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from operator import eq
from pathlib import Path
from types import ModuleType

import pyarrow as pa
import pytest

from conftest import ROOT
from wireloom.runtime import engine
from wireloom.runtime.errors import DecodeError
from wireloom_formats import kafka_record_batch, mqtt_packet, pgoutput_message

FOLDER = Path(os.environ.get("WIRELOOM_CAPTURES") or ROOT.parent / "shared" / "captures")


@dataclass(frozen=True)
class Capture:
    """How to read a folder of captures, which records (in hexadecimal) are foreign, and which are built again."""

    module: ModuleType
    records: Callable[[Path, ModuleType], Iterator[bytes]]
    foreign: frozenset[str] = frozenset()
    is_again: Callable[[bytes, bytes], bool] = eq


def stream(path: Path, module: ModuleType) -> Iterator[bytes]:
    """The records of a file that holds a stream of them, good and bad."""
    data, end = path.read_bytes(), 0
    for record in module.iter_parse(data, on_error="skip"):
        assert record.offset == end, f"{path.name}: bytes between records"
        end = record.offset + record.size
        yield data[record.offset : end]
    assert end == len(data), f"{path.name}: bytes after the last record"


def lines(path: Path, _: ModuleType) -> Iterator[bytes]:
    """The records of a file that holds one a line, in hexadecimal."""
    return map(bytes.fromhex, path.read_text(encoding="ascii").split())


def is_batch_again(built: bytes, data: bytes) -> bool:
    """Whether a batch is the same, or, if it is compressed, has the same records."""
    value = kafka_record_batch.parse(data)
    return built == data if value["compression"] == "none" else kafka_record_batch.parse(built) == value


CAPTURES = {
    "mqtt": Capture(
        mqtt_packet,
        stream,
        # Sent to see what a broker does: cut short, AUTH without a method, a wildcard in a topic, and a byte too many.
        frozenset(("3009000161006100", "f00118", "300300012b", "00")),
    ),
    "pgoutput": Capture(pgoutput_message, lines),
    "kafka": Capture(kafka_record_batch, lines, is_again=is_batch_again),
}


@pytest.fixture(name="captured", params=CAPTURES, scope="module")
def _captured(request) -> tuple[Capture, list[bytes]]:
    capture, folder = CAPTURES[request.param], FOLDER / request.param
    if not folder.is_dir():
        pytest.skip(f"no captures: {folder} is not there; WIRELOOM_CAPTURES names another folder")
    found = [data for path in sorted(folder.iterdir()) for data in capture.records(path, capture.module)]
    assert found, f"{folder} is empty"
    return capture, found


def test_parse_reads_what_was_captured_and_build_writes_it_again(captured):
    capture, found = captured
    for data in found:
        if data.hex() in capture.foreign:
            with pytest.raises(DecodeError):
                capture.module.parse(data)
            continue
        assert capture.is_again(capture.module.build(capture.module.parse(data)), data), data.hex()


@pytest.mark.skipif(not engine.available(), reason="the native engine is not built")
def test_the_engine_reads_what_was_captured_and_writes_it_again(captured):
    capture, found = captured
    known = [data for data in found if data.hex() not in capture.foreign]
    decoded = capture.module.CODEC.decode(pa.array(known, pa.binary()))
    assert not decoded.errors.drop_null().to_pylist()
    assert decoded.reread == 0
    before = capture.module.CODEC.engine.rebuilt
    written = capture.module.CODEC.encode(decoded.records).to_pylist()
    assert capture.module.CODEC.engine.rebuilt == before
    assert all(map(capture.is_again, written, known))


def test_messages_of_postgresql_have_a_transaction_within_streams_alone():
    path, streamed, found = FOLDER / "pgoutput" / "v2stream.hex", False, 0
    if not path.is_file():
        pytest.skip(f"no captures: {path} is not there; WIRELOOM_CAPTURES names another folder")
    for data in lines(path, pgoutput_message):
        value = pgoutput_message.parse(data)
        if value["type"] in ("streamStart", "streamStop"):
            streamed = value["type"] == "streamStart"
        elif value["type"] in ("relation", "type", "insert", "update", "delete", "truncate", "message"):
            assert (value["transaction"] is not None) == streamed, data.hex()
            found += streamed
    assert found

"""What runs on executors, without Spark: one bad record, however large, costs itself alone."""

import sys
from pathlib import Path

import pyarrow as pa
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))

import engine_data

from wireloom.runtime.streams import parts
from wireloom.runtime.streams.framed import KEPT
from wireloom.spark.ingest import executor, staging
from wireloom.spark.ingest import values as values_module
from wireloom.spark.ingest.executor import decode_files
from wireloom.spark.ingest.plan import Plan
from wireloom.spark.ingest.values import decode_values
from wireloom_formats import databus_event, kpl_record

HUGE = 3_000_000_000


def plan(module, framing=None):
    return Plan(module.__name__, module.FORMAT, module.DIGEST, framing=framing)


def files(*paths):
    content = pa.nulls(len(paths), pa.binary())
    return pa.RecordBatch.from_arrays([pa.array([f"file:{path}" for path in paths]), content], ["path", "content"])


def values(*data):
    arrays = [pa.array(["t"] * len(data)), pa.array(range(len(data)), pa.int64()), pa.array(data, pa.binary())]
    return pa.RecordBatch.from_arrays(arrays, ["_source", "_record", "data"])


def quarantined(batches):
    return [row["bad"] for batch in batches for row in batch.to_pylist() if row["bad"] is not None]


@pytest.mark.parametrize("framing", ["none", "concatenated", "length-prefixed"])
def test_a_file_of_garbage_beyond_arrows_limit_is_one_row_of_the_quarantine(tmp_path, framing):
    path = tmp_path / "garbage.bin"
    with path.open("wb") as file:
        file.write(b"\xfe" * 8)
        file.truncate(HUGE)
    (bad,) = quarantined(decode_files(plan(databus_event, framing), [files(path)]))
    assert (bad["raw_size"], len(bad["raw"])) == (HUGE, KEPT)
    assert bad["format"] == "databus_event"


def test_raw_size_is_that_of_raw_where_nothing_is_cut_and_null_without_data():
    rows = quarantined(decode_values(plan(databus_event), [values(b"\xfe\xfe", None)]))
    assert sorted((row["code"] == "no_data", row["raw"], row["raw_size"]) for row in rows) == [
        (False, b"\xfe\xfe", 2),
        (True, None, None),
    ]


def test_bad_rows_leave_in_batches_of_bounded_size(monkeypatch):
    monkeypatch.setattr(staging, "BATCH_BYTES", 10)
    made = decode_values(plan(databus_event), [values(*[b"\xfe" * 4] * 5, b"\xfe" * 30)])
    sizes = [[row["bad"]["raw_size"] for row in batch.to_pylist() if row["bad"]] for batch in made]
    assert [each for each in sizes if each] == [[4, 4], [4, 4], [4], [30]]


def test_values_are_decoded_in_chunks_of_bounded_size(monkeypatch):
    monkeypatch.setattr(values_module, "CHUNK_BYTES", 10)
    made = list(decode_values(plan(kpl_record), [values(b"a" * 6, b"b" * 6, b"c" * 30, b"d")]))
    tallies = [row["tally"] for batch in made for row in batch.to_pylist() if row["tally"]]
    assert [tally["records"] for tally in tallies] == [1, 1, 1, 1]


def test_records_of_small_files_are_staged_together_each_with_its_place(tmp_path, monkeypatch):
    paths = [tmp_path / f"{number}.bin" for number in range(5)]
    for path in paths:
        path.write_bytes(b"a record of no aggregate")
    monkeypatch.setattr(executor, "GATHERED", 2)
    batches = [batch.to_pylist() for batch in decode_files(plan(kpl_record, "none"), [files(*paths)])]
    rows = [[row["row"] for row in batch if row["row"]] for batch in batches]
    assert [len(each) for each in rows if each] == [2, 2, 1]
    assert [(row["_source"], row["_record"], row["_offset"]) for each in rows for row in each] == [
        (f"file:{path}", 0, 0) for path in paths
    ]


def test_records_of_a_stream_are_numbered_across_its_parts(tmp_path, monkeypatch):
    records = engine_data.databus(40, 3)
    records[7] = records[7][:-1] + bytes([records[7][-1] ^ 1])
    path = tmp_path / "stream.bin"
    path.write_bytes(b"".join(records))
    monkeypatch.setattr(parts, "WINDOW", 500)
    staged = [row for batch in decode_files(plan(databus_event), [files(path)]) for row in batch.to_pylist()]
    found = sorted((row["row"] or row["bad"])["_record"] for row in staged if not row["tally"])
    assert found == list(range(40))
    (bad,) = (row["bad"] for row in staged if row["bad"])
    assert (bad["_record"], bad["_offset"], bad["raw"]) == (7, len(b"".join(records[:7])), records[7])

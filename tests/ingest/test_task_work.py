"""The work of an ingest task: a bad record affects no other, and the counts come from the written files."""

from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import engine_data
from wireloom.failures import DataError
from wireloom.ingest.files import records
from wireloom.ingest.files import values as values_module
from wireloom.ingest.files.finding import Listing, Place
from wireloom.ingest.files.inputs import Shares, groups, listing, records_of
from wireloom.ingest.files.ranges import Part
from wireloom.ingest.files.records import files_of, ranges_of
from wireloom.ingest.files.values import values_of
from wireloom.ingest.job.report import summary_lines
from wireloom.ingest.job.task import Report, written
from wireloom.ingest.plan import QUARANTINE, RECORDS, Files, Plan
from wireloom.ingest.tables.parquet_files import TableFiles, Writing
from wireloom.runtime.streams import parts
from wireloom.runtime.streams.framed import KEPT
from wireloom_formats import databus_event, kpl_record

HUGE = 3_000_000_000


def plan(module, framing=None):
    return Plan(module.__name__, module.FORMAT, module.DIGEST, framing=framing)


def files(*paths):
    content = pa.nulls(len(paths), pa.binary())
    return pa.RecordBatch.from_arrays([pa.array([f"file:{path}" for path in paths]), content], ["path", "content"])


def ranges(folder):
    return [Part(file, 0, file.size, 0) for file in Listing((str(folder),)).files()]


def values(*data):
    arrays = [pa.array(["t"] * len(data)), pa.array(range(len(data)), pa.int64()), pa.array(data, pa.binary())]
    return pa.RecordBatch.from_arrays(arrays, ["_source", "_record", "data"])


def quarantined(found):
    return [row for part in found for row in part.bad.to_pylist()]


def to(folder, **options):
    return Writing(str(folder), **options)


def table(folder, name, report):
    return pa.concat_tables(
        pq.ParquetFile(folder / name / file.name).read() for file in report.files if file.table == name
    )


@pytest.mark.parametrize("framing", ["none", "concatenated", "length-prefixed"])
def test_a_file_of_garbage_beyond_arrows_limit_is_one_row_of_the_quarantine(tmp_path, framing):
    path = tmp_path / "garbage.bin"
    with path.open("wb") as file:
        file.write(b"\xfe" * 8)
        file.truncate(HUGE)
    for found in (
        files_of(plan(databus_event, framing), [files(path)]),
        ranges_of(plan(databus_event, framing), ranges(tmp_path)),
    ):
        (bad,) = quarantined(found)
        assert (bad["raw_size"], len(bad["raw"])) == (HUGE, KEPT)
        assert bad["format"] == "databus_event"


def test_raw_size_is_that_of_raw_where_nothing_is_cut_and_null_without_data():
    rows = quarantined(values_of(plan(databus_event), [values(b"\xfe\xfe", None)]))
    assert sorted((row["code"] == "no_data", row["raw"], row["raw_size"]) for row in rows) == [
        (False, b"\xfe\xfe", 2),
        (True, None, None),
    ]


def test_values_are_decoded_in_chunks_of_bounded_size(monkeypatch):
    monkeypatch.setattr(values_module, "CHUNK_BYTES", 10)
    made = list(values_of(plan(kpl_record), [values(b"a" * 6, b"b" * 6, b"c" * 30, b"d")]))
    assert [part.tally.records for part in made] == [1, 1, 1, 1]


def test_small_files_that_are_records_are_decoded_together_each_with_its_place(tmp_path, monkeypatch):
    paths = [tmp_path / f"{number}.bin" for number in range(5)]
    for path in paths:
        path.write_bytes(b"a record of no aggregate")
    monkeypatch.setattr(records, "TOGETHER", 40)
    rows = [part.rows.to_pylist() for part in ranges_of(plan(kpl_record, "none"), ranges(tmp_path))]
    assert [len(each) for each in rows] == [2, 2, 1]
    assert [(row["_source"], row["_record"], row["_offset"]) for each in rows for row in each] == [
        (f"file:{path}", 0, 0) for path in paths
    ]


def test_records_of_a_stream_are_numbered_across_its_parts(tmp_path, monkeypatch):
    made = engine_data.databus(40, 3)
    made[7] = made[7][:-1] + bytes([made[7][-1] ^ 1])
    path = tmp_path / "stream.bin"
    path.write_bytes(b"".join(made))
    monkeypatch.setattr(parts, "WINDOW", 500)
    found = list(files_of(plan(databus_event), [files(path)]))
    numbers = sorted(row["_record"] for part in found for row in (*part.rows.to_pylist(), *part.bad.to_pylist()))
    assert numbers == list(range(40))
    (bad,) = quarantined(found)
    assert (bad["_record"], bad["_offset"], bad["raw"]) == (7, len(b"".join(made[:7])), made[7])


def test_what_a_task_reports_is_what_its_files_have(tmp_path):
    made = engine_data.databus(200, 3)
    made[7] = made[7][:-1] + bytes([made[7][-1] ^ 1])
    found = values_of(plan(databus_event), [values(*made, None)])
    report = written(found, to(tmp_path), ("opcode",))
    assert Report.read(report.json()) == report
    summary = report.summary
    assert (summary.records, summary.decoded, summary.rows, summary.quarantined) == (201, 199, 199, 2)
    assert summary.reconciles
    rows, bad = table(tmp_path, RECORDS, report), table(tmp_path, QUARANTINE, report)
    assert (len(rows), len(bad)) == (199, 2)
    assert dict(summary.codes) == dict.fromkeys(bad["code"].to_pylist(), 1)
    assert dict(dict(summary.kinds)["opcode"]) == {
        str(each["values"]): each["counts"] for each in rows["opcode"].value_counts().to_pylist() if each["values"]
    }
    assert rows.schema.field("sequence").type == pa.int64()


def test_row_groups_and_files_have_the_sizes_that_were_asked_for(tmp_path):
    made = engine_data.databus(2000, 3)
    found = (
        part
        for start in range(0, 2000, 100)
        for part in values_of(plan(databus_event), [values(*made[start : start + 100])])
    )
    report = written(found, to(tmp_path, group_bytes=1, file_bytes=20_000))
    assert len(report.files) > 1
    footers = [pq.ParquetFile(tmp_path / RECORDS / file.name).metadata for file in report.files]
    assert {footer.row_group(at).num_rows for footer in footers for at in range(footer.num_row_groups)} == {100}
    assert sum(footer.num_rows for footer in footers) == 2000
    assert sorted(table(tmp_path, RECORDS, report)["_record"].to_pylist()) == sorted(list(range(100)) * 20)


def test_bad_records_are_written_before_many_of_them_take_the_memory(tmp_path):
    found = (part for _ in range(5) for part in values_of(plan(databus_event), [values(*[b"\xfe" * 1000] * 10)]))
    report = written(found, to(tmp_path, group_bytes=9_000))
    footers = [pq.ParquetFile(tmp_path / QUARANTINE / file.name).metadata for file in report.files]
    assert [footer.row_group(at).num_rows for footer in footers for at in range(footer.num_row_groups)] == [10] * 5


def test_one_large_file_is_split_for_all_cores_and_its_records_keep_their_places(tmp_path, monkeypatch):
    made = engine_data.databus(4000, 3)
    made[1700] = made[1700][:-1] + bytes([made[1700][-1] ^ 1])
    (tmp_path / "stream.bin").write_bytes(b"".join(made))
    (tmp_path / "tail.bin").write_bytes(made[0])
    monkeypatch.setattr("wireloom.ingest.files.inputs.SMALLEST", 30_000)
    monkeypatch.setattr(parts, "WINDOW", 10_000)
    asked = plan(databus_event)
    source = Files(str(tmp_path))
    found = list(groups(listing(source), source, asked, 2).groups)
    assert len(found) > 2
    places = [
        (row["_source"].rpartition("/")[2], row["_record"], row["_offset"])
        for group in found
        for part in records_of(asked, group)
        for row in (*part.rows.to_pylist(), *part.bad.to_pylist())
    ]
    starts = [sum(map(len, made[:number])) for number in range(4000)]
    wanted = [("stream.bin", number, starts[number]) for number in range(4000)]
    assert sorted(places) == [*wanted, ("tail.bin", 0, 0)]


def test_the_first_and_the_last_groups_of_a_large_input_are_small():
    shares, done, found = Shares.of([200 << 20], 2), 0, []
    while done < 200 << 20:
        found.append(min(shares.at(done), (200 << 20) - done))
        done += found[-1]
    assert max(found[0], found[-1]) <= max(found) // 3
    assert len(found) <= 8
    assert max(found) <= shares.target
    assert Shares.of([5 << 20], 2).at(0) >= 5 << 20, "not worth a second one"
    assert Shares.of([1 << 40], 2).at(0) == 16 << 20


def test_each_group_is_there_once_its_end_is_found_and_what_is_behind_the_last_border_is_not_looked_at(
    tmp_path, monkeypatch
):
    (tmp_path / "stream.bin").write_bytes(b"".join(engine_data.databus(4000, 3)))
    size = (tmp_path / "stream.bin").stat().st_size
    monkeypatch.setattr("wireloom.ingest.files.inputs.SMALLEST", size // 4 + 1)
    monkeypatch.setattr("wireloom.ingest.files.ranges.HEAD", 1000)
    opened, opening = [], Place.open
    monkeypatch.setattr(Place, "open", lambda place: opened.append(opening(place)) or opened[-1])
    source = Files(str(tmp_path))
    found = groups(listing(source), source, plan(databus_event), 2).groups
    read = [opened[-1].tell() / size for _ in found if not opened[-1].closed]
    assert [round(each, 1) for each in read] == [0.3, 0.6, 0.9, 0.9]


def test_rows_that_were_lost_on_the_way_to_the_disk_fail_the_task(tmp_path, monkeypatch):
    flush = TableFiles._flush

    def losing(files):
        files._held.pop()
        flush(files)

    monkeypatch.setattr(TableFiles, "_flush", losing)
    batches = [values(*engine_data.databus(3, 3)), values(*engine_data.databus(2, 3))]
    with pytest.raises(DataError, match="5 rows were expected in records, but its files have 3"):
        written(values_of(plan(databus_event), batches), to(tmp_path))


def test_records_that_take_the_construct_path_are_counted(tmp_path):
    good = engine_data.databus(2, 3)
    bad = good[0][:30]
    summary = written(values_of(plan(databus_event), [values(*good, bad)]), to(tmp_path)).summary
    assert (summary.records, summary.quarantined, summary.reread) == (3, 1, 1)
    assert (summary + summary).reread == 2
    assert not any("by the parser" in line for line in summary_lines(summary, "out"))
    slow = replace(summary, reread=3)
    assert any("3 of the records were read by the parser" in line for line in summary_lines(slow, "out"))

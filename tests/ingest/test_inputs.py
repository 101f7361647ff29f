"""Input files that are compressed, incomplete, missing, or changed since they were listed."""

import bz2
import gzip
import io
import os
import struct
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import engine_data
from conftest import GENERATED
from support.databus_events import LONG_KEY
from support.databus_events import noisy as record
from wireloom.cli.app import app
from wireloom.failures import DataError
from wireloom.ingest.files import compression, values
from wireloom.ingest.files.compression import Bounds, compression_of, plain
from wireloom.ingest.files.finding import Listing
from wireloom.ingest.files.ranges import Part
from wireloom.ingest.files.records import files_of, ranges_of
from wireloom.ingest.job.batch import ingest
from wireloom.ingest.job.local import LocalEngine
from wireloom.ingest.plan import Job, Plan
from wireloom.ingest.quarantine.replayed_records import replayed_of
from wireloom.ingest.tables import splitting
from wireloom.runtime.streams import framed
from wireloom.runtime.streams.budget import Budget
from wireloom_formats import databus_event, databus_json, kpl_record


def snappy(data, block=65536):
    parts = [compression._SNAPPY]
    for start in range(0, len(data), block):
        piece = data[start : start + block]
        crc = compression._CRC32C(piece)
        masked = ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
        body = struct.pack("<I", masked) + pa.compress(piece, "snappy", asbytes=True)
        parts.append(b"\x00" + len(body).to_bytes(3, "little") + body)
    return b"".join(parts)


def by_arrow(codec):
    def compressed(data):
        buffer = pa.BufferOutputStream()
        with pa.CompressedOutputStream(buffer, codec) as stream:
            stream.write(data)
        return buffer.getvalue().to_pybytes()

    return compressed


KINDS = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "zstd": by_arrow("zstd"),
    "lz4": by_arrow("lz4"),
    "snappy": snappy,
}


def plan(module=databus_event, **options):
    return Plan(module.__name__, module.FORMAT, module.DIGEST, **options)


@pytest.fixture
def run(tmp_path):
    """Ingest a file, or the files of the folder; returns the summary, the rows and the quarantine."""
    runs = iter(range(100))

    def ran(files, asked=None, told=None, **options):
        folder, output = tmp_path / "input", tmp_path / f"output{next(runs)}"
        folder.mkdir(exist_ok=True)
        for old in folder.iterdir():
            old.unlink()
        for name, content in files.items():
            (folder / name).write_bytes(content)
        job = Job(asked or plan(), str(folder), str(output), **options)
        summary = ingest(LocalEngine(1), job, (told if told is not None else []).append)
        assert summary.reconciles
        return summary, *(pq.read_table(output / name).to_pylist() for name in ("records", "quarantine"))

    return ran


# --- compressed ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_file_is_compressed_with_is_told_by_its_first_bytes(kind):
    assert compression_of(KINDS[kind](b"some data")[: compression.HEAD], "x.bin") == kind
    assert compression_of(LONG_KEY[: compression.HEAD], "x.bin") is None
    assert compression_of(b"", "x.gz") is None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("framing", ["concatenated", "length-prefixed", "lines", "array", "none"])
def test_compressed_files_are_read_as_what_is_in_them_in_every_framing(run, kind, framing):
    module = databus_json if framing in ("lines", "array") else databus_event
    made = [record(number) for number in range(1 if framing == "none" else 50)]
    match framing:
        case "lines" | "array":
            lacking = {"opcodeAmbiguous", "attributes", "headerCrc", "valueCrc", "length"}  # lines do not say them
            value = {name: each for name, each in databus_event.parse(record(7)).items() if name not in lacking}
            made = [databus_json.build(value)] * 50
            data = b"".join(each + b"\n" for each in made)
            if framing == "array":
                data = b"[" + b",\n".join(made) + b"]\n"
        case "length-prefixed":
            data = b"".join(len(each).to_bytes(4, "big") + each for each in made)
        case _:
            data = b"".join(made)
    asked = plan(module, framing=framing)
    _, bare, _ = run({"a": data}, asked)
    summary, rows, bad = run({"a": KINDS[kind](data)}, asked)
    assert (summary.records, bad) == (len(made), [])
    assert rows == bare
    whole = [part.tally.records for part in files_of(asked, [content("a", KINDS[kind](data))])]
    assert sum(whole) == len(made), "as Spark hands over the contents of files"


def content(path, data):
    return pa.RecordBatch.from_arrays([pa.array([path]), pa.array([data], pa.binary())], ["path", "content"])


def test_several_members_and_empty_ones_are_one_file(run):
    data = gzip.compress(record(1)) + gzip.compress(b"") + gzip.compress(record(2))
    assert run({"a.gz": data})[0].decoded == 2
    assert run({"a.gz": gzip.compress(b""), "b.gz": b""})[0].records == 0


@pytest.mark.parametrize("kind", ["gzip", "bzip2"])
@pytest.mark.parametrize("zeros", [1, 511, 3 * compression.BITE])
def test_zero_bytes_behind_what_is_compressed_fill_the_file_up(run, kind, zeros):
    data = KINDS[kind](record(1)) + bytes(zeros)
    assert run({"a": data, "b": data + data}, plan(framing="concatenated"))[0].decoded == 3
    summary, _, bad = run({"a": data + b"x"})
    assert (summary.decoded, [(row["code"], row["raw_size"]) for row in bad]) == (1, [("decompression", zeros + 1)])


@pytest.mark.parametrize("kind", KINDS)
def test_a_compressed_file_of_which_nothing_is_read_counts_with_all_its_bytes(run, kind):
    data = bytearray(KINDS[kind](os.urandom(1000)))
    del data[10:20]
    summary, _, (bad,) = run({"a": bytes(data)})
    assert (bad["code"], bad["raw_size"], summary.bad_size) == ("decompression", len(data), len(data))


def test_of_a_damaged_file_the_compressed_bytes_that_are_left_are_counted(run):
    members = [gzip.compress(os.urandom(1000)) for _ in range(400)]
    members[200] = bytes([*members[200][:-8], *bytes(8)])
    bad = run({"a": b"".join(members)}, plan(kpl_record, framing="size:1000"))[2]
    assert bad[-1]["raw_size"] == sum(map(len, members[200:]))


@pytest.mark.parametrize("kind", KINDS)
def test_damage_in_a_compressed_file_is_a_bad_record_behind_those_that_were_read(run, kind):
    made = [record(number) for number in range(2000)]
    data = KINDS[kind](b"".join(made))
    summary, rows, bad = run({"a": data[: len(data) * 3 // 4]})
    assert [row["code"] for row in bad][-1] == "decompression"
    assert {row["code"] for row in bad} <= {"decompression", "truncated"}
    assert sorted(row["sequence"] for row in rows) == list(range(len(rows)))
    assert bad[-1]["_record"] == summary.records - 1
    if kind != "bzip2":  # whose blocks are larger than the file
        assert rows
    assert (bad[-1]["raw"], bad[-1]["raw_size"] > 0) == (b"", True)


def test_a_name_that_promises_what_the_file_is_not_is_a_bad_record_unless_it_is_read_as_it_is(run):
    summary, _, bad = run({"a.gz": record(1)})
    assert (summary.decoded, [row["code"] for row in bad]) == (0, ["decompression"])
    assert run({"a.gz": record(1)}, plan(compression="none"))[0].decoded == 1
    summary, _, bad = run({"a.bin": gzip.compress(record(1))}, plan(compression="none"))
    assert (summary.decoded, len(bad)) == (0, 1)


def test_what_expands_beyond_the_bound_ends_there(run, monkeypatch):
    monkeypatch.setattr(compression, "ALWAYS", 1 << 20)
    bomb = gzip.compress(record(7) + bytes(30 << 20))
    _, rows, bad = run({"a": bomb}, plan(expansion=100))
    assert [row["sequence"] for row in rows] == [7]
    assert [row["code"] for row in bad][-1] == "expansion_limit"
    assert sum(row["raw_size"] for row in bad) < 8 << 20, "the rest was not made"


def test_snappy_checks_what_its_framing_says(run):
    data = snappy(record(1) * 3)
    flipped = data[:-1] + bytes([data[-1] ^ 1])
    assert [row["code"] for row in run({"a": flipped})[2]] == ["decompression"]
    skipped = data[:10] + b"\x99\x02\x00\x00ab" + data[:10] + b"\xfe\x01\x00\x00\x00" + data[10:]
    assert run({"a": skipped})[0].decoded == 3
    reserved = data[:10] + b"\x02\x01\x00\x00a" + data[10:]
    assert "unknown type" in run({"a": reserved})[2][0]["actual"]


def test_a_compressed_file_can_be_gone_about_as_any_other():
    data = os.urandom(100_000)
    packed = gzip.compress(data)
    file = plain(io.BytesIO(packed), lambda: io.BytesIO(packed), "a", Bounds())
    assert file.read(10) == data[:10]
    assert file.seek(0, io.SEEK_END) == len(data)
    file.seek(90_000)
    assert file.read() == data[90_000:]
    file.seek(5)
    assert (file.read(3), file.tell(), file.failure) == (data[5:8], 8, None)


def test_a_large_compressed_file_is_never_split(run, monkeypatch):
    monkeypatch.setattr("wireloom.ingest.files.inputs.SMALLEST", 1000)
    made = b"".join(record(number) for number in range(500))
    for framing in ("concatenated", None):
        assert run({"a": gzip.compress(made)}, plan(framing=framing))[0].decoded == 500


def test_small_compressed_files_that_are_records_are_among_others(run):
    files = {"a": b"plain", "b.gz": gzip.compress(b"one"), "c": bz2.compress(b"two"), "d": b"another"}
    _, rows, _ = run(files, plan(kpl_record, framing="none"))
    assert sorted((row["_source"][-1], row["data"]) for row in rows) == [
        ("a", b"plain"),
        ("c", b"two"),
        ("d", b"another"),
        ("z", b"one"),
    ]


# --- passed over ---------------------------------------------------------------------------------------------------


def test_names_of_files_that_are_not_complete_are_passed_over_and_said(run):
    told = []
    names = ("x.tmp", "y.part", "z._COPYING_", ".hidden", "_also")
    summary, _, _ = run({"a.bin": record(1), **dict.fromkeys(names, record(2))}, told=told)
    assert summary.records == 1
    assert told == ["skipped, since their names mark them as hidden or incomplete: .hidden, _also, x.tmp and 2 others"]


def test_a_file_that_is_named_itself_is_read_whatever_it_is_called(tmp_path):
    (tmp_path / "x.tmp").write_bytes(record(1))
    job = Job(plan(), str(tmp_path / "x.tmp"), str(tmp_path / "out"))
    assert ingest(LocalEngine(1), job).decoded == 1


# --- gone, or another ----------------------------------------------------------------------------------------------


@pytest.fixture
def meddling(tmp_path, monkeypatch):
    """Changes a file between planning and reading."""

    def happens(act):
        planned = LocalEngine.prepared.__globals__["groups"]

        def acting(*given):
            found = planned(*given)
            act(tmp_path / "input" / "b")
            return found

        monkeypatch.setitem(LocalEngine.prepared.__globals__, "groups", acting)

    return happens


def touched(path):
    os.utime(path, ns=(1, 1))


@pytest.mark.parametrize(
    ("act", "code"),
    [
        (lambda path: path.unlink(), "file_gone"),
        (lambda path: path.write_bytes(b"longer" * 1000), "file_changed"),
        (touched, "file_changed"),
    ],
    ids=["gone", "another size", "another time"],
)
@pytest.mark.parametrize("shape", ["stream", "small", "column", "compressed"])
def test_a_file_that_is_gone_or_another_ends_the_job_or_is_a_counted_row(run, meddling, act, code, shape):
    buffer = io.BytesIO()
    pq.write_table(pa.table({"value": pa.array([record(1)], pa.binary())}), buffer)
    files = {name: record(number) for number, name in enumerate("abc")}
    if shape == "compressed":
        files = {name: gzip.compress(data) for name, data in files.items()}
    if shape == "column":
        files = dict.fromkeys(files, buffer.getvalue())
    options = {"column": "value"} if shape == "column" else {}
    framing = "none" if shape == "small" else None
    meddling(act)
    with pytest.raises(DataError, match=r"/b (has been removed|had)"):
        run(files, plan(framing=framing), **options)
    summary, rows, bad = run(files, plan(framing=framing, changed="quarantine"), **options)
    assert (summary.records, summary.quarantined, bad[-1]["code"]) == (len(rows) + len(bad), len(bad), code)
    assert bad[-1]["_source"].endswith("/b")
    assert len(rows) == 2


def test_a_file_that_is_cut_while_it_is_read_is_told(run, tmp_path, monkeypatch):
    from wireloom.runtime.streams import parts

    monkeypatch.setattr(parts, "WINDOW", 500)
    taken = parts._Concatenated.load

    def cutting(window, *given):
        taken(window, *given)
        os.truncate(tmp_path / "input" / "a", 1500)

    monkeypatch.setattr(parts._Concatenated, "load", cutting)
    files = {"a": b"".join(record(number) for number in range(100))}
    with pytest.raises(DataError, match=r"/a had"):
        run(files)
    summary, rows, bad = run(files, plan(changed="quarantine"))
    assert [row["sequence"] for row in rows] == list(range(len(rows)))
    assert bad[-1]["code"] == "file_changed"
    assert summary.records == len(rows) + len(bad)


# --- what the quarantine lacks -------------------------------------------------------------------------------------


@pytest.fixture
def replayed(tmp_path, monkeypatch):
    """The rows and the bad records of a quarantine once more; of a record it keeps a hundred bytes."""
    for module in (framed, splitting):
        monkeypatch.setattr(module, "KEPT", 100)

    def ran(number, asked):
        found = list(replayed_of(asked, pq.read_table(tmp_path / f"output{number}" / "quarantine").to_batches()))
        return [row for part in found for row in part.rows.to_pylist()], [
            row for part in found for row in part.bad.to_pylist()
        ]

    return ran


@pytest.mark.parametrize("kind", [None, *KINDS])
def test_a_replay_reads_on_from_the_file_and_the_offset_of_a_row(run, replayed, kind):
    made = [record(number) for number in range(30)]
    data = bytearray(b"".join(made))
    data[5 * len(made[0]) + 12] ^= 1
    packed = bytes(data) if kind is None else KINDS[kind](bytes(data))
    _, rows, bad = run({"a": packed})
    assert (len(rows), [row["_record"] for row in bad]) == (5, [5])
    asked = plan(framing="concatenated", resync=True)
    assert replayed(0, asked) == ([], bad), "its bytes are not there"
    rows, still = replayed(0, replace(asked, from_source=True))
    assert [(row["sequence"], row["_record"], row["_offset"]) for row in rows] == [
        (number, number, number * len(made[0])) for number in range(6, 30)
    ]
    assert [(row["code"], row["_record"], row["raw_size"]) for row in still] == [("header_crc", 5, len(made[0]))]


def test_a_replay_leaves_what_the_file_has_no_longer(run, replayed, tmp_path):
    large = databus_event.build({**databus_event.parse(record(3)), "value": b"v" * 500})
    damaged = large[:-1] + b"w"
    _, _, bad = run({"a": record(1) + damaged})
    asked = plan(framing="none", from_source=True)
    (tmp_path / "input" / "a").write_bytes(record(1) + large)
    rows, still = replayed(0, asked)
    assert ([row["sequence"] for row in rows], still) == ([3], [])
    (tmp_path / "input" / "a").write_bytes(record(2) + b"another" * 100)
    assert replayed(0, asked) == ([], bad)
    (tmp_path / "input" / "a").unlink()
    assert replayed(0, asked) == ([], bad)


def test_a_replay_reads_files_that_were_gone_and_are_there_again(run, meddling, replayed, tmp_path):
    meddling(lambda path: path.rename(tmp_path / "aside"))
    run({"a": record(1), "b": record(2) + record(3)}, plan(changed="quarantine"))
    (tmp_path / "aside").rename(tmp_path / "input" / "b")
    rows, still = replayed(0, plan(framing="concatenated", from_source=True))
    assert ([row["sequence"] for row in rows], still) == ([2, 3], [])


# --- bounded by bytes ----------------------------------------------------------------------------------------------


def test_few_values_are_decoded_at_once_where_they_expand(monkeypatch):
    monkeypatch.setattr(values, "MADE_BYTES", 4_000_000)
    monkeypatch.setattr(values, "FIRST_BYTES", 10_000)
    expanding = engine_data.expanding(2_000)
    columns = [pa.array(range(200), pa.int64()), pa.array([expanding] * 200, pa.binary())]
    made = list(values.values_of(plan(kpl_record), [pa.RecordBatch.from_arrays(columns, ["_record", "data"])]))
    assert sum(part.tally.records for part in made) == 200
    assert max(part.rows.nbytes for part in made[1:]) < 8_000_000


def test_windows_of_streams_are_small_where_records_expand(monkeypatch):
    monkeypatch.setattr(Budget, "of", lambda most, **_: Budget(10_000, most, 4_000_000))
    expanding = engine_data.expanding(2_000)
    line = b'{"endOfPeriod":true,"sequence":1,"timestampInNanos":0}\n'
    prefixed = len(expanding).to_bytes(4, "big") + expanding
    for module, framing, one, count in (
        (kpl_record, "length-prefixed", prefixed, 300),
        (databus_json, "lines", line, 40_000),
        (databus_event, "concatenated", record(1), 60_000),
    ):
        made = list(module.CODEC.decode_stream(one * count, framing=framing, explode=True))
        assert sum(len(part.offsets) for part in made) == count
        assert all(part.errors.null_count == len(part.errors) for part in made)
        assert max(part.records.nbytes for part in made) < 8_000_000
        assert len(made) > 3


def test_small_files_that_are_records_are_taken_few_at_a_time_where_they_expand(tmp_path, monkeypatch):
    monkeypatch.setattr(Budget, "of", lambda most, **_: Budget(10_000, most, 4_000_000))
    for number in range(100):
        (tmp_path / f"{number}.bin").write_bytes(engine_data.expanding(2_000))
    files = Listing((str(tmp_path),)).files()
    made = list(ranges_of(plan(kpl_record, framing="none"), [Part(file, 0, file.size, 0) for file in files]))
    assert sum(part.tally.records for part in made) == 100
    assert max(part.rows.nbytes for part in made[1:]) < 8_000_000


def test_values_of_any_mix_of_sizes_are_read_few_at_a_time(run, monkeypatch):
    for name, value in (("UNEVEN", 1000), ("CHUNK_BYTES", 5000)):
        monkeypatch.setattr(f"wireloom.ingest.files.parquet.{name}", value)
    sizes = [1] * 500 + [4000] * 4 + [1] * 500
    buffer = io.BytesIO()
    pq.write_table(pa.table({"value": pa.array([b"v" * size for size in sizes], pa.binary())}), buffer)
    seen = []
    leading = values.leading

    def noting(plan, module, batch, made):
        seen.append(batch["data"].nbytes)
        return leading(plan, module, batch, made)

    monkeypatch.setattr(values, "leading", noting)
    _, rows, _ = run({"t.parquet": buffer.getvalue()}, plan(kpl_record), column="value")
    assert [len(row["data"]) for row in rows] == sizes
    assert max(seen) < 20_000


# --- the command ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (["--compression", "gzip"], "--compression gzip: it can be auto or none"),
        (["--changed-files", "skip"], "--changed-files skip: it can be fail or quarantine"),
        (
            ["--stream", "--source-option", "maxFileAgee=1d"],
            "did you mean maxFileAge?",
        ),
        (["--stream", "--source-option", "maxFileAge"], "is not NAME=VALUE"),
    ],
)
def test_words_that_the_options_do_not_have_are_refused_before_java_starts(tmp_path, monkeypatch, wrong, said):
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    command = ["ingest", "--format", "databus_event", "--input", tmp_path, "--output", tmp_path / "no", *wrong]
    done = CliRunner().invoke(app, [str(part) for part in (*command, "--out", GENERATED)])
    assert (done.exit_code, said in done.output) == (2, True), done.output


def test_row_groups_and_files_have_the_sizes_that_the_command_names(tmp_path, monkeypatch):
    monkeypatch.setattr("wireloom.runtime.streams.parts.WINDOW", 200_000)
    (tmp_path / "in.bin").write_bytes(b"".join(record(number) for number in range(20_000)))
    command = ["ingest", "--engine", "local", "--processes", "1", "--format", "databus_event", "--out", GENERATED]
    places = ["--input", tmp_path / "in.bin", "--output", tmp_path / "out"]
    sizes = ["--row-group-size", "100k", "--file-size", "300000"]
    done = CliRunner().invoke(app, [str(part) for part in (*command, *places, *sizes)])
    assert done.exit_code == 0, done.output
    assert len(list((tmp_path / "out" / "records").rglob("*.parquet"))) > 2
    refused = CliRunner().invoke(app, [str(part) for part in (*command, *places, "--file-size", "big")])
    assert (refused.exit_code, "such as 4g or 800m" in refused.output) == (2, True)


def test_kafka_s_own_options_go_on_to_its_client():
    from wireloom.cli.commands.tables.ingest_options import source_option
    from wireloom.failures import MisuseError
    from wireloom.ingest.plan import Kafka

    source = Kafka("broker:9092", ("events",))
    assert source_option(source, "kafka.security.protocol=SASL_SSL") == ("kafka.security.protocol", "SASL_SSL")
    assert source_option(source, "MaxOffsetsPerTrigger=5") == ("MaxOffsetsPerTrigger", "5")
    with pytest.raises(MisuseError, match="did you mean minPartitions"):
        source_option(source, "minPartition=5")

"""`decode` and `encode` work in batches on the engine, with limited memory, and report bytes that they give up."""

import gzip
import io
import itertools
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from support.databus_events import noisy as record
from wireloom.cli.app import app
from wireloom.records import transcode
from wireloom.runtime.codec import Codec
from wireloom.runtime.columns.rendering import bytes_of_lines
from wireloom.runtime.streams import parts
from wireloom_formats import databus_event

OUT = ["--out", str(Path(__file__).parents[2] / "generated")]
REQUEST = transcode.Request(databus_event, None, None, {})


def run(*arguments, input=None):
    return CliRunner().invoke(app, [*map(str, arguments), *OUT], input=input)


@pytest.fixture
def events(tmp_path):
    """Twenty events; number 7 has a damaged header."""
    data = [bytearray(record(number)) for number in range(20)]
    data[7][2] ^= 0x41
    file = tmp_path / "events.bin"
    file.write_bytes(b"".join(data))
    return file


@pytest.fixture
def good(tmp_path):
    file = tmp_path / "good.bin"
    file.write_bytes(b"".join(record(number) for number in range(20)))
    return file


def numbers(result):
    return [json.loads(line)["sequence"] for line in result.stdout.splitlines()]


class Endless(io.RawIOBase):
    """A stream of events without an end, which counts the bytes that were taken of it."""

    def __init__(self):
        self.taken = 0
        self._events, self._held = (record(number % 100) for number in itertools.count()), b""

    def readable(self):
        """Always."""
        return True

    def readinto(self, buffer):
        """The next bytes."""
        while len(self._held) < len(buffer):
            self._held += next(self._events)
        piece, self._held = self._held[: len(buffer)], self._held[len(buffer) :]
        buffer[: len(piece)] = piece
        self.taken += len(piece)
        return len(piece)


def test_a_stream_without_an_end_is_decoded_in_pieces_of_bounded_size():
    source, most = Endless(), 0
    selection = transcode.Selection(skip=40_000, limit=1_000)
    for piece in transcode.decode(REQUEST, io.BufferedReader(source), selection, transcode.Tally()):
        most = max(most, len(piece.part.offsets))
    assert 0 < most <= 1_000
    assert source.taken <= 41_000 * len(record(0)) + 2 * parts.WINDOW


def test_lines_are_encoded_in_batches_of_bounded_size():
    line = b'{"version":0}\n'
    taken = 0

    def lines():
        nonlocal taken
        for _ in itertools.count():
            taken += 1
            yield line

    for count, batch in enumerate(itertools.islice(transcode._batches(lines()), 3), start=1):
        assert len(batch) == transcode._LINES
        assert taken <= count * transcode._LINES


def test_good_records_are_read_and_written_by_the_engine_alone(good, tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("the parser was asked")

    monkeypatch.setattr(Codec, "parse_with", refuse)
    monkeypatch.setattr(Codec, "_build_with", refuse)
    decoded = run("decode", "databus_event", good)
    assert numbers(decoded) == list(range(20))
    assert decoded.stderr == ""
    lines, copy = tmp_path / "lines.jsonl", tmp_path / "copy.bin"
    lines.write_text(decoded.stdout)
    assert run("encode", "databus_event", lines, "-o", copy).exit_code == 0
    assert copy.read_bytes() == good.read_bytes()


def test_records_that_the_parser_reads_or_builds_are_counted_and_said_with_the_reason(good):
    module = SimpleNamespace(CODEC=replace(databus_event.CODEC, layout=None))
    request, tally, written = transcode.Request(module, None, None, {}), transcode.Tally(), transcode.Written()
    data = good.read_bytes()
    (piece,) = transcode.decode(request, io.BytesIO(data), transcode.Selection(), tally)
    why = "20 of 20 records were {} by the parser, which is slow: a format without a layout"
    assert tally.slow() == why.format("read")
    lines = bytes(bytes_of_lines(transcode.lines(request, None, piece.part))).splitlines()
    assert b"".join(transcode.encode(request, lines, written)) == data
    assert written.slow() == why.format("built")


def test_a_file_without_records_is_said_to_have_none(tmp_path):
    (tmp_path / "empty").touch()
    result = run("decode", "databus_event", tmp_path / "empty")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr.endswith("empty has no records\n")


def test_a_format_that_is_not_generated_yet_is_reported_with_the_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(app, ["new", "heartbeat"]).exit_code == 0
    (tmp_path / "message").touch()
    result = run("decode", "heartbeat", "message")
    assert result.exit_code == 2
    assert "heartbeat is not generated yet" in result.stderr
    assert "specs/heartbeat/heartbeat.yaml" in result.stderr
    assert "`wireloom generate`" in result.stderr


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (("--limit", 3), [0, 1, 2]),
        (("--skip", 17), [17, 18, 19]),
        (("--skip", 5, "--limit", 2), [5, 6]),
        (("--record", 9), [9]),
        (("--limit", 0), []),
        (("--skip", 99), []),
    ],
)
def test_records_are_selected_by_the_numbers_that_messages_say(good, options, found, monkeypatch):
    for window in (parts.WINDOW, 200):
        monkeypatch.setattr(parts, "WINDOW", window)
        result = run("decode", "databus_event", good, *options)
        assert result.exit_code == 0, result.output
        assert numbers(result) == found


def test_the_record_of_a_message_is_found_by_its_number(events):
    said = run("decode", "databus_event", events, "--on-error", "skip")
    assert "record 7, at byte" in said.stderr
    again = run("decode", "databus_event", events, "--record", 7)
    assert again.exit_code == 1
    assert "record 7, at byte" in again.stderr
    assert again.stdout == ""


def test_a_record_that_is_not_there_is_said_and_contradictions_are_refused(good):
    missing = run("decode", "databus_event", good, "--record", 20)
    assert missing.exit_code == 2
    assert "has no record 20; it has 20, numbered from 0" in missing.stderr
    both = run("decode", "databus_event", good, "--record", 2, "--limit", 1)
    assert both.exit_code == 2
    assert "--record excludes --skip and --limit" in both.stderr


def test_only_the_columns_that_are_asked_for_are_shown_and_others_give_the_nearest_name(good):
    some = run("decode", "databus_event", good, "--columns", "sequence,opcode", "--limit", 1)
    assert json.loads(some.stdout) == {"sequence": 0, "opcode": "UPSERT"}
    other = run("decode", "databus_event", good, "--columns", "sequense")
    assert other.exit_code == 2
    assert "did you mean 'sequence'?" in other.stderr


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".jsonl"])
def test_the_suffix_of_the_output_decides_what_is_written(events, tmp_path, suffix):
    target = tmp_path / f"out{suffix}"
    result = run("decode", "databus_event", events, "-o", target, "--on-error", "skip", "--resync",
                 "--columns", "sequence,value")  # fmt: skip
    assert result.exit_code == 1
    assert result.stdout == ""
    match suffix:
        case ".parquet":
            rows = pq.read_table(target).to_pylist()
        case ".arrow":
            rows = pa.ipc.open_file(target).read_all().to_pylist()
        case _:
            rows = [json.loads(line) for line in target.read_text().splitlines()]
    assert [row["sequence"] for row in rows] == [number for number in range(20) if number != 7]
    assert set(rows[0]) == {"sequence", "value"}


def test_another_suffix_is_refused_with_what_is_possible(good, tmp_path):
    result = run("decode", "databus_event", good, "-o", tmp_path / "out.csv")
    assert result.exit_code == 2
    assert "it can be .jsonl, .arrow, .parquet" in result.stderr
    assert not (tmp_path / "out.csv").exists()


def test_bytes_given_up_are_reported_with_the_option_that_recovers_them(events):
    size = len(record(0))
    result = run("decode", "databus_event", events, "--on-error", "skip")
    assert numbers(result) == list(range(7))
    assert f"gave up the last {13 * size} bytes, after record 6 (byte {7 * size})" in result.stderr
    assert "--resync searches for it" in result.stderr
    assert "`frame` step" in result.stderr


def test_what_recovers_records_of_an_encoding_without_frames_is_another_framing(tmp_path):
    (tmp_path / "bad").write_bytes(b"\x93\xc1\x00")
    options = ["--framing", "concatenated", "--on-error", "skip"]
    result = run("decode", "aerospike_msgpack", tmp_path / "bad", *options)
    assert "if the writer puts the length before each record (length-prefixed), only the bad record is" in result.stderr
    assert "`frame` step" not in result.stderr


def test_resync_goes_on_and_says_what_it_passed_over(events):
    size = len(record(0))
    result = run("decode", "databus_event", events, "--on-error", "skip", "--resync")
    assert numbers(result) == [number for number in range(20) if number != 7]
    assert f"gave up {size} bytes in 1 place, the first after record 6 (byte {7 * size})" in result.stderr


def test_stopping_at_a_bad_record_says_how_to_go_on(tmp_path):
    data = [bytearray(record(number)) for number in range(4)]
    data[1][-1] ^= 1  # the value, whose end the header says
    file = tmp_path / "events.bin"
    file.write_bytes(b"".join(data))
    stopped = run("decode", "databus_event", file)
    assert "stopped at the first bad record; --on-error skip continues after it" in stopped.stderr
    assert numbers(run("decode", "databus_event", file, "--on-error", "skip")) == [0, 2, 3]


def test_resync_where_nothing_proves_itself_is_refused(tmp_path):
    file = tmp_path / "x.bin"
    file.write_bytes(b"\0")
    result = run("decode", "pcap_file", file, "--resync", "--framing", "none")
    assert result.exit_code == 2
    assert "resync works only with the framing" in result.stderr


def test_a_value_that_columns_do_not_hold_gives_the_error_of_the_builder(tmp_path, good):
    lines = run("decode", "databus_event", good).stdout.splitlines()
    broken = lines[3].replace('"sequence":3', f'"sequence":{1 << 70}')
    file = tmp_path / "lines.jsonl"
    file.write_text("\n".join([*lines[:3], broken, *lines[4:]]))
    result = run("encode", "databus_event", file)
    assert result.exit_code == 1
    assert "line 4: sequence: expected" in result.stderr
    assert result.stdout_bytes == b"".join(record(number) for number in range(3))


@pytest.mark.parametrize("command", [["decode"], ["encode"], ["convert", "--from", "databus_event", "--to"]])
def test_a_uri_where_only_local_files_are_read_is_refused_with_the_commands_that_read_it(command):
    result = run(*command, "databus_event", "s3://bucket/events.bin")
    assert result.exit_code == 2
    assert "opens only local files; `ingest`, `validate`, `inspect` and `drift` also open URIs" in result.stderr


def test_a_compressed_file_is_named_as_the_reason_why_its_records_are_bad(good, tmp_path):
    file = tmp_path / "events.bin.gz"
    file.write_bytes(gzip.compress(good.read_bytes()))
    result = run("decode", "databus_event", file)
    assert result.exit_code == 1
    assert f"{file} is compressed with gzip, and was read as it is; decompress it first" in result.stderr
    assert "compressed" not in run("decode", "databus_event", good).stderr

"""If most records of a run are refused, the exit code shows it, and a line gives the likely reason and the remedy."""

import struct

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from conftest import GENERATED
from support.databus_events import built as record
from support.databus_events import damaged
from wireloom.cli.app import app
from wireloom_formats import databus_event


def ordered(number):
    """A record in little-endian byte order."""
    return databus_event.CODEC.build(databus_event.parse(record(number)), byteOrder="little")


def prefixed(*records):
    return b"".join(struct.pack(">I", len(each)) + each for each in records)


def command(folder, *options, **files):
    (folder / "input").mkdir(exist_ok=True)
    for name, data in files.items():
        (folder / "input" / name).write_bytes(data)
    arguments = [
        *("ingest", "--engine", "local", "--processes", "1", "--out", GENERATED, "--format", "databus_event"),
        *("--input", folder / "input", "--output", folder / "output", *options),
    ]
    return CliRunner().invoke(app, [str(each) for each in arguments])


def rows(folder, table="records"):
    return pq.read_table(folder / "output" / table).num_rows


@pytest.mark.parametrize(
    ("data", "options"),
    [
        (ordered(1) + ordered(2), "-p byteOrder=little"),
        (prefixed(record(1), record(2)), "--framing length-prefixed"),
        (prefixed(ordered(1), ordered(2)), "--framing length-prefixed -p byteOrder=little"),
    ],
    ids=["another byte order", "another framing", "both"],
)
def test_the_option_that_reads_the_files_is_named_and_reads_them_again(tmp_path, data, options):
    refused = command(tmp_path, a=data, b=data)
    assert refused.exit_code == 5, refused.output
    assert f"fits {options}; start it with --again {options}" in refused.output
    assert (rows(tmp_path), rows(tmp_path, "quarantine")) == (0, 2), "nothing vanishes"
    done = command(tmp_path, "--again", *options.split())
    assert done.exit_code == 0, done.output
    assert (rows(tmp_path), rows(tmp_path, "quarantine")) == (4, 0)


def test_beside_other_files_only_the_refused_ones_are_to_be_read_again(tmp_path):
    assert command(tmp_path, a=record(1)).exit_code == 0
    refused = command(tmp_path, "--append", b=ordered(2))
    path = tmp_path / "input" / "b"
    advice = f"--again {path} --accept-changes -p byteOrder=little"
    assert (refused.exit_code, advice in refused.output) == (5, True), refused.output
    assert command(tmp_path, *advice.split()).exit_code == 0
    assert (rows(tmp_path), rows(tmp_path, "quarantine")) == (2, 0)


def test_another_format_of_the_package_is_named(tmp_path):
    refused = command(tmp_path, a=bytes.fromhex("300500016100ff") + bytes.fromhex("c000"))
    assert refused.exit_code == 5, refused.output
    assert "fits --format mqtt_packet" in refused.output
    assert "--overwrite" in refused.output


def test_a_binary_column_is_tried_value_by_value(tmp_path):
    (tmp_path / "input").mkdir()
    pq.write_table(pa.table({"value": [ordered(1), None, ordered(2)]}), tmp_path / "input" / "a.parquet")
    refused = command(tmp_path, "--column", "value")
    assert (refused.exit_code, "fits -p byteOrder=little" in refused.output) == (5, True), refused.output


def test_what_nothing_reads_is_said_too(tmp_path):
    refused = command(tmp_path, a=b"\x97garbage that is no record of anything at all" * 3)
    assert refused.exit_code == 5
    assert "no other framing, root, parameter or format of wireloom_formats" in refused.output


@pytest.mark.parametrize(
    ("good", "bad", "options", "code"),
    [
        (0, 1, (), 5),
        (1, 1, (), 0),
        (1, 2, (), 5),
        (1, 2, ("--fail-above", "90"), 0),
        (1, 2, ("--fail-above", "60"), 4),
        (0, 1, ("--fail-above", "100"), 0),
        (1, 2, ("--fail-on-error",), 1),
        (0, 2, ("--drop", "value_crc"), 0),
    ],
)
def test_more_than_half_is_too_much_unless_a_limit_is_given(tmp_path, good, bad, options, code):
    data = b"".join(record(number) for number in range(good)) + b"".join(damaged(record(9)) for _ in range(bad))
    done = command(tmp_path, *options, a=data)
    assert done.exit_code == code, done.output
    assert (tmp_path / "output" / "records").exists() == (code != 4)


def test_a_limit_that_stops_the_job_says_why_as_well(tmp_path):
    stopped = command(tmp_path, "--fail-above", "10", a=ordered(1) + ordered(2))
    assert stopped.exit_code == 4
    assert "fits -p byteOrder=little; start it with -p byteOrder=little" in stopped.output
    assert not (tmp_path / "output" / "records").exists()


def test_a_job_that_is_done_already_has_the_same_exit_code(tmp_path):
    assert [command(tmp_path, **files).exit_code for files in ({"a": ordered(1)}, {})] == [5, 5]

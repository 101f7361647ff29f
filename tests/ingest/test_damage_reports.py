"""`ingest` reports damage: how many bytes of which file were given up, after which record, and what helps."""

import gzip

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from conftest import GENERATED
from support.databus_events import built as record
from support.databus_events import damaged
from wireloom.cli.app import app

SIZE = len(record(0))


def command(folder, *options, **files):
    (folder / "input").mkdir(exist_ok=True)
    for name, data in files.items():
        (folder / "input" / name).write_bytes(data)
    arguments = [
        *("ingest", "--engine", "local", "--processes", "1", "--out", GENERATED, "--format", "databus_event"),
        *("--input", folder / "input", "--output", folder / "output", *options),
    ]
    done = CliRunner().invoke(app, [str(each) for each in arguments])
    assert done.exit_code == 0, done.output
    return [line for line in done.output.splitlines() if "gave up" in line]


def headless(number):
    """A record whose head is damaged, so that its length is not to be believed."""
    data = record(number)
    return data[:9] + bytes([data[9] ^ 1]) + data[10:]


def test_the_bytes_the_file_the_record_and_the_remedy_are_said_and_the_remedy_works(tmp_path):
    data = b"".join(headless(number) if number == 7 else record(number) for number in range(10))
    (line,) = command(tmp_path, a=data, b=record(1))
    assert f"{tmp_path}/input/a: gave up the last {3 * SIZE} bytes, after record 6 (byte {7 * SIZE})" in line
    assert "resync" in line
    assert pq.read_table(tmp_path / "output" / "records").num_rows == 8
    command(tmp_path, "--again", "--resync")
    assert pq.read_table(tmp_path / "output" / "records").num_rows == 10


@pytest.mark.parametrize(
    "data",
    [
        record(1) + damaged(record(2)),
        record(1) + damaged(record(2)) + record(3),
        b"",
    ],
    ids=["a bad record that is the last", "a bad record between others", "nothing"],
)
def test_where_the_end_of_the_bad_record_is_known_nothing_is_given_up(tmp_path, data):
    assert command(tmp_path, a=data) == []


def test_many_files_are_added_up_and_compressed_ones_counted_as_they_are_read(tmp_path):
    bad = record(0) + record(1) + headless(2) + record(3)
    lines = command(tmp_path, **{f"f{number}": gzip.compress(bad) for number in range(5)})
    assert len(lines) == 3
    assert all(f"gave up the last {2 * SIZE} bytes, after record 1 (byte {2 * SIZE})" in line for line in lines)


def test_whole_files_give_nothing_up(tmp_path):
    assert command(tmp_path, "--framing", "none", "--fail-above", "100", a=headless(1)) == []

"""The output on a terminal while a stream runs."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

import engine_data as data
from conftest import GENERATED, ROOT, SPECS

pytest.importorskip("pyspark")

pytestmark = [pytest.mark.integration, pytest.mark.thorough]


def shown(command: list[object], folder: Path) -> str:
    """The output of a command on a terminal of its own."""
    ours, theirs = pty.openpty()
    surroundings = os.environ | {
        "TERM": "xterm",
        "PYTHONPATH": os.pathsep.join(map(str, (ROOT / "generator", GENERATED))),
    }
    with subprocess.Popen(
        list(map(str, command)), stdin=theirs, stdout=theirs, stderr=theirs, cwd=folder, env=surroundings
    ) as process:
        os.close(theirs)
        seen = b""
        while chunk := _read(ours):
            seen += chunk
    os.close(ours)
    assert process.returncode == 0, seen.decode()
    return seen.decode()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # nobody is at the other end any more
        return b""


def test_a_stream_says_that_it_starts_then_what_each_batch_had(tmp_path):
    (tmp_path / "landing").mkdir()
    (tmp_path / "landing" / "events").write_bytes(b"".join(data.databus(100)))
    options = ("--format", "databus_event", "--framing", "concatenated", "--trigger", "available-now")
    places = ("--input", "landing", "--output", "tables", "--specs", SPECS, "--out", GENERATED)
    seen = shown([sys.executable, "-m", "wireloom", "ingest", "--stream", *options, *places], tmp_path)
    assert "\r\x1b[Kbatch 0: 100 records in " in seen
    assert 0 <= seen.rfind("Starting the stream") < seen.index("batch 0")
    assert "100 records in = 100 decoded + 0 quarantined" in seen

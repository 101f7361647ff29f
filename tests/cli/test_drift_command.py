"""`drift` reports what it notices in records, and its patches let the spec read them."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from wireloom.cli.app import app

BINARY = """wireloom: 1
format: beat
title: A beat
encoding: binary
framing: {size: 6}
root: Beat
types:
  Beat:
    fields:
      - kind: {type: uint8, values: {1: plain, 2: fancy}}
      - mode:
          type: uint8
          raw: modeNumber
          values:
            0: off
            1: on   # since 2019
      - level: uint16
      - reserved: {type: bytes(2), hidden: true}
"""
JSON = """wireloom: 1
format: event
title: An event
encoding: json
framing: lines
root: Event
types:
  Event:
    fields:
      - id: int64   # of the event
      - name: str
examples: []
"""


def run(folder: Path, spec: str, data: bytes, *options: str):
    (folder / "specs").mkdir(exist_ok=True)
    (folder / "specs" / "spec.yaml").write_text(spec)
    (folder / "data").write_bytes(data)
    format = spec.split("format: ")[1].split("\n", maxsplit=1)[0]
    return CliRunner().invoke(app, ["drift", format, "data", "--specs", "specs", *options])


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def beats(*records: str) -> bytes:
    return bytes.fromhex("".join(records))


def test_traffic_that_fits_has_nothing_to_mend(tmp_path):
    done = run(tmp_path, BINARY, beats("010000050000", "020100090000"), "--patch", "p")
    assert done.exit_code == 0
    assert "2 records, 0 bad" in done.stdout
    assert "range: level: 5 to 9" in done.stdout
    assert (tmp_path / "p").read_text() == ""


def test_unknown_words_hidden_bytes_and_what_never_varies(tmp_path):
    done = run(tmp_path, BINARY, beats("010700050000", "010700050A00", "070100050000", "080100050000"), "--json")
    told = json.loads(done.stdout)
    assert done.exit_code == 1
    assert (told["records"], told["bad"]) == (4, 2)
    assert told["unknown"] == {"modeNumber": {"7": 2}}
    assert told["unnamed"] == [{"path": "reserved", "kind": "hidden", "records": 1, "example": "0a00"}]
    assert [(each["code"], each["path"], each["count"], each["record"]) for each in told["errors"]] == [
        ("unknown_value", "kind", 2, 2)
    ]
    assert told["columns"]["level"]["constant"]
    assert told["columns"]["kind"]["unseen"] == ["fancy"]


def patched(folder: Path) -> str:
    subprocess.run([shutil.which("git") or "git", "apply", "p"], check=True, capture_output=True)
    return (folder / "specs" / "spec.yaml").read_text()


def test_a_patch_names_words_and_keeps_the_rest(tmp_path):
    data = beats("010700050000", "070100050000", "080100050000")
    assert run(tmp_path, BINARY, data, "--patch", "p").exit_code == 1
    spec = patched(tmp_path)
    assert "{1: plain, 2: fancy, 7: unknown_7, 8: unknown_8}" in spec.replace('"', "")
    assert "            1: on   # since 2019\n" in spec
    assert run(tmp_path, spec, data).exit_code == 0


def test_a_patch_adds_members_and_nulls(tmp_path):
    lines = [{"id": 1, "name": "a"}, {"id": 2, "name": None}, {"id": 3, "name": "b", "site": "x"}]
    data = "".join(json.dumps(line) + "\n" for line in lines).encode()
    done = run(tmp_path, JSON, data, "--patch", "p")
    assert done.exit_code == 1
    assert "suggestion: let Event.name be null: 1 records have null there" in done.stdout
    assert "suggestion: add site to Event: 1 records have it" in done.stdout
    spec = patched(tmp_path)
    assert (
        "      - id: int64   # of the event\n      - name: 'str?'\n      - site: {type: str, optional: true}\n" in spec
    )
    again = run(tmp_path, spec, data)
    assert (again.exit_code, again.stdout.split("\n")[0]) == (0, "3 records, 0 bad")


def test_misuse(tmp_path):
    assert run(tmp_path, BINARY, b"", "--root", "other").exit_code == 2
    assert CliRunner().invoke(app, ["drift", "other", "data", "--specs", "specs"]).exit_code == 2
    assert CliRunner().invoke(app, ["drift", "beat", "nothing", "--specs", "specs"]).exit_code == 2

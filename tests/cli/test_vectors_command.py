"""`vectors` makes records from a spec, and its check notices a reader that differs."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from conftest import ROOT
from wireloom.cli.app import app

SPEC = """wireloom: 1
format: reading
title: A reading
encoding: binary
parameters:
  strict: {type: bool, default: true}
errors: {no_magic: Not ours., bad_mode: The mode does not fit.}
checksums: {crc: {width: 16, poly: 0x1021, init: 0xFFFF, check: 0x29B1}}
root: Reading
types:
  Reading:
    fields:
      - magic: {type: uint8, const: 0xAB, else: no_magic, hidden: true}
      - mode: {type: uint8, values: {1: plain, 2: fancy, 7: odd}}
      - check: {that: mode != 'odd' or not strict, else: bad_mode}
      - level: {type: int16, range: -5 .. 300}
      - count: {type: varint64, derive: count(items), hidden: true}
      - items: {type: list(uint8), count: count}
      - extra: {type: uint8, when: mode == 'fancy'}
      - mark: tail
      - crc: {type: uint16, checksum: crc, over: 0 .. tail, hidden: true}
      - verify: {field: crc}
examples:
  - name: plain
    hex: AB 01 0005 02 0102 FB18
    value: {mode: plain, level: 5, items: [1, 2]}
"""


def run(folder: Path, *options: str):
    words = ("--specs", str(folder / "specs"), "--output", str(folder / "vectors"), *options)
    return CliRunner().invoke(app, ["vectors", *words])


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("vectors")
    (folder / "specs").mkdir()
    (folder / "specs" / "reading.yaml").write_text(SPEC)
    done = run(folder)
    assert done.exit_code == 0, done.output
    return folder


@pytest.fixture(scope="module")
def vectors(folder) -> list[dict]:
    return json.loads((folder / "vectors" / "reading" / "manifest.json").read_text())["vectors"]


def values(vectors: list[dict], name: str) -> set:
    return {json.dumps(each["value"].get(name)) for each in vectors if "value" in each}


def test_numbers_are_at_their_limits(vectors):
    levels = {int(level) for level in values(vectors, "level")}
    assert {-5, 0, 300} <= levels
    assert {min(levels), max(levels)} == {-5, 300}


def test_every_word_and_condition_is_met(vectors):
    assert values(vectors, "mode") == {'"plain"', '"fancy"', '"odd"'}
    assert any(
        each["parameters"] == {"strict": False} for each in vectors if each.get("value", {}).get("mode") == "odd"
    )
    assert {"null", "0", "255"} <= values(vectors, "extra")


def test_lists_have_no_one_and_more_elements(vectors):
    assert {"[]", "[1]", "[1, 2, 2]"} <= values(vectors, "items")


def test_every_check_is_broken_once(vectors):
    broken = {(each["error"], each["path"]) for each in vectors if "error" in each}
    assert broken >= {
        ("no_magic", "magic"),
        ("unknown_value", "mode"),
        ("bad_mode", "mode"),
        ("out_of_range", "level"),
        ("bad_checksum", "crc"),
        ("truncated", "items"),
        ("truncated", "crc"),
        ("trailing_bytes", ""),
    }
    assert len(broken) == sum("error" in each for each in vectors)


def test_the_same_spec_gives_the_same_vectors(folder, tmp_path):
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs" / "reading.yaml").write_text(SPEC)
    assert run(tmp_path).exit_code == 0
    first, again = (each / "vectors" / "reading" / "manifest.json" for each in (folder, tmp_path))
    assert first.read_bytes() == again.read_bytes()


def test_check_shows_what_a_change_reads_differently(folder, tmp_path):
    assert run(folder, "--check").exit_code == 0
    (folder / "specs" / "reading.yaml").write_text(SPEC.replace("-5 .. 300", "-5 .. 299").replace("7: odd", "8: odd"))
    changed = run(folder, "--check")
    (folder / "specs" / "reading.yaml").write_text(SPEC)
    assert changed.exit_code == 1
    assert (
        "level = 300: expected a value, found {'error': 'out_of_range', 'path': 'level', 'offset': 2}" in changed.stdout
    )


def test_misuse(folder, tmp_path):
    assert run(folder, "other").exit_code == 2
    assert run(tmp_path).exit_code == 2
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs" / "a.yaml").write_text(SPEC.partition("examples")[0])
    assert "no valid example" in run(tmp_path).stderr
    assert run(tmp_path, "--check").exit_code == 2
    (tmp_path / "vectors" / "reading").mkdir(parents=True)
    (tmp_path / "vectors" / "reading" / "manifest.json").write_text("[")
    assert run(tmp_path, "--check").exit_code == 1


JSON_SPEC = """wireloom: 1
format: beat
title: A beat
encoding: json
root: Beat
types:
  Beat:
    fields:
      - id: {type: uint8}
      - name: {type: str, length: 1 .. 3, optional: true}
examples:
  - {name: all, text: '{"id": 1, "name": "ab"}', value: {id: 1, name: ab}, rebuilds: false}
"""


def test_documents_lose_gain_and_change_members(tmp_path):
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs" / "beat.yaml").write_text(JSON_SPEC)
    assert run(tmp_path).exit_code == 0
    found = json.loads((tmp_path / "vectors" / "beat" / "manifest.json").read_text())["vectors"]
    broken = {(each["error"], each["path"]) for each in found if "error" in each}
    assert broken >= {
        ("missing_key", "id"),
        ("unexpected_property", "?"),
        ("type_mismatch", "id"),
        ("type_mismatch", "name"),
        ("bad_text", "name"),
        ("int_range", "id"),
        ("json_syntax", ""),
    }
    assert values(found, "id") >= {"0", "255"}


def test_conformance_judges_them(tmp_path):
    done = CliRunner().invoke(app, ["vectors", "netflow_v5", "--output", str(tmp_path), "--specs", str(ROOT / "specs")])
    assert done.exit_code == 0
    judge = [sys.executable, str(ROOT / "tests" / "conformance.py"), str(tmp_path)]
    good = subprocess.run(judge, capture_output=True, text=True, check=False)
    assert (good.returncode, good.stdout.startswith("specs: ")) == (0, True)
    path = tmp_path / "netflow_v5" / "manifest.json"
    document = json.loads(path.read_text())
    document["vectors"][0]["value"]["sysUptime"] = -1
    path.write_text(json.dumps(document))
    assert subprocess.run(judge, capture_output=True, text=True, check=False).returncode == 1

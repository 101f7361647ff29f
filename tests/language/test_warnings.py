"""Warnings about odd specs that work; `lint` in a spec silences them, `--strict` refuses them."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from conftest import CASES
from wireloom import pipeline
from wireloom.cli.app import app
from wireloom.examples import opened
from wireloom.problems import WARNINGS
from wireloom.resolve import resolve_all
from wireloom.spec import load

REJECTS = Path(__file__).parents[1] / "rejects"
FILES = sorted(path for path in REJECTS.glob("*.yaml") if path.stem.split(".")[0] in WARNINGS)
SPEC = """wireloom: 1
format: alpha
title: A thing
encoding: binary
root: R
types:
  R:
    fields:
      - kind: {type: uint8, range: 0 .. 3}
      - far: {type: uint8, when: kind == 7}
examples:
  - {name: a record, hex: '01', value: {kind: 1, far: null}}
"""
ALLOWED = "lint: {allow: [{id: certain-condition, at: types.R, why: Version 2 has more kinds.}]}\n"


def generated(folder: Path, *options: str):
    words = ("--specs", str(folder), "--out", str(folder / "out"), *options)
    return CliRunner().invoke(app, ["generate", *words])


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("WIRELOOM_CACHE", str(tmp_path / "cache"))


def test_what_is_odd_is_shown_counted_and_generated(tmp_path):
    (tmp_path / "alpha.yaml").write_text(SPEC)
    first, again = generated(tmp_path), generated(tmp_path)
    assert f"warning: {tmp_path}/alpha.yaml:10:34: kind == 7 never holds" in first.stderr
    assert "[certain-condition at types.R.fields[1].far.when]" in first.stderr
    assert "1 warning: " in first.stderr
    assert "1 warning: " in again.stderr
    assert first.exit_code == again.exit_code == 0
    assert (tmp_path / "out" / "wireloom_formats" / "alpha" / "parser.py").is_file()


@pytest.mark.parametrize("before", [(), ("--no-examples",)])
def test_strict_refuses_what_is_odd(tmp_path, before):
    (tmp_path / "alpha.yaml").write_text(SPEC)
    if before:
        generated(tmp_path, *before)
    done = generated(tmp_path, "--strict")
    assert done.exit_code == 1
    assert "kind == 7 never holds" in done.stderr
    assert (tmp_path / "out").exists() == bool(before)
    assert generated(tmp_path, "--check", "--strict").exit_code == 1


def test_strict_refuses_what_was_generated_before(tmp_path):
    (tmp_path / "alpha.yaml").write_text(SPEC)
    assert generated(tmp_path).exit_code == 0
    assert generated(tmp_path, "--strict").exit_code == 1


def test_what_a_spec_allows_is_not_shown(tmp_path):
    (tmp_path / "alpha.yaml").write_text(SPEC + ALLOWED)
    done = generated(tmp_path, "--strict")
    assert done.exit_code == 0
    assert "warning" not in done.output


def test_a_case_that_allows_all_of_its_warnings_has_none():
    assert pipeline.read(CASES / "allowed_warnings").warnings == ()


@pytest.mark.parametrize("entry", ["at: types.S", "at: 'types.R.fields[0]'"])
def test_what_is_allowed_elsewhere_is_shown(tmp_path, entry):
    (tmp_path / "alpha.yaml").write_text(SPEC + ALLOWED.replace("at: types.R", entry))
    found = resolve_all(load([tmp_path / "alpha.yaml"], tmp_path)).warnings
    assert [each.id for each in found] == ["certain-condition", "unused-allowance"]


def test_a_format_with_mistakes_has_no_warnings(tmp_path):
    (tmp_path / "alpha.yaml").write_text(SPEC.replace("kind == 7", "kind == 7 and missing == 1"))
    done = generated(tmp_path)
    assert done.exit_code == 1
    assert "there is no missing here" in done.stderr
    assert "warning" not in done.output


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_specs_with_warnings_work(file):
    formats = resolve_all(load([*file.parent.glob(f"{file.stem}.*ends.yaml"), file], file.parent)).formats
    with opened({format.name: pipeline.emit(format) for format in formats}) as modules:
        assert all(module.CODEC.roots for module in modules.values())


def test_the_first_certain_part_of_a_condition_is_shown_and_of_a_type_with_parameters_once(tmp_path):
    (tmp_path / "alpha.yaml").write_text(
        "wireloom: 1\nformat: alpha\ntitle: A thing\nencoding: binary\nroot: R\ntypes:\n  R:\n    fields:\n"
        "      - a: Counted(P)\n      - b: Counted(Q)\n      - m: uint8\n"
        "      - k: {type: uint8, when: m == 300 or m == 400}\n"
        "  Counted(T): {fields: [{n: uint8}, {v: {type: T, when: n == 500}}]}\n"
        "  P: {fields: [{x: uint8}]}\n  Q: {fields: [{y: uint8}]}\n"
    )
    found = resolve_all(load([tmp_path / "alpha.yaml"], tmp_path)).warnings
    assert [each.message.split(" ")[0] for each in found] == ["m", "n"]

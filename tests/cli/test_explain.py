"""`explain` counts the examples that leave the engine one by one, and says what keeps them in it."""

import pytest
from typer.testing import CliRunner

from wireloom.cli.app import app
from wireloom.runtime import engine

SPEC = """wireloom: 1
format: alpha
title: A thing
encoding: binary
byteOrder: big
framing: length-prefixed
root: R
errors: {no_magic: No magic.}
types:
  R:
    attempt:
      - {name: one, type: A, fallback: [{codes: [no_magic]}]}
      - {name: two, type: B}
    kind: KIND
    reason: null
  A: {fields: [{tag: {type: uint8, const: 1, else: no_magic, hidden: true}}, {v: uint64}]}
  B: {fields: [{tag: {type: uint8, const: 2, else: no_magic, hidden: true}}, {v: uint64}, {w: {type: uint8, when: CONDITION}}]}
examples:
  - {name: first, hex: 01 0000000000000001}
  - {name: second, hex: 02 0000000000000001}
  - {name: third, hex: 02 f000000000000001 05}
  - {name: bad, hex: 03 00}
"""  # noqa: E501


def written(tmp_path, kind, condition):
    """The spec with its examples recorded, generated; the lines of `explain`."""
    specs = tmp_path / "specs"
    specs.mkdir()
    (specs / "alpha.yaml").write_text(SPEC.replace("KIND", kind).replace("CONDITION", condition))
    places = ["--specs", str(specs), "--out", str(tmp_path / "out"), "--package", f"explaining_{tmp_path.name[-9:-1]}"]
    assert CliRunner().invoke(app, ["test", "--record", *places]).exit_code == 0
    assert CliRunner().invoke(app, ["generate", *places]).exit_code == 0
    return explained(places), places


def explained(places):
    done = CliRunner().invoke(app, ["explain", "alpha", *places])
    assert done.exit_code == 0, done.output
    return [line.strip() for line in done.output.splitlines()]


@pytest.mark.skipif(not engine.available(), reason="the native engine is not built")
def test_a_hidden_kind_is_named_where_encode_leaves_the_engine_by_it(tmp_path):
    hidden, _ = written(tmp_path, "null", "v == 5")
    assert "examples  0 of 2 read by the parser" in hidden
    assert "2 of 2 written by the builders: first; second" in hidden
    assert any(line.startswith("R: `kind: null` hides") and "remove that line" in line for line in hidden)


@pytest.mark.skipif(not engine.available(), reason="the native engine is not built")
def test_records_that_only_the_parser_reads_are_named(tmp_path):
    shown, _ = written(tmp_path, "which", "v > 5")
    assert "examples  1 of 3 read by the parser: third" in shown
    assert "1 of 3 written by the builders: third" in shown
    assert any("not the first alternative (one)" in line for line in shown)
    assert not any("kind: null" in line for line in shown)


def test_why_examples_are_not_counted_is_said(tmp_path):
    _, places = written(tmp_path, "which", "v == 5")
    spec = tmp_path / "specs" / "alpha.yaml"
    text = spec.read_text()
    spec.write_text(text.replace("uint64", "uint32"))
    assert "examples  not counted: alpha.yaml has changed since; run `wireloom generate`" in explained(places)
    spec.write_text(text.replace("root: R", "root: Q"))
    assert any(line.startswith("examples  not counted:") and "has mistakes (1)" in line for line in explained(places))
    spec.unlink()
    assert any(
        line.startswith("examples  not counted:") and "no spec of a format" in line for line in explained(places)
    )

"""`generate` warns of conditions that a missing field makes true, with the remedy, and of no others."""

import pytest
from typer.testing import CliRunner

from conftest import SPECS, specs_below
from wireloom import pipeline
from wireloom.cli.app import app

SPEC = """wireloom: 1
format: alpha
title: A thing
encoding: binary
byteOrder: big
framing: length-prefixed
root: R
errors: {bad: Bad.}
types:
  R:
    fields:
      - k: uint8
      - check: {that: k < 200, else: bad, field: k}
      - x: {type: uint8, when: k > 2}
      - STEP
"""


def said(tmp_path, step):
    (tmp_path / "alpha.yaml").write_text(SPEC.replace("STEP", step))
    return [str(each) for each in pipeline.read(tmp_path).warnings if each.id == "true-when-missing"]


@pytest.mark.parametrize(
    "step",
    [
        "y: {type: uint8, when: x & 1 != 0}",
        "y: {type: uint8, when: k == 1 and x & 1 != 0}",
        "y: {type: uint8, when: k == 1 or x & 1 != 0}",
        "check: {that: x & 1 != 0, else: bad, field: x}",
        "check: {that: k == 1, when: x & 1 != 0, else: bad, field: x}",
        "y: {type: uint8, when: k > 1 and x & 1 != 0}",
    ],
)
def test_a_comparison_that_a_missing_field_makes_true_is_said(tmp_path, step):
    (line,) = said(tmp_path, step)
    assert line.startswith(f"{tmp_path}/alpha.yaml:11:5: R: `x & 1 != 0` is true if x is missing; ")
    assert "write `present(x) and x & 1 != 0`" in line


@pytest.mark.parametrize(
    "step",
    [
        "y: {type: uint8, when: k & 1 != 0}",
        "y: {type: uint8, when: present(x) and x & 1 != 0}",
        "y: {type: uint8, when: x & 1 != 0 and present(x)}",
        "y: {type: uint8, when: x != null and x & 1 != 0}",
        "y: {type: uint8, when: x > 3 and x & 1 != 0}",
        "y: {type: uint8, when: k > 2 and x & 1 != 0}",
        "y: {type: uint8, when: 'present(x) ? x != 3 : k == 1'}",
        "y: {type: uint8, when: x & 1 == 1}",
        "y: {type: uint8, when: not present(x) or k == 8 or 0 != x & 1}",
        "y: {type: uint8, when: x != null}",
        "check: {that: not present(x) or x != 5, else: bad, field: x}",
        "check: {that: x != 5, when: present(x), else: bad, field: x}",
    ],
)
def test_a_comparison_of_a_field_that_is_there_is_not(tmp_path, step):
    assert said(tmp_path, step) == []


def test_elements_that_are_kept_are_looked_at(tmp_path):
    step = "e: list(E)\n      - n: {type: int64, counted: true}\n      - discard: {list: e, keep: b != 3, count: n}"
    step += "\n  E: {fields: [{a: uint8}, {b: {type: uint8, when: a == 1}}]}"
    (line,) = said(tmp_path, step)
    assert "`b != 3` is true if b is missing" in line


def test_the_shipped_specs_have_no_warnings():
    assert specs_below(SPECS).warnings == ()


def test_generate_shows_the_warning(tmp_path):
    said(tmp_path, "y: {type: uint8, when: x & 1 != 0}")
    done = CliRunner().invoke(
        app, ["generate", "--specs", str(tmp_path), "--out", str(tmp_path / "o"), "--no-examples"]
    )
    assert "`x & 1 != 0` is true if x is missing" in done.output

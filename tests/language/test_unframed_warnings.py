"""`generate` warns of concatenated records without a frame: the cost of damage, and the remedy."""

import pytest
from typer.testing import CliRunner

from wireloom import pipeline
from wireloom.cli.app import app

SPEC = """wireloom: 1
format: alpha
title: A thing
encoding: ENCODING
byteOrder: big
framing: FRAMING
ROOTS
types:
  R:
    fields: [{n: {type: uint16, hidden: true, derive: len(s)}}, STEP{s: {type: bytes, size: n}}]
"""
BINARY = {"ENCODING": "binary", "FRAMING": "concatenated", "ROOTS": "root: R", "STEP": ""}
HEADED = {
    "ROOTS": "roots: {record: {type: R}, file: {type: Head}}",
    "types:\n": "types:\n  Head: {fields: [{version: uint8}]}\n",
}


def said(tmp_path, **words):
    text = SPEC
    for old, new in {**BINARY, **words}.items():
        text = text.replace(old, new)
    (tmp_path / "alpha.yaml").write_text(text)
    return [str(each) for each in pipeline.read(tmp_path).warnings]


def test_records_back_to_back_without_a_frame_are_said_where_the_framing_is_stated(tmp_path):
    (line,) = said(tmp_path)
    assert line.startswith(f"{tmp_path}/alpha.yaml:6:10: records (record) are back to back")
    assert "`- frame: BYTES`" in line
    assert "length-prefixed" in line


@pytest.mark.parametrize(
    "words",
    [
        {"STEP": "{frame: n + 2}, "},
        {"FRAMING": "length-prefixed"},
        {"FRAMING": "none"},
        {"FRAMING": "{header: file, records: length-prefixed}", **HEADED},
    ],
    ids=["a frame", "sizes before records", "whole files", "sizes behind a header"],
)
def test_records_whose_end_is_known_are_not(tmp_path, words):
    assert said(tmp_path, **words) == []


def test_the_default_root_is_looked_at_and_no_header(tmp_path):
    words = {"FRAMING": "{header: file, records: concatenated}", **HEADED}
    assert ["(record)" in line for line in said(tmp_path, **words)] == [True]


def test_generate_shows_the_warning(tmp_path):
    said(tmp_path)
    done = CliRunner().invoke(
        app, ["generate", "--specs", str(tmp_path), "--out", str(tmp_path / "out"), "--no-examples"]
    )
    assert "are back to back" in done.output

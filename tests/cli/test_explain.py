"""`explain` counts the examples that leave the engine, and tells what would keep them in it."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from wireloom.cli.app import app
from wireloom.explain import versions
from wireloom.model.versions import Revision
from wireloom.runtime import engine

CASES = Path(__file__).resolve().parents[1] / "cases"

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
def test_a_hidden_kind_keeps_no_record_from_the_engine(tmp_path):
    hidden, _ = written(tmp_path, "null", "v == 5")
    assert "examples  all 2 decoded by the native engine" in hidden
    assert "all 2 encoded by the native engine" in hidden


@pytest.mark.skipif(not engine.available(), reason="the native engine is not built")
def test_records_that_only_the_parser_reads_are_named(tmp_path):
    shown, _ = written(tmp_path, "which", "v > 5")
    assert "examples  1 of 3 read by the parser, which is slow: third" in shown
    assert "1 of 3 written by the builders, which are slow: third" in shown
    assert any("not the first alternative (one)" in line for line in shown)


LARGE = """wireloom: 1
format: alpha
title: A thing
encoding: binary
byteOrder: big
framing: length-prefixed
root: R
types:
  R: {fields: [{raw: {type: uint64}}, {at: {compute: "raw * 1000000 // 1073741824", type: int64}}]}
examples:
  - {name: early, hex: 0000000040000000}
  - {name: late, hex: 1000000000000000}
"""


@pytest.mark.skipif(not engine.available(), reason="the native engine is not built")
def test_a_result_beyond_64_bits_is_the_reason(tmp_path, monkeypatch):
    monkeypatch.setattr(f"{__name__}.SPEC", LARGE)
    shown, _ = written(tmp_path, "", "")
    assert "examples  1 of 2 read by the parser, which is slow: late" in shown
    assert (
        "R: `raw * 1000000` (compute of at) may be beyond 64 bits, and the parser reads such records; "
        "divide or shift before you multiply"
    ) in shown
    monkeypatch.setattr(f"{__name__}.SPEC", LARGE.replace("raw * 1000000 // 1073741824", "(raw >> 30) * 1000000"))
    (tmp_path / "other_").mkdir()
    assert not any("beyond 64 bits" in line for line in written(tmp_path / "other_", "", "")[0])


MIXED = """wireloom: 1
format: alpha
title: A thing
encoding: json
framing: lines
root: R
types:
  R: {fields: [{raw: {type: float}}, {is: {compute: "raw == 1", type: bool}}]}
examples:
  - {name: early, text: '{"raw": 1.0}'}
"""


@pytest.mark.skipif(not engine.available(), reason="the native engine is not built")
def test_the_field_that_keeps_a_format_from_the_engine_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(f"{__name__}.SPEC", MIXED)
    shown, _ = written(tmp_path, "", "")
    assert any("the field raw (a record, a float, a union or JSON) in an expression" in line for line in shown), shown


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


SENSOR_FRAME = """\
sensor_frame: Frame of a field sensor

    Frame
      magic          constant 0x5EF5
      sensor         the value
      sentAt         the value
      status         its bits
        calibrated   the value, 0 if null
        lowBattery   the value, 0 if null
        hasPosition  derived: present(position)
        mode         the value, 0 if null
      position       the value  when hasPosition (the value decides)
      readingCount   derived: count(readings)
      readings       the value
      crc            checksum crc16 over 0 .. body, known after layout

    Position
      latitude   the value
      longitude  the value

    Reading
      quantity  the value
      sample    the value
"""


def plan(folder, *names):
    done = CliRunner().invoke(app, ["explain", *names, "--write", "--specs", str(folder)])
    assert done.exit_code == 0, done.output
    return done.output


def test_the_source_of_each_field_is_shown_in_columns_that_align():
    assert plan(CASES / "sensor_frame", "sensor_frame") == SENSOR_FRAME
    assert plan(CASES / "sensor_frame") == SENSOR_FRAME
    page = (CASES.parents[1] / "docs" / "concepts" / "writing.md").read_text()
    frame = "".join(f"{line[4:]}\n" for line in SENSOR_FRAME.split("\n\n")[1].splitlines())
    assert f"```\n{frame}```" in page


CHOICES = """wireloom: 1
format: alpha
title: A thing
encoding: msgpack
root: R
types:
  R:
    fields:
      - kind: {type: int8, values: {1: one, 2: two}}
      - body: {type: {select: kind, cases: {one: A, two: 'list(A)'}}}
      - tried: Tried
      - other: int | str | nil
      - left: {type: int8?, optional: true, default: 7}
  A: {fields: [{v: int8}, {w: {type: int8, null: -1}}, {half: {type: int8, derive: v // 2}}]}
  Tried:
    attempt:
      - {name: first, type: A, fallback: [{codes: [bad_arity]}]}
      - {name: second, type: B, buildWhen: x > 3}
    reason: null
  B:
    versions: {old: {arity: 1}, new: {arity: 2}}
    fields: [{x: int8}, {y: {type: int8, since: new}}]
"""


def test_what_decides_each_choice_is_shown_with_its_cases(tmp_path):
    (tmp_path / "alpha.yaml").write_text(CHOICES)
    assert (
        plan(tmp_path)
        == """\
alpha: A thing

    R
      kind   the value
      body   the value
      tried  the value
      other  the value
      left   the value, left out if 7
      body is one of 2, by kind
        'one'  A
        'two'  list(A)
      other is one of 3, by the kind of the value
        int  int64
        str  str
        nil  nil

    A
      v     the value
      w     the value, -1 if null
      half  the value, else derived: v // 2

    Tried
      one of 2, by kind, else the first that takes the value, by its constants, words and members
        first   A
        second  B, if x > 3

    B
      x  the value
      y  the value  when since new
      one of 2, the version that a parameter names, else the newest with a place for every member of the value
        old  arity 1
        new  arity 2
"""
    )


def test_a_name_beside_the_number_on_the_wire_gives_the_number(tmp_path):
    kind = "kind: {type: int8, values: {1: one, 2: two}}"
    named = CHOICES.replace(kind, kind.replace("}}", "}, raw: number}"))
    (tmp_path / "alpha.yaml").write_text(named)
    rows = [line.split(maxsplit=1) for line in plan(tmp_path).splitlines()]
    assert ["number", "the value"] in rows
    assert ["kind", "gives number if that is missing"] in rows


def test_a_format_that_the_specs_do_not_have_is_named(tmp_path):
    (tmp_path / "alpha.yaml").write_text(CHOICES)
    done = CliRunner().invoke(app, ["explain", "alpah", "--write", "--specs", str(tmp_path)])
    assert done.exit_code == 2
    assert "'alpah' is not a format; did you mean alpha?" in done.output


def test_a_version_that_is_told_by_its_own_name_is_said_once(monkeypatch):
    found = [Revision("v1", "version v1", (), ()), Revision("v2", "head.version 2", ("Event.address",), ())]
    monkeypatch.setattr(versions, "revisions", lambda _: found)
    lines = ["version v1", "version v2 (head.version 2): new Event.address"]
    assert list(versions.version_lines(None)) == lines

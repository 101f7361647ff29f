"""`lint` finds problems in a spec, a spec can silence them, and `--fix` fixes some."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from wireloom import linting
from wireloom.cli.app import app
from wireloom.problems import ADVICE, WARNINGS
from wireloom.resolve import resolve_all
from wireloom.spec import load

HEAD = """wireloom: 1
format: alpha
title: A thing
doc: A thing.
source: Nowhere
encoding: binary
"""
BODY = """root: R
types:
  R:
    fields:
      - kind: {type: uint16, doc: Its kind.}
"""
FRAMED = """framing: concatenated
root: R
types:
  R:
    fields:
      - length: {type: uint32, doc: All of it., unit: bytes, derive: size}
      - frame: length
      - body: {type: bytes(length - here), doc: The rest.}
"""
TWO = """root: R
types:
  R:
    attempt:
      - {name: a, type: A, fallback: [{codes: [bad_constant]}]}
      - {name: b, type: B}
    kind: null
    reason: null
  A:
    fields:
      - {x: {type: uint8, const: 1, doc: One.}}
  B:
    fields:
      - {y: {type: uint8, doc: Two.}}
"""


def field(text: str) -> str:
    return f"{BODY}      - {text}\n"


def linted(folder: Path, spec: str, *options: str):
    (folder / "alpha.yaml").write_text(spec)
    return CliRunner().invoke(app, ["lint", "--specs", str(folder), *options])


def advice(folder: Path, spec: str) -> list[str]:
    (folder / "alpha.yaml").write_text(spec)
    return [each.id for each in resolve_all(load([folder / "alpha.yaml"], folder), advise=True).warnings]


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (BODY, []),
        (FRAMED, ["no-size-limit"]),
        (FRAMED.replace("framing", "limits: {size: 100}\nframing"), []),
        (FRAMED.replace("- frame", "- check: {that: length < 100, else: truncated}\n      - frame"), []),
        (FRAMED.replace("derive", "range: 4 .. 100, derive"), []),
        (BODY.replace("root", "framing: length-prefixed\nroot"), ["no-size-limit"]),
        (BODY.replace("root", "framing: {prefix: uint16}\nroot"), []),
        (field("Kind: {type: uint8, doc: Another.}"), ["case-collision"]),
        (field("Kind: {type: uint8, doc: Another., as: other}"), []),
        (field("other: {type: uint8, doc: Another., as: KIND}"), ["case-collision"]),
        (TWO, ["untold-alternative"]),
        (TWO.replace("    kind: null\n", ""), []),
        (field("more: uint8"), ["undocumented"]),
        (field("more: {type: uint8, hidden: true, const: 0}"), []),
        (field("timeToLive: {type: uint8, doc: How long.}"), []),
        (field("idleTime: {type: uint8, doc: How long.}"), ["no-unit"]),
        (field("idle_timeout: {type: uint8, doc: How long.}"), ["no-unit"]),
        (field("idleTime: {type: uint8, doc: How long., unit: s}"), []),
        (field("idleTime: {type: uint64, doc: When., logical: {timestamp: ms}}"), []),
        (field("idleTime: {type: str(3), doc: How long.}"), []),
    ],
)
def test_advice(tmp_path, body, found):
    assert advice(tmp_path, HEAD + body) == found


def test_a_format_without_words_is_undocumented(tmp_path):
    assert advice(tmp_path, HEAD.replace("source: Nowhere\n", "") + BODY) == ["undocumented"]


def test_advice_is_allowed_with_a_reason_and_missed_where_it_is_gone(tmp_path):
    allowed = "lint: {allow: [{id: no-unit, at: types.R, why: By design.}]}\n"
    timed = field("idleTime: {type: uint8, doc: How long.}")
    assert advice(tmp_path, HEAD + allowed + timed) == []
    assert advice(tmp_path, HEAD + allowed + BODY) == ["unused-allowance"]
    assert resolve_all(load([tmp_path / "alpha.yaml"], tmp_path)).warnings == ()  # `generate` gives no advice


def test_levels_decide_the_exit_code(tmp_path):
    assert linted(tmp_path, HEAD + BODY).exit_code == 0
    noted = linted(tmp_path, HEAD + field("more: uint8"))
    assert (noted.exit_code, noted.stderr.split("\n")[0]) == (0, "1 note")
    assert "alpha.yaml:12:9: note: more of R has no `doc`" in noted.stdout
    assert linted(tmp_path, HEAD + field("more: uint8"), "--strict").exit_code == 1
    assert linted(tmp_path, HEAD + "errors: {never: Never.}\n" + BODY).exit_code == 1
    assert linted(tmp_path, HEAD + field("more: uint99")).exit_code == 1


def test_gaps_and_overlaps_are_drawn(tmp_path):
    gap = linted(tmp_path, HEAD + field("more: {type: uint8, at: 4}"))
    assert [line.split() for line in gap.stdout.split("\n")[1:4]] == [
        ["kind", "bytes", "0", "to", "1", "##"],
        ["(nothing)", "bytes", "2", "to", "3", ".."],
        ["more", "bytes", "4", "to", "4", "#"],
    ]
    columns = [line.index(mark) for line, mark in zip(gap.stdout.split("\n")[1:4], "#.#", strict=True)]
    assert [column - columns[0] for column in columns] == [0, 2, 4]
    overlap = linted(tmp_path, HEAD + field("more: {type: uint32, at: 1}"))
    assert [line.split()[-1] for line in overlap.stdout.split("\n")[1:3]] == ["##", "####"]


def test_reports_for_tools(tmp_path):
    spec = HEAD + field("more: uint8")
    told = json.loads(linted(tmp_path, spec, "--report", "json").stdout)
    assert (told["rule"], told["level"], told["line"], told["column"]) == ("undocumented", "note", 12, 9)
    assert told["path"] == "types.R.fields[1].more"
    sarif = json.loads(linted(tmp_path, spec, "--report", "sarif").stdout)["runs"][0]["results"]
    assert [(each["ruleId"], each["level"]) for each in sarif] == [("undocumented", "note")]
    assert linted(tmp_path, spec, "--report", "github").stdout.startswith("::notice file=")


@pytest.mark.parametrize("id", [*WARNINGS, *ADVICE, "gap-in-layout"])
def test_every_id_is_explained(tmp_path, id):
    done = CliRunner().invoke(app, ["lint", "--explain", id])
    assert (done.exit_code, done.stdout.split(" ")[0]) == (0, id)
    assert len(done.stdout.split("\n")) >= 3 + (id != "gap-in-layout")


def test_all_ids_are_explained_and_no_other():
    done = CliRunner().invoke(app, ["lint", "--explain", "all"])
    assert {line.split(" ")[0] for line in done.stdout.split("\n") if line[:1].strip()} == {*WARNINGS, *ADVICE}
    other = CliRunner().invoke(app, ["lint", "--explain", "no-units"])
    assert (other.exit_code, "did you mean no-unit?" in other.stderr) == (2, True)
    strange = CliRunner().invoke(app, ["lint", "--explain", "zzz"])
    assert (strange.exit_code, "`wireloom lint --explain all` lists" in strange.stderr) == (2, True)


def test_a_fix_takes_entries_away_and_leaves_the_rest(tmp_path):
    errors = "errors:\n  never: Never.  # soon\n  # kept\n  seldom: Seldom.\n"
    spec = HEAD + errors + "lint: {allow: [{id: no-unit, why: None., at: types.Q}]}\n" + BODY
    shown = linted(tmp_path, spec, "--fix", "--dry-run")
    assert (tmp_path / "alpha.yaml").read_text() == spec
    assert "-  never: Never.  # soon" in shown.stdout
    fixed = linted(tmp_path, spec, "--fix")
    assert (fixed.exit_code, "3 fixed" in fixed.stderr) == (0, True)
    assert (tmp_path / "alpha.yaml").read_text() == HEAD + "  # kept\n" + BODY


def test_a_fix_of_one_of_two_leaves_the_other(tmp_path):
    allow = "lint:\n  allow:\n    - id: no-unit\n      why: Gone.\n    - {id: undocumented, why: Known.}\n"
    linted(tmp_path, HEAD + allow + field("more: uint8"), "--fix")
    assert (tmp_path / "alpha.yaml").read_text() == HEAD + allow.replace(
        "    - id: no-unit\n      why: Gone.\n", ""
    ) + field("more: uint8")
    inline = "lint: {allow: [{id: no-unit, why: Gone.}, {id: undocumented, why: Known.}]}\n"
    linted(tmp_path, HEAD + inline + field("more: uint8"), "--fix")
    assert "allow: [{id: undocumented, why: Known.}]}" in (tmp_path / "alpha.yaml").read_text()


def test_misuse(tmp_path):
    assert linted(tmp_path, HEAD + BODY, "--dry-run").exit_code == 2
    assert linted(tmp_path, HEAD + BODY, "beta").exit_code == 2
    assert linted(tmp_path, HEAD + BODY, "--report", "xml").exit_code == 2


def test_each_rule_has_a_family():
    assert {rule.id for rule in linting.rules()} == {*WARNINGS, *ADVICE}

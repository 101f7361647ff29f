"""`wireloom test` and the examples that `generate` runs: messages about failures, and recorded results."""

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml as pyyaml
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

from conftest import CASES, GENERATED, ROOT, SPECS, specs_below
from wireloom import outcomes, pipeline
from wireloom.cli.app import app
from wireloom.examples import trial
from wireloom.examples.differences import differences
from wireloom.examples.recording import entries, revised
from wireloom.model.meaning import contents, meaning
from wireloom.project import spec_files
from wireloom.runtime.codec import Codec
from wireloom.runtime.engine import Path as Way
from wireloom.spec import yaml
from wireloom_formats import FORMATS, load

GOOD = (
    "cafe 0037 01 c0 0000018bcfe56800 0002 "
    "0b74656d7065726174757265 4035800000000000 0868756d6964697479 3fd999999999999a eedc"
)


@dataclass
class Specs:
    """A folder with one scaffolded spec."""

    home: Path

    @property
    def folder(self) -> Path:
        """The folder of the specs."""
        return self.home / "specs"

    @property
    def spec(self) -> Path:
        """The spec."""
        return self.folder / "heartbeat" / "heartbeat.yaml"

    def replace(self, old: str, new: str) -> int:
        """Change the spec; the line where the change begins."""
        text = self.spec.read_text(encoding="utf-8")
        assert old in text
        self.spec.write_text(text.replace(old, new, 1), encoding="utf-8")
        return text[: text.index(old)].count("\n") + 1

    def add(self, example: str) -> None:
        """One more example."""
        self.spec.write_text(self.spec.read_text(encoding="utf-8") + example, encoding="utf-8")

    def run(self, command: str, *arguments: str) -> Result:
        """Run a command on the folder."""
        places = ["--specs", str(self.folder), "--out", str(self.home / "build"), "--package", "trying_formats"]
        return CliRunner().invoke(app, [command, *arguments, *places])


@pytest.fixture
def specs(tmp_path: Path) -> Specs:
    made = Specs(tmp_path)
    result = CliRunner().invoke(app, ["new", "heartbeat", "--specs", str(made.folder)])
    assert result.exit_code == 0, result.output
    return made


def test_examples_that_hold_are_counted(specs):
    result = specs.run("test")
    assert result.exit_code == 0, result.output
    assert re.fullmatch(r"2 examples, all hold.* \(\d+\.\d\d s\)\n", result.output)


@pytest.mark.parametrize(
    ("old", "new", "said", "detail"),
    [
        ("battery: 12", "battery: 13", "parse gives another value", "battery: expected 13, found 12"),
        ("value: 0.4}", "value: 0.5}", "parse gives another value", "readings[1].value: expected 0.5, found 0.4"),
        ("      battery: 12\n", "", "parse gives another value", "battery: found 12, and the example does not have it"),
        (
            "        - {name: humidity, value: 0.4}\n",
            "",
            "parse gives another value",
            'readings[1]: found {"name": "humidity", "value": 0.4}, and the example does not have it',
        ),
        ("urgent: false", "urgent: true", "parse gives another value", "urgent: expected true, found false"),
        ("path: checksum", "path: length", "parse gives another error", 'path: expected "length", found "checksum"'),
        ("offset: 53", "offset: 54", "parse gives another error", "offset: expected 54, found 53"),
        (
            "error: bad_checksum",
            "error: bad_length",
            "parse gives another error",
            'error: expected "bad_length", found "bad_checksum"',
        ),
        ("eedc\n    value:", "eedd\n    value:", "parse refuses it", "bad_checksum at checksum, byte 53"),
        (
            "4035810000000000 0868756d6964697479 3fd999999999999a eedc",
            "4035800000000000 0868756d6964697479 3fd999999999999a eedc",
            "parse accepts it, and the example says bad_checksum",
            '{"kind": "measurement"',
        ),
    ],
)
def test_a_false_example_is_shown_where_it_differs(specs, old, new, said, detail):
    line = specs.replace(old, new)
    result = specs.run("test")
    assert result.exit_code == 1
    assert said in result.output
    assert detail in result.output
    assert re.search(rf"^{re.escape(str(specs.spec))}:\d+:\d+: heartbeat: ", result.output)
    if old.endswith(("12", "13", "53", "checksum")):
        assert result.output.startswith(f"{specs.spec}:{line}:")
    assert "1 of 2 examples does not hold" in result.output


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("byteOrder: big", "byteOrder: little"),
        ("battery: {at: 4..7", "battery: {at: 3..6"),
        ("1: measurement, 2: alarm", "2: measurement, 1: alarm"),
        ("value: {type: float64", "value: {type: int64"),
        ("over: 0 .. length - 2", "over: 0 .. length - 3"),
        (
            "poly: 0x1021, reflected: false, init: 0xFFFF, xorout: 0, check: 0x29B1",
            "poly: 0x1021, reflected: false, init: 0, xorout: 0, check: 0x31C3",
        ),
        ("sentAt: {type: uint64", "sentAt: {type: int64, hidden: true, derive: 0"),
    ],
)
def test_a_mistake_in_the_spec_that_the_language_cannot_see_is_seen_by_its_examples(specs, old, new):
    specs.replace(old, new)
    assert specs.run("test").exit_code == 1


def test_bytes_that_are_built_otherwise_are_shown_where_they_begin_to_differ(specs):
    specs.replace(
        "- magic: {type: bytes(2), const: cafe, else: bad_magic, hidden: true}",
        "- magic: {type: bytes(2), hidden: true, derive: \"'cafe'\"}",
    )
    result = specs.run("test")
    assert result.exit_code == 1, result.output


def test_a_bug_of_wireloom_is_shown_at_the_example_that_provokes_it(specs, monkeypatch):
    def broken(*_: object, **__: object) -> bytes:
        raise KeyError("battery")

    monkeypatch.setattr(Codec, "build", broken)
    result = specs.run("test")
    assert result.exit_code == 1
    assert "two readings: build ends in KeyError: 'battery'; this is a bug of wireloom" in result.output


def test_the_examples_of_the_formats_named_are_run(specs):
    CliRunner().invoke(app, ["new", "other", "--specs", str(specs.folder)])
    assert specs.run("test").output.startswith("4 examples")
    assert specs.run("test", "other").output.startswith("2 examples")
    unknown = specs.run("test", "othr")
    assert unknown.exit_code == 2
    assert "did you mean other?" in unknown.output


def test_what_is_generated_may_be_missing_or_stale_which_is_said(specs):
    specs.run("generate")
    assert "out of date: run" not in specs.run("test").output
    specs.replace("battery: {at: 4..7", "charge: {at: 4..7")
    specs.replace("battery: 12", "charge: 12")
    result = specs.run("test")
    assert result.exit_code == 0
    assert "out of date: run `wireloom generate`" in result.output


@pytest.mark.parametrize("options", [["--record"], []], ids=["recorded", "run again"])
def test_a_recorded_example_alone_leaves_the_generated_module_as_good_as_it_was(specs, options):
    specs.run("generate")
    head = re.search(r"hex: cafe[0-9a-f ]+", specs.spec.read_text(encoding="utf-8"))
    specs.add(f"  - name: another\n    {head[0]}\n")
    specs.run("test", "--record")
    result = specs.run("test", *options)
    assert result.exit_code == 0, result.output
    assert "out of date: run" not in result.output
    assert "heartbeat in " in result.output
    assert "which means the same; `wireloom generate` updates comments and digest" in result.output
    specs.run("generate")
    assert "updates comments" not in specs.run("test").output


# --- generate ------------------------------------------------------------------------------------------------------


def test_generate_runs_the_examples_and_writes_the_files_all_the_same(specs):
    specs.replace("battery: 12", "battery: 13")
    result = specs.run("generate")
    assert result.exit_code == 1
    assert "battery: expected 13, found 12" in result.output
    assert (specs.home / "build" / "trying_formats" / "heartbeat" / "parser.py").is_file()
    assert specs.run("generate", "--check").exit_code == 1
    assert specs.run("generate", "--no-examples").exit_code == 0
    assert specs.run("generate", "--check", "--no-examples").exit_code == 0


# --- explain -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FORMATS)
def test_explain_says_of_each_root_what_it_runs_on(name):
    (spec,) = SPECS.glob(f"*/{name}.yaml")
    result = CliRunner().invoke(app, ["explain", name, "--out", str(GENERATED), "--specs", str(spec.parent)])
    assert result.exit_code == 0, result.output
    codec = load(name).CODEC
    assert f"    framing {codec.framing}\n" in result.output
    for root in codec.roots:
        said = result.output.partition(f"    root {root}\n")[2].partition("    root ")[0]
        assert f"decode  {codec.decode_path(root=root)}\n" in said
        assert f"encode  {codec.encode_path(root=root)}\n" in said


def test_explain_names_the_parameters_that_change_the_path_and_the_columns_that_do_not_leave_the_engine(
    specs, monkeypatch
):
    specs.run("generate")

    def path(_: Codec, columns: object = None, *, root: object = None, **asked: object) -> Way:
        native = columns is not None or bool(asked)
        return Way(native, "" if native else "something new")

    monkeypatch.setattr(Codec, "decode_path", path)
    places = ["--out", str(specs.home / "build"), "--package", "trying_formats"]
    output = CliRunner().invoke(app, ["explain", "heartbeat", *places]).output
    assert "decode  construct path: something new" in output
    assert "native engine for each of these columns alone: kind, urgent, battery, sentAt, readings" in output
    assert "decode  with open_values=json: native engine" in output
    assert "heartbeat leaves the native engine (decode: something new)" in specs.run("generate").output


# --- record --------------------------------------------------------------------------------------------------------


def test_an_example_that_states_nothing_does_not_hold_until_it_is_recorded(specs):
    before = specs.spec.read_text(encoding="utf-8")
    begun = f"  - name: begun  # by hand\n    hex: {GOOD}  # these bytes\n"
    specs.add(f"{begun}\n  # and now a bad one\n  - {{name: cut, hex: cafe 00 }}\n")
    assert "states neither a value nor an error" in specs.run("generate").output
    result = specs.run("test", "--record")
    assert result.exit_code == 0, result.output
    assert "heartbeat: cut: recorded error: truncated, path: length, offset: 2" in result.output
    assert specs.spec.read_text(encoding="utf-8") == before + begun + (
        "    value:\n      kind: measurement\n      urgent: false\n      battery: 12\n      sentAt: 1700000000000\n"
        "      readings: [{name: temperature, value: 21.5}, {name: humidity, value: 0.4}]\n"
        "\n  # and now a bad one\n  - {name: cut, hex: cafe 00, error: truncated, path: length, offset: 2 }\n"
    )
    assert specs.run("test", "--record").output.startswith("4 examples, all hold")


def test_an_example_that_builds_other_bytes_is_recorded_so(specs):
    spec = specs.folder / "loose.yaml"
    head = "wireloom: 1\nformat: loose\ntitle: Filler\nencoding: binary\nroot: Record\n"
    fields = "      - filler: {type: uint8, hidden: true}\n      - number: uint8\n"
    begun = f"{head}types:\n  Record:\n    fields:\n{fields}examples:\n  - name: odd filler\n    hex: 0107\n"
    spec.write_text(begun, encoding="utf-8")
    assert "loose: odd filler: recorded value: {number: 7}, rebuilds: false" in specs.run("test", "--record").output
    assert spec.read_text(encoding="utf-8") == f"{begun}    value: {{number: 7}}\n    rebuilds: false\n"


@pytest.fixture
def remembered(specs: Specs, monkeypatch: pytest.MonkeyPatch) -> Specs:
    """The folder, with a cache of its own."""
    monkeypatch.setenv("WIRELOOM_CACHE", str(specs.home / "cache"))
    return specs


def trials(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The formats whose examples are really run from now on."""
    run: list[str] = []
    failures = trial._failures
    monkeypatch.setattr(
        trial, "_failures", lambda subject, module: run.append(subject.format.name) or failures(subject, module)
    )
    return run


def test_passed_examples_run_again_only_on_request_or_after_a_change(remembered, monkeypatch):
    other = remembered.folder / "other.yaml"
    other.write_text(
        remembered.spec.read_text(encoding="utf-8").replace("format: heartbeat", "format: other"), encoding="utf-8"
    )
    run = trials(monkeypatch)
    assert re.match(r"4 examples, all hold \(", remembered.run("test").output)
    assert sorted(run) == ["heartbeat", "other"]
    assert re.match(r"4 examples, all hold, as before \(", remembered.run("test").output)
    assert sorted(run) == ["heartbeat", "other"]
    remembered.run("test", "--again")
    assert sorted(run) == ["heartbeat", "heartbeat", "other", "other"]
    run.clear()
    remembered.add("  - {name: begun, hex: cafe}\n")
    assert remembered.run("test").exit_code == 1
    assert remembered.run("test").exit_code == 1  # what does not hold is never remembered
    assert run == ["heartbeat", "heartbeat"]


def test_another_version_of_wireloom_runs_passed_examples_again(remembered, monkeypatch):
    run = trials(monkeypatch)
    remembered.run("test")
    monkeypatch.setattr(outcomes, "_tool", lambda: "another")
    assert remembered.run("test").output.startswith("2 examples, all hold (")
    assert run == ["heartbeat", "heartbeat"]


def test_an_outcome_that_cannot_be_read_or_kept_is_none(remembered, monkeypatch):
    run = trials(monkeypatch)
    remembered.run("test")
    for kept in (remembered.home / "cache" / "examples").iterdir():
        kept.write_text('{"count": ', encoding="utf-8")
    assert remembered.run("test").output.startswith("2 examples, all hold (")
    monkeypatch.setenv("WIRELOOM_CACHE", str(remembered.spec))
    assert remembered.run("test").output.startswith("2 examples, all hold (")
    assert run == ["heartbeat"] * 3


def test_a_cached_result_still_reports_an_outdated_module(remembered):
    remembered.run("generate")
    before = remembered.spec.read_text(encoding="utf-8")
    remembered.replace("uint8", "uint16")
    assert remembered.run("test", "heartbeat").exit_code == 1
    remembered.spec.write_text(before, encoding="utf-8")
    remembered.replace("title: ", "title: Other ")
    for _ in range(2):
        assert "of an earlier text of the spec" in remembered.run("test").output
    remembered.replace("battery: {at: 4..7", "charge: {at: 4..7")
    remembered.replace("battery: 12", "charge: 12")
    for _ in range(2):
        assert "out of date: run" in remembered.run("test").output


LAYOUTS = [
    "examples:\n  - name: a\n    hex: 01\n",
    "examples:\n  - name: a\n    hex: 01",
    "examples:\r\n  - name: a\r\n    hex: 01\r\n",
    "examples:\n- hex: 01 # c\n  name: a\n\n\n# end\n",
    "examples: [{name: a, hex: 01}]\n",
    "examples:\n  - {name: a,\n     hex: 01, # c\n    }\n",
    "examples:\n  - name: a\n    parameters:\n      b: little # c\n    # d\n",
    "examples:\n  - name: a\n    parameters: {b: little} # c\n",
    "examples:\n  - name: a\n    hex: >-\n      01\n      02\n\n    # c\n",
    "examples:\n  - name: a\n    doc: |\n      Some\n\n      text.\n\n\nother: 1\n",
    "examples:\n  - name: a\n    doc: plain and\n      long # c\n",
    "examples:\n  -\n    name: a\n    doc: 'it''s'\n",
]

VALUES = [
    {
        "value": {
            "text": "plain words",
            "odd": 'a: "b" #\n\t\x00\u2028\U0001f600',
            "yes": "yes",
            "no": True,
            "empty": "",
        }
    },
    {"value": {"small": 1e-7, "large": 1e300, "whole": 2.0, "number": "12", "nan": "NaN", "base64": "AAEC+/8="}},
    {
        "value": {
            "list": [{"a": 1, "b": []}, {}],
            "long": ["x" * 70, "y" * 70],
            "deep": {"deeper": {"deepest": "z" * 120}},
        }
    },
    {"error": "truncated", "path": "a[0].b", "offset": 3},
]


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_recorded_result_reads_back_and_nothing_else_changes(layout, value):
    added = tuple(value.items())
    written = revised(layout, {0: added})
    before, after = yaml.plain(yaml.parse(layout, "")[0]), yaml.plain(yaml.parse(written, "")[0])
    before["examples"][0].update(value)
    assert repr(after) == repr(before)
    put_in = len(written) - len(layout)
    assert any(written[:at] + written[at + put_in :] == layout for at in range(len(layout) + 1))  # and nothing else


def test_a_value_is_recorded_without_its_nulls():
    assert entries({"a": None, "b": {"c": None}}) == (("value", {"b": {}}),)


# --- update --------------------------------------------------------------------------------------------------------


def test_a_change_of_a_spec_is_taken_over_into_its_examples_and_shown(specs):
    value = "{kind: measurement, urgent: false, battery: 12, sentAt: 1700000000000, readings: "
    value += "[{name: temperature, value: 21.5}, {name: humidity, value: 0.4}]}"
    specs.add(f"  - {{name: inline, hex: {GOOD}, value: {value}}} # c\n")
    specs.replace("      battery: 12\n", "      battery:   12   # charged\n      # the time\n")
    specs.replace("      - readingCount:", "      - level: {compute: battery // 4, type: int64}\n      - readingCount:")
    specs.replace("1: measurement, 2: alarm", "1: measured, 2: alarm")
    specs.replace("  bad_checksum:", "  bad_sum:")
    specs.replace("else: bad_checksum", "else: bad_sum")
    specs.replace("error: bad_checksum", "error: bad_magic  # why\n    doc: kept")
    before = specs.spec.read_text(encoding="utf-8")
    shown = specs.run("test", "--update", "--dry-run")
    assert shown.exit_code == 1
    assert specs.spec.read_text(encoding="utf-8") == before
    assert "+      kind: measured\n" in shown.output
    assert "measurement" in shown.output.split("@@")[-1].partition("is not the rendering")[0]
    result = specs.run("test", "--update")
    assert result.exit_code == 0, result.output
    for line in ("-      kind: measurement", "+      kind: measured", "+      level: 3", "+    error: bad_sum  # why"):
        assert f"\n{line}\n" in result.output
    assert re.search(r"^@@ -\d+,\d+ \+\d+,\d+ @@$", result.output, re.MULTILINE)
    after = before.replace("kind: measurement", "kind: measured").replace("error: bad_magic", "error: bad_sum")
    after = after.replace("sentAt: 1700000000000\n", "sentAt: 1700000000000\n      level: 3\n")
    after = after.replace("sentAt: 1700000000000,", "sentAt: 1700000000000, level: 3,")
    assert specs.spec.read_text(encoding="utf-8") == after
    again = specs.run("test", "--update")
    assert again.output.startswith("3 examples, all hold (")
    assert specs.spec.read_text(encoding="utf-8") == after


def test_the_new_column_of_the_readme_arrives_in_the_examples_and_in_its_sample(tmp_path):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    file, before, line = re.search(r"<!-- into (\S+) after (.+) -->\n```yaml\n(.*\n)```", readme).groups()
    sample = re.search(r"decode kpl_record (\S+)", readme)[1]
    spec = tmp_path / "specs" / Path(file).name
    spec.parent.mkdir()
    spec.write_text(
        re.sub(rf"( +{before}.*\n)", rf"\1{line}", (ROOT / file).read_text(encoding="utf-8")), encoding="utf-8"
    )
    places = ["--specs", str(spec.parent), "--out", str(tmp_path / "out"), "--package", "readme_formats"]
    asked = CliRunner().invoke(app, ["test", *places])
    assert "13 of 29 examples do not hold" in asked.output
    assert "`wireloom test --update`" in asked.output
    updated = CliRunner().invoke(app, ["test", "kpl_record", "--update", *places])
    assert updated.exit_code == 0, updated.output
    assert updated.output.count("\n+      messageSize: ") + updated.output.count("\n+    value: ") == 13
    assert CliRunner().invoke(app, ["generate", "--no-examples", *places]).exit_code == 0
    decoded = CliRunner().invoke(app, ["decode", "kpl_record", str(ROOT / sample), *places[2:]])
    assert '"messageSize":' in decoded.output


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("eedc\n    value:", "eedd\n    value:"),  # a value becomes an error
        ("4035810000000000 0868", "4035800000000000 0868"),  # an error becomes a value
        ("path: checksum", "path: length"),
        ("offset: 53", "offset: 54"),
        ("    path: checksum\n    offset: 53\n", "    offset: 1\n"),
        ("        - {name: humidity, value: 0.4}\n", ""),
        ("value: 0.4}", "value: 0.4, unit: percent}\n        - {name: another}"),
        ("battery: 12", "battery: {level: 12}  # c"),
        (
            "    value:\n      kind: measurement",
            "    value:\n      nobody: |\n        knows\n\n      kind: measurement",
        ),
        ("battery: {at: 4..7, doc", "charge: {at: 4..7, doc"),
        ("value: {type: float64, doc", "value: {type: uint64, doc"),
        ("1: measurement, 2: alarm", "1: measured"),
        ("    offset: 53\n", "    offset: 53\n  - name: begun\n    hex: 00\n"),
    ],
)
def test_whatever_an_example_states_holds_after_an_update(specs, old, new):
    specs.replace(old, new)
    result = specs.run("test", "--update")
    assert result.exit_code == 0, result.output
    assert specs.run("test", "--update").output.startswith(("2 examples, all hold (", "3 examples, all hold ("))


def test_an_error_states_no_more_than_it_did(specs):
    specs.replace("    path: checksum\n    offset: 53\n", "    offset: 1\n")
    assert specs.run("test", "--update").exit_code == 0
    assert specs.spec.read_text(encoding="utf-8").endswith("    error: bad_checksum\n    offset: 53\n")


def test_an_example_that_no_longer_rebuilds_is_said_not_to(specs):
    specs.replace(
        "      - magic: {type: bytes(2), const: cafe, else: bad_magic, hidden: true}\n",
        "      - filler: {type: uint16, hidden: true}\n",
    )
    specs.replace("  bad_magic: A message does not begin with CA FE.\n", "")
    result = specs.run("test", "--update")
    assert result.exit_code == 0, result.output
    assert "\n+    rebuilds: false\n" in result.output


def test_a_dry_run_is_of_an_update(specs):
    result = specs.run("test", "--dry-run")
    assert result.exit_code == 2
    assert "give --update, too" in result.output


def test_a_file_that_changes_while_its_examples_run_is_left_alone(specs, monkeypatch):
    specs.replace("battery: 12", "battery: 13")
    read = pipeline.example_revisions

    def slow(*arguments: object) -> object:
        found = read(*arguments)
        specs.add("# typed meanwhile\n")
        return found

    monkeypatch.setattr(pipeline, "example_revisions", slow)
    result = specs.run("test", "--update")
    assert "has changed meanwhile; nothing was written into it" in result.output
    assert "battery: 13" in specs.spec.read_text(encoding="utf-8")


NAMES = st.sampled_from(["a", "b", "c", "long name", "1", "yes"])
LEAVES = st.sampled_from([0, 12, True, 1.5, "x", "", "two\nlines\n", "a: b # c", "y" * 90])
RENDERINGS = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4), max_leaves=12
)


@settings(max_examples=100, deadline=None)
@given(old=RENDERINGS, new=RENDERINGS, flow=st.sampled_from([None, True, False]), windows=st.booleans())
def test_any_value_becomes_any_other_and_its_neighbours_stay(old, new, flow, windows):
    example = {"name": "a", "hex": "00", "value": old, "doc": "last"}
    document = {"examples": [{"name": "first"}, example, {"name": "other"}]}
    text = pyyaml.safe_dump(document, default_flow_style=flow, sort_keys=False, width=60)
    text = text.replace("\n", "\r\n") if windows else text
    now = yaml.plain(yaml.parse(revised(text, {1: (("value", new),)}), "")[0])
    assert not list(differences(now["examples"][1]["value"], new))
    wished = yaml.plain(yaml.parse(text, "")[0])
    now["examples"][1]["value"] = wished["examples"][1]["value"]
    assert repr(now) == repr(wished)
    again = revised(text, {1: (("value", wished["examples"][1]["value"]),)})
    assert again == text


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        ("{a: 1, b: 2}", {"b": 2}, "{b: 2}"),
        ("{a: 1, b: 2}", {"a": 1}, "{a: 1}"),
        ("{a: 1, b: 2}", {"c": 0, "a": 1, "b": 2}, "{c: 0, a: 1, b: 2}"),
        ("{a: 1,  # one\n      b: 2}", {"a": 1, "x": 9, "b": 3}, "{a: 1, x: 9,  # one\n      b: 3}"),
        (
            "\n      a: 1  # one\n      # of b\n      b: 2\n      c: 3",
            {"a": 1, "c": 3},
            "\n      a: 1  # one\n      c: 3",
        ),
        ("\n      a: 1  # one\n      # of b\n      b: 2", {"b": 2}, "\n      b: 2"),
        ("\n      - 1  # one\n      - 2", [1], "\n      - 1  # one"),
        ("\n      - 1  # one\n      - {a: 2}", [1, {"a": 3}, 4], "\n      - 1  # one\n      - {a: 3}\n      - 4"),
        ("\n      -\n      - - 1", [7, [2]], "\n      - 7\n      - - 2"),
        ("{a: null, b: 0x10}", {"b": 16}, "{a: null, b: 0x10}"),
        ("{a: [1, 2], b: 'x'}", {"a": [], "b": "z"}, "{a: [], b: z}"),
    ],
)
def test_only_what_differs_is_edited(old, new, wanted):
    lead, rest = "examples:\n  - name: a\n    value: ", "\n    hex: 00  # c\n"
    assert revised(lead + old + rest, {0: (("value", new),)}) == lead + wanted + rest


# --- specs ---------------------------------------------------------------------------------------------------------


def test_specs_end_in_yaml_or_yml_and_what_editors_leave_is_none(specs):
    specs.spec.rename(specs.spec.with_suffix(".yml"))
    folder = specs.spec.parent
    (folder / ".#heartbeat.yaml").symlink_to("somebody@somewhere.1234")
    for name in (".heartbeat.yaml.swp", "heartbeat.yaml~", "#heartbeat.yaml#", ".hidden.yaml"):
        (folder / name).write_text("half a spec: [", encoding="utf-8")
    (folder / "folder.yaml").mkdir()
    assert spec_files(specs.folder) == [folder / "heartbeat.yml"]
    assert specs.run("generate").exit_code == 0


def test_a_link_to_no_spec_is_not_passed_over(specs):
    (specs.spec.parent / "gone.yaml").symlink_to("nowhere.yaml")
    result = specs.run("generate")
    assert result.exit_code == 2
    assert "gone.yaml: a link to nowhere" in result.output


def test_a_folder_without_a_format_is_refused_with_advice(tmp_path):
    result = CliRunner().invoke(app, ["generate", "--specs", str(tmp_path), "--out", str(tmp_path / "out")])
    assert result.exit_code == 2
    assert "has no spec of a format" in result.output
    assert "wireloom new NAME" in result.output
    assert not (tmp_path / "out").exists()


def test_a_part_of_the_specs_takes_no_other_format_away_unless_told_to(specs):
    CliRunner().invoke(app, ["new", "other", "--specs", str(specs.folder)])
    assert specs.run("generate").exit_code == 0
    whole, part = specs.folder, specs.folder / "other"
    places = ["--out", str(specs.home / "build"), "--package", "trying_formats"]
    refused = CliRunner().invoke(app, ["generate", "--specs", str(part), *places])
    assert refused.exit_code == 2
    assert f"{part} has no spec of heartbeat" in refused.output
    assert f"where {specs.spec} is" in refused.output
    assert (specs.home / "build" / "trying_formats" / "heartbeat" / "parser.py").is_file()
    assert CliRunner().invoke(app, ["generate", "--specs", str(part), *places, "--remove"]).exit_code == 0
    assert not (specs.home / "build" / "trying_formats" / "heartbeat").exists()
    assert CliRunner().invoke(app, ["generate", "--specs", str(whole), *places]).exit_code == 0


def test_another_folder_of_specs_takes_no_format_away(specs, tmp_path):
    specs.run("generate")
    mine = tmp_path / "mine"
    CliRunner().invoke(app, ["new", "other", "--specs", str(mine)])
    places = ["--out", str(specs.home / "build"), "--package", "trying_formats"]
    refused = CliRunner().invoke(app, ["generate", "--specs", str(mine), *places])
    assert refused.exit_code == 2
    assert "--remove to remove them" in refused.output


def test_a_format_that_is_renamed_takes_its_old_module_along(specs):
    specs.run("generate")
    specs.replace("format: heartbeat", "format: pulse")
    result = specs.run("generate")
    assert result.exit_code == 0, result.output
    assert "removed " in result.output
    assert not (specs.home / "build" / "trying_formats" / "heartbeat").exists()


def test_pages_of_other_formats_are_left_alone(specs, tmp_path):
    pages = tmp_path / "pages"
    specs.run("generate", "--docs", str(pages))
    (pages / "heartbeat.md").rename(pages / "another.md")
    result = specs.run("generate", "--docs", str(pages))
    assert result.exit_code == 2
    assert "another.md" in result.output


def test_the_key_of_a_cached_result_is_the_same_in_every_process():
    """Sets of the model have another order in each process."""
    program = (
        "import json\nfrom conftest import CASES, SPECS, specs_below\n"
        "print(json.dumps([specs_below(folder).keys('format') for folder in (SPECS, CASES)]))\n"
    )
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONHASHSEED": seed}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, check=True)
    found = [specs_below(folder).keys("format") for folder in (SPECS, CASES)]
    assert json.loads(done.stdout) == found
    keys = [key for each in found for key in each.values()]
    assert len(set(keys)) == len(keys) > len(FORMATS)


def test_another_example_or_document_is_kept_under_another_key(specs):
    before = pipeline.formats(specs.folder)[0]
    specs.add("  - {name: one more, hex: 00, error: truncated}\n")
    with_example = pipeline.formats(specs.folder)[0]
    specs.replace("title: ", "title: Another ")
    renamed = pipeline.formats(specs.folder)[0]
    assert len({contents(each) for each in (before, with_example, renamed)}) == 3
    assert meaning(before) == meaning(with_example) == meaning(renamed)

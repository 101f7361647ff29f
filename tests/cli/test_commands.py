"""The commands as users run them: output, written files, and exit codes."""

import itertools
import json
import os
import re
import subprocess
import sys
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from typer.testing import CliRunner

from wireloom import pipeline
from wireloom.catalog import open_format, open_package
from wireloom.cli.app import COMMANDS, app
from wireloom.encodings import ENCODINGS
from wireloom.runtime import CONTRACT
from wireloom.runtime.errors import DecodeError
from wireloom.runtime.streams.framed import KEPT
from wireloom_formats import aerospike_json

_numbers = itertools.count()


@dataclass
class Project:
    """A folder with one scaffolded spec, `heartbeat`, and a generated package of a name of its own."""

    home: Path
    package: str = field(default_factory=lambda: f"formats_{next(_numbers)}")

    @property
    def specs(self):
        """Folder of the specs."""
        return self.home / "specs"

    @property
    def spec(self):
        """The scaffolded spec."""
        return self.specs / "heartbeat" / "heartbeat.yaml"

    @property
    def out(self):
        """Folder of the generated package."""
        return self.home / "build"

    @property
    def module(self):
        """Folder of the generated module."""
        return self.out / self.package / "heartbeat"

    def generate(self, *options):
        """Run `generate`."""
        return self.run("generate", "--specs", self.specs, *options)

    def run(self, command, *arguments, input=None):
        """Run a command on this project."""
        places = ["--out", self.out, "--package", self.package]
        return CliRunner().invoke(app, [str(each) for each in (command, *arguments, *places)], input=input)

    def record(self):
        """A record of the format."""
        module = open_format(open_package(self.package, self.out), "heartbeat")
        value = {"kind": "alarm", "urgent": True, "battery": 3, "sentAt": 1, "readings": []}
        return module.CODEC.build(value)


@pytest.fixture
def project(tmp_path):
    made = Project(tmp_path)
    result = CliRunner().invoke(app, ["new", "heartbeat", "--specs", str(made.specs)])
    assert result.exit_code == 0, result.output
    return made


@pytest.fixture
def generated(project):
    result = project.generate()
    assert result.exit_code == 0, result.output
    return project


# --- generate ------------------------------------------------------------------------------------------------------


def test_generate_says_what_it_wrote_and_a_second_run_writes_nothing(project):
    first = project.generate()
    assert f"wrote {project.module / 'parser.py'}" in first.output
    second = project.generate()
    assert second.exit_code == 0
    assert second.output.startswith("0 written, 0 removed")


def test_check_is_content_with_fresh_files_and_names_stale_ones_and_the_command(generated):
    assert generated.generate("--check").exit_code == 0
    parser = generated.module / "parser.py"
    parser.write_text(parser.read_text() + "\n# touched\n")
    stale = generated.generate("--check")
    assert stale.exit_code == 1
    assert f"out of date: {parser}" in stale.output
    assert f"wireloom generate --specs {generated.specs}" in stale.output


def test_check_covers_the_schema_of_the_language(generated):
    (generated.specs / "wireloom.schema.json").unlink()
    result = generated.generate("--check")
    assert result.exit_code == 1
    assert "missing: " in result.output


def test_files_of_a_spec_that_is_gone_are_removed(generated):
    CliRunner().invoke(app, ["new", "second", "--specs", str(generated.specs)])
    generated.generate()
    generated.spec.unlink()
    result = generated.generate()
    assert f"removed {generated.module / 'parser.py'}" in result.output
    assert not generated.module.exists()
    assert (generated.out / generated.package / "second").exists()


def test_all_problems_are_shown_at_once_and_nothing_is_written(generated):
    before = (generated.module / "parser.py").read_bytes()
    text = (
        generated.spec.read_text()
        .replace("kind: {type: uint8", "kind: {type: unit8")
        .replace("magic: {type", "magic: {tipe")
    )
    generated.spec.write_text(text)
    result = generated.generate()
    assert result.exit_code == 1
    assert "heartbeat.yaml:" in result.output
    assert "uint8" in result.output
    assert "tipe" in result.output
    assert "Traceback" not in result.output
    assert (generated.module / "parser.py").read_bytes() == before


def test_a_package_written_by_hand_is_left_alone(project):
    own = project.out / project.package / "__init__.py"
    own.parent.mkdir(parents=True)
    own.write_text("mine = 1\n")
    result = project.generate()
    assert result.exit_code == 2
    assert "not written by wireloom" in result.output
    assert own.read_text() == "mine = 1\n"
    assert not project.module.exists()


@pytest.mark.parametrize(
    ("place", "written", "said"),
    [
        ("pages/heartbeat.md", b"# my own notes\n", "choose another --docs, or move it away"),
        ("pages/heartbeat.md", "# Größe\n".encode("latin-1"), "choose another --docs, or move it away"),
        ("specs/wireloom.schema.json", b'{"mine": 1}\n', "not written by wireloom; move it away"),
        ("build/PACKAGE/__init__.py", "# Größe\n".encode("latin-1"), "choose another --out or --package"),
        ("build/PACKAGE/heartbeat/parser.py", b"mine = 1\n", "choose another --out or --package"),
        ("build/PACKAGE/functions.py", b"mine = 1\n", "choose another --out or --package"),
    ],
)
def test_no_file_written_by_hand_is_replaced(project, tmp_path, place, written, said):
    own = tmp_path / place.replace("PACKAGE", project.package)
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_bytes(written)
    before = sorted(tmp_path.rglob("*"))
    result = project.generate("--docs", tmp_path / "pages")
    assert (result.exit_code, f"wireloom: {own}: not written by wireloom; " in result.output) == (2, True)
    assert said in result.output
    assert own.read_bytes() == written
    assert sorted(tmp_path.rglob("*")) == before


def test_pages_that_were_generated_are_brought_up_to_date_also_where_a_merge_left_both(project, tmp_path):
    pages = tmp_path / "pages"
    assert project.generate("--docs", pages).exit_code == 0
    page, others = pages / "heartbeat.md", (project.module / "parser.py", project.specs / "wireloom.schema.json")
    right = page.read_text()
    for found in (f"{right}\nmore\n", f"<<<<<<< HEAD\n{right}=======\n{right}>>>>>>> other\n", ""):
        page.write_text(found)
        for other in others:
            other.write_text(f"<<<<<<< HEAD\n{other.read_text()}" if found else "")
        assert project.generate("--docs", pages).exit_code == 0
        assert page.read_text() == right


def test_a_missing_folder_of_specs_is_a_wrong_call(tmp_path):
    result = CliRunner().invoke(app, ["generate", "--specs", str(tmp_path / "none")])
    assert result.exit_code == 2
    assert "wireloom new" in result.output


@pytest.mark.parametrize(
    "command",
    [
        *(["generate", option, ""] for option in ("--specs", "--out", "--docs", "--package")),
        ["generate", "--out="],
        *([command, "--out", ""] for command in ("formats", "explain", "doctor", "test", "demo", "package")),
        ["package", "--dest", ""],
        ["demo", "--output", ""],
        ["decode", "", "file"],
        ["decode", "heartbeat", ""],
        ["encode", "heartbeat", "file", "-o", ""],
        ["convert", "--from", "", "--to", "heartbeat", "file"],
        ["ingest", "--format", "heartbeat", "--input", "", "--output", "out"],
        ["ingest", "--format", "heartbeat", "--input", "file", "--output", ""],
        ["ingest", "--format", "heartbeat", "--stream", "--samples", "1", "--output", "out", "--checkpoint", ""],
        ["replay", ""],
        ["replay", "out/quarantine", "--output", ""],
        ["status", ""],
        ["clean", ""],
        ["new", ""],
        ["new", "spec", "heartbeat", "--specs", ""],
        ["new", "project", ""],
        ["new", "pipeline", "", "--format", "heartbeat"],
    ],
    ids=" ".join,
)
def test_an_empty_text_is_no_path_and_no_name(tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 2
    assert re.search(r"^wireloom: (--\w+|\w+) is empty, perhaps because a variable is not set", result.output)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "command",
    ["generate --out", "generate --docs", "package --dest", "demo --output", "demo --out", "new second --specs"],
)
@pytest.mark.parametrize("below", [False, True])
def test_a_file_is_no_folder_to_write_to(generated, tmp_path, monkeypatch, command, below):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_bytes(b"precious")
    (tmp_path / "generated").symlink_to(generated.out)
    before = sorted(tmp_path.rglob("*"))
    result = CliRunner().invoke(app, [*command.split(), "file/x" if below else "file"])
    what = f"{'file/x cannot be made, since ' * below}file is not a folder"
    option = command.rpartition(" ")[2]
    assert result.exit_code == 2
    assert f"wireloom: {option}: {what}; name a folder, or one that can be made\n" in result.output
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("words", [["--output"], ["--samples"]])
def test_the_demo_says_at_once_that_it_makes_samples_from_examples(project, tmp_path, words):
    text = project.spec.read_text(encoding="utf-8")
    project.spec.write_text(text.partition("\nexamples:")[0] + "\n", encoding="utf-8")
    result = project.run("demo", "--specs", project.specs, *words, tmp_path / "seen")
    assert result.exit_code == 2
    assert "samples are grown from the valid examples of a spec, and there are none in heartbeat" in result.output
    assert "      hex: " in result.output
    assert not project.out.exists()


@pytest.mark.parametrize("name", ["mine.bin", "good.bin.txt"])
def test_the_demo_takes_no_folder_of_somebody_s_files_for_its_samples(project, tmp_path, name):
    own = tmp_path / "seen" / "input" / "heartbeat" / name
    own.parent.mkdir(parents=True)
    own.write_bytes(b"precious")
    result = project.run("demo", "--specs", project.specs, "--output", tmp_path / "seen")
    said = f"{own}: not written by wireloom; choose another --output, or move it away"
    assert (result.exit_code, said in result.output, own.read_bytes()) == (2, True, b"precious")
    assert not project.out.exists()


@pytest.mark.parametrize(
    "command",
    [
        ["formats"],
        ["explain"],
        ["doctor"],
        ["decode", "heartbeat", "-"],
        ["encode", "heartbeat", "-"],
        ["validate", "heartbeat", "-"],
        ["convert", "--from", "heartbeat", "--to", "heartbeat", "-"],
        ["ingest", "--format", "heartbeat", "--input", "in", "--output", "out"],
        ["replay", "out/quarantine", "--format", "heartbeat"],
        ["package"],
        ["new", "pipeline", "beats", "--format", "heartbeat"],
    ],
    ids=" ".join,
)
def test_a_package_that_is_not_where_it_is_said_to_be_is_not_taken_from_elsewhere(tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other").mkdir()
    for place, code, said in (
        ("nowhere", 2, "there is no folder nowhere; `wireloom generate --out DIR` makes one"),
        ("other", 3, "there is no generated package wireloom_formats in other"),
    ):
        for named in ((), ("--package", "wireloom_formats")):
            for options in ((*named, "--out", place), ("--out", place, *named)):
                result = CliRunner().invoke(app, [*command, *options], input=b"")
                assert (result.exit_code, said in result.output) == (code, True), result.output
    assert [path.name for path in tmp_path.iterdir()] == ["other"]


# --- new -----------------------------------------------------------------------------------------------------------


def test_a_scaffolded_spec_gives_its_examples(generated):
    format = next(iter(pipeline.formats(generated.specs)))
    module = open_format(open_package(generated.package, generated.out), "heartbeat")
    good, bad = format.examples
    assert module.to_canonical(module.parse(good.data)) == good.value
    assert module.build(module.parse(good.data)) == good.data
    with pytest.raises(DecodeError) as caught:
        module.parse(bad.data)
    assert (caught.value.code, caught.value.path, caught.value.offset) == (bad.error, bad.path, bad.offset)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_spec_of_each_encoding_is_started_and_works(tmp_path, encoding):
    specs, out = tmp_path / "specs", tmp_path / "out"
    made = CliRunner().invoke(app, ["new", "beat", "--encoding", encoding, "--specs", str(specs)])
    assert made.exit_code == 0, made.output
    assert f"\nencoding: {encoding}\n" in (specs / "beat" / "beat.yaml").read_text(encoding="utf-8")
    places = ["--specs", str(specs), "--out", str(out)]
    for command in (["generate"], ["test", "--update"]):
        done = CliRunner().invoke(app, [*command, *places])
        assert done.exit_code == 0, done.output
        assert "all hold" in done.output
        assert "leaves the native engine" not in done.output
    (format,) = pipeline.formats(specs)
    assert {example.error is None for example in format.examples} == {True, False}


def test_new_refuses_an_encoding_that_there_is_not(tmp_path):
    result = CliRunner().invoke(app, ["new", "beat", "--encoding", "xml", "--specs", str(tmp_path)])
    assert result.exit_code == 2
    assert all(name in result.output for name in ("binary", "json", "msgpack", "protobuf"))
    assert not list(tmp_path.iterdir())


def test_a_project_starts_in_the_encoding_that_is_given(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = CliRunner().invoke(app, ["new", "project", "beat", "--encoding", "json"])
    assert made.exit_code == 0, made.output
    assert "\nencoding: json\n" in (tmp_path / "beat" / "specs" / "beat" / "beat.yaml").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path / "beat")
    assert "3 examples, all hold" in CliRunner().invoke(app, ["test"]).output


def test_new_refuses_a_bad_name_and_an_existing_spec(project):
    bad = CliRunner().invoke(app, ["new", "Heart-Beat", "--specs", str(project.specs)])
    again = CliRunner().invoke(app, ["new", "heartbeat", "--specs", str(project.specs)])
    assert (bad.exit_code, again.exit_code) == (2, 2)
    assert "already there" in again.output


def test_new_refuses_a_name_that_another_file_has_even_a_broken_one(project):
    other = project.specs / "misc" / "old.yaml"
    other.parent.mkdir()
    other.write_text('format: "taken"  # once\nroots: [\n')
    result = CliRunner().invoke(app, ["new", "taken", "--specs", str(project.specs)])
    assert result.exit_code == 2
    assert f"{other} already has a format taken; give the new one another name" in result.output
    assert not (project.specs / "taken").exists()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("os", "os is a module of Python itself"),
        ("class", "class is a word of Python"),
        ("wireloom", "the generator's own package"),
        ("my-formats", "letters, digits and underscores"),
    ],
)
def test_generate_refuses_a_package_that_could_not_be_imported(project, name, message):
    project.package = name
    result = project.generate()
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output
    assert not project.out.exists()


def test_the_tutorial_of_an_own_format_gives_what_it_shows(tmp_path):
    tutorial = (Path(__file__).parents[2] / "docs" / "tutorial" / "own-format.md").read_text(encoding="utf-8")
    start, *fields, body, head, structs, examples = re.findall(r"```yaml\n(.*?)```", tutorial, re.DOTALL)
    above, below = start.split("types:\n")
    project = Project(tmp_path)
    spec = project.specs / "sensor" / "sensor_frame.yaml"
    spec.parent.mkdir(parents=True)
    spec.write_text("".join([above, head, "types:\n", below, *fields, body, structs, examples]))
    assert project.generate().exit_code == 0
    shown, landed = (bytes.fromhex(each) for each in re.findall(r"printf '([0-9a-f ]+)'", tutorial))
    assert project.run("decode", "sensor_frame", "-", input=shown).stdout in tutorial
    (tmp_path / "frames.bin").write_bytes(landed)
    bad = project.run("decode", "sensor_frame", str(tmp_path / "frames.bin"))
    assert (bad.exit_code, bad.stdout in tutorial) == (1, True)
    assert "bad_crc" in bad.output


# --- formats, decode, encode, validate -----------------------------------------------------------------------------


def test_formats_lists_parameters_with_their_defaults():
    result = CliRunner().invoke(app, ["formats", "--out", str(Path(__file__).parents[2] / "generated")])
    assert "-p verifyCrc=BOOLEAN: " in result.output
    assert "(default: true)" in result.output


def test_formats_lists_titles_and_roots(generated):
    result = generated.run("formats")
    assert "heartbeat: Message of heartbeat" in result.output


def test_decode_and_encode_give_the_bytes_back(generated, tmp_path):
    stream = tmp_path / "stream.bin"
    stream.write_bytes(generated.record() * 3)
    decoded = generated.run("decode", "heartbeat", stream)
    assert decoded.exit_code == 0
    assert [json.loads(line)["kind"] for line in decoded.output.splitlines()] == ["alarm"] * 3
    lines = tmp_path / "lines.json"
    lines.write_text(decoded.output)
    copy = tmp_path / "copy.bin"
    encoded = generated.run("encode", "heartbeat", lines, "-o", copy)
    assert encoded.exit_code == 0, encoded.output
    assert copy.read_bytes() == stream.read_bytes()


def test_decode_reads_standard_input(generated):
    result = generated.run("decode", "heartbeat", "-", input=generated.record())
    assert json.loads(result.stdout)["urgent"] is True


@pytest.mark.parametrize(("policy", "lines"), [("raise", 1), ("stop", 1), ("skip", 2)])
def test_a_bad_record_is_reported_and_the_policy_decides_what_follows(generated, tmp_path, policy, lines):
    good, bad = generated.record(), bytearray(generated.record())
    bad[10] ^= 1
    stream = tmp_path / "stream.bin"
    stream.write_bytes(good + bytes(bad) + good)
    result = generated.run("decode", "heartbeat", stream, "--on-error", policy)
    assert result.exit_code == 1
    assert len(result.stdout.splitlines()) == lines
    assert "record 1, at byte 18" in result.stderr
    assert "bad_checksum at checksum" in result.stderr


def test_validate_counts_records_and_bad_ones(generated, tmp_path):
    stream = tmp_path / "stream.bin"
    stream.write_bytes(generated.record() + b"\xca\xfe\x00\x03")
    result = generated.run("validate", "heartbeat", stream)
    assert result.exit_code == 1
    assert "bad_length" in result.stdout
    assert "2 records, 1 bad" in result.stderr


def validated(tmp_path, format, text, *options):
    file = tmp_path / "record.json"
    file.write_text(text)
    places = ["--out", str(Path(__file__).parents[2] / "generated")]
    return CliRunner().invoke(app, ["validate", format, str(file), *options, *places])


def test_validate_judges_a_document_by_the_schema_of_its_root(tmp_path):
    key = '["shop","cart","ICEiIyQlJicoKSorLC0uLzAxMjM=",7]'
    result = validated(tmp_path, "aerospike_json", key, "--root", "key", "--framing", "none")
    assert result.exit_code == 0, result.output


def test_validate_names_the_member_at_fault(tmp_path):
    text = '{"msg":"write","key":["shop",null,"ICEiIyQlJicoKSorLC0uLzAxMjM=",7],"bins":[{"name":"n","type":"int"}]}'
    result = validated(tmp_path, "aerospike_json", text, "--framing", "none")
    assert result.exit_code == 1
    assert (
        "record.json:1:77: bins[0] (/bins/0): expected a member 'value', found no such member [required]"
        in result.output
    )
    assert "1  required" in result.output


def test_the_schema_that_judges_is_the_one_of_the_parameters(tmp_path):
    text = '{"metadata":{"namespace":"t"},"extra":1}'
    strict = validated(tmp_path, "aerospike_json", text, "--framing", "none")
    loose = validated(tmp_path, "aerospike_json", text, "--framing", "none", "-p", "unknownMembers=ignore")
    assert "extra: expected no such member" in strict.output
    assert "extra" not in loose.output
    assert loose.exit_code == strict.exit_code == 1


LINES = '{"metadata":{}}\n\n{"metadata":{"namespace":"t"},\t"metadata":[]}\n{"é":1, "x":}\n'


def test_validate_reports_lines_of_json_at_their_places_in_the_file(tmp_path):
    result = validated(tmp_path, "aerospike_json", LINES, "--report", "json")
    found = [json.loads(line) for line in result.stdout.splitlines()]
    assert [each["record"] for each in found] == sorted(each["record"] for each in found)
    last = found[-1]
    assert (last["rule"], last["line"], last["column"], last["path"], last["pointer"]) == (
        "json_syntax",
        4,
        13,
        "x",
        "/x",
    )
    assert LINES.encode()[last["offset"] :] == b"}\n"
    assert {
        "file",
        "record",
        "path",
        "pointer",
        "rule",
        "message",
        "expected",
        "actual",
        "offset",
        "line",
        "column",
    } == set(last)


@pytest.mark.parametrize("before", ["", "\n", " \n\t"])
@pytest.mark.parametrize("read", [None, 7])
def test_validate_reports_elements_of_an_array_at_their_places_in_the_file(tmp_path, monkeypatch, before, read):
    if read is not None:
        monkeypatch.setattr("wireloom.runtime.streams.elements._WINDOW", read)
    bad = ['{"é":1}', '{\n  "ü": 2, "metadata": {"namespace": "t", "x": []}}', '"ß"']
    text = f'{before}["ä", {bad[0]},\n\t{bad[1]} ,{bad[2]}, {{"metadata":}}]\n'
    result = validated(tmp_path, "aerospike_json", text, "--framing", "array", "--report", "json")
    found = [json.loads(line) for line in result.stdout.splitlines()]
    assert {each["record"] for each in found} == {0, 1, 2, 3, 4}
    assert all(each["line"] is not None for each in found)
    lines = text.split("\n")
    for each in found:
        at = text.encode()[: each["offset"]].decode()
        assert (each["line"], each["column"]) == (at.count("\n") + 1, len(at.rpartition("\n")[2]) + 1), each
    assert lines[found[-1]["line"] - 1][found[-1]["column"] - 1 :] == "}]"


def test_validate_writes_sarif_also_where_it_stops_early(tmp_path):
    result = validated(tmp_path, "aerospike_json", LINES, "--report", "sarif", "--max-errors", "2")
    assert result.exit_code == 1
    (run,) = json.loads(result.stdout)["runs"]
    assert len(run["results"]) == 2
    assert {each["ruleId"] for each in run["results"]} == {each["id"] for each in run["tool"]["driver"]["rules"]}
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert place["region"]["startLine"] == 1
    assert "stopped after 2 problems" in result.stderr


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"a":1,"a":2}', "line 1: the member 'a' appears twice in one object"),
        ('{"msg":"write","gen":%s}' % ("9" * 5000), "line 1: "),
        ('{"msg":"write","gen":1e400}', "line 1: '1e400' is beyond what a float can have"),
        ('{"msg":"write","gen":NaN}', 'line 1: NaN is not a JSON number; write it as a text, "NaN"'),
        ('{"msg":"write","gen":-Infinity}', "line 1: -Infinity is not a JSON number"),
    ],
)
def test_encode_takes_json_for_what_it_says(tmp_path, line, said):
    file = tmp_path / "lines.json"
    file.write_text(f"{line}\n")
    out = ["--out", str(Path(__file__).parents[2] / "generated"), "-o", str(tmp_path / "out")]
    result = CliRunner().invoke(app, ["encode", "aerospike_json", str(file), *out])
    assert result.exit_code == 1
    assert said in result.stderr
    assert "not JSON" not in result.stderr


@pytest.mark.integration
@pytest.mark.parametrize(
    ("arguments", "closing", "code", "said"),
    [
        (["decode", "aerospike_json", "-"], ">&-", 2, "standard output is closed; give --output FILE"),
        (["validate", "aerospike_json", "-"], ">&-", 2, "standard output is closed"),
        (["formats"], ">&-", 2, "standard output is closed"),
        (["formats"], ">/dev/full", 3, "standard output: No space left on device"),
        (["--help"], ">/dev/full", 3, "standard output: No space left on device"),
    ],
)
def test_a_closed_or_full_output_is_reported(arguments, closing, code, said):
    line = f'exec "$0" -m wireloom "$@" {closing}'
    result = subprocess.run(
        ["/bin/sh", "-c", line, sys.executable, *arguments],
        cwd=Path(__file__).parents[2], input="", capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (result.returncode, result.stderr) == (code, f"wireloom: {said}\n")


def test_validate_counts_what_it_looked_at_where_it_stops(tmp_path):
    lines = "".join(f'{{"metadata":{{}},"{name}":1}}\n' for name in "abcdef")
    result = validated(tmp_path, "aerospike_json", lines, "--max-errors", "1")
    assert "1 record, 1 bad" in result.stderr
    assert "stopped after 1 problem," in result.stderr


def test_validate_says_of_an_array_without_an_end_that_it_has_none_and_what_is_wrong_before(tmp_path):
    result = validated(tmp_path, "aerospike_json", '[{"metadata":1}', "--framing", "array", "--report", "json")
    *before, last = [json.loads(line) for line in result.stdout.splitlines()]
    assert before
    assert all(each["offset"] < last["offset"] for each in before)
    assert (last["rule"], last["offset"], last["line"], last["column"]) == ("truncated", 15, 1, 16)


def test_validate_gives_the_error_of_a_record_of_which_not_all_was_kept(tmp_path):
    text = json.dumps({"msg": "write", "key": "x" * KEPT, "unknown": 1})
    (wrong,) = aerospike_json.CODEC.iter_parse(f"{text}\n".encode(), framing="lines", on_error="skip")
    result = validated(tmp_path, "aerospike_json", f"{text}\n", "--report", "json")
    (found,) = [json.loads(line) for line in result.stdout.splitlines()]
    assert (found["rule"], found["offset"]) == (wrong.error.code, wrong.error.offset)
    assert found["rule"] != "truncated"


def test_validate_reads_no_further_than_it_must(generated, tmp_path):
    stream = tmp_path / "stream.bin"
    stream.write_bytes((generated.record()[:-1] + b"x") * 3)
    result = generated.run("validate", "heartbeat", stream, "--max-errors", "1", "--report", "json")
    assert len(result.stdout.splitlines()) == 1
    assert json.loads(result.stdout)["line"] is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["heartbaet"], "did you mean heartbeat?"),
        (["heartbeat", "-p", "x=1"], "'x' is not a parameter of heartbeat"),
        (["heartbeat", "-p", "x"], "is not NAME=VALUE"),
        (["heartbeat", "--root", "recrod"], "did you mean 'record'?"),
        (["heartbeat", "--framing", "line"], "framing must be one of none"),
        (["heartbeat", "--on-error", "ignore"], "it can be stop, skip"),
    ],
)
def test_wrong_names_get_the_nearest_right_one_and_exit_code_2(generated, arguments, message):
    format, *options = arguments
    result = generated.run("decode", format, "-", *options, input=b"")
    assert result.exit_code == 2
    assert message in result.output


def test_encode_does_not_write_into_the_file_that_it_reads(generated, tmp_path):
    lines = tmp_path / "lines.json"
    lines.write_text('{"kind": "alarm"}\n')
    (tmp_path / "link").symlink_to(lines)
    for name in ("lines.json", "link"):
        result = generated.run("encode", "heartbeat", lines, "-o", tmp_path / name)
        assert result.exit_code == 2
        assert "is the input" in result.output
    assert lines.read_text() == '{"kind": "alarm"}\n'


@pytest.mark.parametrize("line", [b"\xff", b"[" * 100_000, b"9" * 5000, b"[1,", b"null", b"5", b'"x"', b"{}"])
def test_encode_says_of_whatever_is_no_rendering_which_line_it_is(generated, tmp_path, line):
    lines = tmp_path / "lines.json"
    lines.write_bytes(b"\n" + line + b"\n")
    result = generated.run("encode", "heartbeat", lines, "-o", tmp_path / "out.bin")
    assert result.exit_code == 1
    assert "wireloom: line 2: " in result.output


def test_an_existing_output_is_unchanged_if_encoding_fails(generated, tmp_path):
    lines, target = tmp_path / "lines.json", tmp_path / "out.bin"
    target.write_bytes(b"before")
    lines.write_text('{"kind": "alarms"}\n')
    assert generated.run("encode", "heartbeat", lines, "-o", target).exit_code == 1
    assert target.read_bytes() == b"before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["build", "lines.json", "out.bin", "specs"]


@pytest.mark.parametrize("name", ["", "os", "../x", ".x", "a b", "no.such"])
def test_a_package_that_is_none_of_ours_is_no_traceback(name):
    result = CliRunner().invoke(app, ["formats", "--package", name])
    assert result.exit_code in (2, 3)
    assert "wireloom: " in result.output


def test_doctor_says_where_python_imports_another_package_of_the_name(tmp_path, monkeypatch):
    from wireloom.spark.machine import package as examined

    monkeypatch.setattr(sys, "path", [*sys.path])
    specs = tmp_path / "specs"
    CliRunner().invoke(app, ["new", "heartbeat", "--specs", str(specs)])
    CliRunner().invoke(app, ["generate", "--specs", str(specs), "--out", str(tmp_path / "out")])
    assert "but Python imports another wireloom_formats" in examined("wireloom_formats", tmp_path / "out").detail


def test_a_project_of_ones_own_has_a_package_of_its_own_that_commands_find(tmp_path, monkeypatch):
    from wireloom.spark.machine import package as examined

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    made = CliRunner().invoke(app, ["new", "project", "beat"])
    assert made.exit_code == 0, made.output
    assert "the package beat_formats" in made.output
    assert "pip install --editable ./generated" in made.output
    again = CliRunner().invoke(app, ["new", "project", "beat"])
    assert (again.exit_code, "exists; choose another name" in again.output) == (2, True)
    monkeypatch.chdir(tmp_path / "beat")
    said = ["--out", "generated"]
    for command in (["generate", "--check"], ["formats"], ["explain", "beat"], ["generate", *said], ["formats", *said]):
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 0, done.output
    assert not (tmp_path / "beat" / "generated" / "wireloom_formats").exists()
    assert "programs import it after pip install ./generated" in examined("beat_formats", Path("generated")).detail
    other = CliRunner().invoke(app, ["formats", "--package", "wireloom_formats"])
    assert "databus_event" in other.output, "a name that is given goes before"


def test_encode_says_which_line_is_wrong(generated, tmp_path):
    lines = tmp_path / "lines.json"
    lines.write_text('{"kind": "alarms"}\n')
    result = generated.run("encode", "heartbeat", lines, "-o", tmp_path / "out.bin")
    assert result.exit_code == 1
    assert "line 1: kind: expected one of " in result.output
    assert "canonical" not in result.output
    assert "Traceback" not in result.output


def test_a_record_with_a_line_feed_is_not_put_on_a_line(tmp_path):
    geo = {"name": "g", "type": "GEOJSON", "flags": 0, "value": {"str": "{\n}"}}
    key = {"namespace": "n", "digest": "AAECAwQFBgcICQoLDA0ODxAREhM="}
    lines, generated = tmp_path / "lines.json", str(Path(__file__).parents[2] / "generated")
    lines.write_text(json.dumps({"msg": "write", "key": key, "bins": [geo]}) + "\n")
    arguments = ["encode", "aerospike_json", str(lines), "--out", generated, "-o", str(tmp_path / "out")]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 1
    assert "line feed" in result.output
    assert CliRunner().invoke(app, [*arguments, "--framing", "length-prefixed"]).exit_code == 0


def test_a_missing_package_is_the_machines_problem_and_says_what_mends_it(tmp_path):
    result = CliRunner().invoke(app, ["formats", "--package", "nowhere_formats", "--out", str(tmp_path)])
    assert result.exit_code == 3
    assert "mend it with: wireloom generate" in result.output


def test_every_command_has_examples():
    for command in app.registered_commands:
        help = CliRunner().invoke(app, [command.callback.__name__, "--help"]).output
        assert "Examples:" in help


# --- the generated package -----------------------------------------------------------------------------------------


def test_a_module_is_imported_without_arrow_spark_or_the_generator(generated):
    heavy = ("google.protobuf", "jinja2", "numpy", "pandas", "pyarrow", "pydantic", "pyspark", "yaml")
    code = f"import sys, {generated.package}.heartbeat; print([name for name in {heavy} if name in sys.modules])"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(generated.out), *sys.path])}
    done = subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True)
    assert done.stdout == "[]\n"


def test_a_package_generated_for_another_contract_is_refused_with_the_remedy(generated):
    index = generated.out / generated.package / "__init__.py"
    index.write_text(index.read_text().replace(f"CONTRACT: Final = {CONTRACT}", "CONTRACT: Final = 99"))
    result = generated.run("formats")
    assert result.exit_code == 3
    assert "generated for contract 99" in result.output
    assert "mend it with: wireloom generate" in result.output


def test_the_zip_is_imported_from_where_it_lies(generated, tmp_path):
    result = generated.run("package", "--dest", tmp_path / "dist")
    assert result.exit_code == 0, result.output
    archive = next((tmp_path / "dist").glob("*.zip"))
    code = f"""
import sys
sys.path.insert(0, {str(archive)!r})
import {generated.package}.heartbeat as module, wireloom.runtime, wireloom.ingest.files.records
assert {str(archive)!r} in wireloom.runtime.__file__ and {str(archive)!r} in module.__file__
assert module.JSON_SCHEMA and module.ARROW_SCHEMA.names
print(module.parse(bytes.fromhex({generated.record().hex()!r}))["kind"])
"""
    # -S would hide site-packages; the checkout itself must not be what is imported
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    answer = subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert answer.stdout.strip() == "alarm", answer.stderr


def test_the_wheel_is_whole_and_the_same_each_time(generated, tmp_path):
    for name in ("one", "two"):
        generated.run("package", "--dest", tmp_path / name)
    first, second = (next((tmp_path / name).glob("*.whl")) for name in ("one", "two"))
    assert first.read_bytes() == second.read_bytes()
    with zipfile.ZipFile(first) as wheel:
        names = wheel.namelist()
        record = wheel.read(next(name for name in names if name.endswith("RECORD"))).decode()
    assert f"{generated.package}/py.typed" in names
    assert f"{generated.package}/heartbeat/schema.json" in names
    assert all(f"{name}," in record for name in names)


def test_earlier_bundles_of_the_same_package_are_removed_and_the_exact_one_is_named(generated, tmp_path):
    folder = tmp_path / "dist"
    folder.mkdir()
    name = generated.package
    earlier = [folder / f"{name}-1.0+0123456789ab.zip", folder / f"{name}-1.0+0123456789ab-py3-none-any.whl"]
    others = [folder / f"{name}_more-1.0+0123456789ab.zip", folder / "notes.txt"]
    for path in (*earlier, *others):
        path.write_bytes(b"old")
    result = generated.run("package", "--dest", folder)
    (made,) = folder.glob(f"{name}-*.zip")
    assert not any(path.exists() for path in earlier)
    assert all(path.exists() for path in others)
    assert all(f"removed {path}" in result.output for path in earlier)
    assert f"spark-submit --py-files {made} JOB.py" in result.output
    assert len(list(folder.glob(f"{name}-*"))) == 2
    assert "removed" not in generated.run("package", "--dest", folder).output


def test_an_error_code_that_the_format_lacks_is_refused_before_anything_starts(generated):
    places = ("--input", "in", "--output", "out")
    result = generated.run("ingest", "--format", "heartbeat", *places, "--drop", "no_data,bad_checksun")
    assert result.exit_code == 2
    assert "'bad_checksun' is not an error code of heartbeat; did you mean bad_checksum?" in result.output


def test_help_waits_for_nothing_that_it_does_not_show():
    wanted = "import sys; from wireloom.cli.app import app; app(sys.argv[1:], standalone_mode=False)"
    shown = "; print(*[each for each in ('construct', 'pyarrow', 'jinja2', 'yaml') if each in sys.modules])"
    for command in (["--help"], ["test", "--help"], ["generate", "--help"]):
        run = subprocess.run(
            [sys.executable, "-c", wanted + shown, *command], capture_output=True, text=True, check=True
        )
        assert run.stdout.splitlines()[-1] == ""


def test_the_list_of_commands_names_each_of_them():
    listed = " ".join(CliRunner().invoke(app, ["--help"]).output.split())
    for name, (_, summary) in COMMANDS.items():
        assert f"{name} {summary}" in listed
        told = CliRunner().invoke(app, [name, "--help"])
        assert told.exit_code == 0
        assert f"wireloom {name}" in told.output

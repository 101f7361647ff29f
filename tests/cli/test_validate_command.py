"""`validate` reads the same input as `ingest`, writes reports for tools, and explains problems in words."""

import bz2
import gzip
import importlib
import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from support.databus_events import noisy as record
from wireloom.cli.app import app

GENERATED = Path(__file__).parents[2] / "generated"
KEY = ["shop", "cart", "ICEiIyQlJicoKSorLC0uLzAxMjM=", 7]


def event(**changed):
    return {"msg": "write", "key": KEY, "gen": 1, "exp": 0, "lut": 0, "bins": []} | changed


BAD = event(gen="x")


def run(*arguments, input=None, out=GENERATED, package="wireloom_formats"):
    given = ["validate", *map(str, arguments), "--out", str(out), "--package", package]
    return CliRunner().invoke(app, given, input=input)


def problems(result):
    """File, line, path and pointer of each problem."""
    found = [json.loads(line) for line in result.stdout.splitlines()]
    return [(Path(each["file"]).name, each["line"], each["path"], each["pointer"]) for each in found]


@pytest.fixture
def landing(tmp_path):
    lines = f"{json.dumps(event())}\n{json.dumps(BAD)}\n".encode()
    folder = tmp_path / "landing"
    (folder / "deep").mkdir(parents=True)
    (folder / "a.jsonl").write_bytes(lines)
    (folder / "b.jsonl.gz").write_bytes(gzip.compress(lines))
    (folder / "deep" / "c.bz2").write_bytes(bz2.compress(lines))
    (folder / "_passed_over").write_bytes(b"not JSON")
    return folder


def test_folders_globs_and_compressed_files_are_read_like_files(landing):
    whole = run("aerospike_json", landing, "--report", "json")
    assert problems(whole) == [(name, 2, "gen", "/gen") for name in ("a.jsonl", "b.jsonl.gz", "c.bz2")]
    assert "6 records in 3 files, 3 bad" in whole.stderr
    assert "_passed_over" in whole.stderr
    some = run("aerospike_json", landing / "a.jsonl", landing / "*.gz", "--report", "json")
    assert [name for name, *_ in problems(some)] == ["a.jsonl", "b.jsonl.gz"]
    assert whole.exit_code == some.exit_code == 1


def test_files_of_a_folder_are_called_by_the_way_that_leads_to_them(landing, monkeypatch):
    monkeypatch.chdir(landing.parent)
    assert run("aerospike_json", "landing").stdout.startswith("landing/a.jsonl:2:")


def test_a_compressed_file_that_is_cut_off_has_one_bad_record_more(landing):
    whole = landing / "b.jsonl.gz"
    whole.write_bytes(whole.read_bytes()[:-9])
    result = run("aerospike_json", whole)
    assert result.exit_code == 1
    assert "bad_compression" in result.stdout or "compress" in result.stdout


def test_a_missing_file_is_reported(tmp_path):
    result = run("aerospike_json", tmp_path / "nothing")
    assert result.exit_code == 2
    assert f"there is no file or folder {tmp_path}/nothing" in result.stderr
    (tmp_path / "empty").mkdir()
    assert "has no files" in run("aerospike_json", tmp_path / "empty").stderr


@pytest.mark.parametrize(
    ("text", "framing", "line"),
    [
        (json.dumps([event(), BAD]), "array", 1),
        (json.dumps([event(), BAD], indent=2), "array", None),
        ("\n " + json.dumps([event(), BAD]), "array", 2),
        (json.dumps(BAD, indent=2), "none", None),
        ("\n" + json.dumps(BAD, indent=4) + "\n", "none", None),
    ],
)
def test_arrays_and_documents_of_several_lines_are_read_as_they_are(tmp_path, text, framing, line):
    file = tmp_path / "records.json"
    file.write_text(text)
    result = run("aerospike_json", file, "--report", "json")
    ((_, found, path, _),) = problems(result)
    where = len(text[: text.index('"x"')].splitlines()) if line is None else line
    assert (path, found) == ("gen", where)
    assert f"looks like {framing}: it was read with --framing {framing}" in result.stderr
    assert run("aerospike_json", file, "--framing", "lines").stdout != result.stdout


@pytest.mark.parametrize(
    "text",
    ['{"msg": \n{"msg":"write"}\n', f'{json.dumps(KEY)}\n["x"]\n', '{"x":}\n{"y":1}\n', '"a"\n"b"\n', "\n\n"],
)
def test_lines_that_are_bad_stay_lines(tmp_path, text):
    file = tmp_path / "records.json"
    file.write_text(text)
    result = run("aerospike_json", file)
    assert "it was read with" not in result.stderr


def test_damage_is_said_and_resync_goes_on_after_it(tmp_path):
    data = [bytearray(record(number)) for number in range(20)]
    data[7][2] ^= 0x41
    file = tmp_path / "events.bin"
    file.write_bytes(b"".join(data))
    size = len(data[0])
    lost = run("databus_event", file)
    assert "8 records, 1 bad" in lost.stderr
    assert f"gave up the last {13 * size} bytes, after record 6 (byte {7 * size})" in lost.stderr
    assert "--resync searches for it" in lost.stderr
    found = run("databus_event", file, "--resync")
    assert "20 records, 1 bad" in found.stderr
    assert f"gave up {size} bytes in 1 place, the first after record 6" in found.stderr


def test_annotations_are_escaped_as_github_reads_them(tmp_path):
    file = tmp_path / "a,b%c:d.jsonl"
    file.write_text(json.dumps(event(**{"x:%\n": 1})) + "\n")
    result = run("aerospike_json", file, "--report", "github")
    (line,) = result.stdout.splitlines()
    assert line.startswith(f"::error file={tmp_path}/a%2Cb%25c%3Ad.jsonl,line=1,col=")
    assert ",title=additionalProperties::x:%25%0A" in line
    events = tmp_path / "events.bin"
    events.write_bytes(b"\xff" * 70)
    (line,) = run("databus_event", events, "--report", "github").stdout.splitlines()
    assert line.startswith(f"::error file={events},title=")
    assert "::record 0, byte 0: " in line


# --- words -----------------------------------------------------------------------------------------------------------

RIGHT = {"id": "AB-1", "name": "a"}
WORDS = {
    "at": "an RFC 3339 timestamp such as 2026-01-31T12:00:00Z, with T and Z in capitals",
    "day": "a date such as 2026-01-31",
    "time": "an RFC 3339 time such as 12:00:00Z",
    "uuid": "a UUID such as 123e4567-e89b-42d3-a456-426614174000",
    "id": "text that matches the spec's pattern [A-Z]{2,3}-[0-9]+(/[0-9a-f]+)*",
}


@pytest.mark.parametrize("member", WORDS)
def test_decode_and_validate_say_in_words_what_a_text_is_to_be(case_package, tmp_path, member):
    file = tmp_path / "orders.jsonl"
    file.write_text(json.dumps(RIGHT | {member: "nonsense"}))
    out, package = Path(case_package.__file__).parent.parent, case_package.__name__
    validated = run("spellings", file, out=out, package=package)
    arguments = ["decode", "spellings", str(file), "--framing", "lines", "--out", str(out), "--package", package]
    decoded = CliRunner().invoke(app, arguments)
    message = f"expected {WORDS[member]}, found 'nonsense'"
    assert f"{member}: {message}" in validated.stdout
    assert message in decoded.stderr
    assert f"at {member}" in decoded.stderr


@pytest.mark.parametrize(
    ("digest", "words"),
    [("AAA", "canonical base64 text with padding"), ("AAAA", "20 bytes")],
)
def test_decode_and_validate_say_the_same_of_base64(tmp_path, digest, words):
    file = tmp_path / "events.jsonl"
    file.write_text(json.dumps(event(key=["shop", "cart", digest, 7])))
    validated = run("aerospike_json", file)
    decoded = CliRunner().invoke(app, ["decode", "aerospike_json", str(file), "--out", str(GENERATED)])
    assert f"expected {words}, found" in validated.stdout
    assert f"expected {words}, found" in decoded.stderr
    assert "(/key/2)" in validated.stdout


def test_every_pattern_of_a_schema_has_its_words_beside_it(case_package):
    """Messages about misspelled texts never show the pattern, which users do not understand."""

    def parts(schema):
        if isinstance(schema, dict):
            if isinstance(schema.get("pattern"), str):
                yield schema
            schema = list(schema.values())
        for each in schema if isinstance(schema, list) else ():
            yield from parts(each)

    for name in case_package.FORMATS:
        module = importlib.import_module(f"{case_package.__name__}.{name}")
        for part in parts(module.JSON_SCHEMA):
            assert part["$comment"], part
            assert "the spec's pattern" in part["$comment"] or not re.search(r"\[[^]]+\]|\(\?", part["$comment"]), part

"""`wireloom compat` as users run it: locations, reports, exit codes, accepted findings, and mistakes."""

import json
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from compat.rule_cases import CASES, binary
from wireloom import compat, pipeline
from wireloom.cli.app import app

OLD = binary("serial: uint32", "state: {type: uint8, values: {0: idle, 1: busy, 2: broken}}", "level: int16")
NEW = binary("serial: uint32", "state: {type: uint8, values: {0: idle, 1: busy}}", "level: {type: int16, as: depth}")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in (("old", OLD), ("specs", NEW)):
        Path(name).mkdir()
        Path(name, "report.yaml").write_text(text)
    return tmp_path


def run(*words):
    return CliRunner().invoke(app, ["compat", *words])


def git(*words):
    author = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *author, *words], check=True, capture_output=True)  # noqa: S607 - the git of this machine


@pytest.fixture
def repository(folder):
    """A repository whose first commit has the old spec, and whose working tree the new one."""
    Path("specs/report.yaml").write_text(OLD)
    git("init", "-q")
    git("add", "specs")
    git("commit", "-qm", "old")
    Path("specs/report.yaml").write_text(NEW)
    return folder


def test_a_finding_has_both_places_the_record_and_the_way_out(folder):
    result = run("--against", "old")
    assert result.exit_code == 1
    first = result.stdout.split("\n    way out")[0].splitlines()
    assert first[:3] == [
        "specs/report.yaml:10:9: Report.state: the value 2 (`broken`) is gone [value-removed]",
        "    before: old/report.yaml:10",
        "    old data: Data that the old spec reads goes to the quarantine.",
    ]
    assert "specs/report.yaml:11:9: level: level is called depth now [column-renamed]" in result.stdout
    assert "the change breaks something: 2 errors" in result.stderr


def test_specs_of_a_revision_are_those_of_the_folder_then(repository):
    result = run("--against", "git:HEAD")
    assert result.exit_code == 1
    assert "before: git:HEAD:specs/report.yaml:10" in result.stdout
    git("commit", "-qam", "new")
    assert run("--against", "git:HEAD").exit_code == 0
    assert run("--against", "git:HEAD~1").exit_code == 1
    (repository / "specs" / "deep").mkdir()
    assert run("--against", "git:HEAD", "--specs", str(repository / "specs")).exit_code == 0


def library(type: str) -> str:
    return (
        f"wireloom: 1\nlibrary: units\ntitle: Units\nencoding: binary\ntypes: {{Pair: {{fields: [{{a: {type}}}]}}}}\n"
    )


def test_a_format_whose_files_are_the_same_is_not_read_again(folder):
    for name in ("old", "specs"):
        Path(f"{name}/other.yaml").write_text(OLD.replace("format: report", "format: other"))
        Path(f"{name}/units.yaml").write_text(library("uint8"))
    today = pipeline.read(Path("specs"), outcomes=False)

    def again() -> list[bool]:
        with compat.against("old", Path("specs"), today) as source:
            return [any(each is one for one in today.formats) for each in source.specs.formats]

    assert sorted(again()) == [False, True]  # the report has changed
    Path("old/units.yaml").write_text(library("uint16"))
    assert again() == [False, False]


def test_nothing_breaks_where_all_formats_of_a_folder_with_a_library_are_the_same(folder):
    for name in ("old", "specs"):
        Path(f"{name}/report.yaml").write_text(OLD)
        Path(f"{name}/units.yaml").write_text(library("uint8"))
    result = run("--against", "old")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "nothing breaks: 0 errors, 0 warnings (1 format, 1 of them unchanged)" in result.stderr


def test_nothing_breaks_where_nothing_is_different(folder):
    result = run("--against", "specs")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "nothing breaks: 0 errors, 0 warnings (1 format, 1 of them unchanged)\n"


def test_the_mode_says_whose_data_is_read(folder):
    assert "value-removed" in run("--against", "old").stdout
    assert "value-removed" not in run("--against", "old", "--mode", "forward").stdout
    assert "value-added" in run("--against", "specs", "--specs", "old", "--mode", "full").stdout


def test_reports_for_programs_have_every_finding(folder):
    lines = [json.loads(line) for line in run("--against", "old", "--report", "json").stdout.splitlines()]
    found = {each["rule"]: each for each in lines}
    assert found["value-removed"]["new"] == {"file": "specs/report.yaml", "line": 10, "column": 9}
    assert bytes.fromhex(found["value-removed"]["witness"]["data"])[4] == 2
    sarif = json.loads(run("--against", "old", "--report", "sarif").stdout)
    results = sarif["runs"][0]["results"]
    assert [each["ruleId"] for each in results] == [each["rule"] for each in lines]
    assert results[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "specs/report.yaml"
    assert {each["ruleId"] for each in results} == {each["id"] for each in sarif["runs"][0]["tool"]["driver"]["rules"]}
    before = results[0]["relatedLocations"][0]["physicalLocation"]
    assert (before["artifactLocation"]["uri"], before["region"]["startLine"]) == ("old/report.yaml", 10)
    github = run("--against", "old", "--report", "github").stdout.splitlines()
    assert github[0].startswith("::error file=specs/report.yaml,line=10,col=9,title=value-removed::Report.state: ")


def test_what_is_accepted_with_a_reason_breaks_nothing(folder):
    Path("wireloom.yaml").write_text(
        "compat:\n  accept:\n"
        "    - {rule: value-removed, format: report, at: Report.state, why: It was never sent.}\n"
        "    - {rule: column-renamed, at: level, why: Nobody asks for it.}\n"
        "    - {rule: field-added, why: It was wanted once.}\n"
    )
    result = run("--against", "old")
    assert result.exit_code == 0
    assert "2 accepted" in result.stderr
    assert "wireloom.yaml:5:7: no finding field-added to accept; remove the entry" in result.stderr


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("compat: {accept: [{rule: column-renamed}]}", "it lacks `why`"),
        ("compat: {accept: [{rule: column-rename, why: x}]}", "did you mean column-renamed?"),
        ("compat: {accept: {rule: column-renamed}}", "accept is a list"),
        ("compat: {accept: [{rule: column-renamed, who: x, why: x}]}", "there is no key who"),
        ("compact: {}", "there is no key compact; did you mean compat?"),
        ("compat: [", "wireloom.yaml:1:"),
    ],
)
def test_a_mistake_in_what_is_accepted_is_one_of_the_call(folder, text, told):
    Path("wireloom.yaml").write_text(text)
    result = run("--against", "old")
    assert result.exit_code == 2
    assert told in result.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--against", "git:HEAD~9"], "has no revision HEAD~9"),
        (["--against", "git:"], "it has no revision"),
        (["--against", "git:--all"], "has no revision --all"),
        (["--against", "elsewhere"], "--against elsewhere: it is not there"),
        (["--against", "specs/report.yaml"], "it is not a folder"),
        (["--against", "empty"], "no specs of formats are there"),
        (["--against", "broken"], "this wireloom refuses the old specs (1 problem): broken/report.yaml:4"),
        (["--against", "git:HEAD", "--specs", "other"], "HEAD has no folder other"),
        (["--against", "old", "--specs", "nowhere"], "there is no folder nowhere"),
        (["--against", "old", "reports"], "'reports' is not a format; did you mean report?"),
        (["--against", "old", "--mode", "both"], "--mode both"),
        (["--against", "old", "--report", "xml"], "--report xml"),
    ],
)
def test_a_mistake_on_the_command_line_is_one_line(repository, words, told):
    for name in ("empty", "broken", "other"):
        Path(name).mkdir()
    Path("broken/report.yaml").write_text(OLD.replace("binary", "bynary"))
    Path("other/report.yaml").write_text(NEW)
    result = run(*words)
    assert result.exit_code == 2
    assert told in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_folder_in_no_repository_has_no_revisions(folder):
    result = run("--against", "git:HEAD")
    assert result.exit_code == 2
    assert "specs is in no git repository" in result.stderr


def test_findings_are_the_same_each_time(folder):
    Path("old/report.yaml").write_text(CASES["checksum-changed"].old)
    Path("specs/report.yaml").write_text(CASES["checksum-changed"].new)
    assert len({run("--against", "old", "--report", "json").stdout for _ in range(2)}) == 1

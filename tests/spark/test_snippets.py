"""Every snippet of README and docs runs, in the order of its page.

A page runs in a folder of its own, with `samples/` and `specs/` in it: `sh` in a shell with the command `wireloom`,
`python` in one namespace with the session `spark`, `sql` on the view `messages`. A `yaml` snippet is written to the
file that the comment before it names. A comment `<!-- not run: WHY -->` before a snippet skips it.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from conftest import ROOT, SPECS

pytestmark = pytest.mark.integration

OTHERS = {"decisions", "formats", "language"}  # the first two show no commands, the third has tests of its own
ELSEWHERE = {"own-format", "language"}  # tests/cli/test_commands.py puts the first together; the second shows parts
PAGES = (
    ROOT / "README.md",
    *(
        page
        for page in sorted((ROOT / "docs").rglob("*.md"))
        if page.parent.name not in OTHERS and page.stem not in ELSEWHERE
    ),
)
SNIPPET = re.compile(
    r"^(?:<!-- (?P<comment>[^\n]*?) -->\n\n?)?```(?P<language>sh|python|sql|yaml)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
MINUTES = 10  # on a machine that does much else
SLOW = ("canonical-json", "converting", "ingest", "spark-source", "streaming")  # of dozens of commands, as README


@dataclass(frozen=True)
class Snippet:
    """A block of a page, its line, and the text of the comment before it."""

    line: int
    comment: str
    language: str
    text: str


def snippets(page: Path) -> list[Snippet]:
    text = page.read_text(encoding="utf-8")
    return [
        Snippet(text.count("\n", 0, found.start()) + 1, found["comment"] or "", found["language"], found["text"])
        for found in SNIPPET.finditer(text)
    ]


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=pytest.mark.thorough if page.stem in SLOW else (), id=page.stem)
        for page in PAGES
        if snippets(page)
    ],
)
def test_the_snippets_of_a_page_run(page: Path, tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch):
    place = tmp_path / page.stem
    shutil.copytree(ROOT / "samples", place / "samples")
    shutil.copytree(SPECS, place / "specs")
    monkeypatch.chdir(place)
    names: dict[str, object] = {"spark": spark, "__name__": "snippet"}
    for snippet in snippets(page):
        if snippet.comment.startswith("not run: "):
            continue
        match snippet.language:
            case "sh":
                run_shell(snippet, place)
            case "python":
                code = compile("\n" * snippet.line + located(snippet.text, place), str(page), "exec")
                exec(code, names)  # noqa: S102 - what the page shows
            case "sql":
                for statement in filter(str.strip, snippet.text.split(";")):
                    spark.sql(statement).collect()
            case "yaml":
                insert(snippet, place)
    for query in spark.streams.active:
        query.stop()


def run_shell(snippet: Snippet, place: Path) -> None:
    """Fail with the output of the commands; commands that should fail end in `|| true` or check their exit code."""
    command = f"{shlex.quote(sys.executable)} -m wireloom"
    script = f'set -euo pipefail\nwireloom() {{ {command} "$@"; }}\n{snippet.text.replace(".venv/bin/", "")}'
    folders = os.pathsep.join(str(ROOT / folder) for folder in ("generator", "generated"))
    done = subprocess.run(
        ["bash", "-c", script],  # noqa: S607 - a reader's shell
        cwd=place,
        env={**os.environ, "PYTHONPATH": folders},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60 * MINUTES,
        check=False,
    )
    assert done.returncode in wanted(snippet), f"line {snippet.line}:\n{snippet.text}\n{done.stderr.decode()}"


def wanted(snippet: Snippet) -> set[int]:
    """The exit code that the page promises: 0, or that of a comment `exit code N`."""
    found = re.search(r"# exit code (\d+)", snippet.text)
    return {int(found[1]) if found else 0}


def located(text: str, place: Path) -> str:
    """Spark's Java has a folder of its own: its relative paths are made absolute."""
    return re.sub(r'"((?:samples|tables|checkpoint|out)/[^"]*)"', lambda found: repr(str(place / found[1])), text)


def insert(snippet: Snippet, place: Path) -> None:
    """Insert lines into a file after the line that the comment before them names."""
    found = re.fullmatch(r"into (\S+) after (.+)", snippet.comment)
    assert found, f"line {snippet.line}: needs a comment `<!-- into FILE after LINE -->`, or `<!-- not run: ... -->`"
    path = place / found[1]
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    (at,) = (number for number, line in enumerate(lines) if line.strip().startswith(found[2]))
    path.write_text("".join([*lines[: at + 1], snippet.text, *lines[at + 1 :]]), encoding="utf-8")


def test_a_snippet_that_does_not_run_says_why():
    marks = [each.comment for page in PAGES for each in snippets(page) if each.comment.startswith("not run")]
    assert marks
    assert all(re.fullmatch(r"not run: \w.{8,}", mark) for mark in marks)

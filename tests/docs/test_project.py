"""The commands of the project match the documentation."""

import ast
import re
import subprocess
import sys
import tomllib

import pytest

from conftest import ROOT, SPECS

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
TEST_COMMAND = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()[-1]


def test_continuous_integration_runs_the_readme_s_test_command():
    assert TEST_COMMAND in (ROOT / "README.md").read_text(encoding="utf-8").splitlines()


def test_every_session_is_documented():
    tree = ast.parse((ROOT / "noxfile.py").read_text(encoding="utf-8"))
    sessions = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.decorator_list]
    assert all(ast.get_docstring(node) for node in sessions)
    table = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("| session |")[2].partition("\n\n")[0]
    assert sorted(re.findall(r"^\| `(\w+)`", table, re.MULTILINE)) == sorted(node.name for node in sessions)


def test_every_shipped_format_stands_in_the_readme():
    table = (ROOT / "README.md").read_text(encoding="utf-8").partition("## Formats")[2].partition("\n## ")[0]
    specs = (path.stem for path in SPECS.glob("*/*.yaml") if not path.stem.endswith(".schema"))
    assert sorted(re.findall(r"^\| `(\w+)`", table, re.MULTILINE)) == sorted(specs)


def test_every_folder_of_the_generator_has_its_way():
    table = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("| folder |")[2].partition("\n\n")[0]
    first = " ".join(row.split("|")[1] for row in table.splitlines() if row.startswith("| `"))
    folders = {path.parent.name for path in (ROOT / "generator" / "wireloom").glob("*/__init__.py")}
    assert folders <= {word.rpartition("/")[2] for word in re.findall(r"`([\w/]+)`", first)}


def test_executors_need_none_of_the_author_s_libraries():
    base = " ".join(PYPROJECT["project"]["dependencies"])
    assert not [name for name in ("jinja2", "pyyaml", "pydantic", "typer", "rich", "pyspark") if name in base]


@pytest.mark.integration
def test_the_command_line_starts_as_a_module():
    done = subprocess.run(
        [sys.executable, "-m", "wireloom", "--version"],
        env={"PYTHONPATH": str(ROOT / "generator")},
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout.startswith("wireloom ")


def test_every_ignored_rule_has_its_reason():
    inside = False
    for line in (ROOT / "pyproject.toml").read_text(encoding="utf-8").splitlines():
        inside = (inside or line.startswith("ignore = [") or "** = [" in line) and line != "]"
        if inside and line.startswith("    "):
            assert "# " in line, line

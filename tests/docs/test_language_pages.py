"""Each example in the guide and the recipes of the language is generated and run against its bytes."""

import importlib
import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from conftest import ROOT
from wireloom.cli.app import app

LANGUAGE = ROOT / "docs" / "language"
BLOCK = re.compile(r"```yaml\n(.*?)```", re.DOTALL)
TYPE = re.compile(r"^types:\n  (\w+)", re.MULTILINE)
MOST_WORDS = 5000  # half an hour's reading


def specs(page: Path) -> dict[str, str]:
    """The specs of a page by format. A block without a head gets one: its first type is the root."""
    blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
    return dict(_whole(f"{page.stem}_{number}", block) for number, block in enumerate(blocks, 1))


def _whole(name: str, block: str) -> tuple[str, str]:
    if "\nformat: " in block:
        return re.search(r"^format: (\w+)$", block, re.MULTILINE)[1], block
    encoding = "" if block.startswith("encoding: ") else "encoding: binary\n"
    root = "" if re.search(r"^roots?:", block, re.MULTILINE) else f"root: {TYPE.search(block)[1]}\n"
    return name, f"wireloom: 1\nformat: {name}\ntitle: An example\n{encoding}{root}{block}"


@pytest.mark.parametrize("page", ["guide", "recipes"])
def test_the_examples_of_a_page_hold(page, tmp_path):
    found = specs(LANGUAGE / f"{page}.md")
    assert len(found) > 10
    for name, text in found.items():
        assert "\nexamples:\n" in text, name
        (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8")
    places = ("--specs", str(tmp_path), "--out", str(tmp_path / "out"), "--package", f"{page}_examples")
    done = CliRunner().invoke(app, ["generate", "--strict", *places])
    assert done.exit_code == 0, done.stderr


REFUSED = re.findall(
    r"\(`([a-z-]+)`\):\n\n```yaml\n(.*?)```", (LANGUAGE / "limits.md").read_text(encoding="utf-8"), re.DOTALL
)


@pytest.mark.parametrize(("diagnostic", "block"), REFUSED, ids=[diagnostic for diagnostic, _ in REFUSED])
def test_what_the_language_cannot_say_is_refused(diagnostic, block, tmp_path):
    name, text = _whole("limit", block)
    (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8")
    done = CliRunner().invoke(app, ["test", "--specs", str(tmp_path), "--out", str(tmp_path / "out")])
    assert done.exit_code == 1
    assert f"[{diagnostic} at " in done.output, done.output


def test_the_commands_of_the_guide_print_what_it_shows(tmp_path):
    page = (LANGUAGE / "guide.md").read_text(encoding="utf-8")
    (tmp_path / "beat.yaml").write_text(specs(LANGUAGE / "guide.md")["beat"], encoding="utf-8")
    home = ("--out", str(tmp_path / "out"), "--package", "guide_beat")
    assert CliRunner().invoke(app, ["generate", "--specs", str(tmp_path), *home]).exit_code == 0
    data = bytes.fromhex(re.search(r"printf '([0-9a-f ]+)'", page)[1])
    done = CliRunner().invoke(app, ["decode", "beat", "-", *home], input=data)
    assert done.stdout == re.search(r"```json\n(.*?)```", page, re.DOTALL)[1]


def test_the_guide_is_read_in_half_an_hour():
    assert len((LANGUAGE / "guide.md").read_text(encoding="utf-8").split()) <= MOST_WORDS


def test_each_type_has_the_columns_that_the_reference_says(tmp_path, monkeypatch):
    page = (ROOT / "docs" / "reference" / "language.md").read_text(encoding="utf-8")
    table = page.partition("| type on the wire | Arrow |")[2].partition("\n\n")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]
    said = [(word, cells[1].strip("`"), cells[2]) for cells in rows for word in re.findall(r"`([^`]+)`", cells[0])]
    fields = [{f"f{number}": {"type": word}} for number, (word, *_) in enumerate(said) if word != "bit"]
    fields += [{f"b{number}": {"type": "bit"}} for number in range(8)]  # they fill a byte
    _, text = _whole("columns", f"root: R\ntypes: {json.dumps({'R': {'fields': fields}})}\n")
    (tmp_path / "columns.yaml").write_text(text, encoding="utf-8")
    home = ("--specs", str(tmp_path), "--out", str(tmp_path / "out"), "--package", "columns_of_types")
    assert CliRunner().invoke(app, ["generate", *home]).exit_code == 0
    monkeypatch.syspath_prepend(tmp_path / "out")
    columns = importlib.import_module("columns_of_types.columns.columns").SCHEMAS["record"]
    spark = importlib.import_module("columns_of_types.columns.spark").struct_type()
    names = ["b0" if word == "bit" else f"f{number}" for number, (word, *_) in enumerate(said)]
    made = [
        (word, str(columns.field(name).type), spark[name].dataType.simpleString().upper())
        for name, (word, *_) in zip(names, said, strict=True)
    ]
    assert made == said

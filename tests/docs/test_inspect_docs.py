"""docs/howto/inspect.md shows the real output of the commands, and its program runs."""

import re

import pytest
from typer.testing import CliRunner

from conftest import GENERATED, ROOT
from wireloom.cli.app import app

PAGE = (ROOT / "docs" / "howto" / "inspect.md").read_text(encoding="utf-8")
SHOWN = re.findall(r"```console\n\$ wireloom (.*)\n((?:.*\n)*?)```", PAGE)


@pytest.mark.parametrize(("command", "lines"), SHOWN, ids=[command for command, _ in SHOWN])
def test_what_is_shown_is_what_is_printed(command, lines, monkeypatch):
    monkeypatch.chdir(ROOT)
    result = CliRunner().invoke(app, [*command.split(), "--out", str(GENERATED)])
    assert [line.rstrip() for line in result.stdout.splitlines()] == lines.splitlines()


def test_the_page_shows_commands():
    assert len(SHOWN) >= 3


def test_the_program_runs(capsys):
    for program in re.findall(r"```python\n((?:.*\n)*?)```", PAGE):
        exec(program, {})  # noqa: S102 - the page's own
    assert "bad_protocol" in capsys.readouterr().out

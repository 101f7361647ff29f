"""`generate --watch` ends a run when a save makes it outdated, and shows none of its output."""

import os
import signal
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
import watchfiles
from typer.testing import CliRunner

from wireloom import tree
from wireloom.cli.app import app
from wireloom.cli.commands.specs import generate
from wireloom.cli.terminal.background import Attempt
from wireloom.project import Project

PATIENCE = 60.0


def unfinished(begun: str, file: Path) -> None:
    """Print, begin to write a file, signal that through a pipe, and never end."""
    sys.stdout.write("stale")

    class Text(str):
        __slots__ = ()

        def encode(self, *_: str) -> bytes:  # type: ignore[override]
            Path(begun).write_text("begun")
            while True:
                signal.pause()

    tree.write(file, Text())


def test_a_run_that_is_ended_shows_nothing_and_leaves_files_as_they_were(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "out").mkdir()
    file = tmp_path / "out" / "module.py"
    file.write_text("before")
    attempt = Attempt(partial(unfinished, str(tmp_path / "pipe"), file), "working")
    assert (tmp_path / "pipe").read_text() == "begun"
    attempt.show()
    attempt.end()
    attempt.show()
    assert attempt.process.exitcode == 0
    assert capsys.readouterr() == ("", "")
    assert [path.name for path in file.parent.iterdir()] == ["module.py"]
    assert file.read_text() == "before"


def test_a_run_that_is_done_shows_what_it_printed_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    specs = tmp_path / "specs"
    assert CliRunner().invoke(app, ["new", "heartbeat", "--specs", str(specs)]).exit_code == 0
    work = partial(generate._attempt, Project(specs, tmp_path / "out"), examples=True)
    attempt = Attempt(work, "working")
    assert attempt.printed.poll(PATIENCE)
    attempt.show()
    attempt.show()
    attempt.end()
    shown = capsys.readouterr()
    assert shown.out.count("written, 0 removed") == 1
    assert shown.err.count("2 examples, all hold") == 1
    (specs / "more.yaml").write_text("wireloom: 1\n")
    attempt = Attempt(work, "working")
    assert attempt.printed.poll(PATIENCE)
    attempt.show()
    assert "more.yaml" in capsys.readouterr().err


def test_a_save_ends_the_run_before_and_begins_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []

    class Told:
        def __init__(self, *_: object) -> None:
            done.append("begin")

        def show(self) -> None:
            done.append("show")

        def end(self) -> None:
            done.append("end")

    def saves(*_: object, **__: object) -> Iterator[set[tuple[watchfiles.Change, str]]]:
        for saved in (False, False, True, True, False):
            yield {(watchfiles.Change.modified, "heartbeat.yaml")} if saved else set()

    monkeypatch.setattr(watchfiles, "watch", saves)
    monkeypatch.setattr("wireloom.cli.terminal.background.Attempt", Told)
    generate._watch(Project(tmp_path), examples=False)
    assert done == ["begin", "show", "show", "end", "begin", "show", "end", "begin", "show", "show", "end"]

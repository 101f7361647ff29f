"""`generate` shows progress on a terminal for each part of the work that may take long."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner

from wireloom import pipeline
from wireloom.cli.app import app
from wireloom.cli.commands.specs import generate
from wireloom.cli.terminal import console


@pytest.mark.parametrize(("options", "parts"), [((), ("read", "generate")), (("--check",), ("read", "check"))])
def test_the_parts_of_generate_are_done_while_progress_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], parts: tuple[str, ...]
) -> None:
    shown: list[str] = []
    done: dict[str, str] = {}

    @contextmanager
    def waiting(text: str) -> Iterator[None]:
        shown.append(text)
        yield
        shown.pop()

    def watched(part: str) -> None:
        work = getattr(pipeline, part)

        def working(*arguments: object) -> object:
            done[part] = shown[-1]
            return work(*arguments)

        monkeypatch.setattr(pipeline, part, working)

    specs = tmp_path / "specs"
    places = ["--specs", str(specs), "--out", str(tmp_path / "out")]
    assert CliRunner().invoke(app, ["new", "heartbeat", "--specs", str(specs)]).exit_code == 0
    assert CliRunner().invoke(app, ["generate", *places]).exit_code == 0
    monkeypatch.setattr(generate, "waiting", waiting)
    for part in (*parts, "try_examples"):
        watched(part)
    assert CliRunner().invoke(app, ["generate", *options, *places]).exit_code == 0
    assert done == dict.fromkeys(parts, f"generating from {specs}") | {"try_examples": "running the examples"}


def test_nothing_is_shown_in_a_pipe(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "PATIENCE", 0.0)
    with console.waiting("generating"):
        pass
    assert capsys.readouterr() == ("", "")

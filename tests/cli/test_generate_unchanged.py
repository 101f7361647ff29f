"""`generate` does nothing if specs, tool and files are unchanged, repeats its output, and notices each change."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from wireloom import outcomes, pipeline
from wireloom.cli.app import app
from wireloom.runtime.engine import available


@dataclass
class Work:
    """A folder of one spec, generated with a page, and how often specs were read since."""

    home: Path
    read: list[Path] = field(default_factory=list)

    @property
    def spec(self) -> Path:
        """The spec."""
        return self.home / "specs" / "heartbeat" / "heartbeat.yaml"

    @property
    def module(self) -> Path:
        """The generated module."""
        return self.home / "out" / "kept_formats" / "heartbeat"

    def generate(self, *options: str) -> Result:
        """Generate."""
        places = ["--specs", str(self.home / "specs"), "--out", str(self.home / "out"), "--package", "kept_formats"]
        return CliRunner().invoke(app, ["generate", *places, "--docs", str(self.home / "docs"), *options])

    def replace(self, old: str, new: str) -> None:
        """Change the spec."""
        text = self.spec.read_text(encoding="utf-8")
        assert old in text
        self.spec.write_text(text.replace(old, new, 1), encoding="utf-8")


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Work:
    monkeypatch.setenv("WIRELOOM_CACHE", str(tmp_path / "cache"))
    assert CliRunner().invoke(app, ["new", "heartbeat", "--specs", str(tmp_path / "specs")]).exit_code == 0
    made = Work(tmp_path)
    assert made.generate().exit_code == 0
    read = pipeline.read
    monkeypatch.setattr(pipeline, "read", lambda specs: made.read.append(specs) or read(specs))
    return made


def test_a_second_run_reads_no_spec_and_says_the_same(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    kept, checked, without = work.generate(), work.generate("--check"), work.generate("--no-examples")
    assert work.read == []
    monkeypatch.setenv("WIRELOOM_CACHE", str(work.home / "empty"))
    for before, options in ((kept, ()), (checked, ("--check",)), (without, ("--no-examples",))):
        monkeypatch.setenv("WIRELOOM_CACHE", str(work.home / f"empty{options}"))
        again = work.generate(*options)
        assert (again.stdout, again.stderr, again.exit_code) == (before.stdout, before.stderr, 0)
    assert len(work.read) == 3
    assert "2 examples, all hold" in kept.stderr
    assert "examples" not in without.output


def test_notes_are_repeated_if_nothing_changed(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "large_formats", lambda _: ["depths cost much"])
    work.replace("title: ", "title: Other ")
    first, second = work.generate(), work.generate()
    assert len(work.read) == 1
    assert "depths cost much" in first.stderr
    assert second.stderr == first.stderr


def test_only_formats_that_are_new_are_asked_what_they_run_on(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    if not available():
        pytest.skip("no engine is compiled here")
    asked: list[object] = []
    monkeypatch.setattr(pipeline, "slow", lambda codec: asked.append(codec) or "for a reason")
    other = work.spec.read_text(encoding="utf-8").replace("format: heartbeat", "format: other")
    (work.home / "specs" / "other.yaml").write_text(other, encoding="utf-8")
    for _ in range(2):
        specs = pipeline.read(work.home / "specs")
        assert pipeline.slow_paths(specs) == {"other": "for a reason"}
    assert len(asked) == 1


def copied(work: Work) -> None:
    (work.module.parent / "other").mkdir()
    (work.module.parent / "other" / "__init__.py").write_bytes((work.module / "__init__.py").read_bytes())


DIFFERENCES: dict[str, tuple[Callable[[Work], object], str]] = {
    "a generated file is other": (
        lambda work: (work.module / "shape.py").write_text("x = 1\n"),
        "1 written, 0 removed",
    ),
    "a generated file is gone": (lambda work: (work.module / "schema.json").unlink(), "1 written, 0 removed"),
    "a file that all share is gone": (lambda work: (work.module.parent / "py.typed").unlink(), "1 written"),
    "a page is other": (lambda work: (work.home / "docs" / "heartbeat.md").unlink(), "1 written"),
    "the schema of the language is gone": (
        lambda work: (work.home / "specs" / "wireloom.schema.json").unlink(),
        "1 written",
    ),
    "a module has no spec": (copied, "1 removed"),
    "the spec is other": (lambda work: work.replace("title: ", "title: Other "), "written"),
    "one more spec has a mistake": (
        lambda work: (work.home / "specs" / "more.yaml").write_text("wireloom: 1\n"),
        "more.yaml",
    ),
    "an example is false": (lambda work: work.replace("battery: 12", "battery: 13"), "do not hold|does not hold"),
}


@pytest.mark.parametrize(("differ", "said"), DIFFERENCES.values(), ids=DIFFERENCES)
def test_each_difference_is_noticed(work: Work, differ: Callable[[Work], object], said: str) -> None:
    differ(work)
    result = work.generate("--remove")
    assert len(work.read) == 1
    assert any(each in result.output for each in said.split("|")), result.output


def test_a_change_of_the_tool_or_of_a_place_is_noticed(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    assert " 0 unchanged" not in work.generate("--docs", str(work.home / "more")).output
    assert len(work.read) == 1
    monkeypatch.setattr(outcomes, "_tool", lambda: "another")
    work.generate()
    assert len(work.read) == 2


def test_examples_that_do_not_hold_are_run_each_time(work: Work) -> None:
    work.replace("battery: 12", "battery: 13")
    assert [work.generate().exit_code for _ in range(2)] == [1, 1]
    assert len(work.read) == 2


def test_nothing_is_kept_of_specs_that_were_saved_meanwhile(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    tried = pipeline.try_examples

    def saving(specs: pipeline.Specs) -> object:
        work.replace("title: Third", "title: Fourth")
        return tried(specs)

    work.replace("title: ", "title: Third ")
    monkeypatch.setattr(pipeline, "try_examples", saving)
    work.generate()
    work.replace("title: Fourth", "title: Third")
    monkeypatch.setattr(pipeline, "try_examples", tried)
    work.generate()
    assert len(work.read) == 2

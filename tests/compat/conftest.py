"""Old and new specs in folders, and their generated modules."""

import tempfile
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

from compat.rule_cases import Case
from wireloom import compat, pipeline
from wireloom.examples import opened


@pytest.fixture
def folders(tmp_path):
    """A function that writes the specs of a case; returns the folders."""
    return lambda case: _written(case, tmp_path)


@cache
def findings(case: Case):
    """The findings of a case."""
    with tempfile.TemporaryDirectory() as folder:
        old, new = _written(case, Path(folder))
        today = pipeline.read(new, outcomes=False)
        with compat.against(str(old), new, today) as source:
            return compat.compare(source, compat.Source(today, str(new), str(new)), [], case.mode).findings


def _written(case: Case, below: Path) -> tuple[Path, Path]:
    for name, text in (("old", case.old), ("new", case.new)):
        (below / name).mkdir()
        (below / name / "report.yaml").write_text(text)
    return below / "old", below / "new"


@pytest.fixture
def compared(folders):
    """The findings of a case, whose specs are also written to folders."""

    def found(case: Case):
        folders(case)
        return findings(case)

    return found


@pytest.fixture
def modules(tmp_path):
    """The generated modules of the two folders."""
    with ExitStack() as stack:

        def made() -> tuple[ModuleType, ModuleType]:
            texts = {
                name: next(iter(pipeline.read(tmp_path / name, outcomes=False).modules.values()))
                for name in ("old", "new")
            }
            found = stack.enter_context(opened(texts))
            return found["old"], found["new"]

        yield made

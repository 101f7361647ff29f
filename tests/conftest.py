"""Fixtures and settings of all tests: paths, the formats as values, and generated packages.

Tests import the generator only if they need it, so that tests of the runtime need the runtime alone.
"""

import fcntl
import gc
import importlib
import os
import shutil
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

if TYPE_CHECKING:
    from xdist.scheduler import LoadFileScheduling

    from support.browsing import Tabs
    from wireloom.model.format import Format
    from wireloom.pipeline import Specs
    from wireloom.project import Project

ROOT = Path(__file__).resolve().parent.parent
SPECS = ROOT / "specs"
GENERATED = ROOT / "generated"
CASES = ROOT / "tests" / "cases"
CASE_PACKAGE = "wireloom_cases"
SLOW = ("integration", "spark")  # folders, the slowest first

settings.register_profile("fixed", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None)
settings.load_profile("fixed")  # the same examples in every run of one commit
_constants_of_modules = getattr(providers, "_get_local_constants", Constants)


def _constants() -> Constants:
    """No constants under the fixed profile: they would depend on the modules that earlier tests imported."""
    profile = settings.default
    return Constants() if profile and profile.derandomize else _constants_of_modules()


providers._get_local_constants = _constants  # Hypothesis has no setting for it


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--update-expected`: overwrite expected files with generated ones, to be reviewed before the commit."""
    parser.addoption(
        "--update-expected", action="store_true", help="write tests/cases/*/expected from what is generated"
    )


def pytest_configure() -> None:
    """Disable the cache of results, so that examples always run: its path is below a file, so nothing can be stored.

    Also disable Java's second compiler, which does not pay off for Spark processes that live for seconds.
    """
    os.environ["WIRELOOM_CACHE"] = os.devnull
    os.environ.setdefault("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> "LoadFileScheduling | None":
    """With `--dist loadfile`, one process gets all of tests/spark: its files share a session."""
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return "tests/spark" if nodeid.startswith("tests/spark/") else super()._split_scope(nodeid)

    return Scheduling(config, log)


def pytest_collection_finish() -> None:
    """Exclude the collected tests from garbage collection, since they live until the end."""
    gc.freeze()
    gc.set_threshold(5_000, 20)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the slowest tests first, so that parallel processes finish together."""
    items.sort(key=_turn)


def _turn(item: pytest.Item) -> int:
    folder = item.path.parent.name
    if folder in SLOW:
        return SLOW.index(folder)
    return len(SLOW) + (item.get_closest_marker("drawing") is None)


@pytest.fixture(scope="session")
def vectors() -> Path:
    """The folder of conformance vectors; tests that need it are skipped if it is missing."""
    folder = Path(os.environ.get("WIRELOOM_VECTORS") or ROOT.parent / "shared" / "vectors")
    if not folder.is_dir():
        pytest.skip(f"no conformance vectors: {folder} is not there; WIRELOOM_VECTORS names another folder")
    return folder


@pytest.fixture(scope="session")
def browser() -> Iterator[object]:
    """A headless Chromium, for the tests of pages in this process."""
    from support.browsing import launched

    with launched() as running:
        yield running


@pytest.fixture
def tabs(browser: object) -> Iterator["Tabs"]:
    """Opens pages in browser tabs; at the end, fails if a page wrote to its console."""
    from support.browsing import Tabs

    opened = Tabs(browser)
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def generated_cases(tmp_path_factory: pytest.TempPathFactory) -> "Project":
    """The project of all specs below tests/cases, generated once for all parallel processes."""
    from wireloom import pipeline

    home = tmp_path_factory.getbasetemp()
    home = home.parent if "PYTEST_XDIST_WORKER" in os.environ else home
    with (home / "cases.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        project = case_project(home / "cases")
        if not project.out.exists():
            assert pipeline.generate(project, specs_below(CASES)).any
    return project


@pytest.fixture(scope="session")
def case_package(generated_cases: "Project") -> Iterator[ModuleType]:
    """The package of that project, importable during the session."""
    sys.path.insert(0, str(generated_cases.out))
    yield importlib.import_module(CASE_PACKAGE)
    sys.path.remove(str(generated_cases.out))


def case_project(folder: Path) -> "Project":
    """A project in the folder with only the specs below tests/cases."""
    from wireloom.project import Project

    specs = folder / "specs"
    for path in sorted(CASES.rglob("*.yaml")):
        target = specs / path.relative_to(CASES)
        if not target.exists():  # otherwise another process may be reading it
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
    return Project(specs, folder / "generated", CASE_PACKAGE)


@cache
def specs_below(folder: Path) -> "Specs":
    """The specs below a folder that no test changes, read once per session."""
    from wireloom import pipeline

    return pipeline.read(folder)


def shipped_formats() -> "tuple[Format, ...]":
    """The formats of specs/."""
    return specs_below(SPECS).formats


def case_formats() -> "tuple[Format, ...]":
    """The formats of tests/cases/."""
    return specs_below(CASES).formats

"""What tests share: where things are, the formats as values, and generated packages.

The generator is imported where a test asks for it, so that tests of the runtime need the runtime alone.
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
settings.load_profile("fixed")  # whether a commit passes follows from the commit alone
_constants_of_modules = getattr(providers, "_get_local_constants", Constants)


def _constants() -> Constants:
    """No constants under the fixed profile: they come from the modules that the tests before have imported."""
    profile = settings.default
    return Constants() if profile and profile.derandomize else _constants_of_modules()


providers._get_local_constants = _constants  # Hypothesis has no setting for it


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--update-expected`: what is generated becomes what is expected, to be looked at before it is committed."""
    parser.addoption(
        "--update-expected", action="store_true", help="write tests/cases/*/expected from what is generated"
    )


def pytest_configure() -> None:
    """Examples are run, whatever held before: a cache below a file that is no folder keeps nothing.

    Spark's Java processes live for seconds here, which its second compiler would spend on what is never run again.
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
    """What was collected lives to the end: the collector of garbage need not look through it again and again."""
    gc.freeze()
    gc.set_threshold(5_000, 20)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes minutes begins first, so that processes that share the tests end together."""
    items.sort(key=_turn)


def _turn(item: pytest.Item) -> int:
    folder = item.path.parent.name
    if folder in SLOW:
        return SLOW.index(folder)
    return len(SLOW) + (item.get_closest_marker("drawing") is None)


@pytest.fixture(scope="session")
def vectors() -> Path:
    """The folder of conformance vectors; tests that need it are skipped where it is absent."""
    folder = Path(os.environ.get("WIRELOOM_VECTORS") or ROOT.parent / "shared" / "vectors")
    if not folder.is_dir():
        pytest.skip(f"no conformance vectors: {folder} is not there; WIRELOOM_VECTORS names another folder")
    return folder


@pytest.fixture(scope="session")
def browser() -> Iterator[object]:
    """A headless Chromium, for the tests of pages of this process."""
    from support.browsing import launched

    with launched() as running:
        yield running


@pytest.fixture
def tabs(browser: object) -> Iterator["Tabs"]:
    """Opens pages in tabs of the browser; at the end none may have said anything on its console."""
    from support.browsing import Tabs

    opened = Tabs(browser)
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def generated_cases(tmp_path_factory: pytest.TempPathFactory) -> "Project":
    """The project of every spec below tests/cases, generated once for all processes that share the tests."""
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
    """The package of that project, importable for the session."""
    sys.path.insert(0, str(generated_cases.out))
    yield importlib.import_module(CASE_PACKAGE)
    sys.path.remove(str(generated_cases.out))


def case_project(folder: Path) -> "Project":
    """A project in the folder, of the specs below tests/cases alone."""
    from wireloom.project import Project

    specs = folder / "specs"
    for path in sorted(CASES.rglob("*.yaml")):
        target = specs / path.relative_to(CASES)
        if not target.exists():  # else another process may read it now
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
    return Project(specs, folder / "generated", CASE_PACKAGE)


@cache
def specs_below(folder: Path) -> "Specs":
    """The specs below a folder that no test changes, read once for the session."""
    from wireloom import pipeline

    return pipeline.read(folder)


def shipped_formats() -> "tuple[Format, ...]":
    """The formats of specs/."""
    return specs_below(SPECS).formats


def case_formats() -> "tuple[Format, ...]":
    """The formats of tests/cases/."""
    return specs_below(CASES).formats

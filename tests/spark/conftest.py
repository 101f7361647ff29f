"""A package of one small format for the tests, and the Spark session of this folder's tests."""

import importlib
from contextlib import ExitStack, chdir

import pytest
from typer.testing import CliRunner

from conftest import GENERATED
from integration.sessions import end_jvm
from wireloom.cli.app import app

PACKAGE = "ingest_formats"


@pytest.fixture(scope="session")
def place(tmp_path_factory):
    """The folder with the specs, and the package in `build`."""
    home = tmp_path_factory.mktemp("ingest")
    for command in (
        ["new", "heartbeat", "--specs", home / "specs"],
        ["generate", "--specs", home / "specs", "--out", home / "build", "--package", PACKAGE],
        ["formats", "--out", home / "build", "--package", PACKAGE],  # also puts the folder on the import path
    ):
        result = CliRunner().invoke(app, [str(part) for part in command])
        assert result.exit_code == 0, result.output
    return home


@pytest.fixture(scope="session")
def module(place):
    """The format's module."""
    return importlib.import_module(f"{PACKAGE}.heartbeat")


@pytest.fixture(scope="package")
def spark(place, generated_cases):
    """One session for all files: the driver's planner finds packages only by the environment of the Java process.

    The process starts in a folder of the tests, where it creates files without a given path.
    """
    from wireloom.spark.session import session

    end_jvm()
    with ExitStack() as until_the_end:
        with chdir(place):
            started = until_the_end.enter_context(session((GENERATED, place / "build", generated_cases.out)))
        started.sparkContext.setLogLevel("OFF")  # some jobs are meant to fail
        yield started

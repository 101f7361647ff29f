"""A package of one small format, made for the tests, and a Spark session that knows it."""

import importlib

import pytest
from typer.testing import CliRunner

from wireloom.cli.app import app

PACKAGE = "ingest_formats"


@pytest.fixture(scope="session")
def place(tmp_path_factory):
    """The folder with the specs, and with the package in `build`."""
    home = tmp_path_factory.mktemp("ingest")
    for command in (
        ["new", "heartbeat", "--specs", home / "specs"],
        ["generate", "--specs", home / "specs", "--out", home / "build", "--package", PACKAGE],
        ["formats", "--out", home / "build", "--package", PACKAGE],  # puts the folder on the import path
    ):
        result = CliRunner().invoke(app, [str(part) for part in command])
        assert result.exit_code == 0, result.output
    return home


@pytest.fixture(scope="session")
def module(place):
    """The format's module."""
    return importlib.import_module(f"{PACKAGE}.heartbeat")


@pytest.fixture(scope="module")
def spark(place):
    """A session, stopped at the end of the file."""
    from wireloom.spark.session import session

    with session((place / "build",)) as started:
        yield started

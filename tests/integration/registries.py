"""Tools from npm and PyPI for tests, which are skipped with the message if a registry does not answer."""

import subprocess
from pathlib import Path

import pytest


def run(*command: object, cwd: Path | None = None) -> str:
    """The output of a program; its error output if it fails."""
    done = subprocess.run([*map(str, command)], cwd=cwd, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def fetched(*command: object, cwd: Path | None = None) -> None:
    """Run a command that needs a registry; skip the test if that does not answer."""
    try:
        run(*command, cwd=cwd)
    except (AssertionError, subprocess.TimeoutExpired) as error:
        pytest.skip(f"the registry does not give the tools: {str(error)[-300:]}")

"""Tools from npm and PyPI that tests use; where a registry does not answer, they are skipped with what it said."""

import subprocess
from pathlib import Path

import pytest


def run(*command: object, cwd: Path | None = None) -> str:
    """What a program says; its complaint is the failure."""
    done = subprocess.run([*map(str, command)], cwd=cwd, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def fetched(*command: object, cwd: Path | None = None) -> None:
    """Run what asks a registry; skip where that does not answer."""
    try:
        run(*command, cwd=cwd)
    except (AssertionError, subprocess.TimeoutExpired) as error:
        pytest.skip(f"the registry does not give the tools: {str(error)[-300:]}")

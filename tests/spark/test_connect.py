"""The functions on Spark Connect, in a process with its own server on loopback."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import GENERATED, ROOT

JOB = Path(__file__).parent / "jobs" / "connect.py"
NEEDED = ("grpc", "grpc_status", "google.rpc")

pytestmark = [pytest.mark.integration, pytest.mark.thorough]


@pytest.fixture(scope="module")
def given():
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"Spark Connect needs {', '.join(missing)}: pip install 'pyspark[connect]'")
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join((str(ROOT / "generator"), str(GENERATED))),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    done = subprocess.run(
        [sys.executable, JOB], env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(next(line for line in done.stdout.splitlines() if line.startswith('{"session"')))


def test_all_functions_give_on_connect_what_they_give_without(given):
    assert given["session"].startswith("pyspark.sql.connect")
    assert given["from"] == [["delete", "None"], ["None", "truncated"], ["None", "None"]]
    assert given["to"] == [["True"]]
    assert given["validate"] == [["[]"], ["['truncated']"], ["None"]]
    assert given["schema"] == [["struct<msg:string>"]]
    assert given["sql"] == [["test"], ["None"], ["None"]]
    assert given["decode"] == [["1", "delete"], ["2", "None"], ["3", "None"]]


def test_errors_on_connect_say_what_to_do(given):
    assert "truncated at payload.key.digest, byte 11" in given["failfast"]
    assert "did you mean variant?" in given["unknown"]

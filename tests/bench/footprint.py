"""Measures start-up and size for executors: a cold import, and the wheel."""

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from contest import progress

ROOT = Path(__file__).resolve().parents[2]
_RUNS = 7
_DECODE = """
import time; start = time.perf_counter()
import pyarrow; arrow = time.perf_counter()
from wireloom_formats import databus_event
databus_event.decode(pyarrow.array([b""], pyarrow.binary()))
print(arrow - start, time.perf_counter() - arrow)
"""


def cold_start() -> tuple[float, float]:
    """Seconds until pyarrow is imported, and from then until the first record is decoded, in a fresh interpreter."""
    environment = os.environ | {"PYTHONPATH": f"{ROOT / 'generator'}:{ROOT / 'generated'}"}
    found = []
    for _ in range(_RUNS):
        progress("cold start")
        ran = subprocess.run(
            [sys.executable, "-c", _DECODE], env=environment, check=True, capture_output=True, text=True
        )
        found.append(tuple(map(float, ran.stdout.split())))
    return statistics.median(each[0] for each in found), statistics.median(each[1] for each in found)


def wheel_size() -> int:
    """Bytes of the wheel with the engine."""
    progress("building the wheel")
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "build", "--wheel", "--outdir", folder, str(ROOT)]
        environment = os.environ | {"WIRELOOM_REQUIRE_ENGINE": "1"}
        subprocess.run(command, env=environment, check=True, capture_output=True)
        (wheel,) = Path(folder).glob("*.whl")
        return wheel.stat().st_size

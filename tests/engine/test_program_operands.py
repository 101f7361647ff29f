"""Programs that the validator accepts are safe to run: every operand of every instruction, at and beyond its bounds."""

import ctypes.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from wireloom.runtime import engine as engines

PROGRAM = Path(__file__).parents[1] / "fuzz" / "operands.py"
CHECKED = {"MALLOC_CHECK_": "3", "MALLOC_PERTURB_": "165", "LD_PRELOAD": "libc_malloc_debug.so.0"}
"""What makes the C library of Linux end a process that has written beyond what it was given."""


@pytest.mark.thorough
@pytest.mark.integration
@pytest.mark.skipif(not engines.available(), reason="the native engine is not built")
def test_a_program_with_an_operand_beside_its_bounds_is_refused_or_does_no_harm():
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    if ctypes.util.find_library("c_malloc_debug"):
        environment |= CHECKED
    done = subprocess.run(
        [sys.executable, PROGRAM], env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    untried, outcome = done.stdout.splitlines()
    assert untried == "in no program:"  # each instruction is one that the program of some example has
    assert "'refused': " in outcome
    assert "'ran': " in outcome

"""Pauses the garbage collector while modules are imported and while the process ends.

Both make or walk many objects, and none of them is garbage.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Nothing is looked for meanwhile."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


@contextmanager
def whole_process() -> Iterator[None]:
    """The collector is off until `begin`, and again after this ends, until the process ends."""
    gc.disable()
    try:
        yield
    finally:
        gc.disable()
        gc.freeze()


def begin() -> None:
    """The command is there, and works from now on."""
    gc.enable()

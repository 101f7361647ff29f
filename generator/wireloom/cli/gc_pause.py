"""Pauses the garbage collector while modules are imported and while the process ends.

Both create or walk many objects, none of which is garbage.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Pause the collector within the block."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


@contextmanager
def whole_process() -> Iterator[None]:
    """Pause the collector until `begin` is called, and again from the end of the block to the end of the process."""
    gc.disable()
    try:
        yield
    finally:
        gc.disable()
        gc.freeze()


def begin() -> None:
    """Resume the collector: the command is imported and starts its work."""
    gc.enable()

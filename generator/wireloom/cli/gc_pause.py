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
    """Nothing is looked for until `begin`, nor once this ends, after which is the end of the process."""
    gc.disable()
    try:
        yield
    finally:
        gc.disable()
        gc.freeze()


def begin() -> None:
    """The command is there, and works from now on."""
    gc.enable()

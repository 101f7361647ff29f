"""Keeps numpy and pandas out of ingest processes: they take half of the start-up time, and numpy starts threads.

pyarrow imports both if they are installed: numpy at once, pandas before it converts the first list, to check whether
the list belongs to pandas. PySpark needs them installed; ingest without Spark never uses them. After `without_numpy`
they cannot be imported any more, so it is only for processes that run nothing else.
"""

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

UNUSED = ("numpy", "pandas")


def without_numpy() -> None:
    """Make numpy and pandas unavailable in this process, unless they are already imported."""
    if not any(isinstance(finder, _Without) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Without())


class _Without:
    """An import hook that reports some packages as missing, and leaves all others to the next hook."""

    def find_spec(
        self,
        name: str,
        path: Sequence[str] | None = None,  # noqa: ARG002 - a finder's signature
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        if name in UNUSED:
            raise ModuleNotFoundError(f"processes of ingest do not load {name}", name=name)
        return None

"""Keeps numpy and pandas out of ingest processes: they are half of what starting one costs, and numpy starts threads.

pyarrow imports both if they are installed: numpy at once, pandas before the first list becomes an array, to ask
whether the list belongs to pandas. PySpark needs them installed; ingest without Spark never uses them. After
`without_numpy` they cannot be imported any more, so it is only for processes that are ours alone.
"""

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

UNUSED = ("numpy", "pandas")


def without_numpy() -> None:
    """From now on this process finds neither numpy nor pandas, unless it has them already."""
    if not any(isinstance(finder, _Without) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Without())


class _Without:
    """Finds everything where others find it, but for packages which it says are not there."""

    def find_spec(
        self,
        name: str,
        path: Sequence[str] | None = None,  # noqa: ARG002 - a finder's signature
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        if name in UNUSED:
            raise ModuleNotFoundError(f"processes of ingest do not load {name}", name=name)
        return None

"""What processes of ingest do without: pandas, half of what starting one costs.

pyarrow imports it, where it is installed, before the first list that becomes an array, to ask whether the list is one
of pandas' own. PySpark wants it installed; who ingests without Spark never has anything of it. For processes that are
ours alone: in them pandas cannot be imported any more.
"""

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

PANDAS = "pandas"


def without_pandas() -> None:
    """From now on this process finds no pandas, unless it has it already."""
    if PANDAS not in sys.modules and not any(isinstance(finder, _Without) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Without())


class _Without:
    """Finds everything where others find it, but for one package, which it says is not there."""

    def find_spec(
        self,
        name: str,
        path: Sequence[str] | None = None,  # noqa: ARG002 - a finder's signature
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        if name == PANDAS:
            raise ModuleNotFoundError("processes of ingest do without pandas", name=PANDAS)
        return None

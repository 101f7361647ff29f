"""What the data source tells Spark when something is wrong: one line of its own, without a Python traceback.

Spark's Python workers write the traceback of whatever was raised into the message that users see, unless the variable
SPARK_HIDE_TRACEBACK is set when they do. An error of ours sets it when it is raised and takes it back when its text is
made, which is what the worker does next: errors of other programs in the same worker keep their tracebacks.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from pyspark.errors import AnalysisException, PySparkException

from wireloom.failures import DataError, MachineError, MisuseError
from wireloom.ingest.files.finding import FileChangedError, NoFilesError
from wireloom.runtime.errors import WireloomError

Item = TypeVar("Item")
_HIDING = "SPARK_HIDE_TRACEBACK"
_OURS = (MisuseError, MachineError, DataError, WireloomError, FileChangedError, PySparkException, OSError)


class DataSourceError(AnalysisException):
    """What is wrong, in one line; Spark puts its own condition (PYTHON_DATA_SOURCE_ERROR) before it."""

    def __str__(self) -> str:
        os.environ.pop(_HIDING, None)
        return self._message or ""


@contextmanager
def as_source_errors() -> Iterator[None]:
    """Errors of ours become a DataSourceError; mistakes of the program keep their traceback."""
    try:
        yield
    except _OURS as error:
        os.environ[_HIDING] = "1"
        raise DataSourceError(_text(error)) from None


def each_with_source_errors(items: Iterable[Item]) -> Iterator[Item]:
    """The items, whose making may fail likewise."""
    with as_source_errors():
        yield from items


def _text(error: Exception) -> str:
    match error:
        case NoFilesError():
            return f"[PATH_NOT_FOUND] Path does not exist: {error.path}. SQLSTATE: 42K03"
        case MachineError() if error.remedy:
            return f"{error}; mend it with: {error.remedy}"
        case _:
            return str(error)

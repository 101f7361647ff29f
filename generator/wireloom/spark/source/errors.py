"""Reports errors of the data source to Spark in one line, without a Python traceback.

Spark's Python workers put the traceback of an exception into the message that users see, unless the variable
SPARK_HIDE_TRACEBACK is set at that moment. Our errors set it when they are raised, and unset it when their text is
made, which is the worker's next step. So errors of other programs in the same worker keep their tracebacks.
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
    """An error in one line; Spark puts its own condition (PYTHON_DATA_SOURCE_ERROR) before it."""

    def __str__(self) -> str:
        os.environ.pop(_HIDING, None)
        return self._message or ""


@contextmanager
def as_source_errors() -> Iterator[None]:
    """Turn our errors into DataSourceError; other exceptions keep their traceback."""
    try:
        yield
    except _OURS as error:
        os.environ[_HIDING] = "1"
        raise DataSourceError(_text(error)) from None


def each_with_source_errors(items: Iterable[Item]) -> Iterator[Item]:
    """The items of an iterator, with errors treated likewise."""
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

"""Functions in the form that Spark calls: Arrow arrays in, one array of the same length out."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import DataType

from wireloom.spark.collations import bytes_for_texts, in_pipeline, without_texts


@dataclass(frozen=True, slots=True)
class Call:
    """A function with fixed options, from which a user-defined function is made."""

    name: str
    act: Callable[..., pa.Array]
    returns: DataType


def column_of(call: Call, data: Column | str) -> Column:
    """The column of a call with another column."""
    if not in_pipeline():
        return cast(Column, user_defined(call)(data))
    plain = replace(call, act=partial(_plain, call.act), returns=bytes_for_texts(call.returns))
    once = user_defined(plain).asNondeterministic()  # otherwise a filter on the result would make Spark call it twice
    return cast(Column, once(data)).cast(call.returns)


def _plain(act: Callable[..., pa.Array], *columns: pa.Array) -> pa.Array:
    return without_texts(act(*columns))


def user_defined(call: Call) -> Any:
    """The Arrow UDF; its function has the annotations and the name that Spark looks for."""
    act = call.act

    def function(*columns: pa.Array) -> pa.Array:
        return act(*columns)

    function.__name__ = function.__qualname__ = call.name
    return F.arrow_udf(function, call.returns)  # type: ignore[attr-defined] # its stubs lack it

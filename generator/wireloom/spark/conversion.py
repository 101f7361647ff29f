"""A column of one format's records as those of another, on the executors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql.types import ArrayType, BinaryType, StringType, StructField, StructType

from wireloom.catalog import FormatModule, open_format, open_package
from wireloom.ingest.modules import open_module
from wireloom.ingest.plan import Plan
from wireloom.runtime.conversion import Conversion, conversion
from wireloom.spark.functions import Call, column_of
from wireloom.spark.options import Options, Surface, read_options

CONVERTED = StructType(
    [
        StructField("data", BinaryType()),
        StructField("error", StringType()),
        StructField("lost", ArrayType(StringType())),
    ]
)
"""The type of a converted record: its bytes, or why there are none, and the members whose values are gone."""
Given = Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class _Side:
    """A format by its module's name and the digest of the driver's spec, and what was said about it."""

    module: str
    format: str
    digest: str
    options: Options

    def opened(self) -> FormatModule:
        """The generated module, which must be of the driver's spec."""
        return open_module(Plan(self.module, self.format, self.digest))


@dataclass(frozen=True, slots=True)
class _Converting:
    """A conversion that travels."""

    source: _Side
    target: _Side
    strict: bool
    may_lose: tuple[str, ...]

    def conversion(self) -> Conversion:
        """The conversion between the modules that are here; raises ParameterError."""
        return conversion(
            self.source.opened(),
            self.target.opened(),
            root=self.source.options.root,
            target_root=self.target.options.root,
            parameters=dict(self.source.options.parameters),
            target_parameters=dict(self.target.options.parameters),
            strict=self.strict,
            may_lose=self.may_lose,
        )


def convert_format(  # noqa: PLR0913 - as `wireloom convert` has it
    module: FormatModule,
    data: Column | str,
    to: str,
    options: Given = None,
    *,
    target_options: Given = None,
    strict: bool = False,
    may_lose: Sequence[str] = (),
) -> Column:
    """The records of a binary column as those of another format of the package: structs of data, error and lost.

    Raises ParameterError for wrong options, MisuseError for a format that there is not.
    """
    package = module.__name__.rpartition(".")[0]
    target = open_format(open_package(package, Path()), to)
    name = f"convert_{module.FORMAT}"
    converting = _Converting(_side(module, name, options), _side(target, name, target_options), strict, tuple(may_lose))
    converting.conversion()  # what is wrong is said before a job starts
    return column_of(Call(name, partial(_converted, converting), CONVERTED), data)


def _side(module: FormatModule, name: str, given: Given) -> _Side:
    options = read_options(given, module.CODEC, Surface(name, ("PERMISSIVE",), ("root",)))
    return _Side(module.__name__, module.FORMAT, module.MEANING, options)


def _converted(converting: _Converting, values: pa.Array) -> pa.StructArray:
    made = converting.conversion().of_messages(values)
    columns = [made.data, made.errors, made.lost]
    mask = values.is_null() if values.null_count else None
    return pa.StructArray.from_arrays(columns, names=["data", "error", "lost"], mask=mask)

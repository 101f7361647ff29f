"""Converts a column of one format's records to another format, on the executors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql.types import ArrayType, BinaryType, StringType, StructField, StructType

from wireloom.catalog import FormatModule, open_format, open_package
from wireloom.failures import unknown
from wireloom.ingest.job.format_modules import open_module
from wireloom.ingest.plan import Plan
from wireloom.runtime.conversion import Conversion, conversion
from wireloom.runtime.errors import ParameterError
from wireloom.spark.calls import Call, column_of
from wireloom.spark.decoding import Decoding
from wireloom.spark.options import Surface, read_options

CONVERTED = StructType(
    [
        StructField("data", BinaryType()),
        StructField("error", StringType()),
        StructField("lost", ArrayType(StringType())),
    ]
)
"""The type of a converted record: its bytes or the error, and the members that were lost."""
OptionValues = Mapping[str, Any] | None
OWN = ("strict", "mayLose")
TARGET = "target."
"""Prefix in SQL of the other format's options."""


@dataclass(frozen=True, slots=True)
class _Converting:
    """The arguments of a conversion, which are sent to executors."""

    source: Decoding
    target: Decoding
    strict: bool
    may_lose: tuple[str, ...]

    def conversion(self) -> Conversion:
        """The conversion between the local modules; raises ParameterError."""
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
    options: OptionValues = None,
    *,
    target_options: OptionValues = None,
    strict: bool = False,
    may_lose: Sequence[str] = (),
) -> Column:
    """Convert the records of a binary column to another format of the package: structs of data, error and lost.

    Raises ParameterError for wrong options, MisuseError for an unknown format.
    """
    package = module.__name__.rpartition(".")[0]
    target = open_format(open_package(package, Path()), to)
    name = f"convert_{module.FORMAT}"
    converting = _Converting(_side(module, name, options), _side(target, name, target_options), strict, tuple(may_lose))
    converting.conversion()  # raises for wrong options before a job starts
    return column_of(Call(name, partial(_converted, converting), CONVERTED), data)


def conversion_call(module: FormatModule, shared: OptionValues) -> Call:
    """The same as a SQL function of bytes, the other format's name, and options as a constant map.

    The map has the options of this format, `strict`, `mayLose` (with commas), and those of the other as `target.NAME`;
    `shared` has the defaults of the options.
    """
    package = open_package(module.__name__.rpartition(".")[0], Path())
    targets = tuple((name, open_format(package, name).MEANING) for name in package.FORMATS)
    name = f"convert_{module.FORMAT}"
    _side(module, name, shared)
    stated = _Stated(module.__name__, module.FORMAT, module.MEANING, tuple((shared or {}).items()), targets)
    return Call(name, partial(_converted_in_sql, stated), CONVERTED)


def _side(module: FormatModule, name: str, given: OptionValues, own: tuple[str, ...] = ()) -> Decoding:
    options = read_options(given, module.CODEC, Surface(name, ("PERMISSIVE",), ("root",), own))
    return Decoding(module.__name__, module.FORMAT, module.MEANING, options)


@dataclass(frozen=True, slots=True)
class _Stated:
    """The conversion before SQL names the other format; it has the digests of all possible targets."""

    module: str
    format: str
    digest: str
    shared: tuple[tuple[str, Any], ...]
    targets: tuple[tuple[str, str], ...]  # formats of the package, and the digests of the driver's specs

    def converting(self, to: str, words: Mapping[str, str]) -> _Converting:
        """The conversion for the arguments in SQL; raises ParameterError, and MisuseError for an unknown format."""
        said = {name.lower(): value for name, value in self.shared}
        there: dict[str, str] = {}
        for name, value in words.items():
            if name.lower().startswith(TARGET):
                there[name[len(TARGET) :]] = value
            else:
                said[name.lower()] = value
        own = {name.lower(): said.pop(name.lower(), None) for name in OWN}
        called, package = f"convert_{self.format}", self.module.rpartition(".")[0]
        source = open_module(Plan(self.module, self.format, self.digest))
        targets = dict(self.targets)
        if to not in targets:
            raise unknown("format", to, targets)
        target = open_module(Plan(f"{package}.{to}", to, targets[to]))
        may_lose = tuple(part.strip() for part in (own["maylose"] or "").split(",") if part.strip())
        return _Converting(
            _side(source, called, said, OWN), _side(target, called, there), _flag(own["strict"]), may_lose
        )


def _flag(text: str | None) -> bool:
    match (text or "false").lower():
        case "true" | "false" as word:
            return word == "true"
        case _:
            raise ParameterError(f"option strict must be true or false, not {text!r}")


def _converted_in_sql(
    stated: _Stated, values: pa.Array, to: pa.Array, given: pa.MapArray | None = None
) -> pa.StructArray:
    named = _constant(to, f"the other format of convert_{stated.format} must be the same in all rows: a constant text")
    if named is None:
        if len(to):
            raise ParameterError(f"convert_{stated.format} needs the name of the other format, which is null here")
        return pa.array([], pa.struct([("data", pa.binary()), ("error", pa.string()), ("lost", pa.list_(pa.string()))]))
    said = f"the options of convert_{stated.format} must be the same in all rows: a constant map"
    words = {} if given is None else dict(_constant(given, said) or ())
    return _converted(stated.converting(named, words), values)


def _constant(array: pa.Array, said: str) -> Any:
    """The value of a constant column; raises ParameterError if the rows differ."""
    if not len(array):
        return None
    if not array[1:].equals(array[:-1]):
        raise ParameterError(said)
    return array[0].as_py()


def _converted(converting: _Converting, values: pa.Array) -> pa.StructArray:
    made = converting.conversion().of_messages(values)
    columns = [made.data, made.errors, made.lost]
    mask = values.is_null() if values.null_count else None
    return pa.StructArray.from_arrays(columns, names=["data", "error", "lost"], mask=mask)

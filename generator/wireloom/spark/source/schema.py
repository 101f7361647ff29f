"""The columns of the data source: those offered, those of a caller's schema, and Arrow columns in that shape.

With a schema, the caller gets its columns in its order, at every level; the decoder never produces any others. Besides
the format's columns there are those of the place (`_source`, `_record`, `_offset`) and those of bad records; a column
of the format takes precedence over one of ours with the same name.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_type
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    MapType,
    StructField,
    StructType,
)

from wireloom.catalog import FormatModule
from wireloom.ingest.tables.schemas import PLACE
from wireloom.ingest.tables.spark_columns import spark_columns
from wireloom.problems import nearest
from wireloom.runtime.columns.arrow import ERROR
from wireloom.runtime.errors import ParameterError
from wireloom.spark.options import Options
from wireloom.spark.schemas import shown
from wireloom.spark.struct_types import pruned, refuse_unknown

CORRUPT_RECORD, ERROR_COLUMN = "_corrupt_record", "_error"
ALL = "*"


@dataclass(frozen=True, slots=True)
class Offer:
    """All available columns: those of the format, and ours by name."""

    format: StructType
    ours: dict[str, StructField]
    corrupt: str
    error: str

    @property
    def names(self) -> list[str]:
        """The names that a caller may use."""
        return [*self.format.names, *(name for name in self.ours if name not in self.format.names)]

    def field(self, name: str) -> StructField:
        """The column of that name; raises ParameterError with the most similar name."""
        if name in self.format.names:
            return self.format[name]
        if name in self.ours:
            return self.ours[name]
        raise ParameterError(f"no column {name!r}; {nearest(name, self.names) or ', '.join(self.names)}")


def offer(module: FormatModule, options: Options) -> Offer:
    """The columns of a format with these options."""
    root = options.root or module.CODEC.default_root
    explode = bool(options.explode) or module.CODEC.root(root).elements
    columns = shown(module.struct_type(root=root, explode=explode), options.open_values)
    corrupt = options.column_of_corrupt_record or CORRUPT_RECORD
    error = options.column_of_error or ERROR_COLUMN
    for name in (options.column_of_corrupt_record, options.column_of_error):
        if name in columns.names:
            raise ParameterError(f"{module.FORMAT} already has a column {name!r}; choose another name")
    place = StructType.fromJson(json.loads(spark_columns(pa.schema(list(PLACE)))))
    ours = {field.name: field for field in place.fields}
    ours[corrupt] = StructField(corrupt, BinaryType(), metadata={"comment": "The bytes of a bad record"})
    ours[error] = StructField(error, from_arrow_type(ERROR), metadata={"comment": "What is wrong with a bad record"})
    return Offer(columns, ours, corrupt, error)


def default_schema(module: FormatModule, options: Options) -> StructType:
    """The schema if the caller gives none: the columns in the options, otherwise all of the format.

    It has the columns of bad records if options name them.
    """
    offered = offer(module, options)
    named = [name for name in (options.column_of_corrupt_record, options.column_of_error) if name]
    asked = list(options.columns or [ALL])
    fields: list[StructField] = []
    paths: dict[str, list[tuple[str, ...]]] = {}
    for column in [*asked, *(name for name in named if name not in asked)]:
        for name in offered.format.names if column == ALL else [column]:
            first, *rest = name.split(".") if name not in offered.ours else [name]
            paths.setdefault(first, []).append(tuple(rest))
    for name, below in paths.items():
        field = offered.field(name)
        fields.append(StructField(name, pruned(field.dataType, below, (name,)), metadata=field.metadata or {}))
    return StructType(fields)


def decoder_columns(schema: StructType, offered: Offer) -> tuple[str, ...]:
    """The paths of the format's columns in a schema, for the decoder.

    Raises ParameterError for an unknown column or a different type.
    """
    paths: list[str] = []
    if len(set(schema.names)) < len(schema.names):
        raise ParameterError("the schema names a column twice")
    for field in schema.fields:
        found = list(_type_paths(field.dataType, offered.field(field.name).dataType, (field.name,)))
        _refuse_never_null(field, field.name)
        if field.name in offered.format.names:
            paths += found
    return tuple(paths)


# --- Spark types ---------------------------------------------------------------------------------------------------


def _refuse_never_null(field: StructField, path: str) -> None:
    """Raise ParameterError for a column that is never null: a bad record has nulls at every level."""
    never = not field.nullable
    inner: list[StructField] = []
    match field.dataType:
        case StructType(fields=fields):
            inner = fields
        case ArrayType(elementType=element, containsNull=null):
            inner, never = [StructField("element", element)], never or not null
        case MapType(valueType=value, valueContainsNull=null):
            inner, never = [StructField("value", value)], never or not null
        case _:
            pass
    if never:
        raise ParameterError(f"column {path!r} and its members may be null: declare it without NOT NULL")
    for below in inner:
        _refuse_never_null(below, f"{path}.{below.name}")


def _type_paths(asked: DataType, there: DataType, path: tuple[str, ...]) -> Iterator[str]:
    if asked.simpleString() == there.simpleString():
        yield ".".join(path)
        return
    match asked, there:
        case StructType(), StructType():
            for field in asked.fields:
                refuse_unknown(field.name, there, path)
                yield from _type_paths(field.dataType, there[field.name].dataType, (*path, field.name))
        case ArrayType(), ArrayType():
            yield from _type_paths(asked.elementType, there.elementType, path)
        case MapType(), MapType() if asked.keyType.simpleString() == there.keyType.simpleString():
            yield from _type_paths(asked.valueType, there.valueType, path)
        case _:
            raise ParameterError(
                f"column {'.'.join(path)!r} is {there.simpleString()}; the schema says {asked.simpleString()}"
            )

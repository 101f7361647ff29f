"""The Spark types of what is decoded: all columns of a format or some, with their comments or bare.

A projection follows the same paths as the decoder's: members of structs, of the elements of lists and of the values of
maps. Types that Spark compares with those of Arrow must be bare: to Spark a comment is a part of the type.
"""

from collections.abc import Sequence
from inspect import signature
from typing import Any

import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
    VariantType,
)

from wireloom.catalog import FormatModule
from wireloom.runtime.errors import ParameterError
from wireloom.runtime.validation.validator import COLUMNS
from wireloom.spark.options import OpenValues, Options

Path = tuple[str, ...]
_ERROR = {
    "code": (StringType(), "Error code of the format"),
    "path": (StringType(), "Field that is wrong, by the names of the wire; empty for the record itself"),
    "offset": (LongType(), "Where in the record, bytes from its start"),
    "expected": (StringType(), "What the spec wants there"),
    "actual": (StringType(), "What is there"),
    "meaning": (StringType(), "What the error code means"),
}
ERROR = StructType([StructField(name, type, metadata={"comment": text}) for name, (type, text) in _ERROR.items()])
"""The type of an error."""
PROBLEMS = ArrayType(StructType([StructField(name, StringType()) for name in COLUMNS]))
"""The type of what validation finds in a record."""


ZONE: dict[str, Any] = {"timezone": "UTC"} if "timezone" in signature(to_arrow_schema).parameters else {}
"""What PySpark is told of time zones; 4.1 takes UTC unless told otherwise."""


def arrow_schema(schema: StructType) -> pa.Schema:
    """The schema in Arrow's terms, as Spark wants it of a data source."""
    return to_arrow_schema(schema, **ZONE)


def record_type(module: FormatModule, options: Options, *, explode: bool) -> StructType:
    """The columns that are asked for, of a record or of its flat rows, with their comments."""
    whole = module.struct_type(root=options.root or module.CODEC.default_root, explode=explode)
    shown = _shown(whole, options.open_values)
    asked = shown if options.columns is None else _pruned(shown, [tuple(name.split(".")) for name in options.columns])
    assert isinstance(asked, StructType)  # noqa: S101 - both keep the kind of a type
    return asked


def added_fields(options: Options, taken: Sequence[str]) -> tuple[StructField, ...]:
    """The columns of the corrupt record and of the error, as far as the options name them.

    Raises ParameterError where one has a name that is taken; in Spark the case of names does not matter.
    """
    fields = []
    names = {name.lower() for name in taken}
    for option, name, type in (
        ("columnNameOfCorruptRecord", options.column_of_corrupt_record, BinaryType()),
        ("columnNameOfError", options.column_of_error, ERROR),
    ):
        if name is None:
            continue
        if name.lower() in names:
            raise ParameterError(f"option {option}: there is a column {name} already; choose another name")
        names.add(name.lower())
        fields.append(StructField(name, type, metadata={"comment": _ADDED[option]}))
    return tuple(fields)


_OPEN: dict[OpenValues, DataType] = {"variant": VariantType(), "json": StringType(), "binary": BinaryType()}
_ADDED = {
    "columnNameOfCorruptRecord": "The bytes of a bad record; null where the record is right",
    "columnNameOfError": "What is wrong with a bad record; null where the record is right",
}


def bare(type: DataType) -> DataType:
    """The type without comments, as Spark reads it from Arrow."""
    match type:
        case StructType():
            return StructType([StructField(field.name, bare(field.dataType), field.nullable) for field in type.fields])
        case ArrayType():
            return ArrayType(bare(type.elementType), type.containsNull)
        case MapType():
            return MapType(bare(type.keyType), bare(type.valueType), type.valueContainsNull)
        case _:
            return type


def _shown(type: DataType, open_values: OpenValues) -> DataType:
    """The type with open values in the form that is asked for."""
    match type:
        case VariantType():
            return _OPEN[open_values]
        case StructType():
            return StructType(
                [
                    StructField(field.name, _shown(field.dataType, open_values), field.nullable, field.metadata)
                    for field in type.fields
                ]
            )
        case ArrayType():
            return ArrayType(_shown(type.elementType, open_values), type.containsNull)
        case MapType():
            return MapType(type.keyType, _shown(type.valueType, open_values), type.valueContainsNull)
        case _:
            return type


def _pruned(type: DataType, paths: Sequence[Path]) -> DataType:
    """The type with what lies on the paths alone, in its own order; the decoder has checked them."""
    if () in paths:
        return type
    match type:
        case StructType():
            below = {field.name: [path[1:] for path in paths if path[0] == field.name] for field in type.fields}
            return StructType(
                [
                    StructField(field.name, _pruned(field.dataType, below[field.name]), field.nullable, field.metadata)
                    for field in type.fields
                    if below[field.name]
                ]
            )
        case ArrayType():
            return ArrayType(_pruned(type.elementType, paths), type.containsNull)
        case MapType():
            return MapType(type.keyType, _pruned(type.valueType, paths), type.valueContainsNull)
        case _:
            return type

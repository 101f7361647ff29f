"""The Spark types of decoded columns: all or some of a format's, with or without comments.

A projection follows the same paths as the decoder: members of structs, of list elements and of map values. Types that
Spark compares with Arrow types must be without comments, which Spark counts as a part of the type.
"""

from collections.abc import Sequence
from inspect import signature
from typing import Any, cast

import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    LongType,
    StringType,
    StructField,
    StructType,
    VariantType,
)

from wireloom.catalog import FormatModule
from wireloom.runtime.errors import ParameterError
from wireloom.runtime.validation.validator import COLUMNS
from wireloom.spark.options import OpenValues, Options
from wireloom.spark.struct_types import pruned, with_leaves

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
"""The type of a record's problems."""


ZONE: dict[str, Any] = {"timezone": "UTC"} if "timezone" in signature(to_arrow_schema).parameters else {}
"""Arguments about time zones for PySpark; 4.1 uses UTC by default."""


def arrow_schema(schema: StructType) -> pa.Schema:
    """The schema as Arrow schema, in the form that Spark expects of a data source."""
    return to_arrow_schema(schema, **ZONE)


def record_type(module: FormatModule, options: Options, *, explode: bool) -> StructType:
    """The wanted columns of a record, or of its flattened rows, with comments."""
    whole = module.struct_type(root=options.root or module.CODEC.default_root, explode=explode)
    whole = shown(whole, options.open_values)
    if options.columns is None:
        return whole
    return cast(StructType, pruned(whole, [tuple(name.split(".")) for name in options.columns]))


def added_fields(options: Options, taken: Sequence[str]) -> tuple[StructField, ...]:
    """The columns of the corrupt record and of the error, if the options name them.

    Raises ParameterError if a name is taken; Spark ignores case in names.
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
    return with_leaves(type, lambda leaf: leaf)


def shown(type: StructType, open_values: OpenValues) -> StructType:
    """The type with open values in the wanted form."""
    return cast(
        StructType,
        with_leaves(type, lambda leaf: _OPEN[open_values] if isinstance(leaf, VariantType) else leaf, comments=True),
    )

"""Describes columns in Parquet files for Spark, so that it reads the same types and comments."""

import json
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

_NAMES = {
    pa.bool_(): "boolean",
    pa.int8(): "byte",
    pa.int16(): "short",
    pa.int32(): "integer",
    pa.int64(): "long",
    pa.float32(): "float",
    pa.float64(): "double",
    pa.string(): "string",
    pa.large_string(): "string",
    pa.binary(): "binary",
    pa.large_binary(): "binary",
    pa.date32(): "date",
    pa.duration("us"): "interval day to second",
}


def spark_columns(schema: pa.Schema) -> str:
    """The columns in Spark's JSON; raises TypeError for a type that our columns never have."""
    return json.dumps(_struct(schema), separators=(",", ":"))


def leaves(schema: pa.Schema) -> list[str]:
    """The names of the leaf columns in Parquet: `bins.list.element.name`."""
    return [path for field in schema for path in _leaves(field.name, field.type)]


def _leaves(path: str, type: pa.DataType) -> Iterator[str]:
    if pa.types.is_struct(type):
        parts = [(field.name, field.type) for field in type]
    elif pa.types.is_map(type):
        parts = [("key_value.key", type.key_type), ("key_value.value", type.item_type)]
    elif pa.types.is_list(type) or pa.types.is_large_list(type):
        parts = [("list.element", type.value_type)]
    else:
        yield path
        return
    for name, part in parts:
        yield from _leaves(f"{path}.{name}", part)


def _struct(fields: pa.Schema | pa.StructType) -> dict[str, Any]:
    return {"type": "struct", "fields": [_field(field) for field in fields]}


def _field(field: pa.Field) -> dict[str, Any]:
    comment = (field.metadata or {}).get(b"comment", b"").decode()
    metadata = {"comment": comment} if comment else {}
    return {"name": field.name, "type": _type(field.type), "nullable": field.nullable, "metadata": metadata}


def _type(type: pa.DataType) -> str | dict[str, Any]:
    if type in _NAMES:
        return _NAMES[type]
    if pa.types.is_dictionary(type):
        return _type(type.value_type)
    if pa.types.is_decimal(type):
        return f"decimal({type.precision},{type.scale})"
    if pa.types.is_timestamp(type):
        return "timestamp" if type.tz else "timestamp_ntz"
    if pa.types.is_map(type):
        contains_null = type.item_field.nullable
        return {
            "type": "map",
            "keyType": _type(type.key_type),
            "valueType": _type(type.item_type),
            "valueContainsNull": contains_null,
        }
    if pa.types.is_list(type) or pa.types.is_large_list(type):
        return {"type": "array", "elementType": _type(type.value_type), "containsNull": type.value_field.nullable}
    if pa.types.is_struct(type):
        return "variant" if _is_variant(type) else _struct(type)
    raise TypeError(f"Spark has no column type for {type}")


def _is_variant(type: pa.StructType) -> bool:
    return any((field.metadata or {}).get(b"variant") == b"true" for field in type)

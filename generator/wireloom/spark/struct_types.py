"""The Spark types of records, made from their Arrow types with comments, and projections of such types."""

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.types as kinds
from pyspark.sql.pandas.types import from_arrow_type
from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType, VariantType

from wireloom.problems import nearest
from wireloom.runtime.codec import Root
from wireloom.runtime.columns.arrow import VARIANT, OpenValues, schema
from wireloom.runtime.columns.rows import row_record
from wireloom.runtime.errors import ParameterError

Path = tuple[str, ...]


def struct_type(root: Root, *, explode: bool = False, open_values: OpenValues = "variant") -> StructType:
    """The columns of a root, or of its flattened rows."""
    record = row_record(root.logical, root.rows if explode else ())
    return StructType([_field(field) for field in schema(record, open_values=open_values)])


def _field(field: pa.Field) -> StructField:
    metadata: dict[bytes, bytes] = field.metadata or {}
    texts: dict[str, Any] = {key.decode(): value.decode() for key, value in metadata.items()}
    return StructField(field.name, _type(field.type), metadata=texts)


def _type(type: pa.DataType) -> DataType:
    """The Spark type of an Arrow type; structs, lists and maps keep the comments of their members."""
    if type == VARIANT:
        return VariantType()
    if kinds.is_struct(type):
        return StructType([_field(field) for field in type])
    if kinds.is_list(type):
        return ArrayType(_type(type.value_type))
    if kinds.is_map(type):
        return MapType(_type(type.key_type), _type(type.item_type))
    return from_arrow_type(type)


def with_leaves(type: DataType, change: Callable[[DataType], DataType], *, comments: bool = False) -> DataType:
    """The type with changed leaf types; comments of members are kept on request."""

    def inner(part: DataType) -> DataType:
        return with_leaves(part, change, comments=comments)

    match type:
        case StructType():
            return StructType(
                [
                    StructField(each.name, inner(each.dataType), each.nullable, each.metadata if comments else None)
                    for each in type.fields
                ]
            )
        case ArrayType():
            return ArrayType(inner(type.elementType), type.containsNull)
        case MapType():
            return MapType(inner(type.keyType), inner(type.valueType), type.valueContainsNull)
        case _:
            return change(type)


def pruned(type: DataType, paths: Sequence[Path], above: Path | None = None) -> DataType:
    """The type with only the given paths, in its own order.

    Raises ParameterError for an unknown path; `above` is the path of the type itself.
    """
    if () in paths:
        return type
    match type:
        case StructType():
            for path in paths if above is not None else ():
                refuse_unknown(path[0], type, above or ())
            kept = [(field, [path[1:] for path in paths if path[0] == field.name]) for field in type.fields]
            return StructType(
                [
                    StructField(
                        field.name,
                        pruned(field.dataType, below, None if above is None else (*above, field.name)),
                        field.nullable,
                        field.metadata,
                    )
                    for field, below in kept
                    if below
                ]
            )
        case ArrayType():
            return ArrayType(pruned(type.elementType, paths, above), type.containsNull)
        case MapType():
            return MapType(type.keyType, pruned(type.valueType, paths, above), type.valueContainsNull)
        case _ if above is not None:
            raise ParameterError(f"column {'.'.join((*above, *paths[0]))!r}: {'.'.join(above)!r} has no members")
        case _:
            return type


def refuse_unknown(name: str, struct: StructType, above: Path) -> None:
    """Raise ParameterError, with the most similar name, for a member that a struct lacks."""
    if name not in struct.names:
        near = nearest(name, struct.names) or f"there are {', '.join(struct.names)}"
        raise ParameterError(f"no column {'.'.join((*above, name))!r}; {near}")

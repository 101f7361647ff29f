"""The Spark columns of records: those of Arrow as Spark has them, with their comments."""

from typing import Any

import pyarrow as pa
import pyarrow.types as kinds
from pyspark.sql.pandas.types import from_arrow_type
from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType, VariantType

from wireloom.runtime.codec import Root
from wireloom.runtime.columns.arrow import VARIANT, OpenValues, schema
from wireloom.runtime.columns.rows import row_record


def struct_type(root: Root, *, explode: bool = False, open_values: OpenValues = "variant") -> StructType:
    """The columns of a root, or of its flat rows."""
    record = row_record(root.logical, root.rows if explode else ())
    return StructType([_field(field) for field in schema(record, open_values=open_values)])


def _field(field: pa.Field) -> StructField:
    metadata: dict[bytes, bytes] = field.metadata or {}
    texts: dict[str, Any] = {key.decode(): value.decode() for key, value in metadata.items()}
    return StructField(field.name, _type(field.type), metadata=texts)


def _type(type: pa.DataType) -> DataType:
    """Spark's type; of structs, lists and maps with the comments within."""
    if type == VARIANT:
        return VariantType()
    if kinds.is_struct(type):
        return StructType([_field(field) for field in type])
    if kinds.is_list(type):
        return ArrayType(_type(type.value_type))
    if kinds.is_map(type):
        return MapType(_type(type.key_type), _type(type.item_type))
    return from_arrow_type(type)

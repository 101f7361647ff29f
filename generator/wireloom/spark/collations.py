"""Works around collations in queries of Declarative Pipelines: text results leave our functions as bytes.

In a pipeline, the type of a text names its collation, and Spark 4.3 refuses the result of an Arrow function whose texts
do not (fixed for an earlier line by SPARK-52976). So texts leave as bytes, and are cast afterwards.
"""

import sys

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql.types import BinaryType, DataType, StringType

from wireloom.spark.struct_types import with_leaves

REGISTRY = "pyspark.pipelines.graph_element_registry"


def in_pipeline() -> bool:
    """Whether a query of a Declarative Pipeline is being defined."""
    registry = sys.modules.get(REGISTRY)  # if it is not loaded, no pipeline is being defined
    if registry is None:
        return False
    try:
        registry.get_active_graph_element_registry()
    except PySparkException:
        return False
    return True


def bytes_for_texts(type: DataType) -> DataType:
    """The type with bytes in place of texts."""
    return with_leaves(type, lambda leaf: BinaryType() if isinstance(leaf, StringType) else leaf)


def without_texts(array: pa.Array) -> pa.Array:
    """The array with bytes in place of texts, without copying."""
    return array.cast(_without_texts(array.type))


def _without_texts(type: pa.DataType) -> pa.DataType:
    if pa.types.is_string(type):
        return pa.binary()
    if pa.types.is_struct(type):
        return pa.struct([field.with_type(_without_texts(field.type)) for field in type])
    if pa.types.is_map(type):
        item = type.item_field.with_type(_without_texts(type.item_type))
        return pa.map_(type.key_field.with_type(_without_texts(type.key_type)), item)
    if pa.types.is_list(type):
        return pa.list_(type.value_field.with_type(_without_texts(type.value_type)))
    return type

"""Columns that say where a record came from, in Spark's terms."""

from collections.abc import Iterable, Mapping

import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructField, StructType

from wireloom.ingest.tables import KAFKA_DOCS, KAFKA_PLACE, PLACE, PLACE_DOCS


def commented(fields: Iterable[pa.Field], documents: Mapping[str, str]) -> StructType:
    """Arrow fields as Spark columns with comments."""
    found = from_arrow_schema(pa.schema(list(fields)))
    return StructType(
        [StructField(field.name, field.dataType, metadata={"comment": documents[field.name]}) for field in found]
    )


def file_place() -> StructType:
    """The place columns of files and tables."""
    return commented(PLACE, PLACE_DOCS)


def kafka_place() -> StructType:
    """The place columns of messages of Kafka."""
    return commented(KAFKA_PLACE, KAFKA_DOCS)

"""The first rows of a table as plain values, for people."""

import json
from collections.abc import Mapping
from typing import Any

from pyspark.sql import Row, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import VariantVal

from wireloom.ingest.plan import RECORD, SOURCE

Preview = tuple[Mapping[str, object], ...]


def preview(spark: SparkSession, path: str, rows: int) -> Preview:
    """Some rows of a table, those of the last file first; values as in JSON, without absent members."""
    found = spark.read.parquet(path).orderBy(F.desc(SOURCE), RECORD).limit(rows).collect()
    return tuple({name: _plain(value) for name, value in row.asDict().items()} for row in found)


def _plain(value: Any) -> object:
    match value:
        case None | bool() | int() | float() | str():
            return value
        case bytes() | bytearray():
            return bytes(value).hex()
        case Row():
            return {name: _plain(each) for name, each in value.asDict().items() if each is not None}
        case list():
            return [_plain(each) for each in value]
        case dict():
            return {str(key): _plain(each) for key, each in value.items()}
        case VariantVal():
            return json.loads(value.toJson())
        case _:
            return str(value)

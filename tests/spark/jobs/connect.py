"""Tries the functions of a format on Spark Connect; prints the results as one line of JSON.

It is a process of its own, because PySpark decides only once whether it is a Connect client.
"""
# ruff: noqa: T201 - its output is its result

import json
from collections.abc import Callable

from pyspark.sql import DataFrame, SparkSession

from wireloom.runtime.errors import ParameterError
from wireloom_formats import functions as W

DELETE = bytes.fromhex("9301029594a474657374c0c414000102030405060708090a0b0c0d0e0f10111213c00104c0c0")
PERMISSIVE = {"mode": "PERMISSIVE", "columnNameOfError": "_error"}


def main() -> None:
    """Try everything once."""
    settings = {"spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    builder = SparkSession.builder.remote("local[1]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    rows = [(1, DELETE), (2, DELETE[:20]), (3, None)]
    messages = spark.createDataFrame(rows, "offset long, value binary").coalesce(1)
    first = messages.limit(1)
    W.register(spark)
    messages.createOrReplaceTempView("messages")
    sql = "SELECT from_aerospike_msgpack(value, map('mode', 'PERMISSIVE')).key.namespace AS it FROM messages"
    again = W.to_aerospike_msgpack(W.from_aerospike_msgpack("value"))
    event = W.from_aerospike_msgpack("value", PERMISSIVE).alias("event")
    print(
        json.dumps(
            {
                "session": type(spark).__module__,
                "from": _texts(messages.select(event).select("event.msg", "event._error.code")),
                "to": _texts(first.select(again == first.value)),
                "validate": _texts(messages.select(W.validate_aerospike_msgpack("value").rule)),
                "schema": _texts(first.select(W.schema_of_aerospike_msgpack(fields=["msg"]))),
                "sql": _texts(spark.sql(sql)),
                "decode": _texts(W.decode_aerospike_msgpack(messages, "value", fields=["msg"]).select("offset", "msg")),
                "failfast": _failure(lambda: messages.select(W.from_aerospike_msgpack("value")).collect()),
                "unknown": _failure(lambda: W.from_aerospike_msgpack("value", {"varaint": "legacy"})),
            }
        )
    )
    spark.stop()


def _texts(frame: DataFrame) -> list[list[str]]:
    return [[str(value) for value in row] for row in frame.collect()]


def _failure(act: Callable[[], object]) -> str:
    try:
        act()
    except (Exception, ParameterError) as error:  # noqa: BLE001 - its text is looked at
        return str(error)
    return "nothing failed"


if __name__ == "__main__":
    main()

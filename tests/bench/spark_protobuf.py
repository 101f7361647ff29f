"""Spark's from_protobuf against the engine: `spark_protobuf.py JAR FOLDER`; started by spark_bench.py.

It runs on any PySpark for which there is a jar, also on versions too old for `wireloom.spark`. So the engine is called
like any Python function, in `mapInArrow`.
"""

import os
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PLACES = [str(ROOT / "generator"), str(ROOT / "generated"), str(Path(__file__).parent)]
sys.path[:0] = PLACES
os.environ |= {"PYTHONPATH": os.pathsep.join(PLACES), "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}

from pyspark.sql import DataFrame, SparkSession  # noqa: E402
from pyspark.sql import functions as F  # noqa: E402

import spark_peers as peers  # noqa: E402
from racer import serve  # noqa: E402
from wireloom_formats.kpl_record import descriptor  # noqa: E402

MESSAGE = "kpl_record.AggregatedRecord"
BODY = "substring(value, 5, length(value) - 20)"


def main(jar: str, folder: str) -> None:
    """Partition key and data of each user record."""
    builder = SparkSession.builder.master("local[2]").config("spark.jars", jar).config("spark.ui.enabled", "false")
    spark = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    with tempfile.NamedTemporaryFile(suffix=".desc") as file:
        file.write(descriptor.DESCRIPTOR_SET)
        file.flush()
        frame = spark.read.parquet(folder)
        some = frame.limit(100)
        peers.same(from_protobuf(some, file.name), engine(some))
        serve(
            {
                "engine": lambda: peers.written(engine(frame)),
                "from_protobuf": lambda: peers.written(from_protobuf(frame, file.name)),
                "proved": lambda: peers.written(from_protobuf(proved(frame), file.name)),
            }
        )
    spark.stop()


def engine(frame: DataFrame) -> DataFrame:
    """The user records, with digests compared."""
    return frame.mapInArrow(peers.user_records, peers.USER_RECORDS)


def from_protobuf(frame: DataFrame, descriptors: str) -> DataFrame:
    """The user records, as far as Spark alone can read them."""
    from pyspark.sql.protobuf.functions import from_protobuf

    rows = frame.select(from_protobuf(F.expr(BODY), MESSAGE, descriptors).alias("it"))
    exploded = rows.select("it.partition_key_table", F.explode("it.records").alias("record"))
    place = F.col("record.partition_key_index").cast("int")
    key = F.col("partition_key_table")[place].alias("partitionKey")
    return exploded.select(key, F.col("record.data").alias("data"))


def proved(frame: DataFrame) -> DataFrame:
    """The aggregates whose digest is right."""
    return frame.where(f"md5({BODY}) = lower(hex(substring(value, length(value) - 15, 16)))")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])

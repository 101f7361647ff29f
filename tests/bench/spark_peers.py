"""Python code that runs in Spark's workers while Spark is measured: the floor, and common libraries.

The workers import this module, so that cached results of the floor are kept between jobs.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StringType, StructField, StructType

Batches = Iterable[pa.RecordBatch]
Act = Callable[[Batches], Iterator[pa.RecordBatch]]
_KEPT: dict[tuple[str, int], list[pa.RecordBatch]] = {}

PLAIN = StructType([StructField("msg", StringType()), StructField("generation", LongType())])
ROWS = ("partitionKey", "data")
USER_RECORDS = "partitionKey string, data binary"


def written(frame: DataFrame) -> None:
    """Produce all rows."""
    frame.write.format("noop").mode("overwrite").save()


def same(theirs: DataFrame, ours: DataFrame) -> None:
    """Check that both frames have the same values in common columns, as far as these are simple."""
    simple = ("string", "bigint", "binary")
    own = dict(ours.dtypes)
    shared = [name for name, type in theirs.dtypes if type in simple and own.get(name) == type]
    sums = [frame.select(F.count("*"), F.sum(F.hash(*shared))).first() for frame in (theirs, ours)]
    assert shared
    assert sums[0] == sums[1], (shared, sums)


def through(batches: Batches) -> Iterator[pa.RecordBatch]:
    """The rows unchanged."""
    yield from batches


def already(name: str, act: Act, batches: Batches) -> Iterator[pa.RecordBatch]:
    """The results of `act` for an earlier batch of as many rows: the same columns without any work."""
    for batch in batches:
        key = name, batch.num_rows
        if key not in _KEPT:
            _KEPT[key] = list(act(iter([batch])))
        yield from _KEPT[key]


def msgpack_arrow(batches: Batches) -> Iterator[pa.RecordBatch]:
    """msgpack-python, lists of columns, pyarrow; containers stay MessagePack."""
    import engine_peers

    for batch in batches:
        yield pa.RecordBatch.from_struct_array(engine_peers.aerospike(batch.column(0).to_pylist()))


MEMBERS = (
    "opcode string, key bigint, sequence bigint, logicalPartitionId smallint, physicalPartitionId smallint, "
    "timestampInNanos bigint, srcId int, schemaId string, valueEnc string, isReplicated boolean, value string"
)
BINS = "array<struct<name:string,type:string,order:string,value:variant>>"


def from_json(frame: DataFrame) -> DataFrame:
    """Databus lines with Spark's own reader, which checks little; the two base64 members become bytes."""
    members = frame.select(F.from_json(F.col("value").cast("string"), MEMBERS).alias("it")).select("it.*")
    return members.withColumns({name: F.unbase64(name) for name in ("schemaId", "value")})


def from_variant(frame: DataFrame) -> DataFrame:
    """Aerospike messages as VARIANT, and members extracted from it; the contents of bins stay VARIANT."""
    tree = frame.select(F.parse_json(F.col("value").cast("string")).alias("it"))
    paths = {
        "msg": ("$.msg", "string"),
        "namespace": ("$.key[0]", "string"),
        "set": ("$.key[1]", "string"),
        "digest": ("$.key[2]", "string"),
        "userKey": ("$.key[3]", "variant"),
        "generation": ("$.gen", "bigint"),
        "expiry": ("$.exp", "bigint"),
        "lut": ("$.lut", "bigint"),
        "bins": ("$.bins", BINS),
    }
    found = tree.select(*(F.variant_get("it", path, type).alias(name) for name, (path, type) in paths.items()))
    return found.withColumn("digest", F.unbase64("digest"))


def construct_value(data: bytes) -> tuple[str, int]:
    """Two members of a message that the construct parser read completely."""
    from wireloom_formats import aerospike_msgpack

    value = aerospike_msgpack.parse(bytes(data))
    return value["msg"], value["generation"]


def user_records(batches: Batches) -> Iterator[pa.RecordBatch]:
    """The codec, called like any Python function."""
    from wireloom_formats import kpl_record

    for batch in batches:
        found = kpl_record.CODEC.batches(batch.column(0), columns=ROWS, explode=True, on_error="raise")
        yield from (pa.RecordBatch.from_struct_array(part.records) for part in found)


def deaggregated(batches: Batches) -> Iterator[pa.RecordBatch]:
    """aws-kinesis-agg on the records of a batch."""
    from aws_kinesis_agg.deaggregator import deaggregate_records

    for batch in batches:
        found = deaggregate_records([_wrapped(data) for data in batch.column(0).to_pylist()])
        keys = pa.array([each["kinesis"]["partitionKey"] for each in found], pa.string())
        data = pa.array([_decoded(each["kinesis"]["data"]) for each in found], pa.binary())
        yield pa.RecordBatch.from_arrays([keys, data], ["partitionKey", "data"])


def _wrapped(data: bytes) -> dict[str, Any]:
    """A record in the form that the library expects."""
    import base64

    now = {"approximateArrivalTimestamp": 0}
    outer = dict.fromkeys(("eventVersion", "eventSource", "eventID", "eventName", "invokeIdentityArn", "awsRegion"), "")
    inner = {"partitionKey": "a", "sequenceNumber": "1", "kinesisSchemaVersion": "1.0"}
    return {**outer, "eventSourceARN": "", "kinesis": {"data": base64.b64encode(data), **inner, **now}}


def _decoded(text: bytes | str) -> bytes:
    import base64

    return base64.b64decode(text)

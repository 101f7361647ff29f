"""Kafka: what a real client sends to a real broker is decoded with its place; what Spark encodes the client reads."""

from uuid import uuid4

import pyarrow as pa
import pytest

from integration.numbered import bad, good, number_of
from integration.sessions import started
from integration.topics import received, send
from wireloom_formats import aerospike_msgpack

pytestmark = [pytest.mark.integration, pytest.mark.maven, pytest.mark.filterwarnings("default")]
COUNT = 2_000
PARTITIONS = 3
NAMES = ["key", "partition", "offset", "value", "event", "code"]


@pytest.fixture(scope="module")
def spark(connector):
    with started("local[2]", {"spark.jars": connector}) as session:
        yield session


@pytest.fixture
def topic(broker):
    name = f"events-{uuid4()}"
    broker.create_topic(name, PARTITIONS)
    return name


def rows_of(spark, broker, topic):
    reader = spark.read.format("kafka").option("kafka.bootstrap.servers", broker.address)
    return reader.option("subscribe", topic).load()


def decode(batches):
    for batch in batches:
        found = aerospike_msgpack.decode(batch.column("value"))
        kept = [batch.column(name) for name in ("key", "partition", "offset", "value")]
        yield pa.RecordBatch.from_arrays([*kept, found.records, found.errors.field("code")], names=NAMES)


def encode(batches):
    for batch in batches:
        yield pa.RecordBatch.from_arrays([aerospike_msgpack.encode(batch.column("event"))], names=["value"])


def decoded(spark, broker, topic):
    columns = f"event {aerospike_msgpack.struct_type().simpleString()}, code string"
    schema = f"key binary, partition int, offset long, value binary, {columns}"
    return rows_of(spark, broker, topic).mapInArrow(decode, schema)


def test_every_message_of_a_real_client_is_decoded_with_its_place(spark, broker, topic):
    made = [(b"%d" % number, bad(number) if number % 100 == 7 else good(number)) for number in range(COUNT)]
    sent = send(broker.address, topic, [*made, (b"tombstone", None), (b"empty", b"")])
    rows = decoded(spark, broker, topic).select(*NAMES[:4], "event.key.digest", "code").collect()
    assert {(row.partition, row.offset): (row.key, row.value) for row in rows} == {
        (each.partition, each.offset): (each.key, each.value) for each in sent
    }
    assert len({each.partition for each in sent}) == PARTITIONS
    right = {bytes(row.key): number_of(row.digest) for row in rows if row.digest is not None}
    wrong = {bytes(row.key): row.code for row in rows if row.digest is None}
    assert right == {b"%d" % number: number for number in range(COUNT) if number % 100 != 7}
    assert {wrong.pop(b"tombstone"), wrong.pop(b"empty")} == {None, "truncated"}
    assert wrong == {b"%d" % number: "bad_version" for number in range(7, COUNT, 100)}


def test_what_spark_encodes_the_client_receives_byte_for_byte(spark, broker, topic):
    source = sorted(good(number) for number in range(COUNT))
    send(broker.address, topic, [(None, value) for value in source])
    encoded = decoded(spark, broker, topic).mapInArrow(encode, "value binary")
    broker.create_topic(f"{topic}-back", PARTITIONS)
    writer = encoded.write.format("kafka").option("kafka.bootstrap.servers", broker.address)
    writer.option("topic", f"{topic}-back").save()
    assert sorted(each.value for each in received(broker.address, f"{topic}-back", PARTITIONS)) == source

"""Messages of a real client on a real broker are decoded with their places; the client reads what Spark encodes."""

import pytest

from integration.numbered import bad, good, number_of
from integration.sessions import started
from integration.topics import received, send
from wireloom_formats.functions import decode_aerospike_msgpack, from_aerospike_msgpack, to_aerospike_msgpack

pytestmark = [pytest.mark.integration, pytest.mark.maven, pytest.mark.filterwarnings("default"), pytest.mark.thorough]
COUNT = 2_000
WRONG = range(7, COUNT, 100)
PLACE = ["key", "partition", "offset"]


@pytest.fixture(scope="module")
def spark(connector):
    with started("local[2]", {"spark.jars": connector}) as session:
        yield session


def read(spark, broker, topic):
    reader = spark.read.format("kafka").option("kafka.bootstrap.servers", broker.address)
    return reader.option("subscribe", topic).load()


def test_every_message_of_a_real_client_is_decoded_with_its_place(spark, broker, topic):
    made = [(b"%d" % number, bad(number) if number in WRONG else good(number)) for number in range(COUNT)]
    sent = send(broker.address, topic, [*made, (b"tombstone", None), (b"empty", b"")])
    frame = decode_aerospike_msgpack(read(spark, broker, topic), "value", keep=PLACE, into="event")
    rows = frame.select(*PLACE, "event.key.digest", "_error.code", "_corrupt_record").collect()
    assert {(row.partition, row.offset): bytes(row.key) for row in rows} == {
        (each.partition, each.offset): each.key for each in sent
    }
    right = {int(row.key): number_of(row.digest) for row in rows if row.digest is not None}
    assert right == {number: number for number in range(COUNT) if number not in WRONG}
    wrong = {bytes(row.key): (row.code, row._corrupt_record) for row in rows if row.digest is None}
    assert (wrong.pop(b"tombstone"), wrong.pop(b"empty")) == ((None, None), ("truncated", b""))
    assert wrong == {b"%d" % number: ("bad_version", bad(number)) for number in WRONG}


def test_what_spark_encodes_the_client_receives_byte_for_byte(spark, broker, topic):
    source = sorted(good(number) for number in range(COUNT))
    send(broker.address, topic, [(None, value) for value in source])
    broker.create_topic(f"{topic}-back")
    encoded = read(spark, broker, topic).select(to_aerospike_msgpack(from_aerospike_msgpack("value")).alias("value"))
    writer = encoded.write.format("kafka").option("kafka.bootstrap.servers", broker.address)
    writer.option("topic", f"{topic}-back").save()
    assert sorted(each.value for each in received(broker.address, f"{topic}-back", 2)) == source

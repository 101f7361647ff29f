"""A Kinesis stream written as the KPL does is read by shard and decoded to user records."""

from collections import Counter
from uuid import uuid4

import pyarrow as pa
import pytest

from conftest import GENERATED
from integration.kinesis_stream import Shard, Stream, User, server
from wireloom.spark.session import session
from wireloom_formats import kpl_record
from wireloom_formats.functions import decode_kpl_record

pytestmark = [pytest.mark.integration, pytest.mark.filterwarnings("default"), pytest.mark.thorough]
COUNT = 600
STEP = (1 << 128) // COUNT
USERS = [  # every fifth has a hash key of its own
    User(f"user-{number % 97}", b"%d" % number, str(number * STEP) if number % 5 == 0 else None)
    for number in range(COUNT)
]
BY_DATA = {user.data: user for user in USERS}
HALF = 1 << 127


@pytest.fixture(scope="module")
def client():
    with server() as started:
        yield started


@pytest.fixture
def stream(client):
    return new_stream(client, 2)


def new_stream(client, shards):
    name = f"stream-{uuid4()}"
    client.create_stream(StreamName=name, ShardCount=shards)
    return Stream(client, name)


def decoded(stream, shard, **parameters):
    """The Kinesis records of a shard, and the rows of their user records, each with the place of its record."""
    records = stream.records(shard)
    found = kpl_record.decode(pa.array([each["Data"] for each in records], pa.binary()), explode=True, **parameters)
    assert set(found.errors.to_pylist()) <= {None}
    return records, list(zip(found.parents.to_pylist(), found.records.to_pylist(), strict=True))


def filtered(stream, shard):
    return decoded(stream, shard, shard_range=(shard.first, shard.last))


def users_by_record(stream, shard):
    """The user records of each Kinesis record, without a filter."""
    records, rows = decoded(stream, shard)
    found = [[] for _ in records]
    for parent, row in rows:
        found[parent].append(BY_DATA[row["data"]])
    return found


def test_every_user_record_is_read_once_with_its_own_keys_and_a_unique_position(stream):
    stream.put(USERS, stream.shards())
    expected = dict(BY_DATA)
    positions, kinds = [], Counter()
    for shard in stream.shards():
        records, rows = filtered(stream, shard)
        for parent, row in rows:
            user = expected.pop(row["data"])
            outer = records[parent]
            assert shard.has(user)
            assert (outer["PartitionKey"] if row["kind"] == "plain" else row["partitionKey"]) == user.key
            assert row["explicitHashKey"] == (None if row["kind"] == "plain" else user.explicit)
            positions.append((shard.name, outer["SequenceNumber"], row["subSequenceNumber"]))
            kinds[row["kind"]] += 1
    assert not expected
    assert len(set(positions)) == COUNT
    assert min(kinds["plain"], kinds["aggregated"]) > 0


def test_sub_sequence_numbers_count_up_within_each_kinesis_record(stream):
    stream.put(USERS, stream.shards())
    for shard in stream.shards():
        records, rows = filtered(stream, shard)
        places = [[] for _ in records]
        for parent, row in rows:
            places[parent].append(row["subSequenceNumber"])
        assert all(found == list(range(len(found))) for found in places)
        assert {len(found) for found in places} >= {1, 2, 7}


def test_the_shard_range_discards_whole_the_aggregates_of_a_producer_that_missed_a_reshard(client):
    stream = new_stream(client, 4)
    stream.put(USERS, (Shard("lower", 0, HALF - 1), Shard("upper", HALF, 2 * HALF - 1)))
    kept, belonging, discarded = [], [], 0
    for shard in stream.shards():
        records, rows = filtered(stream, shard)
        kept += [row["data"] for _, row in rows]
        data = pa.array([each["Data"] for each in records], pa.binary())
        counts = kpl_record.decode(data, ["discarded"], shard_range=(shard.first, shard.last)).records
        discarded += sum(counts.field("discarded").to_pylist())
        for users in users_by_record(stream, shard):
            belonging += [user.data for user in users if all(shard.has(each) for each in users)]
    assert sorted(kept) == sorted(belonging)
    assert len(kept) + discarded == COUNT
    assert 0 < discarded < COUNT


def test_without_a_shard_range_nothing_is_discarded(client):
    stream = new_stream(client, 4)
    stream.put(USERS, (Shard("all", 0, 2 * HALF - 1),))
    found = Counter(row["data"] for shard in stream.shards() for _, row in decoded(stream, shard)[1])
    assert found == Counter(BY_DATA.keys())


@pytest.fixture(scope="module")
def spark():
    with session((GENERATED,)) as started:
        yield started


def test_on_spark_each_shard_is_decoded_with_its_range_beside_the_columns_of_its_records(spark, client):
    stream = new_stream(client, 4)
    stream.put(USERS, (Shard("lower", 0, HALF - 1), Shard("upper", HALF, 2 * HALF - 1)))
    for shard in stream.shards():
        taken = [(each["SequenceNumber"], each["PartitionKey"], each["Data"]) for each in stream.records(shard)]
        frame = spark.createDataFrame(taken, "sequenceNumber string, outerKey string, data binary")
        decoded = decode_kpl_record(frame, "data", {"shardRange": f"{shard.first}..{shard.last}"})
        found = decoded.select("sequenceNumber", "subSequenceNumber", "outerKey", "partitionKey", "data").collect()
        records, rows = filtered(stream, shard)
        assert sorted(map(tuple, found)) == sorted(
            (
                records[parent]["SequenceNumber"],
                row["subSequenceNumber"],
                records[parent]["PartitionKey"],
                row["partitionKey"],
                row["data"],
            )
            for parent, row in rows
        )

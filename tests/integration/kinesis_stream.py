"""A Kinesis stream on a local server, written as the KPL does and read by shard, both with boto3."""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import boto3
from moto.server import ThreadedMotoServer

from wireloom_formats import kpl_record

AGGREGATED_KEY = "a"  # the partition key that the KPL gives to every aggregate
AT_ONCE = 100  # records per call
SIZES = 7  # aggregates have 1 to 7 user records, in turns


@dataclass(frozen=True, slots=True)
class User:
    """A user record."""

    key: str
    data: bytes
    explicit: str | None = None

    @property
    def hash(self) -> int:
        """The hash key that decides its shard."""
        if self.explicit is not None:
            return int(self.explicit)
        return int.from_bytes(hashlib.md5(self.key.encode(), usedforsecurity=False).digest(), "big")


@dataclass(frozen=True, slots=True)
class Shard:
    """A shard with its first and last hash key."""

    name: str
    first: int
    last: int

    def has(self, user: User) -> bool:
        """Whether the user record belongs to the shard."""
        return self.first <= user.hash <= self.last


@dataclass(frozen=True, slots=True)
class Stream:
    """A stream of a local server."""

    client: Any
    name: str

    def shards(self) -> list[Shard]:
        """The shards, as DescribeStream has them."""
        described = self.client.describe_stream(StreamName=self.name)["StreamDescription"]["Shards"]
        ranges = [(each["ShardId"], each["HashKeyRange"]) for each in described]
        return [Shard(name, int(keys["StartingHashKey"]), int(keys["EndingHashKey"])) for name, keys in ranges]

    def put(self, users: Sequence[User], predicted: Sequence[Shard]) -> None:
        """Send user records, aggregated by the shard that the producer predicts."""
        records = [record for shard in predicted for record in _records([user for user in users if shard.has(user)])]
        for start in range(0, len(records), AT_ONCE):
            answer = self.client.put_records(StreamName=self.name, Records=records[start : start + AT_ONCE])
            if answer["FailedRecordCount"]:
                raise RuntimeError(f"the server refused records: {answer}")

    def records(self, shard: Shard) -> list[dict[str, Any]]:
        """All records of the shard."""
        start = {"StreamName": self.name, "ShardId": shard.name, "ShardIteratorType": "TRIM_HORIZON"}
        iterator = self.client.get_shard_iterator(**start)["ShardIterator"]
        found: list[dict[str, Any]] = []
        while True:
            answer = self.client.get_records(ShardIterator=iterator, Limit=AT_ONCE)
            if not answer["Records"]:
                return found
            found += answer["Records"]
            iterator = answer["NextShardIterator"]


@contextmanager
def server() -> Iterator[Any]:
    """A client of a Kinesis server on loopback."""
    running = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    try:
        yield boto3.client(
            "kinesis",
            endpoint_url=f"http://{host}:{port}",
            region_name="us-east-1",
            aws_access_key_id="test",
            aws_secret_access_key="test",  # noqa: S106 - nobody asks for it
        )
    finally:
        running.stop()


def _records(users: Sequence[User]) -> Iterator[dict[str, object]]:
    taken = count = 0
    while taken < len(users):
        size = count % SIZES + 1
        yield _record(users[taken : taken + size])
        taken, count = taken + size, count + 1


def _record(users: Sequence[User]) -> dict[str, object]:
    """A Kinesis record as the KPL sends it: a single user record unchanged, several as an aggregate."""
    first, *others = users
    if not others:
        return {"Data": first.data, "PartitionKey": first.key, "ExplicitHashKey": str(first.hash)}
    records = [
        {
            "subSequenceNumber": place,
            "partitionKey": user.key,
            "explicitHashKey": user.explicit,
            "data": user.data,
            "tags": [],
        }
        for place, user in enumerate(users)
    ]
    value = {"kind": "aggregated", "records": records, "lost": 0, "discarded": 0, "class": "aggregated"}
    return {"Data": kpl_record.build(value), "PartitionKey": AGGREGATED_KEY, "ExplicitHashKey": str(first.hash)}

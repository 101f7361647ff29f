"""Executors in processes of their own decode as the driver does, and a killed one loses no record."""

import time
from collections import Counter

import pytest
from pyspark.sql import functions as F

from integration.faults import FULL
from integration.ingestion import Ingest, counts
from integration.numbered import everything, message, number_of
from integration.processes import kill
from integration.sessions import started
from integration.spark_cluster import running
from wireloom_formats.functions import (
    decode_aerospike_msgpack,
    from_aerospike_msgpack,
    to_aerospike_msgpack,
    validate_aerospike_msgpack,
)

pytestmark = [pytest.mark.integration, pytest.mark.filterwarnings("default"), pytest.mark.thorough]
FILES = 8
RECORDS = 25_000  # of each file
TOTAL = FILES * RECORDS
SOME = 4_000  # records of a DataFrame
GOOD = everything(SOME).records


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with running(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def landing(tmp_path_factory):
    folder = tmp_path_factory.mktemp("landing")
    for place in range(FILES):
        records = map(message, range(place * RECORDS, (place + 1) * RECORDS))
        stream = b"".join(len(record).to_bytes(4, "big") + record for record in records)
        (folder / f"{place}.bin").write_bytes(stream)
    return folder


@pytest.fixture
def ingest(cluster, landing, tmp_path):
    return Ingest(tmp_path, ("--framing", "length-prefixed", "--input", str(landing), "--master", cluster.master))


def test_both_executors_decode_and_every_record_is_in_one_table(cluster, ingest):
    seen = set()
    with ingest.started() as run:
        while run.alive:
            seen |= cluster.at_work()
            time.sleep(0.05)
        run.finish()
    assert len(seen) == 2
    assert counts(ingest.output) == everything(TOTAL)


@pytest.mark.parametrize("delay", [0.0, 1.0] if FULL else [0.0])
def test_an_executor_that_is_killed_costs_no_record(cluster, ingest, delay):
    with ingest.started() as run:
        run.wait_until(lambda: bool(cluster.at_work()))
        victim = min(cluster.at_work() or cluster.executors())
        time.sleep(delay)
        assert run.alive
        kill(victim)
        said = run.finish()
    found = counts(ingest.output)
    assert found == everything(TOTAL)
    sums = (TOTAL, found.records.total(), found.quarantine.total())
    assert "{} records in = {} decoded + {} quarantined".format(*sums) in said.replace(",", "")


@pytest.fixture(scope="module")
def spark(cluster):
    with started(cluster.master, {"spark.default.parallelism": "4"}) as session:
        yield session


@pytest.fixture(scope="module")
def messages(spark):
    rows = [(number, bytearray(message(number))) for number in range(SOME)]
    return spark.createDataFrame(rows, "number int, value binary").repartition(4)


def test_decode_runs_on_the_executors_beside_the_columns_that_are_kept(messages):
    frame = decode_aerospike_msgpack(messages, "value", fields=["key.digest"], keep=["number"])
    rows = frame.select("number", "key.digest", "_error.code", "_corrupt_record").collect()
    assert {row.number: number_of(row.digest) for row in rows if row.digest} == {each: each for each in GOOD}
    wrong = {row.number: (row.code, row._corrupt_record) for row in rows if row.digest is None}
    assert wrong == {each: ("bad_version", message(each)) for each in range(SOME) if each not in GOOD}


def test_functions_run_on_the_executors_there_and_back(messages, cluster):
    options = {"mode": "PERMISSIVE"}
    made = to_aerospike_msgpack(from_aerospike_msgpack("value", options))
    code = F.get(validate_aerospike_msgpack("value"), 0)["rule"]
    rows = messages.select("value", made.alias("made"), code.alias("code")).collect()
    assert len(cluster.at_work()) == 2
    assert Counter(row.code for row in rows) == {None: len(GOOD), "bad_version": SOME - len(GOOD)}
    assert all(row.made == (row.value if row.code is None else None) for row in rows)

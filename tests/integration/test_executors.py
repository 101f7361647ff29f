"""Executors in processes of their own: they decode as the driver says, and one that is killed costs no record."""

import time

import pytest

from integration.ingestion import Ingest, counts
from integration.numbered import everything, message
from integration.processes import kill
from integration.spark_cluster import running

pytestmark = [pytest.mark.integration, pytest.mark.filterwarnings("default")]
FILES = 8
RECORDS = 25_000  # of each file
TOTAL = FILES * RECORDS


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with running(tmp_path_factory.mktemp("cluster")) as started:
        yield started


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


@pytest.mark.parametrize("delay", [0.0, 1.0])
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

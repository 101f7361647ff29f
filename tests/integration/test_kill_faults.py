"""A stream from Kafka is killed at random moments; every message is in the table or the quarantine, once."""

import random
import time

import pytest

from integration.faults import COUNT, KILLS, PER_BATCH, SEED
from integration.ingestion import Run, batches, begun, counts, rows, staged
from integration.numbered import everything, messages
from integration.topics import send

pytestmark = [pytest.mark.integration, pytest.mark.maven, pytest.mark.filterwarnings("default"), pytest.mark.thorough]
KINDS = (Run.kill, Run.kill_jvm, Run.kill_all)
MOMENTS = (  # what is waited for, and for how many seconds at most from then on
    (begun, 5.0),  # a batch is planned
    (staged, 1.0),  # a batch is being written
    (rows, 1.0),  # a batch has got into the tables
)


def await_a_random_moment(run, ingest, chance):
    seen, seconds = chance.choice(MOMENTS)
    before = seen(ingest.output)
    run.wait_until(lambda: seen(ingest.output) not in (before, frozenset()))
    time.sleep(chance.uniform(0, seconds))
    assert run.alive


def test_a_stream_that_is_killed_again_and_again_loses_nothing_and_writes_nothing_twice(broker, topic, ingest):
    send(broker.address, topic, messages(0, COUNT))
    chance = random.Random(SEED)  # noqa: S311 - moments, not secrets
    for number in range(KILLS):
        with ingest.having("--max-per-batch", str(PER_BATCH)).started() as run:
            await_a_random_moment(run, ingest, chance)
            KINDS[number % len(KINDS)](run)
            run.process.wait(60)
        most = counts(ingest.output).most()
        assert most <= 1, f"a record is there {most} times after {number + 1} kills, WIRELOOM_SEED={SEED}"
    assert rows(ingest.output) < COUNT, "everything was done before the last kill"
    ingest.having("--trigger", "available-now").finished()
    assert counts(ingest.output) == everything(COUNT)
    batches(ingest, COUNT)

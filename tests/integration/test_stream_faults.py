"""Faults around a stream from Kafka; afterwards every message is in the table or the quarantine, once."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from integration.faults import COUNT, MANY, PER_BATCH
from integration.ingestion import batches, begun, column, counts, rows
from integration.kafka_broker import LARGEST
from integration.numbered import Counts, bad, everything, good, having_blob, having_list, messages, nested, number_of
from integration.processes import kill
from integration.spark_cluster import running
from integration.topics import send
from wireloom.runtime.streams.framed import KEPT

pytestmark = [pytest.mark.integration, pytest.mark.maven, pytest.mark.filterwarnings("default"), pytest.mark.thorough]
HUGE = 30_000_000


def test_a_broker_that_is_restarted_under_a_stream_costs_no_message(broker, topic, ingest):
    third = COUNT // 3
    send(broker.address, topic, messages(0, third))
    with ingest.having("--max-per-batch", str(PER_BATCH * 4)).started() as run, ThreadPoolExecutor() as threads:
        run.wait_until(lambda: rows(ingest.output) > 0)
        sending = threads.submit(send, broker.address, topic, messages(third, 2 * third))
        broker.restart()
        sending.result()
        broker.restart()
        send(broker.address, topic, messages(2 * third, 3 * third))
        run.wait_until(lambda: rows(ingest.output) >= 3 * third)
        run.interrupt()
    assert counts(ingest.output) == everything(3 * third)
    batches(ingest, 3 * third)


def test_an_executor_that_is_killed_under_a_stream_costs_no_message(broker, topic, ingest, tmp_path_factory):
    send(broker.address, topic, messages(0, COUNT))
    with running(tmp_path_factory.mktemp("cluster")) as cluster:
        options = ("--max-per-batch", str(COUNT // 6), "--trigger", "available-now", "--master", cluster.master)
        with ingest.having(*options).started() as run:
            run.wait_until(lambda: begun(ingest.output) > 1)
            before = cluster.executors()
            kill(min(cluster.at_work()))
            run.wait_until(lambda: bool(cluster.executors() - before))
            run.finish()
    assert counts(ingest.output) == everything(COUNT)
    batches(ingest, COUNT)


def test_poison_among_good_messages_is_quarantined_with_its_code_and_stops_nothing(broker, topic, ingest):
    poison = {
        "truncated": having_list(0, b"\xdd\xff\xff\xff\xff"),  # 4,294,967,295 elements, it says
        "depth_limit": having_list(0, nested(65)),
        "trailing_bytes": good(0) + bytes(HUGE),
        "bad_msgpack": b"\xc1" * HUGE,
        "no_data": None,
    }
    fine = [*map(good, range(1000)), having_list(1000, nested(64)), having_blob(1001, HUGE)]
    values = [*fine[:500], *poison.values(), *fine[500:]]
    send(broker.address, topic, ((None, value) for value in values))
    limits = (f"kafka.max.partition.fetch.bytes={LARGEST}",)
    ingest.having("--trigger", "available-now", "--source-option", *limits).finished()
    assert Counter(map(number_of, column(ingest.output / "records", ("key", "digest")))) == Counter(range(len(fine)))
    kept = [column(ingest.output / "quarantine", (name,)) for name in ("code", "raw", "raw_size")]
    assert {code: (raw, size) for code, raw, size in zip(*kept, strict=True)} == {
        code: (value and value[:KEPT], value and len(value)) for code, value in poison.items()
    }
    (batch,) = batches(ingest, len(values))
    assert batch["errors"] == dict.fromkeys(poison, 1)


def test_one_bad_message_in_a_large_batch_is_the_only_one_in_quarantine(broker, topic, ingest):
    wrong = MANY // 3
    send(broker.address, topic, ((None, bad(n) if n == wrong else good(n)) for n in range(MANY)))
    ingest.having("--trigger", "available-now").finished()
    found = counts(ingest.output)
    assert found == Counts(Counter(n for n in range(MANY) if n != wrong), Counter([wrong]))
    (batch,) = batches(ingest, MANY)
    assert batch["errors"] == {"bad_version": 1}

"""The native engine beside its peers: `python tests/bench/engine_bench.py [messages]`, one thread.

Rounds are interleaved, so that what else the machine does hits all alike; the table shows medians of the ratios of a
round. Results are compared before anything is timed.
"""
# ruff: noqa: T201, PT018 - it prints a table

import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "generator"), str(ROOT / "generated"), str(Path(__file__).parent)]

import engine_data as data  # noqa: E402
import engine_peers as peers  # noqa: E402
import pyarrow as pa  # noqa: E402

from wireloom.runtime.engine import Request  # noqa: E402

ROUNDS = 7
_CONSTRUCT_SHARE = 400  # the construct parser reads that much less

Work = Mapping[
    str, tuple[Callable[[], object], float]
]  # name -> what to do, and the share of the messages it is done to


def main(count: int) -> None:
    """Measure all formats."""
    for title, work in (
        ("aerospike_msgpack", _aerospike(count)),
        ("databus_event", _databus(count)),
        ("kpl_record", _kpl(count)),
    ):
        _report(title, work)


def _report(title: str, work: Work) -> None:
    rounds = [{name: _timed(action) / share for name, (action, share) in work.items()} for _ in range(ROUNDS)]
    base = next(iter(work))
    for name in work:
        ratio = statistics.median(each[name] / each[base] for each in rounds)
        seconds = statistics.median(each[name] for each in rounds)
        print(f"{title:<18} {name:<34} {seconds * 1000:>10.1f} ms {ratio:>10.2f} x")


def _timed(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def _decoder(
    name: str, array: pa.Array, columns: Sequence[str] | None = None, *, explode: bool = False
) -> Callable[[], pa.StructArray]:
    engine = data.engine(name)
    settings = engine.codec.settings({})
    request = Request(engine.codec.default_root, settings, None if columns is None else tuple(columns), explode)

    def decode() -> pa.StructArray:
        found = engine.decode(array, request)
        assert found is not None and found.errors.null_count == len(found.errors) and not engine.reread
        return found.records

    return decode


def _construct(name: str, messages: Sequence[bytes]) -> tuple[Callable[[], object], float]:
    engine = data.engine(name)
    some = messages[: max(1, len(messages) // _CONSTRUCT_SHARE)]
    request = Request(engine.codec.default_root, engine.codec.settings({}))
    return (lambda: [engine.parse(each, request) for each in some]), len(some) / len(messages)


def _aerospike(count: int) -> Work:
    messages = data.aerospike(count)
    array = pa.array(messages, pa.binary())
    decode = _decoder("aerospike_msgpack", array)
    ours, theirs = decode(), peers.aerospike(messages)
    assert ours.field("key").field("digest").equals(theirs.field("key").field("digest"))
    assert ours.field("bins").values.field("name").equals(theirs.field("bins").values.field("name"))
    assert (
        ours.field("bins")
        .values.field("value")
        .field("int")
        .equals(theirs.field("bins").values.field("value").field("int"))
    )
    print(f"aerospike_msgpack: {len(messages)} messages of {array.nbytes / len(messages):.0f} bytes")
    return {
        "engine, all columns": (decode, 1),
        "engine, msg alone": (_decoder("aerospike_msgpack", array, ["msg"]), 1),
        "msgpack-python + pyarrow, GC off": (lambda: peers.aerospike(messages), 1),
        "construct": _construct("aerospike_msgpack", messages),
    }


def _databus(count: int) -> Work:
    events = data.databus(count)
    array = pa.array(events, pa.binary())
    decode = _decoder("databus_event", array)
    ours, fast, slow = decode(), peers.databus_numpy(array), peers.databus_struct(events)
    for name in ("sequence", "key", "value", "timestampInNanos"):
        assert ours.field(name).equals(fast.column(name)) and ours.field(name).equals(slow.column(name))
    print(f"databus_event: {len(events)} events of {array.nbytes / len(events):.0f} bytes")
    return {
        "engine, all columns": (decode, 1),
        "engine, key alone": (_decoder("databus_event", array, ["key"]), 1),
        "numpy + zlib": (lambda: peers.databus_numpy(array), 1),
        "struct + zlib": (lambda: peers.databus_struct(events), 1),
        "construct": _construct("databus_event", events),
    }


def _kpl(count: int) -> Work:
    records = data.kpl(max(20, count // 240))
    array = pa.array(records, pa.binary())
    decode = _decoder("kpl_record", array, explode=True)
    ours, theirs = decode(), peers.kpl_protobuf(records)
    for name in ("subSequenceNumber", "partitionKey", "data"):
        assert ours.field(name).equals(theirs.column(name))
    print(f"kpl_record: {len(records)} aggregates of {array.nbytes / len(records):.0f} bytes")
    work: dict[str, tuple[Callable[[], object], float]] = {
        "engine, all columns, flat": (decode, 1),
        "engine, partitionKey alone": (_decoder("kpl_record", array, ["partitionKey"], explode=True), 1),
        "hashlib.md5 alone": (lambda: peers.md5(records), 1),
        "hashlib + protobuf upb + pyarrow": (lambda: peers.kpl_protobuf(records), 1),
        "construct": _construct("kpl_record", records),
    }
    return work | _deaggregator(records)


def _deaggregator(records: Sequence[bytes]) -> Work:
    """aws-kinesis-agg, where it is installed."""
    try:
        from aws_kinesis_agg.deaggregator import deaggregate_records
    except ImportError:
        return {}
    import base64

    outer = dict.fromkeys(("eventVersion", "eventSource", "eventID", "eventName", "invokeIdentityArn", "awsRegion"), "")
    inner = {"partitionKey": "a", "sequenceNumber": "1", "kinesisSchemaVersion": "1.0"}
    inner_time = {"approximateArrivalTimestamp": 0}
    wrapped = [
        {**outer, "eventSourceARN": "", "kinesis": {"data": base64.b64encode(record), **inner, **inner_time}}
        for record in records
    ]
    return {"aws-kinesis-agg": (lambda: deaggregate_records(wrapped), 1)}


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200_000)

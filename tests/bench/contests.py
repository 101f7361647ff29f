"""The contests: each format's engine against others that do the same work, with their results compared.

Slow contestants work on a part of the messages: the construct parser, the Kaitai readers and aws-kinesis-agg.
"""

import base64
import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa

import differential
import engine_data as data
import engine_peers as peers
import kaitai_readers
from contest import Contestant, Work
from wireloom.runtime.engine import Request

_AGGREGATES = 240  # messages per aggregate, of one record each


def works(count: int) -> Sequence[Callable[[], Work]]:
    """All contests; each makes its messages when it is called."""
    return (lambda: aerospike(count), lambda: databus(count), lambda: kpl(count))


def aerospike(count: int) -> Work:
    """Writes of 3 to 8 bins."""
    messages = data.aerospike(count)
    array = pa.array(messages, pa.binary())
    decode = data.decoder("aerospike_msgpack")
    ours, theirs = decode(array), peers.aerospike(messages)
    for path in (("msg",), ("key", "digest"), ("generation",), ("lut",), ("bins", "name"), ("bins", "value", "int")):
        same(".".join(path), within(ours, path), within(theirs, path))
    return Work(
        "Aerospike MessagePack",
        count,
        array.nbytes / count,
        (
            Contestant("engine, all columns", lambda: decode(array)),
            one_column("aerospike_msgpack", "msg", array),
            Contestant(
                "msgpack-python + pyarrow, GC off; containers stay MessagePack", lambda: peers.aerospike(messages), 1, 8
            ),
            construct("aerospike_msgpack", messages, 500, 300),
            *encoder("aerospike_msgpack", ours, messages),
            copying(array, ours),
        ),
    )


def databus(count: int) -> Work:
    """V1 events, both checksums verified."""
    events = data.databus(count)
    array = pa.array(events, pa.binary())
    decode = data.decoder("databus_event")
    ours, part = decode(array), events[: max(1, count // 10)]
    for theirs in (peers.databus_numpy(array), peers.databus_struct(events)):
        for name in ("sequence", "key", "value", "timestampInNanos"):
            same(name, ours.field(name), theirs.column(name))
    for theirs in (kaitai_readers.written(part), kaitai_readers.kaitai(part)):
        for name in ("sequence", "key", "value", "timestampInNanos"):
            same(name, ours.field(name)[: len(part)], theirs.column(name))
    share = len(part) / count
    return Work(
        "Databus V1, both checksums",
        count,
        array.nbytes / count,
        (
            Contestant("engine, all columns", lambda: decode(array)),
            one_column("databus_event", "key", array),
            Contestant("numpy + zlib; events of one size only", lambda: peers.databus_numpy(array), 1, 4),
            Contestant("struct + zlib + pyarrow", lambda: peers.databus_struct(events), 1, 8),
            Contestant("reader in Kaitai's style + zlib + pyarrow", lambda: kaitai_readers.written(part), share),
            Contestant("the same on Kaitai's runtime", lambda: kaitai_readers.kaitai(part), share),
            construct("databus_event", events, 300, 100),
            *encoder("databus_event", ours, events),
            copying(array, ours),
        ),
    )


def kpl(count: int) -> Work:
    """Aggregates of 50 KB, MD5 verified, to flat rows."""
    records = data.kpl(max(20, count // _AGGREGATES))
    array = pa.array(records, pa.binary())
    decode = data.decoder("kpl_record", explode=True)
    ours, theirs = decode(array), peers.kpl_protobuf(records)
    for name in ("subSequenceNumber", "partitionKey", "data"):
        same(name, ours.field(name), theirs.column(name))
    part = records[: max(1, len(records) // 8)]
    wrapped = _wrapped(part)
    deaggregated = peers.kpl_deaggregated(wrapped)
    same("partitionKey", ours.field("partitionKey")[: len(deaggregated)], deaggregated.column("partitionKey"))
    same("data", ours.field("data")[: len(deaggregated)], deaggregated.column("data"))
    nested = data.decoder("kpl_record")(array)
    return Work(
        "KPL aggregates, MD5, flat rows",
        len(records),
        array.nbytes / len(records),
        (
            Contestant("engine, all columns", lambda: decode(array)),
            one_column("kpl_record", "partitionKey", array, explode=True),
            Contestant("hashlib.md5 alone over the same bytes", lambda: peers.md5(records), 1, 0.8),
            Contestant("hashlib + protobuf (upb) + pyarrow", lambda: peers.kpl_protobuf(records), 1, 2),
            Contestant(
                "aws-kinesis-agg; Python objects, no columns",
                lambda: peers.kpl_deaggregate(wrapped),
                len(part) / len(records),
                3,
            ),
            construct("kpl_record", records, 100, None),
            *encoder("kpl_record", nested, records),
            copying(array, ours),
        ),
    )


# --- contestants ---------------------------------------------------------------------------------------------------


def one_column(name: str, column: str, array: pa.Array, *, explode: bool = False) -> Contestant:
    """The engine decoding one column."""
    decode = data.decoder(name, [column], explode=explode)
    return Contestant(f"engine, `{column}` alone", lambda: decode(array), most=1 / 1.5)


def construct(name: str, messages: Sequence[bytes], part: int, target: float | None) -> Contestant:
    """The construct parser on its part of the messages."""
    engine, some = data.engine(name), messages[: max(1, len(messages) // part)]
    request = Request(engine.codec.default_root, engine.codec.settings({}))
    if differential.compare(engine, some, request):
        raise data.DifferenceError(f"{name}: engine and construct parser")
    share, reader = len(some) / len(messages), engine.reader(request)
    return Contestant("construct parser", lambda: [reader.read_all(each) for each in some], share, target)


def encoder(name: str, records: pa.StructArray, messages: Sequence[bytes]) -> Sequence[Contestant]:
    """Encoding, which must give the same bytes."""
    engine = data.engine(name)
    request = Request(engine.codec.default_root, engine.codec.settings({}))
    if engine.encode(records, request).to_pylist() != list(messages):
        raise data.DifferenceError(f"{name}: what is encoded is not what was decoded")
    return (Contestant("engine, encode", lambda: engine.encode(records, request), most=2),)


def copying(array: pa.Array, records: pa.StructArray) -> Contestant:
    """The physical limit: copying as many bytes as are read and written."""
    size = array.nbytes + records.nbytes
    source, target = ctypes.create_string_buffer(size), ctypes.create_string_buffer(size)
    ctypes.memset(source, 1, size)
    return Contestant(f"memcpy of input and output ({size / 1e6:.0f} MB)", lambda: ctypes.memmove(target, source, size))


# --- comparing -----------------------------------------------------------------------------------------------------


def same(name: str, ours: pa.Array, theirs: pa.Array) -> None:
    """Raise DifferenceError if two columns differ."""
    if not ours.cast(theirs.type).equals(theirs):
        raise data.DifferenceError(name)


def within(array: pa.Array, path: Sequence[str]) -> pa.Array:
    """The column at a path, through lists."""
    for name in path:
        array = (array.values if isinstance(array, pa.ListArray) else array).field(name)
    return array.values if isinstance(array, pa.ListArray) else array


def _wrapped(records: Sequence[bytes]) -> list[dict[str, Any]]:
    """Records in the form that Lambda functions get, which aws-kinesis-agg expects."""
    outer = dict.fromkeys(("eventVersion", "eventSource", "eventID", "eventName", "invokeIdentityArn", "awsRegion"), "")
    inner = {"partitionKey": "a", "sequenceNumber": "1", "kinesisSchemaVersion": "1.0"}
    inner_time = {"approximateArrivalTimestamp": 0}
    return [
        {**outer, "eventSourceARN": "", "kinesis": {"data": base64.b64encode(record), **inner, **inner_time}}
        for record in records
    ]

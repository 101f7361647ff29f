"""The contests of JSON: the engine against json.loads, orjson and msgspec, each with pyarrow at the end."""

import json
from collections.abc import Callable, Sequence
from importlib.util import find_spec

import pyarrow as pa

import engine_data as data
import json_peers as peers
from contest import Contestant, Work
from contests import construct, copying, one_column, same, within


def works(count: int) -> Sequence[Callable[[], Work]]:
    """All contests; each makes its messages when it is called."""
    return (
        lambda: aerospike(count),
        lambda: databus(count),
        lambda: writing("Aerospike", "aerospike_json", data.aerospike_json(count)),
        lambda: writing("Databus", "databus_json", data.databus_json(count)),
    )


def aerospike(count: int) -> Work:
    """Writes of 3 to 8 bins."""
    messages = data.aerospike_json(count)
    array = pa.array(messages, pa.binary())
    decode = data.decoder("aerospike_json")
    ours = decode(array)
    others = [(f"{name} + pyarrow", _reading(peers.aerospike, messages, read)) for name, read in _readers()]
    others += [("msgspec with typed structs + pyarrow", lambda: peers.aerospike_typed(messages))] * _has("msgspec")
    paths = (("msg",), ("key", "digest"), ("generation",), ("lut",), ("bins", "name"), ("bins", "type"))
    values = tuple(("bins", "value", kind) for kind in ("int", "float", "str", "bytes", "bool"))
    for _, action in others:
        theirs = action()
        for path in (*paths, *values):
            same(".".join(path), within(ours, path), within(theirs, path))
    return _work("Aerospike JSON", messages, array, ours, others, "aerospike_json", "msg")


def databus(count: int) -> Work:
    """V1 lines, values in base64."""
    lines = data.databus_json(count)
    array = pa.array(lines, pa.binary())
    decode = data.decoder("databus_json")
    ours = decode(array)
    others = [(f"{name} + pyarrow", _reading(peers.databus, lines, read)) for name, read in _readers()]
    others += [("msgspec with typed structs + pyarrow", lambda: peers.databus_typed(lines))] * _has("msgspec")
    for _, action in others:
        theirs = action()
        for name in ("opcode", "key", "sequence", "timestampInNanos", "schemaId", "value"):
            same(name, ours.field(name), theirs.field(name))
    return _work("Databus JSON lines", lines, array, ours, others, "databus_json", "sequence")


def writing(title: str, name: str, messages: Sequence[bytes]) -> Work:
    """Columns to JSON, against writers that get the values as dicts with bytes already in base64."""
    array = pa.array(messages, pa.binary())
    columns, encode, decode = data.decoder(name)(array), data.engine(name).codec.encode, data.decoder(name)
    same("what was written", encode(columns), array)
    values = [json.loads(message) for message in messages]
    return Work(
        f"{title}, columns to JSON",
        len(messages),
        array.nbytes / len(messages),
        (
            Contestant("engine, encode", lambda: encode(columns)),
            *(
                Contestant(f"{other}, of dicts", _each(write, values), 1, 2 if other == "orjson.dumps" else None)
                for other, write in _writers()
            ),
            Contestant("engine, decode all columns", lambda: decode(array)),
            copying(array, columns),
        ),
    )


def _writers() -> list[tuple[str, Callable[[object], object]]]:
    writers: list[tuple[str, Callable[[object], object]]] = [("json.dumps", json.dumps)]
    if _has("orjson"):
        import orjson

        writers.append(("orjson.dumps", orjson.dumps))
    if _has("msgspec"):
        import msgspec

        writers.append(("msgspec.json.encode", msgspec.json.encode))
    return writers


def _each(write: Callable[[object], object], values: Sequence[object]) -> Callable[[], object]:
    return lambda: [write(value) for value in values]


def _work(  # noqa: PLR0913 - what is measured, and beside whom
    title: str,
    messages: Sequence[bytes],
    array: pa.Array,
    ours: pa.StructArray,
    others: Sequence[tuple[str, Callable[[], object]]],
    name: str,
    column: str,
) -> Work:
    decode = data.decoder(name)
    targets = {"json.loads + pyarrow": 8}
    return Work(
        title,
        len(messages),
        array.nbytes / len(messages),
        (
            Contestant("engine, all columns", lambda: decode(array)),
            one_column(name, column, array),
            *(Contestant(other, action, 1, targets.get(other, 3)) for other, action in others),
            construct(name, messages, 500, None),
            copying(array, ours),
        ),
    )


def _readers() -> list[tuple[str, peers.Read]]:
    readers: list[tuple[str, peers.Read]] = [("json.loads", json.loads)]
    if _has("orjson"):
        import orjson

        readers.append(("orjson", orjson.loads))
    return readers


def _reading(
    work: Callable[[Sequence[bytes], peers.Read], object], messages: Sequence[bytes], read: peers.Read
) -> Callable[[], object]:
    return lambda: work(messages, read)


def _has(module: str) -> bool:
    return find_spec(module) is not None

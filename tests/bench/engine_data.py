"""Messages for benchmarks and mutation tests, made from a seed: the same bytes on every machine."""
# ruff: noqa: S311, S102, PERF401 - no secrets are made

import base64
import hashlib
import json
import random
import struct
import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgpack
import pyarrow as pa

from wireloom.emit import layout
from wireloom.resolve import resolve
from wireloom.runtime.engine import Engine, Request
from wireloom.spec import load

SPECS = Path(__file__).resolve().parents[2] / "specs"
_SEED = 20260501


class DifferenceError(Exception):
    """Two contestants read different values."""


@cache
def _formats() -> dict[str, Any]:
    return {each.name: each for each in resolve(load(sorted(SPECS.rglob("*.yaml")), SPECS))}


def examples(name: str) -> list[bytes]:
    """The bytes of the examples of a spec, valid and invalid."""
    return [example.data for example in _formats()[name].examples]


def engine(name: str) -> Engine:
    """The engine of a generated format, with the layout of its spec."""
    import importlib

    codec = importlib.import_module(f"wireloom_formats.{name}").CODEC
    if getattr(codec, "layout", None) is not None:
        return Engine(codec, codec.layout)
    namespace: dict[str, Any] = {}
    exec(layout.emit(_formats()[name]) or "", namespace)  # the text of a generated module
    return Engine(codec, namespace["LAYOUT"])


def decoder(
    name: str, columns: Sequence[str] | None = None, *, explode: bool = False
) -> Callable[[pa.Array], pa.StructArray]:
    """The engine's decode; raises if it returns bad records or used the parser."""
    native = engine(name)
    settings = native.codec.settings({})
    request = Request(native.codec.default_root, settings, None if columns is None else tuple(columns), explode)

    def decode(array: pa.Array) -> pa.StructArray:
        found = native.decode(array, request)
        if found is None or found.errors.null_count != len(found.errors) or native.reread:
            raise DifferenceError(f"{name}: the engine did not read everything itself")
        return found.records

    return decode


def crc(data: bytes) -> int:
    """Databus' CRC: the usual polynomial from zero, without a final xor."""
    return zlib.crc32(data, 0xFFFFFFFF) ^ 0xFFFFFFFF


def databus(count: int, size: int = 100) -> list[bytes]:
    """V1 events with a numeric key and a value of `size` bytes."""
    source = random.Random(_SEED)
    return [_event(source, number, size) for number in range(count)]


def _event(source: random.Random, number: int, size: int) -> bytes:
    value = source.randbytes(size)
    fixed = struct.pack(">hqhhqh16s", 1, number, 1, 2, 1_700_000_000_000_000_000 + number, 5, bytes(range(16)))
    body = struct.pack(">i", 61 + size) + fixed + struct.pack(">Iq", crc(value), number)
    return b"\0" + struct.pack(">I", crc(body)) + body + value


def aerospike(count: int) -> list[bytes]:
    """Writes of 3 to 8 bins, about 180 bytes; half of them with one list or map."""
    source = random.Random(_SEED)
    return [msgpack.packb(_message(source, number)) for number in range(count)]


def _message(source: random.Random, number: int) -> list[object]:
    count = source.randint(3, 8)
    bins = [[f"bin-{place}", *_scalar(source)] for place in range(count)]
    if number % 2:
        bins[-1] = ["nested", *_container(source)]
    key = ["test", "demo", source.randbytes(20), f"user-{number}"]
    return [1, 1, [key, 1 + number % 9, 0, 1_617_167_159_548 + number, bins]]


def aerospike_sized(count: int, size: int) -> list[bytes]:
    """Writes of one bin, of about `size` bytes, 50 or more."""
    source = random.Random(_SEED)
    return [
        msgpack.packb(
            [1, 1, [["t", "d", source.randbytes(20), None], 1, 0, None, [["b", 4, 0, source.randbytes(size - 46)]]]]
        )
        for _ in range(count)
    ]


def _scalar(source: random.Random) -> list[object]:
    match source.randrange(5):
        case 0:
            return [1, 0, source.randint(-(10**6), 10**12)]
        case 1:
            return [2, 0, source.random()]
        case 2:
            return [3, 0, "text of a bin" + "." * source.randrange(24)]
        case 3:
            return [4, 0, source.randbytes(source.randrange(8, 32))]
        case _:
            return [17, 0, source.random() < 0.5]


def _container(source: random.Random) -> list[object]:
    if source.random() < 0.5:
        return [20, 0, [source.randrange(1000), "a", None, [1.5, True]]]
    return [19, 1, {"name": "value", "number": source.randrange(10**9), "list": [1, 2, 3]}]


# --- JSON ----------------------------------------------------------------------------------------------------------

_JSON_TYPES = {1: "int", 2: "float", 3: "str", 4: "blob", 17: "bool", 19: "map", 20: "list"}


def aerospike_json(count: int) -> list[bytes]:
    """The messages of `aerospike` as Aerospike's connector writes them in JSON, about 450 bytes."""
    source = random.Random(_SEED)
    return [_compact(_json_message(_message(source, number))) for number in range(count)]


def _json_message(message: list[Any]) -> dict[str, object]:
    _, _, (key, generation, expiry, update, bins) = message
    named = [key[0], key[1], _base64(key[2]), key[3]]
    rest = {"gen": generation, "exp": expiry, "lut": update, "bins": [_json_bin(*each) for each in bins]}
    return {"msg": "write", "key": named, **rest}


def _json_bin(name: str, type: int, flags: int, value: Any) -> dict[str, object]:
    shown = _base64(value) if isinstance(value, bytes) else value
    return {"name": name, "type": _JSON_TYPES[type], "value": shown, **({"order": "key"} if flags else {})}


def databus_json(count: int, size: int = 100) -> list[bytes]:
    """V1 lines with a numeric key and a value of `size` bytes as Jackson writes it: base64 with line feeds."""
    source = random.Random(_SEED)
    return [_compact(_json_line(source, number, size)) for number in range(count)]


def _json_line(source: random.Random, number: int, size: int) -> dict[str, object]:
    encoded = _base64(source.randbytes(size))
    value = "\n".join(encoded[at : at + 76] for at in range(0, len(encoded), 76))
    head = {"opcode": "UPSERT", "key": number, "sequence": number, "logicalPartitionId": 2, "physicalPartitionId": 1}
    stamp = {"timestampInNanos": 1_700_000_000_000_000_000 + number, "srcId": 5}
    schema = {"schemaId": _base64(bytes(range(16))), "valueEnc": "JSON", "isReplicated": False}
    return {**head, **stamp, **schema, "value": value}


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _compact(tree: object) -> bytes:
    return json.dumps(tree, separators=(",", ":")).encode()


# --- KPL -----------------------------------------------------------------------------------------------------------


def kpl(count: int, records: int = 240, size: int = 200) -> list[bytes]:
    """Aggregates of `records` user records of `size` bytes and eight partition keys."""
    source = random.Random(_SEED)
    return [_aggregate(source, records, size) for _ in range(count)]


def expanding(size: int) -> bytes:
    """An aggregate of about `size` bytes, half of them a key that each of its many user records refers to."""
    key = _item(1, b"k" * (size // 2))
    records = _item(3, b"\x08\x00" + _item(3, b"")) * (size // 2 // 6)
    message = key + records
    return bytes.fromhex("f3899ac2") + message + hashlib.md5(message, usedforsecurity=False).digest()


def _aggregate(source: random.Random, records: int, size: int) -> bytes:
    parts = [_item(1, f"partition-{number}".encode()) for number in range(8)]
    for number in range(records):
        parts.append(_item(3, b"\x08" + _varint(number % 8) + _item(3, source.randbytes(size))))
    message = b"".join(parts)
    return bytes.fromhex("f3899ac2") + message + hashlib.md5(message, usedforsecurity=False).digest()


def _item(number: int, content: bytes) -> bytes:
    return bytes([number << 3 | 2]) + _varint(len(content)) + content


def _varint(number: int) -> bytes:
    return bytes(_septets(number))


def _septets(number: int) -> Iterator[int]:
    while number > 0x7F:
        yield number & 0x7F | 0x80
        number >>= 7
    yield number

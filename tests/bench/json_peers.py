"""JSON lines with common libraries: json.loads, orjson or typed structs of msgspec, and pyarrow at the end."""

import gc
import json
from binascii import a2b_base64
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pyarrow as pa

from peer_columns import Writes

Read = Callable[[bytes], Any]

_TYPES = {
    "int": "INTEGER",
    "float": "DOUBLE",
    "str": "STRING",
    "blob": "BLOB",
    "bool": "BOOLEAN",
    "map": "MAP",
    "list": "LIST",
}
_COLUMN = {"int": "int", "float": "float", "str": "str", "blob": "bytes", "bool": "bool", "map": "raw", "list": "raw"}
_KINDS = {
    "bool": pa.bool_(),
    "int": pa.int64(),
    "float": pa.float64(),
    "str": pa.string(),
    "bytes": pa.binary(),
    "raw": pa.string(),
}


def without_collector(work: Callable[[], pa.StructArray]) -> pa.StructArray:
    """Run the work without the garbage collector, which would walk all values read so far."""
    gc.disable()
    try:
        return work()
    finally:
        gc.enable()


# --- Aerospike -----------------------------------------------------------------------------------------------------


def aerospike(messages: Sequence[bytes], read: Read) -> pa.StructArray:
    """Dicts for each message, lists for columns, pyarrow at the end; containers become JSON text again."""
    dumps = json.dumps
    return without_collector(
        lambda: _writes(
            (each["msg"], each["key"], each.get("gen"), each.get("exp"), each.get("lut"), _bins(each["bins"], dumps))
            for each in map(read, messages)
        )
    )


def _bins(bins: Iterable[dict[str, Any]], dumps: Callable[[Any], str]) -> Iterable[tuple[str, str, int, Any]]:
    for each in bins:
        kind, value = each["type"], each["value"]
        flags = 0 if kind not in ("map", "list") else {None: 0, "key": 1, "key-value": 3}[each.get("order")]
        yield each["name"], kind, flags, dumps(value) if _COLUMN[kind] == "raw" else value


def aerospike_typed(messages: Sequence[bytes]) -> pa.StructArray:
    """Typed structs of msgspec, one for each type of bin; containers stay JSON text."""
    import msgspec

    class Bin(msgspec.Struct, tag_field="type", gc=False):
        name: str

    def bin_of(tag: str, value: object) -> type:
        fields = [("value", value), ("order", str | None, None), ("ordered", bool, False)]
        return msgspec.defstruct(f"Bin{tag}", fields, bases=(Bin,), tag_field="type", tag=tag, gc=False)

    kinds = {
        "int": int,
        "float": float,
        "str": str,
        "blob": bytes,
        "bool": bool,
        "map": msgspec.Raw,
        "list": msgspec.Raw,
    }
    bins = tuple(bin_of(tag, value) for tag, value in kinds.items())
    union: Any = bins[0]
    for each in bins[1:]:
        union |= each
    message = msgspec.defstruct(
        "Message",
        [
            ("msg", str),
            ("key", tuple[str, str | None, str, int | str | None]),
            ("bins", list[union]),
            ("gen", int | None, None),
            ("exp", int | None, None),
            ("lut", int | None, None),
        ],
        gc=False,
    )
    read = msgspec.json.Decoder(message).decode
    tags = {each: each.__struct_config__.tag for each in bins}

    def parts(each: Any) -> Any:
        found = ((bin.name, tags[type(bin)], 1 if bin.order else 0, _plain(bin.value)) for bin in each.bins)
        return each.msg, each.key, each.gen, each.exp, each.lut, found

    def _plain(value: Any) -> Any:
        return bytes(value).decode() if isinstance(value, msgspec.Raw) else value

    return without_collector(lambda: _writes(map(parts, map(read, messages))))


def _writes(messages: Iterable[Any]) -> pa.StructArray:
    columns = Writes()
    kinds, namespaces, sets, digests = columns.kinds, columns.namespaces, columns.sets, columns.digests
    generations, expiries, updates = columns.generations, columns.expiries, columns.updates
    offsets, names, types, flags = columns.offsets, columns.names, columns.types, columns.flags
    texts, numbers = [], []
    values: dict[str, list[object]] = {name: [] for name in _KINDS}
    for kind, (namespace, set_name, digest, user), generation, expiry, update, bins in messages:
        kinds.append(kind)
        namespaces.append(namespace)
        sets.append(set_name)
        digests.append(a2b_base64(digest))
        texts.append(user if isinstance(user, str) else None)
        numbers.append(user if isinstance(user, int) else None)
        generations.append(generation)
        expiries.append(expiry)
        updates.append(update)
        for name, type_, flag, value in bins:
            names.append(name)
            types.append(_TYPES[type_])
            flags.append(flag)
            column = _COLUMN[type_]
            shown = a2b_base64(value) if type_ == "blob" and isinstance(value, str) else value
            for each, cells in values.items():
                cells.append(shown if each == column else None)
        offsets.append(len(names))
    users = {"int": pa.array(numbers, pa.int64()), "str": pa.array(texts, pa.string())}
    return columns.array(users, {name: pa.array(values[name], kind) for name, kind in _KINDS.items()})


# --- Databus -------------------------------------------------------------------------------------------------------

_MEMBERS = {
    "opcode": pa.string(),
    "key": pa.int64(),
    "sequence": pa.int64(),
    "logicalPartitionId": pa.int16(),
    "physicalPartitionId": pa.int16(),
    "timestampInNanos": pa.int64(),
    "srcId": pa.int32(),
    "isReplicated": pa.bool_(),
    "schemaId": pa.binary(),
    "value": pa.binary(),
}


def databus(lines: Sequence[bytes], read: Read) -> pa.StructArray:
    """Dicts for each line, a list for each column, pyarrow at the end."""
    names = [name for name in _MEMBERS if name not in ("schemaId", "value")]

    def work() -> pa.StructArray:
        rows = [read(line) for line in lines]
        columns: list[list[Any]] = [[row.get(name) for row in rows] for name in names]
        columns += [[a2b_base64(row[name]) for row in rows] for name in ("schemaId", "value")]
        return _columns(columns)

    return without_collector(work)


def databus_typed(lines: Sequence[bytes]) -> pa.StructArray:
    """Typed structs of msgspec. Their bytes are single-line base64, so line feeds are removed first."""
    import msgspec

    texts = {pa.string(): str, pa.bool_(): bool, pa.binary(): str}
    fields = [(name, texts.get(type, int)) for name, type in _MEMBERS.items()]
    read = msgspec.json.Decoder(msgspec.defstruct("Line", fields, gc=False)).decode

    def work() -> pa.StructArray:
        rows = [read(line) for line in lines]
        return _columns(
            [
                [getattr(row, name) if type != pa.binary() else a2b_base64(getattr(row, name)) for row in rows]
                for name, type in _MEMBERS.items()
            ]
        )

    return without_collector(work)


def _columns(columns: Sequence[list[Any]]) -> pa.StructArray:
    arrays = [pa.array(cells, type) for cells, type in zip(columns, _MEMBERS.values(), strict=True)]
    return pa.StructArray.from_arrays(arrays, list(_MEMBERS))

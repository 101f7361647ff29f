"""The same work with common libraries: msgpack, numpy or struct with zlib, hashlib, protobuf, aws-kinesis-agg."""

import base64
import gc
import hashlib
import struct
import zlib
from collections.abc import Sequence
from typing import Any

import msgpack
import numpy as np
import pyarrow as pa

from peer_columns import Writes

# --- Aerospike -----------------------------------------------------------------------------------------------------

_TYPES = {1: "INTEGER", 2: "DOUBLE", 3: "STRING", 4: "BLOB", 17: "BOOLEAN", 19: "MAP", 20: "LIST"}
_COLUMN = {1: "int", 2: "float", 3: "str", 4: "bytes", 17: "bool", 19: "raw", 20: "raw"}
_KINDS = {
    "bool": pa.bool_(),
    "int": pa.int64(),
    "float": pa.float64(),
    "str": pa.string(),
    "bytes": pa.binary(),
    "raw": pa.binary(),
}


def aerospike(messages: Sequence[bytes]) -> pa.StructArray:
    """Unpackb for each message, lists of columns, pyarrow at the end; containers stay MessagePack. GC is off."""
    gc.disable()
    try:
        return _aerospike(messages)
    finally:
        gc.enable()


def _aerospike(messages: Sequence[bytes]) -> pa.StructArray:
    unpackb, packb = msgpack.unpackb, msgpack.packb
    columns = Writes()
    kinds, namespaces, sets, digests = columns.kinds, columns.namespaces, columns.sets, columns.digests
    generations, expiries, updates = columns.generations, columns.expiries, columns.updates
    offsets, names, types, flags = columns.offsets, columns.names, columns.types, columns.flags
    texts, numbers, blobs = [], [], []
    values: dict[str, list[object]] = {name: [] for name in _KINDS}
    for data in messages:
        version, kind, payload = unpackb(data, strict_map_key=False)
        if version != 1 or kind not in (1, 2):
            raise ValueError(kind)
        (namespace, set_name, digest, user), generation, expiry, update, bins = payload
        kinds.append("write")
        namespaces.append(namespace)
        sets.append(set_name)
        digests.append(digest)
        texts.append(user if isinstance(user, str) else None)
        numbers.append(user if isinstance(user, int) else None)
        blobs.append(user if isinstance(user, bytes) else None)
        generations.append(generation)
        expiries.append(expiry)
        updates.append(update)
        for name, type_, flag, value in bins:
            names.append(name)
            types.append(_TYPES[type_])
            flags.append(flag)
            column = _COLUMN[type_]
            for each, cells in values.items():
                cells.append((packb(value) if column == "raw" else value) if each == column else None)
        offsets.append(len(names))
    users = {
        "int": pa.array(numbers, pa.int64()),
        "str": pa.array(texts, pa.string()),
        "bytes": pa.array(blobs, pa.binary()),
    }
    return columns.array(users, {name: pa.array(values[name], kind) for name, kind in _KINDS.items()})


# --- Databus -------------------------------------------------------------------------------------------------------

_HEADER = struct.Struct(">bIihqhhqh16sIq")
_NAMES = (
    *("version", "headerCrc", "length", "attributes", "sequence", "physicalPartitionId"),
    *("logicalPartitionId", "timestampInNanos", "srcId", "schemaId", "valueCrc", "key"),
)
_DTYPE = np.dtype(
    list(zip(_NAMES, ("i1", ">u4", ">i4", ">u2", ">i8", ">i2", ">i2", ">i8", ">i2", "V16", ">u4", ">i8"), strict=True))
)


def databus_struct(events: Sequence[bytes]) -> pa.RecordBatch:
    """Struct for each event, zlib for both checksums, pyarrow at the end."""
    rows, values = [], []
    unpack, crc32 = _HEADER.unpack_from, zlib.crc32
    for event in events:
        row = unpack(event)
        if (
            crc32(event[5:61], 0xFFFFFFFF) ^ 0xFFFFFFFF != row[1]
            or crc32(event[61:], 0xFFFFFFFF) ^ 0xFFFFFFFF != row[10]
        ):
            raise ValueError("crc")
        rows.append(row)
        values.append(event[61:])
    columns = [pa.array(column) for column in zip(*rows, strict=True)]
    return pa.RecordBatch.from_arrays([*columns, pa.array(values, pa.binary())], [*_NAMES, "value"])


def databus_numpy(array: pa.BinaryArray) -> pa.RecordBatch:
    """One numpy view over events of one size, zlib for both checksums, no copy of the bytes for them."""
    data = np.frombuffer(array.buffers()[2], np.uint8)
    size = len(data) // len(array)
    table = data.reshape(len(array), size)
    header = table[:, :61].copy().view(_DTYPE)[:, 0]
    view, crc32 = memoryview(array.buffers()[2]), zlib.crc32
    for start, (first, second) in enumerate(
        zip(header["headerCrc"].tolist(), header["valueCrc"].tolist(), strict=True)
    ):
        place = start * size
        if (
            crc32(view[place + 5 : place + 61], 0xFFFFFFFF) ^ 0xFFFFFFFF != first
            or crc32(view[place + 61 : place + size], 0xFFFFFFFF) ^ 0xFFFFFFFF != second
        ):
            raise ValueError("crc")
    columns = []
    for name in _NAMES:
        column = header[name]
        native = column if column.dtype.kind == "V" else column.astype(column.dtype.newbyteorder("="))
        columns.append(_fixed(native) if native.dtype.kind == "V" else pa.array(native))
    offsets = np.arange(len(array) + 1, dtype=np.int32) * (size - 61)
    body = pa.Array.from_buffers(
        pa.binary(), len(array), [None, pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(table[:, 61:]))]
    )
    return pa.RecordBatch.from_arrays([*columns, body], [*_NAMES, "value"])


def _fixed(column: np.ndarray) -> pa.Array:
    data = np.ascontiguousarray(column)
    return pa.Array.from_buffers(pa.binary(16), len(data), [None, pa.py_buffer(data.view(np.uint8))])


# --- KPL -----------------------------------------------------------------------------------------------------------


def md5(records: Sequence[bytes]) -> int:
    """The digest alone."""
    return sum(
        hashlib.md5(memoryview(record)[4:-16], usedforsecurity=False).digest() == record[-16:] for record in records
    )


def kpl_protobuf(records: Sequence[bytes]) -> pa.RecordBatch:
    """hashlib, protobuf (upb) and pyarrow: flat rows."""
    from google.protobuf import descriptor_pb2, message_factory

    from wireloom_formats.kpl_record import descriptor

    files = descriptor_pb2.FileDescriptorSet.FromString(descriptor.DESCRIPTOR_SET)
    message_class = message_factory.GetMessages(files.file)["kpl_record.AggregatedRecord"]
    keys, data, parents, indices = [], [], [], []
    for number, record in enumerate(records):
        body = record[4:-16]
        if record[:4] != b"\xf3\x89\x9a\xc2" or hashlib.md5(body, usedforsecurity=False).digest() != record[-16:]:
            raise ValueError("digest")
        message = message_class.FromString(body)
        table = list(message.partition_key_table)
        for index, user in enumerate(message.records):
            keys.append(table[user.partition_key_index])
            data.append(user.data)
            parents.append(number)
            indices.append(index)
    return pa.RecordBatch.from_arrays(
        [
            pa.array(indices, pa.int64()),
            pa.array(keys, pa.string()),
            pa.array(data, pa.binary()),
            pa.array(parents, pa.int32()),
        ],
        ["subSequenceNumber", "partitionKey", "data", "parents"],
    )


def kpl_deaggregate(wrapped: Sequence[dict[str, Any]]) -> Any:
    """aws-kinesis-agg, as a Lambda function calls it."""
    from aws_kinesis_agg.deaggregator import deaggregate_records

    return deaggregate_records(wrapped)


def kpl_deaggregated(wrapped: Sequence[dict[str, Any]]) -> pa.RecordBatch:
    """Its records as columns, to be compared."""
    found = [each["kinesis"] for each in kpl_deaggregate(wrapped)]
    return pa.RecordBatch.from_arrays(
        [
            pa.array([each["partitionKey"] for each in found], pa.string()),
            pa.array([base64.b64decode(each["data"]) for each in found], pa.binary()),
        ],
        ["partitionKey", "data"],
    )

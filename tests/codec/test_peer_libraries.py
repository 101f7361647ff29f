"""The usual libraries (msgpack, protobuf) read the records that we accept, with the same values."""

import importlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgpack
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from hypothesis import HealthCheck, assume, given, settings

from codec.test_roundtrips import empty_aggregate
from conftest import shipped_formats
from support.format_values import values
from wireloom.encodings.msgpack import MSGPACK
from wireloom.model.format import Format
from wireloom.runtime.errors import DecodeError

LIMITS = settings(max_examples=60, suppress_health_check=list(HealthCheck))


class Entries(list):
    """The entries of a map, in wire order, unlike any list."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Entries) and list.__eq__(self, other)

    __hash__ = None


def read_by_msgpack(data: bytes) -> Any:
    """The body as the library reads it, nothing merged or lost; texts strict."""
    tree = msgpack.unpackb(
        data, strict_map_key=False, object_pairs_hook=Entries, ext_hook=msgpack.ExtType, raw=False, timestamp=0
    )
    return exact(tree)


def exact(tree: Any) -> Any:
    """The tree with kinds that `==` keeps apart: true, 1 and 1.0; NaN equals itself."""
    match tree:
        case Entries():
            return Entries((exact(key), exact(value)) for key, value in tree)
        case list():
            return [exact(element) for element in tree]
        case msgpack.ExtType(code, data):
            return ("ext", code, data)
        case _:
            return (type(tree).__name__, repr(tree))


def msgpack_roots() -> list[Any]:
    return [
        pytest.param(format, root.name, id=f"{format.name}-{root.name}")
        for format in shipped_formats()
        if format.encoding == MSGPACK
        for root in format.roots
    ]


@pytest.mark.parametrize(("format", "root"), msgpack_roots())
def test_msgpack_reads_what_we_build_and_sees_what_we_parse(format: Format, root):
    module = importlib.import_module(f"wireloom_formats.{format.name}")

    @LIMITS
    @given(values(format, root, {}))
    def check(value: Any) -> None:
        data = module.build(value, root=root)
        assert read_by_msgpack(module.build(module.parse(data, root=root), root=root)) == read_by_msgpack(data)

    check()


def accepted_vectors(folder: Path, encoding: str) -> Iterator[tuple[dict[str, Any], bytes]]:
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    for vector in manifest["vectors"]:
        if vector["encoding"] == encoding and vector.get("recommended", vector["outcome"]) == "ok":
            yield vector, (folder / vector["file"]).read_bytes()


def test_msgpack_reads_every_accepted_vector_and_sees_what_we_parse(vectors: Path):
    from wireloom_formats import aerospike_msgpack

    for vector, data in accepted_vectors(vectors / "aerospike", "msgpack"):
        variant = "legacy" if vector["layout"] == "legacy" else "current"
        value = aerospike_msgpack.parse(data, root=vector["kind"], variant=variant)
        built = aerospike_msgpack.build(value, root=vector["kind"], variant=variant)
        assert read_by_msgpack(built) == read_by_msgpack(data), vector["id"]


# --- protobuf ------------------------------------------------------------------------------------------------------


def message_class(module_name: str, message: str) -> Any:
    """The protobuf runtime's class for a message of an emitted descriptor set."""
    descriptor = importlib.import_module(f"{module_name}.descriptor")
    files = descriptor_pb2.FileDescriptorSet.FromString(descriptor.DESCRIPTOR_SET)
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        pool.Add(file)
    package = files.file[0].package
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{package}.{message}" if package else message))


def seen_by_protobuf(data: bytes) -> list[dict[str, Any]]:
    """The user records of an aggregate as the protobuf runtime reads its message."""
    message = message_class("wireloom_formats.kpl_record", "AggregatedRecord").FromString(data[4:-16])
    assert message.IsInitialized()
    return [
        {
            "subSequenceNumber": index,
            "partitionKey": message.partition_key_table[record.partition_key_index],
            "explicitHashKey": message.explicit_hash_key_table[record.explicit_hash_key_index]
            if record.HasField("explicit_hash_key_index")
            else None,
            "data": record.data,
            "tags": [{"key": tag.key, "value": tag.value if tag.HasField("value") else None} for tag in record.tags],
        }
        for index, record in enumerate(message.records)
    ]


def test_protobuf_reads_every_aggregate_that_we_build():
    from wireloom_formats import kpl_record

    format = next(format for format in shipped_formats() if format.name == "kpl_record")

    @LIMITS
    @given(values(format, "record", {}))
    def check(value: Any) -> None:
        assume(value["kind"] == "aggregated" and not empty_aggregate(value))
        data = kpl_record.build(value)
        assert seen_by_protobuf(data) == kpl_record.parse(data)["records"]

    check()


def test_protobuf_reads_every_accepted_aggregate(vectors: Path):
    from wireloom_formats import kpl_record

    folder = vectors / "kpl"
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    judged = 0
    for vector in manifest["vectors"]:
        data = (folder / vector["file"]).read_bytes()
        try:
            value = kpl_record.parse(data)
        except DecodeError:
            continue
        if value["kind"] == "aggregated":
            judged += 1
            assert seen_by_protobuf(data) == value["records"], vector["name"]
    assert judged

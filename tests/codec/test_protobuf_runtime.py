"""Protobuf bodies: decoded by schema, with our codes, paths and offsets, and encoded by the protobuf library."""

import hashlib
import re

import pytest
from google.protobuf import descriptor_pb2
from google.protobuf import message as protobuf_message
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.unknown_fields import UnknownFieldSet
from hypothesis import given, settings
from hypothesis import strategies as st

from wireloom import pipeline
from wireloom.emit import protobuf as emitter
from wireloom.encodings import Form
from wireloom.encodings.binary import BINARY
from wireloom.encodings.protobuf import PROTOBUF
from wireloom.examples import opened
from wireloom.model import types as model
from wireloom.model.format import ByteOrder, Format, Root
from wireloom.runtime import expressions as fn
from wireloom.runtime.columns.logical import Record as LogicalRecord
from wireloom.runtime.errors import DecodeError, EncodeError
from wireloom.runtime.parameters import Parameter
from wireloom.runtime.parsers import binary, protobuf, structure, unions
from wireloom.runtime.parsers.elements import Salvage
from wireloom.runtime.parsers.protobuf.draft import message_class
from wireloom.runtime.parsers.record import Record
from wireloom.runtime.primitives import leb128
from wireloom.runtime.streams.framing import Whole
from wireloom.runtime.values import Pairs, same

# --- the wire, by hand ---------------------------------------------------------------------------------------------


def varint(number: int, size: int = 0) -> bytes:
    """A varint of at least `size` bytes."""
    out = bytearray()
    while number >= 0x80 or len(out) + 1 < size:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def tagged(number: int, wire_type: int, size: int = 0) -> bytes:
    return varint(number << 3 | wire_type, size)


def sized(number: int, content: bytes) -> bytes:
    return tagged(number, 2) + varint(len(content)) + content


def numbered(number: int, value: int) -> bytes:
    return tagged(number, 0) + varint(value & (1 << 64) - 1)


def in_group(number: int, content: bytes = b"") -> bytes:
    return tagged(number, 3) + content + tagged(number, 4)


# --- the messages of aggregated Kinesis records --------------------------------------------------------------------


def format_of(name: str, *structs: model.Struct) -> Format:
    return Format(
        name=name,
        title=name,
        doc="",
        source="",
        spec=f"{name}.yaml",
        digest="0" * 64,
        encoding=BINARY,
        byte_order=ByteOrder(),
        parameters=(),
        framing=Whole(),
        depth=64,
        checksums=(),
        errors=(),
        types=tuple((struct.name, struct) for struct in structs),
        roots=(Root("record", model.Reference(structs[0].name), LogicalRecord(())),),
    )


def message_type(name: str, *fields: model.Field, doc: str = "") -> model.Struct:
    return model.Struct(name, PROTOBUF, Form.MESSAGE, fields, doc=doc)


def declared(tag: int, name: str, type: model.Type, *, optional: bool = False, **rest) -> model.Field:
    presence = model.Presence.OPTIONAL if optional else model.Presence.REQUIRED
    return model.Field(name, name, type, tag=tag, presence=presence, **rest)


U64 = model.Integer(64, signed=False)
KPL_FORMAT = format_of(
    "kpl_record",
    message_type(
        "AggregatedRecord",
        declared(1, "partition_key_table", model.Array(model.Text()), table=True, hidden=True),
        declared(2, "explicit_hash_key_table", model.Array(model.Text()), table=True, hidden=True, doc="Decimal text"),
        declared(3, "records", model.Array(model.Reference("UserRecord"))),
        declared(0, "lost", U64, counted=True),
        doc="The tables may stand anywhere in the message.",
    ),
    message_type(
        "UserRecord",
        declared(1, "partition_key_index", U64),
        declared(2, "explicit_hash_key_index", U64, optional=True),
        declared(3, "data", model.Bytes(), doc="The user's bytes", unit="bytes"),
        declared(4, "tags", model.Array(model.Reference("Tag"))),
    ),
    message_type("Tag", declared(1, "key", model.Text()), declared(2, "value", model.Text(), optional=True)),
)


def invalid(ctx):
    return ctx._params["invalid_utf8"]


def descriptor_set(format: Format) -> bytes:
    """The descriptor set in the generated module."""
    namespace = {}
    exec(emitter.emit(format), namespace)  # noqa: S102 - the emitted module is under test
    return namespace["DESCRIPTOR_SET"]


TAG = structure.Struct(
    "Tag",
    structure.Field("key", protobuf.Text(invalid=invalid), tag=1),
    structure.Field("value", protobuf.Text(invalid=invalid), tag=2, optional=True),
    form=protobuf.MessageForm(),
)
USER_RECORD = structure.Struct(
    "UserRecord",
    structure.Computed("subSequenceNumber", fn.index),
    structure.Field(
        "partition_key_index",
        protobuf.Integer(64, signed=False),
        title="partitionKey",
        tag=1,
        refers=structure.Reference("partition_key_table", "pk_index"),
    ),
    structure.Field(
        "explicit_hash_key_index",
        protobuf.Integer(64, signed=False),
        title="explicitHashKey",
        tag=2,
        optional=True,
        refers=structure.Reference("explicit_hash_key_table", "ehk_index"),
    ),
    structure.Field("data", protobuf.Bytes(), tag=3),
    structure.Field("tags", protobuf.Repeated(TAG), tag=4),
    form=protobuf.MessageForm(),
)
AGGREGATED = structure.Struct(
    "AggregatedRecord",
    structure.Field(
        "partition_key_table", protobuf.Repeated(protobuf.Text(invalid=invalid)), tag=1, table=True, hidden=True
    ),
    structure.Field(
        "explicit_hash_key_table", protobuf.Repeated(protobuf.Text(invalid=invalid)), tag=2, table=True, hidden=True
    ),
    structure.Field(
        "records",
        protobuf.Repeated(
            USER_RECORD,
            salvage=Salvage(("pk_index", "ehk_index"), lambda ctx: ctx._params["on_corrupt"] == "prefix", "lost"),
        ),
        tag=3,
    ),
    structure.Counted("lost"),
    form=protobuf.MessageForm(),
)
PARAMETERS = (
    Parameter("on_corrupt", "text", "error", options=("error", "prefix")),
    Parameter("invalid_utf8", "text", "error", options=("error", "replace")),
)
BODY = protobuf.Body(AGGREGATED, descriptor_set(KPL_FORMAT), "kpl_record.AggregatedRecord")
MESSAGE = Record(BODY, PARAMETERS)
ENVELOPE = Record(
    structure.Struct(
        "Aggregate",
        structure.Field("magic", binary.Bytes(4), const=bytes.fromhex("f3899ac2"), code="no_magic", hidden=True),
        structure.Field("message", BODY, size=lambda ctx: fn.size(ctx) - 20, flatten=True, code="undecodable"),
        structure.Field(
            "digest",
            binary.Bytes(16),
            checksum=structure.Checksum(
                lambda data: hashlib.md5(data, usedforsecurity=False).digest(),
                lambda _: 4,
                lambda ctx: fn.size(ctx) - 16,
                "digest_mismatch",
                octets=16,
            ),
            hidden=True,
        ),
        structure.Verify("digest"),
    ),
    PARAMETERS,
)
EXAMPLE = bytes.fromhex(
    "f3899ac2 0a0161 0a0162 12023432 1a0708001a036f6e65 1a09080110001a0374776f 1a0408001a00"
    "a49c195c0d4fc03c21c19a9a7b30f752"
)
EXAMPLE_VALUE = {
    "records": [
        {"subSequenceNumber": 0, "partitionKey": "a", "explicitHashKey": None, "data": b"one", "tags": []},
        {"subSequenceNumber": 1, "partitionKey": "b", "explicitHashKey": "42", "data": b"two", "tags": []},
        {"subSequenceNumber": 2, "partitionKey": "a", "explicitHashKey": None, "data": b"", "tags": []},
    ],
    "lost": 0,
}

PK = sized(1, b"a")
ONE = numbered(1, 0) + sized(3, b"x")  # a user record


def aggregate(*records: bytes, tables: bytes = PK) -> bytes:
    return tables + b"".join(sized(3, record) for record in records)


def refusal(body: bytes, **parameters) -> tuple[str, str, int]:
    with pytest.raises(DecodeError) as caught:
        MESSAGE.parse(body, **parameters)
    return caught.value.code, caught.value.path, caught.value.offset


def keys(body: bytes) -> list:
    return [record["partitionKey"] for record in MESSAGE.parse(body)["records"]]


def test_the_worked_example_is_read():
    assert ENVELOPE.parse(EXAMPLE) == EXAMPLE_VALUE


def test_the_worked_example_is_built_from_its_value():
    assert ENVELOPE.build(EXAMPLE_VALUE) == EXAMPLE


def test_offsets_count_from_the_start_of_the_record_and_paths_go_through_the_message():
    body = PK + sized(3, numbered(1, 7) + sized(3, b""))
    data = bytes.fromhex("f3899ac2") + body + hashlib.md5(body, usedforsecurity=False).digest()
    with pytest.raises(DecodeError) as caught:
        ENVELOPE.parse(data)
    assert (caught.value.code, caught.value.path) == ("pk_index", "message.records[0].partition_key_index")
    assert data[caught.value.offset] == 7


# --- what a reader of proto2 must accept ---------------------------------------------------------------------------


def test_an_empty_message_has_no_records():
    assert MESSAGE.parse(b"") == {"records": [], "lost": 0}


def test_tables_may_stand_behind_the_records():
    assert keys(sized(3, ONE) + PK) == ["a"]


def test_tables_may_stand_between_the_records():
    assert keys(PK + sized(3, ONE) + sized(1, b"b") + sized(3, numbered(1, 1) + sized(3, b""))) == ["a", "b"]


def test_duplicate_and_unused_table_entries_are_legal():
    assert keys(aggregate(numbered(1, 1) + sized(3, b""), tables=PK + PK + sized(1, b"unused"))) == ["a"]


def test_an_empty_key_is_a_key():
    assert keys(aggregate(ONE, tables=sized(1, b""))) == [""]


def test_of_a_singular_field_twice_the_last_holds():
    record = numbered(1, 1) + sized(3, b"x") + numbered(1, 0) + sized(3, b"y")
    (read,) = MESSAGE.parse(aggregate(record))["records"]
    assert (read["partitionKey"], read["data"]) == ("a", b"y")


UNKNOWN = {
    "varint": numbered(90, 5),
    "64 bits": tagged(90, 1) + bytes(8),
    "length": sized(90, b"whatever"),
    "32 bits": tagged(90, 5) + bytes(4),
    "group": in_group(90, in_group(91, sized(92, b"x")) + numbered(93, 1) + tagged(94, 1) + bytes(8)),
    "group of a known number": in_group(1, numbered(1, 1)),
}


@pytest.mark.parametrize("unknown", UNKNOWN.values(), ids=UNKNOWN)
def test_unknown_fields_are_skipped_at_every_level(unknown):
    tag = unknown + sized(1, b"k") + unknown
    record = unknown + numbered(1, 0) + unknown + sized(3, b"x") + sized(4, tag) + unknown
    (read,) = MESSAGE.parse(unknown + aggregate(record) + unknown)["records"]
    assert read["tags"] == [{"key": "k", "value": None}]


def test_a_known_field_of_another_wire_type_is_an_unknown_field():
    index_as_bytes = sized(1, b"\x00")
    assert keys(aggregate(ONE + index_as_bytes + tagged(3, 5) + bytes(4))) == ["a"]
    assert refusal(aggregate(index_as_bytes + sized(3, b""))) == (
        "missing_required",
        "records[0].partition_key_index",
        5,
    )


@pytest.mark.parametrize("size", [2, 5, 10])
def test_overlong_varints_are_accepted_up_to_ten_bytes(size):
    record = tagged(1, 0, size) + varint(0, size) + tagged(3, 2, size) + varint(1, size) + b"x"
    assert keys(
        tagged(1, 2, size) + varint(1, size) + b"a" + tagged(3, 2, size) + varint(len(record), size) + record
    ) == ["a"]


def test_bits_above_the_64th_of_a_varint_are_dropped():
    assert keys(aggregate(tagged(1, 0) + b"\x80" * 9 + b"\x7e" + sized(3, b""))) == ["a"]


def test_a_table_may_have_entries_beyond_two_bytes_of_index():
    tables = b"".join(sized(1, b"%d" % place) for place in range(16500))
    assert keys(aggregate(numbered(1, 16499) + sized(3, b""), tables=tables)) == ["16499"]


# --- what is undecodable -------------------------------------------------------------------------------------------

BROKEN = {
    "tag cut off": (PK + b"\x8a", "", 3),
    "varint cut off": (aggregate(tagged(1, 0) + b"\x80"), "records[0].partition_key_index", 6),
    "length missing": (tagged(1, 2), "partition_key_table", 1),
    "text cut off": (tagged(1, 2) + b"\x05abc", "partition_key_table", 1),
    "message cut off": (PK + tagged(3, 2) + b"\x05" + ONE[:3], "records", 4),
    "a length of 2^31 - 1": (tagged(1, 2) + varint(2**31 - 1), "partition_key_table", 1),
    "a length of 2^64 - 1": (tagged(1, 2) + varint(2**64 - 1), "partition_key_table", 1),
    "an unknown length beyond its message": (aggregate(tagged(9, 2) + b"\x02") + b"xx", "records[0]", 6),
    "an unknown varint cut off": (numbered(9, 300)[:-1], "", 1),
    "64 bits cut off": (tagged(9, 1) + bytes(7), "", 1),
    "32 bits cut off": (tagged(9, 5) + bytes(3), "", 1),
    "field number 0": (PK + b"\x00\x00", "", 3),
    "field number 0 in a group": (tagged(9, 3) + b"\x00\x00" + tagged(9, 4), "", 1),
    "field number 2^29": (numbered(1 << 29, 0), "", 0),
    "wire type 6": (tagged(1, 6), "", 0),
    "wire type 7": (PK + tagged(90, 7) + b"\x00", "", 3),
    "wire type 6 in a group": (tagged(9, 3) + tagged(1, 6) + tagged(9, 4), "", 1),
    "a group not closed": (PK + tagged(9, 3) + numbered(1, 1), "", 3),
    "a group closed by the message around it": (aggregate(tagged(9, 3)) + tagged(9, 4), "records[0]", 5),
    "a group that was not opened": (aggregate(tagged(9, 4)), "records[0]", 5),
    "a group closed as another": (tagged(9, 3) + tagged(10, 4), "", 1),
    "a tag of 11 bytes": (b"\x8a" + b"\x80" * 9 + b"\x00\x00", "", 0),
    "a varint of 11 bytes": (aggregate(tagged(1, 0) + b"\x80" * 10 + b"\x00"), "records[0].partition_key_index", 6),
    "a length of 11 bytes": (tagged(1, 2) + b"\x80" * 10 + b"\x00", "partition_key_table", 1),
    "101 groups": (tagged(9, 3) * 101 + tagged(9, 4) * 101, "", 100),
    "100 groups in a message": (aggregate(tagged(9, 3) * 100 + tagged(9, 4) * 100), "records[0]", 105),
}


@pytest.mark.parametrize(("body", "path", "offset"), BROKEN.values(), ids=BROKEN)
def test_broken_wire_is_undecodable_where_the_item_begins(body, path, offset):
    assert refusal(body) == ("undecodable", path, offset)


def test_a_hundred_groups_are_not_too_many():
    assert MESSAGE.parse(tagged(9, 3) * 100 + tagged(9, 4) * 100) == {"records": [], "lost": 0}


def test_a_flood_of_groups_is_refused_without_recursion():
    assert refusal(tagged(9, 3) * 1_000_000) == ("undecodable", "", 100)


# --- what is decodable and wrong -----------------------------------------------------------------------------------

WRONG = {
    "no index": (aggregate(sized(3, b"")), "missing_required", "records[0].partition_key_index", 5),
    "no data": (aggregate(ONE, numbered(1, 0)), "missing_required", "records[1].data", 12),
    "an empty record": (aggregate(b""), "missing_required", "records[0].partition_key_index", 5),
    "no key in a tag": (aggregate(ONE + sized(4, sized(2, b"v"))), "missing_required", "records[0].tags[0].key", 12),
    "index beyond the table": (
        aggregate(ONE, numbered(1, 1) + ONE[2:]),
        "pk_index",
        "records[1].partition_key_index",
        13,
    ),
    "no table": (aggregate(ONE, tables=b""), "pk_index", "records[0].partition_key_index", 3),
    "index 2^32": (
        aggregate(numbered(1, 2**32) + sized(3, b"")),
        "pk_index",
        "records[0].partition_key_index",
        6,
    ),
    "index 2^64 - 1": (
        aggregate(numbered(1, 2**64 - 1) + sized(3, b"")),
        "pk_index",
        "records[0].partition_key_index",
        6,
    ),
    "explicit hash key without table": (
        aggregate(ONE + numbered(2, 0)),
        "ehk_index",
        "records[0].explicit_hash_key_index",
        11,
    ),
    "a key that is not UTF-8": (aggregate(ONE, tables=sized(1, b"a\xff")), "invalid_utf8", "partition_key_table[0]", 3),
}


@pytest.mark.parametrize(("body", "code", "path", "offset"), WRONG.values(), ids=WRONG)
def test_wrong_content_is_reported_by_path_and_offset(body, code, path, offset):
    assert refusal(body) == (code, path, offset)


def test_broken_wire_comes_before_missing_fields_and_these_before_values():
    bad_text, missing, broken = sized(1, b"\xff"), sized(3, b""), b"\x00"
    assert refusal(bad_text + missing + broken)[0] == "undecodable"
    assert refusal(bad_text + missing)[0] == "missing_required"
    assert refusal(bad_text)[0] == "invalid_utf8"


def test_invalid_text_is_replaced_on_request():
    body = aggregate(ONE, tables=sized(1, b"a\xff"))
    assert MESSAGE.parse(body, invalid_utf8="replace")["records"][0]["partitionKey"] == "a\ufffd"


def test_salvage_keeps_the_records_before_the_bad_one_and_counts_the_others():
    body = aggregate(ONE, numbered(1, 1) + sized(3, b"bad"), ONE)
    read = MESSAGE.parse(body, on_corrupt="prefix")
    assert (len(read["records"]), read["lost"]) == (1, 2)


def test_salvage_is_for_its_own_codes():
    body = aggregate(ONE, ONE + sized(4, sized(1, b"\xff")))
    assert refusal(body, on_corrupt="prefix")[0] == "invalid_utf8"


# --- building ------------------------------------------------------------------------------------------------------


def user(**members) -> dict:
    return {"partitionKey": "a", "data": b"", **members}


def test_tables_hold_each_key_once_in_the_order_of_first_use():
    value = {
        "records": [
            user(partitionKey="b", explicitHashKey="2"),
            user(partitionKey="a"),
            user(partitionKey="b", explicitHashKey="1"),
            user(partitionKey="10", explicitHashKey="2", tags=[{"key": "k", "value": "v"}, {"key": "l"}]),
        ]
    }
    built = MESSAGE.build(value)
    assert built.startswith(sized(1, b"b") + sized(1, b"a") + sized(1, b"10") + sized(2, b"2") + sized(2, b"1"))
    read = MESSAGE.parse(built)
    assert [(record["partitionKey"], record["explicitHashKey"]) for record in read["records"]] == [
        ("b", "2"),
        ("a", None),
        ("b", "1"),
        ("10", "2"),
    ]
    assert read["records"][3]["tags"] == [{"key": "k", "value": "v"}, {"key": "l", "value": None}]


UNSAYABLE = {
    "no key": ({"partitionKey": None}, "records[1].partitionKey", "a text"),
    "a key of bytes": ({"partitionKey": b"a"}, "records[1].partitionKey", "a text"),
    "a lone surrogate": ({"explicitHashKey": "\ud800"}, "records[1].explicitHashKey", "text without lone surrogates"),
    "no data": ({"data": None}, "records[1].data", "bytes"),
    "text as data": ({"data": "text"}, "records[1].data", "bytes"),
    "tags that are no list": ({"tags": "k"}, "records[1].tags", "a list"),
    "a tag that is no record": ({"tags": ["k"]}, "records[1].tags[0]", "a record (Tag)"),
    "a tag without its key": ({"tags": [{"value": "v"}]}, "records[1].tags[0].key", "a text"),
}


@pytest.mark.parametrize(("members", "path", "expected"), UNSAYABLE.values(), ids=UNSAYABLE)
def test_a_value_that_the_message_cannot_say_is_refused_by_its_path(members, path, expected):
    with pytest.raises(EncodeError) as caught:
        MESSAGE.build({"records": [user(), user(**members)]})
    assert (caught.value.path, caught.value.expected) == (path, expected)


# --- the emitted descriptor ----------------------------------------------------------------------------------------


def test_the_proto_file_reads_like_one_by_hand():
    assert emitter.proto_text(KPL_FORMAT) == (
        'syntax = "proto2";\n'
        "\n"
        "package kpl_record;\n"
        "\n"
        "// The tables may stand anywhere in the message.\n"
        "message AggregatedRecord {\n"
        "  repeated string partition_key_table = 1;\n"
        "  // Decimal text\n"
        "  repeated string explicit_hash_key_table = 2;\n"
        "  repeated UserRecord records = 3;\n"
        "}\n"
        "\n"
        "message UserRecord {\n"
        "  required uint64 partition_key_index = 1;\n"
        "  optional uint64 explicit_hash_key_index = 2;\n"
        "  // The user's bytes (unit: bytes)\n"
        "  required bytes data = 3;\n"
        "  repeated Tag tags = 4;\n"
        "}\n"
        "\n"
        "message Tag {\n"
        "  required string key = 1;\n"
        "  optional string value = 2;\n"
        "}\n"
    )


def test_a_format_without_protobuf_has_no_descriptor():
    assert emitter.emit(format_of("plain", model.Struct("Plain", BINARY, Form.SEQUENCE, ()))) is None


def test_messages_that_no_root_leads_to_are_left_out():
    format = format_of("few", message_type("Used"), message_type("Unused"))
    assert "Unused" not in emitter.proto_text(format)


@pytest.mark.parametrize(("size", "label"), [(63, "required"), (64, "optional"), (2000, "optional")])
def test_a_message_requires_no_more_fields_than_libraries_take(size, label):
    format = format_of(
        "wide",
        message_type(
            "Wide", *(declared(tag, f"f{tag}", model.Integer(32, signed=False)) for tag in range(1, size + 1))
        ),
    )
    message = message_class(descriptor_set(format), "wide.Wide")(**{f"f{size}": 3})
    assert message.SerializePartialToString() == numbered(size, 3)
    assert emitter.proto_text(format).count(f"  {label} uint32 f") == size


def test_each_field_of_a_wide_message_must_be_there(tmp_path):
    head = "wireloom: 1\nformat: wide\ntitle: Wide\nencoding: protobuf\nframing: none\n"
    head += "root: R\ntypes:\n  R:\n    fields:\n"
    fields = "".join(f"      - f{tag}: {{type: uint32, tag: {tag}}}\n" for tag in range(1, 101))
    (tmp_path / "wide.yaml").write_text(head + fields, encoding="utf-8")
    with opened(pipeline.read(tmp_path).modules) as modules:
        wide = modules["wide"]
        value = {f"f{tag}": tag for tag in range(1, 101)}
        data = wide.build(value)
        assert wide.parse(data) == value
        del value["f64"]
        with pytest.raises(EncodeError, match="f64"):
            wide.build(value)
        with pytest.raises(DecodeError) as refused:
            wide.parse(data.replace(numbered(64, 64), b""))
        assert refused.value.code == "missing_required"


def test_defaults_are_declared():
    format = format_of(
        "defaults",
        message_type(
            "Defaults",
            declared(1, "number", model.Integer(8, signed=True), optional=True, default=-1, has_default=True),
            declared(2, "flag", model.Boolean(), optional=True, default=True, has_default=True),
            declared(3, "text", model.Text(), optional=True, default='"é"', has_default=True),
            declared(4, "data", model.Bytes(), optional=True, default=b'\x00"', has_default=True),
        ),
    )
    message = message_class(descriptor_set(format), "defaults.Defaults")()
    assert (message.number, message.flag, message.text, message.data) == (-1, True, '"é"', b'\x00"')
    assert (
        "  optional int32 number = 1 [default = -1];\n  optional bool flag = 2 [default = true];"
        in emitter.proto_text(format)
    )


# --- every type, beside protobuf's own reader ----------------------------------------------------------------------

WIRES = {"varint": model.NumberForm.OWN, "zigzag": model.NumberForm.ZIGZAG, "fixed": model.NumberForm.FIXED}
INTEGERS = {
    "int32": (32, True, "varint"),
    "int64": (64, True, "varint"),
    "uint32": (32, False, "varint"),
    "uint64": (64, False, "varint"),
    "sint32": (32, True, "zigzag"),
    "sint64": (64, True, "zigzag"),
    "fixed32": (32, False, "fixed"),
    "fixed64": (64, False, "fixed"),
    "sfixed32": (32, True, "fixed"),
    "sfixed64": (64, True, "fixed"),
}
MODEL_SCALARS = {
    **{name: model.Integer(bits, signed, WIRES[wire]) for name, (bits, signed, wire) in INTEGERS.items()},
    "float": model.Float(32),
    "double": model.Float(64),
    "bool": model.Boolean(),
    "string": model.Text(),
    "bytes": model.Bytes(),
}
SCALARS = {
    **{name: protobuf.Integer(bits, signed=signed, wire=wire) for name, (bits, signed, wire) in INTEGERS.items()},
    "float": protobuf.Float(32),
    "double": protobuf.Float(64),
    "bool": protobuf.Boolean(),
    "string": protobuf.Text(),
    "bytes": protobuf.Bytes(),
}
MANY = 20  # the repeated field of a scalar has a number that much higher
INNER, INNERS, NEED = 41, 42, 43
MAPS = {  # from which type to which, by number
    44: ("string", "int32"),
    45: ("sint64", "string"),
    46: ("bool", "double"),
    47: ("fixed32", "Need"),
    48: ("string", "Sample"),
}
CHOICE = {49: "uint32", 50: "string", 51: "Sample", 52: "Need"}  # one field of a group, by number
GROUP, GROUPS, GROUP_NEED, GROUP_CHOICE = 53, 54, 55, 56  # messages between two tags
LAST = 56

SAMPLE_FORMAT = format_of(
    "sample",
    message_type(
        "Sample",
        *(declared(tag, f"{name}_", type, optional=True) for tag, (name, type) in enumerate(MODEL_SCALARS.items(), 1)),
        *(
            declared(tag + MANY, f"{name}_list", model.Array(type))
            for tag, (name, type) in enumerate(MODEL_SCALARS.items(), 1)
        ),
        declared(INNER, "inner", model.Reference("Sample"), optional=True),
        declared(INNERS, "inners", model.Array(model.Reference("Sample"))),
        declared(NEED, "need", model.Reference("Need"), optional=True),
        *(
            declared(tag, f"map{tag}", model.Map(MODEL_SCALARS[key], MODEL_SCALARS.get(value, model.Reference(value))))
            for tag, (key, value) in MAPS.items()
        ),
        *(
            declared(
                tag, f"choice{tag}", MODEL_SCALARS.get(type, model.Reference(type)), optional=True, one_of="choice"
            )
            for tag, type in CHOICE.items()
        ),
        declared(GROUP, "group", model.Reference("Sample"), optional=True, group=True),
        declared(GROUPS, "groups", model.Array(model.Reference("Sample")), group=True),
        declared(GROUP_NEED, "group_need", model.Reference("Need"), optional=True, group=True),
        declared(GROUP_CHOICE, "group_choice", model.Reference("Need"), optional=True, one_of="choice", group=True),
    ),
    message_type("Need", declared(1, "must", model.Boolean()), declared(2, "may", model.Text(), optional=True)),
)
NEED_STRUCT = structure.Struct(
    "Need",
    structure.Field("must", protobuf.Boolean(), tag=1),
    structure.Field("may", protobuf.Text(), tag=2, optional=True),
    form=protobuf.MessageForm(),
)
MESSAGES = {"Need": NEED_STRUCT, "Sample": unions.Deferred(lambda: SAMPLE_STRUCT)}
SAMPLE_STRUCT = structure.Struct(
    "Sample",
    *(
        structure.Field(f"{name}_", subcon, tag=tag, optional=True)
        for tag, (name, subcon) in enumerate(SCALARS.items(), 1)
    ),
    *(
        structure.Field(f"{name}_list", protobuf.Repeated(subcon), tag=tag + MANY)
        for tag, (name, subcon) in enumerate(SCALARS.items(), 1)
    ),
    structure.Field("inner", unions.Deferred(lambda: SAMPLE_STRUCT), tag=INNER, optional=True),
    structure.Field("inners", protobuf.Repeated(unions.Deferred(lambda: SAMPLE_STRUCT)), tag=INNERS),
    structure.Field("need", NEED_STRUCT, tag=NEED, optional=True),
    *(
        structure.Field(f"map{tag}", protobuf.Map(SCALARS[key], SCALARS.get(value) or MESSAGES[value]), tag=tag)
        for tag, (key, value) in MAPS.items()
    ),
    *(
        structure.Field(f"choice{tag}", SCALARS.get(type) or MESSAGES[type], tag=tag, optional=True, one_of="choice")
        for tag, type in CHOICE.items()
    ),
    structure.Field("group", unions.Deferred(lambda: SAMPLE_STRUCT), tag=GROUP, optional=True, group=True),
    structure.Field("groups", protobuf.Repeated(unions.Deferred(lambda: SAMPLE_STRUCT)), tag=GROUPS, group=True),
    structure.Field("group_need", NEED_STRUCT, tag=GROUP_NEED, optional=True, group=True),
    structure.Field("group_choice", NEED_STRUCT, tag=GROUP_CHOICE, optional=True, one_of="choice", group=True),
    form=protobuf.MessageForm(),
)
SAMPLE_SET = descriptor_set(SAMPLE_FORMAT)
SAMPLE = Record(protobuf.Body(SAMPLE_STRUCT, SAMPLE_SET, "sample.Sample"))


def with_maps(descriptors: bytes) -> bytes:
    """The descriptors as protoc makes them: entries of maps are marked as such."""
    found = descriptor_pb2.FileDescriptorSet.FromString(descriptors)
    for message in found.file[0].message_type:
        for entry in message.nested_type:
            entry.options.map_entry = True
    return found.SerializeToString()


SAMPLE_CLASS = message_class(with_maps(SAMPLE_SET), "sample.Sample")
ENTRIES_CLASS = message_class(SAMPLE_SET, "sample.Sample")
"""The same message, whose maps are lists of their entries: also of those that a later one of the same key replaces."""


class NotText(Exception):  # noqa: N818 - a signal, not an error
    """The protobuf library gives bytes for a text that is not UTF-8."""


class KeptApart(Exception):  # noqa: N818 - a signal, not an error
    """The protobuf library takes entries of maps in which it finds a field that it does not know for unknown, too."""


def scalar(field: FieldDescriptor, value):
    if field.type in (FieldDescriptor.TYPE_MESSAGE, FieldDescriptor.TYPE_GROUP):
        return plain(value)
    if field.type == FieldDescriptor.TYPE_STRING and isinstance(value, bytes):
        raise NotText
    return value


def plain(message) -> dict:
    """The message as we give it."""
    value = {}
    if any(field.field_number in MAPS for field in UnknownFieldSet(message)):
        raise KeptApart
    for field in message.DESCRIPTOR.fields:
        found = getattr(message, field.name)
        if field.message_type is not None and field.message_type.GetOptions().map_entry:
            entry = field.message_type.fields_by_name["value"]
            value[field.name] = Pairs((key, scalar(entry, found[key])) for key in found)
        elif field.is_repeated:
            value[field.name] = [scalar(field, element) for element in found]
        else:
            value[field.name] = scalar(field, found) if message.HasField(field.name) else None
    return value


def verdicts(body: bytes) -> list[object]:
    """The result of the protobuf library: a value, or our codes for its refusal, one for each fault."""
    message = SAMPLE_CLASS()
    try:
        message.ParseFromString(body)
    except protobuf_message.DecodeError:
        return ["undecodable"]
    lacking = [] if message.IsInitialized() else ["missing_required"]
    try:
        value = plain(message)
        plain(ENTRIES_CLASS.FromString(body))  # we read every entry, the library the last of each key
    except (NotText, UnicodeDecodeError):
        return ["invalid_utf8", *lacking]
    except KeptApart:
        return []
    return lacking or [value]


def ours(body: bytes) -> object:
    try:
        return SAMPLE.parse(body)
    except DecodeError as error:
        if not 0 <= error.offset <= len(body):
            pytest.fail(f"offset {error.offset} of {len(body)} bytes")
        return "field number 0" if error.actual == "field number 0" else error.code


def agree(body: bytes) -> None:
    """Compare with the protobuf library, except where it deviates from the protobuf specification."""
    theirs, mine = verdicts(body), ours(body)
    if mine == "field number 0" or not theirs:  # it accepts that within a group that it skips
        return
    if theirs == ["undecodable"] and re.search(rb"[\x80-\xff]{5}", body):
        return  # it refuses tags and lengths of more than five bytes; we read ten, as other readers do
    assert any(same(in_order(mine), in_order(one)) for one in theirs)


def has_entries(value) -> bool:
    """Whether there are entries of maps, which the library writes in an order of its own."""
    if isinstance(value, Pairs):
        return bool(value)
    members = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(has_entries(member) for member in members)


def in_order(value):
    """The value, its maps in the order of their keys: the library has none."""
    match value:
        case Pairs():
            return Pairs(sorted(((key, in_order(member)) for key, member in value), key=lambda entry: repr(entry[0])))
        case dict():
            return {key: in_order(member) for key, member in value.items()}
        case list():
            return [in_order(element) for element in value]
        case _:
            return value


numbers = st.one_of(
    st.integers(0, 300), st.integers(0, 2**64 - 1), st.sampled_from([2**31 - 1, 2**31, 2**32, 2**63, 2**64 - 1])
)
tags = st.one_of(st.integers(1, LAST), st.integers(1, 2**29 - 1))
padding = st.sampled_from([0, 0, 0, 2, 5])
text_or_bytes = st.one_of(st.binary(max_size=12), st.text(max_size=6).map(str.encode))
values = st.one_of(
    st.tuples(tags, padding, numbers, st.sampled_from([0, 0, 10])).map(
        lambda parts: tagged(parts[0], 0, parts[1]) + varint(parts[2], parts[3])
    ),
    st.tuples(tags, st.binary(min_size=8, max_size=8)).map(lambda parts: tagged(parts[0], 1) + parts[1]),
    st.tuples(tags, st.binary(min_size=4, max_size=4)).map(lambda parts: tagged(parts[0], 5) + parts[1]),
    st.tuples(tags, text_or_bytes).map(lambda parts: sized(*parts)),
    st.tuples(tags, st.lists(numbers, max_size=4)).map(
        lambda parts: sized(parts[0], b"".join(varint(number) for number in parts[1]))
    ),
)


def entry(number: int, *halves: bytes) -> bytes:
    """An entry of a map, the values as its key and its value."""
    placed = (tagged(place, half[0] & 7) + rest(half) for place, half in enumerate(halves, 1))
    return sized(number, b"".join(placed))


def rest(value: bytes) -> bytes:
    """The bytes after a tag."""
    return value[leb128.decoded(value, 0, len(value), 16)[1] :]


def containers(contents):
    bodies = st.lists(contents, max_size=5).map(b"".join)
    return st.one_of(
        bodies,
        st.tuples(st.sampled_from([INNER, INNERS, NEED, *MAPS, 51, 52]), bodies).map(lambda parts: sized(*parts)),
        st.tuples(st.sampled_from([*MAPS]), values, values).map(lambda parts: entry(*parts)),
        st.tuples(tags, bodies).map(lambda parts: in_group(*parts)),
        st.tuples(st.sampled_from([GROUP, GROUPS]), bodies).map(lambda parts: in_group(*parts)),
        st.tuples(st.sampled_from([GROUP_NEED, GROUP_CHOICE]), bodies).map(
            lambda parts: in_group(parts[0], numbered(1, 1) + parts[1])
        ),
        bodies.map(lambda body: sized(NEED, numbered(1, 1) + body)),
    )


bodies = st.lists(st.recursive(values, containers, max_leaves=12), max_size=6).map(b"".join)


@st.composite
def damaged(draw) -> bytes:
    """A message with bytes cut, changed, put in or taken out."""
    body = bytearray(draw(bodies))
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, len(body)))
        end = min(place + draw(st.integers(0, 3)), len(body))
        body[place:end] = draw(st.binary(max_size=3))
    return bytes(body[: draw(st.one_of(st.just(len(body)), st.integers(0, len(body))))])


@pytest.mark.thorough
@settings(max_examples=300)
@given(bodies)
def test_messages_are_read_as_protobuf_reads_them(body):
    agree(body)


@pytest.mark.thorough
@settings(max_examples=600)
@given(damaged())
def test_damaged_messages_are_accepted_exactly_where_protobuf_accepts_them(body):
    agree(body)


@settings(max_examples=300)
@given(st.binary(max_size=40))
def test_any_bytes_are_accepted_exactly_where_protobuf_accepts_them(body):
    agree(body)


@pytest.mark.thorough
@settings(max_examples=200)
@given(bodies)
def test_what_was_read_is_built_as_protobuf_writes_it(body):
    message = SAMPLE_CLASS()
    value = ours(body)
    if not isinstance(value, dict):
        return
    message.ParseFromString(body)
    message.DiscardUnknownFields()
    ordered = in_order(value)
    built = SAMPLE.build(ordered)
    assert same(SAMPLE.parse(built), ordered)
    assert same(in_order(verdicts(built)[0]), ordered)
    if not has_entries(value):
        assert built == message.SerializeToString(deterministic=True)


def nested(depth: int, tag: int) -> bytes:
    body = b""
    for _ in range(depth):
        body = in_group(tag, body) if tag in (GROUP, GROUPS) else sized(tag, body)
    return body


@pytest.mark.parametrize("tag", [INNER, INNERS, GROUP, GROUPS])
def test_messages_may_stand_a_hundred_deep_in_one_another(tag):
    agree(nested(100, tag))
    assert isinstance(ours(nested(100, tag)), dict)
    agree(nested(101, tag))
    assert ours(nested(101, tag)) == "undecodable"


@pytest.mark.parametrize("tag", [9, GROUP])
def test_messages_and_groups_count_together(tag):
    def mixed(messages: int) -> bytes:
        body = in_group(tag) + tagged(tag, 3) * 50 + tagged(tag, 4) * 50
        for _ in range(messages):
            body = sized(INNER, body)
        return body

    agree(mixed(50))
    agree(mixed(51))
    assert (isinstance(ours(mixed(50)), dict), ours(mixed(51))) == (True, "undecodable")


@pytest.mark.parametrize(
    "body",
    [
        tagged(GROUP, 3) + numbered(4, 1),
        tagged(GROUP, 3) + tagged(GROUPS, 4),
        tagged(GROUPS, 3) + tagged(GROUP, 3) + tagged(GROUPS, 4),
        sized(INNER, tagged(GROUP, 3)) + tagged(GROUP, 4),
        in_group(INNER, b"\xff"),
        in_group(GROUP_NEED),
    ],
)
def test_a_broken_group_is_refused_as_protobuf_refuses_it(body):
    agree(body)
    assert isinstance(ours(body), str)


def test_a_group_behind_a_length_and_a_message_between_tags_are_unknown_fields():
    body = sized(GROUP, numbered(4, 1)) + sized(GROUPS, b"\xff") + in_group(INNER, numbered(4, 1))
    agree(body)
    read = SAMPLE.parse(body)
    assert (read["group"], read["groups"], read["inner"]) == (None, [], None)


def test_a_singular_message_that_stands_there_twice_is_merged():
    body = (
        sized(NEED, sized(2, b"one")) + sized(NEED, numbered(1, 1)) + sized(INNER, numbered(4, 1) + sized(INNERS, b""))
    )
    body += sized(INNER, numbered(4, 2) + sized(INNERS, b""))
    agree(body)
    read = SAMPLE.parse(body)
    assert read["need"] == {"must": True, "may": "one"}
    assert (read["inner"]["uint64_"], len(read["inner"]["inners"])) == (2, 2)


def test_required_fields_of_merged_messages_are_missing_where_the_first_began():
    with pytest.raises(DecodeError) as caught:
        SAMPLE.parse(numbered(4, 1) + sized(NEED, b"") + sized(NEED, sized(2, b"x")))
    assert (caught.value.code, caught.value.path, caught.value.offset) == ("missing_required", "need.must", 5)


def test_a_packed_number_that_is_cut_off_is_undecodable_where_it_begins():
    with pytest.raises(DecodeError) as caught:
        SAMPLE.parse(sized(4 + MANY, b"\x01\x80"))
    assert (caught.value.code, caught.value.path, caught.value.offset) == ("undecodable", "uint64_list", 4)


# --- constraints of our own ----------------------------------------------------------------------------------------


def only(subcon, **options) -> Record:
    field = structure.Field("value", subcon, tag=1, **options)
    return Record(structure.Struct("Only", field, form=protobuf.MessageForm()))


def test_narrow_integers_are_cut_to_32_bits_and_then_must_fit():
    small = only(protobuf.Integer(8, signed=True))
    assert small.parse(numbered(1, -128)) == {"value": -128}
    assert small.parse(numbered(1, (1 << 40) + 5)) == {"value": 5}
    with pytest.raises(DecodeError) as caught:
        small.parse(numbered(9, 0) + numbered(1, 128))
    assert (caught.value.code, caught.value.path, caught.value.offset) == ("int_range", "value", 3)


def test_bytes_of_another_size_are_refused_with_the_code_of_the_spec():
    digest = only(protobuf.Bytes(2, "bad_digest"))
    assert digest.parse(sized(1, b"ab")) == {"value": b"ab"}
    with pytest.raises(DecodeError) as caught:
        digest.parse(sized(1, b"abc"))
    assert (caught.value.code, caught.value.offset) == ("bad_digest", 2)


def test_an_absent_optional_field_has_its_default():
    assert only(protobuf.Integer(32, signed=True), optional=True, default=7).parse(b"") == {"value": 7}


def test_a_field_under_a_condition_is_required_while_it_holds():
    always = only(protobuf.Boolean(), when=lambda _: True)
    never = only(protobuf.Boolean(), when=lambda _: False)
    assert never.parse(b"") == {"value": None}
    with pytest.raises(DecodeError) as caught:
        always.parse(b"")
    assert (caught.value.code, caught.value.path) == ("missing_required", "value")


def test_elements_with_the_same_name_are_refused_at_the_second():
    named = only(protobuf.Repeated(TAG, unique="key", unique_code="duplicate_tag"))
    named.parameters = PARAMETERS
    with pytest.raises(DecodeError) as caught:
        named.parse(sized(1, sized(1, b"k")) + sized(1, sized(1, b"k")))
    assert (caught.value.code, caught.value.path, caught.value.offset) == ("duplicate_tag", "value[1]", 7)

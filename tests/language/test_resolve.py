"""Documents become formats: resolved names, and the values that readers see."""

import re
from pathlib import Path

import pytest

from conftest import SPECS, shipped_formats
from wireloom.expr.ast import Binary, FieldRef, Kind, Literal, MarkRef, ParameterRef, Position
from wireloom.model.format import Format
from wireloom.model.types import Array, Bytes, Check, Discard, Field, Integer, OneOf, Reference, Select, Struct
from wireloom.problems import SpecProblems
from wireloom.resolve import resolve
from wireloom.resolve.bind import notation
from wireloom.resolve.logical.shapes import merge_types
from wireloom.runtime.columns import logical
from wireloom.spec import load


@pytest.fixture(scope="module")
def shipped() -> dict[str, Format]:
    return {format.name: format for format in shipped_formats()}


def resolved(tmp_path: Path, types: str, encoding: str = "binary", head: str = "root: Record") -> Format:
    file = tmp_path / "spec.yaml"
    head = f"wireloom: 1\nformat: one\ntitle: One\nencoding: {encoding}\n{head}\ntypes:\n"
    lines = [f"  {line}" for line in types.strip("\n").splitlines()]
    file.write_text(head + "\n".join(lines) + "\n", encoding="utf-8")
    (format,) = resolve(load([file], tmp_path))
    return format


def field(struct: object, name: str) -> Field:
    assert isinstance(struct, Struct)
    return next(each for each in struct.fields if each.wire_name == name)


# --- names in expressions ------------------------------------------------------------------------------------------


def test_names_mean_earlier_fields_marks_parameters_and_positions(shipped):
    event = shipped["databus_event"].type("EventV1")
    assert field(event, "value").type == Bytes(Binary("-", FieldRef(0, "length", kind=Kind.INTEGER), Position("here")))
    assert field(event, "headerCrc").checksum.end == MarkRef("headerEnd")
    assert field(event, "schemaId").when == Binary("==", ParameterRef("schemaField", (), Kind.TEXT), Literal("id"))


def test_bits_and_mapped_values_have_the_kind_that_readers_see(shipped):
    event = shipped["databus_event"].type("EventV1")
    assert field(event, "keyBytes").when == FieldRef(0, "byteKey", kind=Kind.BOOLEAN)
    message = shipped["aerospike_msgpack"].type("Message")
    payload = field(message, "payload").type
    assert isinstance(payload, Select)
    assert payload.tag.expression == FieldRef(0, "msg", kind=Kind.TEXT)


def test_names_of_enclosing_structs_count_the_structs_on_the_way(shipped):
    body = shipped["databus_event"].type("Body")
    assert field(body, "metadata").when == FieldRef(1, "hasMetadata", kind=Kind.BOOLEAN)
    part = shipped["databus_json"].type("MetadataPart")
    assert field(part, "value").when.left == FieldRef(1, "valueEnc", kind=Kind.TEXT)


def test_flattened_structs_lend_their_fields(shipped):
    aggregate = shipped["kpl_record"].type("Aggregate")
    discard = next(step for step in aggregate.steps if isinstance(step, Discard))
    assert discard.keep.left.left == FieldRef(0, "hashKey", kind=Kind.INTEGER)
    assert discard.keep.left.right == ParameterRef("shard_range", ("start",), Kind.INTEGER, nullable=True)
    assert field(aggregate, "class").compute.condition.left.left.left.arguments == (
        FieldRef(0, "records", kind=Kind.LIST),
    )


def test_a_check_names_the_first_field_of_its_condition(tmp_path):
    format = resolved(
        tmp_path,
        """
Record:
  fields:
    - check: {that: size >= 2, else: bad_size}
    - length: uint16
    - check: {that: size == length, else: bad_size}
""",
    )
    checks = [step.field for step in format.type("Record").steps if isinstance(step, Check)]
    assert checks == ["", "length"]


def test_a_dotted_name_reaches_into_a_struct(tmp_path):
    format = resolved(
        tmp_path,
        """
Record:
  fields:
    - header: Header
    - text: str(header.length)
Header:
  fields:
    - length: uint8
""",
    )
    assert field(format.type("Record"), "text").type.size == FieldRef(0, "header", ("length",), Kind.INTEGER)


# --- types ---------------------------------------------------------------------------------------------------------


def test_a_union_that_holds_itself_is_open(shipped):
    value = shipped["aerospike_msgpack"].type("Value")
    assert isinstance(value, OneOf)
    assert value.open
    assert value.extension_code == "bad_ext_type"
    key = shipped["aerospike_msgpack"].type("Key")
    assert not field(key, "userKey").type.open


def test_keys_of_a_field_reach_its_type(shipped):
    write = shipped["aerospike_json"].type("Write")
    assert field(write, "bins").type == Array(Reference("Bin"), None, "name", "duplicate_bin")
    key = shipped["aerospike_json"].type("Key")
    assert field(key, "digest").type == Bytes(Literal(20), "bad_digest_length")


def test_keys_of_tables_are_read_as_the_field_s_type(tmp_path):
    format = resolved(
        tmp_path,
        """
Record:
  fields:
    - kind: {type: str?, values: {null: none, on: yes, 1: one, true: right}}
    - flag: {type: bool, values: {true: 1, false: 0}}
""",
        encoding="msgpack",
    )
    record = format.type("Record")
    assert [each.wire for each in field(record, "kind").mappings] == [None, "on", "1", "true"]
    assert [each.wire for each in field(record, "flag").mappings] == [True, False]


def test_a_digest_covers_the_spec_and_its_schema(shipped, tmp_path):
    again = {format.name: format for format in resolve(load(sorted(SPECS.rglob("*.yaml")), SPECS))}
    assert [format.digest for format in again.values()] == [format.digest for format in shipped.values()]
    for file in (SPECS / "aerospike").glob("*.yaml"):
        text = file.read_text(encoding="utf-8")
        (tmp_path / file.name).write_text(text.replace("Namespace", "The namespace"), encoding="utf-8")
    changed = resolve(load(sorted(tmp_path.glob("*.yaml")), tmp_path))
    assert all(format.digest != shipped[format.name].digest for format in changed)


# --- errors --------------------------------------------------------------------------------------------------------


def test_the_vocabulary_has_what_the_format_can_report_and_nothing_else(shipped):
    codes = {name: [error.code for error in format.errors] for name, format in shipped.items()}
    assert "bad_msgpack" in codes["aerospike_msgpack"]
    assert "bad_base64" in codes["aerospike_json"]
    assert "missing_required" in codes["kpl_record"]
    assert "invalid_utf8" not in codes["databus_event"]
    assert all(error.doc for format in shipped.values() for error in format.errors)


# --- what readers see ----------------------------------------------------------------------------------------------


def test_two_encodings_of_one_event_have_the_same_columns(shipped):
    for one, other in (("aerospike_json", "aerospike_msgpack"), ("databus_event", "databus_json")):
        assert shipped[one].roots[0].logical == shipped[other].roots[0].logical
    key = [
        next(root for root in shipped[name].roots if root.name == "key")
        for name in ("aerospike_json", "aerospike_msgpack")
    ]
    assert key[0].logical == key[1].logical


def test_every_alternative_of_an_attempt_is_in_the_record(shipped):
    record = shipped["kpl_record"].roots[0]
    assert [each.name for each in record.logical.fields] == ["kind", "reason", "records", "lost", "discarded", "class"]
    assert record.rows == ("records",)
    rows = record.logical.fields[2].type.element
    assert [(each.name, each.nullable) for each in rows.fields] == [
        ("subSequenceNumber", False),
        ("partitionKey", True),
        ("explicitHashKey", True),
        ("data", False),
        ("tags", True),
    ]


def test_what_may_be_absent_is_nullable(tmp_path):
    format = resolved(
        tmp_path,
        """
Record:
  fields:
    - always: int
    - maybe: {type: int, optional: true}
    - defaulted: {type: int, optional: true, default: 3}
    - word: {type: str?, optional: true, values: {null: 0, key: 1}}
    - sometimes: {type: int, when: always == 1}
    - sum: {type: int, compute: always + 1}
    - unsure: {type: int, compute: always + maybe}
    - list: list(int)
""",
        encoding="json",
    )
    nullable = {each.name: each.nullable for each in format.roots[0].logical.fields}
    assert nullable == {
        "always": False,
        "maybe": True,
        "defaulted": False,
        "word": False,
        "sometimes": True,
        "sum": False,
        "unsure": True,
        "list": False,
    }


INT8, INT32, INT64 = (logical.Integer(bits, signed=True) for bits in (8, 32, 64))
UINT32, UINT64 = (logical.Integer(bits, signed=False) for bits in (32, 64))
TEXT = logical.Text()


@pytest.mark.parametrize(
    ("first", "second", "merged"),
    [
        (INT8, INT32, INT32),
        (INT32, UINT32, INT64),
        (INT64, UINT64, logical.Integer(65, signed=True)),
        (logical.Float(32), logical.Float(64), logical.Float(64)),
        (logical.Text(("a",)), logical.Text(("b", "a")), logical.Text(("a", "b"))),
        (logical.Text(("a",)), TEXT, TEXT),
        (logical.Binary(4), logical.Binary(16), logical.Binary()),
        (logical.List(INT8), logical.List(INT32, nullable=True), logical.List(INT32, nullable=True)),
        (TEXT, INT8, logical.Alternatives((INT8, TEXT))),
        (logical.Alternatives((INT8, TEXT)), INT32, logical.Alternatives((INT32, TEXT))),
        (logical.Open(), logical.Boolean(), logical.Alternatives((logical.Boolean(), logical.Open()))),
    ],
)
def test_types_merge_to_what_holds_both(first, second, merged):
    assert merge_types(first, second) == merged


def test_records_merge_field_by_field():
    one = logical.Record(
        (logical.LogicalField("a", INT8, nullable=False), logical.LogicalField("b", TEXT, nullable=False))
    )
    two = logical.Record(
        (logical.LogicalField("a", INT32, nullable=False), logical.LogicalField("c", TEXT, nullable=False))
    )
    merged = merge_types(one, two)
    assert [(each.name, each.type, each.nullable) for each in merged.fields] == [
        ("a", INT32, False),
        ("b", TEXT, True),
        ("c", TEXT, True),
    ]


def test_integers_know_their_range():
    assert (Integer(8, signed=True).minimum, Integer(16, signed=False).maximum) == (-128, 65535)


def test_a_table_stands_before_the_fields_that_refer_to_it(tmp_path):
    fields = ["- rows: {tag: 2, type: list(Row)}", "- keys: {tag: 1, type: list(str), table: true}"]
    row = "Row:\n  fields:\n    - key: {tag: 1, type: uint32, refers: keys}"
    right, wrong = (
        "\n".join(["Record:", "  fields:", *(f"    {each}" for each in order), row]) for order in (fields[::-1], fields)
    )
    resolved(tmp_path, right, encoding="protobuf")
    with pytest.raises(SpecProblems) as caught:
        resolved(tmp_path, wrong, encoding="protobuf")
    (problem,) = caught.value.problems
    assert (
        "spec.yaml:13:45: the table keys is read after the fields that refer to it; move the table before them"
        in str(problem)
    )
    assert problem.id == "later-name"


@pytest.mark.parametrize(
    ("type", "among"),
    [
        ("'ext(5, bytes)'", False),
        ("'ext(5, str) | int8'", False),
        ("{type: {oneOf: {time: 'ext(5, bytes)', int: int}, extElse: bad_ext_type}}", True),
    ],
)
def test_bad_ext_type_is_among_the_codes_only_of_a_union_that_names_it(tmp_path, type, among):
    """Elsewhere another ext type is `type_mismatch`, which every format of MessagePack has."""
    format = resolved(tmp_path, f"Record: {{fields: [{{value: {type}}}]}}", "msgpack")
    codes = {error.code for error in format.errors}
    assert ("bad_ext_type" in codes, "type_mismatch" in codes) == (among, True)


@pytest.mark.parametrize(
    ("types", "may"),
    [
        ("Record: {fields: [STEPS*64]}", False),
        ("Record: {fields: [STEPS*65]}", True),
        ("Record: {fields: [{a: Part}, {b: Part}]}\nPart: {fields: [STEPS*32]}", False),
        ("Record: {fields: [{a: Part}, {b: Part}]}\nPart: {fields: [STEPS*33]}", True),
        ("Record: {fields: [STEPS*1, {list: list(Part)}]}\nPart: {fields: [{a: uint8}]}", False),
        ("Record: {fields: [{list: list(Part)}]}\nPart: {fields: [STEPS*1]}", True),
        ("Record: {depth: 4, fields: [{more: bool}, {next: {type: Record, when: more}}, STEPS*16]}", False),
        ("Record: {depth: 4, fields: [{more: bool}, {next: {type: Record, when: more}}, STEPS*17]}", True),
    ],
)
def test_a_limit_on_reading_again_is_among_the_codes_where_a_record_may_come_to_it(tmp_path, types, may):
    def steps(times: re.Match[str]) -> str:
        sums = (f"{{s{n}: {{type: bytes(16), checksum: md5, over: 0 .. 1}}}}" for n in range(int(times[1])))
        checks = (f"{{verify: {{field: s{n}}}}}" for n in range(int(times[1])))
        return ", ".join(("{covered: uint8}", *sums, *checks))

    format = resolved(tmp_path, re.sub(r"STEPS\*(\d+)", steps, types))
    assert ("size_limit" in [error.code for error in format.errors]) is may


def test_a_case_that_begins_with_itself_is_a_mistake_and_no_crash(tmp_path):
    wrong = "Record: {fields: [{a: {type: {select: {peek: uint8}, cases: {0: E}}}}]}\nE: {fields: [{n: E}]}"
    with pytest.raises(SpecProblems) as caught:
        resolved(tmp_path, wrong)
    assert "recursive-type" in {problem.id for problem in caught.value.problems}


def test_a_text_of_a_type_is_parsed_once(tmp_path):
    spec = tmp_path / "spec.yaml"
    fields = "".join(f"      - f{number}: list(Pair)\n" for number in range(20))
    head = "wireloom: 1\nformat: many\ntitle: Many\nencoding: msgpack\nroot: R\n"
    spec.write_text(f"{head}types:\n  R:\n    fields:\n{fields}  Pair: {{fields: [{{a: uint8}}]}}\n", encoding="utf-8")
    notation.parse.cache_clear()
    resolve(load([spec], tmp_path))
    assert notation.parse.cache_info().misses < 10

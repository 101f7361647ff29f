"""`import avsc`: the imported spec and fastavro read each other's records."""

import io
import json
from random import Random

import pyarrow as pa
import pytest
from typer.testing import CliRunner

import differential
from support.avro_records import drawn
from support.imported_specs import module_of
from support.protobuf_messages import plain
from wireloom.cli.app import app
from wireloom.cli.commands.specs.import_ import settled_avsc
from wireloom.importing.avsc.schemas import Record, read
from wireloom.importing.findings import ImportRefusedError
from wireloom.runtime import engine as engines
from wireloom.runtime.errors import DecodeError

fastavro = pytest.importorskip("fastavro", reason="fastavro, of the dependency group `test`, is not installed")
TIMES = 25  # records of each schema


def field(name, type, **others):
    """A field of a record."""
    return {"name": name, "type": type, **others}


def record(name, *fields, **others):
    """A schema of a record."""
    return {"type": "record", "name": name, "fields": list(fields), **others}


def meant(type, logical, **others):
    """A type with a meaning."""
    return {"type": type, "logicalType": logical, **others}


def listed(items):
    """A schema of an array."""
    return {"type": "array", "items": items}


def mapped(values):
    """A schema of a map."""
    return {"type": "map", "values": values}


KIND = {"type": "enum", "name": "Kind", "symbols": ["A", "null", "true", "B_1"]}
MD5 = {"type": "fixed", "name": "MD5", "size": 16}
SCHEMAS = {
    "primitives": record(
        "User",
        field("id", "long", doc="5", order="ignore"), field("name", "string", default="", aliases=["label"]),
        field("nothing", "null"), field("flag", "boolean"), field("i", "int"), field("f", "float"),
        field("d", "double"), field("b", "bytes"), field("size", {"type": "int"}), field("end", ["null", "int"]),
        namespace="com.acme", doc="A user.\nOf ours.", aliases=["Person"],
    ),
    "unions with null": record(
        "R", field("a", ["null", "string"], default=None), field("b", ["long", "null"]), field("c", ["string"]),
        field("d", ["null", record("P", field("x", "int"))]), field("e", ["null", "P"]), field("f", ["null"]),
        field("g", ["null", listed("int")]), field("h", ["null", mapped("int")]), field("a_index", "int"),
    ),
    "unions of several types": record(
        "R", field("a", ["null", "int", "string", KIND, MD5, listed("string"), mapped("long"), "boolean"]),
        field("b", ["float", record("P", field("x", "int")), record("Q", field("y", "string"))]),
        field("c", listed(["string", "int", "null"])), field("d", mapped(["string", "int"])),
    ),
    "containers": record(
        "R", field("a", listed("int")), field("b", mapped("string")), field("c", listed(listed("double"))),
        field("d", mapped(listed(mapped(["null", "int"])))), field("e", listed(["null", "long"])),
        field("f", listed(KIND)), field("g", listed("Kind")), field("h", listed(record("P", field("x", "int")))),
        field("i", mapped("P")), field("j", listed(MD5)),
    ),
    "meanings": record(
        "R", field("a", meant("int", "date")), field("b", meant("int", "time-millis")),
        field("c", meant("long", "time-micros")), field("d", meant("long", "timestamp-millis")),
        field("e", ["null", meant("long", "timestamp-micros")]), field("f", meant("long", "local-timestamp-millis")),
        field("g", meant("long", "local-timestamp-micros")), field("h", meant("string", "uuid")),
        field("i", meant({**MD5, "name": "U"}["type"], "duration", name="D", size=12)),
        field("j", listed(meant("long", "timestamp-millis"))), field("k", mapped(meant("int", "date"))),
    ),
    "decimals": record(
        "R", field("a", meant("bytes", "decimal", precision=10, scale=2)),
        field("b", ["null", meant("bytes", "decimal", precision=18)]),
        field("c", meant("fixed", "decimal", name="D5", size=5, precision=9, scale=3)),
        field("d", ["null", meant("fixed", "decimal", name="D16", size=16, precision=18, scale=6)]),
        field("e", listed(meant("bytes", "decimal", precision=6, scale=2))),
        field("f", mapped(meant("bytes", "decimal", precision=6, scale=2))),
        field("g", meant("fixed", "decimal", name="D1", size=1, precision=2, scale=1)),
    ),
    "a record that holds itself": record(
        "Node", field("label", "string"), field("next", ["null", "Node"]), field("kids", mapped("Node")),
        field("many", listed("Node")),
    ),
    "names in namespaces": record(
        "a.b.Out", field("x", record("In", field("y", ["null", {"type": "enum", "name": "c.In", "symbols": ["Z"]}]))),
        field("z", "In"), field("w", "a.b.In"), field("v", "c.In"), field("None", "int"), field("A", "int"),
        field("a", "int"), field("here", ["null", "string"]), field("check", listed("int")), field("class", "c.In"),
    ),
    "no record": listed({"type": "map", "values": "long"}),
    "nothing in a record": record("R"),
}  # fmt: skip


def written(schema, folder):
    """The file with a schema."""
    path = folder / "sample.avsc"
    path.write_text(schema if isinstance(schema, str) else json.dumps(schema, indent="\t"), encoding="utf-8")
    return path


def bytes_of(schema, datum):
    """A record as fastavro writes it."""
    out = io.BytesIO()
    fastavro.schemaless_writer(out, schema, datum)
    return out.getvalue()


def without_nulls(value, wanted):
    """A value without the members that it has of other branches of a union, which are null."""
    if isinstance(value, dict) and isinstance(wanted, dict):
        return {
            name: without_nulls(each, wanted.get(name))
            for name, each in value.items()
            if each is not None or name in wanted
        }
    if isinstance(value, list) and isinstance(wanted, list) and len(value) == len(wanted):
        return [without_nulls(*pair) for pair in zip(value, wanted, strict=True)]
    return value


@pytest.mark.drawing
@pytest.mark.parametrize("name", SCHEMAS)
def test_the_spec_and_fastavro_read_what_the_other_writes(name, tmp_path):
    file = written(SCHEMAS[name], tmp_path)
    schema, parsed = read(file), fastavro.parse_schema(SCHEMAS[name])
    random, records = Random(5), []  # noqa: S311 - values of a test
    with module_of(settled_avsc(file)) as module:
        for _ in range(TIMES):
            datum, wanted = drawn(schema, random)
            record = bytes_of(parsed, datum)
            value = module.parse(record)
            wanted = wanted if isinstance(schema, Record) else {"value": wanted}
            assert without_nulls(plain(value), wanted) == wanted
            assert module.build(value) == record
            records.append(record)
        engine = module.CODEC.engine
        request = engines.Request(engine.codec.default_root, engine.codec.settings({}))
        assert differential.compare(engine, records, request) == []
        assert module.encode(module.decode(pa.array(records, pa.binary())).records).to_pylist() == records


READ = {
    "blocks, of which one says its size": (
        record("R", field("a", listed("int")), field("b", mapped("int"))),
        "0304 0204 02 06 00  01 06 026102 02 026204 00",
        {"a": [1, 2, 3], "b": {"a": 1, "b": 2}},
    ),
    "a decimal of more bytes than it needs": (
        record("R", field("a", meant("bytes", "decimal", precision=4, scale=2))),
        "06 ffffff",
        {"a": "-0.01"},
    ),
    "a wide decimal below zero": (
        record("R", field("a", meant("fixed", "decimal", name="F", size=9, precision=18, scale=0))),
        "ff fffffffffffffffe",
        {"a": -2},
    ),
    "nanoseconds": (
        record("R", field("a", meant("long", "timestamp-nanos")), field("b", meant("long", "local-timestamp-nanos"))),
        "d00f 02",
        {"a": "1970-01-01 00:00:00.000001+00:00", "a_nanos": 1000, "b": "1970-01-01 00:00:00+00:00", "b_nanos": 1},
    ),
    "meanings that fit no type are ignored": (
        record("R", field("a", meant("string", "date")), field("b", meant("int", "unknown")),
               field("c", meant("bytes", "decimal", precision=1, scale=2))),
        "0261 02 02ff",
        {"a": "a", "b": 1, "c": b"\xff"},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("schema", "data", "value"), READ.values(), ids=READ)
def test_bytes_are_read_as_the_specification_says(schema, data, value, tmp_path):
    with module_of(settled_avsc(written(schema, tmp_path))) as module:
        found = plain(module.parse(bytes.fromhex(data)))
        assert {
            name: each if name in value and each == value[name] else str(each) for name, each in found.items()
        } == value


def test_a_decimal_that_does_not_fit_is_an_error_with_its_place(tmp_path):
    schema = record("R", field("a", meant("fixed", "decimal", name="F", size=9, precision=18, scale=0)))
    with module_of(settled_avsc(written(schema, tmp_path))) as module:
        with pytest.raises(DecodeError) as error:
            module.parse(bytes.fromhex("01 fffffffffffffffe"))
        assert error.value.code == "decimal_overflow"


def test_five_bytes_of_a_registry_stand_before_the_record(tmp_path):
    schema = record("R", field("a", "string"), field("magic", "int"), field("schema_id", ["null", "int"]))
    file = written(schema, tmp_path)
    with module_of(settled_avsc(file, confluent=True)) as module:
        value = module.parse(bytes.fromhex("00 00000107 0261 0e 0208"))
        assert value == {"schema_id_2": 263, "a": "a", "magic": 7, "schema_id": 4}
        assert module.build(value).hex() == "000000010702610e0208"
        with pytest.raises(DecodeError, match="no_magic"):
            module.parse(bytes.fromhex("01 00000107 0261 0e 00"))


LACKING = {
    "element": (listed(["null", "int"]), "each element of value is a struct: a list in a spec cannot contain unions"),
    "name": (record("R", field("_a", "int"), field("a", "int")), "_a is called a_2"),
    "decimal": (record("R", field("a", meant("bytes", "decimal", precision=30))), "a stays bytes: a decimal of 30"),
    "union": (
        record("R", field("a", ["string", meant("long", "timestamp-millis")])),
        "each branch of a has its own member",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", LACKING)
def test_what_a_spec_lacks_is_told_with_its_place(kind, tmp_path):
    schema, message = LACKING[kind]
    made = settled_avsc(written(json.dumps(schema), tmp_path))
    assert [(each.kind, message in each.message) for each in made.findings] == [(kind, True)]


def test_comments_are_passed_over_as_by_avros_own_reader(tmp_path):
    member = '{"name": "a", "type": "int", "doc": "see // and /* here */"}'
    plain = f'{{"type": "record", "name": "R", "fields": [{member}]}}'
    commented = '/* A\n licence "*/' + plain.replace(", ", ", // {\n", 1) + " // the end"
    made = [settled_avsc(written(text, tmp_path)).text for text in (plain, commented)]
    assert made[0] == made[1]
    assert "see // and /* here */" in made[0]
    with pytest.raises(ImportRefusedError, match=r"sample\.avsc:2:4: the file is not JSON"):
        settled_avsc(written("/*\n*/ ! /* no end", tmp_path))


REFUSED = {
    "no JSON": ('{"type": "record",\n "name" "R"}', "sample.avsc:2:9: the file is not JSON"),
    "nothing": ("", "sample.avsc:1:1: the file is not JSON"),
    "a number": ("5", "sample.avsc:1:1: this is not a schema"),
    "a key that is there twice": ('{"type": "int", "type": "int"}', "type is given twice"),
    "no type": (record("R", field("a", "S")), "there is no type S"),
    "two fields of one name": (record("R", field("a", "int"), field("a", "int")), "two fields are called a"),
    "two types of one name": (record("R", field("a", record("R"))), "two types are called R"),
    "a name that is none": (record("R", field("a b", "int")), "the `name` of the field is missing"),
    "a union in a union": ([["int"]], "a union contains a union"),
    "a union of the same": (["int", "int"], "two branches of a union have the same type"),
    "no branches": ([], "a union has no branches"),
    "no symbols": ({"type": "enum", "name": "E", "symbols": [1]}, "`symbols` of the enum is not a list"),
    "no size": ({"type": "fixed", "name": "F", "size": -1}, "the `size` is not a number"),
    "no items": ({"type": "array"}, "this is not a schema"),
    "a record that never ends": (record("R", field("a", "R")), "every R contains another one"),
    "arrays without an end": ('{"type":"array","items":' * 5000, "sample.avsc:1:1:"),
    "arrays in arrays": ('{"type":"array","items":' * 70 + '"int"' + "}" * 70, "more than 60 deep"),
    "too many fields": (
        record("R", field("a", record("S", *(field(f"f{n}", "int") for n in range(300)))),
               *(field(f"g{n}", "S") for n in range(60))),
        "the records have too many fields",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("schema", "message"), REFUSED.values(), ids=REFUSED)
def test_a_file_that_is_no_schema_is_refused_in_a_line_with_its_place(schema, message, tmp_path):
    file = written(schema, tmp_path)
    done = CliRunner().invoke(app, ["import", "avsc", str(file), "--specs", str(tmp_path / "specs")])
    assert done.exit_code == 1
    assert message in done.stderr
    assert done.stderr.endswith("nothing was written\n")


def test_the_command_writes_the_spec_once(tmp_path):
    file = written(SCHEMAS["unions with null"], tmp_path)
    command = ["import", "avsc", str(file), "--specs", str(tmp_path / "specs"), "--name", "users"]
    done = CliRunner().invoke(app, command)
    assert (done.exit_code, done.stdout) == (0, f"wrote {tmp_path / 'specs/users.yaml'}\n")
    assert CliRunner().invoke(app, command).exit_code == 2
    assert CliRunner().invoke(app, [*command, "--replace", "--confluent"]).exit_code == 0
    assert "root: Registered" in (tmp_path / "specs/users.yaml").read_text(encoding="utf-8")


@pytest.mark.drawing
def test_damaged_schemas_are_refused_or_read(tmp_path):
    text = json.dumps(SCHEMAS["unions of several types"])
    random, refused = Random(3), 0  # noqa: S311 - mutants of a test
    for _ in range(200):
        place = random.randrange(len(text))
        other = random.choice(('"', "{", "}", "[", "]", ",", ":", "1", "null", "\\", "a", ""))
        file = written(text[:place] + other + text[place + random.randrange(3) :], tmp_path)
        try:
            read(file)
        except ImportRefusedError as error:
            assert error.findings
            refused += 1
    assert 0 < refused < 200

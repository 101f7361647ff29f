"""`import proto`: the imported spec and the official library read each other's messages."""

from random import Random
from textwrap import dedent

import pyarrow as pa
import pytest
from typer.testing import CliRunner

import differential
from wireloom.cli.app import app
from wireloom.cli.commands.specs.import_ import settled_proto
from wireloom.failures import MisuseError
from wireloom.importing.findings import ImportRefusedError
from wireloom.runtime import engine as engines
from wireloom.runtime.errors import DecodeError

pytest.importorskip("grpc_tools", reason="grpcio-tools, the extra `proto`, is not installed")

from support.imported_specs import module_of
from support.protobuf_messages import expected, fill, message_class, plain, pool_of

TIMES = 25  # messages of each file
THREE = """
    syntax = "proto3";
    package acme.orders;
    import "google/protobuf/empty.proto";
    import "google/protobuf/struct.proto";
    import "google/protobuf/timestamp.proto";
    import "google/protobuf/wrappers.proto";
    option java_package = "com.acme";
    // An order.
    message Order {
      reserved 90 to 99, 120;
      reserved "gone";
      int32 a = 1; int64 b = 2; uint32 c = 3; uint64 d = 4; sint32 e = 5; sint64 f = 6; fixed32 g = 7; fixed64 h = 8;
      sfixed32 i = 9; sfixed64 j = 10; float k = 11; double l = 12; bool m = 13; string n = 14; bytes o = 15;
      optional int32 p = 16; optional string q = 17; optional Kind r = 18;
      repeated sint64 s = 19; repeated fixed32 t = 20; repeated double u = 21; repeated bool v = 22;
      repeated string w = 23; repeated Line lines = 24; Kind kind = 25;
      map<string, Line> by_name = 26; map<sint32, uint64> numbers = 27; map<bool, bytes> flags = 28;
      map<sfixed64, float> fixed = 29; map<uint64, fixed32> also_fixed = 30;
      oneof choice { string text = 31; Line line = 32; Kind which = 33; google.protobuf.Empty empty = 34; }
      google.protobuf.Timestamp at = 35; google.protobuf.StringValue maybe = 36; google.protobuf.Struct open = 37;
      repeated Kind kinds = 38; map<string, Kind> kind_of = 39; map<fixed32, Kind> fixed_kinds = 40;
      Order before = 536870911;
      message Line { int32 quantity = 1 [deprecated = true, json_name = "howMany"]; repeated Line parts = 2; }
      enum Kind { option allow_alias = true; UNKNOWN = 0; NONE = 0; NEGATIVE = -7; LARGE = 2147483647; }
    }
    service Orders { rpc Get(Order) returns (Order); }
"""
TWO = """
    syntax = "proto2";
    message Result {
      required int32 id = 1; optional string name = 2; repeated group Hit = 3 { required string url = 1; }
      optional group Best = 4 { optional Kind kind = 1; }
      optional int32 a = 5 [default = -5]; optional float b = 6 [default = 1.5]; optional bool c = 7 [default = true];
      optional string d = 8 [default = "12"]; optional bytes e = 9 [default = "\\001\\377"];
      optional Kind f = 10 [default = B]; optional double g = 11 [default = 1e-9];
      repeated int32 h = 12; repeated int32 i = 13 [packed = true];
      oneof one { int32 j = 14 [default = 3]; Result k = 15; }
      optional uint64 l = 16 [default = 18446744073709551615];
      repeated Kind m = 17; repeated Kind n = 18 [packed = true];
      extensions 100 to 199;
      enum Kind { B = 2; A = 1; }
    }
"""
EDITION = """
    edition = "2023";
    package editions;
    message Shelf {
      int32 a = 1;
      int32 b = 2 [features.field_presence = IMPLICIT];
      int32 c = 3 [features.field_presence = LEGACY_REQUIRED];
      Book d = 4 [features.message_encoding = DELIMITED];
      repeated Book e = 5 [features.message_encoding = DELIMITED];
      repeated int32 f = 6 [features.repeated_field_encoding = EXPANDED];
      map<int32, Book> g = 7;
      Kind h = 8; Closed i = 9 [default = D];
      oneof k { string l = 10; Book m = 11 [features.message_encoding = DELIMITED]; }
    }
    message Book { string title = 1 [default = "none"]; }
    enum Kind { Z = 0; Y = 1; }
    enum Closed { option features.enum_type = CLOSED; C = 4; D = 5; }
"""
NAMES = """
    syntax = "proto3";
    message class {
      int32 size = 1; string here = 2; repeated int32 check = 3; and None = 4; not index = 5;
      int32 A = 7; int32 a = 8; int32 type = 9; oneof null { int32 in = 10; and or = 11; }
      Data data = 13; map<string, not> items = 14; int32 values = 15; int32 keys = 16; optional bool tag = 17;
      message Data { int32 x = 1; message Held { int32 x = 1; } Held held = 2; }
    }
    message and { string true = 1; }
    enum not { null = 0; true = 1; yes = 2; e1 = 3; _ = -1; }
"""


def written(text, folder, name="sample.proto"):
    """The file with a text."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(dedent(text).lstrip(), encoding="utf-8")
    return path


def agree(module, messages):
    """Whether the spec reads what the official library wrote, and the library what the spec writes; and the engine."""
    records = [each.SerializeToString() for each in messages]
    for message, record in zip(messages, records, strict=True):
        value = module.parse(record)
        assert plain(value) == expected(message)
        again = type(message).FromString(module.build(value))
        assert expected(again) == expected(message)
    engine = module.CODEC.engine
    request = engines.Request(engine.codec.default_root, engine.codec.settings({}))
    assert differential.compare(engine, records, request) == []
    table = module.decode(pa.array(records, pa.binary())).records
    encoded = module.encode(table)
    assert [module.parse(each.as_py()) for each in encoded] == [module.parse(each) for each in records]


@pytest.mark.drawing
@pytest.mark.parametrize(
    ("text", "name", "packed"),
    [
        (THREE, "acme.orders.Order", "[packed = false]"),
        (TWO, "Result", "[packed = true]"),
        (EDITION, "editions.Shelf", ""),
        (NAMES, "class", ""),
    ],
    ids=["proto3", "proto2", "edition", "names"],
)
def test_the_spec_and_the_official_library_read_what_the_other_writes(text, name, packed, tmp_path):
    made = settled_proto(written(text, tmp_path), messages=[name], depth=2)
    other = text.replace("double u = 21", f"double u = 21 {packed}").replace("int32 h = 12", f"int32 h = 12 {packed}")
    message, twin = (
        message_class(pool_of(written(each, tmp_path, place)), name)
        for each, place in ((text, "sample.proto"), (other, "other/sample.proto"))
    )
    random = Random(7)  # noqa: S311 - values of a test
    with module_of(made) as module:
        agree(module, [fill(message(), random, deepest=1) for _ in range(TIMES)])
        agree(module, [fill(twin(), random, deepest=1) for _ in range(5)])


SPECIAL = {
    "nothing but a message": ('syntax = "proto3"; message M {}', "", {}),
    "packed and not, whatever is declared": (
        'syntax = "proto2"; message M { repeated int32 a = 1; repeated float b = 2 [packed = true]; }',
        "0a020102 0803 120400000000 150000803f",
        {"a": [1, 2, 3], "b": [0.0, 1.0]},
    ),
    "what is deeper than the depth stays bytes": (
        'syntax = "proto3"; message M { int32 a = 1; M m = 2; }',
        "1208 1206 1204 1202 0801",
        {"a": 0, "m": {"a": 0, "m": {"a": 0, "m": bytes.fromhex("12020801")}}},
    ),
    "a number that no word is for": (
        'syntax = "proto3"; message M { E e = 1; repeated E es = 2; } enum E { A = 0; B = 6; }',
        "0805 10061000",
        {"e": None, "e_number": 5, "es": ["B", "A"]},
    ),
    "a field that is called as the number beside words": (
        'syntax = "proto3"; message M { E e = 1; int32 e_number = 2; } enum E { A = 0; }',
        "1007",
        {"e": "A", "e_number": 7, "e_number_2": 0},
    ),
    "unknown fields, extensions and groups": (
        'syntax = "proto2"; message M { optional int32 a = 1; extensions 2; } extend M { optional int32 b = 2; }',
        "1005 1b08011c 0807",
        {"a": 7},
    ),
}


@pytest.mark.parametrize(("text", "data", "value"), SPECIAL.values(), ids=SPECIAL)
def test_bytes_of_a_message_are_read_as_its_file_says(text, data, value, tmp_path):
    made = settled_proto(written(text, tmp_path), depth=3 if "M m" in text else None)
    with module_of(made) as module:
        assert plain(module.parse(bytes.fromhex(data))) == value


@pytest.mark.parametrize(("data", "place"), [("10061000 1005", "es[2]"), ("1a050a01611007", "by[0].value")])
def test_a_number_without_a_word_in_a_list_or_a_map_makes_the_record_bad(data, place, tmp_path):
    text = 'syntax = "proto3"; message M { repeated E es = 2; map<string, E> by = 3; } enum E { A = 0; B = 6; }'
    with module_of(settled_proto(written(text, tmp_path))) as module, pytest.raises(DecodeError) as caught:
        module.parse(bytes.fromhex(data))
    assert (caught.value.code, caught.value.path) == ("unknown_value", place)


LACKING = {
    "extension": ("message M { extensions 9; }\nextend M { optional int32 b = 9; }", 3, "the extension b of M"),
    "enum-list": ("message M {\n  repeated E es = 1; }\nenum E { A = 0; }", 3, "a number in es that E does not list"),
    "name": ("message M {\n  optional int32 _a = 1; optional int32 a = 2; }", 3, "_a is called a_2"),
    "default": ("message M {\n  optional float a = 1 [default = nan]; }", 3, "the default of a is nan"),
    "refused": ("message M {\n  M m = 1 [features.message_encoding = DELIMITED]; }", 3, "M contains itself as a group"),
}


@pytest.mark.parametrize("kind", LACKING)
def test_what_a_spec_lacks_is_told_with_its_place(kind, tmp_path):
    text, line, message = LACKING[kind]
    syntax = 'edition = "2023"' if "features" in text else 'syntax = "proto2"'
    made = settled_proto(written(f"{syntax};\n{text}", tmp_path))
    assert [(each.kind, each.location.line) for each in made.findings] == [(kind, line)]
    assert message in made.findings[0].message


REFUSED = {
    "no syntax": ('syntax = "proto3";\nmessage M {\n  int32 a 1;\n}', "sample.proto:3:11: Missing field number"),
    "no type": ('syntax = "proto3";\nmessage M { N a = 1; }', 'sample.proto:2:13: "N" is not defined'),
    "an import that is missing": ('syntax = "proto3";\nimport "b/c.proto";', "sample.proto:2:8: there is no b/c.proto"),
    "an import from elsewhere": ('syntax = "proto3"; import "../c.proto";', "is outside of the import folders"),
    "an import from the root": ('syntax = "proto3"; import "/etc/passwd";', "is outside of the import folders"),
    "a link to elsewhere": ('syntax = "proto3"; import "link.proto";', "is outside of the import folders"),
    "no messages": ('syntax = "proto3"; enum E { A = 0; }', "the file has no messages"),
    "nothing": ("", "the file has no messages"),
    "no UTF-8 in code": ('syntax = "proto3"; message \u00e4 {}', "sample.proto:1:28"),
    "too many fields": (
        "message M {" + "".join(f"optional bool f{n} = {n + 1};" for n in range(15_001)) + "}",
        "M: too many fields for a spec",
    ),
    "braces without an end": ("message M {" * 5000, "sample.proto:"),
}


@pytest.mark.parametrize(("text", "message"), REFUSED.values(), ids=REFUSED)
def test_a_file_that_is_none_is_refused_in_a_line_with_its_place(text, message, tmp_path):
    (tmp_path / "inside").mkdir()
    written('syntax = "proto3";', tmp_path, "c.proto")
    (tmp_path / "inside" / "link.proto").symlink_to(tmp_path / "c.proto")
    file = written(text, tmp_path / "inside")
    done = CliRunner().invoke(app, ["import", "proto", str(file), "--specs", str(tmp_path / "specs")])
    assert done.exit_code == 1
    assert message in done.stderr
    assert done.stderr.endswith("nothing was written\n")
    assert not (tmp_path / "specs").exists()


def test_imports_count_from_the_stated_folders(tmp_path):
    written(
        'syntax = "proto3"; package a; import public "b/two.proto"; import "google/protobuf/any.proto"; '
        "message One { b.Two two = 1; google.protobuf.Any any = 2; }",
        tmp_path,
        "root/a/one.proto",
    )
    written('syntax = "proto3"; package b; message Two { int32 x = 1; }', tmp_path, "other/b/two.proto")
    command = ["import", "proto", str(tmp_path / "root/a/one.proto"), "--specs", str(tmp_path / "specs")]
    folders = ["-I", str(tmp_path / "root"), "-I", str(tmp_path / "other")]
    done = CliRunner().invoke(app, [*command, *folders, "--name", "ones"])
    assert (done.exit_code, done.stdout) == (0, f"wrote {tmp_path / 'specs/ones.yaml'}\n")
    again = CliRunner().invoke(app, [*command, *folders, "--name", "ones"])
    assert (again.exit_code, "exists; overwrite it with --replace" in again.stderr) == (2, True)
    bad = CliRunner().invoke(app, [*command, "--name", "Ones!"])
    assert (bad.exit_code, "cannot be the name of a format" in bad.stderr) == (2, True)


FILE = """
    syntax = "proto3"; package p;
    message Inner { int32 a = 1; }
    message Outer { Inner inner = 1; message Held { int32 b = 1; } }
    message Other { Outer.Held held = 1; }
"""


def test_the_records_are_the_messages_that_no_other_holds_or_those_asked_for(tmp_path):
    file = written(FILE, tmp_path)
    assert "roots: {outer: {type: Outer}, other: {type: Other}}" in settled_proto(file).text
    for asked in ("Held", "Outer.Held", "p.Outer.Held", ".p.Outer.Held"):
        assert "root: Held\n" in settled_proto(file, messages=[asked]).text
    with pytest.raises(MisuseError, match=r"there is no message Outre; there are p\.Inner, p\.Outer, p\.Other"):
        settled_proto(file, messages=["Outre"])


def test_a_set_of_descriptors_is_read_without_protoc(tmp_path, monkeypatch):
    from wireloom.importing.proto.compiling import compiled

    source = written(FILE, tmp_path)
    path = tmp_path / "sample.pb"
    path.write_bytes(compiled(source, ()).descriptors)
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert settled_proto(path).text.split("\n", 2)[2] == importing_without_compiler(source, path)


def importing_without_compiler(source, path):
    """The spec from the descriptors; importing the source raises MisuseError with the remedy."""
    with pytest.raises(MisuseError, match=r"pip install wireloom\[proto\].*--descriptor_set_out=sample\.pb"):
        settled_proto(source)
    return settled_proto(path).text.split("\n", 2)[2]


@pytest.mark.parametrize("data", [b"", b"\xff", b"not descriptors", b"\x0a\x02\x0a\x00", bytes(100)])
def test_bytes_that_are_no_descriptors_are_refused(data, tmp_path):
    path = tmp_path / "sample.pb"
    path.write_bytes(data)
    with pytest.raises(ImportRefusedError):
        settled_proto(path)


@pytest.mark.drawing
def test_damaged_descriptors_are_refused_or_give_a_spec(tmp_path):
    from wireloom.importing.proto import draft, read
    from wireloom.importing.proto.compiling import compiled

    data = compiled(written(TWO, tmp_path), ()).descriptors
    random = Random(3)  # noqa: S311 - mutants of a test
    path, refused = tmp_path / "damaged.pb", 0
    for _ in range(200):
        damaged = bytearray(data)
        place = random.randrange(len(data))
        damaged[place : place + random.randrange(4)] = random.randbytes(random.randrange(4))
        path.write_bytes(damaged)
        try:
            draft(read(path), {})
        except ImportRefusedError as error:
            assert error.findings
            refused += 1
    assert 0 < refused < 200

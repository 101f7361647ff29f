"""The generated Arrow, Spark and JSON schemas of a format agree, and are tidy."""

import base64
import dataclasses
import importlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa
import pytest
from construct import Container
from jsonschema import Draft202012Validator

from conftest import shipped_formats
from wireloom import pipeline
from wireloom.emit import jsonschema, package, shape
from wireloom.emit.jsonschema.base64 import pattern
from wireloom.encodings import Encoding, Form
from wireloom.encodings.json import JSON
from wireloom.encodings.msgpack import MSGPACK
from wireloom.examples.memory import opened
from wireloom.expr.ast import Binary, Call, Expression, FieldRef, Kind, Literal, Unary
from wireloom.model.format import ByteOrder, Format, Parameter, Root
from wireloom.model.types import (
    Alternative,
    Array,
    Boolean,
    Bytes,
    Case,
    Check,
    Extension,
    Field,
    Float,
    Integer,
    JsonText,
    Map,
    Mapping,
    MemberTag,
    Null,
    Nullable,
    OneOf,
    Presence,
    Reference,
    Select,
    Struct,
    Text,
    Type,
)
from wireloom.pages.columns import spark_type
from wireloom.runtime.columns import arrow as columns
from wireloom.runtime.columns import logical
from wireloom.runtime.columns.canonical import to_canonical
from wireloom.runtime.columns.rows import row_record
from wireloom.runtime.errors import DecodeError
from wireloom.runtime.parsers.json.scalars import Base64
from wireloom.runtime.parsers.json.text import read
from wireloom.runtime.streams.framing import Whole
from wireloom.runtime.values import Extension as ExtensionValue
from wireloom.runtime.values import Pairs

REPOSITORY = Path(__file__).parents[2]
DOC = 'What it\'s for, at "length": ' + "many words of documentation that do not fit on one line; " * 4 + "é\\n"


def member(name: str, type: logical.LogicalType, *, nullable: bool = True, doc: str = "", unit: str = ""):
    return logical.LogicalField(name, type, nullable, doc, unit)


LONG = logical.Integer(64, signed=True)
ENTRY = logical.Record((member("data", logical.Binary(), nullable=False), member("lost", LONG)))
RECORD = logical.Record(
    (
        member("kind", logical.Text(("plain", "it's")), nullable=False, doc=DOC, unit="bytes"),
        member("entries", logical.List(ENTRY), doc="Entries in\norder"),
        member("lost", LONG),
        *(
            member(f"{'s' if signed else 'u'}{bits}", logical.Integer(bits, signed))
            for bits in (8, 16, 32, 64)
            for signed in (True, False)
        ),
        member("hash", logical.BigInteger(), unit="none"),
        member("single", logical.Float(32)),
        member("double", logical.Float(64)),
        member("flag", logical.Boolean()),
        member("digest", logical.Binary(20)),
        member("counts", logical.Map(logical.Text(), LONG, nullable=True)),
        member("choice", logical.Alternatives((logical.Text(), logical.Open(), LONG, logical.Boolean(), ENTRY))),
        member("open", logical.Open()),
    )
)
OPEN = OneOf(
    (
        Alternative("int", Integer(64, signed=True)),
        Alternative("geojson", Extension(23, Text())),
        Alternative("blob", Extension(9, Bytes())),
        Alternative("list", Array(Reference("Value"))),
    ),
    open=True,
)


def made(name: str, encoding: Encoding, types: tuple[tuple[str, Type], ...], roots: tuple[Root, ...]) -> Format:
    return Format(
        name=name,
        title=f'A format, "{name}"',
        doc="Made up.",
        source="",
        spec=f"made/{name}.yaml",
        digest="0" * 64,
        encoding=encoding,
        byte_order=ByteOrder(),
        parameters=(Parameter("strict", Kind.BOOLEAN, default=True),),
        framing=Whole(),
        depth=64,
        checksums=(),
        errors=(),
        types=types,
        roots=roots,
    )


BINARY = made(
    "made_up",
    MSGPACK,
    (("Value", OPEN),),
    (
        Root("record", Reference("Value"), RECORD, rows=("entries",), doc="One record"),
        Root("entry", Reference("Value"), ENTRY),
        Root("entries", Array(Reference("Value")), ENTRY, elements=True),
    ),
)


# --- a format in JSON ----------------------------------------------------------------------------------------------


def field(name: str, type: Type, **more: object) -> Field:
    return Field(name, name, type, member=name, **more)  # type: ignore[arg-type]  # fields of Field


def texts(*values: str | None) -> tuple[Mapping, ...]:
    return tuple(Mapping(value, Literal(value)) for value in values)


def is_(name: str, value: str | bool, up: int = 0) -> Expression:
    return Binary("==", FieldRef(up, name), Literal(value))


def present(name: str) -> Expression:
    return Call("present", (FieldRef(0, name),))


OPTIONAL = Presence.OPTIONAL
PART = Struct(
    "Part",
    JSON,
    Form.OBJECT,
    (
        field("partVersion", Integer(16, signed=True)),
        field("value", Bytes(line_feeds=True), when=is_("enc", "JSON", 1)),
        Field("valueText", "valueText", Text(), member="value", when=is_("enc", "TEXT", 1)),
        Check(
            Binary("==", FieldRef(0, "partVersion"), Call("len", (FieldRef(0, "value"),))),
            "bad",
            "value",
            is_("enc", "JSON", 1),
        ),
    ),
)
EVENT = Struct(
    "Event",
    JSON,
    Form.OBJECT,
    (
        field("msg", Text(), const="event", doc="Tells events"),
        field("keyType", Text(), mappings=texts("Number", "String")),
        field("key", Integer(64, signed=True), when=is_("keyType", "Number")),
        field("keyBytes", Bytes(), when=is_("keyType", "String")),
        field("enc", Text(), mappings=texts("JSON", "TEXT")),
        field("hasPart", Boolean()),
        field("part", Reference("Part"), when=FieldRef(0, "hasPart"), inline=True),
        field(
            "order", Nullable(Text()), presence=OPTIONAL, mappings=texts(None, "key"), default=None, has_default=True
        ),
        field("left", Integer(8, signed=False), presence=OPTIONAL, minimum=1),
        field("right", Integer(8, signed=True), presence=OPTIONAL),
        Check(Binary("or", present("left"), present("right")), "missing_key", "left"),
        Check(Unary("not", Binary("and", present("left"), present("right"))), "bad_key", "left"),
        field("computed", Text(), compute=Literal("never in the JSON")),
    ),
)
PAIR = Struct(
    "Pair",
    JSON,
    Form.ARRAY,
    (field("name", Text()), field("set", Nullable(Text())), field("digest", Bytes(Literal(20)))),
)
CONTROL = Struct(
    "Control",
    JSON,
    Form.OBJECT,
    (
        field("msg", Text(), mappings=texts("start", "stop")),
        field("pair", Reference("Pair")),
        field("open", Reference("Value"), presence=OPTIONAL),
        field("geo", JsonText("object"), presence=OPTIONAL),
        field("old", Integer(32, signed=True), presence=OPTIONAL, when=is_("msg", "stop")),
    ),
)
JSON_VALUE = OneOf(
    (
        Alternative("nil", Null()),
        Alternative("int", Integer(64, signed=True)),
        Alternative("float", Float(64)),
        Alternative("list", Array(Reference("Value"))),
        Alternative("map", Map(Text(), Reference("Value"))),
    ),
    open=True,
)
TAG = MemberTag("msg")
DOCUMENT = made(
    "made_json",
    JSON,
    (
        ("Message", Select(TAG, (Case(("event",), Reference("Event")), Case(("start", "stop"), Reference("Control"))))),
        ("Event", EVENT),
        ("Part", PART),
        ("Control", CONTROL),
        ("Pair", PAIR),
        ("Value", JSON_VALUE),
        ("Unused", Struct("Unused", JSON, Form.OBJECT, ())),
    ),
    (
        Root("record", Reference("Message"), ENTRY),
        Root("pairs", Array(Reference("Pair")), ENTRY, elements=True),
    ),
)

DIGEST = base64.b64encode(bytes(20)).decode()
ODD = {"msg": "event", "keyType": "Number", "key": 1, "enc": "JSON", "hasPart": False, "left": 1}
WITH_PART = {**ODD, "hasPart": True, "partVersion": 1, "value": "aGk="}
STOP = {"msg": "stop", "pair": ["a", None, DIGEST]}
ACCEPTED = [
    ODD,
    {**ODD, "order": None},
    {**ODD, "order": "key"},
    WITH_PART,
    {**WITH_PART, "enc": "TEXT", "value": "any text"},
    STOP,
    {**STOP, "old": 1},
    {**STOP, "msg": "start", "open": [1, None, {"a": 1.5, "b": {}}], "geo": {"x": 1}},
]
REFUSED = [
    {**ODD, "msg": "start"},
    {**ODD, "msg": "other"},
    {**ODD, "keyType": "String"},
    {**ODD, "keyBytes": ""},
    {**ODD, "order": "other"},
    {**ODD, "left": 0},
    {**ODD, "left": 256},
    {**ODD, "right": 1},
    {key: value for key, value in ODD.items() if key != "left"},
    {**ODD, "computed": "x"},
    {**ODD, "partVersion": 1},
    {**ODD, "hasPart": True},
    {**WITH_PART, "value": "no base64!"},
    {**WITH_PART, "value": "aGk"},
    {**WITH_PART, "value": "aG\nk="},
    {**WITH_PART, "value": "aGl="},
    {**STOP, "msg": "start", "old": 1},
    {**STOP, "pair": ["a", None]},
    {**STOP, "pair": ["a", None, DIGEST, 1]},
    {**STOP, "pair": ["a", None, "AAAA"]},
    {**STOP, "open": "text"},
    {**STOP, "geo": []},
    {**STOP, "more": 1},
    [],
    None,
]


def test_the_schema_of_a_json_format_is_that_of_its_documents() -> None:
    schema = jsonschema.emit(DOCUMENT)
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    for document in ACCEPTED:
        validator.validate(document)
    assert [document for document in REFUSED if validator.is_valid(document)] == []


def test_definitions_are_the_roots_and_what_they_reach() -> None:
    definitions = jsonschema.emit(DOCUMENT)["$defs"]
    assert list(definitions) == ["record", "pairs", "Message", "Event", "Control", "Pair", "Value"]


def test_unions_are_flat_and_tagged_with_constants() -> None:
    definitions = jsonschema.emit(DOCUMENT)["$defs"]
    assert definitions["Message"] == {"oneOf": [{"$ref": "#/$defs/Event"}, {"$ref": "#/$defs/Control"}]}
    for branch in definitions["Event"]["oneOf"]:
        assert branch["properties"]["msg"] == {"description": "Tells events", "const": "event"}
    start, stop = sorted(definitions["Control"]["oneOf"], key=lambda branch: branch["properties"]["msg"]["const"])
    assert ("old" in start["properties"], "old" in stop["properties"]) == (False, True)


# --- binary formats ------------------------------------------------------------------------------------------------

VALUE = {
    "kind": "it's",
    "entries": [{"data": b"x", "lost": None}],
    "u64": 2**64 - 1,
    "s8": -128,
    "hash": 2**100,
    "single": 0.5,
    "double": float("-inf"),
    "digest": bytes(20),
    "counts": Pairs([("a", None), ("b", 2)]),
    "choice": [Pairs([(1, ExtensionValue(23, "geojson", "{}")), (ExtensionValue(9, "blob", b"1"), 1.5)])],
    "open": None,
}


def test_the_schema_of_a_binary_format_is_that_of_renderings() -> None:
    schema = jsonschema.emit(BINARY)
    Draft202012Validator.check_schema(schema)
    rendering = to_canonical(VALUE, run(shape.emit(BINARY)).ROOTS["record"])
    validator = Draft202012Validator(schema)
    validator.validate(json.loads(json.dumps(rendering)))
    assert isinstance(rendering, dict)
    wrong = [
        {"s8": 128},
        {"kind": "x"},
        {"digest": "AAAA"},
        {"hash": "01"},
        {"choice": {"float": 1}},
        {"open": {"x": 1}},
        {"q": 1},
    ]
    assert [change for change in wrong if validator.is_valid({**rendering, **change})] == []


def test_every_root_has_a_definition() -> None:
    definitions = jsonschema.emit(BINARY)["$defs"]
    assert [*list(definitions)[:3], list(definitions)[-1]] == ["record", "entry", "entries", "OpenValue"]
    assert definitions["entries"]["type"] == "array"
    record = definitions[definitions["record"]["$ref"].rpartition("/")[2]]
    assert record["properties"]["entries"]["description"] == "Entries in order"


@pytest.mark.parametrize("size", [None, 0, 1, 2, 3, 16, 20, 55, 56, 57, 58, 113, 114, 120])
@pytest.mark.parametrize("line_feeds", [False, True])
def test_base64_patterns_take_what_parsers_take(size: int | None, *, line_feeds: bool) -> None:
    taken = re.compile(pattern(size, line_feeds=line_feeds))
    parser = Base64(size, line_feeds=line_feeds)
    for length in (*range(30), *range(54, 60), *range(111, 117), 120, 171):
        text = base64.b64encode(bytes(range(255 - length, 255))).decode()
        assert bool(taken.search(text)) is (size is None or size == length)
        lines = [text[place : place + 76] for place in range(0, len(text), 76)]
        for written in (text, f"{text}\n", "\n".join(lines), "\n".join(lines) + "\n", "\n" + text, "\n".join(text)):
            assert bool(taken.search(written)) is accepts(parser, written), (length, written)
    for wrong in ("A", "AA", "AAA", "AA=", "AB==", "AAB=", "====", "AA==AAAA", "A A=", "AA-_", "AAAA\r\n"):
        assert not re.search(pattern(line_feeds=line_feeds), wrong)


def accepts(parser: Base64, text: str) -> bool:
    """Whether the parser takes the JSON string."""
    node = read(json.dumps(text).encode(), 1)
    try:
        parser._parse(node, Container(), "")
    except DecodeError:
        return False
    return True


# --- Arrow, Spark, shape -------------------------------------------------------------------------------------------


def run(text: str) -> ModuleType:
    """The module that an emitted text makes."""
    module = ModuleType("emitted")
    exec(compile(text, "emitted", "exec"), module.__dict__)  # noqa: S102  # running what was emitted is the test
    return module


def specs() -> list[Format]:
    """The formats of the specs folder."""
    return list(shipped_formats())


@pytest.fixture(scope="module")
def every_format() -> list[Format]:
    return [BINARY, DOCUMENT, *specs()]


def each_root(formats: list[Format]) -> Iterator[tuple[Format, Root]]:
    return ((format, root) for format in formats for root in format.roots)


def test_arrow_and_spark_agree(every_format: list[Format]) -> None:
    pandas_types = pytest.importorskip("pyspark.sql.pandas.types")
    from wireloom.spark.struct_types import struct_type

    for format in every_format:
        with opened({format.name: pipeline.emit(format)}) as modules:
            codec = modules[format.name].CODEC
            for root in codec.roots.values():
                for explode, form in product((False, True), ("variant", "json", "binary")):
                    record = row_record(root.logical, root.rows if explode else ())
                    wanted = columns.schema(record, open_values=form)
                    struct = struct_type(root, explode=explode, open_values=form)
                    assert wanted.equals(pandas_types.to_arrow_schema(struct, timezone="UTC")), (format.name, root.name)
                    assert pandas_types.from_arrow_schema(wanted).simpleString() == struct.simpleString()
                    assert _arrow_comments(pa.struct(list(wanted))) == _spark_comments(struct)


def _arrow_comments(type: Any) -> list[object]:
    """The comments of columns, those within them included."""
    if pa.types.is_list(type):
        return _arrow_comments(type.value_type)
    if pa.types.is_map(type):
        return _arrow_comments(type.item_type)
    fields = type if pa.types.is_struct(type) and type != columns.VARIANT else ()
    return [((each.metadata or {}).get(b"comment", b"").decode(), _arrow_comments(each.type)) for each in fields]


def _spark_comments(type: Any) -> list[object]:
    if hasattr(type, "elementType"):
        return _spark_comments(type.elementType)
    if hasattr(type, "valueType"):
        return _spark_comments(type.valueType)
    return [(each.metadata.get("comment", ""), _spark_comments(each.dataType)) for each in getattr(type, "fields", ())]


def test_generated_modules_have_the_columns_of_the_runtime(every_format: list[Format]) -> None:
    for format in every_format:
        with opened({format.name: pipeline.emit(format)}) as modules:
            module = modules[format.name]
            made = importlib.import_module(f"{module.__name__}.columns")
            for root in format.roots:
                flat = row_record(root.logical, root.rows)
                assert made.SCHEMAS[root.name].equals(columns.schema(root.logical), check_metadata=True)
                assert made.ROW_SCHEMAS[root.name].equals(columns.schema(flat), check_metadata=True)
            assert module.ARROW_SCHEMA is made.SCHEMAS[format.roots[0].name]


def test_pages_name_the_types_that_spark_has(every_format: list[Format]) -> None:
    pytest.importorskip("pyspark")
    from pyspark.sql.types import StructType

    from wireloom.spark.struct_types import struct_type

    for format in every_format:
        with opened({format.name: pipeline.emit(format)}) as modules:
            for root in modules[format.name].CODEC.roots.values():
                found = zip(root.logical.fields, struct_type(root), strict=True)
                told = {spark_type(member.type): column.dataType for member, column in found}
        for text, type in told.items():
            if "struct" not in text:
                assert text == type.simpleString()
            assert isinstance(type, StructType) == text.startswith("struct")


def test_shapes_are_the_model_in_other_classes(every_format: list[Format]) -> None:
    for format, root in each_root(every_format):
        record = run(shape.emit(format)).ROOTS[root.name]
        assert outline(record) == outline(root.logical)


def outline(value: object) -> object:
    """Class names and fields, short of documentation and of what only the runtime has."""
    if isinstance(value, tuple):
        return tuple(outline(each) for each in value)
    if not dataclasses.is_dataclass(value):
        return value
    told = [each.name for each in dataclasses.fields(value) if each.name not in ("doc", "partial")]
    return type(value).__name__, {name: outline(getattr(value, name)) for name in told}


def test_extensions_are_known_by_name() -> None:
    extensions = run(shape.emit(BINARY)).EXTENSIONS
    assert [(each.code, each.name, each.text) for each in extensions] == [(23, "geojson", True), (9, "blob", False)]


def test_flat_rows_have_the_element_first() -> None:
    first, second = BINARY.roots[:2]
    assert [each.name for each in row_record(first.logical, first.rows).fields][:3] == ["data", "lost", "kind"]
    assert row_record(second.logical, second.rows) is ENTRY


def test_emitted_text_is_as_the_formatter_and_the_linter_want_it(every_format: list[Format], tmp_path: Path) -> None:
    ruff = shutil.which("ruff") or shutil.which("ruff", path=str(Path(sys.executable).parent))
    if ruff is None:
        pytest.skip("ruff is not installed")
    for format in every_format:
        for name, text in (
            ("columns", package.columns(format)),
            ("spark", package.spark(format)),
            ("shape", shape.emit(format)),
        ):
            (tmp_path / f"{format.name}_{name}.py").write_text(text)
    settings = ["--isolated", "--line-length", "120", "--target-version", "py311", str(tmp_path)]
    formatted = subprocess.run([ruff, "format", "--diff", *settings], capture_output=True, text=True, check=False)
    assert (formatted.returncode, formatted.stdout) == (0, "")
    linted = subprocess.run([ruff, "check", *settings], capture_output=True, text=True, check=False)
    assert (linted.returncode, linted.stdout) == (0, "All checks passed!\n")


def test_emitted_text_says_where_it_comes_from_and_never_changes(every_format: list[Format]) -> None:
    for format in every_format:
        for emit in (package.columns, package.spark, shape.emit):
            first = f"# Generated by Wireloom from {format.spec} (sha256 {format.digest})."
            assert emit(format).startswith(f"{first} Do not edit: edit the spec and regenerate.\n")
            assert emit(format) == emit(format)


# --- the specs -----------------------------------------------------------------------------------------------------


def test_the_examples_of_the_specs_fit_their_schemas() -> None:
    for format in specs():
        schema = jsonschema.emit(format)
        Draft202012Validator.check_schema(schema)
        for example in format.examples:
            if example.error is not None or ("unknownMembers", "ignore") in example.parameters:
                continue  # schemas are those of the default parameters
            instance = json.loads(example.data) if format.encoding == JSON else example.value
            root_schema(schema, example.root).validate(instance)


def root_schema(schema: dict[str, object], root: str) -> Draft202012Validator:
    return Draft202012Validator({**schema, "$ref": f"#/$defs/{root}"})


def vectors() -> Path:
    return Path(os.environ.get("WIRELOOM_VECTORS", REPOSITORY.parent / "shared" / "vectors"))


@pytest.mark.thorough
def test_json_vectors_get_the_verdict_of_the_reference_schema() -> None:
    folder = vectors() / "aerospike"
    if not folder.is_dir():
        pytest.skip(f"no vectors at {folder}; set WIRELOOM_VECTORS to their folder")
    schema = jsonschema.emit(next(format for format in specs() if format.name == "aerospike_json"))
    manifest = json.loads((folder / "manifest.json").read_text())
    judged = [vector for vector in manifest["vectors"] if vector.get("json_schema") in ("accepts", "rejects")]
    different = [
        vector["id"]
        for vector in judged
        if root_schema(schema, vector["kind"]).is_valid(_document(folder / vector["file"]))
        != (vector["json_schema"] == "accepts")
    ]
    assert judged
    assert different == []


@pytest.mark.thorough
def test_databus_lines_fit_the_schema() -> None:
    folder = vectors() / "databus"
    if not folder.is_dir():
        pytest.skip(f"no vectors at {folder}; set WIRELOOM_VECTORS to their folder")
    validator = Draft202012Validator(
        jsonschema.emit(next(format for format in specs() if format.name == "databus_json"))
    )
    for file in sorted(folder.glob("*.jsonl")):
        for line in file.read_text().splitlines():
            validator.validate(json.loads(line))


def _document(path: Path) -> object:
    return json.loads(path.read_bytes().decode("utf-8", "surrogatepass"))

"""Validation: records that the decoder accepts are valid; for others, all problems of the schema are listed.

The schema's keywords are compared with two other validators, jsonschema and jsonschema-rs, on documents that are
altered member by member and letter by letter, for every variant of the schemas.
"""

import importlib
import json
import random
import re
import time
import tracemalloc
from functools import cache
from typing import Any

import jsonschema_rs
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from codec.test_schema_gaps import altered, json_formats, package_of
from conftest import case_formats, shipped_formats
from wireloom.emit import jsonschema
from wireloom.encodings.json import JSON
from wireloom.model.format import Format
from wireloom.runtime.errors import DecodeError
from wireloom.runtime.parsers.json.text import read
from wireloom.runtime.validation import Problem
from wireloom.runtime.validation.findings import MOST
from wireloom.runtime.validation.schema import KEYWORDS, Schema
from wireloom_formats import aerospike_json, aerospike_msgpack, databus_json, kpl_record

pytestmark = pytest.mark.drawing
WRITE = (
    '{"msg":"write","key":["test","demo","AAECAwQFBgcICQoLDA0ODxAREhM=",7],"gen":3,'
    '"bins":[{"name":"i","type":"int","value":42},{"name":"m","type":"map","value":{"a":1},"order":"key"}]}'
)


def texts(format: Format, root: str) -> list[str]:
    """The documents of a format's examples, with every combination of parameters that they have."""
    found = [each for each in format.examples if each.root == root and each.error is None]
    return [each.data.decode("utf-8") for each in found]


def module_of(format: Format) -> Any:
    return importlib.import_module(f"{package_of(format)}.{format.name}")


@cache
def documents_of(format_name: str) -> list[tuple[str, str]]:
    """Roots and altered documents."""
    (format,) = (each for each in json_formats() if each.name == format_name)
    chance = random.Random(format_name)  # noqa: S311 - the same alterations each time
    found = []
    for root in format.roots:
        good = texts(format, root.name)
        found += [(root.name, text) for text in altered(good, chance)] if good else []
    return found


# --- the schema -------------------------------------------------------------------------------------------------------


def definitions(format: Format) -> list[dict[str, Any]]:
    """The schema of the defaults, and those of other parameters."""
    made = jsonschema.variants(format)
    return [jsonschema.emit(format), *(made["variants"] if made else [])]


def keywords(schema: Any, *, names: bool = False) -> set[str]:
    """All keywords of a schema."""
    match schema:
        case dict():
            inside = (
                keywords(each, names=not names and key in ("properties", "$defs")) for key, each in schema.items()
            )
            return (set() if names else set(schema) - {"when"}).union(*inside)
        case list():
            return set().union(*map(keywords, schema))
        case _:
            return set()


@pytest.mark.parametrize("format", [*shipped_formats(), *case_formats()], ids=lambda format: format.name)
def test_the_emitter_writes_no_keyword_that_validation_does_not_know(format: Format):
    for document in definitions(format):
        assert keywords({key: value for key, value in document.items() if key != "when"}) <= KEYWORDS


@pytest.mark.parametrize("format", json_formats(), ids=lambda format: format.name)
def test_schemas_mean_what_other_validators_take_them_for(format: Format, case_package):
    for document in definitions(format):
        judges: dict[str, Any] = {}
        for root, text in documents_of(format.name):
            if root not in judges:
                whole = {"$ref": f"#/$defs/{root}", "$defs": document["$defs"]}
                judges[root] = Schema(document, root), Draft202012Validator(whole), compiled(whole)
            own, arbiter, other = judges[root]
            try:
                node, value = read(text.encode("utf-8", "surrogatepass"), 64), json.loads(text)
            except (DecodeError, ValueError):
                continue
            found = own.findings(node)
            assert (not found) == arbiter.is_valid(value), text
            assert (not found) == other.is_valid(value), text


def compiled(schema: dict[str, Any]) -> Any:
    return jsonschema_rs.Draft202012Validator(schema)


# --- the list ---------------------------------------------------------------------------------------------------------


def refusal(module: Any, text: str, root: str, **parameters: Any) -> DecodeError | None:
    try:
        module.parse(text.encode("utf-8", "surrogatepass"), root=root, **parameters)
    except DecodeError as error:
        return error
    return None


def settings_of(format: Format) -> list[dict[str, object]]:
    """Parameters to try: the defaults, and each other value of those that have few."""
    choices = [(each.name, value) for each in format.parameters for value in each.options if value != each.default]
    return [{}, *({name: value} for name, value in choices)]


@pytest.mark.parametrize("format", json_formats(), ids=lambda format: format.name)
def test_what_the_decoder_takes_is_valid_and_what_it_refuses_is_not(format: Format, case_package):
    module = module_of(format)
    for parameters in settings_of(format):
        for root, text in documents_of(format.name):
            error = refusal(module, text, root, **parameters)
            found = module.validate(text, root=root, **parameters)
            assert (error is None) == (not found), text
            look(found, text)


def look(found: list[Problem], text: str) -> None:
    """Check that problems are sorted, with offsets inside of the text."""
    data = text.encode("utf-8", "surrogatepass")
    assert found == sorted(found, key=lambda each: each.offset)
    for each in found:
        assert 0 <= each.offset <= len(data)
        lines = data[: each.offset].decode("utf-8", "replace").split("\n")
        assert each.line == len(lines)
        assert each.message
    try:
        document = json.loads(text)
    except ValueError:
        return
    for each in found:
        resolve(document, each.pointer)


def resolve(document: Any, pointer: str) -> Any:
    """The value that a JSON pointer names; raises KeyError or IndexError if there is none."""
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        document = document[int(name)] if isinstance(document, list) else document[name]
    return document


def test_all_problems_are_listed_with_their_places():
    text = WRITE.replace('"gen":3', '\n "gen":0.5').replace('"int","value":42', '"int","value":"é"')
    text = text.replace('"order":"key"', '"order":"key","order":"key","more":1').replace("AAECAwQ", "AAE")
    found = aerospike_json.validate(text)
    assert [(each.pointer, each.rule, each.line, each.column) for each in found] == [
        ("/key/2", "pattern", 1, 37),
        ("/gen", "type", 2, 8),
        ("/bins/0/value", "type", 2, 53),
        ("/bins/1/order", "duplicate_key", 2, 113),
        ("/bins/1/more", "additionalProperties", 2, 127),
    ]


def test_the_alternative_that_was_meant_is_the_one_that_is_spoken_of():
    (one,) = aerospike_json.validate(WRITE.replace('"int"', '"integer"'))
    assert (one.pointer, one.rule) == ("/bins/0/type", "enum")
    assert "'int', 'float'" in one.expected
    (one,) = aerospike_json.validate(WRITE.replace(',"value":42', ""))
    assert (one.pointer, one.expected) == ("/bins/0", "a member 'value'")


def test_what_a_check_refuses_has_its_code():
    (format,) = (format for format in shipped_formats() if format.name == "databus_json")
    line = next(each.data for each in format.examples if each.error is None and b'"key"' in each.data)
    found = databus_json.validate(json.loads(line) | {"keyBytes": "AA=="})
    assert [(each.pointer, each.rule) for each in found] == [("/key", "bad_key")]
    assert "not (present(key) and present(keyBytes))" in found[0].message


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (WRITE.replace(":3,", ":1.0,"), "type_mismatch"),
        (WRITE[:-1] + ',"gen":4}', "duplicate_key"),
        (WRITE.replace('"m"', '"i"'), "duplicate_bin"),
        (WRITE.replace("test", "\\ud800"), "invalid_utf8"),
        (WRITE.replace('{"a":1}', "[" * 70 + "]" * 70), "depth_limit"),
        (WRITE + "x", "trailing_bytes"),
        (WRITE[:40], "truncated"),
        ("", "truncated"),
    ],
)
def test_what_no_schema_says_is_the_decoders_own_error(text, rule):
    assert rule in [each.rule for each in aerospike_json.validate(text)]


def test_what_is_missing_or_too_much_does_not_hide_the_decoders_error():
    text = WRITE.replace(":3,", ":1.0,")
    lacking = aerospike_json.validate(text[: text.index(',"bins"')] + "}")
    assert [(each.pointer, each.rule) for each in lacking] == [("", "required"), ("/gen", "type_mismatch")]
    text = WRITE.replace(",7]", ",1.0,true]")
    longer = aerospike_json.validate(text)
    assert [(each.pointer, each.rule) for each in longer] == [("/key", "maxItems")]  # the decoder's, too


def test_the_schema_is_the_one_of_the_parameters():
    text = WRITE[:-1] + ',"more":1}'
    assert [each.pointer for each in aerospike_json.validate(text)] == ["/more"]
    assert aerospike_json.validate(text, unknownMembers="ignore") == []
    bad = text.replace('"gen":3', '"gen":"3"')
    assert [each.pointer for each in aerospike_json.validate(bad, unknownMembers="ignore")] == ["/gen"]


# --- what messages can be ------------------------------------------------------------------------------------------


def test_bytes_texts_and_parsed_documents_are_judged_alike():
    bad = WRITE.replace(":42", ":true").replace(":3,", ":null,")
    by_text = aerospike_json.validate(bad)
    assert by_text == aerospike_json.validate(bad.encode()) == aerospike_json.validate(bytearray(bad.encode()))
    by_value = aerospike_json.validate(json.loads(bad))
    assert [(each.pointer, each.rule, each.message) for each in by_value] == [
        (each.pointer, each.rule, each.message) for each in by_text
    ]
    assert {(each.offset, each.line, each.column) for each in by_value} == {(None, None, None)}
    assert aerospike_json.validate(json.loads(WRITE)) == aerospike_json.validate(WRITE) == []


def test_many_messages_are_judged_as_each_alone():
    messages = [WRITE, WRITE.encode()[:-3], json.loads(WRITE), {"msg": b"x"}, 3, None] * 400
    lists = list(aerospike_json.validate_many(messages))
    assert lists[:6] == [aerospike_json.validate(each) for each in messages[:6]]
    assert lists == lists[:6] * 400


@pytest.mark.parametrize("type", [pa.binary(), pa.string(), pa.large_binary(), pa.binary_view()])
def test_an_array_of_messages_gives_a_column(type):
    messages = [WRITE, WRITE[:-3], None, "{}"]
    column = aerospike_json.validate_many(pa.array(messages, pa.string()).cast(type))
    assert column.type.value_type.names == ["path", "rule", "message", "expected", "actual", "pointer"]
    assert [None if each is None else len(each) for each in column.to_pylist()] == [0, 1, None, 2]


def test_bytes_of_a_binary_format_have_the_decoders_error():
    good = bytes.fromhex("9301029594a474657374c0c414000102030405060708090a0b0c0d0e0f10111213c00104c0c0")
    assert aerospike_msgpack.validate(good) == []
    (one,) = aerospike_msgpack.validate(good[:20])
    assert (one.pointer, one.rule, one.line) == ("/payload/key/digest", "truncated", None)
    lists = aerospike_msgpack.validate_many(pa.array([good, good[:20]]))
    assert [len(each) for each in lists.to_pylist()] == [0, 1]


def test_a_value_of_a_binary_format_is_judged_by_what_can_be_built():
    good = bytes.fromhex("9301029594a474657374c0c414000102030405060708090a0b0c0d0e0f10111213c00104c0c0")
    value = aerospike_msgpack.parse(good)
    assert aerospike_msgpack.validate(value) == []
    found = aerospike_msgpack.validate({**value, "key": {**value["key"], "digest": b"short", "namespace": 5}})
    assert {each.pointer for each in found} >= {"/key/digest", "/key/namespace"}


@pytest.mark.parametrize("module", [aerospike_json, aerospike_msgpack, databus_json, kpl_record])
@settings(max_examples=60)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.just(object()),
        lambda inner: (
            st.lists(inner) | st.dictionaries(st.text() | st.integers() | st.sampled_from(("msg", "bins")), inner)
        ),
        max_leaves=12,
    )
)
def test_whatever_a_message_is_the_answer_is_a_list(module, message):
    found = module.validate(message)
    assert all(isinstance(each, Problem) for each in found)
    assert found == next(iter(module.validate_many([message])))


def test_documents_that_hold_themselves_or_never_end_are_judged():
    endless: list[Any] = []
    endless.append(endless)
    deep: Any = 1
    for _ in range(100_000):
        deep = [deep]
    assert aerospike_json.validate(endless)[0].rule == "depth_limit"
    assert aerospike_json.validate(deep)[0].rule == "depth_limit"
    assert aerospike_json.validate("[" * 100_000)[0].rule == "depth_limit"
    assert aerospike_json.validate({"gen": 10**6000})


# --- bounds -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("element", ["{}", "0", '{"name":"i"}', '{"name":1,"type":"x","more":[]}'])
def test_a_large_bad_message_costs_memory_in_proportion(element):
    def cost(count: int) -> tuple[int, list[Problem]]:
        text = WRITE.replace('{"name":"i"', ",".join([element] * count) + ',{"name":"i"').encode()
        tracemalloc.start()
        found = aerospike_json.validate(text)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak, found

    small, large = cost(500), cost(4000)
    assert large[0] < 12 * small[0]
    assert len(large[1]) <= MOST


def test_nested_alternatives_are_each_judged_once():
    """Judged anew by every alternative around it, a value in 60 lists would take for ever."""
    data = bytes.fromhex("9301029594a474657374c0c414000102030405060708090a0b0c0d0e0f10111213c00104c0c0")
    value = aerospike_msgpack.parse(data)
    nested: Any = object()
    for _ in range(50):
        nested = [nested]
    began = time.monotonic()
    bins = [{"name": "l", "type": "LIST", "flags": 0, "value": nested}]
    assert aerospike_msgpack.validate({**value, "msg": "write", "bins": bins})
    assert time.monotonic() - began < 60


def test_paths_are_json_pointers():
    found = aerospike_json.validate(WRITE[:-1] + ',"a/b~c":1}')
    assert [each.pointer for each in found] == ["/a~1b~0c"]
    assert re.fullmatch(r"expected no such member, found 'a/b~c'", found[0].message)


def test_parameters_that_there_are_not_are_the_callers_mistake():
    with pytest.raises(TypeError, match="unknownMembers"):
        aerospike_json.validate(WRITE, unknownMembers="perhaps")
    assert JSON.name == aerospike_json.ENCODING

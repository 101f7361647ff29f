"""Parsers and builders of a spec agree: each class of disagreement has the smallest spec that shows it."""

import copy
import importlib
import sys
from array import array
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import IntEnum
from types import ModuleType
from typing import TYPE_CHECKING, Any

import construct
import pyarrow as pa
import pytest
import yaml

from wireloom import pipeline
from wireloom.pipeline import Project
from wireloom.runtime import expressions
from wireloom.runtime.columns import meanings
from wireloom.runtime.columns.logical import Scaled
from wireloom.runtime.errors import DecodeError, EncodeError, ParameterError
from wireloom.runtime.parsers import binary, record, structure, unions
from wireloom.runtime.values import Pairs, sourceless

if TYPE_CHECKING:
    from pathlib import Path

Made = Callable[..., ModuleType]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Made]:
    """Makes the module of a format from the fields of its root `R`, its other types, and other keys of the format."""
    folders: list[str] = []

    def module(*fields: Any, encoding: str = "binary", **keys: Any) -> ModuleType:
        package = f"wireloom_made_{len(folders)}"
        folder: Path = tmp_path_factory.mktemp(package)
        types = {"R": {"fields": list(fields)}} if fields else {}
        document = {"wireloom": 1, "format": "made", "title": "made", "encoding": encoding, "root": "R"}
        document |= keys | {"types": types | keys.get("types", {})}
        document = {key: value for key, value in document.items() if value is not None}
        (folder / "specs").mkdir()
        (folder / "specs" / "made.yaml").write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
        pipeline.generate(Project(folder / "specs", folder / "generated", package))
        folders.append(str(folder / "generated"))
        sys.path.insert(0, folders[-1])
        return importlib.import_module(f"{package}.made")

    yield module
    for folder in folders:
        sys.path.remove(folder)


def error_of(module: ModuleType, data: bytes) -> tuple[str, str, int]:
    with pytest.raises(DecodeError) as caught:
        module.parse(data)
    return caught.value.code, caught.value.path, caught.value.offset


# --- computed values -----------------------------------------------------------------------------------------------


def test_a_computed_integer_becomes_the_float_that_its_type_says(made: Made):
    found = made({"a": "uint8"}, {"b": {"compute": "a * 10", "type": "float64"}}).parse(b"\x07")
    assert found == {"a": 7, "b": 70.0}
    assert isinstance(found["b"], float)


def test_a_computed_value_of_another_kind_is_a_type_mismatch(made: Made):
    module = made({"a": "int | str"}, {"b": {"compute": "a", "type": "uint8"}}, encoding="msgpack", types={})
    assert module.parse(b"\x91\x07") == {"a": 7, "b": 7}
    assert error_of(module, b"\x91\xa1x") == ("type_mismatch", "b", 3)


def test_an_alternative_of_another_kind_is_not_equal(made: Made):
    fields = [
        {"a": "int | bool | str"},
        {"b": {"compute": "a == 1", "type": "bool"}},
        {"c": {"compute": "a > 0", "type": "bool"}},
    ]
    module = made(*fields, encoding="msgpack")
    assert [module.parse(data) for data in (b"\x91\x01", b"\x91\xc3", b"\x91\xa1x")] == [
        {"a": 1, "b": True, "c": True},
        {"a": True, "b": False, "c": None},
        {"a": "x", "b": False, "c": None},
    ]


# --- what is built is read back and compared -----------------------------------------------------------------------


def refusal_of(module: ModuleType, value: Any) -> str:
    with pytest.raises(EncodeError) as caught:
        module.build(value)
    return str(caught.value)


def test_a_list_of_another_length_than_its_count_is_refused(made: Made):
    module = made({"n": "uint8"}, {"items": {"type": "list(uint8)", "count": "n"}}, {"rest": "bytes"})
    assert module.build({"n": 2, "items": [1, 2], "rest": b"x"}) == b"\x02\x01\x02x"
    assert refusal_of(module, {"n": 1, "items": [1, 2, 3], "rest": b""}).startswith("items: expected a list of 3 to be")


def test_a_value_for_a_member_that_is_not_written_is_refused(made: Made):
    module = made({"n": "uint8"}, {"extra": {"type": "uint8", "when": "n > 1"}})
    assert refusal_of(module, {"n": 1, "extra": 7}) == (
        "extra: expected 7 to be read back, found null: `extra` is only there when n > 1"
    )
    assert refusal_of(module, {"n": 1, "exta": 7}) == (
        "exta: expected 7 to be read back, found null: no field takes `exta` (did you mean `extra`?)"
    )


@pytest.mark.parametrize("encoding", ["binary", "json", "msgpack"])
def test_the_condition_of_a_member_without_a_place_is_named(made: Made, encoding: str):
    kind = {"kind": {"type": "uint8", "values": {0: "request", 1: "notification"}}}
    module = made(kind, {"id": {"type": "uint8", "when": "kind != 'notification'"}}, encoding=encoding)
    said = "id: expected 1 to be read back, found null: `id` is only there when kind != 'notification'"
    assert refusal_of(module, {"kind": "notification", "id": 1}) == said


def test_the_conditions_of_a_struct_that_melts_in_are_named(made: Made):
    module = made(
        {"kind": "uint8"},
        {"inner": {"type": "I", "flatten": True, "when": "kind < 5"}},
        {"twice": {"compute": "kind * 2", "type": "int64", "hidden": True}},
        {"sum": {"compute": "twice + 1", "type": "int64"}},
        types={"I": {"fields": [{"c": "uint8"}]}},
        encoding="json",
    )
    assert refusal_of(module, {"kind": 7, "c": 1}).endswith("found null: `c` is only there when kind < 5")
    assert refusal_of(module, {"kind": 1, "c": 1, "twice": 2}).endswith("`twice` is hidden; leave it out")
    assert refusal_of(module, {"kind": 1, "cc": 1}).endswith("`cc` (did you mean `c`?), which no field takes")


@pytest.mark.parametrize(
    ("value", "path", "reason"),
    [
        ({"total": 1, "list": [{"nam": 1}]}, "list[0].name", "the value has `nam` (did you mean `name`?), which no"),
        ({"list": [], "totl": 3, "zzz": 1}, "total", "has `totl` (did you mean `total`?), `zzz`, which no field takes"),
        ({"list": [], "totl": None}, "total", "found null"),
        ({"total": 1, "list": [{"name": 1, "n": 1}]}, "list[0].n", "found null: no field takes `n`"),
        ({"list": [], 5: 1}, "total", "the value has `5`, which no field takes"),
    ],
)
def test_members_that_no_field_takes_are_named(made: Made, value: Any, path: str, reason: str):
    types = {"E": {"fields": [{"name": "uint8"}]}}
    said = refusal_of(made({"total": "uint8"}, {"list": {"type": "list(E)", "count": "total"}}, types=types), value)
    assert said.startswith(f"{path}: expected ")
    assert reason in said
    assert reason != "found null" or said.endswith(reason)


def test_elements_are_held_against_their_own_struct_beside_an_alternative_that_is_one(made: Made):
    types = {"A": {"fields": [{"a": "uint8"}]}, "B": {"fields": [{"b": "uint8"}, {"c": "uint8"}]}}
    module = made({"v": "A | list(B)"}, encoding="json", types=types)
    assert refusal_of(module, {"v": [{"b": 1}]}) == "v[0].c: expected an integer, found null"
    assert refusal_of(module, {"v": [{"b": 1, "cc": 2}]}).endswith("has `cc` (did you mean `c`?), which no field takes")


@pytest.mark.parametrize(
    ("encoding", "types", "data", "said"),
    [
        ("msgpack", {}, b"\x93\x01\x02\x03", "expected an array of 4 or more, found an array of 3"),
        ("json", {"R": {"form": "array"}}, b"[1,2,3]", "expected 4 or more elements, found 3"),
    ],
)
def test_too_few_elements_say_how_many_there_have_to_be(
    made: Made, encoding: str, types: dict[str, Any], data: bytes, said: str
):
    fields = [{"a": "uint8"}, {"b": "uint8"}, {"c": {"type": "uint8", "when": "a > 0"}}, {"d": "uint8"}]
    types = {"R": {"fields": fields, **types.get("R", {})}}
    module = made(encoding=encoding, types=types)
    with pytest.raises(DecodeError, match=said):
        module.parse(data)


def test_the_members_that_name_an_alternative_are_none_of_the_unknown(made: Made):
    types = {
        "R": {
            "attempt": [{"name": "one", "type": "A", "fallback": [{"codes": ["no"]}]}, {"name": "two", "type": "B"}],
            "kind": "which",
            "reason": "why",
        },
        "A": {"fields": [{"tag": {"type": "uint8", "const": 1, "else": "no", "hidden": True}}, {"v": "uint8"}]},
        "B": {"fields": [{"tag": {"type": "uint8", "const": 2, "else": "no", "hidden": True}}, {"v": "uint8"}]},
    }
    module = made(types=types, errors={"no": "No."})
    assert refusal_of(module, {"which": "two", "why": "no"}).endswith("found null")
    assert refusal_of(module, {"which": "two", "w": 1}).endswith("found null: the value has `w`, which no field takes")


def test_what_a_member_is_derived_from_is_named_where_the_value_lacks_it(made: Made):
    module = made(
        {"raw": {"type": "uint16", "derive": "seconds * 4"}},
        {"seconds": {"compute": "raw // 4", "type": "int64"}},
    )
    assert module.build({"seconds": 2}) == b"\0\x08"
    assert refusal_of(module, {"raw": 9}).endswith("found null: it is derived from `seconds`, which the value lacks")


def test_derived_members_are_computed_again_after_a_change(made: Made):
    module = made(
        {"n": {"type": "uint8", "derive": "len(text)"}},
        {"text": {"type": "str", "size": "n"}},
        {"twice": {"compute": "n * 2", "type": "int32"}},
    )
    assert module.build({"text": "ab"}) == module.build({"n": 2, "text": "ab"}) == b"\x02ab"
    parsed = module.parse(b"\x02ab")
    assert module.parse(module.build(parsed | {"text": "abc"})) == {"n": 3, "text": "abc", "twice": 6}


def test_an_unchecked_derived_value_is_written_as_it_was_read(made: Made):
    module = made({"n": {"type": "uint8", "derive": "len(text)"}}, {"text": "str"})
    assert module.build({"text": "ab"}) == b"\x02ab"
    assert module.build(module.parse(b"\x07ab")) == b"\x07ab"


def test_the_byte_order_that_was_seen_is_built_again(made: Made):
    module = made(
        {"magic": {"type": "uint16", "const": 1, "hidden": True}},
        {"seen": {"compute": "order", "type": "str"}},
        byteOrder={"parameter": "order", "wrongWhen": ["bad_constant"]},
        parameters={"order": {"oneOf": ["big", "little", "auto"], "default": "auto"}},
    )
    assert [module.build(module.parse(data)) for data in (b"\0\1", b"\1\0")] == [b"\0\1", b"\1\0"]
    assert module.build({}) == b"\0\1"


def test_a_derived_value_of_an_absent_field_is_null(made: Made):
    module = made(
        {"id": "uint8"},
        {"n": {"type": "uint8", "when": "id == 4", "derive": "count(items) + 1"}},
        {"extra": {"type": "uint8", "when": "n == 1", "hidden": True, "const": 7}},
        {"items": {"type": "list(uint8)", "count": "n - 1", "when": "id == 4"}},
        {"rest": "bytes"},
    )
    for data in (b"\x03\xff", b"\x04\x01\x07\xff"):
        assert module.build(module.parse(data)) == data


def test_a_field_that_is_there_if_bytes_remain_is_built(made: Made):
    module = made({"a": "uint8"}, {"b": {"type": "uint16", "when": "size > here"}})
    assert [module.build({"a": 1}), module.build({"a": 1, "b": 2})] == [b"\1", b"\1\0\2"]


def test_a_record_of_an_older_version_is_built_in_it_where_the_newest_has_no_place_for_it(made: Made):
    fields = [
        {"a": "int"},
        {"b": {"type": "int", "until": "old"}},
        {"c": {"type": "int", "since": "new"}},
        {"d": {"type": "int", "since": "new"}},
    ]
    versions = {"old": {"arity": 2}, "new": {"arity": 3}}
    module = made(encoding="msgpack", types={"R": {"versions": versions, "fields": fields}})
    for data in (b"\x92\5\1", b"\x93\5\1\2"):
        assert module.build(module.parse(data)) == data


def test_the_tag_of_what_was_built_selects_its_case_again(made: Made):
    a, b = ({"fields": [{"f": "uint8"}]} for _ in range(2))
    module = made(types={"R": {"select": {"peek": "uint8"}, "cases": {0: "A", 255: "B"}}, "A": a, "B": b})
    assert [module.build({"f": tag}) for tag in (0, 255)] == [b"\0", b"\xff"]
    assert "selects" in refusal_of(module, {"f": 3})


@pytest.mark.parametrize("melts", [False, True])
@pytest.mark.parametrize(
    ("held", "fitting", "other"),
    [({"type": "int32", "range": "-5 .. 5"}, 5, 6), ({"type": "str", "length": ".. 3"}, "abc", "abcd")],
)
def test_a_case_of_which_a_range_refuses_a_member_makes_way(
    made: Made, held: Any, fitting: Any, other: Any, melts: bool
):
    tag, within = {"t": {"type": "str", "const": "small", "hidden": True}}, {"inner": {"type": "In", "flatten": True}}
    types = {
        "R": {"select": {"member": "t", "default": "large"}, "cases": {"small": "Small", "large": "Large"}},
        "Small": {"fields": [tag, within if melts else {"w": held}]},
        "Large": {"fields": [{"w": held["type"]}]},
    }
    module = made(types={**types, **({"In": {"fields": [{"w": held}]}} if melts else {})}, encoding="json")
    built = [module.build({"w": each}) for each in (fitting, other)]
    assert [b"small" in each for each in built] == [True, False]
    assert module.parse(built[1]) == {"w": other}
    rows = pa.array([{"w": fitting}, {"w": other}], module.CODEC.decode(pa.array([b"{}"])).records.type)
    assert module.CODEC.encode(rows).to_pylist() == built


@pytest.mark.parametrize("encoding", ["json", "protobuf"])
def test_a_constant_that_is_absent_stays_absent(made: Made, encoding):
    field = {"type": "int32", "const": 7, "optional": True} | ({"tag": 1} if encoding == "protobuf" else {})
    module = made({"c": field}, encoding=encoding)
    assert module.parse(module.build({})) == {"c": None}
    assert module.parse(module.build({"c": 7})) == {"c": 7}


def test_an_alternative_that_the_value_does_not_name_is_the_first_that_takes_it(made: Made):
    tried = [{"name": "a", "type": "A", "fallback": [{"codes": ["no_a"]}]}, {"name": "b", "type": "B"}]
    types = {
        "R": {"attempt": tried},
        "A": {"fields": [{"c": {"type": "uint8", "const": 3, "else": "no_a"}}, {"x": "uint8"}]},
        "B": {"fields": [{"y": "uint8"}, {"z": "uint8"}]},
    }
    module = made(types=types, errors={"no_a": "It is no A."})
    assert [module.build({"y": 1, "z": 2}), module.build({"x": 1})] == [b"\1\2", b"\3\1"]
    assert refusal_of(module, {"kind": "b", "y": 3, "z": 1}) == "kind: expected 'b' to be read back, found 'a'"


# --- other constructs and containers ---------------------------------------------------------------------------------


def test_a_record_works_inside_other_constructs(made: Made):
    record = made({"n": "uint8"}, {"e": "uint8"}).CONSTRUCT
    around = construct.Struct("n" / construct.Int8ub, "e" / record, "rest" / construct.GreedyBytes)
    assert around.parse(b"\1\2\3\4") == {"n": 1, "e": {"n": 2, "e": 3}, "rest": b"\4"}
    assert around.build({"n": 1, "e": {"n": 2, "e": 3}, "rest": b"\4"}) == b"\1\2\3\4"
    assert construct.Optional(record).parse(b"\1") is None
    assert list(construct.GreedyRange(record).parse(b"\1\2\3\4\5")) == [{"n": 1, "e": 2}, {"n": 3, "e": 4}]
    assert construct.Select(record, construct.Byte).parse(b"\7") == 7
    with pytest.raises(construct.ConstructError):
        record.parse(b"\1")


def test_a_messagepack_map_has_members_by_name(made: Made):
    fields = [{"ack": "str"}, {"left": {"type": "int", "optional": True}}]
    module = made(encoding="msgpack", types={"R": {"form": "object", "fields": fields}})
    data = b"\x82\xa4left\5\xa3ack\xa1x"
    assert module.parse(data) == {"ack": "x", "left": 5}
    assert module.build({"ack": "x", "left": 5}) == b"\x82\xa3ack\xa1x\xa4left\5"
    assert module.build({"ack": "x"}) == b"\x81\xa3ack\xa1x"
    assert error_of(module, b"\x81\xa4left\5") == ("missing_key", "ack", 0)
    assert error_of(module, b"\x82\xa3ack\xa1x\xa1y\x91\1") == ("unexpected_property", "y", 7)
    assert error_of(module, b"\x82\xa3ack\xa1x\xa3ack\xa1x") == ("duplicate_key", "ack", 7)


@pytest.mark.parametrize(("encoding", "data"), [("json", b'{"a":5.1}'), ("msgpack", b"\x91\xcb\x40\x14ffffff")])
def test_a_number_of_32_bits_is_rounded_to_them(made: Made, encoding, data):
    module = made({"a": "float32"}, encoding=encoding)
    rounded = 5.099999904632568
    assert module.parse(data) == module.parse(module.build({"a": 5.1})) == {"a": rounded}
    assert module.decode(pa.array([data])).records.to_pylist() == [{"a": rounded}]


def test_a_parameter_may_be_any_text_or_null(made: Made):
    parameters = {"p": {"type": "str", "default": "x"}, "q": {"type": "int", "default": None}}
    fields = [{"a": {"compute": "p", "type": "str"}}, {"b": {"compute": "q + 1", "type": "int"}}]
    module = made(*fields, parameters=parameters)
    assert module.parse(b"") == {"a": "x", "b": None}
    assert module.parse(b"", p="y", q=None) == {"a": "y", "b": None}
    assert module.parse(b"", p="y", q=2) == {"a": "y", "b": 3}


def test_what_parse_gives_of_a_derived_field_is_built_again(made: Made):
    module = made({"n": {"type": "uint8", "derive": "count(items)"}}, {"items": "list(uint8)"})
    assert module.build(module.parse(b"\x80\1")) == b"\x80\1"
    assert module.build({"items": [1]}) == b"\1\1"


# --- what was parsed -----------------------------------------------------------------------------------------------

NUMBERS = {"Numbers": {"fields": [{"first": "varint32"}, {"second": "varint32"}]}}


def test_a_noncanonical_record_is_written_as_read_until_it_is_changed(made: Made):
    """The first number takes two bytes although one would do, so the region has three."""
    module, data = made({"numbers": {"type": "Numbers", "size": "3"}}, types=NUMBERS), b"\x85\x00\x07"
    value = module.parse(data)
    assert value == {"numbers": {"first": 5, "second": 7}}
    for remembering in (value, copy.copy(value), copy.deepcopy(value)):
        assert module.build(remembering) == data
    assert "truncated" in refusal_of(module, dict(value))
    value["numbers"]["first"] = 6
    assert "truncated" in refusal_of(module, value)


def test_a_null_sentinel_is_written_as_it_was_read(made: Made):
    """The length before the numbers counts two bytes of the first, and the second is what means null."""
    types = {"Numbers": {"fields": [{"first": "varint32"}, {"second": {"type": "varint32", "null": 7}}]}}
    length = {"length": {"type": "uint8", "derive": "end - start"}}
    module = made(
        length, {"mark": "start"}, {"numbers": {"type": "Numbers", "size": "length"}}, {"mark": "end"}, types=types
    )
    data = b"\x03\x85\x00\x07"
    value = module.parse(data)
    assert value == {"length": 3, "numbers": {"first": 5, "second": None}}
    assert module.build(value) == data
    assert module.build(dict(value)) == b"\x02\x05\x07"


def test_a_hidden_field_is_written_as_read_until_the_value_is_changed(made: Made):
    """The hidden value differs from its derivation, which parsers do not check, and decides a visible member."""
    part = {"fields": [{"n": {"type": "uint8", "derive": "number", "hidden": True}}, {"is_one": {"compute": "n == 1"}}]}
    part["fields"][1]["is_one"]["type"] = "bool"
    number = {"type": "uint8", "values": {2: "two"}, "raw": "given"}
    module = made({"number": number}, {"part": "Part"}, types={"Part": part})
    for data in (b"\x01\x01", b"\x01\x07", b"\x02\x01"):
        assert module.build(module.parse(data)) == data
    value = module.parse(b"\x02\x01")
    value["part"] = {}
    assert module.build(value) == module.build(sourceless(value)) == b"\x02\x02"


NOT_FOR_READERS = {
    "derived": [{"m": {"type": "uint8", "derive": "x + 1", "hidden": True}}],
    "filler": [{"m": {"type": "bytes(1)", "hidden": True}}],
    "a constant": [{"m": {"type": "uint8", "const": 1, "hidden": True}}],
    "a checksum": [{"m": {"type": "uint8", "checksum": "sum", "over": "0 .. end", "hidden": True}}, {"mark": "end"}],
    "bits that share a byte": [{"m": {"type": "uint3", "hidden": True}}, {"n": {"type": "uint5", "hidden": True}}],
    "derived bits": [{"w": {"type": "uint8", "bits": {"m": {"at": "0..6", "derive": "x", "hidden": True}, "n": 7}}}],
}


@pytest.mark.parametrize("name", NOT_FOR_READERS)
def test_a_member_that_only_another_case_shows_is_not_dropped(made: Made, name: str):
    """Each case has a member of that name, which readers see of the first."""
    cases = {"type": {"select": "kind", "cases": {0: "First", 1: "Second"}}}
    types = {
        "First": {"fields": [{"m": "uint8"}]},
        "Second": {"fields": [*NOT_FOR_READERS[name], {"x": "uint8"}]},
    }
    keys: dict[str, Any] = {"types": types}
    if name == "a checksum":
        types["Second"]["fields"].append({"verify": {"field": "m"}})
        keys["checksums"] = {"sum": {"sum": "add", "width": 8, "check": 0xDD}}
    module = made({"kind": "uint8"}, {"part": cases}, **keys)
    type = module.decode(pa.array([], pa.binary())).records.type
    given = {"kind": 1, "part": {"x": 1}}
    assert module.encode(pa.array([given], type)).to_pylist() == [module.build(given)]
    for m in (1, 2, 6):
        row = {"kind": 1, "part": {"m": m, "x": 1}}
        assert refusal_of(module, row).startswith(f"part.m: expected {m} to be read back, found null")
        with pytest.raises(EncodeError, match=f"expected {m} to be read back, found null"):
            module.encode(pa.array([row], type))


def test_elements_and_records_of_a_stream_are_written_as_they_were_read(made: Made):
    roots = {"one": {"type": "R"}, "many": {"type": "list(R)"}}
    module = made({"numbers": {"type": "Numbers", "size": "3"}}, types=NUMBERS, root=None, roots=roots)
    first, second = b"\x85\x00\x07", b"\x01\x87\x00"
    many = module.parse(first + second, root="many")
    assert module.build(many, root="many") == first + second
    assert module.build(copy.deepcopy(many), root="many") == first + second
    found = module.iter_parse(first + second, root="one", framing="concatenated")
    assert [module.build(each.value, root="one") for each in found] == [first, second]


@pytest.mark.parametrize(
    ("encoding", "bits"),
    [
        ("binary", 16),
        *((encoding, bits) for encoding in ("binary", "protobuf", "json", "msgpack") for bits in (32, 64)),
    ],
)
def test_an_integer_beyond_a_float_is_refused(made: Made, encoding: str, bits: int):
    field = {"f": {"type": f"float{bits}", **({"tag": 1} if encoding == "protobuf" else {})}}
    module = made(field, encoding=encoding)
    for number in (10**400, -(10**400), *((65536, 10**39) if bits == 16 else ())):
        with pytest.raises(EncodeError):
            module.build({"f": number})


@pytest.mark.parametrize("encoding", ["binary", "json", "msgpack"])
@pytest.mark.parametrize("given", [object(), array("i", [1]), {1, 2}, slice(3), range(2), iter([1])])
def test_values_of_impossible_types_are_refused_at_their_path(made: Made, encoding: str, given: Any):
    module = made(
        {"n": "uint8"},
        {"d": {"type": "uint8", "scale": 0.01}},
        {"twice": {"compute": "n * 2", "type": "int64"}},
        {"one": {"type": "uint8", "const": 1}},
        encoding=encoding,
    )
    good = {"n": 1, "d": Decimal("0.02"), "one": 1}
    assert module.build(good)
    for name in good:
        with pytest.raises(EncodeError) as caught:
            module.build(good | {name: given})
        assert caught.value.path == name


@pytest.mark.parametrize("entry", [(1,), (1, 2, 3), 5, None])
@pytest.mark.parametrize("encoding", ["json", "msgpack"])
def test_an_entry_that_is_no_pair_is_refused(made: Made, encoding: str, entry: Any):
    module = made({"m": "map(str, int)"}, encoding=encoding)
    with pytest.raises(EncodeError, match=r"m\[1\]: expected a pair of key and value"):
        module.build({"m": Pairs([("a", 1), entry])})


def test_a_member_that_is_named_by_no_text_is_refused_by_its_name(made: Made):
    with pytest.raises(EncodeError, match="null: expected"):
        made({"n": "uint8"}).build({"n": 1, None: 2})


@pytest.mark.parametrize("number", ["NaN", "sNaN", "Infinity", "-Infinity", "1E+999999999", "1E-9"])
def test_a_decimal_of_no_digits_or_too_many_is_refused(made: Made, number: str):
    module = made({"d": {"type": "int64", "scale": 0.01}})
    with pytest.raises(EncodeError):
        module.build({"d": Decimal(number)})


@pytest.mark.parametrize("kind", [type("Count", (int,), {}), IntEnum("Known", {"FOUR": 4, "FIVE": 5})])
def test_a_parameter_is_an_integer_of_any_class(made: Made, kind: Callable[[int], int]):
    module = made({"n": "bytes(q)"}, parameters={"q": {"type": "int", "default": 4}})
    assert module.parse(b"abcde", q=kind(5)) == {"n": b"abcde"}


@pytest.mark.parametrize("given", [b"1", [1], array("i", [1]), object()])
def test_a_parameter_of_another_kind_is_refused(made: Made, given: object):
    module = made(
        {"n": "uint8"}, parameters={"q": {"type": "int", "default": 4}, "t": {"type": "bool", "default": True}}
    )
    for name in ("q", "t"):
        with pytest.raises(ParameterError):
            module.parse(b"\1", **{name: given})


def test_a_text_that_stands_for_a_number_is_not_multiplied_by_one(made: Made):
    module = made({"n": "uint8"}, {"f": {"type": "uint8", "when": "n * 1000000000000000 > 3"}})
    with pytest.raises(EncodeError):
        module.build({"n": "a", "f": 1})


@pytest.mark.parametrize("given", [5, "ab", b"ab", [("a", 1)], [], True, 1.5])
@pytest.mark.parametrize("encoding", ["json", "msgpack"])
def test_a_map_of_values_with_a_meaning_is_given_as_a_map(made: Made, encoding: str, given: Any):
    types = {"Day": {"fields": [{"at": {"type": "int64", "logical": "date"}}]}}
    module = made({"m": "map(str, Day)"}, encoding=encoding, types=types)
    day = {"at": date(2000, 1, 1)}
    assert module.parse(module.build({"m": {"a": day}}))["m"] == Pairs([("a", day)])
    with pytest.raises(EncodeError, match="m: expected"):
        module.build({"m": given})


def test_bits_may_follow_from_others_of_their_integer(made: Made):
    shared = made({"a": "uint4"}, {"b": {"type": "uint4", "hidden": True, "derive": "a == 0 ? 0 : a - 1"}})
    bits = {"a": "0..3", "b": {"at": "4..7", "derive": "a == 0 ? 0 : a - 1", "hidden": True}}
    named = made({"n": {"type": "uint8", "bits": bits, "hidden": True}})
    assert [shared.build({"a": a}) for a in (0, 1, 15)] == [b"\x00", b"\x10", b"\xfe"]
    assert [named.build({"a": a}) for a in (0, 1, 15)] == [b"\x00", b"\x01", b"\xef"]
    assert refusal_of(shared, {}) == "a: expected an integer from 0 to 15, found null"
    assert named.build({}) == b"\x00"


def test_a_name_that_the_number_does_not_have_is_refused(made: Made):
    module = made({"t": {"type": "uint8", "values": {3: "LONG", 4: "INT"}, "raw": "n"}})
    assert module.build({"t": "INT"}) == module.build({"n": 4}) == module.build({"t": "INT", "n": 4}) == b"\x04"
    assert refusal_of(module, {"t": "LONG", "n": 4}) == "t: expected the name of 4, or none, found 'LONG'"
    assert refusal_of(module, {"t": "LONG", "n": 9}) == "t: expected the name of 9, or none, found 'LONG'"
    with pytest.raises(EncodeError, match="expected the name of 4"):
        module.encode(pa.array([{"t": "LONG", "n": 4}]))


NEW_YEAR = datetime(2024, 1, 1, tzinfo=UTC)
MEANT = {
    "nanoseconds": ({"type": "int64", "logical": {"timestamp": "ns"}}, NEW_YEAR, 1704067200000000999, 1),
    "seconds or null": ({"type": "int64", "logical": {"timestamp": "s"}, "null": -1}, NEW_YEAR, 1704067200, 1),
    "milliseconds": ({"type": "int64", "logical": {"duration": "ms"}}, timedelta(seconds=1), 1000, 1),
    "days": ({"type": "int64", "logical": "date"}, date(1970, 1, 2), 1, 2),
    "a scale": ({"type": "int16", "scale": 10}, 50, 5, 50),
    "a moment": (
        {"type": "str", "logical": "timestamp"},
        NEW_YEAR,
        "2024-01-01T01:00:00.0000001+01:00",
        "2024-01-01T01:00:00Z",
    ),
    "a day": ({"type": "str", "logical": "date"}, date(1970, 1, 2), "1970-01-02", "1970-01-03"),
    "a decimal": ({"type": "str", "logical": "decimal(10, 2)"}, Decimal("10.50"), "10.5", "10.51"),
    "an integer": ({"type": "str", "logical": "int64"}, 5, "5", "6"),
}


@pytest.mark.parametrize(("kind", "meant", "raw", "other"), MEANT.values(), ids=MEANT)
def test_a_value_beside_its_raw_value_must_agree_with_it(made: Made, kind: Any, meant: Any, raw: Any, other: Any):
    module = made({"n": {**kind, "raw": "written"}}, encoding="json")
    record = module.build({"written": raw})
    assert module.parse(record) == {"n": meant, "written": raw}
    assert module.build({"n": meant, "written": raw}) == record
    columns = module.decode(pa.array([record])).records
    assert module.encode(columns).to_pylist() == [record]
    with pytest.raises(EncodeError) as built:
        module.build({"n": meant, "written": other})
    with pytest.raises(EncodeError) as encoded:
        module.encode(pa.array([{"n": meant, "written": other}], columns.type))
    assert (built.value.path, encoded.value.path) == ("n", "[0].n")
    assert (built.value.expected, built.value.actual) == (encoded.value.expected, encoded.value.actual)
    changed = module.parse(record)
    changed["written"] = other
    with pytest.raises(EncodeError):
        module.build(changed)
    assert module.build({**changed, "n": None}) == module.build({"written": other})


def test_a_filler_may_share_its_name_with_a_used_field(made: Made):
    length = {"pad": {"type": "uint8", "hidden": True, "derive": "len(s)"}}
    types = {
        "A": {"fields": [length, {"s": "bytes(pad)"}]},
        "B": {"fields": [{"pad": {"type": "uint8", "hidden": True}}]},
    }
    module = made({"a": "A"}, {"b": "B"}, types=types)
    assert module.build({"a": {"s": b"xy"}, "b": {}}) == b"\x02xy\x00"


def test_named_integers_are_described_as_others_are(made: Made):
    types = {"Compact": "extended(253, uint16, uint32)", "Word": "uint16"}
    module = made(
        {"zero": {"type": "Compact", "const": 0, "hidden": True}},
        {"few": {"type": "Compact", "range": "0 .. 300"}},
        {"kind": {"type": "Word", "values": {1: "one"}}},
        {"share": {"type": "Word", "scale": 0.1}},
        {"low": {"type": "Word", "byteOrder": "little"}},
        types=types,
    )
    value = {"few": 300, "kind": "one", "share": Decimal("0.5"), "low": 1}
    assert module.build(value) == b"\x00\xfd\x01\x2c\x00\x01\x00\x05\x01\x00"
    assert module.parse(module.build(value)) == value
    with pytest.raises(DecodeError, match="few"):
        module.parse(b"\x00\xfd\x01\x2d\x00\x01\x00\x05\x01\x00")


def test_one_of_several_fields_of_a_name_is_written_where_the_size_decides(made: Made):
    fields = [
        {"a2": {"type": "uint16", "as": "a", "when": "size >= 2"}},
        {"a1": {"type": "uint8", "as": "a", "when": "size == 1"}},
        {"b": {"type": "uint8", "when": "size > here"}},
        {"c": {"type": "uint8", "when": "size > here"}},
    ]
    module = made({"payload": {"size": "uint8", "type": "P"}}, {"last": "uint8"}, types={"P": {"fields": fields}})
    for data in ("0300010299", "0400010203ff", "020001ff", "00ff"):
        value = module.parse(bytes.fromhex(data))
        assert module.build(module.from_canonical(module.to_canonical(value))).hex() == data
    assert module.build({"payload": {"a": 5}, "last": 255}).hex() == "020005ff"


def test_rendering_refuses_unknown_members(made: Made):
    module = made({"n": {"type": "uint8"}}, {"inner": "I"}, types={"I": {"fields": [{"m": "uint8"}]}})
    assert module.to_canonical({"n": 1, "inner": {"m": 2}, "other": None}) == {"n": 1, "inner": {"m": 2}}
    for value in ({"n": 1, "other": 2}, {"n": 1, "inner": {"n": 1}}):
        with pytest.raises(EncodeError, match="no member"):
            module.to_canonical(value)


def test_equal_names_of_truths_and_of_numbers_are_apart(made: Made):
    named = made({"t": {"type": "bool", "values": {False: "NO", True: "YES"}}})
    counted = made({"t": {"type": "uint8", "values": {0: "NO", 1: "YES"}, "raw": "n"}})
    for module in (named, counted):
        assert [module.build({"t": name}) for name in ("NO", "YES")] == [b"\x00", b"\x01"]
        assert [module.parse(data)["t"] for data in (b"\x00", b"\x01")] == ["NO", "YES"]
        assert module.encode(pa.array([{"t": "YES"}])).to_pylist() == [b"\x01"]
    assert counted.build({"t": "YES", "n": 1}) == b"\x01"
    assert counted.parse(b"\x01") == {"t": "YES", "n": 1}


def test_a_size_derived_from_the_layout_may_select_the_codec(made: Made):
    body = {"type": "B", "size": "n", "unpack": {"select": "n >> k", "cases": {0: "gzip", 1: "none"}}}
    fields = ("k", "uint8"), ("n", {"type": "uint8", "derive": "q - p", "hidden": True}), ("mark", "p"), ("b", body)
    module = made(*(dict([field]) for field in fields), {"mark": "q"}, types={"B": {"fields": [{"t": "str"}]}})
    for value, codec in (({"k": 7, "b": {"t": ""}}, "gzip"), ({"k": 4, "b": {"t": 20 * "x"}}, "none")):
        data = module.build(value)
        assert module.parse(data) == value
        assert (data[2:4] == b"\x1f\x8b") == (codec == "gzip")
        assert module.encode(pa.array([value])).to_pylist() == [data]
    unsettled = {"k": 4, "b": {"t": "xx"}}  # long where it is packed, which asks for none; short where it is not
    with pytest.raises(EncodeError, match="offsets that change each other"):
        module.build(unsettled)
    with pytest.raises(EncodeError, match="offsets that change each other"):
        module.encode(pa.array([unsettled]))


_MEASURED = {"fields": [{"n": {"type": "uint8", "derive": "size", "hidden": True}}, {"t": "str(n - 1)"}]}


def test_a_size_derived_inside_a_struct_is_known_outside(made: Made):
    behind = made({"inner": "I"}, {"k": {"type": "uint8", "derive": "inner.n + 1"}}, types={"I": _MEASURED})
    before = made(
        {"k": {"type": "uint8", "derive": "outer.inner.n", "hidden": True}},
        {"outer": "O"},
        types={"I": _MEASURED, "O": {"fields": [{"inner": "I"}]}},
    )
    melted = made(
        {"k": {"type": "uint8", "derive": "n + 1", "hidden": True}},
        {"inner": {"type": "I", "flatten": True}},
        types={"I": _MEASURED},
    )
    for module, value, data in (
        (behind, {"inner": {"t": "abc"}}, b"\x04abc\x05"),
        (behind, {"inner": {"t": "abc"}, "k": 9}, b"\x04abc\x09"),
        (before, {"outer": {"inner": {"t": "abc"}}}, b"\x04\x04abc"),
        (melted, {"t": "abc"}, b"\x05\x04abc"),
    ):
        assert module.build(value) == data
        assert module.encode(pa.array([value])).to_pylist() == [data]


def test_a_size_derived_inside_a_struct_decides_on_a_later_field(made: Made):
    module = made({"inner": "I"}, {"k": {"type": "uint8", "when": "inner.n > 4"}}, types={"I": _MEASURED})
    for value, data in (
        ({"inner": {"t": "abc"}, "k": None}, b"\x04abc"),
        ({"inner": {"t": "abcd"}, "k": 7}, b"\x05abcd\x07"),
    ):
        assert module.build(value) == data
        assert module.parse(data) == value
        assert module.encode(pa.array([value])).to_pylist() == [data]
    assert refusal_of(module, {"inner": {"t": "abc"}, "k": 7}).startswith("k: expected 7 to be read back, found null")


def test_a_layout_without_solution_is_refused():
    byte = binary.Integer(8, signed=False)
    late = structure.Field("n", byte, derive=lambda ctx: expressions.mark(ctx, "nowhere"), hidden=True)
    inner = structure.Struct("I", late, structure.Field("t", byte))
    for struct, value in ((inner, {"t": 7}), (structure.Struct("R", structure.Field("i", inner)), {"i": {"t": 7}})):
        with pytest.raises(EncodeError, match="expected fields whose offsets can be computed"):
            record.Record(struct, ()).build(value)


TAIL = {"type": "uint8", "at": -1}
LENGTH = {"n": TAIL | {"derive": "len(foot)", "hidden": True}}
MARKED = {"n": TAIL | {"derive": "en - st", "hidden": True}}
BODY = {"body": {"type": "bytes(3)", "at": 0}}
UP_TO_FOOT = {"body": {"type": "bytes(size - 1 - n)", "at": 0}}
SEEN = {"seen": {"compute": "m", "type": "int64"}}
TAILED = {
    "tails out of order": (
        [
            {"x": "bytes(size - 2)"},
            {"a": TAIL | {"derive": "len(x)"}},
            {"b": {"type": "uint8", "at": -2, "derive": "len(x) + 1"}},
        ],
        {"x": b"abc"},
        b"abc\4\3",
    ),
    "a mark before a foot": (
        [{"n": TAIL | {"derive": "st"}}, BODY, {"mark": "st"}, {"foot": {"type": "bytes(size - 1 - here)", "at": 3}}],
        {"body": b"abc", "foot": b"de"},
        b"abcde\3",
    ),
    "a length of marks": (
        [MARKED, UP_TO_FOOT, {"mark": "st"}, {"foot": {"type": "bytes(n)", "at": "st"}}, {"mark": "en"}],
        {"body": b"abc", "foot": b"de"},
        b"abcde\2",
    ),
    "a foot that follows": ([LENGTH, UP_TO_FOOT, {"foot": "bytes(n)"}], {"body": b"abc", "foot": b"de"}, b"abcde\2"),
    "a foot before what stands before it": (
        [
            {"magic": "bytes(2)"},
            {"mark": "m"},
            LENGTH,
            {"foot": {"type": "bytes(n)", "at": "size - 1 - n"}},
            {"body": {"type": "bytes(size - 3 - n)", "at": "m"}},
        ],
        {"magic": b"OK", "body": b"abc", "foot": b"de"},
        b"OKabcde\2",
    ),
    "a tail that is not there": (
        [
            {"f": "uint8"},
            {"n": TAIL | {"when": "f == 1"}},
            {"mark": "m"},
            SEEN,
            {"body": {"type": "bytes(2)", "at": 1}},
        ],
        {"f": 0, "seen": 1, "body": b"ab"},
        b"\0ab",
    ),
    "an offset of a mark": (
        [
            {"o": {"type": "uint8", "derive": "m", "hidden": True}},
            {"x": "str(uint8)"},
            {"mark": "m"},
            {"y": {"type": "uint16", "at": "o"}},
        ],
        {"x": "ab", "y": 7},
        b"\4\2ab\0\7",
    ),
}


@pytest.mark.parametrize(("fields", "value", "data"), TAILED.values(), ids=TAILED)
def test_fields_at_offsets_from_the_end_are_written_last(
    made: Made, fields: list[Any], value: dict[str, Any], data: bytes
) -> None:
    module = made(*fields, byteOrder="big")
    assert module.build(value) == data
    assert module.CODEC.encode(module.CODEC.decode(pa.array([data])).records).to_pylist() == [data]


@pytest.mark.parametrize("condition", ["m >= 0", "m >= here", "present(m)", "n == 255", "size > here"])
def test_a_field_whose_presence_depends_on_its_own_length_follows_the_value(made: Made, condition: str) -> None:
    """A field within decides how long the record is, and that whether there is a longer length, which decides of it."""
    module = made(
        {"n": {"type": "uint8", "derive": "b - a > 0 ? 255 : 0", "hidden": True}},
        {"m": {"type": "uint16", "when": "n == 255", "derive": "b - a", "hidden": True}},
        {"mark": "a"},
        {"part": {"type": "Part", "size": "n == 255 ? m : n"}},
        {"mark": "b"},
        {"last": "uint8"},
        byteOrder="big",
        types={"Part": {"fields": [{"x": {"type": "int16", "when": condition}}]}},
    )
    for x, data in ((3, "ff0002000301"), (None, "0001")):
        value = {"part": {"x": x}, "last": 1}
        record = module.build(value)
        assert record.hex() == data
        assert module.parse(record) == value
        assert module.CODEC.encode(module.CODEC.decode(pa.array([record])).records).to_pylist() == [record]


COMPUTED = {  # fields behind a text, and the records of texts of 3 and of no bytes
    "of the size and how far it is": ([{"n": "size - here"}], "0361626303", "0003"),
    "where the size says that it is there": ([{"n": ("size - here", "size > 6")}], "0361626303", "0009"),
    "where its place says that it is there": ([{"n": ("size - here", "here > 2")}], "0361626303", "0009"),
    "of a flag that its place decides": ([{"m": ("1", "here > 2")}, {"n": "present(m) ? 1 : 2"}], "0361626301", "0002"),
    "of the size, before what follows from it": ([{"m": "size"}, {"n": "m - here"}], "0361626303", "0003"),
}


@pytest.mark.parametrize(("computed", "full", "empty"), COMPUTED.values(), ids=COMPUTED)
def test_a_value_computed_from_offsets_is_known_at_its_place(
    made: Made, computed: list[Any], full: str, empty: str
) -> None:
    """The same for values derived from it, before and after it."""
    fields: list[Any] = [{"text": "str(uint8)"}]
    for entry in computed:
        ((name, told),) = entry.items()
        compute, when = told if isinstance(told, tuple) else (told, None)
        fields.append({name: {"type": "int64", "compute": compute} | ({"when": when} if when else {})})
    fields += [{"k": {"type": "uint8", "derive": "present(n) ? n : 9"}}, {"last": "uint16"}]
    module = made(*fields, byteOrder="big")
    for text, data in (("abc", full), ("", empty)):
        record = module.build({"text": text, "last": 0})
        assert record.hex() == data + "0000"
        value = module.parse(record)
        assert value["k"] == (9 if value["n"] is None else value["n"])
        assert module.build(value) == record
        assert module.CODEC.encode(module.CODEC.decode(pa.array([record])).records).to_pylist() == [record]


def test_a_given_computed_member_takes_precedence_over_derived_ones(made: Made) -> None:
    """Where it reads back: else what was changed decides."""
    length = {"type": "uint8", "compute": "info", "derive": "kind == 1 ? len(data) : 0"}
    fields = [{"kind": "uint8"}, {"info": {"type": "uint8", "derive": "n", "hidden": True}}, {"n": length}]
    module = made(*fields, {"data": {"type": "bytes(n)", "when": "kind == 1"}})
    assert module.build({"kind": 0, "n": 23}) == b"\0\27"
    assert module.build({"kind": 0}) == b"\0\0"
    changed = module.parse(b"\1\3abc")
    changed["data"] = b"longer"
    assert module.build(changed) == b"\1\6longer"
    assert module.CODEC.encode(module.CODEC.decode(pa.array([b"\0\27"])).records).to_pylist() == [b"\0\27"]


def test_the_byte_order_that_no_member_says_is_the_first_one(made: Made) -> None:
    """If something else decides it, such as a check, callers must state it."""
    order = {"parameter": "order", "wrongWhen": ["wrong_order"]}
    module = made(
        {"data": {"type": "uint8", "values": {1: "little", 2: "big"}}},
        {"check": {"that": "order == data", "else": "wrong_order"}},
        {"version": {"type": "uint32", "const": 1, "hidden": True}},
        {"n": {"type": "uint8", "range": ".. 5"}},
        byteOrder=order,
        parameters={"order": {"oneOf": ["big", "little", "auto"], "default": "auto"}},
        errors={"wrong_order": "The other order."},
    )
    for data in ("little", "big"):
        assert module.parse(module.build({"data": data, "n": 5}, order=data)) == {"data": data, "n": 5}
        with pytest.raises(EncodeError) as refusal:
            module.build({"data": data, "n": 9}, order=data)
        assert refusal.value.path == "n"
    assert module.build({"data": "big", "n": 5}) == module.build({"data": "big", "n": 5}, order="big")
    with pytest.raises(EncodeError):
        module.build({"data": "little", "n": 5})
    rows = pa.array([{"data": "little", "n": 5}])
    assert module.encode(rows, order="little").to_pylist() == [module.build(rows[0].as_py(), order="little")]
    with pytest.raises(EncodeError):
        module.encode(rows)


def test_a_tag_of_bytes_is_shown_as_the_spec_has_it():
    case = structure.Struct("A", structure.Field("z", binary.Bytes(2)))
    union = unions.Peek(binary.Integer(16, signed=False), {0x4142: case}, octets=2)
    whole = record.Record(union)
    with pytest.raises(EncodeError, match=r"expected one of 4142, found 4143 \(unknown_case\)"):
        whole.written({"z": b"AC"}, {}, lambda _: False)
    with pytest.raises(DecodeError) as caught:
        whole.parse(b"AC")
    assert (caught.value.expected, caught.value.actual) == ("one of 4142", "4143")


@pytest.mark.parametrize("encoding", ["msgpack", "json"])
def test_a_value_of_no_alternative_is_told_the_kinds_that_there_are(made, encoding):
    options = {"seconds": "int", "text": "str", "list": "list(int)", "labels": "map(str, int)"}
    kinds = "int, str, list, map"
    if encoding == "msgpack":
        options["event"] = "ext(0, bytes(8))"
        kinds += ", bytes"
    module = made({"time": "Time"}, encoding=encoding, types={"Time": {"oneOf": options}})
    with pytest.raises(EncodeError, match=f"time: expected one of {kinds}, found null"):
        module.build({})


def test_a_decimal_of_too_many_digits_is_shown(made):
    module = made({"amount": {"type": "str", "logical": "decimal(10, 2)"}}, encoding="json")
    with pytest.raises(EncodeError, match=r"at most 2 digits after the point, found 1\.005"):
        module.build({"amount": Decimal("1.005")})


WORDS = {"values": {0: "off", 1: "on"}}


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({}, "an integer"),
        (WORDS, "one of 'off', 'on'"),
        (WORDS | {"raw": "number"}, "an integer"),
        ({"scale": "0.5"}, "an integer"),
        ({"range": "0 .. 1"}, "an integer"),
    ],
)
@pytest.mark.parametrize("type", ["uint2", "int3", "uint12", "uint33", "uint70", "uint8", "uint16", "int64"])
def test_null_is_no_integer_of_any_width(made, type, said, expected):
    bits = int(type.lstrip("uint"))
    if bits > 64:
        fields = [{"filler": "uint60"}, {"k": said | {"type": "uint10"}}, {"more": {"type": "uint2", "hidden": True}}]
        row = {"filler": 1}
    else:
        rest = -bits % 8
        fields = [{"k": said | {"type": type}}, *([{"rest": "bit" if rest == 1 else f"uint{rest}"}] if rest else [])]
        row = {"rest": 1} if rest else {}
    module = made(*fields)
    name = said.get("raw", "k")
    for value in (row, row | {"k": None}):
        with pytest.raises(EncodeError, match=f"^{name}: expected {expected}.*, found null$"):
            module.build(value)
    whole = module.parse(bytes(9 if bits > 64 else -(-bits // 8)))
    type_of = module.decode([module.build(whole)]).records.type
    rows = pa.array([dict(whole), dict(whole) | {"k": None, name: None}], type_of)
    assert len(module.encode(rows[:1])) == 1
    with pytest.raises(EncodeError, match=rf"^\[1\]\.{name}: expected {expected}.*, found null$"):
        module.encode(rows)


def test_null_of_bits_that_are_a_field_is_what_the_spec_says_it_is(made):
    module = made(
        {"flag": "bit"},
        {"number": {"type": "uint3", "null": 5}},
        {"word": {"type": "uint2", "values": {2: None, 1: "on"}}},
        {"derived": {"type": "bit", "derive": "number == 1"}},
        {"reserved": {"type": "uint6", "const": 33}},
        {"zeros": {"type": "uint3", "hidden": True}},
    )
    assert module.build({"flag": True, "number": None, "word": None}) == b"\xd9\x08"
    with pytest.raises(EncodeError, match=r"^flag: expected true or false, found null$"):
        module.build({"number": None, "word": None})


def test_names_of_bits_may_be_left_out_and_are_zeros(made):
    module = made({"flags": {"type": "uint8", "hidden": True, "bits": {"a": 0, "b": {"at": "4..5"} | WORDS}}})
    assert module.build({}) == module.build({"a": None, "b": None}) == b"\0"
    assert module.encode(pa.array([{"a": None, "b": None}])).to_pylist() == [b"\0"]


def test_a_time_of_too_many_digits_is_refused_with_how_many_there_may_be():
    with pytest.raises(ValueError, match="with T and Z in capitals and at most six digits after the second"):
        meanings.read("2026-01-31T12:00:00.123456789Z", Scaled("timestamp"))


def test_the_lengths_that_an_array_may_have_ascend(made):
    module = made({"a": "uint8"}, {"b": {"type": "uint8", "optional": True}}, encoding="msgpack")
    with pytest.raises(DecodeError, match="expected an array of 1 or 2, found an array of 4"):
        module.parse(b"\x94\x01\x02\x03\x04")

"""Several fields with one name in different versions of a struct: expressions mean the one that is present."""

import pyarrow as pa
import pytest

from proof.modules import documents, generated, resolved
from wireloom.runtime import engine as engines

native = pytest.mark.skipif(engines.module() is None, reason="the engine is not compiled")


def spec_of(encoding, form, fields, told):
    """A struct of two versions, which a field before it or a parameter tells, or its arity."""
    versions = {"old": {"when": "ver == 1"}, "new": {"when": "ver == 2"}}
    if told == "arity":
        versions = {"old": {"arity": 3}, "new": {"arity": 4}}
    inner = {"fields": fields, "versions": versions} | ({"form": form} if form else {})
    outer = {"fields": [{"ver": "uint8"}, {"body": "Inner"}]} | ({"form": form} if form else {})
    spec = {"wireloom": 1, "format": "r", "title": "r", "encoding": encoding}
    if encoding == "binary":
        spec["byteOrder"] = "big"
    if told == "parameter":
        spec["parameters"] = {"ver": {"type": "int", "default": 1, "doc": "Which version it is."}}
        return spec | {"root": "Inner", "types": {"Inner": inner}}
    return spec | {"root": "Outer", "types": {"Outer": outer, "Inner": inner}}


_BUILT = {"words", "from the end"}  # rows that the builders write (decision 17)
BINARY = {
    "types": ([{"a": {"type": "uint8", "since": "new"}}, {"a": {"type": "bytes(3)", "until": "old"}}], (b"abc", 7)),
    "widths": ([{"a": {"type": "uint8", "since": "new"}}, {"a": {"type": "uint32", "until": "old"}}], (5, 7)),
    "from the end": (
        [{"a": {"type": "uint8", "since": "new"}}, {"a": {"type": "bytes(3)", "at": -3, "until": "old"}}],
        (b"abc", 7),
    ),
    "constants": (
        [{"a": {"type": "uint8", "const": 1, "until": "old"}}, {"a": {"type": "uint16", "const": 2, "since": "new"}}],
        (1, 2),
    ),
    "words": (
        [
            {"a": {"type": "uint8", "values": {1: "one", 2: None}, "until": "old"}},
            {"a": {"type": "bytes(2)", "since": "new"}},
        ],
        (None, b"xy"),
    ),
}


@native
@pytest.mark.parametrize("told", ["outer", "parameter"])
@pytest.mark.parametrize("name", BINARY)
def test_each_is_read_and_written_where_its_version_has_it(name, told):
    fields, (old, new) = BINARY[name]
    last = [] if name == "from the end" else [{"z": "bytes(uint8)"}]
    with generated(resolved(documents({"r.yaml": spec_of("binary", "", [*fields, *last], told)}))) as made:
        codec = made.module.CODEC
        for version, value in ((1, old), (2, new)):
            parameters = {"ver": version} if told == "parameter" else {}
            inner = {"a": value} | ({"z": b"!"} if last else {})
            given = inner if told == "parameter" else {"ver": version, "body": inner}
            data = made.module.build(given, **parameters)
            assert made.module.parse(data, **parameters) == given
            decoded = codec.decode(pa.array([data]), **parameters)
            parsed = codec.decode_parsed(
                pa.array([data]), engines.Request(codec.default_root, codec.settings(parameters))
            )
            assert decoded.records == parsed.records
            assert codec.encode_path(**parameters).native or name in _BUILT
            assert codec.encode(decoded.records, **parameters).to_pylist() == [data]
        assert codec.engine.rebuilt == 0


@native
@pytest.mark.parametrize("told", ["outer", "arity"])
@pytest.mark.parametrize("encoding", ["msgpack", "json"])
@pytest.mark.parametrize("form", ["array", "object"])
def test_positions_and_members_of_one_name_are_those_of_the_version(encoding, form, told):
    if told == "arity" and form == "object":
        pytest.skip("objects have no arity")
    other = {"member": "other"} if form == "object" else {}
    fields = [{"k": "int"}, {"a": {"type": "int", "since": "new"}}, {"a": {"type": "str", "until": "old", **other}}]
    fields += [{"b": "int"}, {"c": {"type": "int", "since": "new"}}]
    with generated(resolved(documents({"r.yaml": spec_of(encoding, form, fields, told)}))) as made:
        codec = made.module.CODEC
        rows = [(1, {"k": 1, "a": "x", "b": 2, "c": None}), (2, {"k": 1, "a": 3, "b": 2, "c": 4})]
        values = [{"ver": version, "body": inner} for version, inner in rows]
        records = [made.module.build(value) for value in values]
        decoded = codec.decode(pa.array(records, pa.binary()))
        assert [made.module.parse(each) for each in records] == values
        assert codec.encode(decoded.records).to_pylist() == records
        assert codec.encode_path() == engines.Path(native=True)
        assert codec.engine.rebuilt == (told == "arity")  # rows of the older version (decision 17)


SEEN = {  # what an expression has of it in the old version and in the new one, whichever stands first
    "a field": ({"type": "uint8"}, {"type": "int64", "compute": "z + 1"}),
    "a hidden one": ({"type": "uint8", "const": 9, "hidden": True}, {"type": "uint8"}),
    "one of another name": ({"type": "uint8", "as": "other"}, {"type": "uint8"}),
}


@native
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("name", SEEN)
def test_expressions_have_the_value_of_the_one_that_is_there(name, turned):
    old, new = SEEN[name]
    fields = [{"z": "uint8"}, {"a": {**old, "until": "old"}}, {"a": {**new, "since": "new"}}]
    fields = [fields[0], *reversed(fields[1:])] if turned else fields
    spec = spec_of("binary", "", [*fields, {"within": {"type": "int64", "compute": "a + 1"}}], "outer")
    spec["types"]["Outer"]["fields"].append({"around": {"type": "int64", "compute": "body.a + 1"}})
    with generated(resolved(documents({"r.yaml": spec}))) as made:
        codec = made.module.CODEC
        records = [b"\x01\x02\x09", b"\x02\x02" if "compute" in new else b"\x02\x02\x03"]
        values = [made.module.parse(record) for record in records]
        assert [(value["body"]["within"], value["around"]) for value in values] == [(10, 10), (4, 4)]
        decoded = codec.decode(pa.array(records, pa.binary())).records.to_pylist()
        assert [(row["body"]["within"], row["around"]) for row in decoded] == [(10, 10), (4, 4)]


@pytest.mark.parametrize("encoding", ["msgpack", "json"])
@pytest.mark.parametrize(
    "type", ["bool | str", {"select": "k", "cases": {1: "str", 2: "int"}}], ids=["union", "select"]
)
def test_a_value_without_a_later_choice_is_of_the_older_version(type, encoding):
    fields = [{"k": "int"}, {"b": "int"}, {"c": "int"}, {"a": {"type": type, "since": "new"}}]
    with generated(resolved(documents({"r.yaml": spec_of(encoding, "array", fields, "arity")}))) as made:
        for version, last in ((1, None), (2, "x")):
            given = {"ver": version, "body": {"k": 1, "b": 2, "c": 3, "a": last}}
            assert made.module.parse(made.module.build(given)) == given

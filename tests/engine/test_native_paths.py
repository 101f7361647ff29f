"""The path of a request, engine or parser, is reported beforehand, and counted afterwards."""

import ast
import hashlib
import importlib
import math
import struct

import msgpack
import pyarrow as pa
import pytest

from codec.test_small_records import record
from conftest import ROOT, case_formats
from proof.modules import documents, generated, resolved
from wireloom.runtime import engine as engines
from wireloom.runtime.columns.arrow import to_struct_array
from wireloom.runtime.columns.projection import project
from wireloom.runtime.engine.compiler import Compiler
from wireloom.runtime.engine.compiler.msgpack import MessagePack
from wireloom.runtime.engine.nodes import loaded
from wireloom.runtime.engine.programs.assembly import Uncovered
from wireloom.runtime.errors import DecodeError, EncodeError, ParameterError
from wireloom_formats.aerospike_json import CODEC as JSON
from wireloom_formats.aerospike_msgpack import CODEC as PACKED
from wireloom_formats.databus_event import CODEC as BINARY
from wireloom_formats.databus_json import CODEC as LINES
from wireloom_formats.kpl_record import CODEC as KPL

FORMATS = {format.name: format for format in case_formats()}
native = pytest.mark.skipif(not engines.available(), reason="the native engine is not built")


@native
@pytest.mark.parametrize("codec", [PACKED, BINARY, KPL], ids=lambda codec: codec.format)
def test_the_shipped_formats_run_on_the_engine(codec):
    assert codec.decode_path() == codec.encode_path() == engines.Path(native=True)
    assert str(codec.decode_path()) == "native engine"


@native
def test_a_record_that_hash_keys_discard_is_read_by_the_engine():
    parameters = {"shard_range": (0, 1 << 127)}
    assert KPL.decode_path(**parameters).native
    assert KPL.encode_path(**parameters).native
    body = bytes.fromhex("0a0161 1a0708001a036f6e65 1a0708001a0374776f")
    record = bytes.fromhex("f3899ac2") + body + hashlib.md5(body, usedforsecurity=False).digest()
    wanted, other = (KPL.decode(pa.array([record]), shard_range=keys) for keys in ((0, (1 << 128) - 1), (0, 5)))
    assert (wanted.reread, other.reread) == (0, 0)
    assert [len(each.records[0]["records"]) for each in (wanted, other)] == [2, 0]
    assert other.records[0]["discarded"].as_py() == 2


@native
@pytest.mark.parametrize("codec", [JSON, LINES], ids=lambda codec: codec.format)
def test_json_is_read_and_written_by_the_engine(codec):
    for root in codec.roots:
        assert codec.decode_path(root=root).native
    assert codec.encode_path().native


@native
def test_texts_that_the_engine_gives_up_on_are_counted():
    found = JSON.decode(pa.array([b"{}", None, b"{}"], pa.binary()))
    assert (found.reread, found.reason) == (2, "")


def test_lists_of_records_have_no_columns_to_be_encoded_from():
    assert "list" in PACKED.encode_path(root="batch_records").reason


def test_a_path_is_asked_for_by_names_that_the_format_has():
    with pytest.raises(ParameterError, match="did you mean 'record'"):
        PACKED.decode_path(root="recrod")
    with pytest.raises(ParameterError, match="binz"):
        PACKED.decode_path(["binz"])


def test_a_limit_is_no_negative_number_on_any_path():
    record = pa.array([b"{}"], pa.binary())
    for limit in ("max_size", "max_depth"):
        for read in (lambda given: JSON.parse(b"{}", **given), lambda given: JSON.decode(record, **given)):
            with pytest.raises(ParameterError, match=f"{limit} must be an integer of 64 bits, at least 0, not '?-1"):
                read({limit: -1})
    assert JSON.decode(record, max_size=0).errors.to_pylist()[0]["code"] == "size_limit"


@native
def test_where_the_engine_gives_up_each_record_the_columns_say_so(tmp_path):
    compute = {"compute": "(ticks * 1000000) >> 30", "type": "int64"}
    with record(tmp_path, {"ticks": "uint64"}, {"moment": compute}) as format:
        small, large = (count.to_bytes(8, "big") for count in (1 << 30, 1 << 60))
        found = format.decode(pa.array([large, large], pa.binary()))
        assert (found.reread, "beyond 64 bits" in found.reason) == (2, True)
        assert format.decode(pa.array([large, small], pa.binary())).reason == ""


@native
def test_records_that_the_engine_gives_up_on_are_counted():
    good = BINARY.decode(pa.array([None], pa.binary()))
    assert (good.reread, good.reason) == (0, "")
    bad = BINARY.decode(pa.array([b"\xff", None, b"\xfe"], pa.binary()))
    assert (bad.reread, bad.reason, bad.errors.null_count) == (2, "", 1)
    streamed = list(BINARY.decode_stream(b"\xff"))
    assert [(part.reread, part.reason) for part in streamed] == [(1, "")]


@native
@pytest.mark.parametrize("name", ["known_facts", "known_facts_packed", "known_facts_message", "expressions"])
def test_what_is_known_of_fields_is_known_to_the_engine(name, case_package):
    codec = importlib.import_module(f"{case_package.__name__}.{name}").CODEC
    assert codec.decode_path() == engines.Path(native=True)


@native
@pytest.mark.parametrize("name", ["list_sums", "list_sums_packed", "list_sums_message", "list_sums_text"])
def test_sums_are_the_engines_in_every_encoding(name, case_package):
    codec = importlib.import_module(f"{case_package.__name__}.{name}").CODEC
    assert codec.decode_path() == codec.encode_path() == engines.Path(native=True)


@native
@pytest.mark.parametrize("name", ["logged_frame", "path_attributes", "undefined_lengths", "wrapped_notes"])
def test_what_follows_from_the_layout_and_decides_it_is_written_by_the_engine(name, case_package):
    assert_encoded_natively(name, case_package)


@native
def test_words_of_members_are_known_to_the_engine_as_it_writes(case_package):
    assert_encoded_natively("words_of_members", case_package)


@native
def test_alternatives_of_a_part_of_a_record_are_written_by_the_engine(case_package):
    assert_encoded_natively("tried_beside", case_package)


PARTS = {
    "in front": ["SUM", {"mark": "begin"}, {"body": "bytes(3)"}, {"mark": "end"}],
    "behind": [{"mark": "begin"}, {"body": "bytes(3)"}, {"mark": "end"}, "SUM"],
    "among what it covers": [{"mark": "begin"}, "SUM", {"body": "bytes(3)"}, {"mark": "end"}],
}
SUMS = {"md5": "bytes(16)", "crc": "uint32"}
CRC = {"width": 32, "poly": 0x04C11DB7, "reflected": True, "init": 0xFFFFFFFF, "xorout": 0xFFFFFFFF}


@native
@pytest.mark.parametrize("hidden", [True, False], ids=["hidden", "shown"])
@pytest.mark.parametrize("sum", SUMS)
@pytest.mark.parametrize("parts", PARTS)
def test_a_checksum_that_some_records_lack_is_the_engines_in_all_of_them(parts, sum, hidden):
    summed = {"type": SUMS[sum], "checksum": sum, "over": "begin .. end", "when": "summed", "hidden": hidden}
    fields = [{"sum": summed} if part == "SUM" else part for part in PARTS[parts]]
    types = {
        "Part": {"fields": [{"summed": "bool"}, *fields, {"verify": {"field": "sum"}}]},
        "R": {"fields": [{"first": "Part"}, {"others": "list(Part)"}]},
    }
    spec = {"wireloom": 1, "format": "r", "title": "r", "encoding": "binary", "root": "R"}
    if sum == "crc":
        spec["checksums"] = {"crc": {**CRC, "check": 0xCBF43926}}
    values = [
        {"first": part(first), "others": [part(other) for other in others]}
        for first in (True, False)
        for others in ((), (True,), (False,), (True, False, True, False), (False, True))
        for part in [lambda said: {"summed": said, "body": b"abc"}]
    ]
    with generated(resolved(documents({"r.yaml": {**spec, "types": types}}))) as made:
        codec = made.module.CODEC
        records = pa.array([made.module.build(value) for value in values], pa.binary())
        decoded = codec.decode(records)
        assert (decoded.reread, decoded.errors.null_count) == (0, len(values))
        assert codec.encode(decoded.records).equals(records)
        assert codec.engine.rebuilt == 0
        damaged = pa.array([record[:-1] + bytes([record[-1] ^ 1]) for record in records.to_pylist()], pa.binary())
        for record, error in zip(damaged.to_pylist(), codec.decode(damaged).errors.to_pylist(), strict=True):
            try:
                made.module.parse(record)
            except DecodeError as refused:
                assert (error["code"], error["path"]) == (refused.code, refused.path)
            else:
                assert error is None


@native
@pytest.mark.parametrize("hidden", [True, False], ids=["hidden", "shown"])
@pytest.mark.parametrize("parts", PARTS)
def test_an_md5_of_a_whole_record_is_written_by_the_engine_whether_it_covers_itself_or_not(parts, hidden):
    summed = {"type": "bytes(16)", "checksum": "md5", "over": "begin .. end", "hidden": hidden}
    fields = [{"sum": summed} if part == "SUM" else part for part in PARTS[parts]]
    types = {"R": {"fields": [*fields, {"verify": {"field": "sum"}}]}}
    spec = {"wireloom": 1, "format": "r", "title": "r", "encoding": "binary", "root": "R", "types": types}
    with generated(resolved(documents({"r.yaml": spec}))) as made:
        codec = made.module.CODEC
        records = pa.array([made.module.build({"body": bytes([number] * 3)}) for number in range(9)], pa.binary())
        assert codec.encode(codec.decode(records).records).equals(records)
        assert codec.engine.rebuilt == 0


@native
def test_a_row_that_the_engine_leaves_in_one_byte_order_is_not_written_in_the_other():
    types = {
        "R": {
            "fields": [
                {"magic": {"type": "uint16", "const": 1, "else": "bad_magic", "hidden": True}},
                {"number": "uint16"},
                {"check": {"that": "order == 'little' or number << 60 != 3 << 70", "else": "bad_number"}},
            ]
        }
    }
    spec = {
        "wireloom": 1,
        "format": "r",
        "title": "r",
        "encoding": "binary",
        "byteOrder": {"parameter": "order", "wrongWhen": ["bad_magic"]},
        "parameters": {"order": {"oneOf": ["big", "little", "auto"], "default": "auto"}},
        "errors": {"bad_magic": "Of another format.", "bad_number": "Of no use here."},
        "root": "R",
        "types": types,
    }
    with generated(resolved(documents({"r.yaml": spec}))) as made:
        rows = [{"number": number} for number in (0, 1, 200)]  # of the last the engine has no number
        records = to_struct_array(rows, made.module.CODEC.root(None).logical)
        assert made.module.encode(records).to_pylist() == [made.module.build(row) for row in rows]
        assert made.module.CODEC.encode_path() == engines.Path(native=True)


BEHIND_WORDS = {  # the first case, and what another has by the name of its word
    "bits": (
        [
            {
                "whole": {
                    "type": "uint8",
                    "bits": {"first": 0, "word": {"at": "1..3", "values": {0: "a", 1: "b"}}, "more": "4..6", "last": 7},
                }
            }
        ],
        "uint8",
    ),
    "fields that share a byte": (
        [
            {"first": "bit"},
            {"word": {"type": "uint3", "values": {0: "a", 1: "b"}}},
            {"more": "uint3"},
            {"last": "bit"},
        ],
        "uint8",
    ),
    "beside a truth": ([{"word": {"type": "uint4", "values": {0: "a", 1: "b"}}}, {"more": "uint4"}], "bool"),
    "two words": (
        [
            {"word": {"type": "uint2", "values": {0: "a", 1: "b"}}},
            {"other": {"type": "uint3", "values": {5: "c", 6: "d"}}},
            {"more": "uint3"},
        ],
        "uint8",
    ),
    "of more bytes than a register": (
        [
            {"word": {"type": "uint4", "values": {0: "a", 1: "b"}}},
            {"more": "uint60"},
            {"least": {"type": "uint4", "values": {7: "c"}}},
            {"last": "uint4"},
        ],
        "uint8",
    ),
}


@native
@pytest.mark.parametrize("chosen", ["select", "attempt"])
@pytest.mark.parametrize("name", BEHIND_WORDS)
def test_bits_behind_a_word_are_read_where_it_is_one_of_several_kinds(name, chosen):
    fields, other = BEHIND_WORDS[name]
    chosen = {
        "select": {"select": {"peek": "uint8"}, "cases": {0: "Second"}, "otherwise": "First"},
        "attempt": {"attempt": [{"name": "first", "type": "First", "fallback": [{"codes": ["unknown_value"]}]}]},
    }[chosen]
    if "attempt" in chosen:
        chosen["attempt"].append({"name": "second", "type": "Second"})
    types = {
        "R": {"fields": [{"parts": {"type": "list(Part)", "count": "uint8"}}]},
        "Part": chosen,
        "First": {"fields": fields},
        "Second": {"fields": [{"lead": "uint8"}, {"word": other}, {"other": "uint8"}]},
    }
    spec = {"wireloom": 1, "format": "r", "title": "r", "encoding": "binary", "root": "R", "types": types}
    with generated(resolved(documents({"r.yaml": spec}))) as made:
        codec = made.module.CODEC
        size = 9 if "register" in name else 1
        records = [b"\1" + bytes([first]) + bytes(range(33, 32 + size)) for first in range(256)]
        records += [record[:-1] + bytes([0x70 | record[-1] & 15]) for record in records]
        records += [b"\1" + bytes([first, 1, 2]) for first in range(256)]
        decoded = codec.decode(pa.array(records, pa.binary()), open_values="json")
        read = 0
        for record, row, error in zip(records, decoded.records, decoded.errors.to_pylist(), strict=True):
            try:
                value = codec.parse(record)
            except DecodeError as refused:
                assert (error["code"], error["path"], error["offset"]) == (refused.code, refused.path, refused.offset)
            else:
                read += 1
                assert error is None
                ours, theirs = ({**each["parts"][0]} for each in (row.as_py(), value))
                for key, each in theirs.items():
                    assert each == (ours[key] if not isinstance(ours[key], dict) else _one(ours[key])), record
        assert read > 8


def _one(alternatives):
    """The alternative that is present; None if there is none."""
    return next((each for each in alternatives.values() if each is not None), None)


NAMED = {0: "a", 1: "b", 2: None, 3: "c"}
WITHIN = {  # a struct of bits, or of numbers, and what expressions call those of its members
    "beside": ("", lambda bits: bits),
    "in a struct": ("part.", lambda bits: {"part": bits}),
    "in a struct that may lack": ("part.", lambda bits: {"part": bits}),
    "melting in": ("", lambda bits: bits),
    "melting in where that may lack": ("", lambda bits: bits),
    "two structs deep": ("outer.part.", lambda bits: {"outer": {"part": bits}}),
}
BITS = {
    "that share bytes": [{"low": {"type": "int2", "null": -1}}, {"high": "uint6"}],
    "of a hidden integer": [
        {"whole": {"type": "uint8", "bits": {"low": {"at": "0..1", "values": NAMED}, "high": "2..7"}, "hidden": True}}
    ],
    "of an integer": [{"whole": {"type": "uint8", "bits": {"low": {"at": "0..1", "values": NAMED}, "high": "2..7"}}}],
    "derived": [{"whole": {"type": "uint8", "bits": {"low": {"at": "0..1", "derive": "1"}, "high": "2..7"}}}],
    "none": [{"low": {"type": "int8", "null": -1}}, {"high": "uint8"}],
}


@native
@pytest.mark.parametrize("kind", BITS)
@pytest.mark.parametrize("within", WITHIN)
def test_what_is_written_for_bits_that_a_row_leaves_out_is_known_to_expressions(within, kind):
    prefix, enclosed = WITHIN[within]
    part = {"type": "Part", "when": "some"} if "may lack" in within else {"type": "Part"}
    fields = {
        "beside": BITS[kind],
        "two structs deep": [{"outer": "Outer"}],
    }.get(within, [{"part": {**part, "flatten": True} if "melting" in within else part}])
    types = {
        "R": {
            "fields": [
                *fields,
                {"there": {"type": "bool", "derive": f"present({prefix}low)"}},
                {"sum": {"type": "int64", "derive": f"present({prefix}high) ? {prefix}high + 1 : 70"}},
            ]
        },
        **({} if within == "beside" else {"Part": {"fields": BITS[kind]}}),
        **({"Outer": {"fields": [{"part": "Part"}]}} if within == "two structs deep" else {}),
    }
    spec = {"wireloom": 1, "format": "r", "title": "r", "encoding": "binary", "root": "R", "types": types}
    if "may lack" in within:
        spec["parameters"] = {"some": {"type": "bool", "default": True}}
    low = ["a", "c", None] if "of a" in kind else [1, None]
    with generated(resolved(documents({"r.yaml": spec}))) as made:
        codec = made.module.CODEC
        type = codec.decode(pa.array([], pa.binary())).records.type
        rows = [enclosed({"low": each, "high": other}) for each in low for other in (3, None)]
        for row in rows:
            try:
                built = codec.build(row)
            except EncodeError:
                with pytest.raises(EncodeError):
                    codec.encode(pa.array([row], type))
            else:
                assert codec.encode(pa.array([row], type)).to_pylist() == [built]
        given = [enclosed({"low": each, "high": 3}) for each in low if each is not None]
        before = codec.engine.rebuilt
        codec.encode(pa.array(given, type))
        assert codec.engine.rebuilt == before or kind == "derived"


LONGER = {  # the fields of an alternative, and their types, that some records are not of, or have not enough bytes for
    "an integer": ([{"a": "uint8"}, {"more": "uint32"}], {}),
    "fields of a run": ([{"a": "uint8"}, {"b": "uint16"}, {"c": "float64"}, {"d": "uint8"}], {}),
    "bytes": ([{"a": "bytes(4)"}], {}),
    "what a length says": ([{"n": "uint8"}, {"a": "bytes(n)"}], {}),
    "what a count says": ([{"n": "uint8"}, {"a": {"type": "list(uint16)", "count": "n"}}], {}),
    "a varint": ([{"a": "varint32"}, {"b": "uint16"}], {}),
    "bits": ([{"a": "uint4"}, {"b": "uint12"}, {"c": "uint8"}], {}),
    "a struct": ([{"a": "uint8"}, {"b": "Inner"}], {"Inner": {"fields": [{"x": "uint8"}, {"y": "uint16"}]}}),
    "within a region": (
        [{"n": "uint8"}, {"b": {"type": "Inner", "size": "n", "else": "truncated"}}],
        {"Inner": {"fields": [{"x": "uint8"}, {"y": "uint16"}, {"rest": "bytes"}]}},
    ),
    "a boolean": ([{"flag": "bool"}, {"more": "uint16"}], {}),
    "behind a constant": ([{"a": {"type": "uint8", "const": 1, "else": "bad_constant"}}, {"b": "uint24"}], {}),
}
UNTOLD = {"what a count says"}  # where the engine does not say what is wrong


@native
@pytest.mark.parametrize("name", LONGER)
def test_an_alternative_that_a_record_is_not_of_makes_way_on_the_engine(name):
    fields, types = LONGER[name]
    trials = [
        {"name": "long", "type": "Long", "fallback": [{"codes": ["truncated", "unknown_value"]}]},
        {"name": "short", "type": "Short"},
    ]
    types = {
        "R": {"attempt": trials, "kind": "kind", "reason": "reason"},
        "Long": {"fields": fields},
        "Short": {"fields": [{"rest": "bytes"}]},
        **types,
    }
    spec = {"wireloom": 1, "format": "r", "title": "r", "encoding": "binary", "root": "R", "types": types}
    whole = bytes([2, 3, 0x83, 0x84, *range(40)])
    with generated(resolved(documents({"r.yaml": spec}))) as made:
        codec, told = made.module.CODEC, set()
        for record in (whole[start:end] for start in (0, 1, 2, 4, 6) for end in range(start, start + 14)):
            decoded = codec.decode(pa.array([record], pa.binary()))
            try:
                value = made.module.parse(record)
            except DecodeError as error:
                assert decoded.errors[0].as_py()["code"] == error.code
                continue
            assert decoded.records.equals(to_struct_array([value], codec.root(None).logical))
            assert decoded.reread == 0 or name in UNTOLD, record
            told.add(value["kind"])
        assert told == {"long", "short"} or name == "behind a constant"


NEWER = {  # the type of what an old version lacks, and a value of it
    "int": ({"type": "int32"}, 7),
    "float": ({"type": "float"}, 0.5),
    "bool": ({"type": "bool"}, False),
    "text": ({"type": "str"}, ""),
    "bytes": ({"type": "bytes"}, b"ab"),
    "list": ({"type": "list(int)"}, []),
    "map": ({"type": "map(str, int)"}, {"a": 1}),
    "struct": ({"type": "Part"}, {"x": 1}),
    "word": ({"type": "uint8", "values": {0: "off", 1: "on"}}, "on"),
    "choice": ({"type": {"select": "a > 0", "cases": {True: "Part"}}}, {"x": 1}),
}


@native
@pytest.mark.parametrize("carried", ["json", "msgpack"])
@pytest.mark.parametrize("kind", NEWER)
def test_rows_of_every_version_that_an_arity_tells_are_written_as_built(kind, carried):
    """Those of older versions are the builders'."""
    type, value = NEWER[kind]
    fields = [
        {"a": "int"},
        {"b": {"type": "str", "until": "first"}},
        {"c": {"type": "int?", "until": "first"}},
        {"new": {**type, "since": "second"}},
        {"last": {"type": "str", "since": "third"}},
        {"more": {"type": "int?", "since": "third"}},
    ]
    versions = {"first": {"arity": 3}, "second": {"arity": 2}, "third": {"arity": 4}}
    types = {
        "R": {"fields": [{"one": "Versioned"}, {"several": "list(Versioned)"}]},
        "Versioned": {"form": "array", "versions": versions, "fields": fields},
        "Part": {"fields": [{"x": "int"}]},
    }
    if kind not in ("struct", "choice"):
        del types["Part"]
    spec = {"wireloom": 1, "format": "r", "title": "r", "encoding": carried, "root": "R", "types": types}
    parts = [
        {"a": 1, "b": "x"},
        {"a": 1, "b": "x", "c": 2},
        {"a": 1, "new": value},
        {"a": 1, "new": value, "last": ""},
        {"a": 1, "new": value, "last": "x", "more": 3},
    ]
    values = [{"one": part, "several": [*parts[place:], *parts[:place]]} for place, part in enumerate(parts)]
    with generated(resolved(documents({"r.yaml": spec}))) as made:
        codec = made.module.CODEC
        records = pa.array([made.module.build(value) for value in values], pa.binary())
        assert codec.encode_path() == engines.Path(native=True)
        assert codec.encode(codec.decode(records).records).equals(records)


@native
@pytest.mark.parametrize("molten", ["Part", "Either"])
def test_rows_of_versions_in_which_records_melt_in_are_written_as_built(molten):
    """A value without members of such a record is of the version without it, if that version allows it."""
    trials = [
        {"name": "part", "type": "Part", "fallback": [{"codes": ["type_mismatch"]}]},
        {"name": "other", "type": "Other"},
    ]
    types = {
        "R": {
            "form": "array",
            "versions": {"old": {"arity": 3}, "middle": {"arity": 1}, "new": {"arity": 2}},
            "fields": [
                {"a": "int"},
                {"before": {"type": "Before", "flatten": True, "until": "old"}},
                {"last": {"type": "int", "until": "old"}},
                {"new": {"type": molten, "flatten": True, "since": "new"}},
            ],
        },
        "Before": {"form": "object", "fields": [{"z": {"type": "int", "optional": True}}]},
        "Part": {"form": "object", "fields": [{name: {"type": "int", "optional": True}} for name in "xy"]},
    }
    if molten == "Either":
        types |= {"Either": {"attempt": trials, "kind": "kind"}, "Other": {"fields": [{"w": "int"}]}}
    spec = {"wireloom": 1, "format": "r", "title": "r", "encoding": "msgpack", "root": "R", "types": types}
    said = {"kind": "part"} if molten == "Either" else {}
    values = [{"a": 1}, {"a": 1, "x": 2} | said, {"a": 1, "y": 2, "x": 3} | said, {"a": 1, "z": 3, "last": 4}]
    with generated(resolved(documents({"r.yaml": spec}))) as made:
        codec = made.module.CODEC
        rows = to_struct_array(values, codec.root(None).logical)
        assert "`flatten` and `since`" in codec.encode_path().reason
        written = codec.encode(rows).to_pylist()
        assert written == [made.module.build(value) for value in values]
        assert [len(msgpack.unpackb(each)) for each in written] == [1, 2, 2, 3]
        for value, record in zip(values, written, strict=True):
            assert made.module.parse(record).items() >= value.items()
            assert made.module.build(made.module.parse(record)) == record


SAID_AGAIN = {  # what a text or bytes are computed of, beside an `a` and a `b`
    "a text": ({"a": "str"}, {"compute": "a", "type": "str"}),
    "bytes": ({"a": "bytes"}, {"compute": "a", "type": "bytes"}),
    "one of two texts": ({"a": "str"}, {"compute": "a == 'u' ? a : b", "type": "str"}),
    "one of two words": ({"a": "str"}, {"compute": "a == 'u' ? 'x' : 'y'", "type": "str"}),
    "a part": ({"a": "str"}, {"compute": "slice(a, 0, 1)", "type": "str"}),
    "a name": ({"a": {"type": "str", "values": {"u": "x", "v": "y"}}}, {"compute": "a", "type": "str"}),
    "a number beside the text that says it": ({"c": {"type": "str", "logical": "uint8", "raw": "a"}}, None),
    "a date beside the text that says it": ({"c": {"type": "str", "logical": "date", "raw": "a"}}, None),
}


@native
@pytest.mark.parametrize("name", SAID_AGAIN)
def test_a_text_that_is_computed_in_a_case_is_written_by_the_engine(name):
    field, computed = SAID_AGAIN[name]
    fields = [{"kind": {"type": "str", "const": "one"}}, field, {"b": "str"}]
    fields += [] if computed is None else [{"c": computed}]
    types = {
        "R": {"select": {"member": "kind"}, "cases": {"one": "One", "two": "Two"}},
        "One": {"fields": fields},
        "Two": {"fields": [{"kind": {"type": "str", "const": "two"}}, {"n": "int"}]},
    }
    spec = {"wireloom": 1, "format": "r", "title": "r", "encoding": "json", "root": "R", "types": types}
    said = {"bytes": "dQ==", "a number beside the text that says it": "7"}
    said["a date beside the text that says it"] = "2026-11-26"
    member = next(iter(field))
    records = [f'{{"kind":"one","{member}":"{said.get(name, "u")}","b":"{b}"}}'.encode() for b in ("u", "other")]
    with generated(resolved(documents({"r.yaml": spec}))) as made:
        codec = made.module.CODEC
        assert codec.encode_path() == engines.Path(native=True)
        assert codec.encode(codec.decode(pa.array(records, pa.binary())).records).to_pylist() == records
        assert codec.engine.rebuilt == 0


@native
def test_a_row_that_says_no_tag_is_of_the_case_whose_tag_is_constant():
    """One of two cases has a constant tag, and the other takes it from the value."""
    types = {
        "R": {"select": {"member": "kind"}, "cases": {"a": "Named", "b": "Constant"}},
        "Named": {"fields": [{"kind": "str"}, {"x": {"type": "int", "optional": True}}]},
        "Constant": {
            "fields": [
                {"tag": {"type": "str", "member": "kind", "const": "b", "hidden": True}},
                {"y": {"type": "int", "optional": True}},
            ]
        },
    }
    spec = {"wireloom": 1, "format": "r", "title": "r", "encoding": "json", "root": "R", "types": types}
    records = [b'{"kind":"b"}', b'{"kind":"a"}', b'{"kind":"b","y":1}', b'{"kind":"a","x":1}']
    with generated(resolved(documents({"r.yaml": spec}))) as made:
        codec = made.module.CODEC
        rows = codec.decode(pa.array(records, pa.binary())).records
        assert codec.encode(rows).to_pylist() == records
        without = pa.array([{"y": 1}, {}], pa.struct([("y", pa.int64())]))
        assert codec.encode(without).to_pylist() == [b'{"kind":"b","y":1}', b'{"kind":"b"}']
        assert codec.engine.rebuilt == 0


@native
@pytest.mark.parametrize(
    "tag", [{"type": "str?"}, {"type": "str?", "optional": True}, {"type": "str", "optional": True}]
)
def test_a_row_without_a_tag_is_of_the_case_that_readers_come_to(tag):
    """A required null member is written, and selects no case; if it is omitted, the default case applies."""
    types = {
        "R": {"select": {"member": "kind", "default": "b"}, "cases": {"a": "Constant", "b": "Named"}},
        "Constant": {"fields": [{"tag": {"type": "str", "member": "kind", "const": "a", "hidden": True}}]},
        "Named": {"fields": [{"kind": tag}]},
    }
    spec = {"wireloom": 1, "format": "r", "title": "r", "encoding": "json", "root": "R", "types": types}
    with generated(resolved(documents({"r.yaml": spec}))) as made:
        codec = made.module.CODEC
        rows = pa.array([{"kind": None}, {"kind": "b"}], pa.struct([("kind", pa.string())]))
        assert codec.encode(rows).to_pylist() == [codec.build(row) for row in rows.to_pylist()]
        assert codec.engine.rebuilt == 0


_SUM = {"type": "uint8", "checksum": "sum", "over": "0 .. end", "hidden": True}
LEFT_OUT = {
    "a count": ([{"n": {"type": "uint8", "derive": "count(row) + 1", "hidden": True}}], "n - 1"),
    "a count that readers see": ([{"n": {"type": "uint8", "derive": "count(row) + 1"}}], "n - 1"),
    "a checksum": ([{"mark": "end"}, {"n": _SUM}, {"verify": {"field": "n"}}], "uint8"),
}


@native
@pytest.mark.parametrize("name", LEFT_OUT)
def test_a_case_that_shows_what_is_computed_of_what_rows_leave_out_is_told_by_it(name):
    """Rows that state otherwise belong to the case that accepts them, which the builders decide."""
    told, count = LEFT_OUT[name]
    first = [{"tag": {"type": "uint8", "const": 1, "hidden": True}}, *told]
    first += [{"row": {"type": "list(uint8)", "count": count}}, {"is_long": {"type": "bool", "compute": "n > 4"}}]
    second = [{name: {"type": "uint8", "const": 2}} for name in ("tag", "again", "at_last")]
    second += [{"is_long": "bool"}, {"row": {"type": "list(uint8)", "count": "uint8"}}]
    types = {
        "R": {"select": {"peek": "uint8"}, "cases": {1: "First", 2: "Second"}},
        "First": {"fields": first},
        "Second": {"fields": second},
    }
    spec = {"wireloom": 1, "format": "r", "title": "r", "encoding": "binary", "root": "R", "types": types}
    spec["checksums"] = {"sum": {"width": 8, "poly": 7, "check": 0xF4}}
    with generated(resolved(documents({"r.yaml": spec}))) as made:
        codec = made.module.CODEC
        type = codec.decode(pa.array([], pa.binary())).records.type
        values = [{"row": [*range(length)], "is_long": fact} for length in range(7) for fact in (True, False)]
        built = [codec.build(value) for value in values]
        assert {record[0] for record in built} == ({1} if name == "a checksum" else {1, 2})
        assert codec.encode(pa.array(values, type)).to_pylist() == built
        assert codec.engine.rebuilt == 7


AT_LAST = {
    "a number": {"type": "uint16"},
    "bytes": {"type": "bytes(2)"},
    "nothing": {"type": "bytes(0)"},
    "a list": {"type": "list(uint8)", "count": 2},
    "a struct": {"type": "Pair"},
}


@native
@pytest.mark.parametrize("name", AT_LAST)
def test_the_last_field_may_go_back_to_what_has_been_written(name):
    """It is written if the bytes there are equal, as builders find when they read back their output."""
    part = [{"place": "uint8"}, {"data": "bytes(4)"}, {"last": {**AT_LAST[name], "at": "place"}}]
    types = {
        "R": {"fields": [{"parts": {"type": "list(Part)", "count": "uint8"}}, {"behind": "uint8"}]},
        "Part": {"fields": part},
    }
    if name == "a struct":
        types["Pair"] = {"fields": [{"x": "uint8"}, {"y": "uint8"}]}
    spec = {"wireloom": 1, "format": "r", "title": "r", "encoding": "binary", "root": "R", "types": types}
    with generated(resolved(documents({"r.yaml": spec}))) as made:
        codec = made.module.CODEC
        parts = [bytes([place, 1, 2, 0, 1]) for place in range(5 if name == "nothing" else 4)]
        records = [b"\2" + one + other + b"\7" for one in parts for other in parts]
        decoded = codec.decode(pa.array(records, pa.binary()))
        assert decoded.errors.null_count == len(records)
        assert codec.encode(decoded.records).to_pylist() == records
        assert decoded.reread == 0
        other = decoded.records.to_pylist()[0]
        other["parts"][0]["data"] = b"\5\6\7\x08"
        if name != "nothing":
            with pytest.raises(EncodeError):
                codec.build(other)
            with pytest.raises(EncodeError):
                codec.encode(pa.array([other], decoded.records.type))


@native
@pytest.mark.parametrize("encoding", ["binary", "msgpack", "json", "protobuf"])
@pytest.mark.parametrize("type", ["uint64", "list(Word)"])
def test_words_of_numbers_beyond_int64_are_written_by_the_engine(encoding, type):
    """Registers cannot hold such numbers; the wire value of a word is a constant."""
    words = {2**64 - 1: "most", 2**63: "more", 1: "one"}
    tag = {"tag": 1} if encoding == "protobuf" else {}
    number = {"type": "uint64", "values": words, **tag}
    field = number if type == "uint64" else {"type": type, **tag}
    types = {"R": {"fields": [{"number": field}]}}
    if type != "uint64":
        types["Word"] = {"fields": [{"word": number}]}
    spec = {"wireloom": 1, "format": "r", "title": "r", "encoding": encoding, "root": "R", "types": types}
    with generated(resolved(documents({"r.yaml": spec}))) as made:
        codec = made.module.CODEC
        values = [{"number": word if type == "uint64" else [{"word": word}] * 2} for word in words.values()]
        records = [codec.build(value) for value in values]
        decoded = codec.decode(pa.array(records, pa.binary()))
        assert decoded.records.to_pylist() == values
        assert codec.encode(decoded.records).to_pylist() == records
        assert (codec.engine.rebuilt, decoded.reread) == (0, 0)


@native
@pytest.mark.parametrize("elsewhere", [{"at": "place", "from": "start"}, {"at": "place"}], ids=["mark", "struct"])
def test_bytes_that_reach_into_a_digest_are_refused(elsewhere):
    """The digest is already written there; computed later, it would overwrite bytes that were read back."""
    fields = [
        {"mark": "start"},
        {"place": "uint8"},
        {"text": "bytes(2)"},
        {"mark": "ends"},
        {"sum": {"type": "bytes(16)", "checksum": "md5", "over": "1 .. ends", "hidden": True}},
        {"verify": {"field": "sum"}},
        {"far": {"type": "bytes(4)", **elsewhere}},
    ]
    spec = {"wireloom": 1, "format": "r", "title": "r", "encoding": "binary", "root": "R"}
    spec["types"] = {"R": {"fields": fields}}
    with generated(resolved(documents({"r.yaml": spec}))) as made:
        codec = made.module.CODEC
        value = {"place": 19, "text": b"ab", "far": b"wxyz"}
        type = codec.decode(pa.array([], pa.binary())).records.type
        if "from" not in elsewhere:
            assert codec.encode(pa.array([value], type)).to_pylist() == [codec.build(value)]
        with pytest.raises(EncodeError):
            codec.build(value | {"place": 9})
        with pytest.raises(EncodeError):
            codec.encode(pa.array([value | {"place": 9}], type))


COMING_BACK = {
    "a default": {"type": "int", "optional": True, "default": 1},
    "a word as a default": {"type": "int", "optional": True, "default": 2, "values": {2: 1, 3: 5}},
    "a constant": {"type": "int", "const": 1},
    "what is computed": {"type": "int", "compute": "1"},
}


@native
@pytest.mark.parametrize("encoding", ["json", "msgpack"])
@pytest.mark.parametrize("name", COMING_BACK)
def test_an_entry_that_is_null_is_not_one_that_comes_back_as_something(name, encoding):
    """Members of other structs may be left out where the format determines them; an entry has its value."""
    entry = [{"key": "str"}, {"number": {**COMING_BACK[name], "as": "value"}}]
    types = {"R": {"fields": [{"map": "map(Entry)"}]}, "Entry": {"fields": entry}}
    spec = {"wireloom": 1, "format": "r", "title": "r", "encoding": encoding, "root": "R", "types": types}
    with generated(resolved(documents({"r.yaml": spec}))) as made:
        codec = made.module.CODEC
        type = codec.decode(pa.array([], pa.binary())).records.type
        assert codec.encode(pa.array([{"map": [("a", 1)]}], type)).to_pylist() == [codec.build({"map": {"a": 1}})]
        assert codec.engine.rebuilt == 0
        with pytest.raises(EncodeError, match="null to be read back, found 1"):
            codec.build({"map": {"a": None}})
        with pytest.raises(EncodeError, match="null to be read back, found 1"):
            codec.encode(pa.array([{"map": [("a", None)]}], type))


MADE_UP = {  # what a case says of a member that builders do not need, and what the engine leaves to them
    "derived": {"type": "uint8", "derive": "x + 1"},
    "a constant": {"type": "uint8", "const": 7},
    "computed": {"type": "uint8", "compute": "x + 1"},
    "a default": {"type": "uint8", "optional": True, "default": 7},
}


@native
@pytest.mark.parametrize("chosen", ["a case", "melting in", "elements"])
@pytest.mark.parametrize(
    ("name", "encoding"),
    [
        (name, encoding)
        for name in MADE_UP
        for encoding in ("binary", "msgpack", "json")
        if (name, encoding) != ("a default", "binary")
    ],
)
def test_a_member_that_one_case_makes_up_may_be_left_out_there(name, encoding, chosen):
    """In the other case, a row must give the member of that name."""
    part = {
        "a case": {"type": "Case"},
        "melting in": {"type": "Case", "flatten": True},
        "elements": {"type": "list(Case)", **({"count": 1} if encoding == "binary" else {})},
    }[chosen]
    types = {
        "R": {"fields": [{"k": "uint8"}, {"part": part}]},
        "Case": {"select": "k", "cases": {1: "First"}, "otherwise": "Second"},
        "First": {"fields": [{"x": "uint8"}, {"m": MADE_UP[name]}]},
        "Second": {"fields": [{"x": "uint8"}, {"m": "uint8"}]},
    }
    spec = {"wireloom": 1, "format": "r", "title": "r", "encoding": encoding, "root": "R", "types": types}

    def row(kind, members):
        if chosen == "melting in":
            return {"k": kind, **members}
        return {"k": kind, "part": [members] if chosen == "elements" else members}

    with generated(resolved(documents({"r.yaml": spec}))) as made:
        codec = made.module.CODEC
        type = codec.decode(pa.array([], pa.binary())).records.type
        rows = [row(1, {"x": 6}), row(1, {"x": 6, "m": 7}), row(2, {"x": 6, "m": 7}), row(2, {"x": 1, "m": 9})]
        built = [codec.build(each) for each in rows]
        assert built[0] == built[1]
        assert [codec.encode(pa.array([each], type)).to_pylist() for each in rows] == [[each] for each in built]
        assert codec.encode(pa.array([*rows, *rows], type)).to_pylist() == [*built, *built]
        assert codec.engine.rebuilt <= 3  # those that leave it out, once alone and twice among the others
        for write in (codec.build, lambda each: codec.encode(pa.array([each], type))):
            with pytest.raises(EncodeError, match="m: expected an integer, found null"):
                write(row(2, {"x": 6}))


@native
def test_bits_of_an_entry_are_given():
    """Elsewhere builders write zeros for bits that are left out."""
    types = {
        "R": {"fields": [{"map": {"type": "map(Entry)", "count": "uint8"}}]},
        "Entry": {"fields": [{"key": "uint4"}, {"value": "uint4"}]},
    }
    spec = {"wireloom": 1, "format": "r", "title": "r", "encoding": "binary", "root": "R", "types": types}
    with generated(resolved(documents({"r.yaml": spec}))) as made:
        codec = made.module.CODEC
        type = codec.decode(pa.array([], pa.binary())).records.type
        rows = pa.array([{"map": []}, {"map": [(3, 4), (5, 6)]}], type)
        assert codec.encode(rows).to_pylist() == [codec.build({"map": {}}), codec.build({"map": {3: 4, 5: 6}})]
        assert codec.engine.rebuilt == 0
        with pytest.raises(EncodeError, match="from 0 to 15, found null"):
            codec.build({"map": {3: None}})
        with pytest.raises(EncodeError, match="from 0 to 15, found null"):
            codec.encode(pa.array([{"map": [(3, None)]}], type))


@native
def test_a_case_without_a_member_that_it_needs_is_passed_over():
    """Of two cases that fit a row equally, builders write the one that can be built."""
    first = [
        {"tag": {"type": "uint8", "const": 1, "hidden": True}},
        {"parts": {"type": "list(uint8)", "count": "uint8"}},
    ]
    second = [
        {"tag": {"type": "uint8", "const": 2, "hidden": True}},
        {"n": {"type": "uint8", "when": "false_", "as": "n"}},
    ]
    types = {
        "R": {"select": {"peek": "uint8"}, "cases": {1: "First", 2: "Second"}},
        "First": {"fields": first},
        "Second": {"fields": second},
    }
    spec = {"wireloom": 1, "format": "r", "title": "r", "encoding": "binary", "root": "R", "types": types}
    spec["parameters"] = {"false_": {"type": "bool", "default": False}}
    with generated(resolved(documents({"r.yaml": spec}))) as made:
        codec = made.module.CODEC
        rows = codec.decode(pa.array([b"\2", b"\1\0", b"\1\2ab"], pa.binary())).records
        assert (
            codec.encode(rows).to_pylist()
            == [b"\2", b"\1\0", b"\1\2ab"]
            == [codec.build(row) for row in rows.to_pylist()]
        )
        assert codec.engine.rebuilt == 0


@native
@pytest.mark.parametrize(
    "asking",
    [
        {"shown": {"type": "bytes", "compute": "sum"}},
        {"check": {"that": "slice(sum, 0, 2) != '0000'", "else": "bad_checksum"}},
    ],
)
def test_a_digest_that_expressions_look_at_stands_where_the_record_is_read_back(asking):
    """Digests of several records are made together only where nothing of a record follows from them."""
    fields = [
        {"text": "str(3)"},
        {"lead": "bytes(1)"},
        {"mark": "end"},
        {"sum": {"type": "bytes(16)", "checksum": "md5", "over": "0 .. end", "hidden": True}},
        {"verify": {"field": "sum"}},
        asking,
    ]
    spec = {"wireloom": 1, "format": "r", "title": "r", "encoding": "binary", "root": "R"}
    spec["types"] = {"R": {"fields": fields}}
    with generated(resolved(documents({"r.yaml": spec}))) as made:
        codec = made.module.CODEC
        records = [codec.build({"text": each, "lead": b"\0"}) for each in ("abc", "def", "ghi")]
        decoded = codec.decode(pa.array(records, pa.binary()))
        assert codec.encode(decoded.records).to_pylist() == records
        assert (codec.engine.rebuilt, decoded.reread) == (0, 0)


@native
def test_zero_is_stored_where_what_is_stored_comes_to_null():
    """Builders and parser take it for the checksum, whether it is verified or not; the engine leaves it to them."""
    fields = [
        {"crc": {"type": "uint16", "checksum": "crc", "over": "2 .. 3", "stored": "crc ^ mask"}},
        {"n": "uint8"},
        {"verify": {"field": "crc"}},
    ]
    spec = {"wireloom": 1, "format": "r", "title": "r", "encoding": "binary", "root": "R"}
    spec["types"] = {"R": {"fields": fields}}
    spec["parameters"] = {"mask": {"type": "int", "default": None}}
    spec["checksums"] = {"crc": {"width": 16, "poly": 4129, "init": 65535, "check": 0x29B1}}
    with generated(resolved(documents({"r.yaml": spec}))) as made:
        codec = made.module.CODEC
        assert codec.build({"n": 7}) == b"\0\0\7"
        assert codec.build({"n": 7}, mask=1)[:2] not in (b"\0\0", b"\0\1")
        decoded = codec.decode(pa.array([b"\0\0\7", b"\0\1\7"], pa.binary()))
        assert decoded.records.to_pylist() == [codec.parse(b"\0\0\7"), None]
        assert decoded.errors[1].as_py()["code"] == "bad_checksum"
        assert codec.encode(decoded.records.slice(0, 1)).to_pylist() == [b"\0\0\7"]
        assert "a checksum with `stored`" in codec.decode_path().reason


@native
@pytest.mark.parametrize("more", [{"stored": "crc ^ 7"}, {"over": ["uint16(n)", "2 .. 3"]}], ids=["stored", "covers"])
def test_a_checksum_that_is_not_verified_is_written_as_built(more):
    """No reader asks for it there, so the writer must see by itself that the builders know it."""
    crc = {"type": "uint16", "checksum": "crc", "over": "2 .. 3", "hidden": True} | more
    fields = [{"crc": crc}, {"n": "uint8"}, {"verify": {"field": "crc", "when": "strict"}}]
    spec = {
        "wireloom": 1,
        "format": "r",
        "title": "r",
        "encoding": "binary",
        "root": "R",
        "types": {"R": {"fields": fields}},
    }
    spec["parameters"] = {"strict": {"type": "bool", "default": False}}
    spec["checksums"] = {"crc": {"width": 16, "poly": 4129, "init": 65535, "check": 0x29B1}}
    with generated(resolved(documents({"r.yaml": spec}))) as made:
        codec, built = made.module.CODEC, [made.module.build({"n": n}) for n in (0, 7, 255)]
        decoded = codec.decode(pa.array(built, pa.binary()))
        assert codec.encode(decoded.records).to_pylist() == built
        assert not codec.encode_path().native


NUMBERS_OF_SEVERAL_BYTES = (
    "uint16",
    "int24",
    "uint64",
    "varint32",
    "zigzag64",
    "bcd3",
    "packed4",
    "zoned2",
    "lzoned2",
    "overpunch2",
    "dec2",
    "sdec2",
    "hex2",
    "oct2",
    "extended(253,uint16,uint32)",
)
BEGUN = (b"", b"\x80", b"\xff", b"\xf0\x80", b"\x40", b"\x01", b"\x12", b"1", b"\x80\x80", b"\xfd\x01", b"\xfe\x01\x02")


def _attempted(fields, **types):
    """A format whose records have these fields; others are plain bytes."""
    codes = ["truncated", "int_range", "type_mismatch", "bad_region", "bad_size", "depth_limit"]
    trials = [{"name": "first", "type": "First", "fallback": [{"codes": codes}]}, {"name": "rest", "type": "Rest"}]
    types |= {"Root": {"attempt": trials}, "First": {"fields": fields}, "Rest": {"fields": [{"rest": "bytes"}]}}
    spec = {"wireloom": 1, "format": "r", "title": "r", "encoding": "binary", "root": "Root", "types": types}
    return resolved(documents({"r.yaml": spec}))


def _read_alike(format, records, *, natively):
    with generated(format) as made:
        codec = made.module.CODEC
        decoded = codec.decode(pa.array(records, pa.binary()))
        for record, value, error in zip(records, decoded.records.to_pylist(), decoded.errors.to_pylist(), strict=True):
            if error is None:
                assert value == codec.parse(record)
                continue
            with pytest.raises(DecodeError) as raised:
                codec.parse(record)
            assert (raised.value.code, raised.value.offset) == (error["code"], error["offset"])
        assert not natively or decoded.reread == len(records) - decoded.errors.null_count


@native
@pytest.mark.parametrize("number", NUMBERS_OF_SEVERAL_BYTES)
def test_a_number_that_lacks_bytes_makes_way_for_the_next_alternative(number):
    _read_alike(_attempted([{"n": number}]), BEGUN, natively=False)
    _read_alike(_attempted([{"n": number}]), [b""], natively=True)


@native
@pytest.mark.parametrize(
    "field",
    [
        {"type": "list(uint16)", "count": "uint8"},
        {"type": "list(uint16)", "count": "blocks(uint8)"},
        {"type": "list(uint16)", "count": "blocks(zigzag64, zigzag64)"},
        {"type": "bytes(blocks(uint8))"},
        {"type": "list(Item)", "count": "uint8"},
    ],
    ids=str,
)
def test_more_elements_than_there_are_bytes_make_way_for_the_next_alternative(field):
    records = [b"\x04\1\2", b"\x0a\x09\1", b"\x02\1\0\2\0\x06\1"]
    types = (
        {"Item": {"depth": 2, "fields": [{"items": {"type": "list(Item)", "count": "uint8"}}]}}
        if "Item" in str(field)
        else {}
    )
    _read_alike(_attempted([{"n": field}], **types), records, natively=True)


@native
@pytest.mark.parametrize("type", ["int", "str", "bytes", "float", "list(int)", "map(str, int)", "ext(5, bytes)", "V"])
@pytest.mark.parametrize("form", ["array", "object"])
def test_a_head_of_another_family_that_lacks_bytes_is_of_another_family(type, form):
    """The parser looks at the first byte before it looks for the others; an alternative was chosen by another code."""
    front = b"\x91" if form == "array" else b"\x81\xa1a"
    heads = (0xC4, 0xC7, 0xCA, 0xCD, 0xD1, 0xD4, 0xD9, 0xDC, 0xDE)
    bodies = [bytes([head]) for head in heads] + [front + bytes([head]) for head in heads]
    types = {"Body": {"encoding": "msgpack", "form": form, "fields": [{"a": type}]}}
    types |= {"V": {"oneOf": {"int": "int", "list": "list(V)"}}} if type == "V" else {}
    _read_alike(
        _attempted([{"n": {"type": "Body", "size": "uint8"}}], **types),
        [bytes([len(b)]) + b for b in bodies],
        natively=False,
    )


@native
def test_bytes_behind_a_record_are_an_error_of_the_first_order_in_which_it_reads():
    """Though it would read to its end in the other."""
    spec = {"wireloom": 1, "format": "r", "title": "r", "encoding": "binary", "root": "R"}
    spec["byteOrder"] = {"parameter": "order", "wrongWhen": ["truncated"]}
    spec["parameters"] = {"order": {"oneOf": ["big", "little", "auto"], "default": "auto"}}
    versions = {"short": {"when": "order == 'big'"}, "long": {"when": "order != 'big'"}}
    fields = [{"n": "uint8"}, {"more": {"type": "list(uint8)", "since": "long"}}]
    spec["types"] = {"R": {"versions": versions, "fields": fields}}
    with generated(resolved(documents({"r.yaml": spec}))) as made:
        for record in (b"\1", b"\1\2\3"):
            decoded = made.module.CODEC.decode(pa.array([record], pa.binary()))
            if len(record) == 1:
                assert decoded.records.to_pylist() == [made.module.parse(record)]
                continue
            with pytest.raises(DecodeError) as caught:
                made.module.parse(record)
            assert decoded.errors[0].as_py()["code"] == caught.value.code == "trailing_bytes"


UNTOLD_AT_FIRST = {  # what is derived of a length that counts it
    "a truth": {"type": "bool", "derive": "n > 3"},
    "a truth that readers do not see": {"type": "bool", "derive": "n > 3", "hidden": True},
    "a number": {"type": "uint8", "derive": "n + 1"},
    "a word": {"type": "str(uint8)", "derive": "n > 4 ? 'long' : 'x'"},
}


@native
@pytest.mark.parametrize("within", [True, False], ids=["within", "beside"])
@pytest.mark.parametrize("name", UNTOLD_AT_FIRST)
def test_a_number_that_follows_from_a_length_that_counts_it_is_written_by_the_engine(name, within):
    """A text that does so is the builders'."""
    inner = [{"text": "bytes(uint8)"}, {"told": UNTOLD_AT_FIRST[name]}]
    fields = [{"part": "Part"}] if within else inner
    types = {
        "R": {"fields": [{"n": {"type": "varint32", "derive": "e - s"}}, {"mark": "s"}, *fields, {"mark": "e"}]},
        "Part": {"fields": inner},
    }
    if not within:
        del types["Part"]
    spec = {"wireloom": 1, "format": "r", "title": "r", "encoding": "binary", "byteOrder": "big", "root": "R"}
    texts = [{"text": b"x" * count} for count in (0, 1, 2, 3, 9, 130)]
    with generated(resolved(documents({"r.yaml": spec | {"types": types}}))) as made:
        codec = made.module.CODEC
        records = [made.module.build({"part": text} if within else text) for text in texts]
        is_native = codec.encode_path() == engines.Path(native=True)
        assert codec.encode(codec.decode(pa.array(records, pa.binary())).records).to_pylist() == records
        assert is_native or name != "a number"
        assert codec.engine.rebuilt == 0 or name != "a number"


UNSAID = {  # what a value does not say, or need not
    "a constant": {"const": 0x1234, "hidden": True},
    "filler": {"hidden": True},
    "what is derived": {"derive": "a + 1", "hidden": True},
    "what is derived and seen": {"derive": "a + 1"},
}


@native
@pytest.mark.parametrize(
    "condition", ["here < 2", "here % 2 == 0", "size > here", "size - here > 3", "size > 4", "start < 2", "start > 2"]
)
@pytest.mark.parametrize("said", UNSAID.values(), ids=UNSAID)
@pytest.mark.parametrize("at", [1, 2])
def test_what_is_there_by_its_place_is_written_by_the_builders(condition, said, at):
    fields = [{"a": "uint8"}, {"b": {"type": "bytes", "delimiter": "00"}}, {"c": "uint16"}]
    fields.insert(at, {"told": {"type": "uint16", "when": condition, **said}})
    fields.insert(at, {"mark": "start"})
    spec = {"wireloom": 1, "format": "r", "title": "r", "encoding": "binary", "byteOrder": "big", "root": "R"}
    spec["types"] = {"R": {"fields": fields}}
    values = [{"a": 7, "b": b"x" * count, "c": 1} for count in range(5)]
    with generated(resolved(documents({"r.yaml": spec}))) as made:
        codec = made.module.CODEC
        records = [made.module.build(value) for value in values]
        written = codec.encode(codec.decode(pa.array(records, pa.binary())).records)
        assert written.to_pylist() == [made.module.build(made.module.parse(record)) for record in records]
        assert not codec.encode_path().native


@native
@pytest.mark.parametrize("limit", [1, 100])
def test_a_condition_in_which_a_parameter_forestalls_the_place_is_asked_for(limit):
    told = {"type": "uint16", "when": "limit <= (limit != 8 ? 16 : here)", "hidden": True}
    flags = {**told, "bits": {"more": {"at": 6, "derive": "present(b)", "hidden": True}}}
    fields = [{"a": "uint8"}, {"flags": flags}, {"b": {"type": "int32", "when": "more"}}, {"c": {**told, "const": 9}}]
    spec = {"wireloom": 1, "format": "r", "title": "r", "encoding": "binary", "byteOrder": "big", "root": "R"}
    spec |= {"parameters": {"limit": {"type": "int", "default": 1, "doc": "What it decides."}}}
    with generated(resolved(documents({"r.yaml": spec | {"types": {"R": {"fields": fields}}}}))) as made:
        codec = made.module.CODEC
        rows = [{"a": 1, "b": None}, {"a": 2, "b": 3}][: 1 if limit == 100 else 2]
        records = [made.module.build(row, limit=limit) for row in rows]
        assert codec.encode(to_struct_array(rows, codec.root(None).logical), limit=limit).to_pylist() == records


@native
@pytest.mark.parametrize("entry", ["str", "bytes", "uint32"])
def test_what_refers_to_a_table_is_the_same_whatever_is_asked_for(entry):
    types = {
        "R": {
            "fields": [
                {"t": {"type": f"list({entry})", "tag": 1, "table": True}},
                {"rows": {"type": "list(E)", "tag": 2, "unique": "key"}},
                {"n": {"type": "uint8", "tag": 3}},
            ]
        },
        "E": {"fields": [{"key": {"type": "uint32", "tag": 1, "refers": "t"}}]},
    }
    spec = {"wireloom": 1, "format": "r", "title": "r", "encoding": "protobuf", "root": "R", "types": types}
    table = b"\x0a\x03\x01\x01\x02" if entry == "uint32" else b"\x0a\x01a\x0a\x01a\x0a\x01b"
    records = [table + b"\x12\x02\x08\x00\x12\x02\x08" + bytes([other]) + b"\x18\x01" for other in range(4)]
    with generated(resolved(documents({"r.yaml": spec}))) as made:
        codec = made.module.CODEC
        for columns in (None, ["t"], ["rows"], ["n"]):
            decoded = codec.decode(pa.array(records, pa.binary()), columns)
            for record, found, error in zip(
                records, decoded.records.to_pylist(), decoded.errors.to_pylist(), strict=True
            ):
                try:
                    value = made.module.parse(record)
                except DecodeError as caught:
                    assert (error["code"], error["path"], error["offset"]) == (caught.code, caught.path, caught.offset)
                else:
                    assert found == {name: value[name] for name in found}
        native = codec.decode_path(columns=["n"]).native
        assert native == (entry == "str")


@native
def test_a_row_that_no_version_has_a_place_for_is_an_error_as_it_is_for_builders():
    fields = [{"a": "int"}, {"b": {"type": "str", "until": "old"}}, {"c": {"type": "str", "since": "new"}}]
    fields += [{"d": {"type": "int", "since": "new"}}]
    versions = {"old": {"arity": 2}, "new": {"arity": 3}}
    types = {"R": {"form": "array", "versions": versions, "fields": fields}}
    spec = {"wireloom": 1, "format": "r", "title": "r", "encoding": "json", "root": "R", "types": types}
    with generated(resolved(documents({"r.yaml": spec}))) as made:
        codec = made.module.CODEC
        for row in ({"a": 1, "b": "x", "c": "y"}, {"a": 1, "b": "x", "d": 1}, {"a": 1}, {"a": 1, "c": "y"}):
            with pytest.raises(EncodeError) as built:
                made.module.build(row)
            with pytest.raises(EncodeError) as written:
                codec.encode(to_struct_array([row], codec.root(None).logical))
            assert str(built.value) in str(written.value), row


def assert_encoded_natively(name, case_package):
    """Check that decoded examples of a case encode to the same bytes, without the construct path."""
    module = importlib.import_module(f"{case_package.__name__}.{name}")
    examples = [example.data for example in FORMATS[name].examples if example.error is None and example.rebuilds]
    decoded = module.CODEC.decode(pa.array(examples, pa.binary()))
    before = module.CODEC.engine.rebuilt
    assert module.encode(decoded.records).to_pylist() == examples
    assert module.CODEC.encode_path() == engines.Path(native=True)
    assert module.CODEC.engine.rebuilt == before


@native
def test_a_program_whose_paths_leave_a_register_without_its_value_is_not_made(monkeypatch):
    monkeypatch.setattr(MessagePack, "_count", lambda *_: None)
    root = PACKED.root(None)
    fields = [("count", ("int", 64, True), {"compute": ("is", ("count", ("field", 0, "items"))), "hidden": True})]
    items = ("field", "items", ("list", ("int", 64, True), None, None, None, None, False), {})
    struct = ("struct", "R", "msgpack", "array", (), (items, *(("field", *each) for each in fields)))
    layout = loaded({**PACKED.layout, "roots": {"record": struct}})
    with pytest.raises(Uncovered, match="does not keep"):
        Compiler(engines.module(), layout, PACKED.settings({}), project(root.logical, [])).parts("record")


def test_every_reason_to_leave_the_engine_is_in_its_page():
    page = (ROOT / "docs" / "internals" / "engine.md").read_text(encoding="utf-8")
    engine = ROOT / "generator" / "wireloom" / "runtime" / "engine"
    reasons = {reason for path in (*engine.glob("*.py"), *engine.glob("*/*.py")) for reason in _reasons(path)}
    assert len(reasons) > 80
    assert {reason for reason in reasons if f"- {reason}\n" not in page} == set()
    table = page.partition("| reason in `explain` |")[2].partition("\n\n")[0].splitlines()[2:]
    assert len(table) > 5
    assert {row.split("|")[1].strip() for row in table} <= reasons


def _reasons(path):
    """The reasons of Uncovered in a module; ... stands for parts that depend on the spec."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Raise(exc=ast.Call(func=ast.Name("Uncovered"), args=[ast.Constant(text)])):
                yield text
            case ast.Raise(exc=ast.Call(func=ast.Name("Uncovered"), args=[ast.JoinedStr(parts)])):
                yield "".join(part.value if isinstance(part, ast.Constant) else "..." for part in parts)


@native
@pytest.mark.parametrize("name", ["defaults_text", "defaults_packed", "defaults_message"])
def test_defaults_of_every_kind_are_left_out_by_the_engine_as_by_builders(name, case_package, monkeypatch):
    codec = importlib.import_module(f"{case_package.__name__}.{name}").CODEC
    assert codec.decode_path() == codec.encode_path() == engines.Path(native=True)
    records = codec.decode(pa.array([FORMATS[name].examples[1].data], pa.binary())).records
    others = {"share": [1.5, -0.0, 1.25], "below": [-0.0, 1.5], "sign": [b"h", b"hii"], "number": [7]}
    rows = [{**records[0].as_py(), member: value} for member, values in others.items() for value in [None, *values]]
    columns = pa.array(rows, records.type)
    written = codec.encode(columns)
    monkeypatch.setattr(type(codec), "engine", None)
    assert written.equals(codec.encode(columns))


@native
@pytest.mark.parametrize("default", [2**63, 2**64 - 1])
@pytest.mark.parametrize("encoding", ["json", "msgpack", "protobuf"])
def test_only_what_has_a_default_beyond_int64_is_left_to_parser_and_builders(encoding, default):
    field = {"type": "uint64", "optional": True, "default": default}
    tags = {"a": {"tag": 1}, "b": {"tag": 2}} if encoding == "protobuf" else {"a": {}, "b": {}}
    form = {"form": "object"} if encoding == "msgpack" else {}
    content = {"wireloom": 1, "format": "made", "title": "Defaults", "encoding": encoding, "root": "R"}
    content["types"] = {"R": form | {"fields": [{name: field | tag} for name, tag in tags.items()]}}
    with generated(resolved(documents({"made.yaml": content}))) as made:
        codec = made.module.CODEC
        assert codec.decode_path() == codec.encode_path() == engines.Path(native=True)
        values = [{"a": 1, "b": 2}, {"a": default, "b": 2**63 + 1}, {"b": 5}, {}]
        built = [made.module.build(value) for value in values]
        found = codec.decode(pa.array(built))
        assert found.reread == 3
        assert found.records.to_pylist() == [{"a": default, "b": default, **value} for value in values]
        before = codec.engine.rebuilt
        assert codec.encode(found.records).to_pylist() == built
        assert codec.engine.rebuilt == before + 3


FIELDS = [{"n": "uint32"}, {"data": "bytes(n)"}, {"bom": {"type": "uint16", "const": 258}}]
AUTO = {
    "wireloom": 1,
    "format": "made",
    "title": "A mark of the order behind what is read in it",
    "encoding": "binary",
    "byteOrder": {"parameter": "order"},
    "parameters": {"order": {"oneOf": ["big", "little", "auto"], "default": "auto"}},
    "root": "R",
    "types": {"R": {"fields": FIELDS}},
}


@native
@pytest.mark.parametrize("record", [b"\3\0\0\0abc\2\1", b"\0\0\0\3abc\1\2", b"\0\0\0\0\2\1"])
def test_whatever_is_wrong_in_the_first_order_the_engine_tries_the_second(record):
    """It lacks bytes, has more of them, or is refused by its own constant."""
    with generated(resolved(documents({"made.yaml": AUTO}))) as made:
        found = made.module.CODEC.decode(pa.array([record]))
        assert found.records.null_count == 0
        assert found.reread == 0


@native
@pytest.mark.parametrize("hidden", [True, False])
@pytest.mark.parametrize("order", ["big", "little"])
def test_checksums_of_64_bits_are_verified_and_written_whatever_they_come_to(order, hidden):
    """Half of them are beyond the numbers that expressions have."""
    crc = {"width": 64, "poly": 4823603603198064275, "xorout": (1 << 64) - 1, "check": 10646263919799602360}
    stored = {"type": "uint64", "checksum": "sum", "over": "0 .. end", "hidden": hidden}
    fields = [{"text": "str(4)"}, {"mark": "end"}, {"crc": stored}, {"verify": {"field": "crc"}}]
    document = {key: AUTO[key] for key in ("wireloom", "format", "title", "encoding", "root")}
    document |= {"byteOrder": order, "checksums": {"sum": crc}, "types": {"R": {"fields": fields}}}
    with generated(resolved(documents({"made.yaml": document}))) as made:
        records = [made.module.build({"text": f"{number:04}"}) for number in range(40)]
        found = made.module.CODEC.decode(pa.array(records))
        assert (found.errors.null_count, found.reread) == (40, 0)
        assert made.module.CODEC.encode(found.records).to_pylist() == records
        assert made.module.CODEC.engine.rebuilt == 0
        other = [record[:-1] + bytes([record[-1] ^ 1]) for record in records]
        assert made.module.CODEC.decode(pa.array(other)).records.null_count == 40


@native
@pytest.mark.parametrize("type", ["float32", "float64"])
@pytest.mark.parametrize("encoding", ["binary", "protobuf", "msgpack"])
def test_what_is_no_number_is_written_by_the_engine_as_by_builders(encoding, type):
    field = {"type": type, "tag": 1} if encoding == "protobuf" else type
    document = {key: AUTO[key] for key in ("wireloom", "format", "title", "root")} | {"encoding": encoding}
    document |= {"byteOrder": "big"} if encoding == "binary" else {}
    values = [struct.unpack(">d", bytes.fromhex(word))[0] for word in ("7ff8000000000000", "fff8000123456789")]
    with generated(resolved(documents({"made.yaml": document | {"types": {"R": {"fields": [{"a": field}]}}}}))) as made:
        records = [made.module.build({"a": value}) for value in [*values, 1.5, math.inf]]
        assert made.module.CODEC.encode(made.module.CODEC.decode(pa.array(records)).records).to_pylist() == records
        assert made.module.CODEC.engine.rebuilt == 0


BACK = {
    "constants": [{"x": {"type": "uint32", "at": 4}}, {"y": {"type": "uint32", "at": 0}}],
    "a mark": [{"mark": "m"}, {"x": "bytes(8)"}, {"y": {"type": "uint8", "at": "m"}}],
}


@native
@pytest.mark.parametrize("fields", BACK.values(), ids=BACK)
def test_what_counts_from_the_end_reaches_into_no_field_that_others_went_back_from(fields):
    document = {key: AUTO[key] for key in ("wireloom", "format", "title", "encoding", "root")} | {"byteOrder": "big"}
    document |= {"types": {"R": {"fields": [*fields, {"c": {"type": "uint16", "at": -2}}]}}}
    with generated(resolved(documents({"made.yaml": document}))) as made:
        assert made.module.CODEC.decode_path().native
        found = made.module.CODEC.decode(pa.array([bytes(8), bytes(9), bytes(10)]))
        assert found.records.is_valid().to_pylist() == [False, False, True]
        assert {error["code"] for error in found.errors.to_pylist()[:2]} == {"truncated"}


@native
@pytest.mark.parametrize("step", [{"need": {"bytes": "wide"}}, {"c": {"type": "uint8", "at": "wide"}}])
def test_a_size_that_is_null_sends_an_attempt_on_within_the_engine(step):
    tried = [{"name": "a", "type": "A", "fallback": [{"codes": ["truncated"]}]}, {"name": "b", "type": "B"}]
    fields = [{"n": "uint8"}, {"wide": {"type": "uint8", "when": "n == 1"}}]
    types = {"R": {"attempt": tried}, "A": {"fields": [*fields, step]}, "B": {"fields": [{"x": "uint16"}]}}
    spec = {"wireloom": 1, "format": "r", "title": "r", "encoding": "binary", "root": "R", "types": types}
    with generated(resolved(documents({"r.yaml": spec}))) as made:
        codec = made.module.CODEC
        records = pa.array([bytes([2, 2]), bytes([3, 0]), bytes([1, 2])], pa.binary())
        decoded = codec.decode(records)
        assert decoded.errors.to_pylist()[:2] == [None, None]
        assert decoded.records.to_pylist()[:2] == [made.module.parse(each) for each in records.to_pylist()[:2]]
        assert [row["kind"] for row in decoded.records.to_pylist()[:2]] == ["b", "b"]
        assert decoded.reread == 0


def _tried(code, fields, **types):
    """A format that reads a record with these fields, or as bytes if that gives the error."""
    cases = [{"name": "a", "type": "A", "fallback": [{"codes": [code]}]}, {"name": "b", "type": "B"}]
    types |= {"R": {"attempt": cases}, "A": {"fields": fields}, "B": {"fields": [{"rest": "bytes"}]}}
    errors = {"endless": "It does not end."} if code == "endless" else {}
    head = {"wireloom": 1, "format": "r", "title": "r", "encoding": "binary", "byteOrder": "big", "root": "R"}
    return head | {"types": types, "errors": errors}


_INNER = {"fields": [{"y": "uint8"}]}
PASSED_OVER = {
    "a region with bytes left": (_tried("bad_region", [{"a": {"type": "S", "size": "uint8"}}], S=_INNER), b"\2ab"),
    "a region that is too small": (_tried("bad_region", [{"a": {"type": "S", "size": "uint8"}}], S=_INNER), b"\0"),
    "a region of a negative size": (_tried("bad_region", [{"a": {"type": "S", "size": "int8"}}], S=_INNER), b"\xffa"),
    "a region of no size": (
        _tried("bad_region", [{"n": {"type": "uint8", "null": 0}}, {"a": {"type": "S", "size": "n"}}], S=_INNER),
        b"\0a",
    ),
    "a frame with bytes left": (_tried("bad_region", [{"n": "uint8"}, {"frame": "n"}, {"y": "uint8"}]), b"\3ab"),
    "a frame that is too small": (_tried("bad_region", [{"n": "uint8"}, {"frame": "n"}, {"y": "uint16"}]), b"\2a"),
    "a negative count": (_tried("bad_size", [{"l": {"type": "list(uint8)", "count": "int8"}}]), b"\xff"),
    "a computed count below zero": (
        _tried("bad_size", [{"n": "uint8"}, {"l": {"type": "list(uint8)", "count": "n - 2"}}]),
        b"\1",
    ),
    "blocks of a negative count": (
        _tried("bad_size", [{"l": {"type": "list(uint8)", "count": "blocks(zigzag32)"}}]),
        b"\x01",
    ),
    "text": (_tried("invalid_utf8", [{"t": "str"}]), b"\xff"),
    "text in blocks": (_tried("invalid_utf8", [{"t": "str(blocks(uint8))"}]), b"\1\xff\1a\0"),
    "text behind escapes": (
        _tried("invalid_utf8", [{"t": {"type": "str", "delimiter": "2c", "escape": "2b"}}]),
        b"\xff+a,",
    ),
    "text of a character set": (_tried("invalid_text", [{"t": {"type": "str", "charset": "ascii"}}]), b"\xe4"),
    "no delimiter": (_tried("truncated", [{"t": {"type": "str", "delimiter": "2c"}}]), b"ab"),
    "no delimiter, with a code": (
        _tried("endless", [{"t": {"type": "str", "delimiter": "2c", "else": "endless"}}]),
        b"ab",
    ),
    "none of several": (
        _tried("endless", [{"t": {"type": "str", "delimiter": ["2c", "3b"], "else": "endless"}}]),
        b"ab",
    ),
    "no delimiter within a region": (
        _tried(
            "bad_region",
            [{"a": {"type": "S", "size": "uint8"}}],
            S={"fields": [{"t": {"type": "str", "delimiter": "2c"}}]},
        ),
        b"\2ab",
    ),
    "a list without its end": (_tried("truncated", [{"l": {"type": "list(uint8)", "terminator": "00"}}]), b"ab"),
}


@native
@pytest.mark.parametrize(("spec", "record"), PASSED_OVER.values(), ids=PASSED_OVER)
def test_the_engine_knows_why_an_alternative_is_passed_over(spec, record):
    with generated(resolved(documents({"r.yaml": spec}))) as made:
        decoded = made.module.CODEC.decode(pa.array([record, record]))
        assert decoded.errors.to_pylist() == [None, None]
        assert decoded.records.to_pylist() == [made.module.parse(record)] * 2
        assert decoded.records.to_pylist()[0]["kind"] == "b"
        assert decoded.reread == 0


@native
def test_text_that_is_replaced_sends_no_attempt_on():
    spec = _tried("invalid_utf8", [{"t": {"type": "str", "size": 1}}]) | {"invalidText": {"parameter": "invalid"}}
    spec |= {"parameters": {"invalid": {"oneOf": ["error", "replace"], "default": "error"}}}
    with generated(resolved(documents({"r.yaml": spec}))) as made:
        codec, record = made.module.CODEC, b"\xff"
        for invalid, kind, reread in (("error", "b", 0), ("replace", "a", 1)):
            decoded = codec.decode(pa.array([record]), invalid=invalid)
            assert decoded.records.to_pylist() == [made.module.parse(record, invalid=invalid)]
            assert (decoded.records.to_pylist()[0]["kind"], decoded.reread) == (kind, reread)


@native
@pytest.mark.parametrize(
    ("fields", "record"),
    [
        ([{"a": {"type": "bytes", "size": "n - 256"}}], b"\0\1"),
        ([{"a": {"type": "list(uint8)", "count": "n - 256"}}], b"\0\1"),
        ([{"a": {"type": "S", "size": "n - 255"}}], b"\0\1a"),
        ([{"a": {"type": "str(1)", "when": "n == 256"}}, {"b": {"type": "uint8", "when": "n == 1"}}], b"\1\0\xff"),
    ],
    ids=["size", "count", "region", "text"],
)
def test_the_engine_knows_why_a_record_is_in_the_other_byte_order(fields, record):
    spec = {key: AUTO[key] for key in ("wireloom", "format", "title", "encoding", "root", "byteOrder", "parameters")}
    types = {"R": {"fields": [{"n": "uint16"}, *fields]}, "S": _INNER}
    spec |= {"types": types if fields[0]["a"]["type"] == "S" else {"R": types["R"]}}
    with generated(resolved(documents({"made.yaml": spec}))) as made:
        order = {AUTO["byteOrder"]["parameter"]: "auto"}
        decoded = made.module.CODEC.decode(pa.array([record]), **order)
        assert decoded.records.to_pylist() == [made.module.parse(record, **order)]
        assert made.module.parse(record, **order)["n"] in (1, 256)
        assert decoded.reread == 0


@native
@pytest.mark.parametrize("tag", [{"type": "uint8", "const": 2}, {"type": "uint8", "const": 2, "as": "kind"}])
@pytest.mark.parametrize("rest", [False, True])
def test_a_row_is_of_the_case_that_the_value_read_ahead_selects(tag, rest):
    """Two cases have as many members of the row, and make up as many: readers come to one of them alone."""
    first = {"as": tag["as"]} if "as" in tag else {}
    cases = {"16 .. 19": "Derived"} | ({} if rest else {"2": "Constant"})
    types = {
        "R": {"fields": [{"l": {"type": "list(U)", "count": "uint8"}}]},
        "U": {"select": {"peek": "uint8"}, "cases": cases, **({"otherwise": "Constant"} if rest else {})},
        "Derived": {"fields": [{"t": {"type": "uint8", **first}}, {"s": {"type": "uint16", "derive": "t + 1"}}]},
        "Constant": {"fields": [{"t": tag}]},
    }
    spec = {"wireloom": 1, "format": "r", "title": "r", "encoding": "binary", "root": "R", "types": types}
    with generated(resolved(documents({"r.yaml": spec}))) as made:
        codec, title = made.module.CODEC, tag.get("as", "t")
        rows = [[{title: 2}], [{title: 17}, {title: 2}], [{title: 18, "s": 19}], []]
        built = [made.module.build({"l": row}) for row in rows]
        assert built[1].hex() == "0211001202"
        assert (
            codec.encode(
                pa.array([{"l": row} for row in rows], codec.decode(pa.array([b"\0"])).records.type)
            ).to_pylist()
            == built
        )
        assert codec.engine.rebuilt == 0

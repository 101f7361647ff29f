"""Tries each feature in each encoding, and writes the page with the results.

`python tests/docs/what_works.py` updates docs/reference/what-works.md, `--check` only compares. If an encoding lacks a
feature, the spec is refused. Otherwise a record is built, read back, decoded into columns and checked against its
schema.
"""

# ruff: noqa: E501 - a table has a row on each line

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

import jsonschema
import pyarrow as pa
import yaml

from wireloom import pipeline
from wireloom.examples.memory import opened
from wireloom.problems import SpecProblems

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "what-works.md"
ENCODINGS = ("binary", "msgpack", "protobuf", "json")
REFUSED, NATIVE, DECODES, ENCODES, PYTHON = "no", "native", "decodes natively", "encodes natively", "in Python"

_POINT = {"Point": {"fields": [{"x": "int32"}, {"y": "int32"}]}}
_SHAPES = {"A": {"fields": [{"a": "uint8"}]}, "B": {"fields": [{"b": "uint16"}]}}
_KINDS = {
    "A": {"fields": [{"k": {"type": "uint8", "const": 1}}, {"a": "uint8"}]},
    "B": {"fields": [{"k": {"type": "uint8", "const": 2}}, {"b": "uint16"}]},
}
_WORDS = {
    "A": {"fields": [{"k": {"type": "str", "const": "a"}}, {"a": "uint8"}]},
    "B": {"fields": [{"k": {"type": "str", "const": "b"}}, {"b": "uint16"}]},
}
_SUM = {"sum": "fletcher", "width": 16, "modulus": 255, "check": 0x1EDE}
_CRC = {"width": 16, "poly": 4129, "init": 65535, "check": 10673}


@dataclass(frozen=True)
class Feature:
    """A record with the feature: fields, a value, further types, and further keys of its struct and of the format."""

    name: str
    fields: list[Any]
    value: dict[str, Any]
    types: dict[str, Any] = field(default_factory=dict)
    struct: dict[str, Any] = field(default_factory=dict)
    keys: dict[str, Any] = field(default_factory=dict)


def _of_type(type: str, value: Any, **types: Any) -> Feature:
    return Feature(f"`{type}`", [{"v": type}], {"v": value}, types)


FEATURES: dict[str, list[Feature]] = {
    "Types": [
        Feature("`bool`", [{"v": "bool"}], {"v": True}),
        _of_type("uint8", 7),
        _of_type("uint24", 7),
        _of_type("int64", -7),
        _of_type("varint64", 300),
        _of_type("vlq64", 300),
        _of_type("quic62", 300),
        _of_type("sqlite64", -300),
        _of_type("flac36", 300),
        _of_type("ebml56", 300),
        _of_type("sleb64", -300),
        _of_type("extended(253, uint16, uint64)", 300),
        Feature("`dec`, with a `delimiter`", [{"v": {"type": "dec", "delimiter": "0d0a"}}], {"v": 300}),
        _of_type("bcd4", 300),
        _of_type("packed5", -300),
        _of_type("upacked5", 300),
        _of_type("zoned5", -300),
        _of_type("uzoned5", 300),
        _of_type("lzoned5", -300),
        _of_type("overpunch5", -300),
        _of_type("loverpunch5", -300),
        _of_type("dec5", 300),
        _of_type("sdec5", -300),
        _of_type("hex8", 300),
        _of_type("oct7", 300),
        Feature("`uint4`, `bit`", [{"u": "uint4"}, {"b": "bit"}, {"v": "uint11"}], {"u": 7, "b": True, "v": 1000}),
        Feature("`int60`, across bytes", [{"u": "uint7"}, {"v": "int60"}, {"w": "uint61"}], {"u": 7, "v": -1, "w": 2**61 - 1}),
        _of_type("int65", 2**64 - 1),
        _of_type("float16", 0.5),
        _of_type("float32", 0.5),
        _of_type("float64", 0.1),
        _of_type("str", "é"),
        _of_type("str(3)", "abc"),
        _of_type("bytes", b"\x00\xff"),
        _of_type("bytes(2)", b"\x00\xff"),
        _of_type("str(uint16)", "é"),
        _of_type("bytes(zigzag32)?", None),
        _of_type("bytes(blocks(uint8))", b"\x00" * 300),
        Feature("`count: blocks(TYPE)`", [{"v": {"type": "list(uint8)", "count": "blocks(zigzag64, zigzag64)"}}], {"v": [1, 2]}),
        Feature("`delimiter`", [{"v": {"type": "str", "delimiter": "00"}}], {"v": "é"}),
        Feature("`delimiter: [0d0a, 0a]`", [{"v": {"type": "str", "delimiter": ["0d0a", "0a"]}}], {"v": "é"}),
        Feature("`delimiter`, `kept`", [{"v": {"type": "str", "delimiter": ["0d0a", "0a"], "kept": True}}], {"v": "é\n"}),
        Feature("`delimiter`, and `escape`", [{"v": {"type": "str", "delimiter": "22", "escape": "5c", "escaped": {"6e": "0a"}}}], {"v": 'é"\\\n'}),
        Feature("`delimiter`, doubled within", [{"v": {"type": "str", "delimiter": "22", "escape": "22"}}], {"v": 'é"'}),
        Feature("`terminator`", [{"v": {"type": "list(str(uint8))", "terminator": "00"}}], {"v": ["é", "a"]}),
        Feature("`terminator`, or the region's end", [{"v": {"type": "list(str(uint8))", "terminator": "00?"}}, {"w": "bytes"}], {"v": ["é", "a"], "w": b""}),
        Feature("`jump`", [{"v": {"type": "list(str(uint8))", "terminator": "00", "jump": {"type": "uint16", "range": "0xC000 .."}}}], {"v": ["é", "a"]}),
        Feature("`lastWhen`", [{"v": {"type": "list(Point)", "lastWhen": "y == 0"}}], {"v": [{"x": 1, "y": 2}, {"x": 1, "y": 0}]}, _POINT),
        Feature("`pad`", [{"v": {"type": "str(4)", "pad": "20"}}], {"v": "é"}),
        _of_type("nil", None),
        _of_type("int?", None),
        _of_type("json", '{"a":1}'),
        _of_type("ext(7, bytes)", b"x"),
        _of_type("list(int32)", [1, -1]),
        _of_type("list(str(2))", ["ab", "cd"]),
        _of_type("list(bytes(2))", [b"ab", b"cd"]),
        Feature("`list(bit)`", [{"v": {"type": "list(bit)", "count": "uint8"}}], {"v": [True, False, True]}),
        Feature("`list(uint12)`", [{"v": {"type": "list(uint12)", "count": 3}}], {"v": [1, 2, 4095]}),
        _of_type("list(Point)", [{"x": 1, "y": 2}], **_POINT),
        _of_type("list(list(uint8))", [[1]]),
        _of_type("map(str, int)", {"a": 1}),
        _of_type("map(int, bytes)", {1: b"x"}),
        _of_type("map(Entry)", {7: -1}, Entry={"fields": [{"key": "uint8"}, {"value": "int32"}]}),
        _of_type("Point", {"x": 1, "y": 2}, **_POINT),
        _of_type("int | str", "a"),
        _of_type("int | ext(7, bytes) | ext(8, str)", "a"),
        Feature("`oneOf` of itself", [{"v": "V"}], {"v": [1]}, {"V": {"oneOf": {"int": "int", "list": "list(V)"}}}),
    ],
    "Unions": [
        Feature("`select: FIELD`", [{"k": "uint8"}, {"v": {"type": {"select": "k", "cases": {"1": "A", "2": "B"}}}}], {"k": 2, "v": {"b": 5}}, _SHAPES),
        Feature("`select: FIELD`, `otherwise`", [{"k": "uint8"}, {"v": {"type": {"select": "k", "cases": {"1": "A"}, "otherwise": "B"}}}], {"k": 7, "v": {"b": 5}}, _SHAPES),
        Feature("`select: {peek: TYPE}`", [{"v": {"type": {"select": {"peek": "uint8"}, "cases": {"1": "A", "2": "B"}}}}], {"v": {"k": 2, "b": 5}}, _KINDS),
        Feature("`select: {member: NAME}`", [{"v": {"type": {"select": {"member": "k"}, "cases": {"a": "A", "b": "B"}}}}], {"v": {"k": "b", "b": 5}}, _WORDS),
        Feature("`attempt`", [{"v": "T"}], {"v": {"kind": "b", "k": 2, "b": 5}}, _KINDS | {"T": {"attempt": [{"name": "a", "type": "A", "fallback": [{"codes": ["bad_constant"]}]}, {"name": "b", "type": "B"}]}}),
    ],
    "Structs": [
        Feature("`form: object`", [{"v": "int32"}], {"v": 1}, struct={"form": "object"}),
        Feature("`form: array`", [{"v": "int32"}], {"v": 1}, struct={"form": "array"}),
        Feature("`byteOrder` of a struct", [{"v": "float64"}], {"v": 0.5}, struct={"byteOrder": "little"}),
        Feature("`versions` by `arity`", [{"a": "int32"}, {"b": {"type": "int32", "since": "new"}}], {"a": 1, "b": 2}, struct={"versions": {"old": {"arity": 1}, "new": {"arity": 2}}}),
        Feature("`versions` by `when`", [{"a": "int32"}, {"b": {"type": "int32", "since": "new"}}], {"a": 1, "b": 2}, struct={"versions": {"old": {"when": "not p"}, "new": {"when": "p"}}}, keys={"parameters": {"p": {"type": "bool", "default": True}}}),
        Feature("`versions` by a field", [{"v": "uint8"}, {"b": {"type": "int32", "since": "v2"}}], {"v": 2, "b": 3}, keys={"versions": {"order": {"v1": 1, "v2": 2}, "from": "v"}}),
        Feature("`versions` by a parameter", [{"a": "int32"}, {"b": {"type": "int32", "since": "v2"}}], {"a": 1, "b": 2}, keys={"parameters": {"p": {"oneOf": ["v1", "v2"], "default": "v2"}}, "versions": {"order": ["v1", "v2"], "from": "p"}}),
        Feature("`versions` by `fits`, with a `column`", [{"a": "int32"}, {"b": {"type": "int32", "since": "v2"}}], {"m": "v2", "a": 1, "b": 2}, keys={"versions": {"order": ["v1", "v2"], "from": "fits", "column": "m"}}),
        Feature("`depth`", [{"v": "Tree"}], {"v": {"x": 1, "t": []}}, {"Tree": {"depth": 2, "fields": [{"x": "uint8"}, {"t": "list(Tree)"}]}}),
        Feature("`depth`, of what is counted", [{"v": "Tree"}], {"v": {"x": 1, "t": []}}, {"Tree": {"depth": 2, "fields": [{"x": "uint8"}, {"t": {"type": "list(Tree)", "count": "uint8"}}]}}),
        Feature("a binary struct inside", [{"v": "In"}], {"v": {"x": 1}}, {"In": {"encoding": "binary", "fields": [{"x": "uint8"}]}}),
        Feature("a MessagePack struct inside", [{"v": "In"}], {"v": {"x": 1}}, {"In": {"encoding": "msgpack", "fields": [{"x": "uint8"}]}}),
        Feature("a protobuf struct inside", [{"v": "In"}], {"v": {"x": 1}}, {"In": {"encoding": "protobuf", "fields": [{"x": {"type": "uint8", "tag": 1}}]}}),
        Feature("a JSON struct inside", [{"v": "In"}], {"v": {"x": 1}}, {"In": {"encoding": "json", "fields": [{"x": "uint8"}]}}),
    ],
    "Keys of fields": [
        Feature("`as`", [{"v": {"type": "int32", "as": "w"}}], {"w": 1}),
        Feature("`member`", [{"v": {"type": "int32", "member": "w"}}], {"v": 1}, struct={}),
        Feature("`at`", [{"v": "uint8"}, {"w": {"type": "uint8", "at": 1}}], {"v": 1, "w": 2}),
        Feature("`at`, `from` a mark", [{"mark": "start"}, {"v": "uint8"}, {"w": {"type": "str(2)", "at": "v", "from": "start"}}, {"rest": {"type": "bytes", "hidden": True}}], {"v": 3, "w": "ab"}),
        Feature("`at`, from the end", [{"v": "bytes(size - 1 - here)"}, {"w": {"type": "uint8", "at": -1}}], {"v": b"abc", "w": 2}),
        Feature("`size`", [{"v": {"type": "str", "size": 3}}], {"v": "abc"}),
        Feature("`count`, `derive`", [{"n": {"type": "uint8", "derive": "count(v)", "hidden": True}}, {"v": {"type": "list(uint8)", "count": "n"}}], {"v": [1]}),
        Feature("`count: uint16`", [{"v": {"type": "list(uint8)", "count": "uint16"}}], {"v": [1]}),
        Feature("`unpack: gzip`", [{"v": {"type": "Point", "size": "uint16", "unpack": "gzip"}}], {"v": {"x": 1, "y": 2}}, _POINT),
        Feature("`unpack: {select: FIELD}`", [{"k": "uint8"}, {"v": {"type": "str", "size": "uint16", "unpack": {"select": "k", "cases": {"0": "none", "1": "zstd"}}}}], {"k": 1, "v": "abc"}),
        Feature("`unpack: base64`", [{"v": {"type": "Point", "size": "uint16", "unpack": "base64"}}], {"v": {"x": 1, "y": 2}}, _POINT),
        Feature("`size: varint32`", [{"v": {"type": "Point", "size": "varint32"}}], {"v": {"x": 1, "y": 2}}, _POINT),
        Feature("`derive`", [{"n": {"type": "uint8", "derive": "count(v)", "hidden": True}}, {"v": "list(uint8)"}], {"v": [1]}),
        Feature("`when`", [{"k": "bool"}, {"v": {"type": "int32", "when": "k"}}], {"k": True, "v": 1}),
        Feature("`optional`", [{"v": {"type": "int32", "optional": True}}], {"v": None}),
        Feature("`optional`, `default`", [{name: {"type": type, "optional": True, "default": value}} for name, type, value in (("v", "int32", 4), ("t", "bool", True), ("f", "float64", 1.5), ("s", "str", "a"), ("b", "bytes", "00ff"))], {"v": 4, "t": True, "f": 1.5, "s": "a", "b": b"\x00\xff"}),
        Feature("`optional`, at the end of an array", [{"v": "int32"}, {"w": {"type": "int32", "optional": True, "default": 4}}], {"v": 1, "w": 4}, struct={"form": "array"}),
        Feature("`const`", [{"v": {"type": "uint8", "const": 4}}], {"v": 4}),
        Feature("`values`", [{"v": {"type": "uint8", "values": {"1": "one", "2": "two"}}}], {"v": "two"}),
        Feature("`values` of a list", [{"v": {"type": "list(uint32)", "values": {"1": "a", "2": "b"}}}], {"v": ["a", "b"]}),
        Feature("`values` of a list of texts", [{"v": {"type": "list(TEXT)", "values": {"xx": "a", "yy": "b"}}}], {"v": ["a", "b"]}),
        Feature("`range` of a list", [{"v": {"type": "list(uint32)", "range": "1 .. 5"}}], {"v": [1, 5]}),
        Feature("`pattern` of a list", [{"v": {"type": "list(TEXT)", "pattern": "[a-z]+"}}], {"v": ["aa", "bc"]}),
        Feature("`range`", [{"v": {"type": "uint8", "range": "0 .. 9"}}], {"v": 4}),
        Feature("`length`", [{"v": {"type": "str", "length": "2 .. 4"}}], {"v": "aäb"}),
        Feature("`pattern`", [{"v": {"type": "str", "pattern": "[a-z]+(-[0-9]+)?"}}], {"v": "ab-1"}),
        Feature("`pattern: {named: date}`", [{"v": {"type": "str", "pattern": {"named": "date"}}}], {"v": "2024-02-29"}),
        Feature("`bits`", [{"v": {"type": "uint8", "hidden": True, "bits": {"low": "0..3", "high": "4..7"}}}], {"low": 1, "high": 2}),
        Feature("`byteOrder`", [{"v": {"type": "uint32", "byteOrder": "little"}}], {"v": 4}),
        Feature("`compute`", [{"v": "uint8"}, {"w": {"type": "int64", "compute": "v + 1"}}], {"v": 1, "w": 2}),
        Feature("`pattern` of keys", [{"v": {"type": "map(str, int32)", "pattern": "[a-z]+"}}], {"v": {"a": 1}}),
        Feature("`int` of bytes", [{"b": "bytes(3)"}, {"v": {"compute": "int(b, 'big')", "type": "uint32"}}], {"b": b"abc", "v": 0x616263}),
        Feature("`checksum`, of bytes", [{"v": "uint8"}, {"s": {"type": "bytes(16)", "checksum": "md5", "over": "0 .. 1", "hidden": True}}, {"verify": {"field": "s"}}], {"v": 1}),
        Feature("`checksum`, of bytes in digits", [{"v": "uint8"}, {"s": {"type": "str(64)", "checksum": "sha256", "over": "0 .. 1", "hidden": True}}, {"verify": {"field": "s"}}], {"v": 1}),
        Feature("`checksum`, the beginning of a digest of digests", [{"v": "uint8"}, {"s": {"type": "bytes(4)", "checksum": "twice", "over": "0 .. 1", "hidden": True}}, {"verify": {"field": "s"}}], {"v": 1}, keys={"checksums": {"twice": {"digest": ["sha256", "sha256"], "size": 4}}}),
        Feature("`checksum`, a CRC", [{"v": "uint8"}, {"s": {"type": "uint16", "checksum": "crc16", "over": "0 .. 1", "hidden": True}}, {"verify": {"field": "s"}}], {"v": 1}, keys={"checksums": {"crc16": _CRC}}),
        Feature("`checksum`, over itself", [{"s": {"type": "uint16", "checksum": "s", "over": "0 .. size"}}, {"v": "uint8"}, {"verify": {"field": "s"}}], {"v": 7}, keys={"checksums": {"s": _SUM}}),
        Feature("`checksum`, a sum", [{"v": "uint8"}, {"s": {"type": "uint16", "checksum": "sum", "over": "0 .. 1", "hidden": True}}, {"verify": {"field": "s"}}], {"v": 1}, keys={"checksums": {"sum": _SUM}}),
        Feature("`checksum`, `stored`", [{"v": "uint8"}, {"s": {"type": "uint16", "checksum": "sum", "over": "0 .. 1", "stored": "s ^ v", "hidden": True}}, {"verify": {"field": "s"}}], {"v": 1}, keys={"checksums": {"sum": _SUM}}),
        Feature("`checksum`, over what stands elsewhere", [{"v": "uint8"}, {"b": "bytes(2)"}, {"s": {"type": "uint16", "checksum": "sum", "over": ["uint16(v)", "0 .. 1", "bytes(b)"], "hidden": True}}, {"verify": {"field": "s"}}], {"v": 1, "b": b"ab"}, keys={"checksums": {"sum": _SUM}}),
        Feature("`refers`, `table`", [{"t": {"type": "list(str)", "table": True, "hidden": True}}, {"v": "list(E)"}], {"v": [{"r": "a"}]}, {"E": {"fields": [{"r": {"type": "uint32", "refers": "t"}}]}}),
        Feature("`flatten`", [{"v": {"type": "Point", "flatten": True}}], {"x": 1, "y": 2}, _POINT),
        Feature("`inline`", [{"v": {"type": "Point", "inline": True}}], {"v": {"x": 1, "y": 2}}, _POINT),
        Feature("`inline` of a map", [{"v": "int32"}, {"w": {"type": "map(str, int32)", "inline": True}}], {"v": 1, "w": {"a": 2}}, struct={"form": "object"}),
        Feature("`hidden` filler", [{"v": {"type": "uint8", "hidden": True}}, {"w": "uint8"}], {"w": 1}),
        Feature("`hidden` rest", [{"v": "uint8"}, {"r": {"type": "bytes", "hidden": True}}], {"v": 1}),
        Feature("`unique`", [{"v": {"type": "list(Point)", "unique": "x"}}], {"v": [{"x": 1, "y": 2}]}, _POINT),
        Feature("`lineFeeds`", [{"v": {"type": "bytes", "lineFeeds": True}}], {"v": b"x"}),
        Feature("`oneOf: NAME`", [{"v": {"type": "str", "oneOf": "g"}}, {"w": {"type": "int32", "oneOf": "g"}}], {"v": None, "w": 4}),
        Feature("`wire: zigzag`", [{"v": {"type": "int32", "wire": "zigzag"}}], {"v": -1}),
        Feature("`wire: fixed`", [{"v": {"type": "int32", "wire": "fixed"}}], {"v": -1}),
        Feature("`wire: group`", [{"v": {"type": "Point", "wire": "group"}}], {"v": {"x": 1, "y": 2}}, _POINT),
        Feature("`wire: group` of a list", [{"v": {"type": "list(Point)", "wire": "group"}}], {"v": [{"x": 1, "y": 2}]}, _POINT),
        Feature("`wire: group`, `optional`", [{"v": {"type": "Point", "wire": "group", "optional": True}}], {"v": None}, _POINT),
        Feature("`wire: group`, `oneOf: NAME`", [{"v": {"type": "Point", "wire": "group", "oneOf": "g"}}, {"w": {"type": "int32", "oneOf": "g"}}], {"v": {"x": 1, "y": 2}, "w": None}, _POINT),
        Feature("`wire: group`, `flatten`", [{"v": {"type": "Point", "wire": "group", "flatten": True}}], {"x": 1, "y": 2}, _POINT),
    ],
    "Meanings": [
        Feature("`null`", [{"v": {"type": "int16", "null": -1}}, {"w": {"type": "int16", "null": -1}}], {"v": 1}),
        Feature("`values` beside `raw`", [{"v": {"type": "int16", "values": {1: "one", 2: "two"}, "raw": "r"}}], {"r": 2, "v": "two"}),
        Feature("`values` beside `raw`, of a boolean", [{"v": {"type": "bool", "values": {"true": "on"}, "raw": "r"}}], {"r": True, "v": "on"}),
        Feature("`values` beside `raw`, of `uint3`", [{"v": {"type": "uint3", "values": {1: "one", 2: "two"}, "raw": "r"}}, {"w": "uint5"}], {"r": 2, "v": "two", "w": 4}),
        Feature("`values` beside `raw`, of `bits`", [{"v": {"type": "uint8", "hidden": True, "bits": {"low": {"at": "0..3", "values": {1: "one", 2: "two"}, "raw": "r"}}}}], {"r": 2, "low": "two"}),
        Feature("`values` beside `null`", [{"v": {"type": "int16", "values": {1: "one", 2: "two"}, "null": -1}}, {"w": {"type": "int16", "values": {1: "one"}, "null": -1}}], {"v": "two"}),
        Feature("`charset: cp037`", [{"v": {"type": "str", "charset": "cp037"}}], {"v": "Zoë"}),
        Feature("`charset: utf-16le`", [{"v": {"type": "str", "charset": "utf-16le"}}], {"v": "Zoë"}),
        Feature("`null` of texts", [{"v": {"type": "str", "null": "-"}}], {"v": "x"}),
        Feature("`null` under `when`", [{"n": "uint8"}, {"v": {"type": "int16", "null": -1, "when": "n > 1"}}], {"n": 2}),
        Feature("`logical: {timestamp: ms}`", [{"v": {"type": "int64", "logical": {"timestamp": "ms"}}}], {"v": datetime(2026, 1, 31, 12, tzinfo=UTC)}),
        Feature("`logical: {timestamp: ns}`, `raw`", [{"v": {"type": "int64", "logical": {"timestamp": "ns"}, "raw": "r"}}], {"r": 1_000_001, "v": datetime(1970, 1, 1, 0, 0, 0, 1000, tzinfo=UTC)}),
        Feature("`logical: {timestamp: s}` of a float", [{"v": {"type": "float64", "logical": {"timestamp": "s"}}}], {"v": datetime(2026, 1, 31, 12, 0, 0, 307200, tzinfo=UTC)}),
        Feature("`logical` of `compute`", [{"s": "uint32"}, {"v": {"type": "int64", "compute": "s", "logical": {"timestamp": "s"}, "epoch": "1900-01-01"}}], {"s": 0, "v": datetime(1900, 1, 1, tzinfo=UTC)}),
        Feature("`logical: {duration: s}`", [{"v": {"type": "int32", "logical": {"duration": "s"}}}], {"v": timedelta(minutes=-1)}),
        Feature("`logical: date`", [{"v": {"type": "int32", "logical": "date"}}], {"v": date(2026, 1, 31)}),
        Feature("`logical: timestamp` of a text", [{"v": {"type": "str", "logical": "timestamp"}}], {"v": datetime(2026, 1, 31, 12, tzinfo=UTC)}),
        Feature("`logical: timestamp`, `raw`", [{"v": {"type": "str", "logical": "timestamp", "raw": "r"}}], {"r": "2026-01-31T13:00:00.123456789+01:00", "v": datetime(2026, 1, 31, 12, 0, 0, 123456, tzinfo=UTC)}),
        Feature("`logical: date` of a text", [{"v": {"type": "str", "logical": "date"}}], {"v": date(2026, 1, 31)}),
        Feature("`logical: int64` of a text", [{"v": {"type": "str", "logical": "int64"}}], {"v": -(1 << 63)}),
        Feature("`logical: uint64` of a text, `null`", [{"v": {"type": "str", "logical": "uint64", "null": ""}}], {"v": (1 << 64) - 1}),
        Feature("`logical: decimal(10, 2)` of a text", [{"v": {"type": "str", "logical": "decimal(10, 2)"}}], {"v": Decimal("10.50")}),
        Feature("`logical: decimal(38, 9)`, `raw`", [{"v": {"type": "str", "logical": "decimal(38, 9)", "raw": "r"}}], {"r": "10.5", "v": Decimal("10.500000000")}),
        Feature("`logical` of a list", [{"v": {"type": "list(uint32)", "logical": {"timestamp": "s"}}}], {"v": [datetime(2026, 1, 31, tzinfo=UTC)]}),
        Feature("`logical: uuid`", [{"v": {"type": "bytes(16)", "logical": "uuid"}}], {"v": "00112233-4455-6677-8899-aabbccddeeff"}),
        Feature("`logical: ipv4`", [{"v": {"type": "bytes(4)", "logical": "ipv4"}}], {"v": "192.168.0.1"}),
        Feature("`logical: ipv6`", [{"v": {"type": "bytes(16)", "logical": "ipv6"}}], {"v": "2001:db8::1"}),
        Feature("`logical: mac`", [{"v": {"type": "bytes(6)", "logical": "mac"}}], {"v": "00:1b:44:11:3a:b7"}),
        Feature("`scale`", [{"v": {"type": "int32", "scale": 0.01}}], {"v": Decimal("12.34")}),
        Feature("`scale`, `offset`", [{"v": {"type": "uint8", "scale": "1/4", "offset": -40}}], {"v": Decimal("-39.75")}),
        Feature("`scale` beyond 64 bits", [{"v": {"type": "uint32", "scale": "1/4294967296"}}], {"v": Decimal("0.5")}),
        Feature("`scale`, `logical: float`", [{"v": {"type": "int32", "scale": 0.01, "logical": "float"}}], {"v": 12.34}),
    ],
    "Steps": [
        Feature("`check`", [{"v": "uint8"}, {"check": {"that": "v > 1", "else": "out_of_range"}}], {"v": 4}),
        Feature("`mark`", [{"v": "uint8"}, {"mark": "m"}, {"w": {"type": "int64", "compute": "m"}}], {"v": 4, "w": 1}),
        Feature("`need`", [{"v": "uint8"}, {"need": {"bytes": 1}}], {"v": 4}),
        Feature("`frame`", [{"v": {"type": "uint8", "derive": "size"}}, {"frame": "v"}], {"v": 1}),
        Feature("`end`", [{"v": "uint8"}, {"end": "bad_size"}], {"v": 4}),
    ],
}  # fmt: skip


def cells(feature: Feature) -> Iterator[str]:
    """The result for the feature in each encoding."""
    for encoding in ENCODINGS:
        yield _cell(feature, encoding)


def _cell(feature: Feature, encoding: str) -> str:
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "probe.yaml").write_text(
            yaml.safe_dump(_document(feature, encoding), sort_keys=False), encoding="utf-8"
        )
        try:
            (format,) = pipeline.formats(folder)
        except SpecProblems:
            return REFUSED
    files = pipeline.emit(format)
    with opened({format.name: files}) as modules:
        return _tried(modules[format.name], json.loads(files["schema.json"]), feature.value)


def _document(feature: Feature, encoding: str) -> dict[str, Any]:
    fields = [_sized(entry, encoding) for entry in feature.fields]
    types = {"Record": {"fields": fields, **feature.struct}, **feature.types}
    head = {"wireloom": 1, "format": "probe", "title": feature.name, "encoding": encoding, "root": "Record"}
    tagged = {name: _tagged(type, encoding) for name, type in types.items()}
    return {**head, **feature.keys, "types": tagged}


def _sized(entry: dict[str, Any], encoding: str) -> dict[str, Any]:
    """The entry, with TEXT replaced by a two-byte text; only binary must state the size."""
    ((name, content),) = entry.items()
    if not isinstance(content, dict) or content.get("type") != "list(TEXT)":
        return entry
    return {name: content | {"type": "list(str(2))" if encoding == "binary" else "list(str)"}}


def _tagged(type: Any, encoding: str) -> Any:
    """The type, its fields with the numbers that protobuf needs."""
    if type.get("encoding", encoding) != "protobuf" or "fields" not in type:
        return type
    fields = [_numbered(entry, number) for number, entry in enumerate(type["fields"], 1)]
    return type | {"fields": fields}


def _numbered(entry: dict[str, Any], number: int) -> dict[str, Any]:
    ((name, content),) = entry.items()
    if name in ("check", "verify", "mark", "need", "frame", "end"):
        return entry
    full = content if isinstance(content, dict) else {"type": content}
    return {name: full if "compute" in full else {"tag": number} | full}


def _tried(module: ModuleType, schema: dict[str, Any], value: dict[str, Any]) -> str:
    """Build, read back, decode, encode, and validate; returns what the engine did of it."""
    data = module.build(value)
    parsed = module.parse(data)
    assert module.build(parsed) == data, (value, parsed)
    for name, member in value.items():
        found = dict(parsed[name]) if isinstance(member, dict) and not isinstance(parsed[name], dict) else parsed[name]
        matches = (
            all(found[key] == each for key, each in member.items()) if isinstance(member, dict) else found == member
        )
        assert matches, (value, parsed)
    decoded = module.decode(pa.array([data], pa.binary()))
    assert decoded.errors.null_count == 1, decoded.errors
    assert module.encode(decoded.records).to_pylist() == [data]
    written = data.decode() if module.ENCODING == "json" else json.dumps(module.CODEC.to_canonical(parsed))
    jsonschema.Draft202012Validator(schema).validate(json.loads(written))
    native = module.CODEC.decode_path().native, module.CODEC.encode_path().native
    return {(True, True): NATIVE, (True, False): DECODES, (False, True): ENCODES, (False, False): PYTHON}[native]


def page() -> str:
    """The page."""
    lines = [
        "# What works with what",
        "",
        "For each cell, a record was built, read back, decoded into columns, encoded from them, and checked against its JSON Schema.",
        "The page is the result of these attempts (`python tests/docs/what_works.py`), and a test compares it. Arrow and Spark columns are the same.",
        "",
        f"- **{NATIVE}**: `decode` and `encode` run on the native engine.",
        f"- **{DECODES}**, **{ENCODES}**: one direction runs on the engine, the parser does the other.",
        f"- **{PYTHON}**: the parser does both, with the same results, more slowly.",
        f"- **{REFUSED}**: the encoding cannot express it; `wireloom generate` says what to write instead.",
        "",
        "`wireloom explain FORMAT` says what your whole spec runs on. [The native engine](../internals/engine.md) says what the engine leaves out, and why.",
    ]
    for title, features in FEATURES.items():
        lines += ["", f"## {title}", "", "| | binary | MessagePack | protobuf | JSON |", "|---|---|---|---|---|"]
        lines += [f"| {each.name.replace('|', chr(92) + '|')} | {' | '.join(cells(each))} |" for each in features]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write the page, or with --check compare it."""
    text = page()
    if "--check" in sys.argv:
        sys.exit(PAGE.read_text(encoding="utf-8") != text)
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

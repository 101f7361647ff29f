"""If the engine gives up on a record, the parser continues at a checkpoint, with the same error as from the start."""
# ruff: noqa: S311 - no secrets are made

import importlib
import random
import sys
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

import pyarrow as pa
import pytest

from conftest import case_formats, shipped_formats
from support.drawing import drawn
from wireloom import pipeline
from wireloom.examples.memory import opened
from wireloom.runtime import engine as engines
from wireloom.runtime.checkpoints import Passed, Unread
from wireloom.runtime.errors import DecodeError
from wireloom.runtime.validation import documents
from wireloom_formats import netflow_v5

MUTANTS = 6
SHIPPED = {format.name: format for format in shipped_formats()}


def mutants(data: bytes, source: random.Random) -> Iterator[bytes]:
    """The record, damaged in several ways."""
    yield data[:-1]
    yield data + b"\x00"
    for _ in range(drawn(MUTANTS)):
        altered = bytearray(data)
        place = source.randrange(len(data))
        match source.randrange(4):
            case 0:
                altered[place] ^= 1 << source.randrange(8)
            case 1:
                altered[place] = source.choice(b"\x00\x01\x7f\x80\xff")
            case 2:
                del altered[place:]
            case _:
                other = source.randrange(len(data))
                altered[place:place] = data[other : other + source.randrange(1, 9)]
        yield bytes(altered)


def told(error: DecodeError) -> tuple[object, ...]:
    return error.code, error.path, error.offset, error.expected, error.actual


def error_of(codec: Any, data: bytes, root: str | None, parameters: dict[str, Any]) -> tuple[object, ...] | None:
    """The error of parsing the record from the start."""
    try:
        codec.parse(data, root=root, **parameters)
    except DecodeError as error:
        return told(error)
    return None


def hold(codec: Any, format: Any) -> int:
    """Check that damaged examples of a format give the parser's errors; returns how many there were."""
    source, count = random.Random(format.name), 0
    for example in format.examples:
        parameters = dict(example.parameters)
        records = [*mutants(example.data, source)] if example.data else []
        count += errors_in(codec, records, example.root, parameters)
    return count


def errors_in(codec: Any, records: list[bytes], root: str | None, parameters: dict[str, Any]) -> int:
    """How many records are bad; each has the error that reading all of it has."""
    decoded, count = codec.decode(pa.array(records, pa.binary()), root=root, **parameters), 0
    if decoded.parents is not None:  # a row for each element
        return 0
    for data, error in zip(records, decoded.errors.to_pylist(), strict=True):
        found = error and tuple(error[each] for each in ("code", "path", "offset", "expected", "actual"))
        assert found == error_of(codec, data, root, parameters), data.hex()
        count += error is not None
    return count


@pytest.mark.parametrize("name", SHIPPED)
def test_errors_are_those_of_reading_the_whole_record(name: str) -> None:
    assert hold(importlib.import_module(f"wireloom_formats.{name}").CODEC, SHIPPED[name])


def test_errors_of_cases_are_those_of_reading_the_whole_record(case_package: ModuleType) -> None:
    found = {
        format.name: hold(importlib.import_module(f"{case_package.__name__}.{format.name}").CODEC, format)
        for format in case_formats()
    }
    assert sum(found.values()) > len(found)


ITEM = "Item: {fields: [{a: {type: uint8, range: 0 .. 99}}, {b: str}, {c: list(uint8)}]}"
ITEMS = [{"a": number, "b": "x" * number, "c": [number, 200]} for number in range(1, 4)]
ANY = [1, "a", [2, [None, 3], [4]], {"k": [5, [6]], "l": 7, "m": [8]}, [], 70_000]
PARTS = [
    {"a": number, "b": [number, 200], "c": [{"x": 1}, {"x": 2, "y": "q"}], "d": {"x": 3}} for number in range(1, 4)
]
TEXT = {"a": ITEMS, "b": {"n": [1, 2], "t": {"c": [1, 2], "d": [3, 4, 5]}}, "c": [7, 8, 9]}
ENCODINGS: dict[str, tuple[str, dict[str, Any]]] = {
    "json": (
        f"""
encoding: json
limits: {{depth: 4}}
errors: {{odd: Odd.}}
types:
  R:
    fields:
      - f: {{type: list(Item), optional: true}}
      - g: list(list(uint8))
      - u: {{type: list(Item), unique: a}}
      - v: V
      - m: map(str, list(uint8))
      - o: Pair
      - n: list(Pair)?
      - last: {{type: uint8, range: 0 .. 9}}
      - check: {{that: count(g) > 1, else: odd}}
  V: {{oneOf: {{nothing: nil, number: int, text: str, list: list(V), map: "map(str, V)"}}}}
  Pair: {{form: array, fields: [{{x: list(int8)}}, {{y: list(Item)}}]}}
  {ITEM}
""",
        {
            "f": ITEMS,
            "g": [[1, 2], [], [3, 4]],
            "u": ITEMS,
            "v": ANY,
            "m": {"p": [1, 2], "q": [3]},
            "o": {"x": [1, 2, 3], "y": ITEMS},
            "n": [{"x": [1], "y": ITEMS}, {"x": [2], "y": []}],
            "last": 1,
        },
    ),
    "msgpack": (
        f"""
encoding: msgpack
limits: {{depth: 6}}
types:
  R: {{fields: [{{f: list(Item)}}, {{g: list(list(uint8))}}, {{v: V}}, {{w: V}}, {{m: M}}, {{last: uint8}}]}}
  M: {{fields: [{{x: "map(str, list(uint8))"}}]}}
  V: {{oneOf: {{nil: nil, int: int, str: str, list: list(V), map: "map(V, V)"}}}}
  {ITEM}
""",
        {"f": ITEMS, "g": [[1, 2], [], [3]], "v": ANY, "w": {"a": ANY}, "m": {"x": {"p": [1, 2], "q": [3]}}, "last": 1},
    ),
    "protobuf": (
        """
encoding: protobuf
types:
  R:
    fields:
      - a: {type: list(Part), tag: 1}
      - p: {type: list(uint32), tag: 2}
      - s: {type: list(str), tag: 3}
      - f: {type: list(uint32), wire: fixed, tag: 4}
      - i: {type: Inner, tag: 5}
      - m: {type: "map(str, uint32)", tag: 6}
      - u: {type: list(Small), unique: x, tag: 7}
      - one: {type: Small, tag: 9, oneOf: either}
      - other: {type: Inner, tag: 10, oneOf: either}
      - last: {type: uint8, range: 0 .. 9, tag: 8}
  Part:
    fields:
      - a: {type: uint8, tag: 1, range: 0 .. 99}
      - b: {type: list(uint8), tag: 2}
      - c: {type: list(Small), tag: 3}
      - d: {type: Small, tag: 4, optional: true}
  Small: {fields: [{x: {type: uint8, tag: 1}}, {y: {type: str, tag: 2, optional: true}}]}
  Inner: {fields: [{parts: {type: list(Part), tag: 1}}, {n: {type: list(int8), tag: 2}}]}
""",
        {
            "a": PARTS,
            "p": [1, 200, 300_000],
            "s": ["a", "bb", "c"],
            "f": [1, 2, 3],
            "i": {"parts": PARTS[:2], "n": [1, -1, 2]},
            "m": {"k": 1, "l": 2},
            "u": [{"x": 1}, {"x": 2}],
            "other": {"parts": PARTS[1:], "n": []},
            "last": 1,
        },
    ),
    "texts_in_binary": (
        f"""
encoding: binary
types:
  R:
    fields:
      - z: {{type: list(uint8), count: uint8}}
      - j: {{type: J, size: uint16}}
      - q: {{type: J, size: uint16, unpack: zlib}}
      - k: {{type: list(uint8), count: uint8}}
      - e: {{type: list(K), count: uint8}}
      - last: uint8
  K: {{fields: [{{j: {{type: J, size: uint16}}}}]}}
  J: {{encoding: json, fields: [{{a: list(Item)}}, {{b: Held}}, {{c: list(uint8)}}]}}
  Held: {{encoding: binary, fields: [{{n: {{type: list(uint8), count: uint8}}}}, {{t: {{type: T, size: uint8}}}}]}}
  T: {{encoding: json, fields: [{{c: list(uint8)}}, {{d: list(uint8)}}]}}
  {ITEM.replace("{fields", "{encoding: json, fields")}
""",
        {"z": [91, 91], "j": TEXT, "q": TEXT, "k": [1, 2, 3], "e": [{"j": TEXT}, {"j": TEXT}], "last": 1},
    ),
}


def modules_of(name: str, text: str, folder: Path) -> Any:
    """The modules of a spec, whose text follows the line `root`."""
    (folder / f"{name}.yaml").write_text(f"wireloom: 1\nformat: {name}\ntitle: t\nroot: R\n{text}", encoding="utf-8")
    (format,) = pipeline.formats(folder)
    return opened({format.name: pipeline.emit(format)})


@pytest.mark.parametrize("name", ENCODINGS)
def test_lists_within_lists_and_behind_others(name: str, tmp_path: Path) -> None:
    text, value = ENCODINGS[name]
    source = random.Random(name)
    with modules_of(name, text, tmp_path) as modules:
        codec = modules[name].CODEC
        data = codec.build(value)
        cut = [data[:place] for place in source.sample(range(len(data)), drawn(40))]
        records = [*cut, *(each for _ in range(drawn(60)) for each in mutants(data, source))]
        assert errors_in(codec, records, None, {}) > len(records) // 2


SPEC = """
wireloom: 1
format: long_lists
title: Lists that are long
encoding: binary
root: R
types:
  R:
    fields:
      - first: {type: list(Item), count: uint32}
      - packed: {type: list(Item), size: uint32, unpack: zlib}
      - event: {type: Event, size: uint32}
      - last: {type: list(Item), terminator: ff}
      - end_mark: {type: uint8, const: 7}
  Item: {fields: [{a: {type: uint8, range: 0 .. 9}}, {parts: {type: list(uint8), count: uint8}}]}
  Event: {encoding: msgpack, fields: [{items: list(Pair)}]}
  Pair: {encoding: msgpack, fields: [{a: uint8}, {b: str}]}
"""


def long_lists(count: int) -> dict[str, Any]:
    items = [{"a": number % 10, "parts": [1, 2]} for number in range(count)]
    event = {"items": [{"a": 1, "b": "x"} for _ in range(count)]}
    return {"first": items, "packed": items, "event": event, "last": items, "end_mark": 7}


@pytest.mark.skipif(not engines.available(), reason="the native engine is not built")
@pytest.mark.parametrize("place", ["the end", "the last list", "the packed list", "the first list"])
def test_what_was_read_is_passed_over(tmp_path: Path, place: str) -> None:
    (tmp_path / "long_lists.yaml").write_text(SPEC, encoding="utf-8")
    (format,) = pipeline.formats(tmp_path)
    with opened({format.name: pipeline.emit(format)}) as modules:
        codec = modules[format.name].CODEC
        few, many = (calls_of(codec, damaged(codec.build(long_lists(count)), place, count)) for count in (200, 2000))
    assert many < 1.2 * few, (few, many)


LONG_TEXTS = f"""
encoding: json
types:
  R: {{fields: [{{v: V}}, {{first: list(Item)}}, {{last: list(uint8)}}]}}
  V: {{oneOf: {{number: int32, list: list(V)}}}}
  {ITEM}
"""
FAULTS = {
    "the end of the text": (b"2,2]}", b"2,2]"),
    "the syntax of an element": (b"2,2]}", b"2,02]}"),
    "the last list": (b"2,2]}", b"2,256]}"),
    "a list before": (b'{"a":1', b'{"a":100'),
    "an open value": (b'"v":[1,2', b'"v":[1,""'),
    "the end of an open value": (b'],"first"', b',2.5],"first"'),
}
"""What stands in the text, and what in place of the last of it."""


@pytest.mark.skipif(not engines.available(), reason="the native engine is not built")
@pytest.mark.parametrize("fault", FAULTS)
def test_what_was_read_is_passed_over_in_texts(tmp_path: Path, fault: str) -> None:
    good, bad = FAULTS[fault]
    with modules_of("long_texts", LONG_TEXTS, tmp_path) as modules:
        codec, work = modules["long_texts"].CODEC, []
        for count in (200, 2000):
            value = {"v": [1] + [2] * count, "first": [ITEMS[0]] * count, "last": [2] * count}
            before, behind = codec.build(value).rsplit(good, 1)
            work.append(calls_of(codec, before + bad + behind))
    assert work[1] < 1.2 * work[0], work


LONG_MESSAGES = """
encoding: protobuf
types:
  R: {fields: [{first: {type: list(Part), tag: 1}}, {inner: {type: Inner, tag: 2}}, {last: {type: list(int8), tag: 3}}]}
  Inner: {fields: [{parts: {type: list(Part), tag: 1}}]}
  Part: {fields: [{a: {type: uint8, tag: 1, range: 0 .. 99}}, {b: {type: list(str), tag: 2}}]}
"""
FAULTS_OF_MESSAGES = {
    "the wire of the last list": (b"\x18\x05", b"\x1b\x05"),
    "a number of the last list": (b"\x18\x05", b"\x18\x85"),
    "a value of the last list": (b"\x18\x05", b"\x18\xff\x01"),
    "what an element must have": (b"\x08\x01", b"\x18\x01"),
    "a value of an element": (b"\x08\x01", b"\x08\x64"),
    "the wire of an element": (b"\x08\x01", b"\x08\x81"),
}


@pytest.mark.skipif(not engines.available(), reason="the native engine is not built")
@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("fault", FAULTS_OF_MESSAGES)
def test_what_was_read_is_passed_over_in_messages(tmp_path: Path, fault: str, *, first: bool) -> None:
    good, bad = FAULTS_OF_MESSAGES[fault]
    with modules_of("long_messages", LONG_MESSAGES, tmp_path) as modules:
        codec, work = modules["long_messages"].CODEC, []
        for count in (200, 2000):
            parts = [{"a": 1, "b": ["x"]}] * count
            data = codec.build({"first": parts, "inner": {"parts": parts}, "last": [5] * count})
            before, behind = data.split(good, 1) if first else data.rsplit(good, 1)
            work.append(calls_of(codec, before + bad + behind))
    assert work[1] < 1.2 * work[0], work


LONG_VALUES = """
encoding: msgpack
types:
  R: {fields: [{v: V}, {last: uint8}]}
  V: {oneOf: {int: int, str: str, list: list(V), map: 'map(V, V)'}}
"""


@pytest.mark.skipif(not engines.available(), reason="the native engine is not built")
@pytest.mark.parametrize("bad", [b"\xc1\x07", b"\x02\xc1", b"\xc0\x07", b"\x02"])
def test_what_was_read_is_passed_over_in_open_values(tmp_path: Path, bad: bytes) -> None:
    with modules_of("long_values", LONG_VALUES, tmp_path) as modules:
        codec, work = modules["long_values"].CODEC, []
        for count in (200, 2000):
            data = codec.build({"v": {"a": [[1, 2], *[2] * count]}, "last": 7})
            work.append(calls_of(codec, data.removesuffix(b"\x02\x07") + bad))
    assert work[1] < 1.2 * work[0], work


@pytest.mark.skipif(not engines.available(), reason="the native engine is not built")
def test_validation_passes_over_what_was_read_too(tmp_path: Path) -> None:
    (tmp_path / "long_lists.yaml").write_text(SPEC, encoding="utf-8")
    (format,) = pipeline.formats(tmp_path)
    with opened({format.name: pipeline.emit(format)}) as modules:
        codec, work = modules[format.name].CODEC, []
        for count in (200, 2000):
            data = damaged(codec.build(long_lists(count)), "the packed list", count)
            error, _ = codec.refusal(data, None, codec.settings({}), documents.regular)
            assert told(error) == error_of(codec, data, codec.default_root, {})
            work.append(calls_in(partial(codec.refusal, data, None, codec.settings({}), documents.regular)))
    assert work[1] < 1.2 * work[0], work


def test_one_message_is_validated_as_many_are() -> None:
    """Good messages are validated by the engine; the parser only reads refused ones."""
    data = SHIPPED["netflow_v5"].examples[0].data
    assert netflow_v5.validate(data) == []
    assert "wireloom.runtime.parsers.structure" not in called_in(partial(netflow_v5.validate, data))


def damaged(data: bytes, place: str, count: int) -> bytes:
    """The record, with a fault at a place."""
    altered = bytearray(data)
    match place:
        case "the end":
            altered[-1] = 8
        case "the last list":
            altered[-6] = 77  # `a` of the last item
        case "the first list":
            altered[4 + 4 * (count - 1)] = 77
        case _:
            start = 4 + 4 * count
            size = int.from_bytes(data[start : start + 4], "big")
            content = bytearray(zlib.decompress(data[start + 4 : start + 4 + size]))
            content[-4] = 77
            packed = zlib.compress(content)
            altered[start : start + 4 + size] = len(packed).to_bytes(4, "big") + packed
    return bytes(altered)


def calls_of(codec: Any, data: bytes) -> int:
    """How many functions of Python are called to decode a bad record."""
    array = pa.array([data], pa.binary())
    assert codec.decode(array).errors.null_count == 0
    return calls_in(lambda: codec.decode(array))


def calls_in(act: Callable[[], object]) -> int:
    """How many functions of Python it calls."""
    return len(called_in(act))


def called_in(act: Callable[[], object]) -> list[str]:
    """The modules of the functions of Python that it calls, one for each call."""
    called: list[str] = []

    def note(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call":
            called.append(frame.f_globals.get("__name__", ""))

    sys.setprofile(note)
    try:
        act()
    finally:
        sys.setprofile(None)
    return called


def test_elements_that_were_passed_over_have_no_values() -> None:
    elements = Passed([None] * 3)
    assert len(elements) == 3
    for use in (iter, sum, list, lambda each: each[0], lambda each: 1 in each, lambda each: each == []):
        with pytest.raises(Unread):
            use(elements)  # type: ignore[operator]


ZERO_BYTES = """
wireloom: 1
format: zero_bytes
title: Records of no bytes
encoding: binary
root: R
types: {R: {fields: [{f: {type: bytes(0), values: {"": a}, raw: str}}]}}
"""


@pytest.mark.skipif(not engines.available(), reason="the native engine is not built")
def test_records_without_bytes_are_read_natively(tmp_path: Path) -> None:
    (tmp_path / "zero_bytes.yaml").write_text(ZERO_BYTES, encoding="utf-8")
    (format,) = pipeline.formats(tmp_path)
    with opened({format.name: pipeline.emit(format)}) as modules:
        codec = modules[format.name].CODEC
        assert codec.decode([b"", b""]).records.to_pylist() == [{"str": b"", "f": "a"}] * 2
        assert codec.engine.reread == 0

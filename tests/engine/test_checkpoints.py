"""A record that the engine gives up is read from its checkpoints: the error is that of reading all of it."""
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


def error_of(codec: Any, data: bytes, root: str, parameters: dict[str, Any]) -> tuple[object, ...] | None:
    """What reading all of a record says."""
    try:
        codec.parse(data, root=root, **parameters)
    except DecodeError as error:
        return told(error)
    return None


def hold(codec: Any, format: Any) -> int:
    """Damaged examples of a format have the errors that the parser says of them; how many there were."""
    source, count = random.Random(format.name), 0
    for example in format.examples:
        parameters = dict(example.parameters)
        records = [*mutants(example.data, source)] if example.data else []
        decoded = codec.decode(pa.array(records, pa.binary()), root=example.root, **parameters)
        if decoded.parents is not None:  # a row for each element
            continue
        for data, error in zip(records, decoded.errors.to_pylist(), strict=True):
            found = error and tuple(error[each] for each in ("code", "path", "offset", "expected", "actual"))
            assert found == error_of(codec, data, example.root, parameters), data.hex()
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
    """By the engine, where it is right: the parser is asked about those that are refused."""
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

"""Runs of numbers that are written together, among bad records, two kinds, nulls, and lists of runs."""

import importlib
import random
import struct
import sys

import pyarrow as pa
import pytest

import differential
from support.drawing import drawn
from wireloom import pipeline
from wireloom.pipeline import Project
from wireloom.runtime import engine as engines
from wireloom.runtime.engine import Request

pytestmark = pytest.mark.skipif(not engines.available(), reason="the native engine is not built")

PACKAGE = "wireloom_waiting"
SPEC = """
wireloom: 1
format: waiting
title: Records of two kinds, with runs of numbers in them and in lists
encoding: binary
byteOrder: little
errors: {bad_kind: Another kind., bad_end: Another end.}
root: Any
types:
  Any: {select: {peek: uint8}, cases: {1: Plain, 2: Listed}, else: bad_kind}
  Plain:
    fields:
      - kind: {type: uint8, const: 1}
      - a: int64
      - b: int32
      - c: uint16
      - d: int8
      - state: {type: uint8, values: {0: none, 1: some}, else: bad_kind}
      - after: {type: Four, when: state == 'some'}
      - last: {type: uint8, const: 9, else: bad_end}
  Listed:
    fields:
      - kind: {type: uint8, const: 2}
      - d: int8
      - c: uint16
      - b: int32
      - a: int64
      - count: {type: uint8, derive: count(items), hidden: true}
      - items: {type: list(Four), count: count}
      - last: {type: uint8, const: 9, else: bad_end}
  Four:
    fields:
      - first: int32
      - second: int8
      - third: int64
      - fourth: uint8
      - fifth: uint16
"""


@pytest.fixture(scope="module")
def codec(tmp_path_factory):
    folder = tmp_path_factory.mktemp("waiting")
    specs = folder / "specs"
    specs.mkdir()
    (specs / "waiting.yaml").write_text(SPEC, "utf-8")
    pipeline.generate(Project(specs, folder / "out", PACKAGE))
    sys.path.insert(0, str(folder / "out"))
    yield importlib.import_module(f"{PACKAGE}.waiting").CODEC
    sys.path.remove(str(folder / "out"))


def four(source: random.Random) -> bytes:
    return source.randbytes(16)


def plain(source: random.Random) -> bytes:
    mark = source.randrange(2)
    return b"\1" + source.randbytes(15) + bytes((mark,)) + four(source) * mark + b"\t"


def listed(source: random.Random) -> bytes:
    count = source.choice((0, 0, 1, 2, 3, 200))
    return b"\2" + source.randbytes(15) + bytes((count,)) + four(source) * count + b"\t"


def bad(source: random.Random) -> bytes:
    record = source.choice((plain, listed))(source)
    return source.choice((record[:-1], record[:-1] + b"\0", record[: source.randrange(len(record))], b"\3"))


@pytest.mark.parametrize(
    "makers",
    [(plain,), (listed,), (plain,) * 40 + (bad,), (plain, listed), (plain, listed, bad)],
    ids=["plain", "lists", "rarely bad", "mixed", "mixed and bad"],
)
@pytest.mark.parametrize("columns", [None, ("a", "items.third"), ("after",)], ids=["all", "some", "struct"])
def test_engine_and_parser_agree_on_hundreds_in_one_array(codec, makers, columns):
    source = random.Random(8)  # noqa: S311 - no secret is made
    records = [source.choice(makers)(source) for _ in range(drawn(500))]
    request = Request(codec.default_root, codec.settings({}), columns)
    assert codec.engine.program(request) is not None
    assert differential.compare(codec.engine, records, request) == []


def test_nulls_between_runs_stay_nulls(codec):
    source = random.Random(9)  # noqa: S311 - no secret is made
    records = [plain(source) if source.randrange(3) else None for _ in range(1000)]
    found = codec.decode(pa.array(records, pa.binary())).records
    assert [value.as_py() is None for value in found] == [record is None for record in records]
    numbers = found.field("a").filter(found.is_valid()).to_pylist()
    assert numbers == [struct.unpack_from("<q", record, 1)[0] for record in records if record is not None]


def test_a_stream_of_runs_is_read_as_an_array_of_them(codec, tmp_path):
    source = random.Random(10)  # noqa: S311 - no secret is made
    records = [source.choice((plain, listed))(source) for _ in range(2000)]
    path = tmp_path / "records"
    path.write_bytes(b"".join(struct.pack(">I", len(record)) + record for record in records))
    with path.open("rb") as file:
        parts = list(codec.decode_stream(file, framing="length-prefixed"))
    together = pa.concat_arrays([part.records for part in parts])
    assert together.equals(codec.decode(pa.array(records, pa.binary())).records)

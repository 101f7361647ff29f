"""Expressions that slice texts: engine and parser agree in all edge cases."""

import importlib
import sys
from collections.abc import Iterator
from types import ModuleType

import pyarrow as pa
import pytest

from proof.chance import Chance
from proof.modules import documents, generated, resolved
from wireloom import pipeline
from wireloom.pipeline import Project
from wireloom.runtime import engine as engines
from wireloom.runtime.codec import Codec

pytestmark = pytest.mark.skipif(not engines.available(), reason="the native engine is not built")

PACKAGE = "wireloom_made_texts"
SPEC = """
wireloom: 1
format: made
title: Parts of texts
encoding: binary
limits: {expansion: 60000}
root: Record
types:
  Record:
    fields:
      - text: {type: str, size: uint32}
      - data: {type: bytes, size: uint32}
      - from: int64
      - to: int64
      - part: {compute: "slice(text, from, to)", type: str}
      - octets: {compute: "slice(data, from, to)", type: bytes}
      - rest: {compute: "slice(text, to)", type: str}
      - inner: {compute: "slice(part, from)", type: str}
      - listed: {compute: "slice(data, 0, 2) in ['0000', '6161', '']", type: bool}
      - either: {compute: "slice(rest, 0, 1) == 'a' ? part : 'another'", type: str}
      - copied: {compute: "part != 'x' ? part : text", type: str}
      - more: {type: uint8, when: "slice(part, 0, 1) == 'x'"}
      - items: {type: list(Item), count: uint8}
  Item:
    fields:
      - at: int16
      - three: {compute: "slice(text, at, at + 3)", type: str}
"""
CHARACTERS = ("a", "x", "\u00e9", "\u20ac", "\U0001f600", "\0", "z")
PLACES = (0, 1, 2, 3, -1, -2, -3, 7, 8, 9, 16, 17, -8, -9, -16, 100, -100, 70_000, -70_000, 2**63 - 1, -(2**63))
SIZES = (0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 40)
LARGE = (21_845, 21_846, 32_767, 65_535, 65_536)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """The format."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "specs" / "made").mkdir(parents=True)
    (folder / "specs" / "made" / "made.yaml").write_text(SPEC, encoding="utf-8")
    pipeline.generate(Project(folder / "specs", folder / "generated", PACKAGE))
    sys.path.insert(0, str(folder / "generated"))
    yield importlib.import_module(f"{PACKAGE}.made")
    sys.path.remove(str(folder / "generated"))


def record(chance: Chance) -> bytes:
    """A record with texts and indices at their limits."""

    def text(size: int) -> str:
        return "".join(chance.choice(CHARACTERS) for _ in range(size))

    large = chance.random() < 0.05
    name = "a" * chance.choice(LARGE) if large else text(chance.choice(SIZES))
    data = b"a" * chance.choice(LARGE) if large else bytes(chance.choice((0, 97)) for _ in range(chance.choice(SIZES)))
    encoded, (first, last) = name.encode(), [chance.choice(PLACES) for _ in range(2)]
    parts = [len(encoded).to_bytes(4, "big"), encoded, len(data).to_bytes(4, "big"), data]
    parts += [place.to_bytes(8, "big", signed=True) for place in (first, last)]
    parts += [b"\7"] if name[first:last][:1] == "x" else []
    items = [chance.choice((0, 1, -1, 2, -3, 40, -40)) for _ in range(chance.choice((0, 1, 9)))]
    return b"".join([*parts, bytes([len(items)]), *(item.to_bytes(2, "big", signed=True) for item in items)])


def test_the_engine_makes_the_texts_that_the_parser_makes(made: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = Chance(7)
    records = pa.array([record(chance) for _ in range(800)], pa.binary())
    assert made.CODEC.decode_path() == made.CODEC.encode_path() == engines.Path(native=True)
    native = made.decode(records)
    assert native.reread == len(records) - native.errors.null_count > 0  # those alone that are refused
    written = made.encode(native.records)
    monkeypatch.setattr(Codec, "engine", None)
    plain = made.decode(records)
    assert native.records.equals(plain.records)
    assert native.errors.equals(plain.errors)
    good = zip(records.to_pylist(), plain.records.is_valid().to_pylist(), strict=True)
    assert written.to_pylist() == [data if valid else None for data, valid in good]


@pytest.mark.parametrize("bits", [1, 2, 3, 4, 63, 64, 65, 127, 128])
def test_a_text_says_no_number_of_more_bits_than_are_asked_for(bits: int) -> None:
    number = {"compute": f"decimal(text, {bits})", "type": "uint128", "hidden": True}
    fields = [{"text": "str"}, {"number": number}, {"fits": {"compute": "present(number)", "type": "bool"}}]
    spec = {"wireloom": 1, "format": "r", "title": "r", "encoding": "binary", "root": "R"}
    most = (1 << bits) - 1
    numbers = sorted({*range(20), most - 1, most, most + 1, 10 * most, 10 * most + 9})
    with generated(resolved(documents({"r.yaml": {**spec, "types": {"R": {"fields": fields}}}}))) as made:
        codec: Codec = made.module.CODEC
        assert codec.decode_path().native
        records = [str(number).encode() for number in numbers]
        found = codec.decode(pa.array(records)).records.field("fits").to_pylist()
        assert found == [codec.parse(each)["fits"] for each in records] == [number <= most for number in numbers]

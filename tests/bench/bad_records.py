"""Measures the cost of a bad record against a good one of the same bytes: `python tests/bench/bad_records.py`.

One list in each example of a format is repeated until the record has about 64 kB. Then the record is damaged in several
ways: cut off, extended by a byte, single bits flipped, most of them near the end. The worst case of each format is
shown.
"""
# ruff: noqa: T201 - it prints what it measures

import copy
import gc
import random
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa

from wireloom import pipeline
from wireloom.examples.memory import opened
from wireloom.runtime.errors import WireloomError

ROOT = Path(__file__).resolve().parents[2]
SIZE = 64_000
OWN = {
    "small_elements": (
        "encoding: binary",
        "{fields: [{xs: {type: list(uint8), count: uint32}}, {last: {type: uint8, const: 7}}]}",
        {"xs": [1, 2], "last": 7},
    ),
    "small_structs": (
        "encoding: binary",
        "{fields: [{xs: list(E)}]}\n  E: {fields: [{a: {type: uint8, range: 0 .. 200}}, {b: uint8}]}",
        {"xs": [{"a": 1, "b": 2}, {"a": 3, "b": 4}]},
    ),
    "numbers": ("encoding: binary", "{fields: [{xs: {type: list(varint64), count: uint32}}]}", {"xs": [1, 2]}),
    "texts": ("encoding: binary", "{fields: [{xs: {type: 'list(str(uint8))', count: uint32}}]}", {"xs": ["a", "b"]}),
    "messages": (
        "encoding: protobuf",
        "{fields: [{xs: {type: list(E), tag: 1}}]}\n  E: {fields: [{a: {type: uint32, tag: 1}}]}",
        {"xs": [{"a": 1}, {"a": 2}]},
    ),
    "packed": ("encoding: protobuf", "{fields: [{xs: {type: list(uint32), tag: 1}}]}", {"xs": [1, 2]}),
    "arrays": (
        "encoding: msgpack",
        "{fields: [{xs: list(E)}]}\n  E: {fields: [{a: uint8}, {b: str}]}",
        {"xs": [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]},
    ),
    "open_values": (
        "encoding: msgpack",
        "{fields: [{v: V}]}\n  V: {oneOf: {nil: nil, int: int, str: str, list: list(V), map: 'map(V, V)'}}",
        {"v": [1, 2, "a", None]},
    ),
    "objects": (
        "encoding: json",
        "{fields: [{xs: list(E)}]}\n  E: {fields: [{a: uint8}, {b: str}]}",
        {"xs": [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]},
    ),
    "numbers_in_text": ("encoding: json", "{fields: [{xs: list(uint8)}]}", {"xs": [1, 2]}),
    "attempts": (
        "encoding: binary\nerrors: {other: Another alternative.}",
        (
            "{fields: [{xs: list(W)}]}\n"
            "  W: {attempt: [{name: long, type: L, fallback: [{codes: [other]}]}, {name: short, type: S}]}\n"
            "  L: {fields: [{k: {type: uint8, const: 1, else: other}}, {a: uint16}]}\n"
            "  S: {fields: [{k: {type: uint8, const: 2}}]}"
        ),
        {"xs": [{"kind": "short", "k": 2}, {"kind": "long", "k": 1, "a": 9}]},
    ),
    "bomb": (
        "encoding: binary",
        "{fields: [{xs: {type: list(E), size: uint32, unpack: gzip}}]}\n  E: {fields: [{a: uint8}]}",
        {"xs": [{"a": 1}, {"a": 1}]},
    ),
}
"""Our own specs: the text before the types, the types from R on, and a value."""


@dataclass(frozen=True)
class Costs:
    """Seconds for the good record and for the worst bad one, and the kind of damage."""

    size: int
    good: float
    bad: float
    damage: str


def grown(codec: Any, value: Any, root: str | None, parameters: dict[str, Any]) -> bytes | None:
    """The bytes of a value, with one list repeated until there are about SIZE bytes."""
    best = None
    for path in lists(value):
        count = 1
        while count < SIZE:
            larger = copy.deepcopy(value)
            found = larger
            for step in path:
                found = found[step]
            found[:] = found * (2 * count)
            try:
                data = codec.build(larger, root=root, **parameters)
            except WireloomError:
                break
            if len(data) > 2 * SIZE:
                break
            count, best = 2 * count, max(best or b"", data, key=len)
    return best


def lists(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of non-empty lists in a value."""
    if isinstance(value, list) and value:
        yield path
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, member in members:
        yield from lists(member, (*path, name))


def damaged(data: bytes) -> Iterator[tuple[str, bytes]]:
    """The record, damaged in several ways."""
    yield "cut off", data[:-1]
    yield "cut in the middle", data[: len(data) // 2]
    yield "a byte more", data + b"\x00"
    source = random.Random(1)  # noqa: S311 - no secrets
    places = [len(data) - 1 - min(int(source.expovariate(0.1)), len(data) - 1) for _ in range(12)]
    for place in [*places, *(source.randrange(len(data)) for _ in range(4))]:
        altered = bytearray(data)
        altered[place] ^= 1 << source.randrange(8)
        yield f"byte {place} altered", bytes(altered)


def seconds(codec: Any, data: bytes, root: str | None, parameters: dict[str, Any], runs: int = 1) -> tuple[float, bool]:
    """The shortest decoding time, and whether the record is good."""
    array, best = pa.array([data], pa.binary()), float("inf")
    for _ in range(runs):
        start = time.perf_counter()
        decoded = codec.decode(array, root=root, **parameters)
        best = min(best, time.perf_counter() - start)
    return best, decoded.errors.null_count == len(decoded.errors)


def costs(codec: Any, data: bytes, root: str | None, parameters: dict[str, Any]) -> Costs:
    """The cost of a record, and of its worst damaged version."""
    gc.collect()
    gc.freeze()  # the collector need not look at the values that were built
    good, _ = seconds(codec, data, root, parameters, 5)
    bad = [(*seconds(codec, each, root, parameters, 2), damage) for damage, each in damaged(data)]
    worst = max(((taken, damage) for taken, is_good, damage in bad if not is_good), default=(0.0, "none"))
    return Costs(len(data), good, *worst)


def shipped() -> Iterator[tuple[str, Costs]]:
    """The costs of each format in specs/, by its largest record."""
    for format in pipeline.formats(ROOT / "specs"):
        with opened({format.name: pipeline.emit(format)}) as modules:
            codec = modules[format.name].CODEC
            records = [
                (data, each.root, dict(each.parameters))
                for each in format.examples
                if (data := enlarged(codec, each)) is not None
            ]
            records.sort(key=lambda record: len(record[0]))
            if records:
                yield format.name, costs(codec, *records[-1])


def enlarged(codec: Any, example: Any) -> bytes | None:
    """The record of an example, enlarged; None for a bad one."""
    parameters = dict(example.parameters)
    try:
        value = codec.parse(example.data, root=example.root, **parameters)
        return grown(codec, value, example.root, parameters) or example.data
    except WireloomError:
        return None


def own() -> Iterator[tuple[str, Costs]]:
    """The costs of our own specs."""
    for name, (head, types, value) in OWN.items():
        with tempfile.TemporaryDirectory() as folder:
            text = f"wireloom: 1\nformat: {name}\ntitle: t\n{head}\nroot: R\ntypes:\n  R: {types}\n"
            (Path(folder) / f"{name}.yaml").write_text(text, encoding="utf-8")
            (format,) = pipeline.formats(Path(folder))
        with opened({format.name: pipeline.emit(format)}) as modules:
            codec = modules[name].CODEC
            data = grown(codec, value, None, {})
            assert data is not None
            yield name, costs(codec, data, None, {})


def main() -> None:
    """Print a line for each format."""
    print(f"{'format':<22}{'bytes':>8}{'good ms':>10}{'bad ms':>10}{'ratio':>8}  worst damage")
    for name, found in chain(own(), shipped()):
        ratio = found.bad / found.good
        print(
            f"{name:<22}{found.size:>8}{found.good * 1e3:>10.2f}{found.bad * 1e3:>10.2f}{ratio:>8.1f}  {found.damage}"
        )


if __name__ == "__main__":
    main()

"""Engine and construct parser on the same mutants: `python tests/fuzz/differential.py FORMAT [count] [seed]`.

Records that the engine accepts must be accepted by the parser, with equal columns; those that it gives up on are left
to the parser anyway. Half of the mutants have corrected checksums; mutants of JSON text are altered as JSON.
"""
# ruff: noqa: T201, E501 - it prints what differs

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, get_args

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / folder) for folder in ("generator", "generated", "tests/bench", "tests/fuzz")]

import pyarrow as pa  # noqa: E402

import engine_data as data  # noqa: E402
from json_mutants import json_mutants  # noqa: E402
from mutants import mutants  # noqa: E402
from wireloom.runtime.columns import arrow  # noqa: E402
from wireloom.runtime.engine import Engine, Request  # noqa: E402

_CHUNK = 5000
OPEN_VALUES = get_args(arrow.OpenValues)
SETTINGS: dict[str, tuple[dict[str, Any], ...]] = {
    "databus_event": ({}, {"byteOrder": "auto"}, {"schemaField": "version", "bothOpcodeBits": "error"}, {"verifyCrc": False, "unknownAttributes": "error"}),
    "aerospike_msgpack": ({}, {"max_depth": 2}),
    "aerospike_json": ({}, {"unknownMembers": "ignore"}, {"max_depth": 2}, {"max_depth": 0}),
    "databus_json": ({}, {"unknownMembers": "ignore"}),
    "kpl_record": ({}, {"on_corrupt": "passthrough"}, {"on_corrupt": "prefix", "verify_digest": False}, {"invalid_utf8": "replace"}, {"shard_range": "0..170141183460469231731687303715884105727"}, {"shard_range": "7..300", "on_corrupt": "passthrough"}),
}  # fmt: skip


def seeds(name: str) -> list[bytes]:
    """The records to start from: made ones if there are any, and the examples of the spec."""
    made = {
        "databus_event": lambda: data.databus(20, 12),
        "aerospike_msgpack": lambda: data.aerospike(60),
        "aerospike_json": lambda: data.aerospike_json(60),
        "databus_json": lambda: data.databus_json(20, 70),
        "kpl_record": lambda: [*data.kpl(4, 3, 12), *data.kpl(2, 20, 5)],
    }
    return [*(made[name]() if name in made else ()), *data.examples(name)]


def parser(engine: Engine, request: Request) -> Callable[[bytes], object]:
    """The parser that corrects the mutants."""
    construct = engine.root(request).construct
    return lambda data: construct.parse(data, **request.settings)


def altered(engine: Engine, records: Sequence[bytes], count: int, seed: int, request: Request) -> Iterator[bytes]:
    """`count` mutants of records of the format."""
    if "structure" in engine.layout:
        return json_mutants(records, count, seed)
    return mutants(records, count, seed, parser(engine, request))


def compare(engine: Engine, records: Sequence[bytes], request: Request) -> list[tuple[bytes, str]]:
    """The records on which engine and parser differ, with the difference."""
    array = pa.array(records, pa.binary())
    found = engine.decode(array, request)
    assert found is not None, "the engine does not cover this format"
    found.records.validate(full=True)
    root = engine.root(request)
    values, errors = engine.codec.parse_all(array, request)
    tabulation = arrow.Tabulation(root.logical, root.rows, root.elements)
    wanted = arrow.decoded(
        values, errors, tabulation, arrow.View(request.columns, request.explode, request.open_values)
    )
    if _text(found.records) == _text(wanted.records) and found.errors.equals(wanted.errors):
        return []
    if request.explode or root.elements:
        return [(b"", "the rows differ")]
    return [
        (record, f"{ours} {our_error} != {theirs} {their_error}")
        for record, ours, theirs, our_error, their_error in zip(
            records,
            *(each.to_pylist() for each in (found.records, wanted.records, found.errors, wanted.errors)),
            strict=True,
        )
        if repr(ours) != repr(theirs) or our_error != their_error
    ]


def _text(array: pa.Array) -> str:
    """All values as text, since Arrow's own comparison treats NaN as unequal to itself."""
    return repr(array.to_pylist())


def main(name: str, count: int, seed: int) -> int:
    """Compare; returns the number of differences."""
    engine, records, differences, done, start = data.engine(name), seeds(name), 0, 0, time.perf_counter()
    variants = SETTINGS.get(name, ({},))
    while done < count:
        settings = engine.codec.settings(variants[(done // _CHUNK) % len(variants)])
        shown = OPEN_VALUES[(done // _CHUNK) % len(OPEN_VALUES)]
        request = Request(engine.codec.default_root, settings, open_values=shown)
        chunk = min(_CHUNK, count - done)
        batch = list(altered(engine, records, chunk, seed + done, request))
        for record, what in compare(engine, batch, request):
            differences += 1
            print(f"{name} {settings}: {record.hex()}: {what[:600]}")
        done += chunk
    spent = time.perf_counter() - start
    print(f"{name}: {done} mutants, {differences} differences, {engine.reread} read again, {spent:.1f} s")
    return differences


if __name__ == "__main__":
    numbers = [int(each) for each in sys.argv[2:]]
    sys.exit(main(sys.argv[1], *(numbers + [20_000, 0][len(numbers) :])) != 0)

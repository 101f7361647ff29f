"""Engine and construct path on the same columns: `python tests/fuzz/encoding.py FORMAT [count] [seed]`.

Rows are made from valid records and then altered: nulls, numbers out of range, other words, bytes of VARIANTs. The
construct path must write the same bytes as the engine; rows that the engine gives up on are left to it anyway. With
`--engine-only` nothing is compared: for builds with sanitizers. `--library=PATH` names the build.
"""
# ruff: noqa: T201, S311 - it prints what differs, and makes no secrets

import copy
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / folder) for folder in ("generator", "generated", "tests/bench", "tests/fuzz")]

import pyarrow as pa  # noqa: E402

import differential  # noqa: E402
import engine_data as data  # noqa: E402
import hammer  # noqa: E402
from wireloom.runtime.columns import arrow, reading  # noqa: E402
from wireloom.runtime.engine import Engine, Request  # noqa: E402

_CHUNK = 1000
_NUMBERS = (0, 1, -1, 2, 3, 5, 127, 128, -128, -129, 255, 256, 32767, 32768, 65535, 65536, 2**31 - 1, 2**31, -(2**31))
_NUMBERS += (-(2**31) - 1, 2**32, 2**53, 2**63 - 1, -(2**63))
_WORDS = (
    "",
    "a",
    "MD5",
    "CRC32",
    "UPSERT",
    "write",
    "delete",
    "MAP",
    "INTEGER",
    "plain",
    "aggregated",
    "é\u20ac",
    "x" * 300,
)
SETTINGS = {
    **differential.SETTINGS,
    "databus_event": tuple(each for each in differential.SETTINGS["databus_event"] if "auto" not in each.values()),
    "kpl_record": (*differential.SETTINGS["kpl_record"], {"wrap_single": True}),
    "aerospike_msgpack": (*differential.SETTINGS["aerospike_msgpack"], {"variant": "legacy"}, {"max_size": 120}),
}


def rows(engine: Engine, request: Request, records: Sequence[bytes]) -> list[dict[str, Any]]:
    """The rows of the valid records, as plain Python, with and without derived members."""
    decoded = engine.codec.decode(pa.array(records, pa.binary()), root=request.root, **request.settings)
    return [row for row in decoded.records.to_pylist() if row is not None]


def altered(values: Sequence[dict[str, Any]], count: int, seed: int) -> Iterator[dict[str, Any]]:
    """Rows with some of their members altered."""
    source = random.Random(seed)
    for _ in range(count):
        row = copy.deepcopy(source.choice(values))
        for _ in range(source.choice((0, 1, 1, 1, 2, 3, 8))):
            places = list(_places(row))
            holder, key = source.choice(places)
            holder[key] = _other(holder[key], source, values)
        yield row


def _places(holder: Any) -> Iterator[tuple[Any, Any]]:
    for key in holder if isinstance(holder, dict) else range(len(holder)):
        yield holder, key
        if isinstance(holder[key], dict | list):
            yield from _places(holder[key])


def _other(value: Any, source: random.Random, values: Sequence[dict[str, Any]]) -> Any:
    if source.random() < 0.2:
        return None
    match value:
        case bool():
            return not value
        case int():
            return source.choice(
                (value + 1, -value, source.choice(_NUMBERS), source.getrandbits(source.randrange(1, 63)))
            )
        case float():
            return source.choice((value, -0.0, float("nan"), float("inf"), 1e300, 1e-300, 3.0))
        case (_, _):  # of a map
            return (_other(value[0], source, values), _other(value[1], source, values))
        case str():
            return source.choice((*_WORDS, value + "!", value[:1]))
        case bytes():
            return _other_bytes(value, source)
        case list():
            return source.choice((value * 2, value[1:], value[::-1], [], [*value, None], value * 20))
        case {"value": bytes(), "metadata": bytes()} if len(value) == 2:
            return {"value": _other_bytes(value["value"], source), "metadata": value["metadata"]}
        case dict():
            other = source.choice([None, *values])
            return value if other is None or other.keys() != value.keys() else copy.deepcopy(other)
        case _:
            return source.choice((None, 0, 1, True, "UPSERT", b"\0" * 16, 1.5, "k"))


def _other_bytes(value: bytes, source: random.Random) -> bytes:
    changed = bytearray(value)
    for _ in range(source.choice((1, 1, 2, 4))):
        if changed:
            place = source.randrange(len(changed))
            changed[place] = source.choice(
                (0, 1, 3, 0xFF, changed[place] ^ 1 << source.randrange(8), source.randrange(256))
            )
    return source.choice(
        (bytes(changed), bytes(changed), value[:-1], value + b"\0", b"", value * 2, bytes(changed[::-1]))
    )


def as_columns(values: Sequence[dict[str, Any]], type: pa.StructType) -> pa.StructArray:
    """Rows as columns; a member that does not fit its column is null."""
    return pa.array([fitting(value, type) for value in values], type)


def fitting(value: Any, type: pa.DataType) -> Any:
    """The value with parts that do not fit the Arrow type replaced by null, or in a VARIANT by no bytes."""
    if pa.types.is_struct(type):
        if not isinstance(value, dict):
            return None
        return {field.name: _unless_null(field, fitting(value.get(field.name), field.type)) for field in type}
    if pa.types.is_map(type):  # Arrow assumes that keys are not null
        if not isinstance(value, list):
            return None
        pairs = [each for each in value if isinstance(each, tuple)]
        fits = [(fitting(key, type.key_type), fitting(found, type.item_type)) for key, found in pairs]
        return [pair for pair in fits if pair[0] is not None]
    if pa.types.is_list(type):
        return [fitting(each, type.value_type) for each in value] if isinstance(value, list) else None
    try:
        pa.array([value], type)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError, TypeError, ValueError):
        return None
    return value


def _unless_null(field: pa.Field, value: Any) -> Any:
    return b"" if value is None and not field.nullable else value


def compare(engine: Engine, records: pa.StructArray, request: Request) -> list[tuple[int, str]]:
    """The rows on which engine and construct path differ, with the difference."""
    writer = engine.writer(request)
    assert writer is not None, "the engine does not cover this format"
    found, given_up = written(engine, records, request)
    differences = []
    for row in range(len(records)):
        if row in given_up:
            continue
        wanted = outcome(partial(constructed, engine, records.take(pa.array([row])), request))
        if found[row].as_py() != wanted:
            differences.append((row, f"{records[row]}: {found[row]} != {wanted!r}"))
    return differences


def written(engine: Engine, records: pa.StructArray, request: Request) -> tuple[pa.Array, set[int]]:
    """The bytes that the engine writes, and the rows that it gives up on."""
    run = engine.writer(request).run(records, request)
    blocks = [None if block is None else pa.py_buffer(block) for block in run.take()]
    return pa.Array.from_buffers(pa.binary(), len(records), blocks), {
        row for row, status in enumerate(run.status) if status == 2
    }


def hammer_alone(engine: Engine, records: pa.StructArray, request: Request) -> int:
    """Copy each buffer, so that sanitizers detect reads beyond its end; returns how many rows were given up."""
    table = engine.writer(request)
    given = [
        column and tuple(each if each is None or isinstance(each, int) else bytearray(each) for each in column)
        for column in table.gathered(records)
    ]
    written = table.program.run(given, 0, len(records))
    written.take()
    return int(written.failed)


def constructed(engine: Engine, records: pa.StructArray, request: Request) -> bytes | None:
    """The bytes that the construct path writes for one row."""
    (value,) = reading.from_struct_array(records, engine.root(request).logical, extensions=engine.codec.extensions)
    return None if value is None else engine.build(0, value, request)


def outcome(act: Callable[[], Any]) -> Any:
    """The result, or the exception, as text."""
    try:
        return act()
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what callers see
        return f"{type(error).__name__}: {error}"


def main(name: str, count: int, seed: int, *, engine_only: bool) -> int:
    """Compare; returns the number of differences."""
    engine, differences, refused, done, start = data.engine(name), 0, 0, 0, time.perf_counter()
    variants = SETTINGS[name]
    while done < count:
        settings = engine.codec.settings(variants[(done // _CHUNK) % len(variants)])
        request = Request(engine.codec.default_root, settings)
        type = arrow.arrow_type(engine.root(request).logical)
        chunk = min(_CHUNK, count - done)
        values = rows(engine, request, differential.seeds(name))
        batch = as_columns(list(altered(values, chunk, seed + done)), type)
        if engine_only:
            refused += hammer_alone(engine, batch, request)
            done += chunk
            continue
        refused += len(written(engine, batch, request)[1])
        for _, what in compare(engine, batch, request):
            differences += 1
            print(f"{name} {settings}: {what[:1500]}")
        done += chunk
    seconds = time.perf_counter() - start
    print(f"{name}: {done} rows, {differences} differences, {refused} given up, {seconds:.1f} s")
    return differences


if __name__ == "__main__":
    for each in sys.argv[1:]:
        if each.startswith("--library="):
            hammer.built(each.removeprefix("--library="))
    arguments = [each for each in sys.argv[1:] if not each.startswith("--")]
    sys.exit(
        main(
            arguments[0],
            int(arguments[1]) if len(arguments) > 1 else 20_000,
            int(arguments[2]) if len(arguments) > 2 else 0,
            engine_only="--engine-only" in sys.argv,
        )
        != 0
    )

"""Records whose JSON bodies look like another writer's: `python tests/fuzz/bodies.py FOLDER [count] [seed]`.

Texts are altered at the moment when a builder writes them, so that lengths and checksums around them fit. Engine and
parser are compared on such records of the specs in a folder, and engine and builder on altered rows.
"""
# ruff: noqa: T201, S311 - it prints what differs, and makes no secrets

import random
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / folder) for folder in ("generator", "tests", "tests/bench", "tests/fuzz")]

import differential  # noqa: E402
import encoding  # noqa: E402
from json_mutants import json_mutants  # noqa: E402
from mutants import mutants  # noqa: E402
from proof.chance import Chance  # noqa: E402
from proof.records import texts_written  # noqa: E402
from proof.values import NoValueError, Values, settings  # noqa: E402
from wireloom import pipeline  # noqa: E402
from wireloom.examples.memory import opened  # noqa: E402
from wireloom.model.format import Format  # noqa: E402
from wireloom.runtime.columns import arrow  # noqa: E402
from wireloom.runtime.engine import Engine, Request  # noqa: E402

_CHUNK = 1500
_ALTERED = 0.4  # the share of texts that are altered


def values(format: Format, codec: Any, parameters: Mapping[str, Any], count: int, seed: int) -> list[Any]:
    """Values of the first root that can be built."""
    made, found = Values(format, Chance(seed), parameters), []
    for _ in range(20 * count):
        with suppress(NoValueError, Exception):
            value = made.value(format.roots[0])
            codec.build(value, **parameters)
            found.append(value)
        if len(found) == count:
            break
    return found


def records(engine: Engine, given: Sequence[Any], request: Request, count: int, seed: int) -> list[bytes]:
    """Records of the values: as built, with altered bodies, and damaged like any bytes."""
    source, root = random.Random(seed), engine.root(request)
    construct = root.construct
    built = [construct.build(root.wired(value), **request.settings) for value in given]
    found: list[bytes] = [*built, *mutants(built, count // 3, seed, differential.parser(engine, request))]

    def altered(text: bytes) -> bytes:
        return next(json_mutants([text], 1, source.getrandbits(32))) if source.random() < _ALTERED else text

    with texts_written(altered):
        while len(found) < count:
            with suppress(Exception):
                found.append(construct.build(root.wired(source.choice(given)), **request.settings))
    return found


def requests(engine: Engine, format: Format, seed: int) -> Iterator[Request]:
    """All columns in each form of open values, and some columns, for these parameters and others."""
    chance, root = random.Random(seed), engine.codec.default_root
    names = [field.name for field in engine.codec.root(None).logical.fields]
    for given in ({}, settings(format, Chance(seed))) if format.parameters else ({},):
        full = engine.codec.settings(dict(given))
        for shown in differential.OPEN_VALUES:
            yield Request(root, full, open_values=shown)
        yield Request(root, full, tuple(chance.sample(names, max(1, len(names) // 2))))
        yield Request(root, full, (chance.choice(names),))


def differences(format: Format, codec: Any, count: int, seed: int) -> Iterator[tuple[str, str]]:
    """Where engine and parser, or engine and builder, disagree: the record or row, and the difference."""
    engine = codec.engine
    for turn, request in enumerate(requests(engine, format, seed)):
        given = values(format, codec, request.settings, 40, seed + turn)
        for part in range(0, count, _CHUNK):
            made = records(engine, given, request, min(_CHUNK, count - part), seed + turn + part)
            for record, what in differential.compare(engine, made, request):
                yield record.hex(), f"{request}: {what}"
        if request.columns is None and request.open_values == "variant":
            type = arrow.arrow_type(engine.root(request).logical)
            rows = encoding.rows(engine, request, made)
            batch = encoding.as_columns([*rows, *encoding.altered(rows, count // 2, seed + turn)], type)
            for row, what in encoding.compare(engine, batch, request):
                yield str(batch[row]), f"{request.settings}: {what}"


def main(folder: str, count: int, seed: int) -> int:
    """Compare; returns the number of differences."""
    found = 0
    for format in pipeline.formats(Path(folder)):
        with opened({format.name: pipeline.emit(format)}) as modules:
            codec, start = modules[format.name].CODEC, time.process_time()
            for what in differences(format, codec, count, seed):
                found += 1
                print(format.name, *(each[:1500] for each in what))
            engine = codec.engine
            given_up = f"{engine.reread} read again, {engine.rebuilt} built again"
            print(f"{format.name}: {found} differences, {given_up}, {time.process_time() - start:.0f} s", flush=True)
    return found


if __name__ == "__main__":
    numbers = [int(each) for each in sys.argv[2:]]
    sys.exit(main(sys.argv[1], *(numbers + [3000, 0][len(numbers) :])) != 0)

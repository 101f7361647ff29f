"""Mutants on a build of the engine with sanitizers: `python tests/fuzz/hammer.py FORMAT COUNT LIBRARY PRELOAD`.

This process makes the mutants, half of them with corrected checksums, thousands at a time. A second process loads the
sanitizers' runtimes (PRELOAD) and the engine from LIBRARY. It reads the mutants in every way that the engine has: each
record in memory of its own, so that reads beyond its end are detected; all in one array; concatenated, and with size
prefixes, as a stream. A sanitizer's report ends it, and so does any other unexpected result.
"""
# ruff: noqa: T201 - it prints how far it is

import os
import struct
import subprocess
import sys
import time
from array import array as numbers
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1]))

import differential
import engine_data as data
from support.engine_builds import built
from wireloom.runtime.engine import Request
from wireloom.runtime.parsers.json.nodes import Nesting, Node, SourceText

_CHUNK = 4000
_INLINE = 12  # an Arrow view holds so many bytes itself
_HEAD = struct.Struct("<II")


def main(name: str, count: int, library: str, preload: str, seed: int = 0) -> int:
    """Make mutants and have them read; returns the exit code of the reading process."""
    command = [sys.executable, __file__, "--read", name, library]
    environment = os.environ | {
        "LD_PRELOAD": preload,
        "ASAN_OPTIONS": "detect_leaks=0",  # leaks of the interpreter itself
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "PYTHONMALLOC": "malloc",  # so that ASan knows each record's end
    }
    start = time.perf_counter()
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE) as reader:
        assert reader.stdin is not None
        try:
            for done, variant, batch in _batches(name, count, seed):
                _write(reader.stdin, variant, batch)
                print(f"\r{name}: {done} of {count}", end="", flush=True)
            reader.stdin.close()
        except BrokenPipeError:
            print(f"\n{name}: the engine ended early")
    spent = time.perf_counter() - start
    print(f"\n{name}: {count} mutants, exit code {reader.returncode}, {spent:.0f} s")
    return reader.returncode


def _batches(name: str, count: int, seed: int) -> Iterator[tuple[int, int, list[bytes]]]:
    engine, records, done, variant = data.engine(name), differential.seeds(name), 0, 0
    requests = _requests(name)
    while done < count:
        size = min(_CHUNK, count - done)
        yield done + size, variant, list(differential.altered(engine, records, size, seed + done, requests[variant]))
        done += size
        variant = (variant + 1) % len(requests)


def _requests(name: str) -> list[Request]:
    """Every set of parameters for every root, nested and flat."""
    codec = data.engine(name).codec
    return [
        Request(root, codec.settings(settings), None, explode)
        for settings in differential.SETTINGS.get(name, ({},))
        for root in codec.roots
        for explode in (False, True)
    ]


def _write(pipe: IO[bytes], variant: int, batch: Sequence[bytes]) -> None:
    pipe.write(_HEAD.pack(variant, len(batch)))
    pipe.write(numbers("I", map(len, batch)).tobytes())
    pipe.write(b"".join(batch))


# --- the process that reads ----------------------------------------------------------------------------------------


def read(name: str, library: str) -> None:
    """Read the batches on standard input."""
    native = built(library)
    engine, requests = data.engine(name), _requests(name)
    programs = [engine.program(request) for request in requests]
    while head := sys.stdin.buffer.read(_HEAD.size):
        variant, count = _HEAD.unpack(head)
        sizes = numbers("I", sys.stdin.buffer.read(4 * count))
        batch = [sys.stdin.buffer.read(size) for size in sizes]
        table = programs[variant]
        if table is not None:
            _alone(table, batch)
            _together(table, batch)
            for prefixed in (False, True):
                _streamed(native, table.program, batch, prefixed=prefixed)
        if name.endswith("json"):
            _as_nodes(native, batch)


def _as_nodes(native: Any, batch: Sequence[bytes]) -> None:
    for record in batch:
        native.document(record, 64, Node, SourceText(record, Nesting(64)))


def _take(table: Any, found: Any) -> None:
    for index in range(len(table.columns)):
        found.take(index)


def _alone(table: Any, batch: Sequence[bytes]) -> None:
    """Views of one buffer each; values that would fit into a view get an array of their own."""
    held = [numbers("B", record) for record in batch if len(record) > _INLINE]
    views = b"".join(struct.pack("<i4sii", len(each), each[:4].tobytes(), place, 0) for place, each in enumerate(held))
    _take(table, table.program.run(2, [None, views, *held], 0, 0, len(held)))
    for record in batch:
        if len(record) <= _INLINE:
            table.program.run(0, [None, numbers("i", (0, len(record))), numbers("B", record)], 0, 0, 1)


def _together(table: Any, batch: Sequence[bytes]) -> None:
    offsets = numbers("i", [0])
    for record in batch:
        offsets.append(offsets[-1] + len(record))
    _take(table, table.program.run(0, [None, offsets, numbers("B", b"".join(batch))], 0, 0, len(batch)))


def _streamed(native: Any, program: Any, batch: Sequence[bytes], *, prefixed: bool) -> None:
    """Read a stream; where the program gives up, continue a little further, up to the end."""
    parts = [(len(each).to_bytes(4, "big") if prefixed else b"") + each for each in batch]
    whole = numbers("B", b"".join(parts))

    def ask(row: int, start: int, size: int) -> int:
        return start + size if prefixed else start + min(size, 1 + row % 64)

    native.follow(program, whole, 0, prefixed, -1, 1 << 20, 0, ask)


if __name__ == "__main__":
    if sys.argv[1] == "--read":
        read(*sys.argv[2:4])
    else:
        sys.exit(main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:5]))

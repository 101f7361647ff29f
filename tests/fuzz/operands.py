"""Programs of the engine with one wrong operand: each is refused, or runs on any bytes without harm.

`python tests/fuzz/operands.py [--library LIBRARY] [--everything]`: for every instruction of the shipped formats and the
cases, each operand is set to a register that does not exist, or (`--everything`) to every limit of an operand. A build
of the engine with sanitizers (LIBRARY) detects accesses out of bounds; any other build only must not crash.

The programs come from the compilers, so everything around the wrong operand is right.
"""
# ruff: noqa: T201 - it prints what it has tried

import argparse
import importlib
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import pyarrow as pa

from conftest import CASES, SPECS
from support.engine_builds import built
from wireloom import pipeline
from wireloom.examples.memory import opened
from wireloom.runtime import engine as engines
from wireloom.runtime.engine.compiler.table import Table
from wireloom.runtime.engine.encoder.table import Table as WritingTable
from wireloom.runtime.engine.programs.assembly import Uncovered

_FAR = (
    -(1 << 63),
    -(1 << 31) - 1,
    -(1 << 31),
    -2,
    -1,
    0,
    1,
    64,
    1 << 16,
    (1 << 31) - 1,
    1 << 31,
    1 << 32,
    (1 << 63) - 1,
)
_HOSTILE = (
    b"",
    b"\0",
    b"\xff" * 40,
    bytes(range(256)),
    b"\x92\x81\xa1a\xc4",
    b'{"a":[1,{"b":"',
    b"[" * 30,
    b"\x08\xff\xff\xff\xff\x0f",
)
_MOST_BYTES = 1 << 16  # most bytes of a written record


class Spy:
    """The engine; it records the arguments of programs."""

    def __init__(self, native: Any) -> None:
        self.native, self.made = native, []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.native, name)

    def Program(self, *positional: Any, **keywords: Any) -> Any:  # noqa: N802 - as the engine has it
        """A reading program."""
        self.made.append((self.native.Program, positional, keywords))
        return self.native.Program(*positional, **keywords)

    def WritingProgram(self, *positional: Any, **keywords: Any) -> Any:  # noqa: N802 - as the engine has it
        """A writing program."""
        self.made.append((self.native.WritingProgram, positional, keywords))
        return self.native.WritingProgram(*positional, **keywords)


def limits(positional: Sequence[Any], keywords: dict[str, Any], width: int) -> list[int]:
    """The limits of operands, and numbers far beyond."""
    code, expressions, tables, texts, crcs, columns, *_ = positional
    counts = (len(code) // width, len(expressions), len(tables), len(texts), len(crcs), len(columns))
    edges = {count + beside for count in (*counts, keywords["registers"], keywords["slots"]) for beside in (-1, 0, 1)}
    return sorted({*edges, *_FAR})


def programs(folder: Path) -> Iterator[tuple[Any, Any, Any, list[bytes]]]:
    """How to make a program, its arguments, and a function that runs it on records."""
    specs = pipeline.read(folder)
    native = engines.module()
    with opened(specs.modules) as modules:
        for format in specs.formats:
            engine = modules[format.name].CODEC.engine
            for root in format.roots:
                data = [example.data for example in format.examples if example.root == root.name]
                request = engines.Request(root.name, engine.codec.settings({}))
                yield from _of_decoder(engine, native, request, data)
                if not root.elements:
                    yield from _of_encoder(engine, native, request, data)


def _of_decoder(engine: Any, native: Any, request: Any, data: list[bytes]) -> Iterator[tuple[Any, Any, Any, Any]]:
    spy = Spy(native)
    try:
        Table.compiled(engine, spy, request)
    except (Uncovered, native.LayoutError):
        return
    cut = [record[: len(record) * part // 4] for record in data for part in range(1, 4)]
    array = pa.array([*data, *cut, *_HOSTILE], pa.binary())

    def run(program: Any) -> None:
        program.run(0, array.buffers(), 0, 0, len(array), 0, -1, -1)

    for make, positional, keywords in spy.made:
        yield make, positional, keywords, run


def _of_encoder(engine: Any, native: Any, request: Any, data: list[bytes]) -> Iterator[tuple[Any, Any, Any, Any]]:
    spy = Spy(native)
    try:
        table = WritingTable.compiled(engine, spy, request)
        records = engine.codec.decode_request(pa.array(data, pa.binary()), request).records
        given = table.gathered(pa.concat_arrays([records, pa.nulls(2, records.type)]) if len(records) else records)
    except (Uncovered, native.LayoutError):
        return

    def run(program: Any) -> None:
        program.run(given, 0, len(records), _MOST_BYTES)

    for make, positional, keywords in spy.made:
        if make is native.WritingProgram:  # also has a reader, whose instructions are tested with decoders
            yield make, positional, keywords, run


def tried(folders: Sequence[Path], *, everything: bool) -> Counter[str]:
    """Try the operands of every instruction, in the shortest program that has it; returns the results."""
    native, outcome = engines.module(), Counter[str]()
    width = native.INSTRUCTION_WIDTH
    shortest: dict[tuple[bool, int], Any] = {}
    for folder in folders:
        for found in programs(folder):
            make, (code, *_), *_ = found
            for op in code[::width]:
                known = shortest.setdefault((make is native.WritingProgram, op), found)
                if len(code) < len(known[1][0]):
                    shortest[make is native.WritingProgram, op] = found
    for (_, op), (make, (code, *rest), keywords, run) in shortest.items():
        at = code[::width].index(op) * width
        values = limits([code, *rest], keywords, width) if everything else (-2, -1, keywords["registers"])
        for place in range(width):
            for value in values:
                wrong = [*code[: at + place], value, *code[at + place + 1 :]]
                try:
                    program = make(wrong, *rest, **keywords)
                except native.LayoutError:
                    outcome["refused"] += 1
                    continue
                outcome["ran"] += 1
                run(program)
    outcome["instructions"] = len(shortest)
    names = {(False, op): name for name, op in native.OPCODES.items()}
    names |= {(True, op): f"E_{name}" for name, op in native.ENCODE_OPCODES.items()}
    print("in no program:", *sorted(name for key, name in names.items() if key not in shortest))
    return outcome


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--library", default="")
    parser.add_argument("--everything", action="store_true")
    given = parser.parse_args()
    if given.library:
        importlib.import_module("wireloom.runtime.engine")
        built(given.library)
    print(dict(tried((CASES, SPECS), everything=given.everything)))

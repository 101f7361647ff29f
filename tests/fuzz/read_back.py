"""Compares a format's writing program with the same program that reads back every row."""

from typing import Any

import pyarrow as pa

import encoding
from wireloom.runtime import engine as engines
from wireloom.runtime.engine.encoder import Compiler
from wireloom.runtime.engine.encoder.program import compiled, orders


def programs(engine: Any, request: engines.Request) -> tuple[Any, Any, list[str]]:
    """The normal program, the one that reads everything back, and the reasons for which the first reads back."""
    native, type = engines.module(), engine.root(request).logical
    order = orders(engine.layout, request.settings, request.root)[0]
    known, _ = compiled(native, engine.layout, request.settings, type, order, request.root)
    compiler = Compiler(native, engine.layout, request.settings, type, order, passes=known.passes)
    positional, keywords = compiler.parts(request.root)
    reading = native.WritingProgram(*positional, **keywords | {"certain": False})
    return native.WritingProgram(*positional, **keywords), reading, compiler.assembly.doubts


def agreed(engine: Any, request: engines.Request, records: pa.StructArray) -> tuple[list[int], int]:
    """The status of each row, and how many rows were read back; the others would come back equal."""
    certain, reading, _ = programs(engine, request)
    given = engine.writer(request).gathered(records)
    found, wanted = certain.run(given, 0, len(records)), reading.run(given, 0, len(records))
    written, read = taken(found), taken(wanted)
    for row, (status, other) in enumerate(zip(found.status, wanted.status, strict=True)):
        assert status in (other, 0), records[row]
        if status != other:  # a value that only the default of one case determines is read back by the construct path
            assert written[row].as_py() == encoding.constructed(engine, records.take(pa.array([row])), request)
        elif status == 0:
            assert written[row] == read[row], records[row]
    return list(found.status), found.read_back


def taken(run: Any) -> pa.Array:
    """The records that a run wrote."""
    blocks = [None if block is None else pa.py_buffer(block) for block in run.take()]
    return pa.Array.from_buffers(pa.binary(), len(run.status), blocks)

"""A fifth encoding in a package of its own: columns of text of fixed width, as files of mainframes have them.

It says what an encoding takes in the engine's compiler: one class and one entry. Fields, conditions, checks, sums and
columns are those of all encodings (docs/decisions/0022).
"""

import pyarrow as pa

from wireloom import pipeline
from wireloom.examples.memory import opened
from wireloom.runtime import engine as engines
from wireloom.runtime.engine import nodes
from wireloom.runtime.engine.compiler import Compiler
from wireloom.runtime.engine.compiler.binary import Binary
from wireloom.runtime.engine.compiler.table import Table
from wireloom.runtime.engine.programs.assembly import Uncovered

SPEC = """
wireloom: 1
format: probe
title: Probe
encoding: binary
root: Record
types:
  Record:
    fields:
      - name: str(6)
      - count: {type: uint16, range: 0 .. 500}
      - more: {type: str(2), when: count > 99}
"""
DIGITS = 5


class Columns(Binary):
    """Texts are filled up with spaces, and numbers are digits; a field states nothing of its own."""

    stated = frozenset()

    def value(self, node, scope, sink):
        """Read one value."""
        match node:
            case nodes.Text(int(size)):
                super().value(nodes.Text(nodes.Padded(size, b" ")), scope, sink)
            case nodes.Int(bits, signed):
                super().value(nodes.Int(bits, signed, "decimal", DIGITS), scope, sink)
            case _:
                raise Uncovered("a type that columns of text do not have")


def test_an_encoding_is_one_class_and_one_entry(tmp_path):
    (tmp_path / "probe.yaml").write_text(SPEC, encoding="utf-8")
    (format,) = pipeline.formats(tmp_path)
    with opened({format.name: pipeline.emit(format)}) as modules:
        found = modules[format.name].CODEC
        layout, request = found.engine.layout, engines.Request(found.default_root, found.settings({}))
        struct = layout["types"]["Record"].with_parts(encoding="columns")
        native, logical = engines.module(), found.root(None).logical
        compiler = Compiler(native, {**layout, "types": {"Record": struct}}, request.settings, logical)
        compiler.encodings = {**compiler.encodings, "columns": Columns(compiler)}
        program = compiler.program(request.root)
        table = Table(found.engine, native, program, compiler.columns, logical, "variant")
        decoded = table.decode(pa.array([b"anna  00042", b"ludwig00123xy"]), request)
        assert decoded.records.to_pylist() == [
            {"name": "anna", "count": 42, "more": None},
            {"name": "ludwig", "count": 123, "more": "xy"},
        ]
        assert list(table.given_up(pa.array([b"anna  00042", b"anna  00501"]), request)) == [1]

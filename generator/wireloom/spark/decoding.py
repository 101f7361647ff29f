"""Columns of bytes into columns of values on the executors, as functions and `decode` both do it.

A `Decoding` is a value that travels: the generated module by name and the digest of the driver's spec, which the
worker's module must have, and what the user said. The module is imported where the work is done.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import pyarrow as pa
import pyarrow.compute as pc

from wireloom.catalog import FormatModule
from wireloom.ingest.job.format_modules import open_module
from wireloom.ingest.plan import Plan
from wireloom.runtime.columns.arrow import Decoded
from wireloom.runtime.errors import DecodeError
from wireloom.spark.options import Options

STOPPED = "mode FAILFAST stops at a bad record; PERMISSIVE gives null instead, and the error in columnNameOfError"


@dataclass(frozen=True, slots=True)
class Decoding:
    """How a column is decoded: by which module, and what the user said."""

    module: str
    format: str
    digest: str
    options: Options
    explode: bool = False

    def decoded(self, values: pa.Array) -> Decoded:
        """All columns in one; raises DecodeError in FAILFAST, OverflowError where they do not fit into 2 GiB."""
        codec = self.opened().CODEC
        return cast(Decoded, _hinted(lambda: codec.decode(values, **self._keywords())))

    def parts(self, values: pa.Array, row_budget: int) -> Iterator[Decoded]:
        """The columns in parts, in order, flat rows not far above the row budget; raises DecodeError in FAILFAST."""
        parts = self.opened().CODEC.batches(values, row_budget=row_budget, **self._keywords())
        while (part := _hinted(lambda: next(parts, None))) is not None:
            yield cast(Decoded, part)

    def opened(self) -> FormatModule:
        """The generated module, which must be of the driver's spec."""
        return open_module(Plan(self.module, self.format, self.digest))

    def _keywords(self) -> dict[str, Any]:
        options = self.options
        return {
            "columns": options.columns,
            "root": options.root,
            "explode": self.explode,
            "on_error": "raise" if options.mode == "FAILFAST" else "null",
            "open_values": options.open_values,
            **dict(options.parameters),
        }


def decoding(module: FormatModule, options: Options, *, explode: bool = False) -> Decoding:
    """How this module decodes by these options; raises ParameterError for columns that there are not."""
    made = Decoding(module.__name__, module.FORMAT, module.MEANING, options, explode)
    made.decoded(pa.array([], pa.binary()))
    return made


def _hinted(act: Any) -> Any:
    """What `act` gives; its error with what to do, and without the parser's frames: Connect cuts long messages."""
    try:
        return act()
    except DecodeError as error:
        error.add_note(STOPPED)
        raise error.with_traceback(None) from None


def corrupt(values: pa.Array, errors: pa.StructArray, parents: pa.Array | None = None) -> pa.Array:
    """The bytes of the records that are bad, null in the other rows; `parents` are the places of rows in `values`."""
    bad = errors.is_valid()
    if errors.null_count == len(errors):
        return pa.nulls(len(errors), pa.binary())
    if parents is not None:
        return values.take(pc.if_else(bad, parents, pa.scalar(None, parents.type))).cast(pa.binary())
    return pc.if_else(bad, values, pa.scalar(None, values.type)).cast(pa.binary())

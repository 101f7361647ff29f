"""Decodes columns of bytes on the executors, for functions and `decode` alike.

A `Decoding` is sent to executors: the generated module by name, the digest of the driver's spec, which the worker's
module must have, and the user's options. Each worker imports the module itself.
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
    """How to decode a column: the module and the options."""

    module: str
    format: str
    digest: str
    options: Options
    explode: bool = False

    def decoded(self, values: pa.Array) -> Decoded:
        """Decode all values at once; raises DecodeError in FAILFAST, OverflowError if the result exceeds 2 GiB."""
        codec = self.opened().CODEC
        return cast(Decoded, _hinted(lambda: codec.decode(values, **self._keywords())))

    def parts(self, values: pa.Array, row_budget: int) -> Iterator[Decoded]:
        """Decode the values in parts whose flat rows are near the budget; raises DecodeError in FAILFAST."""
        parts = self.opened().CODEC.batches(values, row_budget=row_budget, **self._keywords())
        while (part := _hinted(lambda: next(parts, None))) is not None:
            yield cast(Decoded, part)

    def opened(self) -> FormatModule:
        """Import the generated module; it must be of the driver's spec."""
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
    """The decoding by a module with options; raises ParameterError for unknown columns."""
    made = Decoding(module.__name__, module.FORMAT, module.MEANING, options, explode)
    made.decoded(pa.array([], pa.binary()))
    return made


def _hinted(act: Any) -> Any:
    """Call `act`. Adds advice to its error and drops the parser's frames, since Connect cuts long messages."""
    try:
        return act()
    except DecodeError as error:
        error.add_note(STOPPED)
        raise error.with_traceback(None) from None


def corrupt(values: pa.Array, errors: pa.StructArray, parents: pa.Array | None = None) -> pa.Array:
    """The bytes of bad records, null in the other rows; `parents` has the index in `values` of each row."""
    bad = errors.is_valid()
    if errors.null_count == len(errors):
        return pa.nulls(len(errors), pa.binary())
    if parents is not None:
        return values.take(pc.if_else(bad, parents, pa.scalar(None, parents.type))).cast(pa.binary())
    return pc.if_else(bad, values, pa.scalar(None, values.type)).cast(pa.binary())

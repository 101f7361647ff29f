"""Decodes a binary column of a DataFrame beside the columns that are kept: the cheapest way on Spark.

It uses `mapInArrow`: decoded columns leave Python as Arrow and become rows once. Lists of rows are exploded by default,
with the record's columns on each row. Batches are split so that they stay far below Arrow's limit of 2 GiB per column.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import BinaryType, StringType, StructField, StructType

from wireloom.catalog import FormatModule
from wireloom.runtime.columns.arrow import Decoded
from wireloom.runtime.columns.projection import unknown_name
from wireloom.runtime.errors import ParameterError
from wireloom.spark.decoding import Decoding, corrupt, decoding
from wireloom.spark.functions import with_fields
from wireloom.spark.options import GENERAL, Options, Surface, read_options
from wireloom.spark.schemas import added_fields, record_type

ROW_BUDGET = 10_000
KEPT_BYTES = 256 << 20  # of kept columns in one batch, if rows are exploded
ERROR_COLUMN = "_error"
SURFACE = Surface(
    "decode", ("PERMISSIVE", "FAILFAST", "DROPMALFORMED"), tuple(word for word in GENERAL if word != "framing")
)


def decode(  # noqa: PLR0913 - each says one thing about one call
    frame: DataFrame,
    column: Column | str,
    format: FormatModule,
    options: Mapping[str, Any] | None = None,
    *,
    fields: Sequence[str] | None = None,
    keep: Sequence[str] | None = None,
    into: str | None = None,
) -> DataFrame:
    """Replace a column of bytes by the columns of the format; text works, too, if the format is JSON.

    `fields` are the wanted decoded columns (None: all), `keep` the frame's own (None: all but `column`), and `into` is
    a struct column for everything decoded, in case names clash. Options are those of the format and mode, root,
    explode, openValues, columnNameOfError, columnNameOfCorruptRecord. In PERMISSIVE, the default, a bad record is a row
    with `_error` and `_corrupt_record` (or as named) and no values; in FAILFAST it fails the job; in DROPMALFORMED it
    has no row. A null gives a row of nulls. Raises ParameterError for wrong arguments.
    """
    said = read_options(with_fields(options, fields), format.CODEC, SURFACE)
    settled = _named(said, frame) if said.mode == "PERMISSIVE" else said
    root = format.CODEC.root(settled.root)
    explode = bool(root.rows) if settled.explode is None else settled.explode
    kept = _kept(frame, column, keep)
    record = record_type(format, settled, explode=explode)
    decoded = [StructField(into, record)] if into else record.fields
    _refuse_taken(kept, decoded)
    schema = StructType([*kept, *decoded])
    schema = StructType([*schema.fields, *added_fields(settled, schema.names)])
    work = _Work(decoding(format, settled, explode=explode), tuple(schema.names), nested=into is not None)
    value = F.col(quoted(column)) if isinstance(column, str) else column
    _refuse_other_types(frame.select(value).schema.fields[0])
    own = [F.col(quoted(field.name)) for field in kept]
    return frame.select(*own, value.alias(_free_name(kept))).mapInArrow(partial(_batches, work), schema)


def quoted(name: str) -> str:
    """The name of a column, quoted."""
    return "`" + name.replace("`", "``") + "`"


def _named(options: Options, frame: DataFrame) -> Options:
    """The options with names for the columns of bad records, so that none vanishes."""
    configured = frame.sparkSession.conf.get("spark.sql.columnNameOfCorruptRecord") or "_corrupt_record"
    return replace(
        options,
        column_of_error=options.column_of_error or ERROR_COLUMN,
        column_of_corrupt_record=options.column_of_corrupt_record or configured,
    )


def _kept(frame: DataFrame, column: Column | str, keep: Sequence[str] | None) -> list[StructField]:
    """The frame's own columns in the result."""
    known = {field.name: field for field in frame.schema.fields}
    if isinstance(column, str) and column not in known:
        raise ParameterError(unknown_name("column", column, list(known)))
    for name in keep or ():
        if name not in known:
            raise ParameterError(unknown_name("column", name, list(known)))
    return [known[name] for name in (keep if keep is not None else known) if keep is not None or name != column]


def _free_name(kept: Sequence[StructField]) -> str:
    """An unused name for the column of bytes: Arrow refuses duplicates."""
    names = {field.name.lower() for field in kept}
    name = "value"
    while name in names:
        name += "_"
    return name


def _refuse_taken(kept: Sequence[StructField], decoded: Sequence[StructField]) -> None:
    own = {field.name.lower() for field in kept}
    twice = [field.name for field in decoded if field.name.lower() in own]
    if twice:
        raise ParameterError(
            f"the frame and the format both have the columns {', '.join(twice)}; put the decoded columns into one "
            "(into='event'), or keep fewer (keep=[...])"
        )


def _refuse_other_types(field: StructField) -> None:
    if not isinstance(field.dataType, BinaryType | StringType):
        raise ParameterError(f"column {field.name} is {field.dataType.simpleString()}; binary or text can be decoded")


# --- on executors --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Work:
    """The work of an executor on each batch: decode the last column, keep those before it."""

    decoding: Decoding
    names: tuple[str, ...]
    nested: bool


@dataclass(frozen=True, slots=True)
class _Part:
    """Decoded rows, with the values and kept columns that they came from; `parents` has the indices."""

    found: Decoded
    values: pa.Array
    kept: Sequence[pa.Array]


def _batches(work: _Work, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        *kept, values = batch.columns
        for part in _parts(work, values, kept):
            columns = [*_kept_columns(part), *_decoded_columns(work, part)]
            made = pa.RecordBatch.from_arrays(columns, list(work.names))
            good = part.found.errors.is_null() if work.decoding.options.mode == "DROPMALFORMED" else None
            yield made if good is None else made.filter(good)


def _parts(work: _Work, values: pa.Array, kept: Sequence[pa.Array]) -> Iterator[_Part]:
    start = 0
    for found in work.decoding.parts(values, ROW_BUDGET):
        count = len(found.records)
        if found.parents is None:
            yield _Part(found, values.slice(start, count), [each.slice(start, count) for each in kept])
            start += count
            continue
        for first, last in _pieces(found.parents, kept):
            piece = (each.slice(first, last - first) for each in (found.records, found.errors, found.parents))
            yield _Part(Decoded(*piece), values, kept)


def _pieces(parents: pa.Array, kept: Sequence[pa.Array]) -> Iterator[tuple[int, int]]:
    """Ranges of rows for which the kept columns are small enough; a single row may be larger."""
    sizes = [pc.binary_length(each) for each in kept if _has_bytes(each.type)]
    longest = sum(pc.max(each).as_py() or 0 for each in sizes)
    if longest * len(parents) <= KEPT_BYTES:
        yield 0, len(parents)
        return
    rows = max(1, KEPT_BYTES // longest)
    for first in range(0, len(parents), rows):
        yield first, min(first + rows, len(parents))


def _has_bytes(type: pa.DataType) -> bool:
    return any(
        test(type)
        for test in (pa.types.is_binary, pa.types.is_string, pa.types.is_large_binary, pa.types.is_large_string)
    )


def _kept_columns(part: _Part) -> list[pa.Array]:
    parents = part.found.parents
    return [each if parents is None else each.take(parents) for each in part.kept]


def _decoded_columns(work: _Work, part: _Part) -> list[pa.Array]:
    options, found = work.decoding.options, part.found
    columns = [found.records] if work.nested else found.records.flatten()
    if options.column_of_corrupt_record is not None:
        columns.append(corrupt(part.values, found.errors, found.parents))
    if options.column_of_error is not None:
        columns.append(found.errors)
    return columns

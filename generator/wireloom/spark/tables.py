"""The columns of the two tables, and of the one stream of rows that carries both out of the executors.

A staged row is one of three: a `row` of the records table, a `bad` record for the quarantine, or a `tally` of how many
records a batch had. One pass over the data makes all of them; they part when they are written.
"""

from dataclasses import dataclass

import pyarrow as pa

from wireloom.spark.plan import OFFSET, RECORD, SOURCE

PLACE = (pa.field(SOURCE, pa.string()), pa.field(RECORD, pa.int64()), pa.field(OFFSET, pa.int64()))
PLACE_DOCS = {
    SOURCE: "File that the record came from",
    RECORD: "Place of the record in its file, from 0",
    OFFSET: "Offset of the record in its file, bytes; null where the file is a table",
}
BAD_DOCS = {
    "raw": "The record's bytes as they came; only the first 16 MiB of a larger one",
    "raw_size": "Bytes of the record in its source; more than raw has where raw is cut",
    "code": "Error code of the format",
    "path": "Field that is wrong, by the names of the wire; empty for the record itself",
    "offset": "Where in the record, bytes from its start",
    "expected": "What the spec wants there",
    "actual": "What is there",
    "format": "Format id",
    "spec_digest": "SHA-256 of the spec that the record was decoded with",
}
BAD = pa.struct(
    [
        pa.field("raw", pa.binary()),
        pa.field("raw_size", pa.int64()),
        pa.field("code", pa.string()),
        pa.field("path", pa.string()),
        pa.field("offset", pa.int64()),
        pa.field("expected", pa.string()),
        pa.field("actual", pa.string()),
        pa.field("format", pa.string()),
        pa.field("spec_digest", pa.string()),
        *PLACE,
    ]
)
TALLY = pa.struct([pa.field("records", pa.int64()), pa.field("decoded", pa.int64())])


@dataclass(frozen=True, slots=True)
class Staged:
    """The types of the staged columns for one format."""

    row: pa.StructType

    @property
    def schema(self) -> pa.Schema:
        """The staged columns."""
        return pa.schema([pa.field("row", self.row), pa.field("bad", BAD), pa.field("tally", TALLY)])

    def batch(self, column: str, values: pa.StructArray) -> pa.RecordBatch:
        """Staged rows with values in that column, nulls in the others."""
        arrays = [values if field.name == column else pa.nulls(len(values), field.type) for field in self.schema]
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)


def staged(flat: pa.StructType) -> Staged:
    """The staged columns where a decoded row has the type `flat`."""
    return Staged(pa.struct([*flat, *PLACE]))

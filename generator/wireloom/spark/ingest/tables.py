"""The columns of the two tables, and of the one stream of rows that carries both out of the executors.

A staged row is one of three: a `row` of the records table, a `bad` record for the quarantine, or a `tally` of how many
records a batch had. One pass over the data makes all of them; they part when they are written. Where a record came
from, its place, are the last columns of both tables; which columns those are depends on the source.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import pyarrow as pa

from wireloom.spark.ingest.plan import KEY, OFFSET, PARTITION, RECORD, SOURCE, TIMESTAMP, TOPIC

PLACE = (pa.field(SOURCE, pa.string()), pa.field(RECORD, pa.int64()), pa.field(OFFSET, pa.int64()))
PLACE_DOCS = {
    SOURCE: "File that the record came from",
    RECORD: "Place of the record in its file, from 0",
    OFFSET: "Offset of the record in its file, bytes; null where the file is a table",
}
KAFKA_PLACE = (
    pa.field(KEY, pa.binary()),
    pa.field(TOPIC, pa.string()),
    pa.field(PARTITION, pa.int32()),
    pa.field(OFFSET, pa.int64()),
    pa.field(TIMESTAMP, pa.timestamp("us", "UTC")),
)
KAFKA_DOCS = {
    KEY: "Kafka's key of the message",
    TOPIC: "Kafka topic that the message came from",
    PARTITION: "Partition of the topic",
    OFFSET: "Offset of the message in its partition",
    TIMESTAMP: "Kafka's timestamp of the message",
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
ERROR = (
    pa.field("raw", pa.binary()),
    pa.field("raw_size", pa.int64()),
    pa.field("code", pa.string()),
    pa.field("path", pa.string()),
    pa.field("offset", pa.int64()),
    pa.field("expected", pa.string()),
    pa.field("actual", pa.string()),
    pa.field("format", pa.string()),
    pa.field("spec_digest", pa.string()),
)
BAD = pa.struct([*ERROR, *PLACE])
TALLY = pa.struct(
    [
        pa.field("records", pa.int64()),
        pa.field("size", pa.int64()),  # bytes of the records in their source
        pa.field("decoded", pa.int64()),
        pa.field("rows", pa.int64()),
        pa.field("dropped", pa.map_(pa.string(), pa.int64())),  # records by code
    ]
)


@dataclass(frozen=True, slots=True)
class Staged:
    """The types of the staged columns for one format and one kind of place."""

    row: pa.StructType
    bad: pa.StructType = BAD

    @property
    def schema(self) -> pa.Schema:
        """The staged columns."""
        return pa.schema([pa.field("row", self.row), pa.field("bad", self.bad), pa.field("tally", TALLY)])

    def batch(self, column: str, values: pa.StructArray) -> pa.RecordBatch:
        """Staged rows with values in that column, nulls in the others."""
        arrays = [values if field.name == column else pa.nulls(len(values), field.type) for field in self.schema]
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)


def staged(flat: pa.StructType, place: Iterable[pa.Field] = PLACE) -> Staged:
    """The staged columns where a decoded row has the type `flat`."""
    place = tuple(place)
    return Staged(pa.struct([*flat, *place]), pa.struct([*ERROR, *place]))

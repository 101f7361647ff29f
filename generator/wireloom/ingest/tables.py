"""The columns of the two tables.

A record that comes in becomes rows of the records table, or a row of the quarantine. Where it came from, its place, are
the last columns of both; which columns those are depends on the source.
"""

import pyarrow as pa

from wireloom.ingest.plan import KEY, OFFSET, PARTITION, RECORD, SOURCE, TIMESTAMP, TOPIC

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


def row_type(flat: pa.StructType, place: pa.RecordBatch) -> pa.StructType:
    """The type of a row of the records table, where a decoded row has the type `flat`."""
    return pa.struct([*flat, *place.schema])


def bad_type(place: pa.RecordBatch) -> pa.StructType:
    """The type of a row of the quarantine."""
    return pa.struct([*ERROR, *place.schema])

"""The columns of the two tables.

A record becomes rows of the records table, or one row of the quarantine. The last columns of both are the place of the
record; which columns those are depends on the source.
"""

from collections.abc import Sequence

import pyarrow as pa

from wireloom.failures import MisuseError
from wireloom.ingest.plan import KEY, OFFSET, PARTITION, RECORD, SOURCE, TIMESTAMP, TOPIC
from wireloom.ingest.tables.storable_columns import tabled


def _documented(fields: dict[str, tuple[pa.DataType, str]]) -> tuple[pa.Field, ...]:
    return tuple(pa.field(name, type, metadata={"comment": text}) for name, (type, text) in fields.items())


PLACE = _documented(
    {
        SOURCE: (pa.string(), "File that the record came from"),
        RECORD: (pa.int64(), "Place of the record in its file, from 0"),
        OFFSET: (pa.int64(), "Offset of the record in its file, bytes; null where the file is a table"),
    }
)
FILE_PLACE = pa.schema([PLACE[0].with_type(pa.dictionary(pa.int32(), pa.string())), *PLACE[1:]])
"""PLACE with a dictionary type, for many records of few files."""
KAFKA_PLACE = _documented(
    {
        KEY: (pa.binary(), "Kafka's key of the message"),
        TOPIC: (pa.string(), "Kafka topic that the message came from"),
        PARTITION: (pa.int32(), "Partition of the topic"),
        OFFSET: (pa.int64(), "Offset of the message in its partition"),
        TIMESTAMP: (pa.timestamp("us", "UTC"), "Kafka's timestamp of the message"),
    }
)
MEANING = "meaning"  # missing in quarantines of earlier releases
ERROR = _documented(
    {
        "raw": (pa.binary(), "The record's bytes as they came; only the first 16 MiB of a larger one"),
        "raw_size": (pa.int64(), "Bytes of the record in its source; more than raw has where raw is cut"),
        "code": (pa.string(), "Error code of the format"),
        "path": (pa.string(), "Field that is wrong, by the names of the wire; empty for the record itself"),
        "offset": (pa.int64(), "Where in the record, bytes from its start"),
        "expected": (pa.string(), "What the spec wants there"),
        "actual": (pa.string(), "What is there"),
        MEANING: (pa.string(), "What the error code means"),
        "format": (pa.string(), "Format id"),
        "spec_digest": (pa.string(), "Digest of what the spec means that the record was decoded with"),
    }
)
_ERROR = [field.name for field in ERROR]


def row_type(flat: pa.StructType, place: pa.Schema) -> pa.StructType:
    """The row type of the records table, for decoded rows of type `flat`."""
    return pa.struct([*tabled(flat), *_named(place)])


def bad_type(place: pa.Schema) -> pa.StructType:
    """The row type of the quarantine."""
    return pa.struct([*ERROR, *_named(place)])


def place_of(columns: pa.Schema) -> pa.Schema:
    """The place columns of a quarantine."""
    return pa.schema([field for field in columns if field.name not in _ERROR])


def refuse_no_quarantine(path: str, columns: Sequence[str]) -> None:
    """Raise MisuseError if the columns are not those of a quarantine."""
    wanted = [name for name in _ERROR if name != MEANING]
    if not set(wanted) <= set(columns):
        found = ", ".join(columns)
        raise MisuseError(f"{path} is not a quarantine: it has the columns {found}, not {', '.join(wanted)}")


def _named(place: pa.Schema) -> tuple[pa.Field, ...]:
    """The place columns with their comments, which Spark's batches lack."""
    for fields in (PLACE, KAFKA_PLACE):
        if place.names == [field.name for field in fields]:
            return tuple(field.with_type(type) for field, type in zip(fields, place.types, strict=True))
    return tuple(place)

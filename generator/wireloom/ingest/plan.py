"""The values that describe an ingest job: its work (`Plan`, `Job`), and its result (`Summary`).

The values travel to executors and into the ledger, so they contain only plain data.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from wireloom.runtime.parameters import ParameterValue

RECORDS = "records"
QUARANTINE = "quarantine"
BATCH = "wireloom_batch"  # the partition column of both tables: the batch that wrote a row
VERSION = "wireloom_version"  # the column with the version, in the view over all versions
DELTA_LOG = "_delta_log"  # the folder that marks a Delta table
SOURCE, RECORD, OFFSET = "_source", "_record", "_offset"
# columns of Kafka records, with _offset
KEY, TOPIC, PARTITION, TIMESTAMP = "_key", "_topic", "_partition", "_timestamp"
NO_DATA = "no_data"  # the error code for a null in the binary column
GONE, OTHER = "file_gone", "file_changed"  # the error codes for files that changed after listing
FAIL, SET_ASIDE = CHANGED_FILES = ("fail", "quarantine")
"""What to do about such files: fail the job, or add a row to the quarantine."""
AUTO, PLAIN = COMPRESSIONS = ("auto", "none")
DECOMPRESSION, EXPANSION = "decompression", "expansion_limit"  # the error codes for compressed files
CODES: Mapping[str, str] = MappingProxyType(
    {
        NO_DATA: "There is no value to decode.",
        GONE: "A file that was listed is gone.",
        OTHER: "A file has changed since it was listed.",
        DECOMPRESSION: "A compressed file is damaged, cut off, or of another kind than its name says.",
        EXPANSION: "A compressed file is too large when decompressed.",
    }
)
"""Error codes of ingest, besides those of the format, and their meanings."""
EXPANDED = 1000
"""Limit for decompressed bytes per compressed byte."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How executors decode: the module by name, and the arguments of the decoder."""

    module: str
    format: str
    digest: str  # of the driver's spec (its meaning, or its text), which executors must share
    root: str | None = None
    framing: str | None = None
    parameters: tuple[tuple[str, ParameterValue], ...] = ()
    drop: tuple[str, ...] = ()  # error codes of records to drop
    changed: str = FAIL
    compression: str = AUTO
    expansion: int = EXPANDED
    resync: bool = False
    from_source: bool = False  # for a replay: read missing bytes from the original files
    taken: str = ""  # the framing that the quarantine was read with, if known


GROUP_BYTES, FILE_BYTES = 32 << 20, 256 << 20


@dataclass(frozen=True, slots=True)
class FileSizes:
    """Least bytes of Arrow columns in a row group; bytes of a file after which the next one starts."""

    group: int = GROUP_BYTES
    file: int = FILE_BYTES


# --- where records come from ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Files:
    """The files below a path."""

    path: str


@dataclass(frozen=True, slots=True)
class Column:
    """A binary column of the Parquet files in a folder; each value is a record."""

    path: str
    name: str


@dataclass(frozen=True, slots=True)
class Kafka:
    """The values of Kafka topics; each is a record."""

    servers: str
    topics: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Samples:
    """The same records again and again, `rate` per second."""

    rate: int
    records: tuple[bytes, ...]


Source = Files | Column | Kafka | Samples


# --- what is done --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Job:
    """One batch ingest."""

    plan: Plan
    input: str
    output: str
    column: str | None = None  # a binary column of Parquet files; None if the files themselves are the data
    overwrite: bool = False
    append: bool = False
    accept_changes: bool = False  # of format, root, framing, parameters
    sizes: FileSizes = FileSizes()
    new_version: bool = False  # start one if columns have other types
    partition: tuple[str, ...] = ()  # partition columns; empty for those of the existing tables
    again: tuple[str, ...] | None = None  # paths whose files are read again; () for all of the input, None for none

    @property
    def adds(self) -> bool:
        """Whether the job adds to existing tables."""
        return self.append or self.again is not None

    @property
    def source(self) -> Files | Column:
        """The source of its records."""
        return Files(self.input) if self.column is None else Column(self.input, self.column)


@dataclass(frozen=True, slots=True)
class Flow:
    """A stream into the tables of one output folder.

    `trigger` is `once`, `available-now`, or an interval in Spark's notation (`10 seconds`); None starts each batch as
    soon as the last one is done. `options` are Spark's options of the source.
    """

    plan: Plan
    source: Source
    output: str
    checkpoint: str = ""  # empty for `_checkpoint` below the output
    trigger: str | None = None
    table_format: str = "parquet"
    accept_changes: bool = False  # of format, root, framing, parameters, source
    new_version: bool = False  # start one if columns have other types
    options: tuple[tuple[str, str], ...] = ()
    sizes: FileSizes = FileSizes()
    partition: tuple[str, ...] = ()  # partition columns; empty for those of the existing tables


@dataclass(frozen=True, slots=True)
class Replay:
    """One replay of a quarantine with the current package.

    Records that decode go to the records table below `output`. With `framing`, a quarantined record may turn out to be
    several.
    """

    plan: Plan
    quarantine: str
    output: str
    new_version: bool = False  # start one if columns have other types


# --- results ---------------------------------------------------------------------------------------------------------

Counts = tuple[tuple[str, int], ...]
"""How often each name occurred, most frequent first."""
Remainders = tuple[tuple[str, int, int, int], ...]
"""Ends of files that were given up: for each the file, the record's number and offset, and the bytes."""
MOST = 50
"""If more percent of a run's records are refused, the reason is not damage, but wrong options."""
Kinds = tuple[tuple[str, Counts], ...]
"""For each column, how often each of its values occurred."""


def counts(found: Iterable[tuple[str, int]]) -> Counts:
    """The sums by name, most frequent first."""
    total: Counter[str] = Counter()
    for name, count in found:
        total[name] += count
    return tuple(sorted(total.items(), key=lambda item: (-item[1], item[0])))


@dataclass(frozen=True, slots=True)
class Summary:
    """The counts of a run or batch. `rows` and the error `codes` are counted in the written tables.

    The others are counted while reading: `records` and their `size` in bytes, those `decoded`, and those `dropped` by
    error code. `kinds` counts rows by column and value, for the columns that tell kinds of records apart.
    """

    records: int
    decoded: int
    rows: int
    quarantined: int
    codes: Counts = ()
    dropped: Counts = ()
    size: int = 0
    kinds: Kinds = ()
    bad_size: int = 0  # bytes of the quarantined records in their source
    reread: int = 0  # records that the construct parser read, since the engine could not
    given_up: Remainders = ()  # only while a batch is running; not in ledger entries
    passed: Counts = ()  # files that this run skipped, by reason; not in ledger entries

    @property
    def discarded(self) -> int:
        """How many records were dropped."""
        return sum(count for _, count in self.dropped)

    @property
    def mostly_refused(self) -> bool:
        """Whether more records were quarantined than damage could explain."""
        return 100 * self.quarantined > MOST * self.records

    @property
    def reconciles(self) -> bool:
        """Whether each input record was decoded, quarantined or dropped."""
        return self.records == self.decoded + self.quarantined + self.discarded

    def __add__(self, other: "Summary") -> "Summary":
        return Summary(
            self.records + other.records,
            self.decoded + other.decoded,
            self.rows + other.rows,
            self.quarantined + other.quarantined,
            counts(self.codes + other.codes),
            counts(self.dropped + other.dropped),
            self.size + other.size,
            _joined(self.kinds, other.kinds),
            self.bad_size + other.bad_size,
            self.reread + other.reread,
            self.given_up + other.given_up,
            counts(self.passed + other.passed),
        )

    @classmethod
    def read(cls, found: Mapping[str, object]) -> "Summary":
        """Parse a summary from a JSON object."""
        return cls(**{name: _frozen(value) for name, value in found.items()})  # type: ignore[arg-type]


NOTHING = Summary(0, 0, 0, 0)


def _frozen(value: object) -> object:
    return tuple(_frozen(each) for each in value) if isinstance(value, list) else value


def _joined(left: Kinds, right: Kinds) -> Kinds:
    columns = dict.fromkeys(name for name, _ in left + right)
    first, second = dict(left), dict(right)
    return tuple((name, counts(first.get(name, ()) + second.get(name, ()))) for name in columns)

"""An ingest job as values: what it does (`Plan`, `Job`) and what it did (`Summary`).

The values travel to executors and into the ledger, so they contain only plain data.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from wireloom.runtime.parameters import ParameterValue

RECORDS = "records"
QUARANTINE = "quarantine"
BATCH = "wireloom_batch"  # the partition column of both tables: which batch wrote a row
VERSION = "wireloom_version"  # of the columns, in the view over all of them
DELTA_LOG = "_delta_log"  # the folder by which a Delta table is known
SOURCE, RECORD, OFFSET = "_source", "_record", "_offset"
KEY, TOPIC, PARTITION, TIMESTAMP = "_key", "_topic", "_partition", "_timestamp"  # Kafka's, and its offset
NO_DATA = "no_data"  # the code of a null in the binary column
GONE, OTHER = "file_gone", "file_changed"  # the codes of files that are not what they were when they were taken
FAIL, SET_ASIDE = CHANGED_FILES = ("fail", "quarantine")
"""What becomes of such files: an error of the job, or a row of the quarantine."""
AUTO, PLAIN = COMPRESSIONS = ("auto", "none")
DECOMPRESSION, EXPANSION = "decompression", "expansion_limit"  # the codes of compressed files
CODES: Mapping[str, str] = MappingProxyType(
    {
        NO_DATA: "There is no value to decode.",
        GONE: "A file that was listed is gone.",
        OTHER: "A file has changed since it was listed.",
        DECOMPRESSION: "A compressed file is damaged, cut off, or of another kind than its name says.",
        EXPANSION: "A compressed file is too large when decompressed.",
    }
)
"""What can be wrong besides what the format says, and what that means."""
EXPANDED = 1000
"""How many bytes a compressed byte may become, on average."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How executors decode: the module by name, and what it is called with."""

    module: str
    format: str
    digest: str  # of what the driver's spec means, or of its text; executors must have the same
    root: str | None = None
    framing: str | None = None
    parameters: tuple[tuple[str, ParameterValue], ...] = ()
    drop: tuple[str, ...] = ()  # codes of records that nobody wants to keep
    changed: str = FAIL
    compression: str = AUTO
    expansion: int = EXPANDED
    resync: bool = False
    from_source: bool = False  # a replay takes bytes that the quarantine lacks from the files that they were in
    taken: str = ""  # and by which framing they were taken from there, as far as is known


GROUP_BYTES, FILE_BYTES = 32 << 20, 256 << 20


@dataclass(frozen=True, slots=True)
class FileSizes:
    """Bytes of Arrow columns in a row group, at least; bytes of a file after which another is begun."""

    group: int = GROUP_BYTES
    file: int = FILE_BYTES


# --- where records come from ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Files:
    """Files are the data: all below a path."""

    path: str


@dataclass(frozen=True, slots=True)
class Column:
    """A binary column of the Parquet files of a folder; each value is a record."""

    path: str
    name: str


@dataclass(frozen=True, slots=True)
class Kafka:
    """The values of Kafka topics; each is a record."""

    servers: str
    topics: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Samples:
    """The same records again and again, so many a second."""

    rate: int
    records: tuple[bytes, ...]


Source = Files | Column | Kafka | Samples


# --- what is done --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Job:
    """One run of ingest."""

    plan: Plan
    input: str
    output: str
    column: str | None = None  # a binary column of Parquet; None: the files themselves are the data
    overwrite: bool = False
    append: bool = False
    accept_changes: bool = False  # of format, root, framing, parameters
    sizes: FileSizes = FileSizes()
    new_version: bool = False  # begins where columns have other types
    partition: tuple[str, ...] = ()  # columns that become folders; none: as the tables are
    again: tuple[str, ...] | None = None  # paths whose files are read again, none: all of the input; None: no file is

    @property
    def adds(self) -> bool:
        """Whether it adds to tables that are there."""
        return self.append or self.again is not None

    @property
    def source(self) -> Files | Column:
        """Where its records come from."""
        return Files(self.input) if self.column is None else Column(self.input, self.column)


@dataclass(frozen=True, slots=True)
class Flow:
    """A stream into the tables of one output folder.

    `trigger` is `once`, `available-now`, or Spark's text of an interval (`10 seconds`); None: a batch as soon as the
    one before is done. `options` are Spark's options of the source.
    """

    plan: Plan
    source: Source
    output: str
    checkpoint: str = ""  # empty: `_checkpoint` below the output
    trigger: str | None = None
    table_format: str = "parquet"
    accept_changes: bool = False  # of format, root, framing, parameters, source
    new_version: bool = False  # begins where columns have other types
    options: tuple[tuple[str, str], ...] = ()
    sizes: FileSizes = FileSizes()
    partition: tuple[str, ...] = ()  # columns that become folders; none: as the tables are


@dataclass(frozen=True, slots=True)
class Replay:
    """One run of a quarantine table through the package at hand.

    What decodes goes to the records table below `output`. With `framing` what was quarantined as one record may be
    several.
    """

    plan: Plan
    quarantine: str
    output: str
    new_version: bool = False  # begins where columns have other types


# --- what was done -------------------------------------------------------------------------------------------------

Counts = tuple[tuple[str, int], ...]
"""How often each name occurred, the most frequent first."""
Remainders = tuple[tuple[str, int, int, int], ...]
"""Ends of files that were given up: the file, the number and the offset of the record that each is, and its bytes."""
MOST = 50
"""Percent of a run's records: where more are refused, that is no damage, but a wrong way to read."""
Kinds = tuple[tuple[str, Counts], ...]
"""For each column, how often each of its values occurred."""


def counts(found: Iterable[tuple[str, int]]) -> Counts:
    """The occurrences added up by name."""
    total: Counter[str] = Counter()
    for name, count in found:
        total[name] += count
    return tuple(sorted(total.items(), key=lambda item: (-item[1], item[0])))


@dataclass(frozen=True, slots=True)
class Summary:
    """What a run or a batch did; `rows` and the `codes` of the quarantine are counted in the tables as written.

    The others are counted while reading: `records` and their `size` in bytes, the `decoded`, and by their codes those
    `dropped` on request. `kinds` counts rows by column and value, for the columns that tell kinds of records apart.
    """

    records: int
    decoded: int
    rows: int
    quarantined: int
    codes: Counts = ()
    dropped: Counts = ()
    size: int = 0
    kinds: Kinds = ()
    bad_size: int = 0  # bytes of the quarantined, in their source
    reread: int = 0  # records that the construct parser read, which the engine does not cover or gave up on
    given_up: Remainders = ()  # as long as a batch is read; entries of the ledger have none
    passed: Counts = ()  # files that this run passed over, by the reason; entries of the ledger have none

    @property
    def discarded(self) -> int:
        """How many records were dropped on request."""
        return sum(count for _, count in self.dropped)

    @property
    def mostly_refused(self) -> bool:
        """Whether more of the records went to the quarantine than can be damage."""
        return 100 * self.quarantined > MOST * self.records

    @property
    def reconciles(self) -> bool:
        """Whether every record that came in went somewhere."""
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
        """The summary that a JSON object says."""
        return cls(**{name: _frozen(value) for name, value in found.items()})  # type: ignore[arg-type]


NOTHING = Summary(0, 0, 0, 0)


def _frozen(value: object) -> object:
    return tuple(_frozen(each) for each in value) if isinstance(value, list) else value


def _joined(left: Kinds, right: Kinds) -> Kinds:
    columns = dict.fromkeys(name for name, _ in left + right)
    first, second = dict(left), dict(right)
    return tuple((name, counts(first.get(name, ()) + second.get(name, ()))) for name in columns)

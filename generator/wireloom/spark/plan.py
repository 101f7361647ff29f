"""What an ingest job does, as values that travel to the executors."""

from dataclasses import dataclass

from wireloom.runtime.parameters import ParameterValue

RECORDS = "records"
QUARANTINE = "quarantine"
SOURCE, RECORD, OFFSET = "_source", "_record", "_offset"
NO_DATA = "no_data"  # the code of a null in the binary column


@dataclass(frozen=True, slots=True)
class Plan:
    """How executors decode: the module by name, and what it is called with."""

    module: str
    format: str
    digest: str  # of the spec that the driver has; executors must have the same
    root: str | None = None
    framing: str | None = None
    parameters: tuple[tuple[str, ParameterValue], ...] = ()


@dataclass(frozen=True, slots=True)
class Job:
    """One run of ingest."""

    plan: Plan
    input: str
    output: str
    column: str | None = None  # a binary column of Parquet; None: the files themselves are the data
    overwrite: bool = False


@dataclass(frozen=True, slots=True)
class Summary:
    """What a run did; `records` is counted while reading, the others from the tables as written."""

    records: int
    decoded: int
    rows: int
    quarantined: int
    codes: tuple[tuple[str, int], ...] = ()

    @property
    def reconciles(self) -> bool:
        """Whether every record that came in went somewhere."""
        return self.records == self.decoded + self.quarantined

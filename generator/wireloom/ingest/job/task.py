"""One task: records in, files of both tables out, and a report about them. It does not depend on the engine."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc

from wireloom.ingest.job.limits import Limits
from wireloom.ingest.plan import NOTHING, QUARANTINE, RECORDS, Counts, Kinds, Summary, counts
from wireloom.ingest.tables.parquet_files import TableFiles, Writing, WrittenFile, tables
from wireloom.ingest.tables.splitting import Parted


@dataclass(frozen=True, slots=True)
class Report:
    """The files that a task wrote, and their counts."""

    files: tuple[WrittenFile, ...] = ()
    summary: Summary = NOTHING

    def __add__(self, other: "Report") -> "Report":
        return Report(self.files + other.files, self.summary + other.summary)

    def json(self) -> str:
        """The report as JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def read(cls, text: str) -> "Report":
        """Parse a report."""
        found = json.loads(text)
        return cls(tuple(WrittenFile(**file) for file in found["files"]), Summary.read(found["summary"]))


def written(records: Iterable[Parted], writing: Writing, kinds: Sequence[str] = ()) -> Report:
    """Write all records. If reading or writing fails, the files are abandoned and the exception is raised."""
    files = tables(writing)
    try:
        tally = _tally(records, files, kinds, Limits(size=writing.most_bad))
        rows, quarantined = (files[name].close() for name in (RECORDS, QUARANTINE))
    except BaseException:
        for each in files.values():
            each.abandon()
        raise
    summary = replace(tally, rows=rows, quarantined=quarantined)
    return Report(tuple(file for each in files.values() for file in each.done), summary)


def _tally(records: Iterable[Parted], files: dict[str, TableFiles], kinds: Sequence[str], limits: Limits) -> Summary:
    """Write the records; returns their counts."""
    came = NOTHING
    codes: Counter[str] = Counter()
    bad = 0
    found: dict[str, Counter[str]] = {name: Counter() for name in kinds}
    for part in records:
        files[RECORDS].add(part.rows)
        files[QUARANTINE].add(part.bad)
        came += part.tally
        bad += pc.sum(part.bad.field("raw_size")).as_py() or 0
        limits.check_size(bad)
        codes.update(dict(_values(part.bad, "code")))
        for name, counter in found.items():
            counter.update(dict(_values(part.rows, name)))
    shown: Kinds = tuple((name, counts(counter.items())) for name, counter in found.items())
    return replace(came, codes=counts(codes.items()), kinds=shown, bad_size=bad)


def _values(rows: pa.StructArray, name: str) -> Counts:
    """How often each value of a column occurs, without nulls."""
    if not len(rows):
        return ()
    found = pc.value_counts(rows.field(name))
    return tuple((str(each["values"]), each["counts"]) for each in found.to_pylist() if each["values"] is not None)

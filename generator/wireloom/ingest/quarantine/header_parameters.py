"""Finds the parameters of quarantined records of files with a header, from the values of the header.

The quarantine has only the bytes of the record. So its file is opened again, once for all records. If the file is gone
or changed, the parameters are unknown, and the records stay. A row at the start of its file is no record but a whole
stream whose header could not be read; it is read as a stream again. The framing of the tables tells whether there is a
header.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import pyarrow as pa
import pyarrow.compute as pc

from wireloom.failures import MisuseError
from wireloom.ingest.files.compression import plain
from wireloom.ingest.files.finding import looked_up
from wireloom.ingest.files.reading import bounds, plan_after_header
from wireloom.ingest.job.format_modules import open_module
from wireloom.ingest.plan import OFFSET, SOURCE, Plan
from wireloom.runtime.streams.framing import Headed, framing_of


@dataclass(frozen=True, slots=True)
class Headers:
    """The plans from the headers of files; each header is read once."""

    plan: Plan
    known: dict[str, Plan | None] = field(default_factory=dict)

    def parts(self, batch: pa.RecordBatch) -> Iterator[tuple[Plan | None, pa.RecordBatch]]:
        """Split the rows of a quarantine by the plan to read them with; None if it is unknown."""
        framing = framing_of(self.plan.taken or "none")
        is_told = isinstance(framing_of(self.plan.framing or "none"), Headed)
        if is_told or not isinstance(framing, Headed) or not {SOURCE, OFFSET} <= set(batch.schema.names):
            yield self.plan, batch
            return
        placed = pc.and_(batch[OFFSET].is_valid(), batch[SOURCE].is_valid())
        yield self.plan, batch.filter(pc.invert(placed))
        batch = batch.filter(placed)
        yield replace(self.plan, framing=self.plan.taken), batch.filter(pc.equal(batch[OFFSET], 0))
        rest = batch.filter(pc.greater(batch[OFFSET], 0))
        if {name for name, _ in framing.gives} <= {name for name, _ in self.plan.parameters}:
            yield self.plan, rest  # the given parameters include all values of the header
            return
        for path in pc.unique(rest[SOURCE]).to_pylist():
            yield self._of_file(path), rest.filter(pc.equal(rest[SOURCE], path))

    def _of_file(self, path: str) -> Plan | None:
        if path not in self.known:
            self.known[path] = self._read(path)
        return self.known[path]

    def _read(self, path: str) -> Plan | None:
        asked = replace(self.plan, framing=self.plan.taken)
        try:
            file = looked_up(path)
            with file.place.open() as source, plain(source, file.place.open, path, bounds(asked)) as stream:
                found = plan_after_header(asked, open_module(asked), stream)
        except (OSError, MisuseError):
            return None
        return None if found is asked else replace(found, framing=self.plan.framing)

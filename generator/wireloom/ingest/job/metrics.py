"""Metrics of streams: one line of JSON for each batch, written exactly once even if the stream restarts."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from wireloom.failures import MisuseError
from wireloom.ingest.ledger.entries import Entry
from wireloom.ingest.plan import Summary


def metrics(stream: str, entry: Entry) -> dict[str, object]:
    """The metrics of a batch. `bytes` is the size of its records in the source, `seconds` its total duration."""
    return {
        "stream": stream,
        "batch": entry.number,
        "time": entry.time,
        "seconds": entry.seconds,
        **counted(entry.summary),
        "spec": entry.digest,
    }


def counted(summary: Summary) -> dict[str, object]:
    """The counts of a summary, by their names in metrics."""
    return {
        "records": summary.records,
        "bytes": summary.size,
        "bytesQuarantined": summary.bad_size,
        "decoded": summary.decoded,
        "quarantined": summary.quarantined,
        "dropped": summary.discarded,
        "rows": summary.rows,
        "constructPath": summary.reread,
        "errors": dict(summary.codes),
        "errorsDropped": dict(summary.dropped),
        "kinds": {name: dict(found) for name, found in summary.kinds},
    }


class Listener:
    """Is told about the batches of a stream."""

    __slots__ = ()

    def resumed(self, stream: str, entries: Iterable[Entry]) -> None:
        """The stream continues after these batches."""

    def wrote(self, stream: str, entry: Entry) -> None:
        """A batch was written."""

    def noted(self, line: str) -> None:
        """There is a message about the tables."""


@dataclass(slots=True)
class Lines(Listener):
    """Writes metrics to a text stream, a line for each new batch."""

    out: TextIO

    def noted(self, line: str) -> None:
        """Write a line."""
        self.out.write(f"{line}\n")
        self.out.flush()

    def wrote(self, stream: str, entry: Entry) -> None:
        """Write the metrics of the batch."""
        self.out.write(json.dumps(metrics(stream, entry)) + "\n")
        self.out.flush()


@dataclass(slots=True)
class Book(Listener):
    """Writes metrics to a file. After a crash, it adds the missing lines."""

    path: Path
    written: set[tuple[str, int]] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Read the existing file, and cut off an incomplete last line; raises MisuseError if it is another file."""
        self.path.open("a").close()
        text = self.path.read_bytes()
        whole = text[: text.rfind(b"\n") + 1]
        try:
            found = [json.loads(line) for line in whole.splitlines()]
            self.written.update((each["stream"], each["batch"]) for each in found)
        except (ValueError, KeyError, TypeError) as error:
            raise MisuseError(f"{self.path} has lines that are not metrics of ingest; name another file") from error
        if len(whole) < len(text):
            with self.path.open("r+b") as file:
                file.truncate(len(whole))

    def resumed(self, stream: str, entries: Iterable[Entry]) -> None:
        """Add the missing lines of earlier batches."""
        for entry in entries:
            self.wrote(stream, entry)

    def wrote(self, stream: str, entry: Entry) -> None:
        """Add a line, unless the file has it."""
        if (stream, entry.number) in self.written:
            return
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(metrics(stream, entry)) + "\n")
        self.written.add((stream, entry.number))

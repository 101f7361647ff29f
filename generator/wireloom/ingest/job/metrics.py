"""Metrics: one line of JSON for each batch, written exactly once however often the stream is started again."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from wireloom.failures import MisuseError
from wireloom.ingest.ledger.entries import Entry
from wireloom.ingest.plan import Summary


def metrics(stream: str, entry: Entry) -> dict[str, object]:
    """What there is to say of a batch; `bytes` are those of its records in their source, `seconds` all it took."""
    return {
        "stream": stream,
        "batch": entry.number,
        "time": entry.time,
        "seconds": entry.seconds,
        **counted(entry.summary),
        "spec": entry.digest,
    }


def counted(summary: Summary) -> dict[str, object]:
    """What was counted, by the names that programs read."""
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
    """Who wants to know about the batches of a stream."""

    __slots__ = ()

    def resumed(self, stream: str, entries: Iterable[Entry]) -> None:
        """The stream was there already, and these are its last batches."""

    def wrote(self, stream: str, entry: Entry) -> None:
        """A batch is in the tables."""

    def noted(self, line: str) -> None:
        """Something is new to the tables, or is another than it was."""


@dataclass(slots=True)
class Lines(Listener):
    """Metrics on a text stream: of batches as they are written."""

    out: TextIO

    def noted(self, line: str) -> None:
        """A line of its own."""
        self.out.write(f"{line}\n")
        self.out.flush()

    def wrote(self, stream: str, entry: Entry) -> None:
        """A line."""
        self.out.write(json.dumps(metrics(stream, entry)) + "\n")
        self.out.flush()


@dataclass(slots=True)
class Book(Listener):
    """Metrics in a file that outlives the process: lines that a killed one did not get to are added."""

    path: Path
    written: set[tuple[str, int]] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Find what the file has; a line that was broken off goes. Raises MisuseError where it is another file."""
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
        """Lines of earlier batches that the file does not have."""
        for entry in entries:
            self.wrote(stream, entry)

    def wrote(self, stream: str, entry: Entry) -> None:
        """A line, unless the file has it."""
        if (stream, entry.number) in self.written:
            return
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(metrics(stream, entry)) + "\n")
        self.written.add((stream, entry.number))

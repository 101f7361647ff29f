"""The hint that a job prints if its first files seem to have another framing than the one in use."""

from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from typing import Any

from wireloom.failures import MisuseError
from wireloom.ingest.files.compression import Unpacked, plain
from wireloom.ingest.files.finding import File, reachable
from wireloom.ingest.files.inputs import listing
from wireloom.ingest.files.reading import bounds
from wireloom.ingest.job.format_modules import open_module
from wireloom.ingest.plan import Files, Plan, Source
from wireloom.runtime.streams.framed import Framed
from wireloom.runtime.streams.framing_guess import HEAD, likely_framing

LOOKED_AT = 3
"""Files that are examined."""


def framing_hints(plan: Plan, source: Source) -> Iterator[str]:
    """A line with a better framing, if one of the first files fits it but not the plan's."""
    if not isinstance(source, Files) or not reachable(source.path):
        return
    framing = plan.framing or open_module(plan).CODEC.framing
    with suppress(OSError, MisuseError):  # reading the file later reports the problem
        for file in listing(source).files[:LOOKED_AT]:
            head, size = beginning(plan, file)
            found = likely_framing(partial(records, plan), head, size, framing)
            if found is not None:
                yield f"{file.path} looks like {found}: use --framing {found}"
                return


def beginning(plan: Plan, file: File) -> tuple[bytes, int | None]:
    """The first bytes of a file, and its size if known."""
    with file.place.open() as source:
        stream = plain(source, file.place.open, file.path, bounds(plan))
        head = stream.read(HEAD)
        if isinstance(stream, Unpacked):
            return head, len(head) if len(head) < HEAD and stream.failure is None else None
        return head, file.size


def records(plan: Plan, data: bytes, framing: str) -> Iterator[Framed]:
    """The records of bytes in a framing, up to the first bad one."""
    parameters: dict[str, Any] = dict(plan.parameters)
    return open_module(plan).CODEC.iter_parse(data, root=plan.root, framing=framing, on_error="stop", **parameters)

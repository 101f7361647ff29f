"""Checks a Spark job before Java starts, which takes twenty seconds, so that a missing folder is reported at once.

It checks only what is visible from here: local paths, and those that pyarrow can open. It leaves no file behind. The
job repeats all checks, since things may have changed by then.
"""

import errno
import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa

from wireloom.failures import MisuseError
from wireloom.ingest.files.finding import place, reachable
from wireloom.ingest.files.inputs import listing
from wireloom.ingest.files.parquet import row_groups
from wireloom.ingest.files.storage import PlainStorage
from wireloom.ingest.job.batch import Engine, refuse_early
from wireloom.ingest.plan import Column, Files, Flow, Job, Kafka, Samples
from wireloom.ingest.quarantine.replay import refuse_no_table
from wireloom.ingest.tables.agreement import agreed, named, terms
from wireloom.ingest.tables.schemas import KAFKA_PLACE, PLACE

LOOKED_AT = 20
"""Parquet files that are examined for a column."""
FULL = (errno.ENOSPC, errno.EDQUOT)


def check_job(engine: Engine, job: Job) -> Iterator[str]:
    """Raise MisuseError if a batch job cannot run; yields lines about checks that only Spark can do."""
    refuse_unwritable(job.output)
    yield from _by_spark_alone(job.input, job.output)
    if reachable(job.input):
        _refuse_unreadable(job.source)
        if reachable(job.output):
            refuse_early(engine, job)


def check_flow(flow: Flow) -> Iterator[str]:
    """The same for a stream."""
    refuse_unwritable(flow.output)
    storage = PlainStorage()
    fields = PLACE
    match flow.source:
        case Files(path) | Column(path):
            yield from _by_spark_alone(path, flow.output)
            if reachable(path) and not storage.exists(path):
                raise MisuseError(f"there is no {path}; make the folder first; it may be empty")
        case Kafka():
            fields = KAFKA_PLACE
        case Samples():
            pass
    if reachable(flow.output):
        own = terms(flow.plan, pa.schema(list(fields)), named(flow.source), flow.partition)
        home = storage.absolute(flow.output)
        agreed(storage, home, own, accept=flow.accept_changes, new_version=flow.new_version)


def check_quarantine(quarantine: str) -> None:
    """Raise MisuseError if there is no table to replay."""
    if reachable(quarantine):
        storage = PlainStorage()
        if not storage.exists(quarantine):
            raise MisuseError(f"there is no {quarantine}; name the folder `quarantine` that ingest made")
        refuse_no_table(quarantine, storage.names(quarantine))


def _by_spark_alone(*paths: str) -> Iterator[str]:
    for path in paths:
        if not reachable(path):
            yield f"{path} can only be opened by Spark, which checks it later"


def _refuse_unreadable(source: Files | Column) -> None:
    try:
        found = listing(source)
    except PermissionError as error:
        raise MisuseError(f"--input {source.path} cannot be read by this user: {error}") from error
    for file in found.files:
        if not file.place.system and not os.access(file.place.path, os.R_OK):
            raise MisuseError(f"{file.path} cannot be read by this user")
    if isinstance(source, Column):
        for file in found.files[:LOOKED_AT]:
            next(row_groups(file, source.name), None)


def refuse_unwritable(output: str) -> None:
    """Raise MisuseError if no folder can be created in the output, or on the way to it."""
    at = place(output) if reachable(output) else None
    if at is None or at.system:
        return
    path = Path(at.path)
    nearest = next(each for each in (path, *path.parents) if each.exists())
    try:
        with TemporaryDirectory(prefix=".wireloom-", dir=nearest):
            pass
    except OSError as error:
        if error.errno not in FULL:  # the job reports a full disk, with the free space
            raise MisuseError(
                f"--output {output} cannot be written: {nearest}: {error.strerror}; allow this user to write there, or "
                "choose another --output"
            ) from error

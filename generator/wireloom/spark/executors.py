"""Compares the executors with the driver: Python, Arrow, wireloom, the engine, the specs."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

from py4j.protocol import Py4JJavaError
from pyspark import cloudpickle
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from wireloom.spark import probe
from wireloom.spark.machine import Finding

SHIP = "ship the same package to both (`wireloom package`) and start the session again; see docs/howto/shipping.md"
INTERPRETER = "set PYSPARK_PYTHON to an interpreter of the driver's version on every node; see docs/howto/shipping.md"
ENGINE = "install the wireloom wheel on the executors, or ship an environment that has it; see docs/howto/shipping.md"
LOWEST_ARROW = 18
TASKS_PER_CORE = 4  # more than one, so that every executor gets a task
SHORT = 12  # digits of a digest in messages


@dataclass(frozen=True, slots=True)
class Look:
    """The state of one interpreter, with the fields of `probe.look`."""

    host: str
    interpreter: str
    python: str
    libraries: Mapping[str, str]
    wireloom: str | None
    engine: bool
    digests: Mapping[str, str]
    missing: Mapping[str, str]

    @property
    def place(self) -> str:
        """The host and interpreter."""
        return f"{self.interpreter} on {self.host}"


def examine_executors(spark: SparkSession, package: str) -> Iterator[Finding]:
    """Compare the workers' interpreters with this one, in a job that asks them."""
    driver = Look(**cast("dict[str, Any]", probe.look(package)))
    try:
        workers = _workers(spark, package)
    except (PySparkException, Py4JJavaError) as error:
        yield Finding("executors", f"no worker answers: {_last_line(error)}", INTERPRETER)
        return
    yield from compare(driver, workers)


def compare(driver: Look, workers: Sequence[Look]) -> Iterator[Finding]:
    """The differences between the driver and its workers."""
    places = sorted({worker.place for worker in workers})
    yield Finding("executors", f"{len(workers)} tasks were answered by {', '.join(places)}")
    yield _python(driver, workers)
    missing = {
        module: f"{reason}, in {worker.place}" for worker in workers for module, reason in worker.missing.items()
    }
    for module, reason in sorted(missing.items()):
        yield Finding(f"executors: {module}", reason, SHIP)
    if not missing:
        yield _arrow(workers)
        yield _wireloom(driver, workers)
        yield _engine(workers)
        yield _specs(driver, workers)


def _workers(spark: SparkSession, package: str) -> list[Look]:
    """The states of the workers, one for each of several tasks; the probe is pickled by value."""
    context = spark.sparkContext
    count = max(2, TASKS_PER_CORE * context.defaultParallelism)
    cloudpickle.register_pickle_by_value(probe)  # type: ignore[no-untyped-call]
    try:
        answers = context.parallelize(range(count), count).mapPartitions(partial(probe.looks, package)).collect()
    finally:
        cloudpickle.unregister_pickle_by_value(probe)  # type: ignore[no-untyped-call]
    return [Look(**json.loads(answer)) for answer in answers]


def _last_line(error: Exception) -> str:
    """The message of a failed job, without the stack."""
    causes = [line.strip() for line in str(error).splitlines() if "Error: " in line or "Exception: " in line]
    return causes[-1] if causes else str(error).splitlines()[0]


def _python(driver: Look, workers: Sequence[Look]) -> Finding:
    subject, found = "executors: Python", _tally(worker.python for worker in workers)
    own = _minor(driver.python)
    wrong = any(_minor(worker.python) != own for worker in workers)
    return Finding(
        subject, f"{found}; the driver has {driver.python}" if wrong else found, INTERPRETER if wrong else ""
    )


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])


def _arrow(workers: Sequence[Look]) -> Finding:
    versions = [worker.libraries["pyarrow"] for worker in workers]
    old = any(int(version.split(".")[0]) < LOWEST_ARROW for version in versions)
    remedy = f"install pyarrow {LOWEST_ARROW} or later on the executors" if old else ""
    return Finding("executors: pyarrow", _tally(versions), remedy)


def _wireloom(driver: Look, workers: Sequence[Look]) -> Finding:
    found = _tally(str(worker.wireloom) for worker in workers)
    wrong = any(worker.wireloom != driver.wireloom for worker in workers)
    return Finding(
        "executors: wireloom", f"{found}; the driver has {driver.wireloom}" if wrong else found, SHIP if wrong else ""
    )


def _engine(workers: Sequence[Look]) -> Finding:
    subject, without = "executors: engine", [worker.place for worker in workers if not worker.engine]
    if not without:
        return Finding(subject, "native")
    places = ", ".join(sorted(set(without)))
    detail = f"none in {places}: the parser decodes there, about a hundred times slower"
    return Finding(subject, detail, ENGINE)


def _specs(driver: Look, workers: Sequence[Look]) -> Finding:
    """Check that driver and executors have the same spec of every format."""
    for worker in workers:
        for name in sorted({*driver.digests, *worker.digests}):
            own, other = driver.digests.get(name), worker.digests.get(name)
            if own != other:
                detail = f"{name} of spec {_short(other)} in {worker.place}; the driver has it of spec {_short(own)}"
                return Finding("executors: specs", detail, SHIP)
    return Finding("executors: specs", f"the driver's, all {len(driver.digests)}")


def _short(digest: str | None) -> str:
    return digest[:SHORT] if digest else "none"


def _tally(values: Iterator[str] | Sequence[str]) -> str:
    """The distinct values, with the number of tasks for each if they differ."""
    counts = Counter(values)
    if len(counts) == 1:
        return next(iter(counts))
    return ", ".join(f"{value} ({count} tasks)" for value, count in sorted(counts.items()))

"""What the road to Spark needs, looked at one by one: what is found, and the command that mends it.

Nothing here starts Spark, except the last probe, which does on request: it asks the executors what they have.
"""

from collections.abc import Iterator
from pathlib import Path

from wireloom.failures import MachineError
from wireloom.spark import machine
from wireloom.spark.machine import Finding


def examine(package: str, out: Path, master: str | None = None) -> Iterator[Finding]:
    """Every finding, in the order in which things depend on one another; with a master, those of its executors, too."""
    yield machine.python()
    for library, remedy in machine.LIBRARIES.items():
        yield machine.library(library, remedy)
    yield machine.pyspark()
    yield machine.java()
    yield machine.worker()
    yield machine.package(package, out)
    if master is not None:
        yield from _executors(package, out, master)


def _executors(package: str, out: Path, master: str) -> Iterator[Finding]:
    from wireloom.spark.executors import examine_executors  # noqa: PLC0415 - the other probes work without pyspark
    from wireloom.spark.session import session  # noqa: PLC0415

    try:
        with session((out,), master) as spark:
            yield Finding("Spark", f"{spark.version} starts, with master {spark.sparkContext.master}")
            yield from examine_executors(spark, package)
    except MachineError as error:
        yield Finding("Spark", str(error), "mend what is reported above, then try again")

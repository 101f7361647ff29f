"""Checks everything that Spark needs, one thing after the other, and names the command that fixes a problem.

Nothing here starts Spark, except the last check, on request: it asks the executors what they have.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from wireloom.failures import MachineError
from wireloom.spark import machine
from wireloom.spark.machine import Finding

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def examine(package: str, out: Path, master: str | None = None) -> Iterator[Finding]:
    """All findings, ordered by dependency; with a master, also those of its executors."""
    yield machine.python()
    for library, remedy in machine.LIBRARIES.items():
        yield machine.library(library, remedy)
    yield machine.pyspark()
    yield machine.java()
    yield machine.worker()
    yield machine.package(package, out)
    if master is not None:
        yield from _executors(package, out, master)


def _functions(spark: "SparkSession") -> Finding:
    """Whether a setting slows down functions of wide structs."""
    from wireloom.spark import columnar_input  # noqa: PLC0415 - the other probes work without pyspark

    if columnar_input.enabled(spark):
        detail = "from_ functions of wide structs are slow directly over a scan, since Arrow UDFs get columns"
        return Finding("functions", detail, advice=f"{columnar_input.REMEDY}; see docs/howto/spark.md")
    return Finding("functions", "Arrow UDFs get rows, which is fast for wide structs")


def _executors(package: str, out: Path, master: str) -> Iterator[Finding]:
    from wireloom.spark.executors import examine_executors  # noqa: PLC0415 - the other probes work without pyspark
    from wireloom.spark.session import session  # noqa: PLC0415

    try:
        with session((out,), master) as spark:
            yield Finding("Spark", f"{spark.version} starts, with master {spark.sparkContext.master}")
            yield _functions(spark)
            yield from examine_executors(spark, package)
    except MachineError as error:
        yield Finding("Spark", str(error), "fix the problems above, then try again")

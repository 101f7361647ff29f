"""A Spark session of our own: on a local master loopback only, no web page, workers with this very interpreter.

On any other master the driver listens where the cluster can reach it, and the configuration says which interpreter the
workers have. Under `spark-submit` the session is whatever the submission says; nothing of it is changed.
"""

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.resources import files
from pathlib import Path

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from wireloom.failures import MachineError
from wireloom.spark.machine import java

PANDAS_WARNING = "PySpark does not yet fully support pandas"
LOCAL = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "2g",  # Spark's own default, 1g, is less than what two tasks of large records need
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
}
EVERYWHERE = {
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
}


@contextmanager
def session(
    import_roots: tuple[Path, ...] = (), master: str = "local[2]", configuration: tuple[tuple[str, str], ...] = ()
) -> Iterator[SparkSession]:
    """A session whose Python workers can import what lies in `import_roots`; `configuration` goes before all else.

    One that runs already is used as it is; one that is started here is stopped at the end.
    """
    running = SparkSession.getActiveSession()
    if running is not None:
        yield running
        return
    started = _submitted() if "PYSPARK_GATEWAY_PORT" in os.environ else _started(import_roots, master, configuration)
    try:
        yield started
    finally:
        with suppress(Py4JError, ConnectionError):  # its Java process may have died before
            started.stop()


def _submitted() -> SparkSession:
    return SparkSession.builder.getOrCreate()


def _started(import_roots: tuple[Path, ...], master: str, configuration: tuple[tuple[str, str], ...]) -> SparkSession:
    _hush_pandas()
    workers = _prepare_workers(import_roots) if _is_local(master) else {}
    builder = SparkSession.builder.appName("wireloom").master(master)
    for key, value in (settings(master) | workers | dict(configuration)).items():
        builder = builder.config(key, value)
    try:
        return builder.getOrCreate()
    except (PySparkException, OSError) as error:
        raise MachineError(f"Spark does not start: {error}", _remedy()) from error


def settings(master: str) -> dict[str, str]:
    """What a session on this master is told beyond its configuration."""
    local = LOCAL if _is_local(master) else {}
    return {**local, **EVERYWHERE, "spark.driver.extraJavaOptions": _quiet_logging()}


def _is_local(master: str) -> bool:
    """`local`, `local[2]`, `local[*]`; `local-cluster[...]` starts workers of its own on this machine as well."""
    return master.startswith("local")


def _remedy() -> str:
    """Nearly always it is Java that is missing; then its own remedy, else look at everything."""
    return java().remedy or "wireloom doctor"


def _prepare_workers(import_roots: tuple[Path, ...]) -> dict[str, str]:
    """What workers on this machine inherit: this interpreter, and the places of our packages.

    A Java process that an earlier session left behind knows an earlier environment, so the places are settings, too.
    """
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    own = Path(__file__).parent.parent.parent
    inherited = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    roots = [str(root.resolve()) for root in (*import_roots, own)]
    os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys([*roots, *inherited]))
    return {"spark.executorEnv.PYTHONPATH": os.environ["PYTHONPATH"]}


def _hush_pandas() -> None:
    """Silence about pandas, which is not used."""
    os.environ["PYTHONWARNINGS"] = f"ignore:{PANDAS_WARNING}:FutureWarning"
    warnings.filterwarnings("ignore", message=PANDAS_WARNING, category=FutureWarning)


def _quiet_logging() -> str:
    return f"-Dlog4j2.configurationFile={files('wireloom.spark').joinpath('log4j2.properties')}"

"""A Spark session of our own: on a local master, it uses only loopback, no web page, and workers with this interpreter.

On any other master, the driver listens where the cluster can reach it, and the configuration names the workers'
interpreter. Under `spark-submit`, the session is as submitted; nothing of it is changed.
"""

import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.resources import files
from pathlib import Path

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from wireloom.failures import MachineError
from wireloom.ingest.job.diagnosis import End
from wireloom.spark.machine import java

PANDAS_WARNING = "PySpark does not yet fully support pandas"
LOCAL = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "2g",  # Spark's default, 1g, is too little for two tasks with large records
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
}
LOG_SHOWN = 1 << 20
ENDING = 3.0  # seconds
EVERYWHERE = {
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.maxBytesPerBatch": "16m",  # or one record; by default, each task may hold four
    "spark.sql.parquet.columnarReaderBatchSize": "32",  # rows, each of which may have megabytes
}


@contextmanager
def session(
    import_roots: tuple[Path, ...] = (), master: str = "local[2]", configuration: tuple[tuple[str, str], ...] = ()
) -> Iterator[SparkSession]:
    """A session whose Python workers can import from `import_roots`; `configuration` overrides our settings.

    A running session is used as it is; one that is started here is stopped at the end.
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
        with suppress(OSError):
            _log().unlink(missing_ok=True)


def ended(spark: SparkSession) -> End:
    """How the session's Java process ended, if it did and was started here, and its log."""
    log = _log().read_text(encoding="utf-8", errors="replace")[-LOG_SHOWN:] if _log().exists() else ""
    process = getattr(getattr(spark.sparkContext, "_gateway", None), "proc", None)
    if process is None:
        return End(log=log)
    with suppress(subprocess.TimeoutExpired):  # it may be about to end
        process.wait(ENDING)
    return End(process.returncode, log)


def _log() -> Path:
    """The log of the Java process that this process starts; further sessions share it."""
    return Path(tempfile.gettempdir()) / f"wireloom-spark-{os.getpid()}.log"


def _submitted() -> SparkSession:
    return SparkSession.builder.getOrCreate()


def _started(import_roots: tuple[Path, ...], master: str, configuration: tuple[tuple[str, str], ...]) -> SparkSession:
    _hush_pandas()
    workers = _prepare_workers(import_roots) if _is_local(master) else {}
    builder = SparkSession.builder.appName("wireloom").master(master)
    for key, value in (settings(master) | workers | dict(configuration)).items():
        builder = builder.config(key, value)
    try:
        spark = builder.getOrCreate()
    except (PySparkException, OSError) as error:
        raise MachineError(f"Spark does not start: {error}", _remedy()) from error
    _hush_accumulators(spark)
    return spark


def settings(master: str) -> dict[str, str]:
    """The settings of a session for a master, without the user's configuration."""
    local = LOCAL if _is_local(master) else {}
    return {**local, **EVERYWHERE, "spark.driver.extraJavaOptions": _quiet_logging()}


def _is_local(master: str) -> bool:
    """`local`, `local[2]`, `local[*]`; `local-cluster[...]` also starts workers on this machine."""
    return master.startswith("local")


def _remedy() -> str:
    """The advice if Spark does not start: usually that for Java, otherwise to check everything."""
    return java().remedy or "wireloom doctor"


def _prepare_workers(import_roots: tuple[Path, ...]) -> dict[str, str]:
    """The environment of workers on this machine: this interpreter, and the paths of our packages.

    A Java process from an earlier session has an older environment, so the paths are also settings.
    """
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    own = Path(__file__).parent.parent.parent
    inherited = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    roots = [str(root.resolve()) for root in (*import_roots, own)]
    os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys([*roots, *inherited]))
    return {"spark.executorEnv.PYTHONPATH": os.environ["PYTHONPATH"]}


def _hush_pandas() -> None:
    """Suppress warnings about pandas, which is not used."""
    os.environ["PYTHONWARNINGS"] = f"ignore:{PANDAS_WARNING}:FutureWarning"
    warnings.filterwarnings("ignore", message=PANDAS_WARNING, category=FutureWarning)


def _hush_accumulators(spark: SparkSession) -> None:
    """Suppress the traceback of the accumulator thread when Java ends, which the job itself reports."""
    server = getattr(spark.sparkContext, "_accumulatorServer", None)
    if server is not None:
        server.handle_error = lambda *_: None


def _quiet_logging() -> str:
    configuration = files("wireloom.spark").joinpath("log4j2.properties")
    return f"-Dlog4j2.configurationFile={configuration} -Dwireloom.log={_log()}"

"""A standalone Spark cluster on loopback: a master, two workers, and executors in processes of their own."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyspark

from integration.processes import LIGHT, Server, children, free_ports, listens, serve
from integration.sessions import environment

HOME = Path(pyspark.__file__).parent
WORKERS = 2
EXECUTOR = "CoarseGrainedExecutorBackend"


@dataclass(frozen=True, slots=True)
class Cluster:
    """The running cluster; `folder` has the logs of its daemons and executors."""

    folder: Path
    port: int
    workers: tuple[Server, ...]

    @property
    def master(self) -> str:
        """For `--master`."""
        return f"spark://127.0.0.1:{self.port}"

    def executors(self) -> set[int]:
        """The process ids of the executors."""
        return {pid for worker in self.workers for pid, line in children(worker.pid).items() if EXECUTOR in line}

    def at_work(self) -> set[int]:
        """The executors that have started Python."""
        return {pid for pid in self.executors() if any("pyspark" in line for line in children(pid).values())}


@contextmanager
def running(folder: Path) -> Iterator[Cluster]:
    """A cluster whose executors find this checkout; stopped at the end with all its processes."""
    with ExitStack() as stack:
        (port,) = free_ports(1)
        master = _daemon(folder, "master", "org.apache.spark.deploy.master.Master", "--port", str(port))
        stack.callback(master.stop)
        master.await_ready(lambda: listens(port))
        workers = []
        for number in range(WORKERS):
            name = f"worker-{number}"
            room = ("-c", "1", "-m", "1g", "--work-dir", str(folder / name), f"spark://127.0.0.1:{port}")
            worker = _daemon(folder, name, "org.apache.spark.deploy.worker.Worker", *room)
            stack.callback(worker.stop)
            workers.append(worker)
        for worker in workers:
            worker.await_ready(lambda log=worker.log: "Successfully registered with master" in log.read_text("utf-8"))
        yield Cluster(folder, port, tuple(workers))


def _daemon(folder: Path, name: str, kind: str, *options: str) -> Server:
    command = [HOME / "bin" / "spark-class", kind, "--host", "127.0.0.1", "--webui-port", "0", *options]
    places = {"SPARK_HOME": str(HOME), "SPARK_LOCAL_DIRS": str(folder / f"{name}-scratch")}
    java = {"SPARK_DAEMON_MEMORY": "256m", "SPARK_DAEMON_JAVA_OPTS": LIGHT}
    return serve(command, folder / f"{name}.log", {**environment(), **places, **java})

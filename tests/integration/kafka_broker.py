"""A Kafka broker with one node (KRaft) on this machine's JDK: only loopback, limited heap, data in one folder."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, NewTopic

from integration.maven import broker_jars, classpath
from integration.processes import LIGHT, Server, free_ports, java, serve

CLUSTER = "V2lyZWxvb21fdGVzdHMhIQ"  # 16 bytes in Kafka's notation of ids
LARGEST = 64 << 20  # of a message, so that bad ones get through

PROPERTIES = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
log.dirs={folder}/log
log.retention.bytes=1073741824
message.max.bytes={largest}
auto.create.topics.enable=false
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
transaction.state.log.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
num.network.threads=1
num.io.threads=2
"""


@dataclass(slots=True)
class Broker:
    """A broker with a folder for its data; it keeps its port over restarts."""

    folder: Path
    port: int
    controller: int
    server: Server | None = None

    @property
    def address(self) -> str:
        """For `bootstrap.servers`."""
        return f"127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        self.server = serve(self._java("kafka.Kafka", self._properties), self.folder / "server.log")
        self.server.await_ready(self._answers)

    def stop(self) -> None:
        """Stop it; its data stay."""
        if self.server is not None:
            self.server.stop()
            self.server = None

    def restart(self) -> None:
        """Stop it, and start it on the same port with the same data."""
        self.stop()
        self.start()

    def create_topic(self, name: str, partitions: int = 2) -> None:
        """Create a topic for messages of any size that the broker allows."""
        client = self._admin()  # must outlive its futures
        made = client.create_topics([NewTopic(name, partitions, 1, config={"max.message.bytes": str(LARGEST)})])
        made[name].result(30)

    @property
    def _properties(self) -> Path:
        return self.folder / "server.properties"

    def format(self) -> None:
        """Prepare the folder."""
        places = {"port": self.port, "controller": self.controller, "folder": self.folder}
        self._properties.write_text(PROPERTIES.format(**places, largest=LARGEST), encoding="utf-8")
        tool = self._java("kafka.tools.StorageTool", "format", "-t", CLUSTER, "-c", self._properties)
        formatting = serve(tool, self.folder / "format.log")
        try:
            if formatting.process.wait(60):
                raise RuntimeError(formatting.log.read_text(encoding="utf-8"))
        finally:
            formatting.stop()

    def _java(self, *command: str | Path) -> list[str | Path]:
        return [java(), "-Xmx384m", *LIGHT.split(), "-cp", classpath(broker_jars()), *command]

    def _answers(self) -> bool:
        try:
            return bool(self._admin().list_topics(timeout=1).brokers)
        except KafkaException:
            return False

    def _admin(self) -> AdminClient:
        return AdminClient({"bootstrap.servers": self.address, "log_level": 0})


@contextmanager
def running(folder: Path) -> Iterator[Broker]:
    """A broker with its data in the folder, stopped at the end; raises UnavailableError if there are no jars."""
    broker_jars()
    broker = Broker(folder, *free_ports(2))
    try:
        broker.format()
        broker.start()
        yield broker
    finally:
        broker.stop()

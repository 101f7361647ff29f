"""Fixtures for tests with real components: a broker, and jars. Tests are skipped if these are unavailable."""

import os
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from integration import maven
from integration.ingestion import Ingest
from integration.kafka_broker import Broker, running

REQUIRED = "WIRELOOM_REQUIRE_MAVEN"


def obtained(jars) -> tuple[Path, ...]:
    """The jars; without them, the test is skipped, or fails if they are required."""
    try:
        return jars()
    except maven.UnavailableError as error:
        if os.environ.get(REQUIRED):
            raise
        pytest.skip(f"{error}; {REQUIRED}=1 makes this a failure")


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """A Kafka broker for this file's tests."""
    obtained(maven.broker_jars)
    with running(tmp_path_factory.mktemp("kafka")) as started:
        yield started


@pytest.fixture
def topic(broker: Broker) -> str:
    """A new topic."""
    name = f"events-{uuid4()}"
    broker.create_topic(name)
    return name


@pytest.fixture
def ingest(broker: Broker, topic: str, connector: str, tmp_path: Path) -> Ingest:
    """The command that streams the topic into tables."""
    made = Ingest(tmp_path, ("--stream", "--kafka", broker.address, "--topic", topic), connector)
    return made.having("--metrics", str(made.metrics))


@pytest.fixture(scope="module")
def connector() -> str:
    """Spark's Kafka connector, for `spark.jars`."""
    return ",".join(map(str, obtained(maven.connector_jars)))

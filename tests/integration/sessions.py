"""Spark sessions with JVMs of their own, since jars and masters are fixed when a JVM starts."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from os import environ

import pytest
from pyspark import SparkContext
from pyspark.sql import SparkSession

from conftest import GENERATED, ROOT
from wireloom.spark.session import settings

LOOPBACK = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1", "spark.ui.enabled": "false"}
SMALL = {"spark.sql.shuffle.partitions": "2", "spark.sql.adaptive.enabled": "false"}


@contextmanager
def started(master: str, config: Mapping[str, str]) -> Iterator[SparkSession]:
    """A session with a new JVM, which ends with it; Python workers find the checkout."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment().items():
            patch.setenv(name, value)
        end_jvm()
        builder = SparkSession.builder.appName("tests").master(master)
        for key, value in {**settings(master), **LOOPBACK, **SMALL, **config}.items():
            builder = builder.config(key, value)
        session = builder.getOrCreate()
        try:
            yield session
        finally:
            session.stop()
            end_jvm()


def environment() -> dict[str, str]:
    """The environment of Spark's processes: the loopback interface, this interpreter, the checkout."""
    roots = [str(ROOT / "generator"), str(GENERATED), str(ROOT / "tests")]
    inherited = [path for path in environ.get("PYTHONPATH", "").split(":") if path]
    return {
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYTHONPATH": ":".join(dict.fromkeys([*roots, *inherited])),
    }


def end_jvm() -> None:
    """End the JVM that PySpark keeps after a session."""
    gateway = SparkContext._gateway
    if gateway is None:
        return
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait(60)
    SparkContext._gateway = SparkContext._jvm = None

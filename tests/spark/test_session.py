"""Settings of a session: those for a local master must not reach a cluster."""

import os
import sys

import pytest

from wireloom.failures import MachineError
from wireloom.spark import session as sessions
from wireloom.spark.session import session, settings

LOOPBACK = {"spark.driver.host", "spark.driver.bindAddress"}


class Builder:
    """Replaces Spark's builder: records its settings, and does not start."""

    def __init__(self):
        self.told = {}

    def appName(self, _):  # noqa: N802 - as Spark has it
        """Its name."""
        return self

    def master(self, _):
        """Its master."""
        return self

    def config(self, key, value):
        """A setting."""
        self.told[key] = value
        return self

    def getOrCreate(self):  # noqa: N802 - as Spark has it
        """It does not start."""
        raise OSError("no Java")


@pytest.fixture
def builder(monkeypatch):
    """Sessions use this builder, in an environment without settings."""
    made = Builder()
    spark = type("Spark", (), {"builder": made, "getActiveSession": staticmethod(lambda: None)})
    monkeypatch.setattr(sessions, "SparkSession", spark)
    monkeypatch.setattr(os, "environ", {"PATH": "/nowhere", "PYTHONPATH": "mine"})
    return made


@pytest.mark.parametrize("master", ["local", "local[2]", "local[*]"])
def test_a_local_master_listens_on_loopback_and_its_workers_are_this_interpreter(builder, master):
    with pytest.raises(MachineError), session(master=master):
        pass
    assert builder.told.keys() >= LOOPBACK
    assert os.environ["PYSPARK_PYTHON"] == sys.executable
    assert os.environ["SPARK_LOCAL_IP"] == "127.0.0.1"


@pytest.mark.parametrize("master", ["yarn", "spark://host:7077", "k8s://https://host"])
def test_a_cluster_keeps_its_own_addresses_and_interpreter(builder, master):
    with pytest.raises(MachineError), session(master=master):
        pass
    assert not builder.told.keys() & LOOPBACK
    assert not os.environ.keys() & {"PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON", "SPARK_LOCAL_IP"}
    assert os.environ["PYTHONPATH"] == "mine"
    assert settings(master)["spark.sql.session.timeZone"] == "UTC"


def test_where_java_is_missing_the_error_says_how_to_get_it(builder):
    with pytest.raises(MachineError) as caught, session():
        pass
    assert "install a JDK 17" in caught.value.remedy
    assert "JAVA_HOME" in caught.value.remedy


def test_user_configuration_overrides_our_settings(builder):
    with pytest.raises(MachineError), session(configuration=(("spark.driver.memory", "5g"),)):
        pass
    assert builder.told["spark.driver.memory"] == "5g"

"""Jars from Maven Central, resolved by PySpark's Ivy, which needs a JDK but no Maven.

A set of jars is fetched once and kept below `$XDG_CACHE_HOME/wireloom/jars` (or `~/.cache`), shared by all checkouts;
Ivy verifies the checksums. If the registry does not answer or lacks a jar, `UnavailableError` says so in one line.
"""

import fcntl
import hashlib
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from os import environ
from pathlib import Path
from xml.sax.saxutils import quoteattr

import pyspark

from integration.processes import java

CACHE = Path(environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "wireloom" / "jars"
PROBE_SECONDS = 60
RESOLVE_SECONDS = 600
SCALA = "2.13"


class UnavailableError(Exception):
    """Why jars are unavailable."""


@dataclass(frozen=True, slots=True)
class Module:
    """A module of the registry with its dependencies, except for excluded ones; without any if not `transitive`."""

    organisation: str
    name: str
    revision: str
    transitive: bool = True
    excluded: tuple[str, ...] = ()

    @property
    def dependency(self) -> str:
        """The dependency in an Ivy file."""
        attributes = (("org", self.organisation), ("name", self.name), ("rev", self.revision))
        said = " ".join(f"{name}={quoteattr(value)}" for name, value in attributes)
        without = "".join(f"<exclude module={quoteattr(name)}/>" for name in self.excluded)
        transitive = str(self.transitive).lower()
        return f'<dependency {said} conf="default->default" transitive="{transitive}">{without}</dependency>'


PROBE = (Module("org.slf4j", "slf4j-simple", "1.7.36", transitive=False),)  # 15 kB
BROKER = (Module("org.apache.kafka", f"kafka_{SCALA}", "4.1.2"), *PROBE)  # Kafka has no logging of its own

# Already on Spark's own classpath, sometimes newer.
IN_SPARK = ("lz4-java", "scala-library", "scala-parallel-collections_2.13", "slf4j-api", "snappy-java", "jsr305")
SPARK = "org.apache.spark"
TOKENS = f"spark-token-provider-kafka-0-10_{SCALA}"


def connector(revision: str, tokens: str | None = None) -> tuple[Module, ...]:
    """Spark's Kafka connector of a version; its token provider may have a version of its own (`tokens`)."""
    without = (*IN_SPARK, f"spark-tags_{SCALA}")
    name = f"spark-sql-kafka-0-10_{SCALA}"
    if tokens is None:
        return (Module(SPARK, name, revision, excluded=without),)
    return (Module(SPARK, name, revision, excluded=(*without, TOKENS)), Module(SPARK, TOKENS, tokens, transitive=False))


# The registry may lack the current version: then an older connector, which is known to work.
OLDER = (connector("4.2.0"), connector("4.2.0", tokens="4.1.0-preview1"))


@cache
def broker_jars() -> tuple[Path, ...]:
    """The jars of a Kafka broker; raises UnavailableError."""
    return jars(BROKER)


@cache
def connector_jars() -> tuple[Path, ...]:
    """Spark's Kafka connector, in PySpark's version if available; raises UnavailableError."""
    reasons = []
    for modules in (connector(pyspark.__version__), *(OLDER if pyspark.__version__ > "4.2" else ())):
        try:
            return jars(modules)
        except UnavailableError as error:
            reasons.append(str(error))
    raise UnavailableError("; ".join(dict.fromkeys(reasons)))


def jars(modules: tuple[Module, ...]) -> tuple[Path, ...]:
    """The jars of modules and their dependencies, from the cache if possible. Raises UnavailableError."""
    content = "".join(module.dependency for module in modules)
    name = f"{modules[0].name}-{modules[0].revision}-{hashlib.sha256(content.encode()).hexdigest()[:12]}"
    with _locked(CACHE):
        folder = CACHE / name
        if not folder.is_dir():
            if silence := _silence():
                raise UnavailableError(f"Maven Central does not answer: {silence}")
            _fetch(content, folder)
    return tuple(sorted(folder.glob("*.jar")))


@cache
def _silence() -> str | None:
    """Why the registry does not answer, checked once and quickly; None if it does."""
    with tempfile.TemporaryDirectory() as place:
        try:
            _resolve("".join(module.dependency for module in PROBE), Path(place), PROBE_SECONDS)
        except UnavailableError as error:
            return str(error)
    return None


def _fetch(content: str, folder: Path) -> None:
    """Fetch the jars into the folder, all or none."""
    with tempfile.TemporaryDirectory(dir=CACHE) as place:
        _resolve(content, Path(place), RESOLVE_SECONDS)
        shutil.move(Path(place) / "jars", folder)


def _resolve(content: str, place: Path, seconds: float) -> None:
    ivy, *_ = (Path(pyspark.__file__).parent / "jars").glob("ivy-*.jar")
    file = place / "ivy.xml"
    head = '<info organisation="wireloom" module="tests"/><configurations><conf name="default"/></configurations>'
    file.write_text(
        f'<ivy-module version="2.0">{head}<dependencies>{content}</dependencies></ivy-module>', encoding="utf-8"
    )
    pattern = place / "jars" / "[artifact]-[revision](-[classifier]).[ext]"
    command = [java(), "-jar", ivy, "-cache", CACHE / "ivy", "-ivy", file, "-retrieve", pattern]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        raise UnavailableError(f"no answer within {seconds:.0f} s") from None
    if done.returncode:
        complaints = dict.fromkeys(_complaints(done.stdout + done.stderr))
        raise UnavailableError("; ".join(complaints) or f"Ivy ends with code {done.returncode}")


def _complaints(output: str) -> Iterator[str]:
    """The `organisation#module;revision: not found` lines at the end of Ivy's output."""
    for line in output.splitlines():
        said = line.strip().removeprefix(":: ")
        if line.strip().startswith(":: ") and "#" in said and ": " in said and " :: " not in said:
            yield said


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """One process at a time, since tests run in several."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def classpath(paths: Iterable[Path]) -> str:
    """As Java wants it."""
    return ":".join(map(str, paths))

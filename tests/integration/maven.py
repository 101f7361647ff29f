"""Jars from Maven Central, resolved by the Ivy that PySpark brings: it takes a JDK and no Maven.

A set of jars is fetched once and kept, with its checksums verified by Ivy, below `$XDG_CACHE_HOME/wireloom/jars` (or
`~/.cache`); clones share it. Where the registry does not answer, or has no such jar, `UnavailableError` says so in one
line.
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
    """Why jars are not to be had."""


@dataclass(frozen=True, slots=True)
class Module:
    """A module of the registry, with what it needs less what is excluded; alone where not `transitive`."""

    organisation: str
    name: str
    revision: str
    transitive: bool = True
    excluded: tuple[str, ...] = ()

    @property
    def dependency(self) -> str:
        """As an Ivy file says it."""
        attributes = (("org", self.organisation), ("name", self.name), ("rev", self.revision))
        said = " ".join(f"{name}={quoteattr(value)}" for name, value in attributes)
        without = "".join(f"<exclude module={quoteattr(name)}/>" for name in self.excluded)
        transitive = str(self.transitive).lower()
        return f'<dependency {said} conf="default->default" transitive="{transitive}">{without}</dependency>'


PROBE = (Module("org.slf4j", "slf4j-simple", "1.7.36", transitive=False),)  # 15 kB
BROKER = (Module("org.apache.kafka", f"kafka_{SCALA}", "4.1.2"), *PROBE)  # Kafka has no logging of its own

# What Spark's own classpath has already, sometimes newer.
IN_SPARK = ("lz4-java", "scala-library", "scala-parallel-collections_2.13", "slf4j-api", "snappy-java", "jsr305")
SPARK = "org.apache.spark"
TOKENS = f"spark-token-provider-kafka-0-10_{SCALA}"


def connector(revision: str, tokens: str | None = None) -> tuple[Module, ...]:
    """Spark's Kafka connector of that version; with the part that has no version of its own of version `tokens`."""
    without = (*IN_SPARK, f"spark-tags_{SCALA}")
    name = f"spark-sql-kafka-0-10_{SCALA}"
    if tokens is None:
        return (Module(SPARK, name, revision, excluded=without),)
    return (Module(SPARK, name, revision, excluded=(*without, TOKENS)), Module(SPARK, TOKENS, tokens, transitive=False))


# A registry can be behind PyPI and have gaps: then an older connector, of which the tests show that it works.
OLDER = (connector("4.2.0"), connector("4.2.0", tokens="4.1.0-preview1"))


@cache
def broker_jars() -> tuple[Path, ...]:
    """What a Kafka broker needs; raises UnavailableError."""
    return jars(BROKER)


@cache
def connector_jars() -> tuple[Path, ...]:
    """Spark's Kafka connector, of PySpark's version where that can be had; raises UnavailableError."""
    reasons = []
    for modules in (connector(pyspark.__version__), *(OLDER if pyspark.__version__ > "4.2" else ())):
        try:
            return jars(modules)
        except UnavailableError as error:
            reasons.append(str(error))
    raise UnavailableError("; ".join(dict.fromkeys(reasons)))


def jars(modules: tuple[Module, ...]) -> tuple[Path, ...]:
    """The jars of modules and of what they need; from the cache where they are in it. Raises UnavailableError."""
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
    """Why the registry does not answer at all, found out once and quickly; None where it does."""
    with tempfile.TemporaryDirectory() as place:
        try:
            _resolve("".join(module.dependency for module in PROBE), Path(place), PROBE_SECONDS)
        except UnavailableError as error:
            return str(error)
    return None


def _fetch(content: str, folder: Path) -> None:
    """The jars in the folder; never a part of them."""
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
    """`organisation#module;revision: not found` of the lines that Ivy ends with."""
    for line in output.splitlines():
        said = line.strip().removeprefix(":: ")
        if line.strip().startswith(":: ") and "#" in said and ": " in said and " :: " not in said:
            yield said


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """One process at a time: the tests run on several."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def classpath(paths: Iterable[Path]) -> str:
    """As Java wants it."""
    return ":".join(map(str, paths))

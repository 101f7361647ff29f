"""Accesses the files of tables and ledgers on the file systems that Spark finds for their paths."""

import uuid
from dataclasses import dataclass
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from wireloom.failures import MachineError
from wireloom.ingest.files.finding import LOCAL
from wireloom.ingest.files.storage import PlainStorage
from wireloom.ingest.ledger.entries import Storage


@dataclass(frozen=True, slots=True)
class HadoopStorage:
    """The file systems of a session, by path.

    A rename is atomic on a local disk and on HDFS, but not on an object store.
    """

    spark: SparkSession

    def exists(self, path: str) -> bool:
        """Whether the path exists."""
        system, place = self._at(path)
        return bool(system.exists(place))

    def names(self, path: str) -> tuple[str, ...]:
        """The names in a folder, sorted; empty if the folder does not exist."""
        system, place = self._at(path)
        if not system.exists(place):
            return ()
        return tuple(sorted(status.getPath().getName() for status in system.listStatus(place)))

    def files(self, path: str) -> tuple[str, ...]:
        """The paths of all files below a folder, relative to it; empty if the folder does not exist."""
        system, place = self._at(path)
        if not system.exists(place):
            return ()
        home = system.makeQualified(place).toUri().getPath().rstrip("/") + "/"
        found, listed = [], system.listFiles(place, True)  # noqa: FBT003 - Hadoop's signature
        while listed.hasNext():
            found.append(str(listed.next().getPath().toUri().getPath()).removeprefix(home))
        return tuple(sorted(found))

    def rename(self, path: str, new: str) -> None:
        """Rename a file or folder; raises FileExistsError if the new path exists."""
        system, source = self._at(path)
        _, target = self._at(new)
        if system.exists(target):
            raise FileExistsError(f"{new} exists")
        system.mkdirs(target.getParent())
        if not system.rename(source, target):
            raise OSError(f"{path} cannot be renamed to {new}")

    def moves_by_file(self, path: str) -> bool:  # noqa: ARG002 - Hadoop's file systems rename folders themselves
        """Whether a folder there is moved file by file, so that a killed process leaves both folders."""
        return False

    def delete(self, path: str) -> None:
        """Remove a file, or a folder with its content, if it exists."""
        system, place = self._at(path)
        system.delete(place, True)  # noqa: FBT003 - Hadoop's signature

    def read(self, path: str) -> str:
        """The text of a file."""
        system, place = self._at(path)
        stream = system.open(place)
        try:
            return str(self._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
        finally:
            stream.close()

    def write(self, path: str, text: str) -> None:
        """Create a file atomically; raises FileExistsError if it exists."""
        system, place = self._at(path)
        draft = self._jvm.org.apache.hadoop.fs.Path(place.getParent(), f".{place.getName()}.{uuid.uuid4().hex}")
        stream = system.create(draft)
        try:
            stream.write(bytearray(text.encode()))
        finally:
            stream.close()
        try:
            self.rename(str(draft), path)
        except FileExistsError:
            system.delete(draft, False)  # noqa: FBT003 - Hadoop's signature
            raise

    def replace(self, path: str, text: str) -> None:
        """Create a file or replace its text; readers may meanwhile see a part of it."""
        system, place = self._at(path)
        stream = system.create(place, True)  # noqa: FBT003 - Hadoop's signature
        try:
            stream.write(bytearray(text.encode()))
        finally:
            stream.close()

    def absolute(self, path: str) -> str:
        """The path with its file system, completed as the session does."""
        system, place = self._at(path)
        return str(system.makeQualified(place).toString())

    def _at(self, path: str) -> tuple[Any, Any]:
        place = self._jvm.org.apache.hadoop.fs.Path(path)
        try:
            return place.getFileSystem(self.spark._jsc.hadoopConfiguration()), place  # noqa: SLF001 - no public way
        except Py4JJavaError as error:
            if "No FileSystem for scheme" not in str(error.java_exception):
                raise
            message = f"this Spark session has no file system for {path.partition(':')[0]}://"
            raise MachineError(message, "--engine local, or Hadoop's file system for it in --packages") from error

    @property
    def _jvm(self) -> Any:
        return self.spark._jvm  # noqa: SLF001 - PySpark has no public way to its file systems


@dataclass(frozen=True, slots=True)
class SessionStorage:
    """The file systems of a session; paths on this machine are accessed without Java.

    Each access through Java takes a dozen calls, and a batch needs dozens of accesses.
    """

    spark: SparkSession

    def exists(self, path: str) -> bool:
        """Whether the path exists."""
        return self._of(path).exists(path)

    def names(self, path: str) -> tuple[str, ...]:
        """The names in a folder, sorted; empty if the folder does not exist."""
        return self._of(path).names(path)

    def files(self, path: str) -> tuple[str, ...]:
        """The paths of all files below a folder, relative to it; empty if the folder does not exist."""
        return self._of(path).files(path)

    def rename(self, path: str, new: str) -> None:
        """Rename a file or folder; raises FileExistsError if the new path exists."""
        self._of(path).rename(path, new)

    def moves_by_file(self, path: str) -> bool:
        """Whether a folder there is moved file by file, so that a killed process leaves both folders."""
        return self._of(path).moves_by_file(path)

    def delete(self, path: str) -> None:
        """Remove a file, or a folder with its content, if it exists."""
        self._of(path).delete(path)

    def read(self, path: str) -> str:
        """The text of a file."""
        return self._of(path).read(path)

    def write(self, path: str, text: str) -> None:
        """Create a file atomically; raises FileExistsError if it exists."""
        self._of(path).write(path, text)

    def replace(self, path: str, text: str) -> None:
        """Create a file or replace its text."""
        self._of(path).replace(path, text)

    def absolute(self, path: str) -> str:
        """The path with its file system, completed as the session does."""
        return self._of(path).absolute(path)

    def _of(self, path: str) -> Storage:
        return PlainStorage() if path.startswith(LOCAL) else HadoopStorage(self.spark)

"""The data source `wireloom`: files of records as tables, tables as files of records, in batches and in streams.

`spark.read.format("wireloom").option("format", "NAME").load(path)`. Spark calls the methods of `WireloomSource` in
Python processes of its own, on the driver's machine and on the executors, and sends what they return from one to the
other by pickle; so a reader is a small value that names the generated module, and each process opens the module itself
and compares its digest with the driver's.
"""

import importlib
import json
from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass, replace
from typing import Any, cast

import pyarrow as pa
from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    DataSourceStreamWriter,
    DataSourceWriter,
    Filter,
    InputPartition,
)
from pyspark.sql.types import StructType

from wireloom.catalog import FormatModule, open_format
from wireloom.failures import MachineError, MisuseError
from wireloom.runtime.errors import ParameterError
from wireloom.spark.options import GENERAL, Options, Surface, read_options
from wireloom.spark.plan import Plan
from wireloom.spark.source_files import Listing
from wireloom.spark.source_filters import Predicate, predicate
from wireloom.spark.source_read import Portion, Reading, batches, portions, reading
from wireloom.spark.source_schema import arrow_schema, default_schema

PACKAGE = "wireloom_formats"
PARTITION_BYTES = 32 << 20
"""Bytes of files that a task reads unless the option maxPartitionBytes says otherwise."""
FINDING = ("format", "package", "path", "paths")
READS = Surface(
    "data source wireloom",
    ("PERMISSIVE", "FAILFAST", "DROPMALFORMED"),
    own=(
        *FINDING,
        *("pathGlobFilter", "recursiveFileLookup", "maxPartitionBytes", "pushFilters"),
        *("maxFilesPerTrigger", "maxBytesPerTrigger", "fileLog"),
    ),
)
WRITES = Surface(
    "data source wireloom, writing,",
    ("FAILFAST",),
    tuple(name for name in GENERAL if name in ("root", "framing", "openValues")),
    own=(*FINDING, "checkpointLocation"),
)


class WireloomSource(DataSource):
    """Files of any generated format."""

    @classmethod
    def name(cls) -> str:
        """What `format` of a reader or writer is given."""
        return "wireloom"

    def schema(self) -> StructType:
        """The columns where the caller gives no schema."""
        given = Given.of(self.options, READS)
        return default_schema(given.module, given.options)

    def reader(self, schema: StructType) -> DataSourceReader:
        """Reads files."""
        given = Given.of(self.options, READS)
        kind = FilteringReader if given.flag("pushFilters") else FileReader
        return kind(given.reading(schema), given.listing(), given.size("maxPartitionBytes", PARTITION_BYTES))

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802 - Spark's name
        """Reads the files that appear."""
        from wireloom.spark.source_stream import stream_reader  # noqa: PLC0415 - needed for streams alone

        given = Given.of(self.options, READS)
        return stream_reader(given.reading(schema), given)

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:  # noqa: FBT001 - Spark's signature
        """Writes files."""
        from wireloom.spark.source_write import FileWriter  # noqa: PLC0415 - needed for writing alone

        return FileWriter(Given.of(self.options, WRITES).writing(schema), overwrite=overwrite)

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamWriter:  # noqa: N802, FBT001 - Spark's
        """Writes files, batch by batch."""
        from wireloom.spark.source_write import StreamFileWriter  # noqa: PLC0415 - needed for writing alone

        if overwrite:
            raise MisuseError("a stream is appended to what is there; output mode complete is not supported")
        return StreamFileWriter(Given.of(self.options, WRITES).writing(schema))


class FileReader(DataSourceReader):
    """Reads the files of a listing."""

    def __init__(self, read: Reading, listing: Listing, target: int) -> None:
        self._read, self._listing, self._target = read, listing, target
        self._predicates: tuple[Predicate, ...] = ()

    def partitions(self) -> list[Portion]:
        """What each task reads."""
        module = open_module_of(self._read.plan)
        return portions(self._read, module, self._listing.files(), self._target)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of a task's part; a listing of no files is one task of none."""
        parts = partition.parts if isinstance(partition, Portion) else ()
        return batches(self._read, parts, self._predicates)


class FilteringReader(FileReader):
    """Reads the files of a listing, and only the rows that the filters of the query keep.

    A reader of its own, since Spark refuses readers that filter where it does not push filters.
    """

    def pushFilters(self, filters: list[Filter]) -> Iterator[Filter]:  # noqa: N802 - Spark's name
        """The filters that are not exact here; the others are applied from now on."""
        schema = arrow_schema(self._read.schema)
        for each in filters:
            found = predicate(each, schema)
            if found is None:
                yield each
            else:
                self._predicates += (found,)


def open_module_of(plan: Plan) -> FormatModule:
    """The generated module of a plan, of the same spec as where the plan was made."""
    from wireloom.spark.executor import open_module  # noqa: PLC0415 - not needed to find the data source

    return open_module(plan)


# --- options -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Given:
    """The options of a read or write, checked."""

    module: FormatModule
    options: Options
    plan: Plan
    texts: dict[str, str]  # as given, by name in lower case

    @classmethod
    def of(cls, texts: MutableMapping[str, str], surface: Surface) -> "Given":
        """The options; raises MisuseError and ParameterError, with the nearest name."""
        given = {name.lower(): text for name, text in texts.items()}
        module = _module(given.get("package") or PACKAGE, given.get("format"))
        options = read_options(given, module.CODEC, surface)
        options = replace(options, framing=options.framing or module.CODEC.framing)
        name = f"{given.get('package') or PACKAGE}.{module.FORMAT}"
        plan = Plan(name, module.FORMAT, module.DIGEST, options.root, options.framing, options.parameters)
        return cls(module, options, plan, given)

    def paths(self) -> tuple[str, ...]:
        """The paths of `load` or `save`."""
        several = self.texts.get("paths")
        paths = tuple(json.loads(several)) if several else ()
        path = self.texts.get("path")
        if path is not None:
            paths = (path, *paths)
        if not paths:
            raise MisuseError("no path: load(path), save(path) or option path says where the files are")
        return paths

    def listing(self) -> Listing:
        """Which files are read."""
        return Listing(self.paths(), self.texts.get("pathglobfilter"), self.flag("recursiveFileLookup"))

    def reading(self, schema: StructType) -> Reading:
        """How they are read."""
        return reading(self.module, self.plan, self.options, schema)

    def flag(self, name: str) -> bool:
        """An option that is true or false; false where it is not given."""
        text = self.texts.get(name.lower(), "false").lower()
        if text not in {"true", "false"}:
            raise ParameterError(f"option {name} must be true or false, not {text!r}")
        return text == "true"

    def size(self, name: str, default: int) -> int:
        """An option that is a number, perhaps of KiB (`k`), MiB (`m`) or GiB (`g`)."""
        text = self.texts.get(name.lower())
        if text is None:
            return default
        number = text.lower().removesuffix("b").strip()
        factor = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}.get(number[-1:], 1)
        digits = number if factor == 1 else number[:-1].strip()
        if not digits.isdecimal() or int(digits) == 0:
            raise ParameterError(f"option {name} must be a number above 0, like 1000 or 128m, not {text!r}")
        return int(digits) * factor

    def writing(self, schema: StructType) -> Any:
        """How rows of a schema are written."""
        from wireloom.spark.source_write import writing  # noqa: PLC0415 - needed for writing alone

        if self.plan.framing == "none" and "framing" not in self.texts:
            raise MisuseError(
                f"{self.plan.format} does not say how records follow one another; option framing says it "
                "(length-prefixed, or none for a file for each record)"
            )
        return writing(self.module, self.plan, self.options, schema, self.paths())


def _module(package: str, name: str | None) -> FormatModule:
    try:
        opened = importlib.import_module(package)
    except ModuleNotFoundError as error:
        hint = "install it where the driver and the executors run, or name another by option package"
        raise MachineError(f"there is no package {package} ({error}); {hint}", "wireloom package") from error
    if not name:
        raise MisuseError(f"option format names the format; there are {', '.join(opened.FORMATS)}")
    return open_format(cast(Any, opened), name)

"""The options of the data source: the format, the files, and how to read or write them."""

import importlib
import json
from collections.abc import MutableMapping
from dataclasses import dataclass, replace
from typing import Any, cast

from pyspark.sql.types import StructType

from wireloom.catalog import FormatModule, open_format
from wireloom.failures import MachineError, MisuseError
from wireloom.ingest.files.finding import Listing
from wireloom.ingest.plan import CHANGED_FILES, COMPRESSIONS, EXPANDED, Plan
from wireloom.runtime.errors import ParameterError
from wireloom.spark.options import GENERAL, Options, Surface, read_options
from wireloom.spark.source.read import Reading, reading

PACKAGE = "wireloom_formats"
PARTITION_BYTES = 32 << 20
"""Bytes of files per task, unless the option maxPartitionBytes is given."""
FINDING = ("format", "package", "path", "paths")
READS = Surface(
    "data source wireloom",
    ("PERMISSIVE", "FAILFAST", "DROPMALFORMED"),
    own=(
        *FINDING,
        *("pathGlobFilter", "recursiveFileLookup", "maxPartitionBytes", "pushFilters"),
        *("maxFilesPerTrigger", "maxBytesPerTrigger", "fileLog"),
        *("compression", "maxExpansion", "changedFiles", "resync"),
    ),
)
WRITES = Surface(
    "data source wireloom, writing,",
    ("FAILFAST",),
    tuple(name for name in GENERAL if name in ("root", "framing", "openValues")),
    own=(*FINDING, "checkpointLocation"),
)


@dataclass(frozen=True, slots=True)
class CheckedOptions:
    """The checked options of a read or write."""

    module: FormatModule
    options: Options
    plan: Plan
    texts: dict[str, str]  # as given, by lower-case name

    @classmethod
    def of(cls, texts: MutableMapping[str, str], surface: Surface) -> "CheckedOptions":
        """Check the options; raises MisuseError and ParameterError, with the most similar name."""
        given = {name.lower(): text for name, text in texts.items()}
        module = _module(given.get("package") or PACKAGE, given.get("format"))
        options = read_options(given, module.CODEC, surface)
        options = replace(
            options, framing=module.CODEC.framing_of(module.CODEC.root(options.root), options.framing).text
        )
        name = f"{given.get('package') or PACKAGE}.{module.FORMAT}"
        plan = Plan(name, module.FORMAT, module.MEANING, options.root, options.framing, options.parameters)
        found = cls(module, options, plan, given)
        return replace(found, plan=found._reading_files())

    def _reading_files(self) -> Plan:
        """The plan, with the options about files."""
        return replace(
            self.plan,
            changed=self.choice("changedFiles", CHANGED_FILES),
            compression=self.choice("compression", COMPRESSIONS),
            expansion=self.size("maxExpansion", EXPANDED),
            resync=self.flag("resync"),
        )

    def choice(self, name: str, choices: tuple[str, ...]) -> str:
        """An option with a fixed set of words; by default the first."""
        text = self.texts.get(name.lower(), choices[0])
        if text not in choices:
            raise ParameterError(f"option {name} must be {' or '.join(choices)}, not {text!r}")
        return text

    def paths(self) -> tuple[str, ...]:
        """The paths of `load` or `save`."""
        several = self.texts.get("paths")
        paths = tuple(json.loads(several)) if several else ()
        path = self.texts.get("path")
        if path is not None:
            paths = (path, *paths)
        if not paths:
            raise MisuseError("there is no path; give one with load(path), save(path) or the option path")
        return paths

    def listing(self) -> Listing:
        """The files to read."""
        return Listing(self.paths(), self.texts.get("pathglobfilter"), self.flag("recursiveFileLookup"))

    def reading(self, schema: StructType) -> Reading:
        """How to read the files."""
        return reading(self.module, self.plan, self.options, schema)

    def flag(self, name: str) -> bool:
        """A boolean option; false by default."""
        text = self.texts.get(name.lower(), "false").lower()
        if text not in {"true", "false"}:
            raise ParameterError(f"option {name} must be true or false, not {text!r}")
        return text == "true"

    def size(self, name: str, default: int) -> int:
        """A number option, which may have the unit KiB (`k`), MiB (`m`) or GiB (`g`)."""
        text = self.texts.get(name.lower())
        if text is None:
            return default
        number = text.lower().removesuffix("b").strip()
        factor = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}.get(number[-1:], 1)
        digits = number if factor == 1 else number[:-1].strip()
        if not digits.isdecimal() or int(digits) == 0:
            raise ParameterError(f"option {name} must be a number above 0, like 1000 or 128m, not {text!r}")
        return int(digits) * factor


def _module(package: str, name: str | None) -> FormatModule:
    try:
        opened = importlib.import_module(package)
    except ModuleNotFoundError as error:
        hint = "install it where the driver and the executors run, or name another by option package"
        raise MachineError(f"there is no package {package} ({error}); {hint}", "wireloom package") from error
    if not name:
        raise MisuseError(f"the option format is missing; it can be {', '.join(opened.FORMATS)}")
    return open_format(cast(Any, opened), name)

"""The generated package, as tools find it: by name, in a folder or installed.

A folder with the package comes before an installed one, so that tools use what was just generated.
"""

import importlib
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from wireloom.failures import MachineError, MisuseError, unknown

if TYPE_CHECKING:  # the runtime comes with the package, and texts of help do without
    from pyspark.sql.types import StructType

    from wireloom.runtime.codec import Codec
    from wireloom.runtime.parameters import ParameterValue
    from wireloom.runtime.validation import Validator


class Package(Protocol):
    """A generated package: its index."""

    __name__: str
    FORMATS: Mapping[str, tuple[str, str]]


class FormatModule(Protocol):
    """A generated module: one format."""

    __name__: str
    FORMAT: str
    TITLE: str
    DIGEST: str  # of the spec's text
    MEANING: str  # of what it means: an edit of a comment keeps it
    ENCODING: str
    CODEC: "Codec"
    JSON_SCHEMA: dict[str, Any]
    VALIDATOR: "Validator"

    def struct_type(self, *, root: str, explode: bool) -> "StructType":
        """The Spark columns of a root, or of its flat rows."""


def open_package(name: str, folder: Path) -> Package:
    """The generated package of that name, from `folder` where it is there, else as installed."""
    if not all(part.isidentifier() for part in name.split(".")):
        raise MisuseError(f"{name!r} is not the name of a Python package")
    if (folder / name / "__init__.py").is_file() and str(folder.resolve()) not in sys.path:
        sys.path.insert(0, str(folder.resolve()))
    try:
        found = importlib.import_module(name)
    except _contract_error() as error:
        raise MachineError(str(error), "wireloom generate") from error
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise MachineError(
                f"{name} needs {error.name}, which is not installed", f"pip install {error.name}"
            ) from error
        raise MachineError(
            f"there is no package {name}, neither in {folder} nor installed", "wireloom generate"
        ) from error
    if not hasattr(found, "FORMATS"):
        raise MisuseError(f"{name} is no package that wireloom has generated; name another with --package")
    return cast(Package, found)


def _contract_error() -> type[Exception]:
    from wireloom.runtime.errors import ContractError  # noqa: PLC0415 - the runtime, which help does without

    return ContractError


def open_format(package: Package, name: str) -> FormatModule:
    """The module of that format."""
    if name not in package.FORMATS:
        raise unknown("format", name, package.FORMATS)
    return cast(FormatModule, importlib.import_module(f"{package.__name__}.{name}"))


def parameter_values(module: FormatModule, assignments: Iterable[str]) -> "dict[str, ParameterValue]":
    """The values that `name=value` texts give to the format's parameters."""
    known = {parameter.name: parameter for parameter in module.CODEC.parameters}
    values: dict[str, ParameterValue] = {}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        if not equals:
            raise MisuseError(f"parameter {assignment!r} is not NAME=VALUE")
        if name not in known:
            raise unknown(f"parameter of {module.FORMAT}", name, known)
        values[name] = known[name].accept(text)
    return values

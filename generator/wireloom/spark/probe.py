"""Reports the environment of a Python worker: interpreter, libraries, engine, generated package and specs.

The functions of this module are pickled by value, because a worker may lack wireloom. So they import modules when they
run, and the module imports only the standard library.
"""

import importlib
import json
import platform
import sys
from collections.abc import Iterable, Iterator

LIBRARIES = ("pyarrow", "construct", "msgpack", "google.protobuf")


def look(package: str) -> dict[str, object]:
    """The environment of this interpreter, as JSON values; `digests` by format, `missing` by module and reason."""
    missing: dict[str, str] = {}

    def imported(name: str) -> object | None:
        try:
            return importlib.import_module(name)
        except Exception as error:  # noqa: BLE001 - any failure in a worker's environment is a result of the probe
            missing[name] = f"{type(error).__name__}: {error}"
            return None

    versions = {name: str(getattr(imported(name), "__version__", "")) for name in LIBRARIES}
    wireloom, engine = imported("wireloom"), imported("wireloom.runtime.engine")
    formats = getattr(imported(package), "FORMATS", {})
    return {
        "host": platform.node(),
        "interpreter": sys.executable,
        "python": platform.python_version(),
        "libraries": versions,
        "wireloom": getattr(wireloom, "__version__", None),
        "engine": bool(engine and engine.available()),  # type: ignore[attr-defined]  # imported by name
        "digests": {name: entry.digest for name, entry in formats.items()},
        "missing": missing,
    }


def looks(package: str, tasks: Iterable[int]) -> Iterator[str]:
    """For mapPartitions: a report for each task, as JSON text."""
    for _ in tasks:
        yield json.dumps(look(package), sort_keys=True)

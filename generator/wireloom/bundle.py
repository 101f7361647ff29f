"""The generated package as two files to install or submit: a wheel, and a zip for Spark's `--py-files`.

The wheel has the generated package alone; environments that install it need `wireloom` too. Spark does not take wheels
for `--py-files`, so the zip also has the runtime and the modules that ingest runs on executors. Python imports from the
zip without unpacking it. Both files are pure Python, and the same contents give the same bytes. `bundle` removes
earlier bundles of the package from the folder, so that a pattern such as `dist/*.zip` matches only one file.
"""

import base64
import hashlib
import re
import tomllib
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import wireloom
from wireloom.failures import MachineError

WHEEL = f"""\
Wheel-Version: 1.0
Generator: wireloom {wireloom.__version__}
Root-Is-Purelib: true
Tag: py3-none-any
"""
EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest timestamp of a zip entry
SUFFIXES = (".py", ".json", ".typed")
SHIPPED = (
    "__init__.py",
    "catalog.py",
    "escapes.py",
    "failures.py",
    "ingest",
    "problems.py",
    "runtime",
    "spark",
)  # the parts of wireloom that executors need
SOURCE = "pyspark_wireloom"  # where Spark looks for the data source


@dataclass(frozen=True, slots=True)
class Bundle:
    """The paths of the two files, the exact requirement for pip, and the earlier files that were removed."""

    wheel: Path
    zip: Path
    requirement: str
    removed: tuple[Path, ...] = ()


def bundle(out: Path, package: str, destination: Path) -> Bundle:
    """Write the wheel and the zip of the package in `out` to the destination folder."""
    if not (out / package / "__init__.py").is_file() or not (out / "pyproject.toml").is_file():
        raise MachineError(f"there is no generated package {package} in {out}", "wireloom generate")
    project = tomllib.loads((out / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    contents = dict(_tree(out / package, package))
    name, version = project["name"].replace("-", "_"), project["version"]
    destination.mkdir(parents=True, exist_ok=True)
    earlier = set(_bundles(destination, name))
    wheel = destination / f"{name}-{version}-py3-none-any.whl"
    archive = destination / f"{name}-{version}.zip"
    _write(wheel, _wheel(project, f"{name}-{version}.dist-info", contents))
    _write(archive, contents | dict(_runtime()))
    removed = tuple(sorted(earlier - {wheel, archive}))
    for path in removed:
        path.unlink()
    return Bundle(wheel, archive, f"{project['name']}=={version}", removed)


def _bundles(folder: Path, name: str) -> Iterator[Path]:
    """All bundles of the package, of any version: `name-1.0+digest.zip`, `name-1.0+digest-py3-none-any.whl`."""
    version = r"\d+\.\d+\+[0-9a-f]{12}"
    pattern = re.compile(rf"{re.escape(name)}-{version}(\.zip|-py3-none-any\.whl)")
    return (path for path in folder.iterdir() if path.is_file() and pattern.fullmatch(path.name))


def _tree(folder: Path, name: str) -> Iterator[tuple[str, bytes]]:
    for path in sorted(folder.rglob("*")):
        if path.suffix in SUFFIXES and path.is_file():
            yield f"{name}/{path.relative_to(folder).as_posix()}", path.read_bytes()


def _runtime() -> Iterator[tuple[str, bytes]]:
    home = Path(wireloom.__file__).parent
    for name in SHIPPED:
        if (home / name).is_dir():
            yield from _tree(home / name, f"wireloom/{name}")
        else:
            yield f"wireloom/{name}", (home / name).read_bytes()
    yield from _tree(home.parent / SOURCE, SOURCE)


def _wheel(project: Mapping[str, Any], info: str, contents: Mapping[str, bytes]) -> dict[str, bytes]:
    files = dict(contents)
    files[f"{info}/METADATA"] = _metadata(project).encode()
    files[f"{info}/WHEEL"] = WHEEL.encode()
    files[f"{info}/RECORD"] = _record(files, f"{info}/RECORD").encode()
    return files


def _metadata(project: Mapping[str, Any]) -> str:
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {project['name']}",
        f"Version: {project['version']}",
        f"Summary: {project['description']}",
        f"Requires-Python: {project['requires-python']}",
        *(f"Requires-Dist: {requirement}" for requirement in project["dependencies"]),
    ]
    return "\n".join(lines) + "\n"


def _record(files: Mapping[str, bytes], own: str) -> str:
    rows = [f"{name},sha256={_digest(data)},{len(data)}" for name, data in files.items()]
    return "\n".join([*rows, f"{own},,"]) + "\n"


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def _write(path: Path, files: Mapping[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data)

"""Checks this machine for everything that Spark needs, and names the command that fixes a problem.

Nothing here starts Spark or imports PySpark.
"""

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from wireloom.catalog import open_format, open_package
from wireloom.failures import MachineError

PYTHON = (3, 11)
JAVA = 17
LIBRARIES = {
    "construct": "pip install wireloom",
    "msgpack": "pip install wireloom",
    "protobuf": "pip install wireloom",
    "pyarrow": "pip install wireloom",
}
SPARK_EXTRA = "pip install 'wireloom[spark]'"
PYSPARK = (4, 1)


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of a check. Without `remedy` it is in order; `advice` is an optional improvement."""

    subject: str
    detail: str
    remedy: str = ""
    advice: str = ""

    @property
    def good(self) -> bool:
        """Whether nothing must be fixed."""
        return not self.remedy


def python() -> Finding:
    """Check this interpreter."""
    version = ".".join(map(str, sys.version_info[:3]))
    wanted = ".".join(map(str, PYTHON))
    remedy = "" if sys.version_info >= PYTHON else f"install Python {wanted} or later and make a new environment"
    return Finding("Python", f"{version}, {sys.executable}", remedy)


def library(name: str, remedy: str) -> Finding:
    """Check an installed library."""
    try:
        return Finding(name, importlib.metadata.version(name))
    except importlib.metadata.PackageNotFoundError:
        return Finding(name, "not installed", remedy)


def pyspark() -> Finding:
    """Check PySpark, and whether it has VARIANT."""
    found = library("pyspark", SPARK_EXTRA)
    numbers = tuple(int(number) for number in re.findall(r"\d+", found.detail)[:2])
    if found.good and numbers < PYSPARK:
        return Finding("pyspark", f"{found.detail}; VARIANT columns need 4.1", f"{SPARK_EXTRA} --upgrade")
    return found


def java() -> Finding:
    """Check the Java that Spark would start."""
    remedy = (
        f"install a JDK {JAVA} or later (apt-get install openjdk-{JAVA}-jdk-headless) and set JAVA_HOME to its folder"
    )
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if java is None:
        return Finding("Java", "not found on PATH, and JAVA_HOME is not set", remedy)
    try:
        answer = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=30, check=True)  # noqa: S603 - the user's own Java
    except (OSError, subprocess.SubprocessError) as error:
        return Finding("Java", f"{java} does not run: {error}", remedy)
    version = re.search(r'version "(?:1\.)?(\d+)', answer.stderr + answer.stdout)
    if version is None or int(version[1]) < JAVA:
        return Finding("Java", f"{java} is version {version[1] if version else 'unknown'}, Spark needs {JAVA}", remedy)
    return Finding("Java", f"{version[1]}, {java}")


def worker() -> Finding:
    """Check the interpreter of Python workers.

    Those of a cluster are started with PYSPARK_PYTHON; a session of our own sets it to this interpreter.
    """
    python = os.environ.get("PYSPARK_PYTHON", sys.executable)
    if python == sys.executable:
        return Finding("worker interpreter", f"this one, {python}")
    code = "import sys, pyarrow; print('%d.%d' % sys.version_info[:2])"
    remedy = f"export PYSPARK_PYTHON={sys.executable}"
    try:
        answer = subprocess.run([python, "-c", code], capture_output=True, text=True, timeout=60, check=True)  # noqa: S603 - the user's own choice
    except (OSError, subprocess.SubprocessError) as error:
        return Finding("worker interpreter", f"PYSPARK_PYTHON={python} cannot import pyarrow: {error}", remedy)
    own = "{}.{}".format(*sys.version_info[:2])
    if answer.stdout.strip() != own:
        detail = f"PYSPARK_PYTHON={python} is Python {answer.stdout.strip()}, the driver is {own}"
        return Finding("worker interpreter", detail, remedy)
    return Finding("worker interpreter", python)


def package(package: str, out: Path) -> Finding:
    """Check that the generated package and its formats can be imported."""
    try:
        opened = open_package(package, out)
        for name in opened.FORMATS:
            open_format(opened, name)
    except MachineError as error:
        return Finding(package, str(error), error.remedy or "wireloom generate")
    names = f"{len(opened.FORMATS)} formats: {', '.join(opened.FORMATS)}"
    other = _installed(package)
    install = f"pip install {out if out.is_absolute() else f'./{out}'}"
    here = out / package / "__init__.py"
    if other is not None and here.is_file() and not here.samefile(other):
        detail = f"{names} in {out}, but Python imports another {package}, in {other.parent.parent}"
        return Finding(package, detail, f"{install}, or choose another name with wireloom generate --package")
    if other is None:
        return Finding(package, f"{names}, in {out}; programs import it after {install}")
    return Finding(package, f"{names}; Python imports it from {other.parent.parent}")


def _installed(package: str) -> Path | None:
    """The index of the installed package; other programs do not look into the folder that commands use first."""
    code = f"import importlib.util as u; s = u.find_spec({package!r}); print(s.origin if s and s.origin else '')"
    try:
        answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)  # noqa: S603 - this Python
    except (OSError, subprocess.SubprocessError):
        return None
    return Path(answer.stdout.strip()) if answer.stdout.strip() else None

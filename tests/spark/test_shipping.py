"""The generated package on executors in processes of their own, which have only the shipped files."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from conftest import GENERATED, ROOT, shipped_formats
from wireloom.bundle import Bundle, bundle

pyspark = pytest.importorskip("pyspark")

pytestmark = [pytest.mark.integration, pytest.mark.thorough]

JOB = Path(__file__).parent / "jobs" / "shipped.py"
SPARK_HOME = Path(pyspark.__file__).parent
PACKAGES = Path(sysconfig.get_paths()["purelib"])
PARENTS = [0, 1, 1, 1]  # a plain record is one user record, the aggregate holds three


@pytest.fixture(scope="module")
def libraries(tmp_path_factory) -> Path:
    """A folder with every library of this environment, and no wireloom."""
    folder = tmp_path_factory.mktemp("libraries")
    for path in PACKAGES.iterdir():
        if "wireloom" not in path.name and path.suffix != ".pth":
            (folder / path.name).symlink_to(path)
    return folder


@pytest.fixture(scope="module")
def bare(tmp_path_factory, libraries) -> Path:
    """An interpreter that has what executors need, but for wireloom and the generated package."""
    return environment(tmp_path_factory.mktemp("bare") / "environment", libraries)


@pytest.fixture(scope="module")
def shipped(tmp_path_factory) -> Bundle:
    """The files that `wireloom package` makes."""
    return bundle(GENERATED, "wireloom_formats", tmp_path_factory.mktemp("dist"))


def environment(folder: Path, libraries: Path) -> Path:
    """A virtual environment that sees those libraries; its interpreter."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    site = next(folder.glob("lib/python3*/site-packages"))
    (site / "sitecustomize.py").write_text(f"import sys\nsys.path.append({str(libraries)!r})\n")
    return folder / "bin" / "python"


def submitted(driver: Path, *arguments: object, worker: str | None = None) -> dict:
    """The output of the job, with one interpreter for the driver and another for executors."""
    command = [
        SPARK_HOME / "bin" / "spark-submit",
        "--master=local-cluster[1,1,1024]",
        "--conf=spark.ui.enabled=false",
        *arguments,
    ]
    surroundings = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {
        "SPARK_HOME": str(SPARK_HOME),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_DRIVER_PYTHON": str(driver),
        "PYSPARK_PYTHON": worker or str(driver),
    }
    done = subprocess.run(
        list(map(str, command)), env=surroundings, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr[-5000:]
    return json.loads(done.stdout)


def test_a_zip_for_py_files_carries_all_that_executors_lack(bare, shipped):
    answer = submitted(bare, "--py-files", shipped.zip, JOB)
    assert answer["parents"] == PARENTS
    assert [name for name, (_, remedy) in answer["findings"].items() if remedy] == ["executors: engine"]
    assert "the parser decodes there" in answer["findings"]["executors: engine"][0]
    assert answer["findings"]["executors: specs"][0] == f"the driver's, all {len(shipped_formats())}"


def test_the_zip_can_be_added_to_a_session_as_an_artifact(bare, shipped):
    answer = submitted(bare, JOB, shipped.zip)
    assert answer["parents"] == PARENTS
    assert answer["findings"]["executors: specs"][1] == ""


def test_an_archived_environment_with_the_wheels_brings_the_engine_too(tmp_path, libraries, shipped):
    python = environment(tmp_path / "environment", libraries)
    site = next((tmp_path / "environment").glob("lib/python3*/site-packages"))
    for wheel in (wheel_of_wireloom(tmp_path), shipped.wheel):
        with zipfile.ZipFile(wheel) as archive:
            assert not [name for name in archive.namelist() if name.endswith((".c", ".h", ".pxi", ".pyx"))]
            archive.extractall(site)
    archive = tmp_path / "environment.tar.gz"
    subprocess.run(
        [sys.executable, "-m", "venv_pack", "--prefix", tmp_path / "environment", "--output", archive, "--quiet"],
        check=True,
    )
    answer = submitted(python, f"--archives={archive}#shipped", JOB, worker="./shipped/bin/python")
    assert answer["parents"] == PARENTS
    assert not [finding for finding in answer["findings"].values() if finding[1]]
    assert "/shipped/bin/python" in answer["findings"]["executors"][0]
    assert answer["findings"]["executors: engine"][0] == "native"


def wheel_of_wireloom(folder: Path) -> Path:
    """Wireloom's own wheel, of this checkout, with the engine."""
    source = folder / "source"
    shutil.copytree(
        ROOT / "generator", source / "generator", ignore=shutil.ignore_patterns("*.so", "*.c", "*.egg-info")
    )
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copyfile(ROOT / name, source / name)
    quick = os.environ | {"WIRELOOM_ENGINE_CFLAGS": "-O0 -g0", "WIRELOOM_REQUIRE_ENGINE": "1"}
    command = [sys.executable, "-m", "build", "--wheel", "--outdir", folder, source]
    subprocess.run(command, env=quick, check=True, capture_output=True)
    (wheel,) = folder.glob("wireloom-*.whl")
    return wheel

"""Builds the wheel, source archive and generated package of a release; inspects, installs and runs them.

`nox -s release` runs it. Everything is in a temporary folder; the environments have only what pip installs for these
files. Each step prints a line; the first failure ends the program with its output.
"""

import os
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from collections.abc import Iterator
from email.parser import Parser
from pathlib import Path

import wireloom

ROOT = Path(__file__).parents[1]
MOST_BYTES = {"wheel": 8_000_000, "sdist": 4_000_000, "generated": 2_000_000}
TYPED = """\
from wireloom.runtime.errors import DecodeError
from wireloom_formats import databus_event



def code(error: DecodeError) -> str:
    reveal_type(error.offset)
    return error.code


data: bytes = databus_event.build({})
reveal_type(databus_event.CODES)
"""
USED = """\
import wireloom_formats.kpl_record as format
from wireloom.runtime import engine

assert engine.available(), "the wheel has no engine"
assert format.parse(b"plain")["kind"] == "plain"
"""


def main() -> None:
    """Build, inspect, install, run."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        run(sys.executable, "-m", "build", "--outdir", home / "dist", ROOT)
        run(sys.executable, "-m", "wireloom", "package", "--out", ROOT / "generated", "--dest", home / "generated")
        wheel, sdist = one(home / "dist", "*.whl"), one(home / "dist", "*.tar.gz")
        generated = one(home / "generated", "*.whl")
        run(sys.executable, "-m", "twine", "check", "--strict", wheel, sdist)
        for problem in (*wheel_problems(wheel), *sdist_problems(sdist), *generated_problems(generated)):
            sys.exit(problem)
        say(f"contents and metadata are right: {wheel.name}, {sdist.name}, {generated.name}")
        for name, source in (("wheel", wheel), ("sdist", sdist)):
            try_installed(home / name, source, generated)
            say(f"an environment with nothing but the {name} and the generated package works")


def wheel_problems(path: Path) -> Iterator[str]:
    """What is wrong with the wheel of the tool."""
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        metadata = Parser().parsestr(archive.read(one_name(names, ".dist-info/METADATA")).decode())
    yield from _size("wheel", path)
    if metadata["Version"] != wireloom.__version__:
        yield f"the wheel is of version {metadata['Version']}, wireloom of {wireloom.__version__}"
    for key in ("Summary", "License-Expression", "Requires-Python", "Description-Content-Type"):
        if not metadata[key]:
            yield f"the wheel's metadata lack {key}"
    ours = {name.parts[0] for name in map(Path, names) if not name.parts[0].endswith(".dist-info")}
    if ours != {"wireloom", "pyspark_wireloom"}:
        yield f"the wheel has {sorted(ours)}"
    if sources := [name for name in names if name.endswith((".pyx", ".pxi", ".h", ".c"))]:
        yield f"the wheel has sources of the engine: {sources}"
    wanted = {
        path.relative_to(ROOT / "generator").as_posix()
        for suffix in ("py", "typed", "jinja", "css", "js", "yaml", "json")
        for path in (ROOT / "generator" / "wireloom").rglob(f"*.{suffix}")
    }
    if missing := wanted - set(names):
        yield f"the wheel lacks {sorted(missing)}"
    if not any(name.endswith(".so") for name in names):
        yield "the wheel has no engine"


def sdist_problems(path: Path) -> Iterator[str]:
    """What is wrong with the source archive."""
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    yield from _size("sdist", path)
    engine = ROOT / "generator" / "wireloom" / "runtime" / "engine"
    sources = [path for path in engine.rglob("*") if path.suffix in (".pyx", ".pxi", ".h")]
    wanted = {source.relative_to(ROOT).as_posix() for source in sources} | {"LICENSE", "README.md", "setup.py"}
    if missing := wanted - names:
        yield f"the source archive lacks {sorted(missing)}"


def generated_problems(path: Path) -> Iterator[str]:
    """What is wrong with the wheel of the generated package."""
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        metadata = Parser().parsestr(archive.read(one_name(names, ".dist-info/METADATA")).decode())
    yield from _size("generated", path)
    if "wireloom_formats/py.typed" not in names:
        yield "the generated package lacks py.typed"
    if not any(need.startswith("wireloom>=") for need in metadata.get_all("Requires-Dist") or ()):
        yield "the generated package does not ask for wireloom"


def try_installed(home: Path, source: Path, generated: Path) -> None:
    """Install into an empty environment, run a new user's commands, and type-check against the installed package."""
    work = home / "work"
    work.mkdir(parents=True)
    venv.create(home / "environment", with_pip=True)
    python = home / "environment" / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", f"{source}[cli]", generated, cwd=work)
    run(python, "-c", USED, cwd=work)
    wireloom_command = python.with_name("wireloom")
    run(wireloom_command, "new", "beat", cwd=work)
    run(wireloom_command, "generate", "--package", "beat_formats", cwd=work)
    sample = ROOT / "samples" / "databus_event" / "good.bin"
    (work / "input").mkdir()
    (work / "input" / "good.bin").write_bytes(sample.read_bytes())
    run(
        *(wireloom_command, "ingest", "--engine", "local", "--format", "databus_event"),
        *("--package", "wireloom_formats", "--input", "input", "--output", "tables"),
        cwd=work,
    )
    (work / "typed.py").write_text(TYPED, encoding="utf-8")
    revealed = run(sys.executable, "-m", "mypy", "--strict", "--python-executable", python, "typed.py", cwd=work)
    if "Any" in revealed:
        sys.exit(f"types are not known to those who install it:\n{revealed}")


def _size(kind: str, path: Path) -> Iterator[str]:
    if (size := path.stat().st_size) > MOST_BYTES[kind]:
        yield f"{path.name} has {size} bytes, more than {MOST_BYTES[kind]}"
    say(f"{path.name}: {size / 1e6:.1f} MB")


def run(*command: str | Path, cwd: Path | None = None) -> str:
    """The output of a command; a failure ends the program.

    It runs in a folder of its own, so it does not see the checkout.
    """
    outside = {key: value for key, value in os.environ.items() if cwd is None or key != "PYTHONPATH"}
    words = list(map(str, command))
    done = subprocess.run(words, cwd=cwd, env=outside, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def one(folder: Path, pattern: str) -> Path:
    """The only matching file of the folder."""
    (found,) = folder.glob(pattern)
    return found


def one_name(names: list[str], end: str) -> str:
    """The only name with that suffix."""
    (found,) = (name for name in names if name.endswith(end))
    return found


def say(line: str) -> None:
    """Print a line immediately."""
    print(line, flush=True)  # noqa: T201 - the program's output


if __name__ == "__main__":
    main()

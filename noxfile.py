"""Everything that is done to the project, by name: `nox -l` lists it, `nox -s tests` does one thing.

All sessions share one environment, made by the session `environment` from the project's own pyproject.toml: PySpark is
too large to be installed once for each. Arguments behind `--` go to the program that the session runs.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nox

ROOT = Path(__file__).parent
PYPROJECT = nox.project.load_toml(ROOT / "pyproject.toml")
ENVIRONMENT = ROOT / ".nox" / "environment"
VECTORS = ROOT.parent / "shared" / "vectors"
OLDER = ROOT / ".nox" / "older-spark"
SPARK_TESTS = ("tests/spark", "tests/integration/test_delta.py")

nox.needs_version = ">=2025.2.9"
nox.options.sessions = ["checks", "tests", "conformance"]
nox.options.reuse_existing_virtualenvs = True


def python(session: nox.Session, *arguments: str, env: dict[str, str] | None = None) -> None:
    """Run the environment's Python; what it compiles is kept, for the hundreds of processes that tests start."""
    kept = {"PYTHONDONTWRITEBYTECODE": "", **(env or {})}
    session.run(str(ENVIRONMENT / "bin" / "python"), *arguments, external=True, env=kept)


@nox.session(default=False)
def environment(session: nox.Session) -> None:
    """Install the project and the generated package, as users do, and the tools that work on them."""
    project = PYPROJECT["project"]
    extras = [each for part in project["optional-dependencies"].values() for each in part]
    groups = nox.project.dependency_groups(PYPROJECT, "dev")
    needed = [each for each in (*project["dependencies"], *extras, *groups) if not each.startswith("wireloom")]
    # one processor compiles the engine while the other installs what the project needs
    with ThreadPoolExecutor() as beside:
        ours = beside.submit(session.install, "--no-deps", "--editable", ".", "--editable", "generated")
        session.install("--no-compile", *needed)  # most of these modules are never imported
        ours.result()


@nox.session(venv_backend="none", requires=["environment"], default=False)
def demo(session: nox.Session) -> None:
    """Make sample events, decode them on Spark, show the tables."""
    python(session, "-m", "wireloom", "demo", *session.posargs)


@nox.session(venv_backend="none", requires=["environment"])
def tests(session: nox.Session) -> None:
    """Run the tests but the thorough ones, or those of `-- ...`, on two processes, the slow ones first."""
    chosen = session.posargs or ("-m", "not thorough")
    python(session, "-m", "pytest", "-n", "2", "--dist", "loadfile", "--no-loadscope-reorder", *chosen)


@nox.session(venv_backend="none", requires=["environment"], default=False)
def generate(session: nox.Session) -> None:
    """Bring generated/ and docs/formats/ up to date with specs/; `-- --check` only looks."""
    python(session, "-m", "wireloom", "generate", "--docs", "docs/formats", *session.posargs)


@nox.session(venv_backend="none", requires=["environment"], default=False)
def samples(session: nox.Session) -> None:
    """Bring samples/ up to date with specs/."""
    python(session, "-m", "wireloom", "demo", "--samples", "samples", *session.posargs)


@nox.session(venv_backend="none", requires=["environment"])
def checks(session: nox.Session) -> None:
    """Run `lint` and `types` at the same time, each of which uses one processor."""
    with ThreadPoolExecutor() as beside:
        typed = beside.submit(types, session)
        lint(session)
        typed.result()


@nox.session(venv_backend="none", requires=["environment"], default=False)
def lint(session: nox.Session) -> None:
    """Lint and check the format of everything, generated code included, and that generated code is up to date."""
    python(session, "-m", "ruff", "check", *session.posargs)
    python(session, "-m", "ruff", "format", "--check")
    python(session, "-m", "wireloom", "generate", "--docs", "docs/formats", "--check")


@nox.session(venv_backend="none", requires=["environment"], default=False)
def types(session: nox.Session) -> None:
    """Type-check strictly, generated code included."""
    python(session, "-m", "mypy", *session.posargs)


@nox.session(venv_backend="none", requires=["environment"])
def conformance(session: nox.Session) -> None:
    """Judge the codecs by vectors of other implementations: those of `-- DIR...`, else of WIRELOOM_VECTORS."""
    folders = session.posargs or [os.environ.get("WIRELOOM_VECTORS") or str(VECTORS)]
    if not session.posargs and not Path(folders[0]).is_dir():
        session.skip(f"there are no vectors in {folders[0]}; name a folder behind --, or in WIRELOOM_VECTORS")
    python(session, "tests/conformance.py", *folders)


@nox.session(venv_backend="none", requires=["environment"], default=False)
def build(session: nox.Session) -> None:
    """Build sdist and wheel into dist/, and the wheel and --py-files zip of the generated package."""
    python(session, "-m", "build", *session.posargs)
    python(session, "-m", "wireloom", "package")


@nox.session(venv_backend="none", requires=["environment"], default=False)
def release(session: nox.Session) -> None:
    """Build wheel, source archive and generated package, look into them, and run them in empty environments."""
    python(session, "-m", "pip", "install", "--quiet", *nox.project.dependency_groups(PYPROJECT, "release"))
    python(session, "tests/release.py", *session.posargs)


@nox.session(venv_backend="none", requires=["environment"], default=False)
def docs(session: nox.Session) -> None:
    """Build the documentation as a site in build/docs/, and check its pages in a browser; a broken link fails."""
    python(session, "-m", "pip", "install", "--quiet", *nox.project.dependency_groups(PYPROJECT, "docs"))
    options = ("--fail-on-warning", "--quiet", "--doctree-dir", str(ROOT / ".nox" / "doctrees"))
    python(session, "-m", "sphinx", *options, "--conf-dir", "docs", ".", "build/docs", *session.posargs)
    python(session, "-m", "pytest", "tests/docs/test_site_pages.py")


@nox.session(venv_backend="none", requires=["environment"], default=False)
def bench(session: nox.Session) -> None:
    """Measure imports and parsing, then engine, ingest and Spark beside their peers: `-- --write` updates the docs."""
    groups = nox.project.dependency_groups(PYPROJECT, "bench")
    python(session, "-m", "pip", "install", "--quiet", *groups)
    python(session, "-m", "venv", str(OLDER))
    older = nox.project.dependency_groups(PYPROJECT, "older-spark")
    needed = (*PYPROJECT["project"]["dependencies"], *older)
    session.run(str(OLDER / "bin" / "pip"), "install", "--quiet", *needed, external=True)
    python(session, "tests/bench/bench.py")
    python(session, "tests/bench/validation_bench.py")
    python(session, "tests/bench/command_bench.py")
    python(session, "tests/bench/engine_bench.py", *session.posargs)
    python(session, "tests/bench/ingest_bench.py", *session.posargs)
    python(session, "tests/bench/spark_bench.py", "--older", str(OLDER / "bin" / "python"), *session.posargs)


@nox.session(venv_backend="none", default=False)
def spark_versions(session: nox.Session) -> None:
    """Run the tests of Spark on PySpark 4.1, where Delta runs, and 4.2: `-- tests/spark/test_stream.py` names some."""
    project = PYPROJECT["project"]
    extras = [each for part in ("generate", "cli") for each in project["optional-dependencies"][part]]
    tools = nox.project.dependency_groups(PYPROJECT, "test", "lint", "build")  # a new pipeline is linted
    # of several wishes for one package pip tries every version that fits the narrower, each of 455 MB
    needed = [
        each for each in (*project["dependencies"], *extras, *tools) if not each.startswith(("wireloom", "pyspark"))
    ]
    for version in ("4.1", "4.2"):
        home = ROOT / ".nox" / f"spark-{version}"
        session.run("python", "-m", "venv", str(home), external=True)
        pip, interpreter = (str(home / "bin" / name) for name in ("pip", "python"))
        wanted = (f"pyspark[sql,pipelines]~={version}.0", "pandas>=2.2,<3")
        session.run(pip, "install", "--quiet", *needed, *wanted, external=True)
        session.run(interpreter, "-m", "pytest", *(session.posargs or SPARK_TESTS), external=True)


@nox.session(venv_backend="none", requires=["environment"], default=False)
def faults(session: nox.Session) -> None:
    """Kill streams dozens of times, and a million records with one bad: the tests of faults in full."""
    folders = ("tests/ingest/test_faults.py", "tests/spark", "tests/integration")
    python(session, "-m", "pytest", *folders, "-k", "faults or killed", *session.posargs, env={"WIRELOOM_FAULTS": "1"})


@nox.session(venv_backend="none", requires=["environment"], default=False)
def specs(session: nox.Session) -> None:
    """Hold random specs to what the documents promise: `-- 20000 --seed 7` says how many, and from which on."""
    places = os.pathsep.join(str(ROOT / folder) for folder in ("generator", "generated", "tests"))
    python(session, "-m", "proof.running", *session.posargs, env={"PYTHONPATH": places})


@nox.session(venv_backend="none", requires=["environment"], default=False)
def thorough(session: nox.Session) -> None:
    """Run what `tests` leaves out, and what draws values, mutants or specs, with twenty times as many of them."""
    options = ("-n", "2", "--dist", "loadfile", "--no-loadscope-reorder", "-m", "thorough or drawing")
    python(session, "-m", "pytest", *options, *session.posargs, env={"WIRELOOM_THOROUGH": "1"})


@nox.session(venv_backend="none", requires=["environment"], default=False)
def sanitize(session: nox.Session) -> None:
    """Build the engine with ASan and UBSan for mutants of each format (`-- 1000000`: how many) and random specs."""
    flags = "-O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined"
    folder = ROOT / ".nox" / "sanitize"
    build_environment = {
        "WIRELOOM_REQUIRE_ENGINE": "1",
        "WIRELOOM_ENGINE_CFLAGS": flags,
        "WIRELOOM_ENGINE_LDFLAGS": "-fsanitize=address,undefined",
    }
    places = ("--build-lib", str(folder / "lib"), "--build-temp", str(folder / "temp"))
    python(session, "setup.py", "build_ext", "--force", *places, env=build_environment)
    (library,) = folder.glob("lib/wireloom/runtime/engine/_engine*.so")
    runtimes = [
        session.run("gcc", f"-print-file-name={name}", external=True, silent=True)
        for name in ("libasan.so", "libubsan.so")
    ]
    preload = ":".join(str(path).strip() for path in runtimes)
    sanitized = {
        "LD_PRELOAD": preload,
        "ASAN_OPTIONS": "detect_leaks=0:malloc_context_size=3",
        "PYTHONMALLOC": "malloc",
    }
    for name in ("databus_event", "aerospike_msgpack", "kpl_record", "aerospike_json", "databus_json"):
        count = session.posargs or ["1000000"]
        python(session, "tests/fuzz/hammer.py", name, *count, str(library), preload)
        options = ("--engine-only", f"--library={library}")
        python(session, "tests/fuzz/encoding.py", name, *count, *options, env=sanitized)
    sources = os.pathsep.join(str(ROOT / folder) for folder in ("generator", "generated", "tests"))
    arguments = ("600", "--no-shrink", "--library", str(library))
    python(session, "-m", "proof.running", *arguments, env={**sanitized, "PYTHONPATH": sources})

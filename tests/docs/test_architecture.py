"""The allowed imports between packages, read from the source: the halves meet in the model, executors need little."""

import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from conftest import GENERATED, ROOT, SPECS

PACKAGE = ROOT / "generator" / "wireloom"
ALLOWED_IN_RUNTIME = {"construct", "msgpack", "google", "pyarrow", "wireloom"}
AUTHORS_LIBRARIES = {"jinja2", "markdown_it", "yaml", "ruamel", "pydantic", "typer", "rich", "watchfiles"}
EVERYWHERE = {"encodings", "problems", "names", "failures", "numbers", "escapes"}  # leaves: they see only these
RUNTIME = {None, "runtime"}  # what the runtime may import of wireloom, and executors have
STAGES = {  # each part of wireloom, and the parts that it may see beside those
    "runtime": set(),
    "expr": set(),
    "model": {"expr", "runtime"},  # of the runtime: the logical types, which generated modules declare
    "spec": set(),
    "recursion": {"spec"},
    "resolve": {"spec", "model", "expr", "runtime"},  # of the runtime: codes, and what it knows of values
    "emit": {"model", "expr", "runtime", "tree"},  # of the runtime: the contract's number, and what it renders
    "examples": {"spec", "model", "runtime"},
    "explain": {"runtime", "model", "expr", "resolve"},
    "pages": {"model", "expr", "resolve", "emit", "explain", "inspection", "runtime"},
    "project": set(),
    "tree": set(),
    "outcomes": {"project", "tree"},
    "catalog": {"runtime"},
    "pipeline": {
        "spec",
        "recursion",
        "resolve",
        "model",
        "emit",
        "pages",
        "examples",
        "explain",
        "project",
        "outcomes",
        "runtime",
        "tree",
    },
    "drawing": {"model", "expr", "resolve", "runtime"},  # of resolve: the logical types of fields
    "compat": {  # of resolve: how large records are
        *("project", "pipeline", "spec", "model", "expr", "resolve", "examples", "runtime", "drawing", "reports"),
    },
    "reference": {"spec", "resolve", "model", "runtime"},
    "scaffold": {"project"},
    "exporting": {"spec", "model", "expr", "emit", "runtime"},
    "importing": {"spec"},  # the notation of specs; nothing of the core knows it
    "records": {"catalog", "runtime"},
    "inspection": {"catalog", "project", "spec", "runtime"},  # of the project: the files of its specs, for their lines
    "serving": {"pipeline", "project", "catalog", "examples", "inspection", "spec", "resolve", "model", "runtime"},
    "reports": set(),
    "linting": {"spec", "reports"},
    "vectors": {"model", "expr", "runtime"},
    "drift": {"spec", "model", "examples", "records", "runtime"},
    "ingest": {"runtime", "catalog"},  # the work of its tasks, whoever runs them
    "spark": {"ingest", "records", "catalog", "runtime"},
    "medallion": {"catalog", "runtime"},
    "bundle": set(),
    "demo": {"pipeline", "project", "model", "ingest", "spark", "catalog", "runtime"},
    "cli": {
        *(
            "pipeline",
            "project",
            "outcomes",
            "explain",
            "examples",
            "scaffold",
            "bundle",
            "catalog",
            "runtime",
        ),
        *("records", "reports", "linting", "vectors", "drift", "inspection", "serving"),
        *("ingest", "spark", "medallion", "demo", "importing", "exporting", "compat"),
    },
    "__main__": {"cli"},
}

GROUND = {
    "boundary_evidence",
    "checkpoints",
    "codes",
    "cursor",
    "display",
    "errors",
    "expressions",
    "foreign_values",
    "parameters",
    "patterns",
    "pickling",
    "primitives",
    "values",
    "versions",
    "writing_order",
}  # what the rooms share
ROOMS = {  # a room of the runtime and the rooms that it may see
    "parsers": set(),
    "columns": set(),
    "root": {"parsers", "columns"},
    "spans": {"parsers", "columns", "root"},
    "engine": {"columns", "root"},
    "streams": {"columns", "root", "engine"},
    "codec": {"columns", "root", "engine", "streams", "spans"},
    "validation": {"parsers", "columns", "codec", "engine"},
    "conversion": {"columns", "root", "codec"},
}
RESOLVING = {  # a room of `resolve` and the rooms that it may see
    "bind": set(),
    "facts": {"bind"},
    "types": {"bind", "facts"},
    "logical": {"bind", "facts", "types"},
    "check": {"bind", "facts", "types", "logical"},
    "lint": {"bind", "facts", "types", "logical", "check"},
    "lower": {"bind", "facts", "types", "logical"},
}
MOST_FILES = 20  # of a folder, without those in folders below it
SOURCES = (".py", ".typed", ".pyx", ".pxi", ".h", ".jinja", ".css", ".js", ".json", ".yaml", ".properties")
ENCODINGS = ("binary", "msgpack", "protobuf", "json")  # parsers of one encoding see no other


def modules(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.py"))


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imports(path: Path, *, top: bool = False) -> frozenset[str]:
    """The modules that a file imports when it runs; only those imported with it where `top`."""
    return frozenset(_imports(parsed(path).body, top=top))


def _imports(body: Iterable[ast.AST], *, top: bool) -> Iterator[str]:
    for node in body:
        match node:
            case ast.If(test=ast.Name(id="TYPE_CHECKING"), orelse=orelse):
                yield from _imports(orelse, top=top)
            case ast.FunctionDef() | ast.AsyncFunctionDef() if top:
                continue
            case ast.Import(names=names):
                yield from (name.name for name in names)
            case ast.ImportFrom(module=module, level=0, names=names) if module:
                yield module
                yield from (f"{module}.{name.name}" for name in names)
            case _:
                yield from _imports(ast.iter_child_nodes(node), top=top)


def part(module: str) -> str | None:
    """The part of wireloom that a module belongs to: `emit` for wireloom.emit.code."""
    names = module.split(".")
    return names[1] if names[0] == "wireloom" and len(names) > 1 else None


@pytest.mark.parametrize("path", modules(PACKAGE / "runtime"), ids=lambda path: path.name)
def test_the_runtime_imports_what_executors_have(path: Path):
    for module in imports(path):
        root = module.split(".")[0]
        assert root in sys.stdlib_module_names | ALLOWED_IN_RUNTIME, f"{path}: {module}"
    for module in every_import(path):
        assert part(module) in RUNTIME, f"{path}: {module}"


@cache
def every_import(path: Path) -> set[str]:
    """The modules of ours that a file names in any import: within functions, too, and for types alone."""
    package = path.parent.relative_to(PACKAGE.parent).parts
    found = set[str]()
    for node in ast.walk(parsed(path)):
        match node:
            case ast.Import(names=names):
                found.update(name.name for name in names)
            case ast.ImportFrom(module=module, level=level, names=names):
                above = package[: len(package) - level + 1] if level else ()
                home = ".".join((*above, *([module] if module else [])))
                found.update(f"{home}.{name.name}" if is_module(f"{home}.{name.name}") else home for name in names)
            case _:
                pass
    return {name for name in found if name.startswith("wireloom.") and is_module(name)}


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")


def test_no_modules_import_one_another_in_a_circle():
    graph = {module_name(path): every_import(path) - {module_name(path)} for path in modules(PACKAGE)}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as circle:
        pytest.fail(" -> ".join(circle.args[1]))


def room(module: str) -> str | None:
    """The package directly below `wireloom.runtime` that contains a module."""
    names = module.split(".")
    return names[2] if names[:2] == ["wireloom", "runtime"] and len(names) > 2 else None


@pytest.mark.parametrize("name", ROOMS)
def test_a_room_of_the_runtime_sees_only_what_stands_below_it(name):
    paths = modules(PACKAGE / "runtime" / name) or [PACKAGE / "runtime" / f"{name}.py"]
    for path in paths:
        seen = {room(module) for module in every_import(path)} - {None}
        assert seen <= ROOMS[name] | {name} | GROUND, path


@pytest.mark.parametrize("name", sorted(GROUND))
def test_what_the_rooms_share_sees_none_of_them(name):
    for path in modules(PACKAGE / "runtime" / name) or [PACKAGE / "runtime" / f"{name}.py"]:
        assert {room(module) for module in every_import(path)} <= GROUND | {None}, path


def test_every_module_of_the_runtime_has_a_room():
    found = {room(module_name(path)) for path in modules(PACKAGE / "runtime")}
    assert found == {None, *ROOMS, *GROUND}


def test_no_folder_has_more_files_than_a_reader_takes_in():
    files = Counter(path.parent for path in PACKAGE.rglob("*") if path.suffix in SOURCES)
    assert {str(folder.relative_to(PACKAGE)): count for folder, count in files.items() if count > MOST_FILES} == {}


@pytest.mark.parametrize(
    "path", sorted((PACKAGE / "runtime" / "engine" / "native").rglob("*.[ph]*")), ids=lambda path: path.name
)
def test_a_native_source_begins_with_what_it_does(path: Path):
    assert path.read_text(encoding="utf-8").startswith(("# ", "/* "))


@pytest.mark.parametrize("name", RESOLVING)
def test_a_room_of_resolve_sees_only_what_stands_below_it(name):
    paths = modules(PACKAGE / "resolve" / name)
    for path in paths:
        seen = {module.split(".")[2] for module in every_import(path) if part(module) == "resolve"}
        assert seen <= RESOLVING[name] | {name}, path


@pytest.mark.parametrize("name", ENCODINGS)
def test_the_parsers_of_an_encoding_see_no_other(name):
    home = PACKAGE / "runtime" / "parsers"
    for path in modules(home / name) or [home / f"{name}.py"]:
        others = {module.split(".")[3] for module in every_import(path) if room(module) == "parsers"} - {name}
        assert not others & set(ENCODINGS), path


def test_stages_ask_encodings_for_properties_and_never_which_one_it_is():
    """Executors have names alone; what the registries of the stages hold is found by name, and compared with none."""
    paths = [path for path in modules(PACKAGE) if path.parent != PACKAGE / "encodings"]
    for path in (path for path in paths if not path.is_relative_to(PACKAGE / "runtime")):
        declared = {f"wireloom.encodings.{name}" for name in ENCODINGS}
        assert not declared & every_import(path), path
        for node in ast.walk(parsed(path)):
            compared = [node.left, *node.comparators] if isinstance(node, ast.Compare) else []
            words = {each.value for each in compared if isinstance(each, ast.Constant)} & set(ENCODINGS)
            assert not (words and any("encoding" in ast.unparse(each) for each in compared)), f"{path}:{node.lineno}"


def test_pyarrow_is_asked_for_by_the_modules_of_columns_alone():
    """The modules that import it at their top; every other does so in the functions that need it."""
    asking = {
        module_name(path).removeprefix("wireloom.runtime.")
        for path in modules(PACKAGE / "runtime")
        if any(m.split(".")[0] == "pyarrow" for m in imports(path, top=True))
    }
    names = ("arrow", "interpretation", "reading", "rendering", "repetition", "soundness")
    columns = {f"columns.{name}" for name in names}
    columns |= {"conversion.conversion", "conversion.columns", "conversion.placing"}
    assert asking == columns | {"engine.compiler.table", "engine.encoder.table", "streams.lines", "streams.parts"}


def test_protobuf_is_asked_for_lazily():
    for path in modules(PACKAGE / "runtime"):
        assert not any(module.split(".")[0] == "google" for module in imports(path, top=True)), path


@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_sees_only_what_comes_before_it(stage):
    for path in modules(PACKAGE / stage) or [PACKAGE / f"{stage}.py"]:
        for module in every_import(path):
            beside = set() if stage == "runtime" else EVERYWHERE
            assert part(module) in {stage} | STAGES[stage] | beside, f"{path}: {module}"


def test_every_part_of_wireloom_has_its_place_among_the_stages():
    found = {module_name(path).split(".")[1] for path in modules(PACKAGE) if path != PACKAGE / "__init__.py"}
    assert found == {*STAGES, *EVERYWHERE}


def is_module(name: str) -> bool:
    """Whether a dotted name is a module of ours, not something inside one."""
    path = PACKAGE.parent.joinpath(*name.split("."))
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


@pytest.mark.parametrize("name", sorted(EVERYWHERE))
def test_what_may_be_imported_everywhere_imports_nothing_else_of_ours(name):
    for path in modules(PACKAGE / name) or [PACKAGE / f"{name}.py"]:
        for module in imports(path):
            assert part(module) in EVERYWHERE | {None}, f"{path}: {module}"


@pytest.mark.parametrize("name", ["expr", "model", "spec", "resolve", "emit", "pipeline.py"])
def test_the_generator_never_imports_generated_code(name):
    paths = modules(PACKAGE / name) if (PACKAGE / name).is_dir() else [PACKAGE / name]
    for path in paths:
        assert not any(module.split(".")[0] == "wireloom_formats" for module in imports(path)), path


def test_pyspark_is_imported_in_its_own_folder_only():
    for path in modules(PACKAGE):
        if path.is_relative_to(PACKAGE / "spark"):
            continue
        assert not any(module.split(".")[0] == "pyspark" for module in imports(path)), path


def test_generated_modules_import_pyspark_when_a_function_is_called_and_not_before():
    for path in modules(GENERATED):
        assert not any(m.split(".")[0] == "pyspark" for m in imports(path, top=True)), path


def test_generated_modules_import_the_runtime_and_in_their_functions_what_acts_on_spark():
    for path in modules(GENERATED):
        allowed = {None, "runtime", "spark"} if path.name in ("functions.py", "spark.py") else {None, "runtime"}
        for module in imports(path):
            assert part(module) in allowed, f"{path}: {module}"
            assert module.split(".")[0] not in AUTHORS_LIBRARIES


def test_the_generator_names_no_shipped_format():
    names = {path.stem.split(".")[0] for path in SPECS.rglob("*.yaml")} | {
        path.name for path in SPECS.iterdir() if path.is_dir()
    }
    for path in modules(PACKAGE):
        text = path.read_text(encoding="utf-8").lower()
        for name in names:
            assert name not in text, f"{path} names {name}"


def loaded_after(statement: str) -> set[str]:
    """The top modules that are loaded after a statement in a fresh interpreter."""
    program = f"import sys\n{statement}\nprint('\\n'.join(sorted({{name.split('.')[0] for name in sys.modules}})))"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": f"{PACKAGE.parent}:{GENERATED}"},
        check=True,
        capture_output=True,
        text=True,
    )
    return set(done.stdout.split())


@pytest.mark.integration
@pytest.mark.parametrize("path", sorted(GENERATED.glob("*/*/__init__.py")), ids=lambda path: path.parent.name)
def test_importing_a_format_loads_neither_spark_nor_arrow_nor_the_generator(path: Path):
    loaded = loaded_after(f"import {path.parent.parent.name}.{path.parent.name}.functions")
    assert not loaded & ({"pyspark", "pyarrow", "pandas", "numpy", "google"} | AUTHORS_LIBRARIES)


AUTHORS_AND_SPARK = AUTHORS_LIBRARIES | {"pyspark", "py4j", "jsonschema", "numpy", "pandas"}


@pytest.mark.integration
def test_tasks_of_local_ingest_load_nothing_of_the_command_line_of_authors_or_of_spark():
    loaded = loaded_after(
        "from wireloom.ingest.job.skipped_imports import without_numpy; without_numpy(); "
        "import wireloom.ingest.job.batch, wireloom.ingest.job.local, wireloom_formats.databus_event"
    )
    assert not loaded & AUTHORS_AND_SPARK


def commanded(*words: str) -> set[str]:
    """The top modules that are loaded when a command ends."""
    return loaded_after(
        "import contextlib, io; from wireloom.cli import main; "
        f"sys.argv = {['wireloom', *words]!r}\nwith contextlib.suppress(SystemExit), "
        "contextlib.redirect_stdout(io.StringIO()): main()\n"
    )


@pytest.mark.integration
def test_help_loads_nothing_that_works():
    assert not commanded("--help") & ((AUTHORS_AND_SPARK | {"pyarrow", "construct"}) - {"typer"})


@pytest.mark.integration
def test_local_ingest_loads_nothing_for_authors_or_for_spark(tmp_path: Path):
    (tmp_path / "in.bin").write_bytes(b"?")
    words = ("--format", "databus_event", "--input", str(tmp_path / "in.bin"), "--output", str(tmp_path / "out"))
    loaded = commanded("ingest", *words, "--engine", "local", "--out", str(GENERATED), "--processes", "2")
    assert (tmp_path / "out" / "records").is_dir()
    assert not loaded & (AUTHORS_AND_SPARK - {"typer"})

"""Imports Kaitai Struct's own tests and public formats (not part of this project), and counts those that work.

WIRELOOM_KAITAI_TESTS names a checkout of kaitai_struct_tests, WIRELOOM_KAITAI_FORMATS one of kaitai_struct_formats. A
test has a description, a file of bytes, and assertions, which are compared with the result of `parse`; no code of
theirs runs.
"""

import ast
import operator
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa
import pytest

import differential
from wireloom import pipeline
from wireloom.cli.commands.specs.import_ import settled_ksy
from wireloom.examples.memory import opened
from wireloom.importing.findings import ImportRefusedError
from wireloom.importing.settling import Settled
from wireloom.runtime import engine as engines
from wireloom.runtime.errors import DecodeError

pytestmark = [pytest.mark.integration, pytest.mark.thorough]
HELD = 167  # of Kaitai's 227 tests of its construct target
GENERATED = 186  # of the 186 public formats
WHOLE = 140  # of these that are read to their end
OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Pow: operator.pow}
PUBLIC = "WIRELOOM_KAITAI_FORMATS"
NOTHING = ("_", "_root")  # what Kaitai's own readers add, and find to be nothing


def folder(variable: str) -> Path:
    """The checkout that a variable of the environment names; the test is skipped without it."""
    said = os.environ.get(variable)
    if not said or not Path(said).is_dir():
        pytest.skip(f"{variable} names no folder; it is a checkout of Kaitai's tests or formats")
    return Path(said)


@dataclass(frozen=True)
class Script:
    """A test: the description that it is of, the bytes, and its assertions."""

    name: str
    format: str
    data: str
    assertions: tuple[ast.Call, ...]


def scripts(home: Path) -> Iterator[Script]:
    """The tests of the construct target."""
    for path in sorted((home / "spec" / "construct").glob("test_*.py")):
        text = path.read_text(encoding="utf-8")
        format = re.search(r"from (\w+) import _schema", text)
        data = re.search(r"parse_file\('([^']+)'\)", text)
        calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
        found = [each for each in calls if ast.unparse(each.func).startswith("self.assert")]
        if format and data:
            yield Script(path.stem.removeprefix("test_"), format[1], data[1], tuple(found))


class MissingError(Exception):
    """The subject of an assertion was not imported."""


def looked_up(node: ast.expr, record: Any) -> Any:
    """The value of an assertion's expression for a record."""
    match node:
        case ast.Name(id="r"):
            return record
        case ast.Attribute(value=of, attr=name):
            return member(looked_up(of, record), name)
        case ast.Subscript(value=of, slice=index):
            return looked_up(of, record)[ast.literal_eval(index)]
        case ast.Call(func=ast.Name(id="len"), args=[of]):
            return len(looked_up(of, record))
        case ast.Call(func=ast.Attribute(value=of, attr="decode"), args=[charset]):
            return looked_up(of, record).decode(ast.literal_eval(charset))
        case ast.Call(func=ast.Attribute(attr="str_to_arr"), args=[of]):
            return [ord(each) for each in looked_up(of, record)]
        case ast.Call(func=ast.Name(id="str"), args=[of]):
            return str(looked_up(of, record))
        case ast.List(elts=items):
            return [looked_up(each, record) for each in items]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            return OPERATORS[type(op)](looked_up(left, record), looked_up(right, record))
        case _:
            return ast.literal_eval(node)


def member(of: Any, name: str) -> Any:
    """A member by its name in Kaitai; of a number without a word, the number."""
    if name in NOTHING:
        return None
    known = name.removeprefix("_") if name.startswith("_unnamed") else name
    if not isinstance(of, dict) or known not in of:
        raise MissingError(name)
    return of.get(f"{known}_number") if of[known] is None else of[known]


def fails(assertion: ast.Call, record: Any) -> str:
    """Why an assertion does not hold; empty if it does."""
    name = ast.unparse(assertion.func).removeprefix("self.assert")
    values = [looked_up(each, record) for each in assertion.args]
    match name, values:
        case "Equal", [one, other]:
            return "" if one == other and type(one) is type(other) else f"{one!r}, not {other!r}"
        case "IsNone", [one]:
            return "" if one is None else f"{one!r}, not None"
        case "AlmostEqual", [one, other, places]:
            return "" if round(abs(one - other), places) == 0 else f"{one!r}, not {other!r}"
        case _:
            raise AssertionError(name)


def outcome(script: Script, home: Path, made: Settled) -> tuple[str, list[str]]:
    """Why a test does not hold (empty if it does), and how the engine differs from `parse`."""
    data = (home / script.data).read_bytes()
    with specs_of(made) as module:
        engine = module.CODEC.engine
        differences: list[str] = []
        request = engines.Request(engine.codec.default_root, engine.codec.settings({})) if engine else None
        if request and engine.decode(pa.array([data], pa.binary()), request) is not None:
            differences = [str(each) for each in differential.compare(engine, [data], request)]
        try:
            record = module.parse(data)
            reasons = [reason for each in script.assertions if (reason := fails(each, record))]
        except (DecodeError, MissingError, LookupError, TypeError, ValueError) as error:
            reasons = [repr(error)]
    return (reasons or [""])[0], differences


@contextmanager
def specs_of(made: Settled) -> Iterator[ModuleType]:
    """The module of an imported spec, while it is open."""
    with tempfile.TemporaryDirectory() as home:
        (Path(home) / "spec.yaml").write_text(made.text, encoding="utf-8")
        modules = pipeline.read(Path(home)).modules
    with opened(modules) as found:
        yield found[made.format]


def test_kaitais_own_tests_hold_on_imported_specs_and_the_engine_agrees():
    home = folder("WIRELOOM_KAITAI_TESTS")
    paths = [home / "formats" / "ks_path", *([Path(os.environ[PUBLIC])] if PUBLIC in os.environ else [])]
    held, reasons, differences = [], {}, {}
    for script in scripts(home):
        try:
            made = settled_ksy(home / "formats" / f"{script.format}.ksy", paths)
        except ImportRefusedError as error:
            reasons[script.name] = str(error)
            continue
        reason, differing = outcome(script, home, made)
        if differing:
            differences[script.name] = differing
        if reason:
            reasons[script.name] = reason
        else:
            held.append(script.name)
    others = (f"{name}: {reason}" for name, reason in reasons.items())
    print(f"{len(held)} hold; the others:", *others, sep="\n")  # noqa: T201 - the figure, shown by `pytest -s`
    assert not differences
    assert len(held) >= HELD


def test_each_public_format_gives_a_spec_or_says_where_it_cannot():
    home = folder(PUBLIC)
    files = sorted(home.rglob("*.ksy"))
    made, refused = [], {}
    for file in files:
        try:
            made.append(settled_ksy(file, [home]))
        except ImportRefusedError as error:
            assert error.findings, file
            refused[file.stem] = str(error)
    whole = [each.format for each in made if not any(finding.kind == "cut" for finding in each.findings)]
    figures = f"{len(files)} files: {len(made)} generate, {len(whole)} of them to their end; refused: {refused}"
    print(figures)  # noqa: T201 - the figure, shown by `pytest -s`
    assert len(made) >= GENERATED
    assert len(whole) >= WHOLE

"""Compiled conditions on numbers that are absent, equal, far apart and too large."""

import importlib
import itertools
import struct
import sys
from collections.abc import Iterator

import pytest

import differential
from wireloom import pipeline
from wireloom.pipeline import Project
from wireloom.runtime import engine as engines
from wireloom.runtime.engine import Request

pytestmark = pytest.mark.skipif(not engines.available(), reason="the native engine is not built")

PACKAGE = "wireloom_conditions"
NUMBERS = (-(1 << 63), -10, -1, 0, 1, 3, 9, (1 << 63) - 1)
BRANCHES = [  # conditions that become branches
    "a - b <= c",
    "present(a) and a - 9 > b",
    "a * b == c",
    "a - b != c",
    "c == a + b",
    "a + 1 == b or b << 2 > a",
    "not (a - b < 0)",
    "a // b >= c",
    "a % b == 1",
    "a % -3 < 0",
    "(a & 6) >> 1 in [0, 3]",
    "present(a) ? a - b > 0 : b > 0",
    "(a | 1) ^ b > c or present(c)",
    "not present(a) or a + b + c > 0",
    "(present(a) ? false : true) or b > 0",
    "not (a > b ? true : false)",
]
EXPRESSIONS = [  # what stays an expression
    "a + b + c + a + b + c > 0",
    "-a > b",
    "max(a, b) - c >= 0",
    "a % b != c // 3",
    "-a % b - c // b > 0",
    "7 - a > b",
    "(present(a) ? b : 7) > 3",
    "(a > 0 ? b : c > 0 ? 1 : null) == 1",
]
SPEC = """
wireloom: 1
format: conditions
title: A record whose every member hangs on a condition
encoding: binary
byteOrder: big
errors: {{refused: The last condition does not hold.}}
root: Record
types:
  Record:
    fields:
      - flags: uint8
      - a: {{type: int64, when: flags & 1 != 0}}
      - b: {{type: int64, when: flags & 2 != 0}}
      - c: {{type: int64, when: flags & 4 != 0}}
      - held: {{type: uint8, when: "{condition}"}}
      - sum: {{compute: "present(a) and present(b) ? (a & 255) - (b & 255) : null", type: int64}}
      - check: {{that: "{condition} or flags & 8 == 0", else: refused}}
      - rest: bytes
"""


@pytest.fixture(scope="module")
def codec(request, tmp_path_factory) -> Iterator:
    """The codec of the spec with a condition."""
    folder = tmp_path_factory.mktemp("conditions")
    specs = folder / "specs"
    specs.mkdir()
    (specs / "conditions.yaml").write_text(SPEC.format(condition=request.param), "utf-8")
    pipeline.generate(Project(specs, folder / "out", PACKAGE))
    sys.path.insert(0, str(folder / "out"))
    yield importlib.import_module(f"{PACKAGE}.conditions").CODEC
    sys.path.remove(str(folder / "out"))
    for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
        del sys.modules[name]


def records() -> Iterator[bytes]:
    """All combinations of numbers that are there and that are not."""
    for flags in range(16):
        count = (flags & 7).bit_count()
        for numbers in itertools.product(NUMBERS, repeat=count):
            yield struct.pack(f">B{count}q", flags, *numbers) + b"\7rest"


@pytest.mark.parametrize("codec", [*BRANCHES, *EXPRESSIONS], indirect=True)
@pytest.mark.parametrize("columns", [None, ("sum",), ("held",)], ids=["all", "computed", "held"])
def test_engine_and_parser_agree_on_every_combination(codec, columns):
    request = Request(codec.default_root, codec.settings({}), columns)
    assert codec.engine.program(request) is not None
    assert differential.compare(codec.engine, list(records()), request) == []


@pytest.mark.parametrize("codec", BRANCHES, indirect=True)
def test_conditions_of_numbers_are_branches(codec):
    from wireloom.runtime.engine.compiler import Compiler

    native = engines.module()
    record = codec.root(None).logical
    (words, *_), _ = Compiler(native, codec.engine.layout, codec.settings({}), record).parts(codec.default_root)
    names = {number: name for name, number in native.OPCODES.items()}
    used = {names[word] for word in words[:: native.INSTRUCTION_WIDTH]}
    assert "BRANCH" in used
    assert not used & {"WHEN", "CHECK"}


def test_what_is_compared_with_itself_is_known(expressions):
    from wireloom.runtime.engine.programs.expressions import Code, Constant, Term

    number = Code("int", Term("LOAD", (), expressions.assembly.register("int")))
    compared = [expressions._binary(word, number, number) for word in ("==", "!=", "<=")]
    assert compared[:2] == [Constant(True), Constant(False)]  # noqa: FBT003 - values
    assert isinstance(compared[2], Code)  # null where the number is


@pytest.fixture
def expressions():
    from wireloom.runtime.engine.programs.assembly import Assembly
    from wireloom.runtime.engine.programs.expressions import Expressions

    native = engines.module()
    return Expressions(Assembly(native.OPCODES, native.EXPRESSION_CODES), {}, {})


def test_jumps_of_programs_that_write_lead_on():
    from wireloom.runtime.engine.encoder.assembly import Assembly
    from wireloom.runtime.engine.encoder.peephole import Tightening
    from wireloom.runtime.engine.programs.assembly import Label

    native = engines.module()
    assembly = Assembly(native.ENCODE_OPCODES, native.EXPRESSION_CODES)
    next, behind, end = Label(), Label(), Label()
    assembly.emit("BRANCH", 2, 0, -1, 0, next, next)
    assembly.jump(behind)
    assembly.place(next)
    assembly.emit("PRESENT", 0)
    assembly.jump(end)
    assembly.jump(end)  # nothing leads here
    assembly.place(behind)
    assembly.jump(end)
    assembly.emit("ABSENT", 0, end)
    assembly.place(end)
    assembly.emit("PRESENT", 0)
    assembly.emit("RETURN")
    assert Tightening(assembly, [0]).apply() == [0]
    names = {number: name for name, number in assembly.opcodes.items()}
    assert [names[row[0]] for row in assembly.rows] == [
        "BRANCH",
        "JUMP",
        "PRESENT",
        "JUMP",
        "JUMP",
        "ABSENT",
        "PRESENT",
        "RETURN",
    ]
    assert [row[1].at for row in assembly.rows if names[row[0]] == "JUMP"] == [6, 6, 6]

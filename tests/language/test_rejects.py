"""Specs with one mistake each: their first line is the exact diagnostic.

A file is named by its diagnostic, or `ID.what.yaml` if the diagnostic covers several slips. A file without a diagnostic
in its first line belongs to the one whose name begins alike.
"""

import re
from pathlib import Path

import pytest

from wireloom.problems import DIAGNOSTICS, WARNINGS, Problem, SpecProblems
from wireloom.resolve import resolve, resolve_all
from wireloom.spec import load

REJECTS = Path(__file__).parents[1] / "rejects"


def problems(paths: list[Path]) -> tuple[Problem, ...]:
    with pytest.raises(SpecProblems) as raised:
        resolve(load(paths, REJECTS))
    return raised.value.problems


def stated(file: Path) -> str:
    """The diagnostic in the first line; empty if there is none."""
    first = file.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
    return first if re.match(r"[0-9]+:[0-9]+: ", first) else ""


FILES = sorted(REJECTS.glob("*.yaml"))


@pytest.mark.parametrize("file", [file for file in FILES if stated(file)], ids=lambda file: file.stem)
def test_a_mistake_is_reported_where_it_is_and_with_what_would_be_right(file):
    beside = [other for other in REJECTS.glob(f"{file.stem}.*.yaml") if other.stem.rpartition(".")[0] == file.stem]
    beside = [other for other in beside if not stated(other)]
    paths = [*sorted(beside), file]
    is_warning = file.name.split(".")[0] in WARNINGS
    (found,) = resolve_all(load(paths, REJECTS)).warnings if is_warning else problems(paths)
    assert found.location.file == file.as_posix()
    assert f"{found.location.line}:{found.location.column}: {found.id}: {found.text}" == stated(file)
    assert found.id == file.name.split(".")[0]


def test_every_diagnostic_has_a_reject_and_every_reject_a_diagnostic():
    assert {file.name.split(".")[0] for file in FILES if stated(file)} == {*DIAGNOSTICS, *WARNINGS}
    assert {file.name.split(".")[0] for file in FILES} == {*DIAGNOSTICS, *WARNINGS}
    assert {file.stem for file in FILES if "." not in file.stem} == {*DIAGNOSTICS, *WARNINGS}


def test_all_problems_of_all_files_are_shown_at_once():
    files = [REJECTS / "unknown-type.yaml", REJECTS / "yaml-syntax.yaml", REJECTS / "unknown-key.yaml"]
    found = problems(files)
    assert {problem.id for problem in found} >= {"unknown-type", "yaml-syntax", "unknown-key"}


def test_the_problems_of_one_file_are_shown_at_once(tmp_path):
    spec = tmp_path / "many.yaml"
    spec.write_text(
        "wireloom: 1\nformat: many\ntitle: Many mistakes\nencoding: binary\nroot: Record\n"
        "types:\n  Record:\n    fields:\n"
        "      - first: unit8\n      - second: {type: uint8, when: frist == 1}\n      - third: str(length)\n",
        encoding="utf-8",
    )
    with pytest.raises(SpecProblems) as raised:
        resolve(load([spec], tmp_path))
    assert [problem.id for problem in raised.value.problems] == ["unknown-type", "unknown-name", "unknown-name"]


def found(text, tmp_path):
    """The problems of a spec, each as line, diagnostic and path."""
    spec = tmp_path / "spec.yaml"
    spec.write_text(text, encoding="utf-8")
    with pytest.raises(SpecProblems) as raised:
        resolve(load([spec], tmp_path))
    return [(problem.location.line, problem.id, problem.path) for problem in raised.value.problems]


HEAD = "wireloom: 1\nformat: many\ntitle: Many mistakes\nencoding: binary\nroot: Record\n"


def test_a_mistake_of_the_shape_hides_no_other_mistake(tmp_path):
    text = HEAD + (
        "types:\n  Record:\n    fields:\n"
        "      - first: {type: uint8, hidden: sometimes}\n"
        "      - second: {typo: 1}\n"
        "      - {third: uint8, fourth: uint8}\n"
        "      - fifth: {type: unit8, dok: A letter that slipped}\n"
        "      - sixth: {type: uint8, when: frist == 1}\n"
    )
    path = "types.Record.fields"
    assert found(text, tmp_path) == [
        (9, "wrong-type", f"{path}[0].first.hidden"),
        (10, "unknown-key", f"{path}[1].second.typo"),
        (11, "entry-keys", f"{path}[2]"),
        (12, "unknown-key", f"{path}[3].fifth.dok"),
        (13, "unknown-name", f"{path}[4].sixth.when"),
    ]


def test_what_only_follows_from_a_mistake_of_the_shape_is_not_said(tmp_path):
    text = HEAD + (
        "errors:\n  bad_size: The size is wrong.\n"
        "types:\n  Record:\n    fields:\n"
        "      - size: {type: uint8, else: bad_size, range: [1]}\n"
        "      - rest: {type: bytes(size), when: size > 3}\n"
        "      - kind: Kind\n"
        "  Kind: {values: {0: no, 1: yes}}\n"
    )
    assert found(text, tmp_path) == [
        (11, "wrong-type", "types.Record.fields[0].size.range"),
        (14, "unknown-key", "types.Kind"),
    ]


def test_a_slip_in_a_key_that_must_be_there_is_one_problem(tmp_path):
    text = HEAD.replace("title", "titel") + "types:\n  Record:\n    fields:\n      - first: uint8\n"
    assert found(text, tmp_path) == [(3, "unknown-key", "titel")]


def test_a_problem_prints_as_editors_and_terminals_link_it():
    (found,) = problems([REJECTS / "unknown-type.yaml"])
    expected = "there is no type unit8; did you mean uint8? [unknown-type at types.Record.fields[0].value]"
    assert str(found) == f"{REJECTS / 'unknown-type.yaml'}:10:16: {expected}"
    assert found.path == "types.Record.fields[0].value"


PLACES = {
    "a list of a constant count among fields at offsets": (
        "a: {type: list(uint8), count: 3, at: 2}",
        "b: {type: uint16, at: 0}",
        "c: {type: uint8, at: 5}",
    ),
    "a text that may fill what is before an offset": (
        "a: {type: str(uint8), at: 2}",
        "b: {type: uint16, at: 0}",
        "c: {type: uint8, at: 5}",
    ),
    "a field before one at an offset of the record": (
        "o: uint8",
        "d: {type: bytes(3), at: o + 1}",
        "x: {type: bytes(2), at: 1}",
    ),
    "a footer that is found from the end, and what is before it": (
        "magic: {type: str(4), const: PAR1, hidden: true}",
        "length: {type: uint32, at: -8, derive: len(footer), hidden: true}",
        "tail: {type: str(4), const: PAR1, at: -4, hidden: true}",
        "footer: {type: bytes(length), at: size - 8 - length}",
        "pages: {type: bytes(size - 12 - length), at: 4}",
    ),
    "a field that fills what is before another": (
        "n: uint8",
        "t: str(n)",
        "x: {type: uint8, at: n + 5}",
        "y: {type: bytes(4), at: n + 1}",
    ),
    "the opposite of a number that may be negative": ("n: int8", "b: {type: uint8, at: -n}"),
    "the opposite of a number from a mark": ("mark: m", "n: uint8", "b: {type: uint8, at: -n, from: m}"),
}


PLACES |= {
    "the order of a number that is read ahead": (
        "s: {byteOrder: little, type: {select: {peek: int16}, cases: {1: Pair, 2: Pair}}}",
    ),
    "keys at a name for an integer": ("s: {type: Number, range: 1 .. 9, byteOrder: little}",),
}
NAMED = "  Pair: {fields: [{a: bytes(2)}]}\n  Number: uint16\n"


@pytest.mark.parametrize("fields", PLACES.values(), ids=PLACES)
def test_what_some_record_may_be_is_no_mistake(fields, tmp_path):
    spec = tmp_path / "spec.yaml"
    steps = "".join(f"      - {each}\n" for each in fields)
    named = "".join(f"{line}\n" for line in NAMED.splitlines() if line.split(":")[0].strip() in steps)
    spec.write_text(f"{HEAD}types:\n  Record:\n    fields:\n{steps}{named}", encoding="utf-8")
    assert resolve(load([spec], tmp_path))

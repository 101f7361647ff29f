"""The work of `generate` is proportional to the spec, whatever refers to what; tests count calls."""

import cProfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from wireloom import pipeline
from wireloom.encodings import Form
from wireloom.encodings.binary import BINARY
from wireloom.model.ends import endless
from wireloom.model.types import Field, Reference, Struct
from wireloom.problems import SpecProblems

HEAD = "wireloom: 1\nformat: wide\ntitle: A wide format\nencoding: {}\nframing: none\n{}root: R\ntypes:\n"


def described(encoding: str, types: Iterator[str]) -> str:
    return HEAD.format(encoding, "byteOrder: big\n" if encoding == "binary" else "") + "\n".join(types) + "\n"


def chained(size: int) -> Iterator[str]:
    """Each condition looks at a computed field that looks twice at the one before."""
    yield "  R:\n    fields:\n      - p0: uint8"
    for place in range(1, size + 1):
        before = f"p{place - 1}"
        yield f"      - f{place}: {{type: uint8, when: {before} == {place}}}"
        yield f"      - t{place}: uint8"
        yield f'      - p{place}: {{compute: "{before} == {place} ? t{place} : {before}", type: int64}}'


def of_the_conditional(size: int) -> Iterator[str]:
    """As `chained`, but the computed fields may be absent themselves."""
    yield "  R:\n    fields:\n      - p0: uint8"
    for place in range(1, size + 1):
        before = f"p{place - 1}"
        yield f"      - f{place}: {{type: uint8, when: {before} == {place}}}"
        yield f'      - p{place}: {{compute: "{before} == {place} ? f{place} : {before}", type: int64}}'


def flags(size: int) -> Iterator[str]:
    """Booleans that are computed of one another."""
    yield "  R:\n    fields:\n      - p0: {type: uint8, range: 0..1}\n      - b0: {compute: p0 == 1, type: bool}"
    for place in range(1, size + 1):
        before = f"b{place - 1}"
        yield f"      - t{place}: uint8"
        yield f'      - b{place}: {{compute: "t{place} == 1 and {before} or not {before}", type: bool, hidden: true}}'
        yield f"      - f{place}: {{type: uint8, when: b{place}}}"


def fields(size: int) -> Iterator[str]:
    yield "  R:\n    fields:"
    yield from (f"      - f{place}: uint16" for place in range(size))


def tagged(size: int) -> Iterator[str]:
    yield "  R:\n    fields:"
    yield from (f"      - f{place}: {{type: uint32, tag: {place + 1}}}" for place in range(size))


def types(size: int) -> Iterator[str]:
    yield "  R:\n    fields:"
    yield from (f"      - f{place}: T{place}" for place in range(size))
    yield from (f"  T{place}:\n    fields: [a: uint8, b: uint16]" for place in range(size))


def names(size: int) -> Iterator[str]:
    yield "  R:\n    fields:\n      - kind:\n          type: uint16\n          values:"
    yield from (f"            {place}: name{place}" for place in range(size))


def work(folder: Path, text: str) -> int:
    """How many calls it takes to read a spec and to make all its files."""
    folder.mkdir()
    (folder / "wide.yaml").write_text(text)
    profile = cProfile.Profile()
    with profile:
        pipeline.files(pipeline.Project(specs=folder))
    return sum(entry.callcount for entry in profile.getstats())


SHAPES: dict[str, tuple[str, Callable[[int], Iterator[str]], int]] = {
    "chained": ("binary", chained, 5),
    "of the conditional": ("binary", of_the_conditional, 5),
    "flags": ("binary", flags, 15),
    "fields": ("binary", fields, 50),
    "fields in MessagePack": ("msgpack", fields, 25),
    "fields in JSON": ("json", fields, 25),
    "fields in Protocol Buffers": ("protobuf", tagged, 25),
    "types": ("binary", types, 25),
    "names": ("binary", names, 25),
}


QUICK = ("chained", "flags", "fields", "fields in JSON")


@pytest.mark.parametrize(
    ("encoding", "shape", "size"),
    [
        pytest.param(*shape, id=name, marks=() if name in QUICK else pytest.mark.thorough)
        for name, shape in SHAPES.items()
    ],
)
def test_generation_takes_work_in_proportion_to_the_spec(
    tmp_path: Path, encoding: str, shape: Callable[[int], Iterator[str]], size: int
) -> None:
    work(tmp_path / "warm", described(encoding, shape(2)))  # templates and tables are made once
    few, some, many = (
        work(tmp_path / str(each), described(encoding, shape(each))) for each in (size, 2 * size, 4 * size)
    )
    assert many - some <= 2.6 * (some - few)  # twice as many more: twice the work, and some for what is sorted


def mutual(size: int) -> str:
    """Types that all hold one another: as many levels as the product of their depths."""
    fields = [f"      - c{place}: {{type: T{place}, when: k == {place}}}" for place in range(size)]
    structs = (
        f"  T{place}:\n    depth: 6\n    fields:\n      - k: uint8\n" + "\n".join(fields) for place in range(size)
    )
    return described("binary", structs).replace("root: R", "root: T0")


def test_types_that_hold_one_another_are_refused_without_following_all_levels(tmp_path):
    (tmp_path / "wide.yaml").write_text(mutual(8))  # of 5 764 801 levels
    profile = cProfile.Profile()
    with pytest.raises(SpecProblems) as raised:
        profile.runcall(pipeline.read, tmp_path)
    assert [problem.id for problem in raised.value.problems] == ["too-large"]
    assert sum(entry.callcount for entry in profile.getstats()) < 10_000_000


def test_where_a_record_ends_is_looked_for_once_in_each_type():
    names = [f"T{place}" for place in range(8)]
    fields = {name: tuple(Field(each, each, Reference(each)) for each in names if each != name) for name in names}
    named = {name: Struct(name, BINARY, Form.SEQUENCE, steps, ()) for name, steps in fields.items()}
    profile = cProfile.Profile()
    assert profile.runcall(endless, Reference("T0"), named, BINARY) == ""
    assert sum(entry.callcount for entry in profile.getstats()) < 10_000  # of 8! ways through them

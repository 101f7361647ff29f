"""What is to be read, in groups of about equal size: each group is the input of a task, and any machine can read it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from wireloom.catalog import FormatModule
from wireloom.ingest.files import File, Found, Listing
from wireloom.ingest.modules import open_module
from wireloom.ingest.parquet import RowGroups, row_groups, tables_of
from wireloom.ingest.plan import Column, Files, Plan
from wireloom.ingest.ranges import Heads, Part, grouped, parts
from wireloom.ingest.records import ranges_of
from wireloom.ingest.staging import Parted

Group = tuple[Part, ...] | tuple[RowGroups, ...]

TASKS = 2
"""Groups for each core, so that the cores end together."""
SMALLEST, LARGEST = 4 << 20, 256 << 20
"""Bytes of a group."""
OPEN_COST = 1 << 16
"""What opening a file costs, in bytes that could be read meanwhile."""


def listing(source: Files | Column) -> Found:
    """The files that there are; raises MisuseError where there is no such place."""
    return Listing((source.path,), recursive=True).found()


@dataclass(frozen=True, slots=True)
class Input:
    """All that is to be read, and its bytes. A group is there once its end is found, which takes reading of files."""

    groups: Iterator[Group]
    size: int


def groups(found: Found, source: Files | Column, plan: Plan, cores: int) -> Input:
    """All records there are, in groups enough for all cores; raises MisuseError where nothing can be read."""
    match source:
        case Files():
            return _of_files(found.files, plan, open_module(plan), cores)
        case Column(name=name):
            return of_tables([group for file in found.files for group in row_groups(file, name)], cores)


def of_tables(groups: Sequence[RowGroups], cores: int) -> Input:
    """Row groups of Parquet, in groups enough for all cores."""
    sizes = [group.size for group in groups]
    return Input(grouped(groups, _target(sizes, cores), OPEN_COST), sum(sizes))


def records_of(plan: Plan, group: Group) -> Iterator[Parted]:
    """Every record of a group."""
    of_files = [each for each in group if isinstance(each, Part)]
    of_tables = [each for each in group if isinstance(each, RowGroups)]
    yield from ranges_of(plan, of_files)
    yield from tables_of(plan, of_tables)


def _of_files(files: Sequence[File], plan: Plan, module: FormatModule, cores: int) -> Input:
    framing = plan.framing or module.CODEC.framing
    settings = module.CODEC.settings(dict(plan.parameters))
    heads = Heads(module.CODEC, module.CODEC.root(plan.root), settings, plan.compression, plan.resync)
    sizes = [file.size for file in files]
    target = _target(sizes, cores)
    found = (part for file in files for part in parts(file, framing, heads, target, numbered=True))
    return Input(grouped(found, target, OPEN_COST), sum(sizes))


def _target(sizes: Sequence[int], cores: int) -> int:
    return min(max((sum(sizes) + OPEN_COST * len(sizes)) // (cores * TASKS) + 1, SMALLEST), LARGEST)

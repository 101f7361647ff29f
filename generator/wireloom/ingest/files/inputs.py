"""Divides the input of a job into groups of similar size.

Each group is the input of one task, and any machine can read it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from wireloom.catalog import FormatModule
from wireloom.ingest.files.finding import File, Found, Listing
from wireloom.ingest.files.parquet import RowGroups, row_groups, tables_of
from wireloom.ingest.files.ranges import Heads, Part, Share, even, grouped, parts
from wireloom.ingest.files.records import ranges_of
from wireloom.ingest.job.format_modules import open_module
from wireloom.ingest.plan import Column, Files, Plan
from wireloom.ingest.tables.splitting import Parted

Group = tuple[Part, ...] | tuple[RowGroups, ...]

TASKS = 2
"""Groups per core, so that all cores finish at about the same time."""
SMALLEST, LARGEST = 4 << 20, 256 << 20
"""Least and most bytes of a group."""
FIRST = 16 << 20
"""Most bytes of the first group, because no core can start before it is complete."""
UNEVEN = 4
"""How many times smaller the first and last groups are."""
OPEN_COST = 1 << 16
"""The cost of opening a file, in bytes that could be read in that time."""


def listing(source: Files | Column) -> Found:
    """The files of a source; raises MisuseError if the path does not exist."""
    return Listing((source.path,), recursive=True).found()


@dataclass(frozen=True, slots=True)
class Input:
    """The groups of a job, and their total size.

    Groups are made lazily, since finding their ends takes reading of files.
    """

    groups: Iterator[Group]
    size: int


def groups(found: Found, source: Files | Column, plan: Plan, cores: int) -> Input:
    """Groups of all records, enough for all cores; raises MisuseError if the input cannot be read."""
    match source:
        case Files():
            return _of_files(found.files, plan, open_module(plan), cores)
        case Column(name=name):
            return of_tables([group for file in found.files for group in row_groups(file, name)], cores)


def of_tables(groups: Sequence[RowGroups], cores: int) -> Input:
    """Groups of Parquet row groups, enough for all cores."""
    sizes = [group.size for group in groups]
    target = _target(sizes, cores)
    return Input(grouped(groups, even(target), OPEN_COST), sum(sizes))


def records_of(plan: Plan, group: Group) -> Iterator[Parted]:
    """All records of a group."""
    of_files = [each for each in group if isinstance(each, Part)]
    of_tables = [each for each in group if isinstance(each, RowGroups)]
    yield from ranges_of(plan, of_files)
    yield from tables_of(plan, of_tables)


def _of_files(files: Sequence[File], plan: Plan, module: FormatModule, cores: int) -> Input:
    framing = plan.framing or module.CODEC.framing
    settings = module.CODEC.settings(dict(plan.parameters))
    heads = Heads(module.CODEC, module.CODEC.root(plan.root), settings, plan.compression, plan.resync)
    sizes = [file.size for file in files]
    shares = Shares.of(sizes, cores)
    before = accumulate((size + OPEN_COST for size in sizes), initial=0)
    found = (
        part
        for file, done in zip(files, before, strict=False)
        for part in parts(file, framing, heads, shares.after(done), numbered=True)
    )
    return Input(grouped(found, shares.at, OPEN_COST), sum(sizes))


@dataclass(frozen=True, slots=True)
class Shares:
    """The sizes of groups: small ones first, so that cores start early, and last, so that they finish together."""

    whole: int
    cores: int
    target: int

    @classmethod
    def of(cls, sizes: Sequence[int], cores: int) -> "Shares":
        """The shares for files of these sizes."""
        return cls(sum(sizes) + OPEN_COST * len(sizes), cores, _target(sizes, cores))

    def at(self, done: int) -> int:
        """The size of the group that begins after `done` bytes of the input."""
        small = max(self.target // UNEVEN, SMALLEST)
        left = self.whole - done
        if left < small + small // 2:
            return max(left, small)  # a further group would be too small
        return min(max(2 * done, min(small, FIRST)), max(left // self.cores, small), self.target)

    def after(self, before: int) -> Share:
        """The sizes of groups in a file that has `before` bytes of input before it."""
        return lambda done: self.at(before + done)


def _target(sizes: Sequence[int], cores: int) -> int:
    return min(max((sum(sizes) + OPEN_COST * len(sizes)) // (cores * TASKS) + 1, SMALLEST), LARGEST)

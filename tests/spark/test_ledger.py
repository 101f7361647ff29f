"""The ledger, without Spark: killed before any of its steps, it ends like an uninterrupted run."""

import shutil
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from wireloom.failures import DataError
from wireloom.ingest.ledger import entries as ledgers
from wireloom.ingest.ledger.entries import Entry, Ledger
from wireloom.ingest.plan import Summary

ONE = Summary(2, 1, 1, 1, (("bad", 1),), (), 9, (("kind", (("alarm", 1),)),))


class KilledError(BaseException):
    """Here the process ends."""


@dataclass(slots=True)
class Disk:
    """In place of Storage: files by Python's own means, that stops before its step number `last`."""

    last: int = 1 << 30
    by_file: bool = False
    steps: list[str] = field(default_factory=list)

    def _step(self, *words):
        self.steps.append(" ".join(map(str, words)))
        if len(self.steps) > self.last:
            raise KilledError(self.steps[-1])

    def exists(self, path):
        """As Storage."""
        return Path(path).exists()

    def names(self, path):
        """As Storage."""
        return tuple(sorted(each.name for each in Path(path).iterdir())) if Path(path).exists() else ()

    def moves_by_file(self, path):  # noqa: ARG002 - as Storage
        """As Storage."""
        return self.by_file

    def rename(self, path, new):
        """As Storage."""
        if self.by_file and Path(path).is_dir():
            for each in sorted(each for each in Path(path).rglob("*") if each.is_file()):
                self._step("move", each, new)
                target = Path(new) / each.relative_to(path)
                target.parent.mkdir(parents=True, exist_ok=True)
                each.rename(target)
            self.delete(path)
            return
        if Path(new).exists():
            raise FileExistsError(new)
        self._step("rename", path, new)
        Path(new).parent.mkdir(parents=True, exist_ok=True)
        Path(path).rename(new)

    def delete(self, path):
        """As Storage, one file after the other."""
        for each in sorted(Path(path).rglob("*"), reverse=True) if Path(path).is_dir() else ():
            self._step("delete", each)
            each.rmdir() if each.is_dir() else each.unlink()
        self._step("delete", path)
        if Path(path).exists():
            Path(path).rmdir() if Path(path).is_dir() else Path(path).unlink()

    def read(self, path):
        """As Storage."""
        return Path(path).read_text()

    def write(self, path, text):
        """As Storage."""
        self._step("write", path)
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        with Path(path).open("x") as file:
            file.write(text)


def put(ledger, path, text):
    ledger.storage._step("put", path)
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text)


def batch(ledger, number):
    """The steps of a job for a batch: write to staging, enter, move."""
    entry = ledger.entry(number)
    if entry is None:
        staging = ledger.staging()
        put(ledger, f"{staging}/records/part", f"good {number}")
        put(ledger, f"{staging}/quarantine/part", f"bad {number}")
        moves = tuple((f"{staging}/{name}", f"{ledger.home}/{name}/{number}") for name in ("records", "quarantine"))
        if number == 1:  # like a replay: what was there before goes
            moves = (*moves, (f"{ledger.home}/quarantine/0", f"{staging}/old/0"))
        entry = Entry(number, ONE, "digest", staging=staging, moves=moves)
        ledger.add(entry)
    ledger.settle(entry)


def run(home, last=1 << 30, *, by_file=False):
    ledger = Ledger(Disk(last=last, by_file=by_file), str(home), "batch")
    ledger.recover()
    for number in range(2):
        batch(ledger, number)
    return ledger


def contents(home):
    tables = [home / "records", home / "quarantine"]
    return sorted((str(each.relative_to(home)), each.read_text()) for table in tables for each in table.rglob("part"))


EXPECTED = [("quarantine/1/part", "bad 1"), ("records/0/part", "good 0"), ("records/1/part", "good 1")]


@pytest.mark.parametrize("by_file", [False, True])
def test_killed_before_any_step_a_second_run_leaves_what_one_would_have(tmp_path, by_file):
    steps = len(run(tmp_path / "whole", by_file=by_file).storage.steps)
    assert contents(tmp_path / "whole") == EXPECTED
    assert steps > 15
    for last in range(steps):
        home = tmp_path / str(last)
        with pytest.raises(KilledError):
            run(home, last, by_file=by_file)
        seen = dict(contents(home))
        ledger = run(home, by_file=by_file)
        assert contents(home) == EXPECTED, last
        assert seen.items() <= dict([*EXPECTED, ("quarantine/0/part", "bad 0")]).items(), "never a half-moved batch"
        assert ledger.storage.names(f"{home}/_staging/batch") == ()
        assert ledger.total() == (2, ONE + ONE)


def test_killed_again_while_it_recovers_it_still_ends_so(tmp_path):
    steps = len(run(tmp_path / "whole").storage.steps)
    for first in range(2, steps, 3):
        for second in range(6):
            home = tmp_path / f"{first}-{second}"
            with pytest.raises(KilledError):
                run(home, first)
            try:
                run(home, second)
            except KilledError:
                run(home)
            assert contents(home) == EXPECTED, (first, second)


def test_folded_entries_add_up_to_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(ledgers, "FOLDED", 3)
    home = tmp_path / "home"
    for last in [*range(40), 1 << 30]:
        shutil.rmtree(home, ignore_errors=True)
        ledger = Ledger(Disk(last=last), str(home), "batch")
        try:
            for number in range(14):
                ledger.add(Entry(number, ONE, "digest"))
                ledger.fold()
        except KilledError:
            again = Ledger(Disk(), str(home), "batch")
            for number in range(again.last() + 1, 14):
                again.add(Entry(number, ONE, "digest"))
                again.fold()
        final = Ledger(Disk(), str(home), "batch")
        assert final.total() == (14, sum([ONE] * 13, ONE))
        assert final.last() == 13
    assert len(final.entries()) < 6
    assert 20 < len(ledger.storage.steps) < 40, "each step of the last run was a place to be killed at"


def test_a_folder_that_somebody_else_removed_is_said_and_not_passed_over(tmp_path):
    ledger = Ledger(Disk(), str(tmp_path), "batch")
    staging = ledger.staging()
    put(ledger, f"{staging}/other", "")
    entry = Entry(0, ONE, "digest", staging=staging, moves=((f"{staging}/records", f"{tmp_path}/records/0"),))
    ledger.add(entry)
    with pytest.raises(DataError, match="neither is there"):
        ledger.settle(entry)


def test_an_entry_is_never_replaced(tmp_path):
    ledger = Ledger(Disk(), str(tmp_path), "batch")
    ledger.add(Entry(0, ONE, "first"))
    with pytest.raises(FileExistsError):
        ledger.add(replace(Entry(0, ONE, "second")))
    assert ledger.entry(0).digest == "first"
    assert ledger.entry(1) is None

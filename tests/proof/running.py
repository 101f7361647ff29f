"""Runs thousands of random specs: `python -m proof.running 20000 --seed 0`, in two processes, with a table at the end.

Each seed gives the same spec and records on any machine. With `--crossed`, specs of the project are crossed; with
`--leaning`, a spec is full of a few features. A class of violations is shown by the smallest spec found; `--write
FOLDER` keeps each as a case.
"""
# ruff: noqa: T201 - it prints how far it is

import argparse
import multiprocessing as processes
import os
import re
import resource
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from proof.cases import Case, written_case
from proof.crossing import crossed_spec_of
from proof.modules import Spec
from proof.properties import Report, TooSlowError, Violation, examined
from proof.shrinking import shrunk
from proof.specs import leaning_spec_of, spec_of
from support.engine_builds import built

_SECONDS = 20  # of processor time for one spec
_HANGS = 300  # without output, after which a process is killed
_MEMORY = 8 << 30
_SANITIZED = 8  # times as long with sanitizers
_SHRUNK = 2  # specs of a class that are shrunk


@dataclass(slots=True)
class Class:
    """A class of violations: how many specs showed it, and the smallest ones."""

    count: int = 0
    seeds: list[int] = field(default_factory=list)
    cases: list[Case] = field(default_factory=list)


@dataclass(slots=True)
class Totals:
    """The totals of a run."""

    tried: int = 0
    accepted: int = 0
    broken: int = 0
    records: int = 0
    good: int = 0
    built: int = 0
    problems: Counter[str] = field(default_factory=Counter)
    classes: dict[str, Class] = field(default_factory=dict)

    def add(self, seed: int, report: Report) -> None:
        """Add a spec's result."""
        self.tried += 1
        self.accepted += report.accepted
        self.broken += bool(report.violations)
        self.records += report.records
        self.good += report.good
        self.built += report.built
        self.problems.update(set(report.problems))
        for name in report.violations:
            found = self.classes.setdefault(name, Class())
            found.count += 1
            found.seeds.append(seed)


def timed(spec: Spec, seed: int, seconds: float = _SECONDS) -> Report:
    """Check a spec; taking too long is a violation."""
    signal.signal(signal.SIGPROF, _over)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        return examined(spec, seed)
    except TooSlowError:
        report = Report()
        report.add(Violation("too slow", "", f"more than {seconds} s"))
        return report
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _over(*_: Any) -> None:
    raise TooSlowError


# --- processes -----------------------------------------------------------------------------------------------------


Maker = Callable[[int], Spec]


def _work(maker: Maker, first: int, step: int, last: int, pipe: Connection) -> None:
    sanitized = "LD_PRELOAD" in os.environ
    if not sanitized:  # sanitizers need the whole address range
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    for seed in range(first, last, step):
        pipe.send((seed, None))
        pipe.send((seed, timed(maker(seed), seed, _SECONDS * (_SANITIZED if sanitized else 1))))
    pipe.send((last, None))


def reports(count: int, seed: int, workers: int, maker: Maker = spec_of) -> Iterator[tuple[int, Report]]:
    """The result of each seed, as it comes."""
    context = processes.get_context("fork")
    running: dict[Any, tuple[Any, int, float]] = {}

    def start(first: int) -> None:
        if first < seed + count:
            ours, theirs = context.Pipe(duplex=False)
            process = context.Process(target=_work, args=(maker, first, workers, seed + count, theirs), daemon=True)
            process.start()
            theirs.close()
            running[ours] = (process, first, time.monotonic())

    for worker in range(workers):
        start(seed + worker)
    while running:
        for ready in wait(list(running), timeout=1):
            assert isinstance(ready, Connection)  # no others are waited for
            process, at, _ = running[ready]
            try:
                at, report = ready.recv()
            except EOFError:
                del running[ready]
                if at < seed + count:
                    yield at, _ended("the process died")
                    start(at + workers)
                continue
            running[ready] = (process, at, time.monotonic())
            if report is not None:
                yield at, report
        for pipe, (process, at, since) in list(running.items()):
            if time.monotonic() - since > _HANGS:
                process.kill()
                del running[pipe]
                yield at, _ended("hangs")
                start(at + workers)


def _ended(what: str) -> Report:
    report = Report()
    report.add(Violation(what, ""))
    return report


# --- showing -------------------------------------------------------------------------------------------------------


def run(count: int, seed: int, workers: int, maker: Maker, *, small: bool) -> Totals:
    """Run specs, then shrink the smallest of each class."""
    totals, start = Totals(), time.monotonic()
    for at, report in reports(count, seed, workers, maker):
        totals.add(at, report)
        if sys.stderr.isatty():
            spent = time.monotonic() - start
            print(f"\r{totals.tried} of {count} specs, {totals.broken} broken, {spent:.0f} s", end="", file=sys.stderr)
        else:
            for name in report.violations:
                print(f"seed {at} of {seed} .. {seed + count - 1}: {name}", file=sys.stderr, flush=True)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    if small:
        names = [(maker, name, seed) for name, found in totals.classes.items() for seed in found.seeds[:_SHRUNK]]
        with processes.get_context("fork").Pool(workers) as pool:
            for name, case in pool.imap_unordered(_small, names):
                if case is not None:
                    totals.classes[name].cases.append(case)
    return totals


def _small(named: tuple[Maker, str, int]) -> tuple[str, Case | None]:
    maker, name, seed = named
    spec = maker(seed)
    if name.split(":")[0] in ("hangs", "the process died", "too slow"):
        return name, Case(name, seed, spec, None)
    signal.signal(signal.SIGPROF, _over)
    signal.setitimer(signal.ITIMER_PROF, 3 * _SECONDS)
    try:
        violation = examined(spec, seed).violations.get(name)
        if violation is None:
            return name, None
        spec, violation = shrunk(spec, seed, violation)
        return name, Case(name, seed, spec, violation)
    except TooSlowError:
        return name, Case(name, seed, spec, None)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def table(totals: Totals, seconds: float) -> str:
    """The run as text."""
    lines = [
        f"{totals.tried} specs in {seconds:.0f} s: {totals.accepted} accepted, {totals.broken} break a guarantee",
        f"{totals.records} records read, {totals.good} good; {totals.built} values built",
        "refused most by: " + ", ".join(f"{id} {count}" for id, count in totals.problems.most_common(6)),
    ]
    for name, found in sorted(totals.classes.items(), key=lambda each: -each[1].count):
        lines.append(f"\n{found.count:6} {name} (seed {', '.join(map(str, found.seeds[:5]))})")
        if found.cases:
            lines.append(min(found.cases, key=lambda case: case.size).shown())
    return "\n".join(lines)


def slug(name: str) -> str:
    """The class as a file name."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower())[:64].strip("-")


def main() -> int:
    """Run, print, keep; returns the number of classes."""
    arguments = argparse.ArgumentParser(description="Random specs through everything that is generated of them.")
    arguments.add_argument("count", type=int, nargs="?", default=2000)
    arguments.add_argument("--seed", type=int, default=0, help="the first seed; each spec has one")
    arguments.add_argument("--workers", type=int, default=min(2, os.cpu_count() or 1))
    arguments.add_argument("--write", type=Path, help="keep the smallest spec of each class in this folder")
    makers = arguments.add_mutually_exclusive_group()
    makers.add_argument("--crossed", action="store_true", help="cross the specs and cases of the project")
    makers.add_argument("--leaning", action="store_true", help="make some choices far oftener, for each spec others")
    arguments.add_argument("--no-shrink", action="store_true", help="only count")
    arguments.add_argument("--library", help="a build of the engine with sanitizers, whose runtimes are preloaded")
    given = arguments.parse_args()
    start = time.monotonic()
    if given.library:
        built(given.library)
    maker = crossed_spec_of if given.crossed else leaning_spec_of if given.leaning else spec_of
    totals = run(given.count, given.seed, given.workers, maker, small=not given.no_shrink)
    print(table(totals, time.monotonic() - start))
    if given.write:
        given.write.mkdir(parents=True, exist_ok=True)
        for name, found in totals.classes.items():
            if found.cases:
                text = written_case(min(found.cases, key=lambda case: case.size))
                (given.write / f"{slug(name)}.yaml").write_text(text, encoding="utf-8")
    return min(len(totals.classes), 1)


if __name__ == "__main__":
    sys.exit(main())

"""Measures the times that users wait for, and prints a table: `nox -s bench`.

It measures generation of all specs, import of each generated module in a fresh interpreter, and decoding with the
construct parser. Each number is the best of several runs, since other work of the machine can only add time.
"""

import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
GENERATED = ROOT / "generated"
PACKAGE = "wireloom_formats"
RUNS = 5
DECODE_SECONDS = 0.5
IMPORT_BUDGET = 0.150
GENERATE_BUDGET = 2.0

sys.path[:0] = [str(ROOT / "generator"), str(GENERATED)]


@dataclass(frozen=True, slots=True)
class Measurement:
    """A number with its unit, and its budget if there is one."""

    name: str
    value: float
    unit: str
    budget: float | None = None

    @property
    def line(self) -> str:
        """The measurement as a row of the table."""
        limit = (
            "" if self.budget is None else f"{'ok' if self.value <= self.budget else 'OVER'}, budget {self.budget:g}"
        )
        return f"{self.name:<44} {self.value:>12,.3f} {self.unit:<8} {limit}".rstrip()


def best(action: Callable[[], object], runs: int = RUNS) -> float:
    """The shortest time of several runs, in seconds."""
    return min(_timed(action) for _ in range(runs))


def _timed(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def generation() -> Measurement:
    """Generate all specs, from their text to every file's text."""
    from wireloom import pipeline

    project = pipeline.Project(ROOT / "specs", GENERATED)
    return Measurement("generate all specs", best(lambda: pipeline.files(project), 3), "s", GENERATE_BUDGET)


def imports(name: str) -> Measurement:
    """Import one generated module in a fresh interpreter."""
    program = f"import time; start = time.perf_counter(); import {PACKAGE}.{name}; print(time.perf_counter() - start)"
    environment = {"PYTHONPATH": f"{ROOT / 'generator'}:{GENERATED}"}
    command = [sys.executable, "-c", program]
    times = [
        float(subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout)
        for _ in range(RUNS)
    ]
    return Measurement(f"import {name}", min(times), "s", IMPORT_BUDGET)


def decoding(name: str) -> list[Measurement]:
    """Messages per second of the construct parser, for each good example of the spec."""
    import importlib

    from wireloom import pipeline

    module = importlib.import_module(f"{PACKAGE}.{name}")
    format = next(format for format in pipeline.formats(ROOT / "specs") if format.name == name)
    return [
        Measurement(
            f"parse {name}: {example.name[:24]}",
            _rate(lambda e=example: module.parse(e.data, root=e.root, **dict(e.parameters))),
            "msg/s",
        )
        for example in format.examples
        if example.error is None
    ]


def _rate(action: Callable[[], object]) -> float:
    action()
    count, start = 0, time.perf_counter()
    while (spent := time.perf_counter() - start) < DECODE_SECONDS:
        for _ in range(20):
            action()
        count += 20
    return count / spent


def main() -> int:
    """Measure and print; returns 1 if a budget is exceeded."""
    import wireloom_formats

    names = sorted(wireloom_formats.FORMATS)
    measured = [generation(), *map(imports, names), *(each for name in names for each in decoding(name))]
    for measurement in measured:
        sys.stdout.write(f"{measurement.line}\n")
    return int(any(each.budget is not None and each.value > each.budget for each in measured))


if __name__ == "__main__":
    sys.exit(main())

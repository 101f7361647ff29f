"""The native engine against its peers: `python tests/bench/engine_bench.py [messages] [--write]`, one thread.

Results are compared before anything is timed. `--write` puts the tables into docs/internals/benchmarks.md, between its
marks, and the chart beside it.
"""

import argparse
import platform
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "generator"), *(str(ROOT / folder) for folder in ("generated", "tests/bench", "tests/fuzz"))]

import chart  # noqa: E402
import contests  # noqa: E402
import document  # noqa: E402
import footprint  # noqa: E402
import json_contests  # noqa: E402
import protocol_contests  # noqa: E402
import scaling  # noqa: E402
import tables  # noqa: E402
from contest import results  # noqa: E402

ROUNDS = 11
_CHART = ROOT / "docs" / "internals" / "benchmarks.svg"


def main() -> None:
    """Measure everything; print or write the results."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("messages", type=int, nargs="?", default=200_000)
    arguments.add_argument("--write", action="store_true")
    asked = arguments.parse_args()
    measured = []
    binary = (*contests.works(asked.messages), *protocol_contests.works(asked.messages))
    for make in (*binary, *json_contests.works(asked.messages)):
        work = make()
        measured.append((work, results(work, ROUNDS)))
    text = tables.page(
        measured,
        (scaling.by_count(), scaling.by_size(), scaling.peaks(asked.messages)),
        (*footprint.cold_start(), footprint.wheel_size()),
        f"{asked.messages:,} messages, {ROUNDS} rounds, Python {platform.python_version()}, one thread".replace(
            ",", " ", 1
        ),
    )
    if not asked.write:
        sys.stdout.write(text)
        return
    document.put("tests/bench/engine_bench.py", text)
    _CHART.write_text(chart.drawn(measured), "utf-8")


if __name__ == "__main__":
    main()

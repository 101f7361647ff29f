"""Validation against jsonschema and jsonschema-rs, on the same schemas and messages: `[messages]`, 20 000 by default.

Each contestant validates the bytes of messages, all valid or one in a hundred invalid, and lists the problems.
Contestants take turns, and a row has the medians of processor time. Ratios are computed within a turn, so that a busy
machine slows both. A second table has the time for parsing a text into nodes, by the engine and by the parser.
"""

# ruff: noqa: T201 - it prints its tables

import argparse
import importlib
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import jsonschema_rs
import pyarrow as pa
from jsonschema import Draft202012Validator

sys.path.insert(0, str(Path(__file__).parent.parent))

from conftest import shipped_formats
from wireloom.runtime.parsers.json.text import read
from wireloom.runtime.validation import documents

TURNS = 5
SLOW = 211  # jsonschema gets one of so many messages
Judge = Callable[[Sequence[bytes]], int]


def messages(name: str, count: int, *, bad: bool) -> list[bytes]:
    """Examples of a format, repeated; with `bad`, one in a hundred has an extra member and lacks its first."""
    (format,) = (each for each in shipped_formats() if each.name == name)
    root = format.roots[0].name
    good = [each.data for each in format.examples if each.root == root and not (each.error or each.parameters)]
    found = [good[place % len(good)] for place in range(count)]
    for place in range(0, count, 100) if bad else ():
        members = list(json.loads(found[place]).items())
        found[place] = json.dumps(dict([*members[1:], ("more", 1)])).encode()
    return found


def judges(name: str) -> dict[str, Judge]:
    """The contestants; each returns the number of problems."""
    module = importlib.import_module(f"wireloom_formats.{name}")
    slow, fast = Draft202012Validator(module.JSON_SCHEMA), jsonschema_rs.Draft202012Validator(module.JSON_SCHEMA)
    return {
        "validate_many, an array": lambda data: len(module.validate_many(pa.array(data)).flatten()),
        "validate_many, a list": lambda data: sum(map(len, module.validate_many(data))),
        "jsonschema-rs": lambda data: sum(sum(1 for _ in fast.iter_errors(json.loads(each))) for each in data),
        "jsonschema": lambda data: sum(sum(1 for _ in slow.iter_errors(json.loads(each))) for each in data),
    }


def microseconds(judge: Judge, data: Sequence[bytes]) -> float:
    began = time.process_time()
    judge(data)
    return (time.process_time() - began) / len(data) * 1e6


def readers() -> dict[str, Judge]:
    """The contestants that parse a text into nodes."""
    return {
        "the engine": lambda data: sum(documents.regular(each, documents.DEEPEST).end for each in data),
        "the parser's reader": lambda data: sum(read(each, documents.DEEPEST).end for each in data),
    }


def rows(contestants: Mapping[str, Judge], data: Sequence[bytes]) -> Iterator[tuple[str, float, float]]:
    """Each contestant, its microseconds per message, and the ratio to the first."""
    first = next(iter(contestants))
    turns = [
        {who: microseconds(judge, data[::SLOW] if who == "jsonschema" else data) for who, judge in contestants.items()}
        for _ in range(TURNS)
    ]
    for who in contestants:
        cost = statistics.median(turn[who] for turn in turns)
        yield who, cost, statistics.median(turn[who] / turn[first] for turn in turns)


def main() -> None:
    """Print the tables."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("messages", type=int, nargs="?", default=20_000)
    count = arguments.parse_args().messages
    formats = ("aerospike_json", "databus_json")
    print("| messages | contestant | µs a message | times as long as an array of them |\n|---|---|---|---|")
    for name in formats:
        for what, bad in (("valid", False), ("1 % invalid", True)):
            for who, cost, ratio in rows(judges(name), messages(name, count, bad=bad)):
                print(f"| {name}, {what} | {who} | {cost:.1f} | {ratio:.1f} |")
    print("\n| nodes of a text | by | µs a message | times the engine |\n|---|---|---|---|")
    for name in formats:
        for who, cost, ratio in rows(readers(), messages(name, count, bad=False)):
            print(f"| {name} | {who} | {cost:.1f} | {ratio:.1f} |")


if __name__ == "__main__":
    main()

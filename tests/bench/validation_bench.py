"""Validation beside jsonschema and jsonschema-rs, on the same schemas and messages.

Each contestant judges the bytes of messages, all valid or one of a hundred with mistakes, and lists the problems of
those. Contestants take turns, and a row has the medians of processor time; ratios are those within a turn, so that a
busy machine slows both.
"""

import importlib
import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import jsonschema_rs
import pyarrow as pa
from jsonschema import Draft202012Validator

sys.path.insert(0, str(Path(__file__).parent.parent))

from conftest import shipped_formats

MESSAGES = 20_000
TURNS = 5
SLOW = 211  # jsonschema is given one of so many messages
Judge = Callable[[Sequence[bytes]], int]


def messages(name: str, *, bad: bool) -> list[bytes]:
    """Examples of a format again and again; where `bad`, one of a hundred has another member and lacks its first."""
    (format,) = (each for each in shipped_formats() if each.name == name)
    root = format.roots[0].name
    good = [each.data for each in format.examples if each.root == root and not (each.error or each.parameters)]
    found = [good[place % len(good)] for place in range(MESSAGES)]
    for place in range(0, MESSAGES, 100) if bad else ():
        members = list(json.loads(found[place]).items())
        found[place] = json.dumps(dict([*members[1:], ("more", 1)])).encode()
    return found


def judges(name: str) -> dict[str, Judge]:
    """The contestants; each gives the number of problems."""
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


def main() -> None:
    """Print the table."""
    sys.stdout.write(
        "| messages | contestant | µs a message | times as long as an array of them |\n|---|---|---|---|\n"
    )
    for name in ("aerospike_json", "databus_json"):
        for what, bad in (("valid", False), ("1 % invalid", True)):
            data, contestants = messages(name, bad=bad), judges(name)
            turns = [
                {
                    who: microseconds(judge, data[::SLOW] if who == "jsonschema" else data)
                    for who, judge in contestants.items()
                }
                for _ in range(TURNS)
            ]
            for who in contestants:
                cost = statistics.median(turn[who] for turn in turns)
                ratio = statistics.median(turn[who] / turn["validate_many, an array"] for turn in turns)
                sys.stdout.write(f"| {name}, {what} | {who} | {cost:.1f} | {ratio:.1f} |\n")


if __name__ == "__main__":
    main()

"""Measures `decode` and `encode` against `ingest --engine local` on the same records, as whole commands.

`python tests/bench/command_bench.py [RECORDS] [FORMAT...]`: the records are those of `samples/`, repeated. `decode`
should take at most 4 times the processor time of `ingest`.
"""

import importlib
import sys
import tempfile
from itertools import cycle, islice
from pathlib import Path

from ingest_costs import command

ROOT = Path(__file__).resolve().parents[2]
FRAMING = "length-prefixed"


def stream(name: str, count: int) -> bytes:
    """`count` records of a format, each after its size."""
    module = importlib.import_module(f"wireloom_formats.{name}")
    good = sorted((ROOT / "samples" / name).glob("good*"))
    records = [each.data for file in good for each in module.iter_parse(file.read_bytes()) if each.error is None]
    return b"".join(len(each).to_bytes(4, "big") + each for each in islice(cycle(records), count))


def seconds(home: Path, *arguments: str) -> float:
    """Processor seconds of a command."""
    return command([sys.executable, "-m", "wireloom", *arguments, "--out", str(ROOT / "generated")], home / "run").cpu


def main(count: int, names: list[str]) -> None:
    """Measure each format, and print a line."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        source, lines, tables = home / "records.bin", home / "records.jsonl", home / "tables"
        for number, name in enumerate(names):
            source.write_bytes(stream(name, count))
            files = "--input", str(source), "--output", f"{tables}{number}"
            taken = seconds(home, "ingest", "--engine", "local", "--format", name, *files, "--framing", FRAMING)
            read = seconds(home, "decode", name, str(source), "--framing", FRAMING, "-o", str(lines))
            written = seconds(home, "encode", name, str(lines), "--framing", FRAMING, "-o", str(home / "copy.bin"))
            sys.stdout.write(
                f"{name}: {count} records, ingest {taken:.2f} s, decode {read:.2f} s ({read / taken:.1f} times), "
                f"encode {written:.2f} s ({written / taken:.1f} times)\n"
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000, sys.argv[2:] or ["databus_event", "aerospike_msgpack"])

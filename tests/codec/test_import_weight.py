"""Importing a format loads what reads its records, and nothing that few programs use."""

import subprocess
import sys

import pytest

PROGRAM = """
import sys
import wireloom_formats.{0}
print(*sorted(sys.modules))
"""
RUNTIME = "wireloom.runtime."
NEVER = ("pdb", "bdb", "difflib", "pyarrow", *(RUNTIME + room for room in ("validation", "streams", "conversion")))


def loaded(format: str) -> list[str]:
    found = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(format)], capture_output=True, text=True, check=True, timeout=60
    )
    return found.stdout.split()


@pytest.mark.parametrize(
    ("format", "others"),
    [
        ("netflow_v5", ("json", "msgpack", "protobuf")),
        ("aerospike_msgpack", ("json", "protobuf")),
        ("databus_json", ("msgpack", "protobuf")),
    ],
)
def test_an_import_loads_what_reads_records_of_the_format(format: str, others: tuple[str, ...]) -> None:
    modules = loaded(format)
    unwanted = (*NEVER, *(f"{RUNTIME}parsers.{encoding}" for encoding in others))
    assert [each for each in modules if f"{each}.".startswith(tuple(f"{name}." for name in unwanted))] == []


def test_a_debugger_is_there_for_who_asks_for_it() -> None:
    program = "import wireloom_formats.netflow_v5, pdb, construct.debug; print(construct.debug.pdb.Pdb is pdb.Pdb)"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert found.stdout.split() == ["True"]


def test_what_is_loaded_later_works() -> None:
    program = """
import wireloom_formats.netflow_v5 as netflow
assert netflow.VALIDATOR is netflow.VALIDATOR
print(len(netflow.validate(b"")), netflow.JSON_SCHEMA["title"], list(netflow.iter_parse(b"", framing="concatenated")))
"""
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert found.stdout.strip() == "1 NetFlow version 5 datagram []"

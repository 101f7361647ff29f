"""Importing a format does not load rarely used modules; decoding good records needs no parser.

Tests count imported modules and created classes, not time.
"""

import json
import subprocess
import sys

import pytest

PROGRAM = """
import builtins, json, sys
before, made, build = set(sys.modules), [], builtins.__build_class__
def counted(body, name, *bases, **keywords):
    found = build(body, name, *bases, **keywords)
    if found.__module__.startswith("wireloom"):
        made.append(name)
    return found
builtins.__build_class__ = counted
{0}
print(json.dumps([sorted(sys.modules.keys() - before), made]))
"""
RUNTIME = "wireloom.runtime."
NEVER = ("pdb", "bdb", "difflib", "hashlib", "pickle", "construct", "json", "pyarrow")
ROOMS = tuple(RUNTIME + room for room in ("parsers", "columns", "streams", "validation", "conversion", "expressions"))
OURS, CLASSES, ALL = 15, 25, 36
"""The most modules of ours, classes of ours, and modules in all that importing a format may bring."""
FORMATS = ("netflow_v5", "aerospike_msgpack", "databus_json", "databus_event")


def loaded(statements: str) -> tuple[list[str], list[str]]:
    """The modules that statements load in a fresh interpreter, and the classes of ours that they make."""
    found = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(statements)], capture_output=True, text=True, check=True, timeout=300
    )
    modules, classes = json.loads(found.stdout)
    return modules, classes


def within(modules: list[str], rooms: tuple[str, ...]) -> list[str]:
    return [each for each in modules if f"{each}.".startswith(tuple(f"{room}." for room in rooms))]


@pytest.mark.parametrize("format", FORMATS)
def test_an_import_loads_little(format: str) -> None:
    modules, classes = loaded(f"import wireloom_formats.{format}")
    assert within(modules, (*NEVER, *ROOMS)) == []
    assert len(within(modules, ("wireloom", "wireloom_formats"))) <= OURS, modules
    assert len(classes) <= CLASSES, classes
    assert len(modules) <= ALL, modules


@pytest.mark.parametrize("data", ['b""', 'bytes.fromhex("0005") + bytes(22)'], ids=["bad", "good"])
def test_columns_of_good_records_need_no_parser(data: str) -> None:
    modules, _ = loaded(
        f"import pyarrow\nimport wireloom_formats.netflow_v5 as netflow\n"
        f"assert netflow.decode([{data}]).records.null_count == (len({data}) == 0)"
    )
    assert bool(within(modules, ("construct", f"{RUNTIME}parsers", "wireloom_formats.netflow_v5.parser"))) == (
        data == 'b""'
    )


@pytest.mark.parametrize(
    ("format", "others"),
    [
        ("netflow_v5", ("json", "msgpack", "protobuf")),
        ("aerospike_msgpack", ("json", "protobuf")),
        ("databus_json", ("msgpack", "protobuf")),
    ],
)
def test_constructs_load_the_parsers_of_their_encoding(format: str, others: tuple[str, ...]) -> None:
    modules, _ = loaded(f"import wireloom_formats.{format} as it\nassert it.CONSTRUCT is it.CONSTRUCTS['record']")
    assert within(modules, tuple(f"{RUNTIME}parsers.{encoding}" for encoding in others)) == []


def test_errors_are_those_of_construct_whoever_imports_it_and_when() -> None:
    loaded(
        "import wireloom_formats.netflow_v5 as it\n"
        "from construct import ConstructError\n"
        "from wireloom.runtime.errors import DecodeError, EncodeError\n"
        "for act in (lambda: it.parse(b''), lambda: it.build({}), lambda: it.from_canonical([])):\n"
        "    try: act(); assert False\n"
        "    except ConstructError as error: assert isinstance(error, DecodeError | EncodeError)\n"
    )


def test_what_is_loaded_later_works() -> None:
    program = """
import wireloom_formats.netflow_v5 as netflow
assert netflow.VALIDATOR is netflow.VALIDATOR
print(len(netflow.validate(b"")), netflow.JSON_SCHEMA["title"], list(netflow.iter_parse(b"", framing="concatenated")))
"""
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=300)
    assert found.stdout.strip() == "1 NetFlow version 5 datagram []"

"""Errors show the meaning of their code, as the spec states it, everywhere."""

import importlib
import json
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from conftest import GENERATED
from support.databus_events import built, damaged
from wireloom import pipeline
from wireloom.cli.app import app
from wireloom.ingest.job.batch import ingest
from wireloom.ingest.job.local import LocalEngine
from wireloom.ingest.plan import CODES as OF_INGEST
from wireloom.ingest.plan import Job, Plan, Replay
from wireloom.ingest.quarantine.replay import replay
from wireloom.pipeline import Project
from wireloom.runtime.codes import CODES
from wireloom.runtime.engine import Request
from wireloom.runtime.errors import DecodeError
from wireloom_formats import databus_event

SPEC = """wireloom: 1
format: framed
title: A frame
encoding: binary
framing: {prefix: uint8}
errors:
  bad_magic: The frame does not begin with F5 5E.
  bad_order: The range ends before it starts.
  bad_kind: |
    A kind that
    frames do not have.
root: Frame
types:
  Frame:
    fields:
      - magic: {type: uint16, const: 0xF55E, else: bad_magic, hidden: true}
      - kind: {type: uint8, values: {1: first, 2: second}, else: bad_kind}
      - first: uint8
      - last: uint8
      - check: {that: first <= last, else: bad_order}
"""
BAD = {
    "000001 0102": ("bad_magic", "The frame does not begin with F5 5E."),
    "f55e03 0102": ("bad_kind", "A kind that frames do not have."),
    "f55e01 0502": ("bad_order", "The range ends before it starts."),
    "f55e01 01": ("truncated", CODES["truncated"]),
    "f55e01 0102 03": ("trailing_bytes", CODES["trailing_bytes"]),
}


def made(folder: Path, name: str, spec: str) -> ModuleType:
    """The module of a spec."""
    (folder / "specs").mkdir()
    (folder / "specs" / f"{name}.yaml").write_text(spec, encoding="utf-8")
    pipeline.generate(Project(folder / "specs", folder / "generated", f"wireloom_{name}"))
    sys.path.insert(0, str(folder / "generated"))
    try:
        return importlib.import_module(f"wireloom_{name}.{name}")
    finally:
        sys.path.remove(str(folder / "generated"))


@pytest.fixture(name="framed", scope="module")
def _framed(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return made(tmp_path_factory.mktemp("framed"), "framed", SPEC)


@pytest.fixture(name="noted", scope="module")
def _noted(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return made(tmp_path_factory.mktemp("noted"), "noted", FIELDS)


@pytest.mark.parametrize("data", BAD)
def test_an_error_says_what_its_spec_says_of_the_code(framed: ModuleType, data: str) -> None:
    code, meaning = BAD[data]
    with pytest.raises(DecodeError) as raised:
        framed.parse(bytes.fromhex(data))
    assert (raised.value.code, raised.value.meaning) == (code, meaning)
    assert meaning in str(raised.value)
    [error] = framed.decode(pa.array([bytes.fromhex(data)])).errors.to_pylist()
    assert (error["code"], error["meaning"]) == (code, meaning)
    request = Request("record", framed.CODEC.settings({}))
    [parsed] = framed.CODEC.decode_parsed(pa.array([bytes.fromhex(data)]), request).errors.to_pylist()
    assert error == parsed


TOLD = {
    "0000 05 02 9a f0 10 01": (0, "0xF55E", "0x0000"),
    "f55e 05 02 9a f0 10 01": (2, "first <= last", "first 5, last 2"),
    "f55e 01 02 90 f0 10 01": (4, "one of 0x9A (a), 0x9B (b)", "0x90"),
    "f55e 01 02 9a 0f 10 01": (5, "mask & 0xF0 == 0xF0 or mask in [0x01, 0x02]", "mask 0x0F"),
    "f55e 01 02 9a f0 20 01": (6, "0x10 .. 0x1F", "0x20"),
    "f55e 09 09 9a f0 10 01": (3, "total < 18", "total 18"),
    "f55e 01 02 9a f0 10 09": (8, "one of 0x01, 0x02", "0x09"),
}
FIELDS = """wireloom: 1
format: noted
title: Numbers as the spec writes them
encoding: binary
root: Noted
types:
  Noted:
    fields:
      - magic: {type: uint16, const: 0xF55E, hidden: true}
      - first: uint8
      - last: uint8
      - check: {that: first <= last, else: bad_size}
      - total: {type: uint8, compute: first + last}
      - check: {that: total < 18, else: bad_size}
      - kind: {type: uint8, values: {0x9A: a, 0x9B: b}}
      - mask: uint8
      - check: {that: "(mask & 0xF0) == 0xF0 or mask in [0x01, 0x02]", else: bad_size}
      - bounded: {type: uint8, range: 0x10 .. 0x1F}
      - tag: uint8
      - body: {type: {select: tag, cases: {0x01: One, 0x02: Two}}}
  One: {fields: [{one: uint8}]}
  Two: {fields: [{two: uint16}]}
"""


@pytest.mark.parametrize("data", TOLD)
def test_an_error_shows_what_it_looked_at_as_the_spec_writes_it(noted: ModuleType, data: str) -> None:
    with pytest.raises(DecodeError) as raised:
        noted.parse(bytes.fromhex(data))
    assert (raised.value.offset, raised.value.expected, raised.value.actual) == TOLD[data]
    [error] = noted.decode(pa.array([bytes.fromhex(data)])).errors.to_pylist()
    assert (error["offset"], error["expected"], error["actual"]) == TOLD[data]


DIGITS = {
    "{type: dec, delimiter: '20'}": ("32783020", "up to 20 decimal digits and then ' '", "'2x'"),
    "{type: sdec, delimiter: 0d0a}": ("2d2d310d0a", "up to 20 decimal digits and then 0d 0a", "'-'"),
    "dec3": ("327830", "3 decimal digits", "'2x0'"),
    "sdec1": ("2a31", "1 decimal digit after a sign", "'*1'"),
    "hex2": ("0a67", "2 hexadecimal digits", "0a 67"),
    "oct3": ("313938", "3 octal digits", "'198'"),
    "packed3": ("1a2c", "3 decimal digits and a sign, two in each byte", "1a 2c"),
    "bcd3": ("1234", "3 decimal digits in BCD", "12 34"),
    "uzoned2": ("f040", "2 decimal digits in EBCDIC", "f0 40"),
    "zoned2": ("f041", "2 decimal digits in EBCDIC, one with a sign", "f0 41"),
    "overpunch2": ("3020", "2 decimal digits in ASCII, one with a sign", "30 20"),
}
"""Types of digits, bytes that are no number of the type, and what the error says."""


DIGITS_SPEC = """wireloom: 1
format: digits
title: Numbers in digits
encoding: binary
root: Record
types:
  Record: {{fields: [{{kind: uint8}}, {{body: {{type: {{select: kind, cases: {{{cases}}}}}}}}}]}}
{types}
"""


@pytest.fixture(name="digits", scope="module")
def _digits(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    cases = ", ".join(f"{kind}: T{kind}" for kind, _ in enumerate(DIGITS))
    types = "\n".join(f"  T{kind}: {{fields: [{{n: {type}}}]}}" for kind, type in enumerate(DIGITS))
    return made(tmp_path_factory.mktemp("digits"), "digits", DIGITS_SPEC.format(cases=cases, types=types))


@pytest.mark.parametrize("type", DIGITS)
def test_an_error_of_digits_says_which_digits_are_expected(digits: ModuleType, type: str) -> None:
    data, expected, actual = DIGITS[type]
    record = bytes([list(DIGITS).index(type)]) + bytes.fromhex(data)
    with pytest.raises(DecodeError) as raised:
        digits.parse(record)
    assert (raised.value.code, raised.value.offset) == ("int_range", 1)
    assert (raised.value.expected, raised.value.actual) == (expected, actual)
    [error] = digits.decode(pa.array([record])).errors.to_pylist()
    assert (error["expected"], error["actual"]) == (expected, actual)


TOTALS = """wireloom: 1
format: totals
title: Totals
encoding: binary
root: File
errors: {bad_count: Another count., bad_total: Another total.}
types:
  File:
    fields:
      - count: uint8
      - total: uint8
      - parts: list(Part)
      - check: {that: count == count(parts), else: bad_count}
      - check: {that: total == sum(parts.length), else: bad_total}
  Part: {fields: [{length: uint8}]}
"""


def test_an_error_of_a_count_or_a_sum_shows_the_number(tmp_path: Path) -> None:
    totals = made(tmp_path, "totals", TOTALS)
    for data, code, actual in (
        ("03 07 0304", "bad_count", "count 3, count(parts) 2"),
        ("02 08 0304", "bad_total", "total 8, sum(parts.length) 7"),
    ):
        with pytest.raises(DecodeError) as raised:
            totals.parse(bytes.fromhex(data))
        assert (raised.value.code, raised.value.actual) == (code, actual)


EBCDIC = """wireloom: 1
format: ebcdic
title: Texts in EBCDIC
encoding: binary
root: Record
types:
  Record:
    charset: cp037
    fields:
      - head: {type: str(1), const: H, hidden: true}
      - kind: {type: str(1), values: {D: detail, T: trailer}}
      - kinds: {type: list(str(1)), count: 1, values: {D: detail, T: trailer}}
      - tag: str(1)
      - body: {type: {select: tag, cases: {A: Empty, B: Empty, C: {error: refused}}}}
  Empty: {fields: []}
errors: {refused: Not now.}
"""


MANY = """wireloom: 1
format: many
title: A choice of many
encoding: binary
root: Record
types:
  Record: {fields: [{tag: uint8}, {body: {type: {select: tag, cases: {0 .. 99: Empty}}}}]}
  Empty: {fields: []}
"""


def test_an_unknown_case_lists_the_first_of_many(tmp_path: Path) -> None:
    with pytest.raises(DecodeError) as raised:
        made(tmp_path, "many", MANY).parse(b"\xff")
    assert raised.value.expected == "one of 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, ..."


def test_a_text_of_another_character_set_is_shown_as_text(tmp_path: Path) -> None:
    ebcdic = made(tmp_path, "ebcdic", EBCDIC)
    for text, expected, actual in (
        ("XDD", "'H'", "'X'"),
        ("HXD", "one of 'D' (detail), 'T' (trailer)", "'X'"),
        ("HDX", "one of 'D' (detail), 'T' (trailer)", "'X'"),
        ("HDDX", "one of 'A', 'B'", "'X'"),
        ("HDDC", "one of 'A', 'B'", "'C'"),
    ):
        with pytest.raises(DecodeError) as raised:
            ebcdic.parse(text.encode("cp037"))
        assert (raised.value.expected, raised.value.actual) == (expected, actual)


def test_what_a_stream_finds_has_a_meaning_too(framed: ModuleType) -> None:
    [record] = framed.iter_parse(b"\x05\xf5", on_error="skip")
    assert record.error.meaning == CODES["truncated"]
    [part] = framed.decode_stream(b"\x05\xf5", on_error="skip")
    assert [error["meaning"] for error in part.errors.to_pylist()] == [CODES["truncated"]]


def test_every_code_that_a_format_or_the_job_may_report_has_a_meaning(framed: ModuleType) -> None:
    assert framed.CODES
    assert all(framed.CODES.values())
    assert all(CODES.values())
    assert all(OF_INGEST.values())


PLAN = Plan(databus_event.__name__, databus_event.FORMAT, databus_event.DIGEST)
MEANING = databus_event.CODES["value_crc"]


def quarantined(home: Path) -> list[dict[str, object]]:
    files = sorted((home / "quarantine").rglob("*.parquet"))
    return [row for path in files for row in pq.ParquetFile(path).read().to_pylist()]


@pytest.fixture(name="home")
def _home(tmp_path: Path) -> Path:
    """The tables of a file with one bad record."""
    (tmp_path / "a").write_bytes(built(1) + damaged(built(2)) + built(3))
    ingest(LocalEngine(1), Job(PLAN, str(tmp_path / "a"), str(tmp_path / "out")))
    return tmp_path / "out"


def without_meanings(home: Path) -> None:
    """Make a quarantine one of earlier releases, which lacks the column."""
    for path in (home / "quarantine").rglob("*.parquet"):
        pq.write_table(pq.ParquetFile(path).read().drop_columns(["meaning"]), path)
    for path in home.rglob("*"):
        if path.is_file() and '"terms"' in (text := path.read_bytes().decode("utf-8", "replace")):
            entry = json.loads(text)
            fields = entry["terms"]["quarantine"]["fields"]
            assert fields.pop([field["name"] for field in fields].index("meaning"))
            path.write_text(json.dumps(entry), encoding="utf-8")


def test_a_quarantine_says_what_the_codes_mean(home: Path) -> None:
    [row] = quarantined(home)
    assert row["meaning"] == databus_event.CODES[row["code"]]
    shown = CliRunner().invoke(app, ["status", str(home)])
    assert row["meaning"] in shown.output


def test_a_quarantine_that_lacks_meanings_is_added_to(home: Path, tmp_path: Path) -> None:
    without_meanings(home)
    (tmp_path / "b").write_bytes(damaged(built(4)))
    ingest(LocalEngine(1), Job(PLAN, str(tmp_path / "b"), str(home), append=True))
    assert Counter(row.get("meaning") for row in quarantined(home)) == {None: 1, MEANING: 1}
    assert CliRunner().invoke(app, ["status", str(home)]).exit_code == 0


def test_a_quarantine_that_lacks_meanings_is_replayed(home: Path) -> None:
    without_meanings(home)
    lenient = Plan(*(PLAN.module, PLAN.format, PLAN.digest), framing="none", parameters=(("verifyCrc", False),))
    done = replay(LocalEngine(1), Replay(lenient, str(home / "quarantine"), str(home)))
    assert (done.summary.records, done.summary.decoded) == (1, 1)
    assert quarantined(home) == []


def test_the_command_line_shows_the_meaning_of_a_code(home: Path) -> None:
    words = ("decode", "databus_event", str(home.parent / "a"), "--out", str(GENERATED))
    shown = CliRunner().invoke(app, words)
    assert databus_event.CODES[quarantined(home)[0]["code"]] in shown.output

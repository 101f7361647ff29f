"""A record that refers to a long table entry many times is refused, instead of expanding to gigabytes of columns."""

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from wireloom.ingest.files import records, values
from wireloom.ingest.files.finding import Listing
from wireloom.ingest.files.ranges import Part
from wireloom.ingest.plan import Plan
from wireloom.runtime.codec import Codec
from wireloom.runtime.errors import DecodeError
from wireloom.runtime.streams import budget, parts
from wireloom_formats import kpl_record

KEY, TIMES = b"k" * 100_000, 25_000


@pytest.fixture(scope="module")
def aggregate() -> bytes:
    """A quarter of a megabyte that would be two and a half gigabytes."""
    message = b"\x0a\xa0\x8d\x06" + KEY + b"\x1a\x04\x08\x00\x1a\x00" * TIMES
    return b"\xf3\x89\x9a\xc2" + message + hashlib.md5(message, usedforsecurity=False).digest()


def test_the_parser_refuses_it_where_it_is_too_much(aggregate: bytes) -> None:
    """67 108 864 bytes are 671 keys; the next is refused at its own path."""
    with pytest.raises(DecodeError) as refusal:
        kpl_record.parse(aggregate)
    assert (refusal.value.code, refusal.value.path) == ("size_limit", "message.records[671].partition_key_index")


@pytest.mark.parametrize("columns", [None, ["kind"], ["lost"]], ids=str)
def test_the_engine_gives_one_error_whatever_is_asked_for(aggregate: bytes, columns: list[str] | None) -> None:
    """A projection never changes which records are good."""
    plain = b"plain"
    decoded = kpl_record.decode(pa.array([plain, aggregate, plain]), columns)
    assert decoded.errors.field("code").to_pylist() == [None, "size_limit", None]
    assert decoded.records.is_valid().to_pylist() == [True, False, True]


# --- records that suddenly expand, behind many that did not -----------------------------------------------------------

MADE = 1 << 20
PLAN = Plan(kpl_record.__name__, kpl_record.FORMAT, kpl_record.DIGEST, framing="none")


def aggregated(key: bytes, times: int) -> bytes:
    size = bytes([len(key) & 0x7F | 0x80, len(key) >> 7 & 0x7F | 0x80, len(key) >> 14])
    message = b"\x0a" + size + key + b"\x1a\x04\x08\x00\x1a\x00" * times
    return b"\xf3\x89\x9a\xc2" + message + hashlib.md5(message, usedforsecurity=False).digest()


MODEST, EXPANDING = aggregated(b"k" * 10, 2), aggregated(b"k" * 20_000, 40)
SERIES = [MODEST] * 3_000 + [EXPANDING] * 30
ROWS = 3_000 * 2 + 30 * 40
LARGEST = 40 * 20_100


def of_stream(_: Path) -> Iterator[tuple[int, int]]:
    data = b"".join(len(record).to_bytes(4, "big") + record for record in SERIES)
    for part in kpl_record.decode_stream(data, framing="length-prefixed", explode=True):
        yield len(part.records), part.records.nbytes


def of_other_prefixes(_: Path) -> Iterator[tuple[int, int]]:
    data = b"".join(len(record).to_bytes(4, "little") + record for record in SERIES)
    for part in kpl_record.decode_stream(data, framing="prefix:uint32:little", explode=True):
        yield len(part.records), part.records.nbytes


def of_values(_: Path) -> Iterator[tuple[int, int]]:
    for found in values.values_of(PLAN, [pa.record_batch({values.DATA: pa.array(SERIES, pa.binary())})]):
        yield len(found.rows), found.rows.nbytes


def of_small_files(home: Path) -> Iterator[tuple[int, int]]:
    for number, record in enumerate(SERIES[2_000:]):
        (home / f"{number:05}").write_bytes(record)
    files = sorted(Listing((str(home),)).files(), key=lambda file: file.path)
    for found in records.ranges_of(PLAN, [Part(file, 0, file.size, 0) for file in files]):
        yield len(found.rows), found.rows.nbytes
    yield 2_000 * 2, 0


@pytest.mark.parametrize("native", [True, False], ids=["by the engine", "by the parser"])
@pytest.mark.parametrize("read", [of_stream, of_other_prefixes, of_values, of_small_files])
def test_records_that_suddenly_expand_make_no_more_columns_at_once_than_there_is_room_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, read: Callable[[Path], Iterator[tuple[int, int]]], native: bool
) -> None:
    for module, name in ((parts, "MADE"), (records, "MADE"), (values, "MADE_BYTES"), (budget, "MADE")):
        monkeypatch.setattr(module, name, MADE)
    if not native:
        monkeypatch.setattr(Codec, "engine", None)
    made = list(read(tmp_path))
    assert sum(rows for rows, _ in made) == ROWS
    assert max(size for _, size in made) < 2 * (MADE + LARGEST)
    assert max(rows for rows, _ in made) > 600, "modest ones are decoded many at a time"

"""Digests that the engine checks in batches, and its CRCs, give the same results as single ones."""
# ruff: noqa: S311 - no secrets are made

import random

import pyarrow as pa
import pytest

import differential
import engine_data as data
from wireloom.runtime import engine as engines
from wireloom.runtime.parsers.checksums import Crc, Sum

pytestmark = pytest.mark.skipif(not engines.available(), reason="the native engine is not built")


@pytest.fixture(name="engine", scope="module")
def _engine():
    return data.engine("kpl_record")


def request(engine, *, explode=False, **settings):
    return engines.Request(engine.codec.default_root, engine.codec.settings(settings), None, explode)


def records(share, count=300, seed=2):
    """Aggregates of all sizes, a share of them with something damaged: the digest, the message or the magic."""
    source = random.Random(seed)
    whole = [
        data.kpl(1, source.choice((1, 2, 3, 9, 60)), source.choice((0, 1, 30, 43, 44, 200)))[0] for _ in range(count)
    ]
    return [_damaged(source, record) if source.random() < share else record for record in whole]


def _damaged(source, record):
    place = source.choice((len(record) - 1, len(record) - 16, 4, len(record) // 2, 0))
    return record[:place] + bytes([record[place] ^ 0x41]) + record[place + 1 :]


@pytest.mark.parametrize("share", [0, 0.02, 0.3, 0.95, 1])
@pytest.mark.parametrize("settings", [{}, {"on_corrupt": "passthrough"}], ids=str)
def test_damaged_records_among_good_ones_are_read_as_the_parser_reads_them(engine, share, settings):
    assert differential.compare(engine, records(share), request(engine, **settings)) == []


@pytest.mark.parametrize("share", [0, 0.1, 1])
def test_a_record_is_the_same_alone_and_among_others(engine, share):
    some = records(share, 120, 3)
    whole = engine.decode(pa.array(some, pa.binary()), request(engine))
    for row, record in enumerate(some):
        alone = engine.decode(pa.array([record], pa.binary()), request(engine))
        assert alone.records.equals(whole.records[row : row + 1])
        assert alone.errors.equals(whole.errors[row : row + 1])


@pytest.mark.parametrize("budget", [1, 7, 64, 1000])
def test_batches_end_where_they_would_if_each_digest_were_checked_at_once(engine, budget):
    array = pa.array([None, *records(0.2), None], pa.binary())
    lists = engine.decode(array, request(engine)).records.field("records")
    counts = [len(rows) if rows is not None else 0 for rows in lists.to_pylist()]
    ends, rows = [], 0
    for row, count in enumerate(counts):
        rows += count
        if rows >= budget or row == len(counts) - 1:
            ends.append(row)
            rows = 0
    parts = list(engine.batches(array, request(engine, explode=True), budget))
    assert [part.parents[-1].as_py() for part in parts] == ends


def test_the_eight_digests_of_a_group_are_those_of_hashlib(engine):
    """Sizes around the padding's edges, all in one group: each is right, and each wrong bit is seen."""
    sizes = (*range(36, 64), *range(100, 128), 500)
    whole = [data.kpl(1, 1, size)[0] for size in sizes]
    kinds = engine.decode(pa.array(whole, pa.binary()), request(engine)).records.field("kind")
    assert set(kinds.to_pylist()) == {"aggregated"}
    for place in range(len(whole)):
        broken = [*whole[:place], whole[place][:-1] + bytes([whole[place][-1] ^ 1]), *whole[place + 1 :]]
        kinds = engine.decode(pa.array(broken, pa.binary()), request(engine)).records.field("kind").to_pylist()
        assert [row for row, kind in enumerate(kinds) if kind == "plain"] == [place]


@pytest.mark.parametrize("width", [*range(8, 65, 8), 11, 15, 31, 40, 63])
@pytest.mark.parametrize("reflected", [True, False])
def test_a_crc_is_the_same_by_multiplication_by_tables_and_in_python(width, reflected):
    source = random.Random(width)
    for size in (*range(70), *range(120, 300, 7), 4096, 5003):
        poly, init, xorout = source.getrandbits(width) | 1, source.getrandbits(width), source.getrandbits(width)
        text = source.randbytes(size)
        wanted = Crc(width, poly, init, xorout, reflected)(text)
        for tables in (False, True):
            assert engines.module().crc_value((width, poly, init, xorout, reflected), text, tables=tables) == wanted


@pytest.mark.parametrize(
    ("rule", "width", "modulus"),
    [*(("add", width, 0) for width in range(8, 65, 8)), ("xor", 8, 0), ("internet", 16, 0)]
    + [("fletcher", width, modulus) for width in (16, 32) for modulus in (2, 255, 1 << width // 2)],
)
def test_a_sum_is_the_same_in_the_engine_and_in_python(rule, width, modulus):
    source = random.Random(width)
    for size in (*range(20), 4095, 4096, 4097, 20000):
        init, xorout = source.randrange(modulus or 1 << width), source.getrandbits(width)
        text = source.choice([source.randbytes(size), b"\xff" * size])
        wanted = Sum(rule, width=width, init=init, xorout=xorout, modulus=modulus)(text)
        assert engines.module().crc_value((rule, width, modulus, init, xorout), text) == wanted

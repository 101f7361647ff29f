"""The engine reuses memory between batches, but never memory that a result still uses."""

import gc
import io
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pyarrow as pa
import pytest

import engine_data as data
from wireloom.runtime import engine as engines
from wireloom_formats import aerospike_json, databus_event

pytestmark = pytest.mark.skipif(not engines.available(), reason="the native engine is not built")


@pytest.fixture(name="engine", scope="module")
def _engine():
    return data.engine("kpl_record")


def decoded(engine, count, size):
    """The user records of aggregates that take some megabytes."""
    array = pa.array(data.kpl(count, 100, size), pa.binary())
    request = engines.Request(engine.codec.default_root, engine.codec.settings({}), None, explode=True)
    return engine.decode(array, request).records


def sums(records):
    """A hash of the bytes, which changes with any of them."""
    return hash(bytes(records.field("data").buffers()[2]))


@pytest.mark.thorough
def test_results_that_are_held_stay_as_they_are(engine):
    held = [decoded(engine, count, 400) for count in (30, 60, 90)]
    before = [sums(each) for each in held]
    for count in (20, 45, 100, 70, 130):
        decoded(engine, count, 300)
        gc.collect()
    assert [sums(each) for each in held] == before


def test_a_slice_keeps_its_memory(engine):
    part = decoded(engine, 60, 400).field("data")[100:200]
    before = part.to_pylist()
    gc.collect()
    decoded(engine, 60, 400)
    assert part.to_pylist() == before


def test_threads_share_what_is_kept(engine):
    wanted = sums(decoded(engine, 40, 400))
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(lambda _: sums(decoded(engine, 40, 400)), range(12))) == {wanted}


SHAPES = [(2000, 1, 40), (30, 100, 400), (3, 4, 200_000), (400, 30, 8), (1, 1, 1), (2000, 1, 40)]


def test_what_is_foreseen_is_no_more_than_a_guess(engine):
    """Batches unlike those before them, which room was made for, are read as a new engine reads them."""
    request = engines.Request(engine.codec.default_root, engine.codec.settings({}))
    for shape in SHAPES:
        array = pa.array(data.kpl(*shape), pa.binary())
        for given in (array, array.cast(pa.large_binary()), array.cast(pa.binary_view())):
            alone = data.engine("kpl_record").decode(given, request).records
            assert engine.decode(given, request).records.equals(alone)


def test_streams_unlike_those_before_them_are_read_alike():
    codec = replace(databus_event.CODEC)
    for count, size in ((3000, 50), (20, 100_000), (5000, 1), (3000, 50)):
        stream = b"".join(data.databus(count, size))
        assert records(codec, stream).equals(records(replace(codec), stream))


def records(codec, stream):
    """The records that a codec decodes from a stream."""
    found = pa.concat_arrays([batch.records for batch in codec.decode_stream(io.BytesIO(stream))])
    assert found.null_count == 0
    return found


def test_rows_unlike_those_before_them_are_written_alike():
    codec = replace(aerospike_json.CODEC)
    columns = codec.decode(pa.array(data.aerospike_json(3000), pa.binary())).records
    for first, count in ((0, 3000), (0, 1), (10, 200), (0, 3000)):
        rows = columns.slice(first, count)
        assert codec.encode(rows).equals(replace(codec).encode(rows))

"""Memory that the engine keeps for the next batch: what somebody holds is never written again."""

import gc
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pytest

sys.path[:0] = [str(Path(__file__).parent / "bench")]

import engine_data as data  # noqa: E402

from wireloom.runtime import engine as engines  # noqa: E402

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
    """What changes where any byte does."""
    return hash(bytes(records.field("data").buffers()[2]))


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

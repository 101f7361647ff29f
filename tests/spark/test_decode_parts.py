"""Decoded rows leave an executor in parts with limited rows and kept columns."""

import pyarrow as pa

from wireloom.spark import decode
from wireloom.spark.decoding import decoding
from wireloom.spark.options import Options
from wireloom_formats import kpl_record

AGGREGATE = bytes.fromhex(
    "f3899ac20a01610a0162120234321a0708001a036f6e651a09080110001a0374776f1a0408001a00a49c195c0d4fc03c21c19a9a7b30f752"
)


def run(kept, values):
    made = decoding(kpl_record, Options("PERMISSIVE", "raw", "wrong"), explode=True)
    work = decode._Work(made, ("kept", "record", "raw", "wrong"), nested=True)
    batch = pa.RecordBatch.from_arrays([pa.array(kept), pa.array(values, pa.binary())], ["kept", "value"])
    return list(decode._batches(work, [batch]))


def test_exploded_rows_leave_in_parts_near_the_budget(monkeypatch):
    monkeypatch.setattr(decode, "ROW_BUDGET", 6)
    made = run(list(range(8)), [AGGREGATE, None, b"plain", *[AGGREGATE] * 5])
    rows = [(row["kept"], row["record"] and row["record"]["data"]) for batch in made for row in batch.to_pylist()]
    three = [b"one", b"two", b""]
    assert rows == [
        *((0, data) for data in three),
        (1, None),
        (2, b"plain"),
        *((number, data) for number in range(3, 8) for data in three),
    ]
    assert len(made) > 1
    assert max(batch.num_rows for batch in made) <= 6 + 3


def test_kept_columns_that_would_grow_too_large_leave_in_smaller_parts(monkeypatch):
    monkeypatch.setattr(decode, "KEPT_BYTES", 20)
    made = run([b"x" * 9, b"y"], [AGGREGATE, AGGREGATE])
    assert [batch.num_rows for batch in made] == [2, 2, 2]
    assert [row["kept"][:1] for batch in made for row in batch.to_pylist()] == [b"x"] * 3 + [b"y"] * 3


def test_a_batch_of_no_rows_is_a_batch_of_no_rows():
    assert sum(batch.num_rows for batch in run(pa.array([], pa.string()), [])) == 0

"""Decoding a column of bytes in place: kept, exploded, projected and dropped columns."""

from functools import partial

import pytest
from pyspark.errors import PythonException

from wireloom.runtime.errors import ParameterError
from wireloom.spark.decode import decode
from wireloom_formats import aerospike_msgpack, databus_json, kpl_record
from wireloom_formats.functions import decode_kpl_record

DELETE = bytes.fromhex("9301029594a474657374c0c414000102030405060708090a0b0c0d0e0f10111213c00104c0c0")
AGGREGATE = bytes.fromhex(
    "f3899ac20a01610a0162120234321a0708001a036f6e651a09080110001a0374776f1a0408001a00a49c195c0d4fc03c21c19a9a7b30f752"
)
pytestmark = [pytest.mark.integration, pytest.mark.filterwarnings("default")]


@pytest.fixture(scope="module")
def messages(spark):
    rows = [(1, b"k", DELETE), (2, None, DELETE[:20]), (3, b"n", None)]
    return spark.createDataFrame(rows, "offset long, id binary, value binary").coalesce(1)


@pytest.fixture(scope="module")
def records(spark):
    rows = [("1", AGGREGATE), ("2", b"plain"), ("3", None)]
    return spark.createDataFrame(rows, "sequence string, data binary").coalesce(1)


def test_other_columns_are_kept_and_a_bad_record_has_an_error_and_its_bytes(messages):
    rows = decode(messages, "value", aerospike_msgpack).collect()
    assert [(row.offset, row.id, row.msg) for row in rows] == [
        (1, b"k", "delete"),
        (2, None, None),
        (3, b"n", None),
    ]
    assert [row._corrupt_record for row in rows] == [None, DELETE[:20], None]
    assert [row._error and (row._error.code, row._error.offset) for row in rows] == [None, ("truncated", 11), None]


def test_columns_keep_their_comments(messages):
    frame = decode(messages, "value", aerospike_msgpack)
    assert frame.schema["generation"].metadata["comment"]
    assert frame.schema["_error"].metadata["comment"]


def test_fields_and_kept_columns_are_those_asked_for(messages):
    frame = decode(messages, "value", aerospike_msgpack, fields=["key.namespace", "lut"], keep=["value", "offset"])
    assert frame.columns == ["value", "offset", "key", "lut", "_corrupt_record", "_error"]
    assert [row.key and row.key.asDict() for row in frame.collect()] == [{"namespace": "test"}, None, None]


def test_what_is_malformed_is_dropped_or_fails_the_job(messages):
    dropped = decode(messages, "value", aerospike_msgpack, {"mode": "dropmalformed"})
    assert dropped.columns[:2] == ["offset", "id"]
    assert "_error" not in dropped.columns
    assert [row.offset for row in dropped.collect()] == [1, 3]
    with pytest.raises(PythonException, match=r"truncated at payload\.key\.digest"):
        decode(messages, "value", aerospike_msgpack, {"mode": "FAILFAST"}).collect()


def test_user_records_are_rows_with_the_sequence_of_their_aggregate(records):
    rows = decode_kpl_record(records, "data", keep=["sequence"], into="record").collect()
    places = [(row.sequence, row.record and row.record.subSequenceNumber) for row in rows]
    assert places == [("1", 0), ("1", 1), ("1", 2), ("2", 0), ("3", None)]
    assert [row.record and row.record.data for row in rows] == [b"one", b"two", b"", b"plain", None]


def test_a_record_is_a_row_where_nothing_is_to_be_exploded(records):
    frame = decode(records, records["data"].alias("bytes"), kpl_record, {"explode": "false"}, keep=[], into="it")
    assert [row.it and row.it.kind for row in frame.collect()] == ["aggregated", "plain", None]


def test_the_bytes_of_a_bad_aggregate_stand_beside_its_error_alone(spark):
    keys = [{"namespace": "a", "set": None, "digest": bytes(20), "userKey": number} for number in range(2)]
    good = aerospike_msgpack.build(keys, root="batch_keys")
    frame = spark.createDataFrame([(1, good), (2, b"\xc1"), (3, good)], "offset int, value binary").coalesce(1)
    options = {"root": "batch_keys", "columnNameOfCorruptRecord": "raw", "columnNameOfError": "wrong"}
    rows = decode(frame, "value", aerospike_msgpack, options, fields=["userKey.int"]).collect()
    assert [(row.offset, row.raw, row.wrong is None) for row in rows] == [
        (1, None, True),
        (1, None, True),
        (2, b"\xc1", False),
        (3, None, True),
        (3, None, True),
    ]


def test_lines_of_text_are_decoded_too(spark):
    frame = spark.createDataFrame([("{",)], "value string")
    assert decode(frame, "value", databus_json).first()._error.code


def test_it_is_a_step_of_a_stream(spark, tmp_path, messages):
    messages.write.parquet(str(tmp_path / "in"))
    stream = spark.readStream.schema(messages.schema).parquet(str(tmp_path / "in"))
    events = decode(stream, "value", aerospike_msgpack, fields=["msg"])
    query = events.writeStream.format("memory").queryName("events").trigger(availableNow=True).start()
    query.awaitTermination(120)
    assert sorted(row.offset for row in spark.table("events").collect()) == [1, 2, 3]


def test_a_worker_with_another_spec_says_what_to_do(spark, messages, monkeypatch):
    monkeypatch.setattr(kpl_record, "MEANING", "0" * 64)
    frame = decode(messages, "value", kpl_record)
    with pytest.raises(PythonException, match="the driver of spec 000000000000: ship the same package to both"):
        frame.collect()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (partial(decode, column="valeu"), "no column 'valeu'; did you mean 'value'"),
        (partial(decode, column="offset"), "column offset is bigint; binary or text"),
        (partial(decode, column="value", keep=["offst"]), "did you mean 'offset'"),
        (partial(decode, column="value", into="ID"), "and the format both have the columns ID; put"),
        (partial(decode, column="value", options={"framing": "none"}), "decode has no option 'framing'"),
        (partial(decode, column="value", options={"columnNameOfError": "MSG"}), "a column MSG already"),
    ],
)
def test_a_wrong_call_is_refused_before_anything_runs(messages, call, message):
    with pytest.raises(ParameterError, match=message):
        call(messages, format=aerospike_msgpack)

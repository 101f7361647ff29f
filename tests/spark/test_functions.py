"""Column functions on Spark behave like from_avro: modes, options, nulls, types, SQL."""

import warnings

import pytest
from pyspark.errors import AnalysisException, PythonException
from pyspark.sql import Row
from pyspark.sql import functions as F

from wireloom.runtime.errors import ParameterError
from wireloom.spark import columnar_input, doctor
from wireloom.spark.columnar_input import SETTING
from wireloom.spark.functions import from_format, register, to_format
from wireloom.spark.schemas import arrow_schema
from wireloom_formats import aerospike_json, aerospike_msgpack, databus_event, databus_json, kpl_record
from wireloom_formats import functions as W

pytestmark = [pytest.mark.integration, pytest.mark.filterwarnings("default")]
DELETE = bytes.fromhex("9301029594a474657374c0c414000102030405060708090a0b0c0d0e0f10111213c00104c0c0")
AGGREGATE = bytes.fromhex(
    "f3899ac20a01610a0162120234321a0708001a036f6e651a09080110001a0374776f1a0408001a00a49c195c0d4fc03c21c19a9a7b30f752"
)
PERMISSIVE = {"mode": "PERMISSIVE"}


@pytest.fixture(scope="module")
def messages(spark):
    return spark.createDataFrame([(DELETE,), (DELETE[:20],), (None,)], "value binary").coalesce(1)


def test_a_bad_record_is_null_in_permissive_mode_and_a_null_stays_null(messages):
    rows = messages.select(W.from_aerospike_msgpack("value", PERMISSIVE).alias("event")).collect()
    assert rows[0].event.key.namespace == "test"
    assert [row.event for row in rows[1:]] == [None, None]


def test_a_bad_record_fails_the_job_unless_told_otherwise_and_the_message_says_where_and_what_to_do(messages):
    with pytest.raises(PythonException) as caught:
        messages.select(W.from_aerospike_msgpack("value")).collect()
    assert "truncated at payload.key.digest, byte 11" in str(caught.value)
    assert "PERMISSIVE gives null instead" in str(caught.value)


def test_columns_of_the_error_and_of_the_bytes_are_members_of_the_struct(messages):
    options = {**PERMISSIVE, "columnNameOfError": "_error", "columnNameOfCorruptRecord": "_bytes"}
    event = W.from_aerospike_msgpack(F.col("value"), options, fields=["msg", "key.namespace"])
    good, bad, null = (row.event for row in messages.select(event.alias("event")).collect())
    assert good == Row(msg="delete", key=Row(namespace="test"), _bytes=None, _error=None)
    assert (bad.msg, bad.key, bad._bytes) == (None, None, DELETE[:20])
    assert (bad._error.code, bad._error.path, bad._error.offset) == ("truncated", "payload.key.digest", 11)
    assert null is None


def test_a_wide_struct_warns_once_where_spark_gives_columns_to_arrow_functions(spark):
    before = spark.conf.get(SETTING)
    columnar_input._warn.cache_clear()
    try:
        spark.conf.set(SETTING, "false")
        assert warnings_of(lambda: W.from_aerospike_msgpack("value")) == []
        spark.conf.set(SETTING, "true")
        assert warnings_of(lambda: W.from_aerospike_msgpack("value", fields=["msg", "key.namespace"])) == []
        (said,) = warnings_of(lambda: W.from_aerospike_msgpack("value"))
        assert f'spark.conf.set("{SETTING}", "false")' in str(said.message)
        assert said.filename == __file__
        assert warnings_of(lambda: W.from_aerospike_msgpack("value")) == []
        assert SETTING in doctor._functions(spark).advice
        spark.conf.set(SETTING, "false")
        assert doctor._functions(spark).advice == ""
    finally:
        spark.conf.set(SETTING, before)


def warnings_of(act):
    """The warnings of a call."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        act()
    return caught


def test_the_format_s_parameters_are_options(spark):
    records = spark.createDataFrame([(AGGREGATE,)], "value binary")
    shard = W.from_kpl_record("value", {"shardRange": "0..1"}, fields=["discarded"])
    assert records.select(shard.alias("it")).first().it.discarded == 3


def test_dropping_rows_is_refused_with_sparks_own_error(spark):
    with pytest.raises(AnalysisException) as ours:
        W.from_kpl_record("value", {"mode": "DROPMALFORMED"})
    with pytest.raises(AnalysisException) as theirs:
        spark.range(1).select(F.from_json(F.lit("{}"), "a int", {"mode": "DROPMALFORMED"})).collect()
    assert ours.value.getCondition() == theirs.value.getCondition()
    assert ours.value.getSqlState() == theirs.value.getSqlState()
    assert str(ours.value).split(".")[1:2] == str(theirs.value).split(".")[1:2]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: W.from_kpl_record("value", {"onCorupt": "error"}), "did you mean onCorrupt"),
        (lambda: W.from_kpl_record("value", fields=["recrods"]), "did you mean 'records'"),
        (lambda: W.from_kpl_record("value", {"columns": "kind"}, fields=["kind"]), "both as an argument and"),
        (lambda: W.from_kpl_record("value", {"columnNameOfError": "Kind"}), "a column Kind already"),
        (lambda: W.from_aerospike_msgpack("value", {"root": "batch_keys", "columnNameOfError": "e"}), "use decode"),
        (lambda: W.to_aerospike_msgpack("value", {"root": "batch_keys"}), "is a list of them"),
        (lambda: W.to_kpl_record("value", {"mode": "FAILFAST"}), "to_kpl_record has no option 'mode'"),
    ],
)
def test_a_wrong_call_is_refused_before_anything_runs(spark, call, message):
    with pytest.raises(ParameterError, match=message):
        call()


def test_a_root_that_is_a_list_gives_arrays(spark):
    keys = [{"namespace": "a", "set": None, "digest": bytes(20), "userKey": number} for number in range(3)]
    batches = [aerospike_msgpack.build(keys[:count], root="batch_keys") for count in (3, 0, 1)]
    frame = spark.createDataFrame([(each,) for each in (*batches, b"\xc1", None)], "value binary").coalesce(1)
    options = {**PERMISSIVE, "root": "batch_keys"}
    column = W.from_aerospike_msgpack("value", options, fields=["userKey.int"]).alias("keys")
    wrong = W.validate_aerospike_msgpack("value", {"root": "batch_keys"}).alias("wrong")
    rows = frame.select(column, wrong).collect()
    assert [row["keys"] and [key.userKey.int for key in row["keys"]] for row in rows] == [
        [0, 1, 2],
        [],
        [0],
        None,
        None,
    ]
    assert [row.wrong and len(row.wrong) for row in rows] == [[], [], [], 1, None]


def test_what_was_decoded_can_be_built_again(spark, messages):
    frame = messages.limit(1).select(W.from_aerospike_msgpack("value").alias("event"))
    assert frame.select(W.to_aerospike_msgpack("event").alias("data")).first().data == DELETE
    records = spark.createDataFrame([(AGGREGATE,), (None,)], "value binary").coalesce(1)
    built = records.select(W.to_kpl_record(W.from_kpl_record("value")).alias("data")).collect()
    assert [row.data for row in built] == [AGGREGATE, None]


def test_validation_lists_every_problem_of_a_text(spark):
    texts = ['{"a": ', None, '{"opcode":"UPSERT","sequence":"1","srcId":99999}']
    lines = spark.createDataFrame([(text,) for text in texts], "value string").coalesce(1)
    rows = lines.select(W.validate_databus_json("value").alias("wrong")).collect()
    assert [each.rule for each in rows[0].wrong] == ["truncated"]
    assert rows[1].wrong is None
    listed = [tuple(each.asDict().values()) for each in rows[2].wrong]
    alone = databus_json.validate(texts[2])
    assert listed == [(each.path, each.rule, each.message, each.expected, each.actual, each.pointer) for each in alone]
    assert len(listed) > 2


def test_records_become_those_of_another_format(spark, messages):
    frame = messages.select(W.convert_aerospike_msgpack("value", "aerospike_json").alias("made"))
    good, bad, null = frame.select("made.*").collect()
    assert aerospike_json.parse(bytes(good.data)) == aerospike_msgpack.parse(DELETE)
    assert (good.error, good.lost) == (None, [])
    assert bad.data is None
    assert bad.error.startswith("truncated at payload.key.digest")
    assert null.asDict() == {"data": None, "error": None, "lost": None}
    with pytest.raises(ParameterError, match="no column of the same name"):
        W.convert_kpl_record("value", "aerospike_json", target_options={"root": "key"})


def test_values_of_any_type_are_variant_or_json_or_their_bytes(spark):
    value = aerospike_msgpack.build(
        {
            "msg": "write",
            "key": {"namespace": "n", "set": None, "digest": bytes(20), "userKey": None},
            "generation": 1,
            "expiry": 0,
            "lut": 1,
            "bins": [{"name": "b", "type": "LIST", "flags": 0, "value": [1, "two"]}],
        }
    )
    frame = spark.createDataFrame([(value,)], "value binary")
    fields = ["bins.value.variant"]
    shown = frame.select(
        W.from_aerospike_msgpack("value", fields=fields).bins[0]["value"]["variant"].cast("string").alias("variant"),
        W.from_aerospike_msgpack("value", {"openValues": "json"}, fields=fields).bins[0]["value"]["variant"].alias("j"),
        W.from_aerospike_msgpack("value", {"openValues": "binary"}, fields=fields)
        .bins[0]["value"]["variant"]
        .alias("b"),
    ).first()
    assert shown.variant == '[1,"two"]'
    assert "two" in shown.j
    assert bytes(shown.b) == b"\x92\x01\xa3two"


def test_the_schema_is_text_that_spark_reads_as_the_column_s_type(spark, messages):
    options = {**PERMISSIVE, "columnNameOfError": "_error"}
    for fields in (None, ["bins.value", "msg", "key.userKey.int"]):
        text = messages.limit(1).select(W.schema_of_aerospike_msgpack(options, fields=fields)).first()[0]
        frame = messages.select(W.from_aerospike_msgpack("value", options, fields=fields).alias("event"))
        assert frame.schema["event"].dataType.simpleString() == text
        assert spark.createDataFrame([], f"event {text}").schema == frame.schema


@pytest.mark.parametrize("module", [aerospike_msgpack, databus_event, databus_json, kpl_record])
def test_the_type_of_the_column_is_that_of_the_arrow_array(spark, messages, module):
    frame = messages.where("value is null").select(from_format(module, "value").alias("event"))
    assert frame.first().event is None
    whole = module.decode(pa_nothing()).records.type
    assert arrow_schema(frame.schema).field("event").type.equals(whole)


def pa_nothing():
    import pyarrow as pa

    return pa.array([], pa.binary())


def test_functions_of_sql_take_options_as_a_constant_map(spark, messages):
    W.register(spark)
    messages.createOrReplaceTempView("messages")
    columns = [
        "from_aerospike_msgpack(value, map('mode', 'PERMISSIVE')).key.namespace AS namespace",
        "validate_aerospike_msgpack(value).rule AS rules",
        "to_aerospike_msgpack(from_aerospike_msgpack(value, map('Mode', 'permissive'))) = value AS same",
        "schema_of_aerospike_msgpack() AS type",
    ]
    rows = spark.sql(f"SELECT {', '.join(columns)} FROM messages").collect()  # noqa: S608 - constants
    assert [(row.namespace, row.rules, row.same) for row in rows] == [
        ("test", [], True),
        (None, ["truncated"], None),
        (None, None, None),
    ]
    assert rows[0].type.startswith("struct<msg:string,key:struct<namespace:string")


def test_records_become_those_of_another_format_in_sql(spark, messages):
    register(spark, aerospike_msgpack)
    register(spark, aerospike_json)
    messages.createOrReplaceTempView("messages")
    made = "convert_aerospike_msgpack(value, 'aerospike_json', map('Strict', 'true', 'variant', 'current'))"
    back = f"convert_aerospike_json({made}.data, 'aerospike_msgpack')"
    good, bad, null = spark.sql(f"SELECT value, {made} AS made, {back} AS back FROM messages").collect()  # noqa: S608
    assert aerospike_json.parse(bytes(good.made.data)) == aerospike_msgpack.parse(DELETE)
    assert (bytes(good.back.data), good.made.error, good.made.lost) == (DELETE, None, [])
    assert bad.made.error.startswith("truncated at payload.key.digest")
    assert (bad.back, null.made) == (None, None)
    none = spark.sql(
        "SELECT convert_aerospike_msgpack(value, 'aerospike_json') AS it FROM messages WHERE value = x'00'"
    )
    assert none.collect() == []


@pytest.mark.parametrize(
    ("rest", "message"),
    [
        ("'aerospike_jsn'", "did you mean aerospike_json"),
        ("CAST(NULL AS STRING)", "needs the name of the other format"),
        ("IF(value IS NULL, 'aerospike_json', 'databus_json')", "the same in all rows: a constant text"),
        ("'aerospike_json', map('strictt', 'true')", "did you mean strict"),
        ("'aerospike_json', map('strict', 'yes')", "strict must be true or false, not 'yes'"),
        ("'aerospike_json', map('target.rot', 'key')", "has no option 'rot'; did you mean root"),
        ("'aerospike_json', map('target.root', 'nothing')", "aerospike_json has no root 'nothing'"),
        ("'kpl_record'", "no column of the same name"),
    ],
)
def test_a_conversion_in_sql_that_does_not_fit_says_what_would_be_right(spark, messages, rest, message):
    register(spark, aerospike_msgpack)
    messages.coalesce(1).createOrReplaceTempView("messages")
    with pytest.raises(PythonException, match=message):
        spark.sql(f"SELECT convert_aerospike_msgpack(value, {rest}) FROM messages").collect()  # noqa: S608 - constants


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ("map('columnNameOfError', '_e')", "has no option 'columnNameOfError'"),
        ("map('variant', 'new')", "option variant: variant must be one of current, legacy"),
        ("map('mode', IF(value IS NULL, 'PERMISSIVE', 'FAILFAST'))", "a constant map"),
    ],
)
def test_options_of_sql_that_do_not_fit_fail_with_what_would_be_right(spark, messages, second, message):
    register(spark, aerospike_msgpack)
    messages.createOrReplaceTempView("messages")
    with pytest.raises(PythonException, match=message):
        spark.sql(f"SELECT from_aerospike_msgpack(value, {second}) FROM messages").collect()  # noqa: S608 - constants


def test_options_of_the_registration_are_what_sql_starts_from(spark, messages):
    register(spark, aerospike_msgpack, {**PERMISSIVE, "columnNameOfError": "bad", "variant": "legacy"}, fields=["msg"])
    messages.createOrReplaceTempView("messages")
    rows = spark.sql("SELECT it.* FROM (SELECT from_aerospike_msgpack(value) AS it FROM messages)").collect()
    assert [(row.msg, row.bad and row.bad.code) for row in rows] == [
        ("delete", None),
        (None, "truncated"),
        (None, None),
    ]


def test_a_value_that_the_format_lacks_fails_the_job(spark):
    frame = spark.range(1).select(F.named_struct(F.lit("kind"), F.lit("nothing")).alias("it"))
    with pytest.raises(PythonException, match="EncodeError"):
        frame.select(to_format(kpl_record, "it")).collect()


def test_the_functions_work_on_columns_that_come_in_columns(spark, messages, tmp_path):
    messages.write.parquet(str(tmp_path / "messages"))
    frame = spark.read.parquet(str(tmp_path / "messages"))
    events = frame.select(W.from_aerospike_msgpack("value", PERMISSIVE).alias("event"))
    assert "ArrowEvalPython" in events._jdf.queryExecution().toString()
    assert [row.generation for row in events.select("event.generation").collect() if row.generation] == [4]

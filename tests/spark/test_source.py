"""The data source `wireloom`, read and written in batches, found by Spark itself."""

import dataclasses
import os
import random
from concurrent.futures import ThreadPoolExecutor

import pytest
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql.functions import col, lit, udf, when

from conftest import CASE_PACKAGE, case_formats, shipped_formats
from support.databus_events import LONG_KEY
from wireloom.catalog import open_format, open_package
from wireloom.demo.samples import samples, stream
from wireloom.runtime.errors import ContractError, EncodeError
from wireloom.runtime.streams.framing import framing_of
from wireloom.runtime.values import sourceless
from wireloom.spark.source import register
from wireloom.spark.source.options import READS, CheckedOptions
from wireloom.spark.source.read import batches
from wireloom_formats import databus_event, kpl_record

pytestmark = [pytest.mark.integration, pytest.mark.filterwarnings("default")]
AGGREGATE = bytes.fromhex(
    "f3899ac20a01610a0162120234321a0708001a036f6e651a09080110001a0374776f1a0408001a00a49c195c0d4fc03c21c19a9a7b30f752"
)
SHIPPED = {format.name: format for format in shipped_formats()}


@pytest.fixture
def reads(spark):
    def made(format="databus_event", **options):
        return spark.read.format("wireloom").option("format", format).options(**options)

    return made


def events(*numbers, value=b"hi"):
    parsed = databus_event.parse(LONG_KEY)
    return [databus_event.build({**parsed, "sequence": number, "value": value}) for number in numbers]


def test_files_become_rows_with_their_places(reads, tmp_path):
    (tmp_path / "a.bin").write_bytes(b"".join(events(*range(500))))
    (tmp_path / "b b%20.bin").write_bytes(b"".join(events(*range(500, 700))))
    (tmp_path / "_c.bin").write_bytes(b"hidden")
    frame = reads(columns="sequence,_source,_record,_offset", maxPartitionBytes="8k").load(str(tmp_path))
    rows = frame.collect()
    assert frame.rdd.getNumPartitions() > 4
    assert sorted(row["sequence"] for row in rows) == list(range(700))
    found = next(row for row in rows if row["sequence"] == 600)
    assert found["_source"] == f"file:{tmp_path}/b b%20.bin"
    assert (found["_record"], found["_offset"]) == (100, 100 * len(LONG_KEY))


@pytest.mark.thorough
def test_a_thread_that_registers_the_source_writes_with_it(spark, reads, tmp_path):
    (tmp_path / "a.bin").write_bytes(b"".join(events(1, 2)))
    frame = reads(columns="*").load(str(tmp_path))

    def write():
        register(spark)
        frame.write.format("wireloom").option("format", "databus_event").mode("append").save(str(tmp_path / "out"))

    with ThreadPoolExecutor(1) as thread:
        thread.submit(write).result()
    assert sorted(row["sequence"] for row in reads().load(str(tmp_path / "out")).collect()) == [1, 2]


def test_the_columns_are_those_of_the_format(reads, tmp_path):
    (tmp_path / "a.bin").write_bytes(LONG_KEY)
    frame = reads().load(str(tmp_path))
    expected = databus_event.struct_type()
    assert frame.schema == expected
    assert frame.schema["sequence"].metadata == expected["sequence"].metadata
    assert frame.count() == 1


QUICK = ("databus_event", "databus_json", "kpl_record")  # one of each encoding; open values have tests of their own


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.thorough) for name in SHIPPED]
)
def test_what_is_written_is_read_as_it_was(spark, reads, tmp_path, name):
    import wireloom_formats

    format, module = SHIPPED[name], open_format(wireloom_formats, name)
    framing = "lines" if module.ENCODING == "json" else "length-prefixed"
    records = writable(module, samples(format, module).good)
    (tmp_path / "in").mkdir()
    for part in range(3):
        (tmp_path / "in" / f"{part}.data").write_bytes(stream(framing_of(framing), records[part::3]))
    read = reads(name, framing=framing, mode="FAILFAST", openValues="json").load(str(tmp_path / "in"))
    out = str(tmp_path / "out")
    write = read.write.format("wireloom").option("format", name).option("framing", framing)
    write.mode("append").save(out)
    again = reads(name, framing=framing, mode="FAILFAST", openValues="json").load(out)
    assert sorted(map(str, again.collect())) == sorted(map(str, read.collect()))
    assert again.count() == len(records)


def writable(module, records):
    """The records that can be written from columns; some can only be read."""

    def built(data):
        try:
            return module.build(sourceless(module.parse(data)))
        except EncodeError:
            return None

    found = tuple(data for data in records if built(data) is not None)
    assert len(found) > len(records) / 2
    return found


def test_open_values_are_variants_that_can_be_written(spark, reads, tmp_path):
    import wireloom_formats

    records = samples(SHIPPED["aerospike_msgpack"], open_format(wireloom_formats, "aerospike_msgpack")).good
    (tmp_path / "in").write_bytes(stream(framing_of("length-prefixed"), records))
    options = {"framing": "length-prefixed", "mode": "FAILFAST"}
    read = reads("aerospike_msgpack", **options).load(str(tmp_path / "in"))
    assert "variant" in read.schema.simpleString()
    write = read.write.format("wireloom").options(format="aerospike_msgpack", framing="length-prefixed")
    write.mode("append").save(str(tmp_path / "out"))
    assert reads("aerospike_msgpack", **options).load(str(tmp_path / "out")).count() == len(records)


def test_a_format_of_the_users_own_is_read_and_written(spark, generated_cases, tmp_path):
    package = open_package(CASE_PACKAGE, generated_cases.out)
    module = open_format(package, "sensor_frame")
    (format,) = [each for each in case_formats() if each.name == "sensor_frame"]
    records = samples(format, module).good
    (tmp_path / "in").write_bytes(stream(framing_of(module.CODEC.framing), records))
    options = {"format": "sensor_frame", "package": CASE_PACKAGE}
    read = spark.read.format("wireloom").options(**options, mode="FAILFAST").load(str(tmp_path / "in"))
    read.write.format("wireloom").options(**options).mode("append").save(str(tmp_path / "out"))
    again = spark.read.format("wireloom").options(**options, mode="FAILFAST").load(str(tmp_path / "out"))
    assert sorted(map(str, again.collect())) == sorted(map(str, read.collect()))
    assert again.count() == len(records)


def test_a_schema_asks_for_a_part_of_the_columns_in_its_own_order(spark, reads, tmp_path):
    (tmp_path / "a.bin").write_bytes(AGGREGATE)
    read = reads("kpl_record", framing="none")
    rows = read.schema("_offset long, records array<struct<data binary, partitionKey string>>").load(str(tmp_path))
    assert [list(row.asDict()) for row in rows.collect()] == [["_offset", "records"]]
    assert rows.first()["records"][0].asDict() == {"data": b"one", "partitionKey": "a"}
    named = reads("kpl_record", framing="none", columns="records.data,kind").load(str(tmp_path))
    assert named.schema.simpleString() == "struct<records:array<struct<data:binary>>,kind:string>"
    assert [bytes(record["data"]) for record in named.first()["records"]] == [b"one", b"two", b""]


def test_rows_of_an_aggregate_are_exploded_on_request(reads, tmp_path):
    (tmp_path / "a.bin").write_bytes(AGGREGATE)
    options = {"framing": "none", "explode": "true", "columns": "_record,partitionKey,subSequenceNumber"}
    rows = reads("kpl_record", **options).load(str(tmp_path)).collect()
    assert [tuple(row) for row in rows] == [(0, "a", 0), (0, "b", 1), (0, "a", 2)]


def bad_stream():
    good = events(1, 2, 3)
    return good[0] + good[1][:-1] + b"X" + good[2] + b"junk"


def test_a_bad_record_is_a_row_of_nulls_with_its_bytes_and_its_error(reads, tmp_path):
    (tmp_path / "a.bin").write_bytes(bad_stream())
    schema = "sequence long, _corrupt_record binary, _error struct<code string, path string>, _record long"
    rows = [row.asDict(recursive=True) for row in reads().schema(schema).load(str(tmp_path)).collect()]
    assert [row["sequence"] for row in rows] == [1, None, 3, None]
    assert [row["_error"] and row["_error"]["code"] for row in rows] == [None, "value_crc", None, "bad_version"]
    assert rows[0]["_corrupt_record"] is None
    assert [bytes(row["_corrupt_record"])[-1:] for row in rows[1::2]] == [b"X", b"k"]
    assert [row["_record"] for row in rows] == [0, 1, 2, 3]
    named = reads(columnNameOfError="why", columnNameOfCorruptRecord="raw", columns="sequence").load(str(tmp_path))
    assert named.columns == ["sequence", "raw", "why"]
    assert named.where("why.code = 'value_crc' and length(raw) = 63").count() == 1


def test_the_other_modes_drop_bad_records_or_stop_at_the_first(reads, tmp_path):
    (tmp_path / "a.bin").write_bytes(bad_stream())
    dropped = reads(mode="dropMalformed", columns="sequence").load(str(tmp_path))
    assert [row["sequence"] for row in dropped.collect()] == [1, 3]
    with pytest.raises(
        PySparkException,
        match=r"\[MALFORMED_RECORD_IN_PARSING.*a.bin: record 1, at byte 63: value_crc at valueCrc, byte \d+ of",
    ) as bad:
        reads(mode="FAILFAST").load(str(tmp_path)).collect()
    assert "[MALFORMED_RECORD_IN_PARSING." in str(bad.value)
    assert "Traceback" not in str(bad.value)


@pytest.mark.parametrize(
    ("options", "schema", "message"),
    [
        ({"format": "databus_evnt"}, None, "'databus_evnt' is not a format; did you mean databus_event"),
        ({"package": "no_such_formats"}, None, "there is no package no_such_formats"),
        ({"byteOrdr": "little"}, None, "no option 'byteordr'; did you mean byteOrder"),
        ({"columns": "sequnce"}, None, "no column 'sequnce'; did you mean sequence"),
        ({"columns": "metadata.vale"}, None, "no column 'metadata.vale'; did you mean value"),
        ({}, "sequnce long", "no column 'sequnce'; did you mean sequence"),
        ({}, "sequence string", "column 'sequence' is bigint; the schema says string"),
        ({}, "sequence long not null", "'sequence' and its members may be null"),
        ({"maxPartitionBytes": "many"}, None, "maxPartitionBytes must be a number"),
        ({"columnNameOfError": "key"}, None, "databus_event already has a column 'key'"),
    ],
)
def test_what_does_not_fit_is_refused_with_what_would(reads, tmp_path, options, schema, message):
    (tmp_path / "a.bin").write_bytes(LONG_KEY)
    read = reads(**options)
    with pytest.raises(AnalysisException, match=message) as refused:
        (read.schema(schema) if schema else read).load(str(tmp_path)).collect()
    assert "Traceback" not in str(refused.value)


def test_a_path_that_is_not_there_is_said(reads, tmp_path):
    with pytest.raises(AnalysisException, match=r"\[PATH_NOT_FOUND\] Path does not exist: .*/gone") as refused:
        reads().load(str(tmp_path / "gone")).collect()
    assert "Traceback" not in str(refused.value)


def test_other_programs_keep_their_tracebacks_behind_an_error_of_ours(spark, reads, tmp_path):
    with pytest.raises(AnalysisException):
        reads().load(str(tmp_path / "gone")).collect()

    def wrong(number):
        raise ValueError(number)

    with pytest.raises(PySparkException, match="Traceback"):
        spark.range(1).select(udf(wrong, "int")("id")).collect()


# --- filters -------------------------------------------------------------------------------------------------------

FILTERS = [
    "sequence = 7",
    "sequence <> 7",
    "sequence > 5 and sequence <= 9",
    "sequence < 3",
    "sequence >= 9223372036854775807",
    "sequence in (1, 2, 99)",
    "sequence not in (1, 2, 99)",
    "sequence in (1, null)",
    "sequence is null",
    "sequence is not null",
    "sequence <=> 7",
    "not (sequence <=> 7)",
    "opcode = 'UPSERT'",
    "opcode <> 'UPSERT'",
    "opcode > 'DELETE'",
    "opcode like 'UP%'",
    "not opcode like 'UP%'",
    "opcode like '%ERT'",
    "opcode like '%S%'",
    "replicated",
    "not replicated",
    "srcId between 1 and 2",
    "srcId = 5 or sequence = 3",
    "value = X'6869'",
    "value > X'68'",
    "_error.code = 'value_crc'",
    "_error.code is null",
    "_error.code <> 'value_crc'",
    "_record % 2 = 0 and _record < 10",
    "valueCrc > 2147483648",
    "length(value) = 2 and timestampInNanos > 0",
]


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    """A stream of good and bad records with many values."""
    chance = random.Random(1)  # noqa: S311 - a test's
    parsed = {**databus_event.parse(LONG_KEY), "attributes": None}  # which the bits say
    data = b""
    for number in range(60):
        changed = {"sequence": number % 12, "srcId": chance.randrange(9), "replicated": number % 3 == 0}
        changed |= {"opcode": chance.choice(["UPSERT", "DELETE", None]), "value": chance.choice([b"hi", b"", b"\xff"])}
        record = databus_event.build({**parsed, **changed})
        data += record if number % 9 or not record.endswith(b"hi") else record[:-1] + b"X"
    path = tmp_path_factory.mktemp("mixed") / "a.bin"
    path.write_bytes(data)
    return str(path)


@pytest.fixture
def pushing(spark):
    spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
    yield
    spark.conf.set("spark.sql.python.filterPushdown.enabled", "false")


@pytest.mark.thorough
def test_pushed_filters_give_exactly_the_rows_of_sparks_own(spark, reads, mixed, pushing):
    schema = f"{databus_event.struct_type().toDDL()}, _error struct<code string, path string>, _record long"
    own = reads().schema(schema).load(mixed)
    some = 0
    for each in FILTERS:
        pushed = reads(pushFilters="true").schema(schema).load(mixed)  # Spark keeps a DataFrame's first filters
        found = sorted(map(str, pushed.where(each).collect()))
        assert found == sorted(map(str, own.where(each).collect())), each
        some += bool(found)
    assert some > len(FILTERS) - 4


def plan_of(frame):
    return frame._jdf.queryExecution().executedPlan().toString().replace("RuntimeFilters", "")


def test_spark_applies_only_the_filters_that_are_not_exact(reads, mixed, pushing):
    pushed = reads(pushFilters="true").load(mixed)
    assert "Filter" not in plan_of(pushed.where("sequence = 7 and opcode like 'UP%'"))
    assert "Filter (length(" in plan_of(
        reads(pushFilters="true").load(mixed).where("sequence = 7 and length(value) = 2")
    )


def test_filters_are_pushed_where_both_option_and_session_say_so(reads, mixed, pushing):
    frame = reads().load(mixed)
    assert "Filter" in plan_of(frame.where("sequence = 7"))
    count = frame.count()
    assert frame.where("sequence = 7").count() < count == frame.count()


def test_a_session_that_pushes_no_filters_says_how_it_would(reads, mixed):
    with pytest.raises(PySparkException, match=r"spark\.sql\.python\.filterPushdown\.enabled"):
        reads(pushFilters="true").load(mixed).collect()


# --- writing -------------------------------------------------------------------------------------------------------


def writes(frame, **options):
    return frame.write.format("wireloom").option("format", "databus_event").options(**options)


def test_tables_are_appended_to_and_replaced(spark, reads, tmp_path):
    (tmp_path / "in").write_bytes(b"".join(events(*range(20))))
    frame, out = reads().load(str(tmp_path / "in")), tmp_path / "out"
    writes(frame.repartition(3)).mode("append").save(str(out))
    writes(frame).mode("append").save(str(out))
    assert reads(mode="FAILFAST").load(str(out)).count() == 40
    writes(frame.limit(3)).mode("overwrite").save(str(out))
    assert reads(mode="FAILFAST").load(str(out)).count() == 3
    assert {name.split("-")[0] for name in os.listdir(out)} == {"part", "_SUCCESS"}  # noqa: PTH208


def test_a_row_that_cannot_be_said_fails_the_write_and_leaves_nothing(spark, reads, tmp_path):
    (tmp_path / "in").write_bytes(b"".join(events(*range(20))))
    frame = reads().load(str(tmp_path / "in"))
    wrong = frame.withColumn("key", when(col("sequence") == 13, lit(None)).otherwise(col("key")))
    with pytest.raises(PySparkException, match=r"databus_event: row 13 of task 0: .*expected") as failed:
        writes(wrong).mode("append").save(str(tmp_path / "out"))
    assert "Traceback" not in str(failed.value)
    assert [entry for entry in (tmp_path / "out").rglob("*") if entry.is_file()] == []


def test_columns_that_the_format_does_not_have_cannot_be_written(spark, tmp_path):
    frame = spark.range(1).withColumn("sequnce", lit(1))
    with pytest.raises(AnalysisException, match="no column 'id' to write"):
        writes(frame).mode("append").save(str(tmp_path / "out"))
    with pytest.raises(AnalysisException, match="no column 'sequnce' to write; did you mean sequence"):
        writes(frame.drop("id")).mode("append").save(str(tmp_path / "out"))


def test_records_without_a_framing_are_files_where_that_is_meant(spark, reads, tmp_path):
    (tmp_path / "in").write_bytes(AGGREGATE)
    frame = reads("kpl_record", framing="none").load(str(tmp_path / "in"))
    write = frame.union(frame).coalesce(1).write.format("wireloom").option("format", "kpl_record").mode("append")
    with pytest.raises(AnalysisException, match="set the option framing"):
        write.save(str(tmp_path / "out"))
    write.option("framing", "none").save(str(tmp_path / "out"))
    written = sorted((tmp_path / "out").glob("part-*"))
    assert [path.read_bytes() for path in written] == [kpl_record.build(kpl_record.parse(AGGREGATE))] * 2


def test_lines_cannot_hold_what_would_end_them(spark, reads, tmp_path):
    (tmp_path / "in").write_bytes(b"".join(events(1, value=b"a\nb")))
    frame = reads().load(str(tmp_path / "in"))
    with pytest.raises(PySparkException, match="row 0 of task 0: expected a record without a line feed"):
        writes(frame, framing="lines").mode("append").save(str(tmp_path / "out"))


def test_a_session_that_looked_before_can_be_told(spark):
    from wireloom_formats import functions

    functions.register(spark)
    assert spark.sql("SHOW FUNCTIONS LIKE 'from_databus_event'").count() == 1
    assert spark.read.format("wireloom").option("format", "kpl_record").option("path", "/").load().columns


def test_a_reader_of_another_spec_is_refused(tmp_path):
    """The driver's plan carries the digest of its spec, which executors compare."""
    given = CheckedOptions.of({"format": "databus_event", "path": str(tmp_path)}, READS)
    read = given.reading(databus_event.struct_type())
    other = dataclasses.replace(read, plan=dataclasses.replace(read.plan, digest="0" * 64))
    with pytest.raises(ContractError, match=r"this worker has wireloom_formats\.databus_event of spec"):
        list(batches(other, ()))

"""The data source on an object store: a local S3 server, reached as pyarrow reaches S3."""

import pickle

import pyarrow as pa
import pytest
from pyspark.sql.types import StringType, StructField, StructType

from support.databus_events import LONG_KEY
from wireloom.spark.source.batch import FileReader
from wireloom.spark.source.errors import DataSourceError
from wireloom.spark.source.options import READS, WRITES, CheckedOptions
from wireloom.spark.source.stream import stream_reader
from wireloom.spark.source.write import FileWriter, writing
from wireloom_formats import databus_event

pytestmark = [pytest.mark.integration, pytest.mark.filterwarnings("default")]
BUCKET = "landing"


@pytest.fixture(scope="module")
def server():
    moto = pytest.importorskip("moto.server", reason="no local S3 server: moto is not installed")
    started = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    started.start()
    yield "{}:{}".format(*started.get_host_and_port())
    started.stop()


@pytest.fixture(scope="module")
def uri(server):
    """A URI of a path in the bucket."""
    boto3 = pytest.importorskip("boto3", reason="no client of S3: boto3 is not installed")
    client = boto3.client(
        "s3",
        endpoint_url=f"http://{server}",
        region_name="us-east-1",
        aws_access_key_id="key",
        aws_secret_access_key="secret",  # noqa: S106 - of a server that asks for none
    )
    client.create_bucket(Bucket=BUCKET)
    for number in range(6):
        client.put_object(Bucket=BUCKET, Key=f"in/{number}.bin", Body=LONG_KEY * 50)
    client.put_object(Bucket=BUCKET, Key="in/_hidden.bin", Body=b"x")
    return lambda path: f"s3://key:secret@{BUCKET}/{path}?endpoint_override={server}&scheme=http&region=us-east-1"


def rows(read):
    found = pickle.loads(pickle.dumps(read))  # noqa: S301 - as Spark sends it
    return [row for part in read.partitions() for batch in found.read(part) for row in batch.to_pylist()]


def read_of(uri, path):
    given = CheckedOptions.of({"format": "databus_event", "path": uri(path), "mode": "FAILFAST"}, READS)
    schema = given.module.struct_type()
    columns = schema.fields[:3]
    wanted = StructType([*columns, StructField("_source", StringType())])
    return FileReader(given.reading(wanted), given.listing(), 1000)


def test_objects_are_found_split_and_read(uri):
    found = rows(read_of(uri, "in"))
    assert len(found) == 300
    assert {row["_source"] for row in found} == {f"s3://{BUCKET}/in/{number}.bin" for number in range(6)}
    assert len(read_of(uri, "in").partitions()) > 6
    assert len(rows(read_of(uri, "in/[1-3].bin"))) == len(rows(read_of(uri, "{in,out}/{1,2,3}.*"))) == 150


def test_what_is_not_there_is_said_without_the_secret(uri):
    with pytest.raises(DataSourceError) as raised:
        rows(read_of(uri, "gone"))
    assert str(raised.value) == f"[PATH_NOT_FOUND] Path does not exist: s3://{BUCKET}/gone. SQLSTATE: 42K03"


def test_objects_are_written_and_replaced(uri):
    table = databus_event.decode(_array(40)).records
    for overwrite in (False, True):
        given = CheckedOptions.of({"format": "databus_event", "path": uri("out")}, WRITES)
        writer = FileWriter(writing(given, databus_event.struct_type()), overwrite=overwrite)
        message = writer.write(iter([pa.RecordBatch.from_struct_array(table)]))
        writer.commit([message])
        assert len(rows(read_of(uri, "out"))) == 40


def _array(count):
    return pa.array([LONG_KEY] * count, pa.binary())


def test_a_stream_of_objects_keeps_its_list_beside_them(uri):
    def reader():
        given = CheckedOptions.of({"format": "databus_event", "path": uri("in"), "filelog": uri("list")}, READS)
        return stream_reader(given, given.reading(databus_event.struct_type()))

    first = reader()
    start = first.initialOffset()
    end = first.latestOffset(start, first.getDefaultReadLimit())
    assert end["files"] == 6
    again = reader()
    assert again.latestOffset(end, again.getDefaultReadLimit()) == end
    portions = again.partitions(start, end)
    assert sum(batch.num_rows for portion in portions for batch in again.read(portion)) == 300

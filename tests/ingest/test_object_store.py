"""Tables on an object store, which cannot rename a folder: a local S3 server, reached as pyarrow reaches S3."""

import pytest
from typer.testing import CliRunner

from conftest import ROOT
from wireloom.cli.app import app
from wireloom.ingest.files.storage import PlainStorage

pytestmark = [pytest.mark.integration, pytest.mark.filterwarnings("default")]
SAMPLES = ROOT / "samples" / "databus_event"


@pytest.fixture(scope="module")
def bucket():
    """An empty bucket, found and entered by the settings of the environment."""
    moto = pytest.importorskip("moto.server", reason="no local S3 server: moto is not installed")
    boto3 = pytest.importorskip("boto3", reason="no client of S3: boto3 is not installed")
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    url = "http://{}:{}".format(*server.get_host_and_port())
    names = {"AWS_ENDPOINT_URL": url, "AWS_DEFAULT_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true"}
    keys = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (names | keys).items():
            patch.setenv(name, value)
        boto3.client("s3", endpoint_url=url).create_bucket(Bucket="landed")
        yield "s3://landed"
    server.stop()


def run(*arguments):
    return CliRunner().invoke(app, [*arguments, "--out", str(ROOT / "generated")])


def test_a_job_without_spark_puts_both_tables_on_an_object_store(bucket):
    job = ["ingest", "--format", "databus_event", "--engine", "local", "--processes", "1", "--output", f"{bucket}/out"]
    result = run(*job, "--input", str(SAMPLES))
    assert result.exit_code == 0, result.output
    assert "28 rows in s3://landed/out/records" in result.output
    storage = PlainStorage()
    for table in ("records", "quarantine"):
        assert storage.files(f"{bucket}/out/{table}/wireloom_batch=0"), table
    assert storage.files(f"{bucket}/out/_staging") == ()
    again = run(*job, "--input", str(SAMPLES), "--append")
    assert again.exit_code == 0, again.output
    replayed = run("replay", f"{bucket}/out/quarantine", "--engine", "local", "--processes", "1")
    assert replayed.exit_code == 0, replayed.output
    assert "0 moved + 4 still bad" in replayed.output


def test_a_folder_half_moved_is_moved_to_the_end(bucket):
    storage = PlainStorage()
    for name in ("from/a", "from/deep/b", "to/c"):
        storage.write(f"{bucket}/half/{name}", name)
    storage.rename(f"{bucket}/half/from", f"{bucket}/half/to")
    assert storage.files(f"{bucket}/half/to") == ("a", "c", "deep/b")
    assert not storage.exists(f"{bucket}/half/from")

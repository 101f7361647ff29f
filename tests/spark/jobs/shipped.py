"""A job as users submit it: decodes two records on the executors, and reports their environment.

Arguments: files for `addArtifact`, if any. Prints one JSON object.
"""

import json
import sys

import pyarrow as pa
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
for path in sys.argv[1:]:
    spark.addArtifact(path, pyfile=True)

from wireloom.spark.executors import examine_executors  # noqa: E402
from wireloom_formats import kpl_record  # noqa: E402 - the artifacts bring it

PLAIN = b"one plain record"
AGGREGATE = bytes.fromhex(
    "f3899ac20a01610a0162120234321a0708001a036f6e651a09080110001a0374776f1a0408001a00a49c195c0d4fc03c21c19a9a7b30f752"
)


def rows(batches):
    """The number of user records in each record."""
    for batch in batches:
        decoded = kpl_record.decode(batch.column("data"), explode=True)
        yield pa.RecordBatch.from_arrays([decoded.parents.cast(pa.int64())], ["parent"])


records = spark.createDataFrame([(PLAIN,), (AGGREGATE,)], "data binary").coalesce(1)
findings = list(examine_executors(spark, "wireloom_formats"))
answer = {
    "parents": [row.parent for row in records.mapInArrow(rows, "parent long").collect()],
    "findings": {finding.subject: [finding.detail, finding.remedy] for finding in findings},
}
sys.stdout.write(f"{json.dumps(answer)}\n")
spark.stop()

"""A Spark session that runs a job for each request: `ingest_warm.py FOLDER FORMAT INPUT COLUMN`.

Started by ingest_bench.py.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "generator"), str(ROOT / "generated"), str(Path(__file__).parent)]

from racer import serve  # noqa: E402
from wireloom.catalog import open_format, open_package  # noqa: E402
from wireloom.ingest.job.batch import ingest  # noqa: E402
from wireloom.ingest.plan import Job, Plan  # noqa: E402
from wireloom.spark.ingest.batch import SparkEngine  # noqa: E402
from wireloom.spark.session import session  # noqa: E402

PACKAGE, GENERATED = "wireloom_formats", ROOT / "generated"


def main(folder: str, format: str, input: str, column: str) -> None:
    """Copy the rows of the input if it has rows, or ingest it; either replaces its earlier output."""
    module = open_format(open_package(PACKAGE, GENERATED), format)
    plan = Plan(f"{PACKAGE}.{module.FORMAT}", module.FORMAT, module.MEANING)
    with session((GENERATED,)) as spark:
        job = Job(plan, input, f"{folder}/out", column or None, overwrite=True)
        serve(
            {
                "copy": lambda: spark.read.parquet(input).write.mode("overwrite").parquet(f"{folder}/copy"),
                "ingest": lambda: ingest(SparkEngine(spark), job),
            }
        )


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Spark on a given number of cores, in its own process: `spark_alone.py CORES FOLDER`; run by spark_bench.py."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "generator"), str(ROOT / "generated"), str(Path(__file__).parent)]

from racer import serve  # noqa: E402
from spark_peers import written  # noqa: E402
from wireloom.spark.session import session  # noqa: E402
from wireloom_formats import functions as W  # noqa: E402


def main(cores: int, folder: str) -> None:
    """Decode all columns of Aerospike messages."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    with session((ROOT / "generated", Path(__file__).parent), f"local[{cores}]") as spark:
        frame = spark.read.parquet(folder)
        serve({"decode": lambda: written(W.decode_aerospike_msgpack(frame, "value"))})


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])

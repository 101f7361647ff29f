"""How many faults the tests inject: a few in every run, all if WIRELOOM_FAULTS is set (`nox -s faults`)."""

import os

FULL = bool(os.environ.get("WIRELOOM_FAULTS"))
SEED = int(os.environ.get("WIRELOOM_SEED", "4"))  # of the moments of faults
KILLS = 25 if FULL else 1
COUNT = 1_000_000 if FULL else 30_000  # messages of a stream that is killed
PER_BATCH = COUNT // 120
MANY = 1_000_000 if FULL else 100_000  # messages of one batch

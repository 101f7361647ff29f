"""How much tests draw: some in every run, five times as much where WIRELOOM_THOROUGH says so (`nox -s thorough`)."""

import os

THOROUGH = bool(os.environ.get("WIRELOOM_THOROUGH"))


def drawn(count: int) -> int:
    """How many to draw, of a number that is for every run."""
    return count * 5 if THOROUGH else count

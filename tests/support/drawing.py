"""How much tests draw: some in every run, twenty times as much where WIRELOOM_THOROUGH says so (`nox -s thorough`)."""

import os

THOROUGH = bool(os.environ.get("WIRELOOM_THOROUGH"))


def drawn(count: int) -> int:
    """How many to draw, of a number that is for every run."""
    return count * 20 if THOROUGH else count

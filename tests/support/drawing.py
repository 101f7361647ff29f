"""How many random cases tests draw: twenty times as many if WIRELOOM_THOROUGH is set (`nox -s thorough`)."""

import os

THOROUGH = bool(os.environ.get("WIRELOOM_THOROUGH"))


def drawn(count: int) -> int:
    """The number of cases to draw; `count` is that of a normal run."""
    return count * 20 if THOROUGH else count

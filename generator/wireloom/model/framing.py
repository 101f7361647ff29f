"""How records follow one another: the framings of the runtime, which a format names one of."""

from wireloom.runtime.streams.framing import (
    LARGEST_SIZE,
    LONGEST,
    NAMED,
    Delimited,
    Escape,
    Framing,
    Prefixed,
    Sized,
    flaw,
    is_number,
)

__all__ = [
    "LARGEST_SIZE",
    "LONGEST",
    "NAMED",
    "Delimited",
    "Escape",
    "Framing",
    "Prefixed",
    "Sized",
    "flaw",
    "is_number",
]

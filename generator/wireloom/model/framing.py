"""How records follow one another: the runtime's framings, one of which a format names."""

from wireloom.runtime.streams.framing import (
    LARGEST_SIZE,
    LONGEST,
    NAMED,
    Array,
    Bare,
    Concatenated,
    Delimited,
    Escape,
    Framing,
    Headed,
    Prefixed,
    Sized,
    bare,
    flaw,
    is_number,
)

__all__ = [
    "LARGEST_SIZE",
    "LONGEST",
    "NAMED",
    "Array",
    "Bare",
    "Concatenated",
    "Delimited",
    "Escape",
    "Framing",
    "Headed",
    "Prefixed",
    "Sized",
    "bare",
    "flaw",
    "is_number",
]

"""Wording that several diagnostics share."""

from collections.abc import Sequence

from wireloom.encodings import ENCODINGS

_MANY = 8  # words in one list


def byte_count(count: int) -> str:
    """A number of bytes in words."""
    return f"{count} byte{'' if count == 1 else 's'}"


def only_in(encodings: Sequence[str]) -> str:
    """Which encodings have a feature."""
    *others, last = encodings
    return f"only {', '.join(others)} and {last} have it" if others else f"only {last} has it"


ONLY_LAID_OUT = only_in([each.name for each in ENCODINGS.values() if each.laid_out])
"""Which encodings have sizes and offsets."""


def any_of(words: Sequence[str]) -> str:
    """Join words by "or"; of a long list only the first words."""
    if len(words) > _MANY:
        return f"{', '.join(words[:_MANY])} or another {len(words) - _MANY}"
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))

"""Pieces of Markdown for the parts of a page."""

from collections.abc import Iterable, Sequence
from itertools import chain

from wireloom.escapes import cell, inline


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table without columns that are empty in every row; empty if there are no rows."""
    found = list(rows)
    kept = [place for place in range(len(head)) if any(row[place] for row in found)]
    lines = [[cell(row[place]) for place in kept] for row in found]
    top = [[head[place] for place in kept], ["---"] * len(kept)]
    return "\n".join(f"| {' | '.join(line)} |" for line in chain(top, lines)) if found else ""


def text(said: str) -> str:
    """A text of the spec on one line."""
    return inline(" ".join(said.split()))


def blocks(*parts: str) -> str:
    """The non-empty parts, separated by blank lines."""
    return "\n\n".join(part for part in parts if part)

"""Pieces of Markdown that the parts of a page are made of."""

from collections.abc import Iterable, Sequence
from itertools import chain

from wireloom.escapes import cell, inline


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table without the columns that are empty in every row; empty where there are no rows."""
    found = list(rows)
    kept = [place for place in range(len(head)) if any(row[place] for row in found)]
    lines = [[cell(row[place]) for place in kept] for row in found]
    top = [[head[place] for place in kept], ["---"] * len(kept)]
    return "\n".join(f"| {' | '.join(line)} |" for line in chain(top, lines)) if found else ""


def text(said: str) -> str:
    """A text of the spec on one line."""
    return inline(" ".join(said.split()))


def blocks(*parts: str) -> str:
    """Parts of a page with an empty line between; those that are empty are left out."""
    return "\n\n".join(part for part in parts if part)

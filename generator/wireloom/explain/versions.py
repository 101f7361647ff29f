"""Describes the versions of a format: the fields that each version adds and removes."""

from collections.abc import Iterator

from wireloom.model.format import Format
from wireloom.model.versions import revisions


def version_lines(format: Format) -> Iterator[str]:
    """One line for each version, oldest first."""
    for each in revisions(format):
        changes = (("new", each.new), ("gone", each.gone))
        fields = "; ".join(f"{what} {', '.join(names)}" for what, names in changes if names)
        told = "" if each.told == f"version {each.name}" else f" ({each.told})"
        yield f"version {each.name}{told}{f': {fields}' if fields else ''}"

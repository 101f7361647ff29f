"""The rows of a root: which record a row has, exploded or not."""

from wireloom.model.format import Format, Root
from wireloom.model.logical import Record
from wireloom.runtime.columns.rows import row_record


def row(root: Root) -> Record:
    """The flat row of a root."""
    return row_record(root.logical, root.rows)


def constants(format: Format) -> tuple[dict[str, Record], dict[str, str], dict[str, str]]:
    """The distinct records of a format by constant name, and the constant of each root and of each root's rows."""
    records: dict[str, Record] = {}
    roots = {root.name: _constant(records, root.name.upper(), root.logical) for root in format.roots}
    rows = {root.name: _constant(records, f"{root.name.upper()}_ROWS", row(root)) for root in format.roots}
    return records, roots, rows


def _constant(records: dict[str, Record], name: str, record: Record) -> str:
    """The constant that holds the record: an earlier one that is equal, else a new one of this name."""
    for known, other in records.items():
        if other == record:
            return known
    records[name] = record
    return name

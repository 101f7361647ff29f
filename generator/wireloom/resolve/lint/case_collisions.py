"""Columns of one struct whose names differ only in case, which Spark and Hive treat as equal by default."""

from collections.abc import Iterator

from wireloom.model.format import Format
from wireloom.problems import Problem
from wireloom.resolve.lint.documented import columns, records
from wireloom.spec import Document
from wireloom.spec.language import FormatDocument


def case_collisions(format: Format, document: Document, content: FormatDocument) -> Iterator[Problem]:
    """A warning at the second of two such columns."""
    reported = set()
    for fields in records(format):
        first: dict[str, str] = {}
        for field in fields:
            other = first.setdefault(field.name.lower(), field.name)
            if other != field.name and (other, field.name) not in reported:
                reported.add((other, field.name))
                places = (each.place for each in columns(document, content) if each.name == field.name)
                place = next(places, document.place / "types")
                message = f"the columns {other} and {field.name} differ only in case, which Spark cannot distinguish"
                yield place.key_problem("case-collision", message, "rename one with `as`")

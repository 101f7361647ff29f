"""Converts an Avro schema (.avsc) to a spec: read the schema, describe its records, write the spec.

The schema is the one that the records were written with. A record is raw Avro binary, alone or after the five bytes of
a schema registry: a zero, and the number of the schema.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wireloom.importing import writing
from wireloom.importing.avsc import schemas
from wireloom.importing.avsc.records import OVERFLOW, Records
from wireloom.importing.avsc.schemas import Record, Schema
from wireloom.importing.naming import format_name, free
from wireloom.importing.settling import Draft, Refusals
from wireloom.problems import Location

__all__ = ["Description", "draft", "read"]
_NO_MAGIC = "no_magic"


@dataclass(frozen=True, slots=True)
class Description:
    """A file, and the schema in it."""

    file: Path
    schema: Schema


def read(file: Path) -> Description:
    """Read the schema of a file; raises ImportRefusedError if there is none."""
    return Description(file, schemas.read(file))


def draft(
    description: Description, refused: Refusals, *, name: str = "", depth: int | None = None, confluent: bool = False
) -> Draft:
    """The spec of the records, without the refused parts; raises ImportRefusedError if a part cannot be expressed."""
    start = Location(str(description.file), 1, 1)
    records = Records(refused, depth)
    root = records.root(description.schema, start)
    types = records.types
    if confluent:
        root, types = _with_registry_header(root, records, description.schema)
    format = name or format_name(description.file.stem)
    title = description.schema.name if isinstance(description.schema, Record) else format
    head: dict[str, Any] = {"wireloom": 1, "format": format, "title": title, "encoding": "binary"}
    head["byteOrder"] = "little"
    errors = (
        {_NO_MAGIC: "The record does not begin with a zero, as those of a schema registry do."} if confluent else {}
    )
    if records.has_overflow:
        errors[OVERFLOW] = "The decimal has more digits than its schema says."
    if errors:
        head["errors"] = errors
    head["root"] = root
    text = writing.document(head, types, f"From {description.file.name}, by `wireloom import avsc`.")
    findings = tuple(sorted(set(records.findings)))
    return Draft(format, text, findings, records.fields, records.places, {}, records.depth)


def _with_registry_header(root: str, records: Records, schema: Schema) -> tuple[str, dict[str, Any]]:
    """The struct of a record with the five bytes of a schema registry before it; and all types."""
    taken = {each.name.lower() for each in schema.fields} if isinstance(schema, Record) else {"value"}
    name = records.free("Registered")
    fields = [
        {free("magic", taken): {"type": "uint8", "const": 0, "else": _NO_MAGIC, "hidden": True}},
        {free("schema_id", taken): {"type": "uint32", "byteOrder": "big", "doc": "The number of the schema"}},
        {free("payload", taken): {"type": root, "flatten": True}},
    ]
    return name, {name: {"fields": fields}, **records.types}

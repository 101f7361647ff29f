"""Advice about missing documentation: of the format, its columns and their units."""

import re
from collections.abc import Iterator
from itertools import groupby

from wireloom.model.format import Format
from wireloom.problems import Problem
from wireloom.resolve.lint.documented import columns, records
from wireloom.spec import Document
from wireloom.spec.language import FieldDocument, FormatDocument

_SHOWN = 3  # columns named in one message
_NUMBER = re.compile(r"(u?int|float|varint|zigzag|decimal|number)\d*\b.*")
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_QUANTITIES = frozenset(
    (
        *("time", "timestamp", "duration", "timeout", "interval", "delay", "latency", "ttl", "age", "expiry", "uptime"),
        *("length", "size", "width", "height", "depth", "distance", "altitude", "latitude", "longitude", "angle"),
        *("temperature", "pressure", "humidity", "speed", "velocity", "acceleration", "weight", "mass", "volume"),
        *("voltage", "current", "power", "energy", "frequency", "rate", "price", "amount", "cost", "balance"),
    )
)


def undocumented(format: Format, document: Document, content: FormatDocument) -> Iterator[Problem]:
    """Advice for a format without `doc` or `source`, and for types that have columns without `doc`."""
    missing = [key for key in ("doc", "source") if not getattr(content, key)]
    if missing:
        message = f"the format has no {' and no '.join(missing)}"
        yield (document.place / "format").problem(
            "undocumented", message, "add them: what the format is, and which document it follows"
        )
    seen = {field.name for fields in records(format) for field in fields if not field.doc}
    bare = (each for each in columns(document, content) if not each.doc and each.name in seen)
    for type, found in groupby(bare, key=lambda each: each.type):
        each = list(found)
        names = ", ".join(one.name for one in each[:_SHOWN])
        more = f" and {len(each) - _SHOWN} more" if len(each) > _SHOWN else ""
        message = f"{names}{more} of {type} {'has' if len(each) == 1 else 'have'} no `doc`"
        yield each[0].place.key_problem("undocumented", message, "it becomes the column's comment")


def without_unit(format: Format, document: Document, content: FormatDocument) -> Iterator[Problem]:
    """Advice for numbers without a unit whose names are those of quantities."""
    seen = {field.name for fields in records(format) for field in fields if not field.unit}
    for each in columns(document, content):
        field = each.field
        type = field if isinstance(field, str) else field.type if isinstance(field, FieldDocument) else None
        if not isinstance(type, str) or not _NUMBER.fullmatch(type):
            continue
        words = _WORDS.findall(each.name)
        is_stated = isinstance(field, FieldDocument) and (
            field.unit or field.logical or field.values or field.const is not None
        )
        if words and words[-1].lower() in _QUANTITIES and each.name in seen and not is_stated:
            yield each.place.key_problem("no-unit", f"the unit of {each.name} is not stated", "add `unit: ...`")

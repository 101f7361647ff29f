"""Walks over what a spec says: its fields in the model, its keys in the document."""

from collections.abc import Iterator
from typing import Any

from wireloom.model import types as wire
from wireloom.model.format import Format
from wireloom.spec.language import Document


def fields(format: Format) -> Iterator[wire.Field]:
    """Every field of every named struct."""
    for _, type in format.types:
        if isinstance(type, wire.Struct):
            yield from type.fields


def keys(document: Any) -> Iterator[str]:
    """Every key that a document of the language gives, as `Class.key`."""
    match document:
        case Document():
            extra = document.__pydantic_extra__ or {}
            for name in document.model_fields_set:
                if name in extra:
                    yield from keys(extra[name])
                    continue
                info = type(document).model_fields[name]
                yield f"{type(document).__name__}.{info.alias or name}"
                yield from keys(getattr(document, name))
        case dict():
            for each in document.values():
                yield from keys(each)
        case list() | tuple():
            for each in document:
                yield from keys(each)
        case _:
            return

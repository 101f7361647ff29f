"""Walks over what a spec says: its fields in the model, its keys in the document."""

from collections.abc import Iterator
from typing import Any

from wireloom.expr.ast import Expression, MarkRef, Position, parts
from wireloom.model import types as wire
from wireloom.model.format import Format
from wireloom.model.traversal import parts as parts_of_type
from wireloom.spec.language import Document


def fields(format: Format) -> Iterator[wire.Field]:
    """Every field of every named struct."""
    for _, type in format.types:
        if isinstance(type, wire.Struct):
            yield from type.fields


def has_several_writings(format: Format) -> bool:
    """Whether the same value may have different sizes in binary: variable-length integers, bodies of MessagePack."""
    encodings = {type.encoding for _, type in format.types if isinstance(type, wire.Struct)}
    if len(encodings - {wire.Encoding.BINARY}) > 0 and wire.Encoding.BINARY in encodings:
        return True
    return any(isinstance(each, wire.Integer) and each.width is None for _, type in format.types for each in _all(type))


def _all(type: wire.Type) -> Iterator[wire.Type]:
    """The type and those that it is made of."""
    yield type
    for part in [field.type for field in type.fields] if isinstance(type, wire.Struct) else parts_of_type(type):
        yield from _all(part)


def counts(expression: Expression) -> bool:
    """Whether an expression counts bytes between places of a record."""
    return isinstance(expression, MarkRef | Position) or any(map(counts, parts(expression)))


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

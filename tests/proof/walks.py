"""Walks over the fields of a model, and over the keys of a document."""

from collections.abc import Iterator
from typing import Any

from wireloom.encodings.binary import BINARY
from wireloom.expr.ast import Expression, FieldRef, Literal, MarkRef, Position, parts, references
from wireloom.model import types as wire
from wireloom.model.format import Format
from wireloom.model.traversal import parts as parts_of_type
from wireloom.resolve.facts.text_forms import has_several_writings as has_several_ways
from wireloom.spec.language import Document


def fields(format: Format) -> Iterator[wire.Field]:
    """Every field of every named struct."""
    for _, type in format.types:
        if isinstance(type, wire.Struct):
            yield from type.fields


def null_or_absent(format: Format) -> frozenset[str]:
    """The names for readers of conditional fields that may be null themselves: null may be present or absent."""
    doubtful = (each for each in fields(format) if each.when is not None and each.meaning is not None)
    names = (each.name for each in doubtful if each.meaning is not None and each.meaning.null is not None)
    return frozenset(names) | frozenset(_of_what_may_say_nothing(format))


def _of_what_may_say_nothing(format: Format) -> Iterator[str]:
    """Those of a flattened struct under a condition, if none of its fields need be present."""
    for field in fields(format):
        found = format.type(field.type.name) if isinstance(field.type, wire.Reference) else None
        if field.flatten and field.when is not None and isinstance(found, wire.Struct):
            seen = [each for each in found.fields if each.on_wire]
            if all(each.when is not None or each.presence is wire.Presence.OPTIONAL for each in seen):
                yield from (name for each in seen for name in (each.name, *(bit.title for bit in each.bits)))


def derives_in_a_version(format: Format) -> bool:
    """Whether derived fields belong to versions chosen by arity: without them, a value may be of another version."""
    return any(
        field.derive is not None and bool(field.since or field.until)
        for _, type in format.types
        if isinstance(type, wire.Struct) and any(version.arity is not None for version in type.versions)
        for field in type.fields
    )


def hides_what_it_derives(format: Format) -> bool:
    """Whether builders derive a hidden field."""
    every = list(fields(format))
    bits = (bit for field in every for bit in field.bits)
    return any(each.hidden and each.derive is not None for each in every) or any(
        each.hidden and each.derive is not None for each in bits
    )


def nulls(value: Any) -> Iterator[str]:
    """The names of null members."""
    match value:
        case dict():
            yield from (name for name, each in value.items() if each is None)
            yield from (name for each in value.values() for name in nulls(each))
        case list():
            yield from (name for each in value for name in nulls(each))
        case _:
            return


def has_several_writings(format: Format) -> bool:
    """Whether a value may have several sizes: integers of any width, JSON bodies, compressed regions, hidden texts."""
    if any(field.packing is not None or _may_say_alike(field) or _is_unseen_text(field) for field in fields(format)):
        return True
    if any(map(is_in_parts, fields(format))):
        return True
    encodings = {format.encoding} | {type.encoding for _, type in format.types if isinstance(type, wire.Struct)}
    if len(encodings - {BINARY}) > 0 and BINARY in encodings:
        return True
    return any(_is_written_freely(each) for _, type in format.types for each in _all(type))


def _is_written_freely(type: wire.Type) -> bool:
    """Whether a value of the type has several written forms of different length."""
    match type:
        case wire.Integer(width=width):
            return width is None
        case wire.Array(count=wire.Terminator(behind=behind)):
            return behind is not None
        case wire.Array(count=wire.Blocks()) | wire.Text(size=wire.Blocks()) | wire.Bytes(size=wire.Blocks()):
            return True
        case wire.Text(size=wire.Delimiter() as delimiter) | wire.Bytes(size=wire.Delimiter() as delimiter):
            return not delimiter.is_plain
        case _:
            return False


def is_in_parts(field: wire.Field) -> bool:
    """Whether the field is computed from several others that are derived from it."""
    return field.given or (field.compute is not None and field.derive is not None)


def chooses_widths(format: Format) -> bool:
    """Whether floats of several widths are alternatives, which the value does not distinguish."""
    choices = wire.Select | wire.OneOf | wire.Attempt
    return any(
        len({part.bits for part in parts_of_type(each) if isinstance(part, wire.Float)}) > 1
        for _, type in format.types
        for each in _all(type)
        if isinstance(each, choices)
    )


def _is_unseen_text(field: wire.Field) -> bool:
    """Whether it is a hidden text of any length, which builders write in one form."""
    return (
        field.hidden
        and field.derive is not None
        and not isinstance(field.type, wire.Integer | wire.Float | wire.Boolean)
    )


def _may_say_alike(field: wire.Field) -> bool:
    """Whether it is a text for a time or decimal, of which builders know only the value."""
    return field.meaning is not None and has_several_ways(field.meaning.shown)


def _all(type: wire.Type) -> Iterator[wire.Type]:
    """The type and those that it is made of."""
    yield type
    for part in [field.type for field in type.fields] if isinstance(type, wire.Struct) else parts_of_type(type):
        yield from _all(part)


def counts(expression: Expression) -> bool:
    """Whether an expression counts bytes between offsets of a record."""
    return isinstance(expression, MarkRef | Position) or any(map(counts, parts(expression)))


def looks_at_lengths(format: Format) -> bool:
    """Whether a condition or a computed value depends on a byte count, an offset, or bytes read ahead.

    Or on something derived from those; whether that survives is up to the author of the spec.
    """
    if (
        any(_peeks(type) for _, type in format.types)
        or any(isinstance(field.size, Literal) for field in fields(format))
        or any(_steps(format))
        or any(map(is_in_parts, fields(format)))
    ):
        return True
    counting = [field for field in fields(format) if field.derive is not None and counts(field.derive)]
    if any(field.minimum is not None or field.maximum is not None or field.mappings for field in counting):
        return True
    lengths = {field.wire_name for field in counting}
    return any(
        isinstance(each, MarkRef | Position) or (isinstance(each, FieldRef) and lengths & {each.name, *each.members})
        for expression in _deciding(format)
        for each in references(expression)
    )


def _peeks(type: wire.Type) -> bool:
    """Whether bytes are read ahead: to choose a type, or to see if a list continues."""
    return any(_is_told_ahead(each) for each in _all(type))


def _is_told_ahead(type: wire.Type) -> bool:
    match type:
        case wire.Select(tag=wire.PeekTag()) | wire.Array(count=wire.Terminator()):
            return True
        case _:
            return False


def _steps(format: Format) -> Iterator[wire.Step]:
    """The steps that require bytes to be present, or the record to end."""
    for _, type in format.types:
        if isinstance(type, wire.Struct):
            yield from (step for step in type.steps if isinstance(step, wire.Need | wire.Frame))


def _deciding(format: Format) -> Iterator[Expression]:
    """The expressions that decide on presence, offsets and types, and those of computed fields."""
    for _, named in format.types:
        for type in _all(named):
            if isinstance(type, wire.Select) and isinstance(type.tag, wire.FieldTag):
                yield type.tag.expression
            if (amount := _amount(type)) is not None and _is_of_places(amount):
                yield amount
            if isinstance(type, wire.Struct):
                yield from (field.when for field in type.fields if field.when is not None)
                yield from (field.compute for field in type.fields if field.compute is not None)
                yield from (field.at for field in type.fields if field.at is not None)
                yield from (step.that for step in type.steps if isinstance(step, wire.Check))


def _amount(type: wire.Type) -> Expression | None:
    """The expression for the size or count of a visible type."""
    match type:
        case wire.Array(count=amount) | wire.Text(size=amount) | wire.Bytes(size=amount, filler=False):
            return wire.stated(amount)
        case _:
            return None


def _is_of_places(amount: Expression) -> bool:
    """Whether it counts from the start, so that a longer form counts more; not the rest of a region."""
    looked_at = list(references(amount))
    return any(map(counts, looked_at)) and Position("size") not in looked_at


def leaves_bytes_unnamed(format: Format) -> bool:
    """Whether bytes between fields may be unnamed, because offsets depend on the record or count from its end."""
    offsets = [field.at for field in fields(format) if field.at is not None]
    return any(not isinstance(at, Literal) or (isinstance(at.value, int) and at.value < 0) for at in offsets)


def leaves_bits_unnamed(format: Format) -> bool:
    """Whether some bits of an integer may be invisible to readers."""
    return any(field.bits and field.hidden for field in fields(format))


def maps_or_records(format: Format) -> frozenset[str]:
    """The names for readers of fields that are a map in one version of a struct and a record in another."""
    found: set[str] = set()
    for _, type in format.types:
        if isinstance(type, wire.Struct):
            maps = {field.name for field in type.fields if _may_be_map(format, field.type)}
            found |= maps & {field.name for field in type.fields if not _may_be_map(format, field.type)}
    return frozenset(found)


def _may_be_map(format: Format, type: wire.Type) -> bool:
    """Whether a value is a map, or may be one."""
    match type:
        case wire.Map():
            return True
        case wire.Nullable(inner):
            return _may_be_map(format, inner)
        case wire.OneOf(alternatives):
            return any(_may_be_map(format, each.type) for each in alternatives)
        case wire.Reference(name):
            found = format.type(name)
            return isinstance(found, wire.OneOf) and _may_be_map(format, found)
        case _:
            return False


def keys(document: Any) -> Iterator[str]:
    """Every key that a document uses, as `Class.key`."""
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

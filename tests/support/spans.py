"""Checks the spans of any record, good or bad."""

from collections.abc import Iterator
from typing import Any

from wireloom.runtime.codec import Codec
from wireloom.runtime.errors import DecodeError
from wireloom.runtime.spans import Explained


def flaws(codec: Codec, data: bytes, /, **options: Any) -> Iterator[str]:
    """The flaws of a record's explanation: against the parser, and in the bytes that spans cover."""
    explained = codec.explain_bytes(data, **options)
    yield from _unlike_the_parser(explained, codec, data, options)
    yield from uncovered(explained)


def uncovered(explained: Explained) -> Iterator[str]:
    """Bytes that no span explains, or more than one."""
    for space in explained.spaces:
        position = 0
        for leaf in explained.leaves(space.number):
            if leaf.start != position:
                yield f"space {space.number}: {leaf} begins at {leaf.start}, the one before it ends at {position}"
            position = leaf.end
        if position != len(space.data):
            yield f"space {space.number}: no span has the bytes from {position} to {len(space.data)}"
    for span in explained.span.walk():
        if not 0 <= span.start <= span.end <= len(explained.spaces[span.space].data):
            yield f"{span} is outside of its space"
        if span.kind == "unread" and explained.error is None:
            yield f"{span} of a good record"
        if span.kind in ("ignored", "unread") and not span.note:
            yield f"{span} does not say why"
        # these properties are computed when they are read
        _ = span.path, span.value, span.wire, span.doc, span.unit, span.note


def _unlike_the_parser(explained: Explained, codec: Codec, data: bytes, options: dict[str, Any]) -> Iterator[str]:
    try:
        value = codec.parse(data, **options)
    except DecodeError as error:
        found = explained.error
        if found is None or (found.code, found.path, found.offset) != (error.code, error.path, error.offset):
            yield f"another error than {error}: {found}"
        if explained.fault is None:
            yield f"no fault: {error}"
        return
    if explained.error is not None:
        yield f"an error, where the parser has none: {explained.error}"
    elif repr(explained.value) != repr(value):
        yield f"another value than {value}: {explained.value}"

"""Makes invalid records: valid ones with one thing broken, one for each root, error code and path.

Bytes are cut, flipped and overwritten where a field begins and ends, as `explain_bytes` shows. In JSON and MessagePack,
members are also removed, added and given values of other kinds. A wrong checksum would hide all later errors, so the
checksum of the broken record is corrected, until the damage reaches the next check.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

import msgpack

from wireloom.encodings import Encoding
from wireloom.model.format import Format
from wireloom.runtime.codec import Codec
from wireloom.runtime.errors import DecodeError
from wireloom.runtime.spans import Span
from wireloom.vectors.manifest import Vector
from wireloom.vectors.valid import leaves, options, with_value

_REPAIRS = 3  # nested checksums that are corrected
_WIDEST = 8  # most bytes of a number
_LARGEST = 4096  # most bytes of a record that is broken
_INDEX = re.compile(r"\[\d+\]")
_TREES: Mapping[str, tuple[Callable[[bytes], object], Callable[[object], bytes]]] = {
    "json": (json.loads, lambda value: json.dumps(value).encode()),
    "msgpack": (partial(msgpack.unpackb, strict_map_key=False), msgpack.packb),
}
_OTHERS: tuple[object, ...] = (None, True, -1, 1 << 63, 1.5, "", "?", [], {})


def invalid(format: Format, codec: Codec, good: Sequence[Vector], stated: Sequence[int]) -> Iterator[Vector]:
    """The invalid examples, then broken records; for codes still missing, records broken under other parameters."""
    wrong = (each for each in format.examples if each.stated and each.error is not None)
    examples = [Vector(each.name, each.data, each.root, dict(each.parameters)) for each in wrong]
    others = [each for base in good for each in options(format, base) if len(base.data) <= _LARGEST]
    seen: set[tuple[str, str, str]] = set()
    yield from _new(codec, (*examples, *others, *_broken(format, codec, good, stated)), seen)
    missing = {each.code for each in format.errors} - {code for _, code, _ in seen}
    valid = {(each.root, each.data) for each in format.examples if each.stated and each.error is None}
    bases = [each for each in others if (each.root, each.data) in valid]
    if missing:
        yield from (each for each in _new(codec, _broken(format, codec, bases, stated), seen) if each.error in missing)


def _new(codec: Codec, vectors: Iterable[Vector], seen: set[tuple[str, str, str]]) -> Iterator[Vector]:
    """The vectors that are refused with a new error code or at a new path."""
    for vector in vectors:
        error = _error(codec, vector)
        if error is None:
            continue
        key = vector.root, error.code, _INDEX.sub("[]", error.path)
        if key not in seen:
            seen.add(key)
            yield replace(vector, error=error.code, path=error.path, offset=error.offset)


def _error(codec: Codec, vector: Vector) -> DecodeError | None:
    try:
        codec.parse(vector.data, root=vector.root, **vector.parameters)
    except DecodeError as error:
        return error
    return None


def _broken(format: Format, codec: Codec, good: Sequence[Vector], stated: Sequence[int]) -> Iterator[Vector]:
    """The records with one thing broken, once for each kind of field."""
    done: set[tuple[object, ...]] = set()
    for vector in good:
        if len(vector.data) > _LARGEST:
            continue
        spans = [*codec.explain_bytes(vector.data, root=vector.root, **vector.parameters).span.walk()]
        places = {span.path: span for span in spans if span.path and span.space == 0}
        for span in spans:
            given = repr(sorted(vector.parameters.items()))
            key = vector.root, given, span.holder, span.struct, _INDEX.sub("[]", span.path), span.kind
            if span.space == 0 and span.kind not in ("bits", "computed", "mark") and key not in done:
                done.add(key)
                for how, data in _changes(vector.data, span, stated):
                    name = f"{vector.name}: {span.path or span.name or span.kind} {how}"
                    made = Vector(name, data, vector.root, vector.parameters)
                    yield made
                    yield from _repaired(codec, made, places)
        for how, data in _restructured(format.encoding, vector.data, done):
            yield Vector(f"{vector.name}: {how}", data, vector.root, vector.parameters)
        yield Vector(f"{vector.name}: a byte more", vector.data + b"\0", vector.root, vector.parameters)


def _changes(data: bytes, span: Span, stated: Sequence[int]) -> Iterator[tuple[str, bytes]]:
    start, end = span.start, span.end
    yield "cut off", data[:start]
    if end > start:
        size, head, tail = end - start, data[:start], data[end:]
        yield "cut off within", data[: end - 1]
        yield "left out", head + tail
        yield "of zeros", head + bytes(size) + tail
        yield "of ones", head + b"\xff" * size + tail
        yield "with its first bit flipped", head + bytes([data[start] ^ 0x80]) + data[start + 1 :]
        yield "one more", data[: end - 1] + bytes([(data[end - 1] + 1) & 0xFF]) + tail
        yield "one less", data[: end - 1] + bytes([(data[end - 1] - 1) & 0xFF]) + tail
        yield "of half the greatest", head + b"\x7f" + b"\xff" * (size - 1) + tail
        yield "twice", data[:end] + data[start:]
        for number in stated if span.kind == "field" and size <= _WIDEST else ():
            with suppress(OverflowError):
                stored = number.to_bytes(size, "big", signed=number < 0)
                yield f"of {number}", head + stored + tail
                yield f"of {number}, the lowest byte first", head + stored[::-1] + tail


def _repaired(codec: Codec, vector: Vector, places: dict[str, Span]) -> Iterator[Vector]:
    """The record with corrected checksums, one after the other."""
    for _ in range(_REPAIRS):
        error = _error(codec, vector)
        span = None if error is None else places.get(error.path)
        if error is None or span is None or span.covers is None:
            return
        size = span.end - span.start
        for stored in _stored(error.expected, size):
            data = vector.data[: span.start] + stored + vector.data[span.end :]
            made = Vector(f"{vector.name}, {error.path} right", data, vector.root, vector.parameters)
            after = _error(codec, made)
            if after is None or after.path != error.path:
                break
        else:
            return
        vector = made
        yield vector


def _stored(expected: str, size: int) -> Iterator[bytes]:
    """The possible bytes for an expected value: a number in either byte order, or hexadecimal bytes."""
    with suppress(ValueError):
        yield int(expected, 0).to_bytes(size, "big")
    with suppress(ValueError, OverflowError):
        yield int(expected, 0).to_bytes(size, "little")
    with suppress(ValueError):
        yield bytes.fromhex(expected)


def _restructured(encoding: Encoding, data: bytes, done: set[tuple[object, ...]]) -> Iterator[tuple[str, bytes]]:
    """A JSON document or MessagePack value with one member removed, added, or changed in kind."""
    try:
        value = _TREES[encoding.name][0](data)
    except (KeyError, ValueError):
        return
    for how, changed in _others(value, done):
        try:
            yield how, _TREES[encoding.name][1](changed)
        except (ValueError, TypeError, OverflowError):
            continue


def _others(value: object, done: set[tuple[object, ...]]) -> Iterator[tuple[str, object]]:
    for path, member in [((), value), *leaves(value)]:
        key = tuple(step if isinstance(step, str) else 0 for step in path), type(member)
        if key in done:
            continue
        done.add(key)
        place = ".".join(map(str, path)) or "the record"
        for other in _OTHERS:
            yield f"{place} is {other!r}", with_value(value, path, other)
        match member:
            case dict():
                for name in member:
                    left = {each: inner for each, inner in member.items() if each != name}
                    yield f"{place} without {name}", with_value(value, path, left)
                yield f"{place} with another member", with_value(value, path, {**member, "?": 0})
            case list():
                yield f"{place} with an element less", with_value(value, path, member[:-1])
                yield f"{place} with an element more", with_value(value, path, [*member, None])
            case _:
                pass

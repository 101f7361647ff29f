"""Records to read: built ones, mutants and nonsense; and variants of values to build."""

import base64
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import msgpack

from proof.chance import Chance
from proof.messages import message_mutant
from wireloom.runtime.parsers.json.text import write
from wireloom.runtime.values import Extension, Pairs

_BYTES = (0x00, 0x01, 0x02, 0x7F, 0x80, 0xFF, 0xC0, 0xC1, 0x90, 0x91, 0xA1, 0x22, 0x7B)
_LEFT_OUT = 0.25  # of the members of a value that has several
_SCALARS = (
    None,
    True,
    False,
    0,
    1,
    2,
    3,
    -1,
    127,
    256,
    2**31,
    2**63,
    -(2**63),
    2**64 - 1,
    0.0,
    1.5,
    "",
    "a",
    "b",
    "é",
    "12",
)
_CONTAINERS: tuple[Any, ...] = ([], {}, [1], [[]], ["a"], {"a": 1})


def mutants(records: Sequence[bytes], count: int, chance: Chance, encoding: str) -> Iterator[bytes]:
    """`count` damaged records, some of them damaged by structure."""
    tree = {"json": _json_mutant, "msgpack": _msgpack_mutant, "protobuf": message_mutant}.get(encoding)
    for _ in range(count):
        record = chance.one(records) if records else b""
        if tree is not None and chance.often(0.6):
            yield tree(record, chance)
            continue
        for _ in range(chance.one((1, 1, 1, 2, 3))):
            record = chance.one(_DAMAGES)(record, chance, records)
        yield record


@contextmanager
def texts_written(alter: Callable[[bytes], bytes]) -> Iterator[None]:
    """Within the block, builders write altered JSON texts, with lengths and checksums that fit."""
    with patch("wireloom.runtime.parsers.json.types.write", lambda tree: alter(write(tree))):
        yield


def rewritten(text: bytes, chance: Chance) -> bytes:
    """A JSON text, mostly damaged by structure, otherwise as bytes."""
    if chance.often(0.4):
        return text
    return _json_mutant(text, chance) if chance.often(0.7) else chance.one(_DAMAGES)(text, chance, [text])


def nonsense(count: int, chance: Chance) -> Iterator[bytes]:
    """Random bytes."""
    yield b""
    for _ in range(count - 1):
        size = chance.one((1, 2, 3, 4, 6, 9, 14, 30))
        yield bytes(chance.one(_BYTES) if chance.often(0.6) else chance.randrange(256) for _ in range(size))


def little(count: int, chance: Chance) -> Iterator[bytes]:
    """Records of a few small numbers, many of which are plausible sizes, counts and flags."""
    for _ in range(count):
        yield bytes(
            chance.one((0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 97)) for _ in range(chance.randrange(2, 12))
        )


def _cut(record: bytes, chance: Chance, _: Sequence[bytes]) -> bytes:
    return record[: chance.randrange(len(record) + 1)]


def _flip(record: bytes, chance: Chance, _: Sequence[bytes]) -> bytes:
    if not record:
        return record
    place = chance.randrange(len(record))
    return record[:place] + bytes([record[place] ^ 1 << chance.randrange(8)]) + record[place + 1 :]


def _set(record: bytes, chance: Chance, _: Sequence[bytes]) -> bytes:
    if not record:
        return record
    place = chance.randrange(len(record))
    return record[:place] + bytes([chance.one(_BYTES)]) + record[place + 1 :]


def _splice(record: bytes, chance: Chance, others: Sequence[bytes]) -> bytes:
    other = chance.one(others) if others else b""
    return record[: chance.randrange(len(record) + 1)] + other[chance.randrange(len(other) + 1) :]


def _extend(record: bytes, chance: Chance, _: Sequence[bytes]) -> bytes:
    return record + bytes(chance.one(_BYTES) for _ in range(chance.randint(1, 4)))


def _drop(record: bytes, chance: Chance, _: Sequence[bytes]) -> bytes:
    start = chance.randrange(len(record) + 1)
    return record[:start] + record[start + chance.randint(1, 4) :]


def _repeat(record: bytes, chance: Chance, _: Sequence[bytes]) -> bytes:
    start = chance.randrange(len(record) + 1)
    end = min(len(record), start + chance.randint(1, 8))
    return record[:end] + record[start:end] + record[end:]


_DAMAGES = (_cut, _flip, _flip, _set, _set, _splice, _extend, _drop, _repeat)


# --- damaged trees -------------------------------------------------------------------------------------------------


def _json_mutant(record: bytes, chance: Chance) -> bytes:
    try:
        tree = json.loads(record, object_pairs_hook=Pairs)
    except (ValueError, RecursionError):
        return record
    return _json_text(_changed(tree, chance)).encode("utf-8", "surrogatepass")


def _json_text(tree: Any) -> str:
    match tree:
        case Pairs():
            return "{" + ",".join(f"{json.dumps(key)}:{_json_text(value)}" for key, value in tree) + "}"
        case list():
            return "[" + ",".join(map(_json_text, tree)) + "]"
        case _:
            return json.dumps(tree)


def _msgpack_mutant(record: bytes, chance: Chance) -> bytes:
    try:
        tree = msgpack.unpackb(record, strict_map_key=False, object_pairs_hook=Pairs)
        return bytes(_packed(_changed(tree, chance)))
    except (ValueError, TypeError, OverflowError, RecursionError, msgpack.UnpackException):
        return record


def _packed(tree: Any) -> Any:
    packer = msgpack.Packer(autoreset=True)
    match tree:
        case Pairs():
            return packer.pack_map_header(len(tree)) + b"".join(_packed(k) + _packed(v) for k, v in tree)
        case list():
            return packer.pack_array_header(len(tree)) + b"".join(map(_packed, tree))
        case _:
            return packer.pack(tree)


def _changed(tree: Any, chance: Chance) -> Any:
    """The tree with one of its nodes changed."""
    if isinstance(tree, Pairs) and tree and chance.often(0.85):
        place = chance.randrange(len(tree))
        key, value = tree[place]
        how = chance.randrange(8)
        rest = list(tree)
        if how == 0:
            del rest[place]
        elif how == 1:
            rest.append((key, value))
        elif how == 2:
            rest.insert(place, ("other", value))
        elif how == 3:
            rest[place] = (_replaced(key, chance) if not isinstance(key, str) else key + "x", value)
        elif how == 4:
            rest.reverse()
        else:
            rest[place] = (key, _changed(value, chance))
        return Pairs(rest)
    if isinstance(tree, list) and not isinstance(tree, Pairs) and tree and chance.often(0.85):
        place = chance.randrange(len(tree))
        how = chance.randrange(6)
        if how == 0:
            return tree[:place] + tree[place + 1 :]
        if how == 1:
            return [*tree, tree[place]]
        return [*tree[:place], _changed(tree[place], chance), *tree[place + 1 :]]
    return _replaced(tree, chance)


def _replaced(value: Any, chance: Chance) -> Any:
    if isinstance(value, int) and not isinstance(value, bool) and chance.often(0.6):
        return chance.one((value + 1, -value, value * 256, 0, 1, 2, float(value) if abs(value) < 2**53 else 0.5))
    if isinstance(value, bytes) and value and chance.often(0.6):
        return chance.one(_DAMAGES)(value, chance, [value])
    if isinstance(value, str) and (data := _of_base64(value)) and chance.often(0.6):
        return base64.b64encode(chance.one(_DAMAGES)(data, chance, [data])).decode()
    if isinstance(value, str) and chance.often(0.5):
        return chance.one((value + "a", value[:-1], "", value * 2))
    return chance.one(_SCALARS) if chance.often(0.8) else chance.one(_CONTAINERS)


def _of_base64(text: str) -> bytes:
    """The bytes of a base64 text; empty if it is none."""
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        return b""


# --- values that nobody made for the format ------------------------------------------------------------------------


def altered(value: Any, chance: Chance) -> Any:
    """The value with one member changed: removed, null, another number, one element more or less."""
    match value:
        case dict() if value:
            name = chance.one(list(value))
            how = chance.randrange(6)
            if how == 0:
                return {key: each for key, each in value.items() if key != name}
            if how == 1:
                return value | {name: None}
            return value | {name: altered(value[name], chance)}
        case Pairs() if value:
            if chance.often(0.5):
                return Pairs(value[:-1])
            *others, (key, last) = value
            return Pairs([*others, (key, None if chance.often(0.3) else altered(last, chance))])
        case list() if value:
            place = chance.randrange(len(value))
            how = chance.randrange(4)
            if how == 0:
                return value[:place] + value[place + 1 :]
            if how == 1:
                return [*value, value[place]]
            return [*value[:place], altered(value[place], chance), *value[place + 1 :]]
        case bool():
            return not value
        case int():
            return chance.one((0, 1, value + 1, value - 1, 255, 256))
        case str():
            return chance.one(("", "a", value + "b"))
        case bytes():
            return chance.one((b"", value + b"\0", value[:-1]))
        case float():
            return -value
        case Extension():
            return Extension(value.code, value.name, altered(value.value, chance))
        case _:
            return value


def thinned(value: Any, chance: Chance) -> Any:
    """The value without some of its members, at every depth."""
    match value:
        case dict():
            return {key: thinned(each, chance) for key, each in value.items() if not chance.often(_LEFT_OUT)}
        case Pairs():
            return Pairs((key, thinned(each, chance)) for key, each in value)
        case list():
            return [thinned(each, chance) for each in value]
        case _:
            return value

"""A reader of the message in an aggregate, independent of Wireloom: accepts all of proto2, with texts as bytes.

Raises ValueError for other bytes.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

HASH_KEYS = 1 << 128
_LONGEST_HASH_KEY = 39
_INTEGER = re.compile(rb"[+-]?[0-9]+")


@dataclass(frozen=True, slots=True)
class Record:
    """A user record in the message; keys are None if the index is invalid or absent."""

    partition_key: bytes | None
    explicit_hash_key: bytes | None
    data: bytes
    broken: tuple[str, ...]  # the error classes of indices beyond their table
    wraps: bool  # with 32 bits, every such index is within its table

    def hash_key_is_a_number(self) -> bool:
        """Whether the explicit hash key, if any, is in the hash key space."""
        if self.explicit_hash_key is None:
            return True
        text = self.explicit_hash_key.removeprefix(b"+")
        digits = text.lstrip(b"0")
        return text.isdigit() and len(digits) <= _LONGEST_HASH_KEY and int(digits or b"0") < HASH_KEYS


@dataclass(frozen=True, slots=True)
class Message:
    """The records in order, and whether texts are UTF-8."""

    records: tuple[Record, ...]
    keys_are_utf8: bool
    tags_are_utf8: bool

    def broken_codes(self) -> tuple[str, ...]:
        """The error classes of all invalid indices."""
        return tuple(sorted({code for record in self.records for code in record.broken}))

    def readable(self) -> int:
        """How many records precede the first one that the client library or we do not understand."""
        good = (bool(record.broken) or not record.hash_key_is_a_number() for record in self.records)
        return next((index for index, bad in enumerate(good) if bad), len(self.records))

    def is_sound(self) -> bool:
        """Whether all records are valid."""
        return self.readable() == len(self.records)

    def hashes_as_the_client_library(self) -> bool:
        """Whether it and we agree on the records of a shard.

        It takes an index modulo 2^32, drops everything if a hash key is out of range, and hashes a broken partition key
        by its replacement.
        """
        return not any(
            record.wraps
            or (
                not record.hash_key_is_a_number()
                and _INTEGER.fullmatch(record.explicit_hash_key or b"")
                and self.broken_codes()
            )
            or (record.explicit_hash_key is None and not _is_utf8(record.partition_key or b""))
            for record in self.records
        )


def message_of(aggregate: bytes) -> Message:
    """The message between magic and digest."""
    keys: list[bytes] = []
    hash_keys: list[bytes] = []
    records: list[_Fields] = []
    for field in _fields(aggregate[4:-16]):
        match field:
            case 1, bytes() as key:
                keys.append(key)
            case 2, bytes() as key:
                hash_keys.append(key)
            case 3, bytes() as content:
                records.append(_record_fields(content))
            case _:
                pass
    return Message(
        tuple(_record(record, keys, hash_keys) for record in records),
        all(_is_utf8(key) for key in (*keys, *hash_keys)),
        all(_is_utf8(text) for record in records for text in record.tag_texts),
    )


@dataclass(slots=True)
class _Fields:
    key_index: int | None = None
    hash_key_index: int | None = None
    data: bytes | None = None
    tag_texts: tuple[bytes, ...] = ()


def _record_fields(content: bytes) -> _Fields:
    record = _Fields()
    for field in _fields(content):
        match field:
            case 1, int() as index:
                record.key_index = index
            case 2, int() as index:
                record.hash_key_index = index
            case 3, bytes() as data:
                record.data = data
            case 4, bytes() as tag:
                texts = [
                    (number, text) for number, text in _fields(tag) if number in (1, 2) and isinstance(text, bytes)
                ]
                if 1 not in dict(texts):
                    raise ValueError("a tag without key")
                record.tag_texts += tuple(text for _, text in texts)
            case _:
                pass
    return record


def _record(record: _Fields, keys: Sequence[bytes], hash_keys: Sequence[bytes]) -> Record:
    if record.key_index is None or record.data is None:
        raise ValueError("a record without partition key index or data")
    beyond = [("pk_index", record.key_index, keys)] if record.key_index >= len(keys) else []
    hash_key_index = record.hash_key_index
    if hash_key_index is not None and hash_key_index >= len(hash_keys):
        beyond.append(("ehk_index", hash_key_index, hash_keys))
    return Record(
        _entry(keys, record.key_index),
        None if hash_key_index is None else _entry(hash_keys, hash_key_index),
        record.data,
        tuple(code for code, _, _ in beyond),
        wraps=any(index & 0xFFFF_FFFF < len(table) for _, index, table in beyond),
    )


def _entry(table: Sequence[bytes], index: int) -> bytes | None:
    return table[index] if index < len(table) else None


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


# --- the wire ------------------------------------------------------------------------------------------------------


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Number and content of each varint and each length-delimited field outside of groups; the rest is skipped."""
    position = 0
    groups: list[int] = []
    while position < len(data):
        tag, position = _varint(data, position)
        number, wire_type = tag >> 3, tag & 7
        content: int | bytes | None = None
        match wire_type:
            case 0:
                content, position = _varint(data, position)
            case 1 | 5:
                position += 8 if wire_type == 1 else 4
            case 2:
                size, position = _varint(data, position)
                content, position = data[position : position + size], position + size
            case 3:
                groups.append(number)
            case 4 if groups and groups[-1] == number:
                groups.pop()
            case _:
                raise ValueError(f"wire type {wire_type} of field {number}")
        if number == 0 or position > len(data):
            raise ValueError(f"field {number} ends at {position} of {len(data)}")
        if content is not None and not groups:
            yield number, content
    if groups:
        raise ValueError(f"group {groups[-1]} has no end")


def _varint(data: bytes, start: int) -> tuple[int, int]:
    """The lower 64 bits of a varint of at most ten bytes, and the offset after it."""
    value = 0
    for count, byte in enumerate(data[start : start + 10]):
        value |= (byte & 0x7F) << 7 * count
        if byte < 0x80:
            return value & (1 << 64) - 1, start + count + 1
    raise ValueError(f"no varint at {start}")

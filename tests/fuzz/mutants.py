"""Damaged records: cut, flipped, spliced, with wild lengths, some with their checksums mended afterwards.

Mending uses the format's own declarations: where the construct parser reports a checksum, it says at which offset it
stands and what it should be; that is written there, so that the code behind the check is reached.
"""
# ruff: noqa: S311 - no secrets are made

import random
from collections.abc import Callable, Iterator, Sequence

from wireloom.runtime.errors import DecodeError

Parse = Callable[[bytes], object]

_WILD = (
    *(b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\x80\x00\x00\x00", b"\x00\x00\x00\x00"),
    *(b"\xdd\xff\xff\xff\xff", b"\xdf\x7f\xff\xff\xff", b"\xc6\xff\xff\xff\xff"),
    *(b"\xff" * 9 + b"\x01", b"\x80" * 10),
)
_MENDS = 3


def mutants(
    records: Sequence[bytes], count: int, seed: int, parse: Parse | None = None, mended: float = 0.5
) -> Iterator[bytes]:
    """So many damaged records; with `parse`, a share of them is mended."""
    source = random.Random(seed)
    for _ in range(count):
        record = source.choice(records)
        for _ in range(source.choice((1, 1, 1, 2, 3))):
            record = source.choice(_DAMAGES)(source, record, records)
        yield mend(record, parse) if parse is not None and source.random() < mended else record


def mend(record: bytes, parse: Parse) -> bytes:
    """The record with its checksums set right, as far as the parser gets."""
    for _ in range(_MENDS):
        try:
            parse(record)
        except DecodeError as error:
            wanted = _wanted(error)
            if wanted is None:
                return record
            record = record[: error.offset] + wanted + record[error.offset + len(wanted) :]
        else:
            return record
    return record


def _wanted(error: DecodeError) -> bytes | None:
    """The bytes of the checksum that the parser has computed; None where the error is another."""
    text = error.expected.removeprefix("0x")
    if error.code not in ("header_crc", "value_crc", "digest_mismatch", "bad_checksum"):
        return None
    return bytes.fromhex(text)


def _cut(source: random.Random, record: bytes, others: Sequence[bytes]) -> bytes:
    return record[: source.randrange(len(record) + 1)]


def _flip(source: random.Random, record: bytes, others: Sequence[bytes]) -> bytes:
    if not record:
        return record
    place = source.randrange(len(record))
    return record[:place] + bytes([record[place] ^ 1 << source.randrange(8)]) + record[place + 1 :]


def _set(source: random.Random, record: bytes, others: Sequence[bytes]) -> bytes:
    if not record:
        return record
    place = source.randrange(len(record))
    return record[:place] + bytes([source.randrange(256)]) + record[place + 1 :]


def _splice(source: random.Random, record: bytes, others: Sequence[bytes]) -> bytes:
    other = source.choice(others)
    return record[: source.randrange(len(record) + 1)] + other[source.randrange(len(other) + 1) :]


def _bomb(source: random.Random, record: bytes, others: Sequence[bytes]) -> bytes:
    place, wild = source.randrange(len(record) + 1), source.choice(_WILD)
    return record[:place] + wild + record[place + source.choice((0, len(wild))) :]


def _repeat(source: random.Random, record: bytes, others: Sequence[bytes]) -> bytes:
    start = source.randrange(len(record) + 1)
    end = min(len(record), start + source.randrange(1, 24))
    return record[:end] + record[start:end] + record[end:]


def _drop(source: random.Random, record: bytes, others: Sequence[bytes]) -> bytes:
    start = source.randrange(len(record) + 1)
    return record[:start] + record[start + source.randrange(1, 16) :]


_DAMAGES = (_cut, _flip, _flip, _set, _set, _splice, _bomb, _repeat, _drop)

"""Damaged records: cut, flipped, spliced, with wild lengths, some of them with corrected checksums.

The construct parser corrects checksums in any format: at a wrong checksum it notes the right one and continues. So
tests reach the code after the checks.
"""
# ruff: noqa: S311 - no secrets are made

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from wireloom.runtime.errors import DecodeError
from wireloom.runtime.parsers.fields import Run
from wireloom.runtime.parsers.steps import Verify

Parse = Callable[[bytes], object]

_WILD = (
    *(b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\x80\x00\x00\x00", b"\x00\x00\x00\x00"),
    *(b"\xdd\xff\xff\xff\xff", b"\xdf\x7f\xff\xff\xff", b"\xc6\xff\xff\xff\xff"),
    *(b"\xff" * 9 + b"\x01", b"\x80" * 10),
)
_ROUNDS = 3  # a checksum may cover another one


def mutants(
    records: Sequence[bytes], count: int, seed: int, parse: Parse | None = None, mended: float = 0.5
) -> Iterator[bytes]:
    """`count` damaged records; with `parse`, a share of them has corrected checksums."""
    source = random.Random(seed)
    for _ in range(count):
        record = source.choice(records)
        for _ in range(source.choice((1, 1, 1, 2, 3))):
            record = source.choice(_DAMAGES)(source, record, records)
        yield mend(record, parse) if parse is not None and source.random() < mended else record


# --- correcting checksums --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Patch:
    """A wrong checksum: its offset, its bytes, and the right bytes."""

    offset: int
    stored: int | bytes | str
    wanted: int | bytes
    size: int

    def applied(self, record: bytes) -> bytes:
        """The record with the right checksum."""
        wanted = self.wanted
        if isinstance(wanted, int):
            found = record[self.offset : self.offset + self.size]
            order = "big" if int.from_bytes(found, "big") == self.stored else "little"
            wanted = wanted.to_bytes(self.size, order)
        return record[: self.offset] + wanted + record[self.offset + len(wanted) :]


def mend(record: bytes, parse: Parse) -> bytes:
    """The record with corrected checksums, as far as the parser gets."""
    for _ in range(_ROUNDS):
        with _noted() as patches, suppress(DecodeError):
            parse(record)
        if not patches:
            break
        for patch in patches:
            record = patch.applied(record)
    return record


@contextmanager
def _noted() -> Iterator[list[_Patch]]:
    """Within the block, wrong checksums are noted and raise no errors."""
    original, patches = Verify.parse, []

    def parse(step: Verify, run: Run) -> None:
        try:
            original(step, run)
        except DecodeError as error:
            checksum = run.scope._checksums[step.field]
            if error.code != checksum.code:
                raise
            stored = run.scope[step.field]
            if isinstance(stored, str):
                wanted = error.expected.encode()
            elif isinstance(stored, bytes):
                wanted = bytes.fromhex(error.expected)
            elif not error.expected.startswith("0x"):
                wanted = _digits(error.expected, checksum.octets)
            else:
                wanted = int(error.expected, 16)
            patches.append(_Patch(error.offset, stored, wanted, checksum.octets))

    Verify.parse = parse
    try:
        yield patches
    finally:
        Verify.parse = original


def _digits(text: str, octets: int) -> bytes:
    """Digits in the form that a record has: one per byte, or two."""
    return text.encode() if len(text) == octets else bytes.fromhex(text.zfill(2 * octets))


# --- damage --------------------------------------------------------------------------------------------------------


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

"""Which one changed byte would explain a checksum that is wrong.

Every value of every byte that the checksum covers is tried. A good checksum tells them apart: if exactly one fits, that
byte was changed, or so many others that nobody can tell.
"""

from dataclasses import dataclass

from wireloom.runtime.spans import Explained, Span

TRIED = 1 << 27
"""Bytes that checksums are computed of at most, all tries together."""


@dataclass(frozen=True, slots=True)
class Change:
    """A byte that would make the checksum right: where, what is there, and what was there before it was changed."""

    offset: int
    found: int
    before: int


def unverified(explained: Explained) -> Span | None:
    """The field whose checksum is why a record is bad, or is not what it would be otherwise."""
    error = explained.error
    if error is None:
        return next(iter(explained.refused), None)
    if not error.components:
        return None
    found = (each for each in explained.span.walk() if each.covers is not None and each.covers.holds is False)
    return next((each for each in found if each.name == error.components[-1]), None)


def change(explained: Explained, span: Span) -> Change | None:
    """The one change of a byte that would make the checksum of a field right; None where none or several would."""
    covers = span.covers
    if covers is None or covers.fits is None:
        return None
    data = bytearray(explained.spaces[span.space].data[covers.start : covers.end])
    if 255 * len(data) ** 2 > TRIED:
        return None
    found = list[Change]()
    for at, byte in enumerate(bytes(data)):
        if span.start <= covers.start + at < span.end:
            continue
        for other in range(256):
            data[at] = other
            if other != byte and covers.fits(bytes(data)):
                found.append(Change(covers.start + at, byte, other))
                if len(found) > 1:
                    return None
        data[at] = byte
    return found[0] if found else None

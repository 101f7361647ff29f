"""Finds the one changed byte that would explain a wrong checksum.

It tries every value of every byte that the checksum covers. If exactly one fits, that byte was probably changed; if
many bytes were changed, a good checksum rarely has such a fit.
"""

from dataclasses import dataclass

from wireloom.runtime.spans import Explained, Span

TRIED = 1 << 27
"""Most bytes that are fed to checksums, all tries together."""


@dataclass(frozen=True, slots=True)
class Change:
    """A byte that would make the checksum right: its offset, its value, and the original value."""

    offset: int
    found: int
    before: int


def unverified(explained: Explained) -> Span | None:
    """The field whose checksum made the record fail, or would differ for the record's bytes."""
    error = explained.error
    if error is None:
        return next(iter(explained.refused), None)
    if not error.components:
        return None
    found = (each for each in explained.span.walk() if each.covers is not None and each.covers.holds is False)
    return next((each for each in found if each.name == error.components[-1]), None)


def change(explained: Explained, span: Span) -> Change | None:
    """The one byte change that would make a field's checksum right; None if there are none or several."""
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

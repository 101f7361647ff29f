"""Digests as numbers for programs.

One number holds which digests are applied one after another, how many bytes of the last are used, whether they are
written as digits, and whether they are checked at once or in the queue.
"""

from collections.abc import Mapping, Sequence
from typing import Any

_SIZES = {"md5": 16, "sha1": 20, "sha256": 32, "sha512": 64}
_TAKEN, _IN_DIGITS, _AT_ONCE = 16, 24, 25  # bits of a word, after four bits for each digest


def is_digest(algorithm: str, layout: Mapping[str, Any]) -> bool:
    """Whether a checksum of a layout is a digest."""
    return algorithm in _SIZES or algorithm in layout.get("digests", ())


def digest_word(algorithm: str, layout: Mapping[str, Any], known: Sequence[str], *, digits: bool, at_once: bool) -> int:
    """The word for a digest: in small hexadecimal digits or not; dealt with `at_once`, not together with others."""
    names, size = layout.get("digests", {}).get(algorithm, ((algorithm,), _SIZES.get(algorithm)))
    places = sum(known.index(name) + 1 << 4 * place for place, name in enumerate(names))
    taken: int = size
    return places | taken << _TAKEN | digits << _IN_DIGITS | at_once << _AT_ONCE

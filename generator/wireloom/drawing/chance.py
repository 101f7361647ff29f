"""Choices by a seeded random number generator: the same in every run of one seed."""

import json
import random
import struct
from collections.abc import Sequence
from dataclasses import dataclass

from wireloom.drawing.values import NoValueError
from wireloom.runtime.primitives.charsets import TWO_BYTES, characters

_EDGES = (0, 1, -1, 2, 3, 127, 128, 255, 256, 32767, 65535, 65536)
_FLOATS = (0.0, 1.0, -1.5, 0.25, 1e6, -0.0)
_FORMATS = {16: "<e", 32: "<f", 64: "<d"}
_SIZES = (0, 1, 2, 4, 8, 16)
_TEXTS = ("", "a", "b7", "name", "Zz 9", "é€")
_LETTERS = "abcxyz019"
_DOCUMENTS = {
    "object": ("{}", '{"a": 1}', '{"b": {"c": null}}'),
    "array": ("[]", "[1, 2]", '[{"a": "b"}]'),
    "any": ("null", "true", "7", '"text"', "[]", '{"a": 1.5}'),
}
_MOST = 1 << 16  # most bytes of a text with a stated size


@dataclass(frozen=True, slots=True)
class Random:
    """Random choices that prefer the numbers and texts that a spec compares with."""

    source: random.Random
    numbers: Sequence[int] = ()
    texts: Sequence[str] = ()
    end: bool | None = None  # if set, most numbers are the greatest possible (True) or the least (False)

    def integer(self, low: int, high: int) -> int:
        """An integer from `low` to `high`."""
        return self.source.randint(low, high)

    def edge(self, low: int, high: int) -> int:
        """An integer of that range: often one of its ends, a number that the spec names, or a neighbour of one."""
        if self.end is not None and self.source.random() < 0.8:
            return high if self.end else low
        if self.source.random() < 0.4:
            return self.source.randint(low, high)
        options = [each for each in (low, high, *_EDGES, *self.numbers) if low <= each <= high]
        return self.source.choice(options)

    def boolean(self) -> bool:
        """True or false."""
        return self.source.random() < 0.5

    def float(self, bits: int, *, finite: bool) -> float:  # noqa: ARG002 - readers are tried with finite ones alone
        """A float of `bits` bits."""
        value = self.source.choice((*_FLOATS, round(self.source.uniform(-1000, 1000), 3)))
        found: float = struct.unpack(_FORMATS[bits], struct.pack(_FORMATS[bits], value))[0] if bits > 16 else 0.5
        return found

    def text(self, size: int | None) -> str:
        """A text; with `size`, an ASCII text of so many bytes."""
        if size is None:
            return self.source.choice((*_TEXTS, *self.texts))
        self._refuse_unfit(size)
        fitting = [each for each in self.texts if len(each.encode()) == size]
        return self.source.choice(fitting) if fitting else "".join(self.source.choices(_LETTERS, k=size))

    def encoded(self, size: int | None, charset: str) -> str:
        """A text of `size` bytes in the character set `charset`; raises NoValueError if there is none."""
        width = 2 if charset in TWO_BYTES else 1
        count = self.source.choice(_SIZES) if size is None else size // width
        self._refuse_unfit(count)
        if size is not None and size % width:
            raise NoValueError
        letters = _LETTERS if width == 2 else [each for each in characters(charset) if each]
        return "".join(self.source.choices(letters, k=count))

    def octets(self, size: int | None) -> bytes:
        """Bytes; with `size`, so many."""
        count = self.source.choice(_SIZES) if size is None else size
        self._refuse_unfit(count)
        return self.source.randbytes(count)

    def json_text(self, kind: str) -> str:
        """A JSON text of a kind: object, array or any."""
        return json.dumps(json.loads(self.source.choice(_DOCUMENTS.get(kind, _DOCUMENTS["any"]))))

    @staticmethod
    def _refuse_unfit(size: int) -> None:
        if not 0 <= size <= _MOST:
            raise NoValueError

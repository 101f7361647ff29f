"""Where values without a size end, and how bytes that would end them are escaped.

A value ends at the first delimiter; with several, at the longest that matches. It may include its delimiter. After the
escape, a byte means itself, or what `escaped` says. If the escape is the delimiter itself, the value ends unless the
delimiter is doubled.
"""

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property


def quoted(data: bytes) -> str:
    """Bytes of a text format as a message shows them: quoted if they are printable ASCII, else in hexadecimal."""
    return repr(data.decode()) if data.isascii() and data.decode().isprintable() else data.hex(" ")


@dataclass(frozen=True)
class Ending:
    """Delimiters at a multiple of `unit` bytes; builders write the first one. With `kept`, they belong to the value.

    After the `escape` a byte means itself, unless `escaped` (pairs of code and meaning) says otherwise.
    """

    delimiters: tuple[bytes, ...]
    unit: int = 1
    escape: int | None = None
    escaped: tuple[tuple[int, int], ...] = ()
    kept: bool = False

    @property
    def doubled(self) -> bool:
        """Whether the delimiter is its own escape."""
        return self.escape is not None and self.delimiters == (bytes((self.escape,)),)

    @property
    def looks_behind(self) -> bool:
        """Whether the bytes after a delimiter can make it another delimiter, or none."""
        return self.doubled or any(self._beginnings())

    @cached_property
    def firsts(self) -> bytes:
        """The first bytes of all delimiters."""
        return bytes(sorted({delimiter[0] for delimiter in self.delimiters}))

    @cached_property
    def longest(self) -> tuple[bytes, ...]:
        """The delimiters, the longest first."""
        return tuple(sorted(self.delimiters, key=len, reverse=True))

    @cached_property
    def meanings(self) -> bytes:
        """The meaning of each byte after the escape."""
        escaped = dict(self.escaped)
        return bytes(escaped.get(byte, byte) for byte in range(256))

    @cached_property
    def codes(self) -> dict[int, int]:
        """For each byte that must be escaped, the byte to write after the escape: itself, or its code in `escaped`."""
        assert self.escape is not None
        own = {byte: byte for byte in (self.escape, *self.firsts)}
        return own | {meaning: code for code, meaning in reversed(self.escaped)}

    def flaw(self) -> tuple[str, str] | None:
        """What is wrong with the delimiters, and how to fix it; None if readers find every value again."""
        first = self.delimiters[0]
        if len(set(self.delimiters)) < len(self.delimiters):
            return "a delimiter is stated twice", "state each once"
        if self.kept and (pair := next(self._beginnings(), None)):
            one, other = (each.hex() for each in pair)
            return f"{one} begins {other}, and values may end with either", "drop one of them, or `kept`"
        if longer := next((other for one, other in self._beginnings() if one == first), b""):
            return f"{first.hex()}, which builders write, begins {longer.hex()}, too", "state the longer one first"
        return None

    def flaw_of_escape(self) -> tuple[str, str] | None:
        """What is wrong with the escape, and how to fix it; None if readers find every value again."""
        if self.escape is None:
            return None
        if self.unit > 1:
            return "an escape is one byte, but a character of this charset is not", "drop `escape`, or `charset`"
        if not self.doubled and any(self.escape in delimiter for delimiter in self.delimiters):
            return "the escape is part of a delimiter", "choose another byte, or write it as the whole delimiter"
        if self.doubled and self.escaped:
            return (
                "an escape that is also the delimiter cannot have `escaped`",
                "drop `escaped`, or choose another escape",
            )
        if len(dict(self.escaped)) < len(self.escaped):
            return "a byte after the escape has two meanings", "list each byte once"
        taken = dict(self.escaped)
        if unescaped := next((byte for byte, code in self.codes.items() if taken.get(code, byte) != byte), None):
            return f"no escape stands for {unescaped:02x}, but values may contain it", "add it to `escaped`"
        return None

    def _beginnings(self) -> Iterator[tuple[bytes, bytes]]:
        """Pairs of delimiters of which the second begins with the first."""
        pairs = itertools.permutations(self.delimiters, 2)
        return ((one, other) for one, other in pairs if len(one) < len(other) and other.startswith(one))

    @cached_property
    def _is_plain(self) -> bool:
        return len(self.delimiters) == 1 and self.unit == 1 and self.escape is None

    @cached_property
    def _pattern(self) -> re.Pattern[bytes]:
        """Matches the next delimiter, as a group, or the next escape and the byte after it."""
        ends = b"(" + b"|".join(map(re.escape, self.longest)) + b")"
        if self.escape is None:
            return re.compile(ends)
        escaped_byte = re.escape(bytes((self.escape,))) if self.doubled else b"."
        return re.compile(re.escape(bytes((self.escape,))) + escaped_byte + b"|" + ends, re.DOTALL)

    @cached_property
    def _escapes(self) -> re.Pattern[bytes]:
        return re.compile(re.escape(bytes((self.escape or 0,))) + b"(.)", re.DOTALL)

    @cached_property
    def _needs_escape(self) -> re.Pattern[bytes]:
        """Matches a byte that is written with an escape."""
        return re.compile(b"[" + b"".join(re.escape(bytes((byte,))) for byte in sorted(self.codes)) + b"]")

    def find(self, data: bytes, start: int, end: int) -> tuple[int, int] | None:
        """The ends of the value that begins at `start` and of its delimiter; None if there is no delimiter."""
        if self._is_plain:
            at = data.find(self.delimiters[0], start, end)
            return None if at < 0 else (at, at + len(self.delimiters[0]))
        at = start
        while found := self._pattern.search(data, at, end):
            if found[1] is None:
                at = found.end()
            elif (found.start() - start) % self.unit:
                at = found.start() + 1
            else:
                return found.start(), found.end()
        return None

    def plain(self, data: bytes) -> bytes:
        """A value without its escapes."""
        if self.escape is None or self.escape not in data:
            return data
        return self._escapes.sub(lambda found: self.meanings[found[1][0] : found[1][0] + 1], data)

    def place(self, data: bytes, index: int) -> int:
        """The offset of a byte of the value, counted with its escapes."""
        if self.escape is not None:
            for found in self._escapes.finditer(data):
                if found.start() >= index:
                    break
                index += 1
        return index

    def written(self, value: bytes) -> bytes | None:
        """The value, escaped, with its delimiter; None if readers would find a delimiter elsewhere."""
        if self.kept:
            found = self.find(value, 0, len(value))
            return value if found is not None and found[1] == len(value) else None
        if self.escape is not None:
            escape, codes = self.escape, self.codes
            return self._needs_escape.sub(lambda found: bytes((escape, codes[found[0][0]])), value) + self.delimiters[0]
        data = value + self.delimiters[0]
        return data if self.find(data, 0, len(data)) == (len(value), len(data)) else None

"""Where a stream continues after a record whose end is unknown: at the next offset where a record proves itself.

An offset is proven by bits that match by chance once in 2^32 times: a good checksum together with the constants before
it; or constants of that many bits; or a weaker checksum, followed by another such record or by the end of the stream.
The parser counts checksums and constants as it reads, so this module knows no format. If a bad record states its own
end, that is used if its header has proven itself, or if the records after it do.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto

from wireloom.runtime.boundary_evidence import PROOF, Proof
from wireloom.runtime.cursor import Cursor
from wireloom.runtime.errors import DecodeError, ParameterError
from wireloom.runtime.parameters import ParameterValue
from wireloom.runtime.root import Root
from wireloom.runtime.streams.framed import KEPT, LARGEST, Extent, Reader
from wireloom.runtime.streams.framing import Concatenated, Framing, Prefixed

HOPS = 64
"""The most consecutive bad records, each with a stated end, before one that proves itself."""
TAIL = 16
"""Bytes at the end of a window in which a record may begin but cannot be recognized yet."""
RUN = 256
"""In a run of equal bytes, if this many follow an offset, the next offset is as bad as this one."""


class Verdict(Enum):
    """Whether an offset is proven; `MORE`: more of the stream is needed to tell."""

    YES = auto()
    NO = auto()
    MORE = auto()


@dataclass(frozen=True, slots=True)
class _Tried:
    end: int
    proof: Proof


@dataclass(slots=True)
class Resync:
    """The search for records in a stream of one framing. `begins` matches the first bytes of records, if known.

    `prefix` is the length prefix of fixed width before records, if there is one.
    """

    reader: Reader
    prefix: Prefixed | None
    begins: re.Pattern[bytes] | None
    tried: tuple[int, int] = field(default=(-1, 0))  # a lost record, and the end of the search after it so far

    def settled(  # noqa: PLR0913 - a bad record, and its window
        self, window: bytes, base: int, position: int, start: int, extent: Extent, *, more: bool
    ) -> Extent | None:
        """A bad record, extended to where the stream continues; None if more of the stream is needed to tell.

        The record begins at `start` of a window, its prefix, if any, at `position`; the window is at `base` of the
        stream.
        """
        capped = len(window) - position >= LARGEST
        if not extent.last:
            match self._believed(window, start + extent.size, extent, more=more and not capped):
                case Verdict.YES:
                    return extent
                case Verdict.MORE:
                    return None
                case Verdict.NO:
                    pass
        known, reached = self.tried
        first = max(position + 1, reached - base) if known == base + position else position + 1
        found = next(self._verdicts(window, first, more=more), None)
        if found is not None and (found[1] is Verdict.YES or capped):
            return _up_to(window, base, start, found[0], extent)
        if more and not capped:
            self.tried = base + position, base + (max(len(window) - TAIL, first) if found is None else found[0])
            return None
        return _up_to(window, base, start, len(window) - (TAIL if more else 0), extent)

    @property
    def _width(self) -> int:
        """The size of the length prefix in bytes."""
        return 0 if self.prefix is None else self.prefix.width

    def _verdicts(self, window: bytes, at: int, *, more: bool) -> Iterator[tuple[int, Verdict]]:
        """The offsets from `at` on that are not refused."""
        cursor = Cursor(window)
        while (at := self._candidate(window, at)) >= 0:
            verdict = self._proves(cursor, at, more=more)
            if verdict is not Verdict.NO:
                yield at, verdict
            at = self._offset_after(window, at)

    def _candidate(self, window: bytes, at: int) -> int:
        """The next offset where a record may begin; -1 if there is none."""
        if self.begins is None:
            return at if at < len(window) else -1
        head = self._width
        found = self.begins.search(window, at + head)
        return -1 if found is None else found.start() - head

    def _offset_after(self, window: bytes, at: int) -> int:
        """The offset to try after a refused one; in a long run of one byte, equally bad offsets are skipped."""
        run = window[at : at + 1] * RUN
        if not window.startswith(run, at) or self._try(Cursor(window[at : at + RUN]), 0, more=True) is not None:
            return at + 1
        other = re.compile(b"[^" + re.escape(window[at : at + 1]) + b"]", re.DOTALL).search(window, at)
        return max((len(window) if other is None else other.start()) - RUN, at) + 1

    def _proves(self, cursor: Cursor, at: int, *, more: bool) -> Verdict:
        found = self._try(cursor, at, more=more)
        if not isinstance(found, _Tried):
            return Verdict.NO if found is None else found
        if found.proof.alone:
            return Verdict.YES
        if not found.proof.with_next:
            return Verdict.NO
        if found.end == cursor.total:
            return Verdict.MORE if more else Verdict.YES
        following = self._try(cursor, found.end, more=more)
        if not isinstance(following, _Tried):
            return Verdict.NO if following is None else following
        return Verdict.YES if following.proof.alone or following.proof.with_next else Verdict.NO

    def _believed(self, window: bytes, end: int, extent: Extent, *, more: bool) -> Verdict:
        """Whether a bad record ends where it, or its prefix, says."""
        if self.prefix is None and extent.error is not None and Proof(*extent.error.frame_proof).alone:
            return Verdict.YES
        cursor = Cursor(window)
        for _ in range(HOPS):
            if end == len(window):
                return Verdict.MORE if more else Verdict.YES
            verdict = self._proves(cursor, end, more=more)
            if verdict is not Verdict.NO:
                return verdict
            found = self._hop(cursor, window, end, more=more)
            if not isinstance(found, int):
                return found
            end = found
        return Verdict.NO

    def _hop(self, cursor: Cursor, window: bytes, at: int, *, more: bool) -> int | Verdict:
        """The end of the record at an offset, as the record states it."""
        if self.prefix is not None:
            width, size = self.prefix.measured(window, at) or (0, 0)
            end = at + width + size
            return end if at + width < end <= len(window) else Verdict.NO
        found = self._try(cursor, at, more=more)
        return found.end if isinstance(found, _Tried) else (found or Verdict.NO)

    def _try(self, cursor: Cursor, at: int, *, more: bool) -> "_Tried | Verdict | None":
        """The record at an offset; None if there is none, MORE if more of the stream is needed to tell."""
        if at + self._width >= cursor.total:
            return Verdict.MORE if more else None
        if self.prefix is None:
            return self._read(cursor, at, more=more)
        cursor.seek(at)
        width, size = self.prefix.measured(cursor.read(self._width)) or (0, 0)
        inner = at + width
        if not 0 < size <= LARGEST:
            return None
        if inner + size > cursor.total:
            return Verdict.MORE if more and self._read(cursor, inner, more=True) is not None else None
        found = self._read(Cursor(cursor.read(size)), 0, more=False)
        return _Tried(inner + size, found.proof) if isinstance(found, _Tried) and found.end == size else None

    def _read(self, cursor: Cursor, at: int, *, more: bool) -> "_Tried | Verdict | None":
        cursor.seek(at)
        try:
            self.reader.read(cursor)
            found = _Tried(cursor.tell(), Proof(cursor.checksums, cursor.constants))
        except DecodeError as error:
            if error.frame_end is None:
                return Verdict.MORE if error.cut_off and more else None
            found = _Tried(error.frame_end, Proof(*error.frame_proof))
        return found if found.end > at else None


def _up_to(window: bytes, base: int, start: int, end: int, extent: Extent) -> Extent:
    """The bad record with the skipped bytes."""
    return Extent(base + start, end - start, window[start : min(end, start + KEPT)], error=extent.error)


def resync(reader: Reader, root: Root, framing: Framing, settings: Mapping[str, ParameterValue], format: str) -> Resync:
    """The search for a root's records; raises ParameterError if no offset of its streams can be proven."""
    prefix = framing if isinstance(framing, Prefixed) and framing.width else None
    if prefix is None and not isinstance(framing, Concatenated):
        raise ParameterError(
            "resync works only with the framing concatenated, or with prefixes of one width such as length-prefixed, "
            f"not with {framing.text}"
        )
    proof = root.proof(settings)
    if not (proof.alone or proof.with_next):
        raise ParameterError(
            f"resync cannot find the start of a record of {format}: it needs {PROOF} bits of checksums or constants, "
            f"but records have {proof.checksums} bits of checksums and {proof.constants} of constants"
        )
    found = root.beginnings
    begins = None if found is None else re.compile(b"|".join(map(re.escape, sorted(found))), re.DOTALL)
    return Resync(reader, prefix, begins)

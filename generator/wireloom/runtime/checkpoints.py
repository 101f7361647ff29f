"""Where the engine gave up a record, so that the parser need not read all of it again.

The engine notes each list that it reads, in reading order: where its elements begin, how many it has read, and where
the next one begins. It forgets the lists within an element once the next element begins. The parser meets the same
lists in the same order; it skips the elements that the engine has read, and reports the error in the next one.

The parser reads a JSON text before its structure. So for JSON a note also has the end of the list's last element, and
the text is skipped both before and after the next element.

Skipped elements have no value. An expression that needs one raises Unread, and so does a list that begins at another
offset than the engine noted: then the parser reads the whole record. So checkpoints save work, and never decide what an
error is.
"""

import struct
from array import array
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from wireloom.runtime.errors import DecodeError

_WORDS = struct.Struct("=12q")
_HOLE = struct.Struct("=4q")
_PASS, _TEXT = -2, -3
"""Notes that are not lists: the record is read again, in the other byte order; a JSON text begins."""


class Unread(Exception):  # noqa: N818 - not an error: the caller reads the whole record instead
    """The parser needs a value that it has skipped."""


def refusal(read: Callable[[], object]) -> DecodeError | None:
    """The error of a reading from checkpoints; None if only reading the whole record can tell."""
    try:
        read()
    except Unread:
        return None
    except DecodeError as error:
        return None if error.code == "size_limit" else error  # the engine counts a little more than the parser does
    return None


class Passed(list[Any]):
    """Elements that the engine has read: only their number is known. Elements after them have values."""

    def _refuse(self, *_: object) -> Any:
        raise Unread

    __iter__ = __reversed__ = __getitem__ = __contains__ = __eq__ = __ne__ = __add__ = index = count = copy = _refuse
    __hash__ = None


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A list as the engine has read it. Offsets count from the start of the record, or of the unpacked region.

    In a JSON text, offsets count from the start of the text. There a list begins at its bracket, and the next element
    at the end of the one before it.
    """

    start: int
    count: int  # elements that were read completely
    is_open: bool  # whether reading of the next one had begun
    position: int  # where the next one begins, or where the list ends
    again: int  # counters of the limits so far: bytes read again,
    furthest: int  # the furthest offset read,
    expanded: int  # bytes that the record was expanded to,
    packed: int  # bytes of unpacked regions before
    unpacked: int  # and after unpacking
    text: int  # in JSON: the number of the text, negative if only the text was read, not its structure,
    total: int  # the number of elements, 0 if not known,
    last: int  # and where the last one ends


class Checkpoints:
    """The lists of one reading of a record."""

    def __init__(self, lists: list[Checkpoint], native: Any) -> None:
        self._native = native
        self._lists, self._at = [each for each in lists if each.text >= 0], 0
        self._unread = [each for each in lists if each.text < 0]
        self._pauses = 0

    @classmethod
    def passes(cls, data: bytes, native: Any) -> "Iterator[Checkpoints]":
        """The checkpoints of each reading by the engine; there are two if the first byte order was wrong."""
        lists: list[Checkpoint] = []
        for start, count, is_open, *rest in _WORDS.iter_unpack(data):
            if start == _PASS:
                yield cls(lists, native)
                lists = []
            else:
                lists.append(Checkpoint(start, count, bool(is_open), *rest))
        yield cls(lists, native)

    @staticmethod
    def elements(data: bytes) -> int:
        """How many list elements the engine has read."""
        return sum(count for start, count, *_ in _WORDS.iter_unpack(data) if start >= 0)

    def next(self, start: int, total: int | None) -> Checkpoint | None:
        """The note on the list that begins here; `total` is the number of its elements, if it is known."""
        found = self._next()
        if found is not None and (found.start != start or (total is not None and not _is_of(found, total))):
            raise Unread
        return found

    def text(self, size: int, read: Callable[[dict[int, Checkpoint]], Any]) -> Any:
        """Read the JSON text of `size` bytes that begins here, with the notes on its lists by their offsets.

        A list that was read twice is left out, since either reading could count. If the engine could not read the text
        to its end, the lists that it did read are known to be JSON, and nothing else.
        """
        found = self._next()
        if found is None:
            return read({})
        if found.start != _TEXT or found.count != size:
            raise Unread
        lists = [each for each in islice(self._lists, self._at, None) if each.text == found.text]
        times = Counter(each.start for each in lists)
        known = {each.start: each for each in self._unread if each.text == -found.text and not times[each.start]}
        value = read(known | {each.start: each for each in lists if times[each.start] == 1})
        if found.is_open:
            raise Unread
        return value

    def holes(self, data: bytes, start: int, end: int, words: "array[int]") -> dict[int, tuple[int, int, int]]:
        """Elements of a protobuf message that its scan may skip: by their offset, their field, number and end.

        If the message is whole and has all required fields, the scan still covers the elements that the parser will
        read.
        """
        if self._pauses:
            return {}
        is_good, found = self._native.holes(data, start, end, words, None)
        if is_good:
            kept = array("q", [each.position for each in islice(self._lists, self._at, None) if each.is_open])
            _, found = self._native.holes(data, start, end, words, kept)
        return {first: (number, count, after) for first, number, count, after in _HOLE.iter_unpack(found)}

    def _next(self) -> Checkpoint | None:
        if self._pauses or self._at == len(self._lists):
            return None
        self._at += 1
        return self._lists[self._at - 1]

    def pause(self) -> None:
        """The parser reads elements that the engine has read, and whose inner lists it has forgotten."""
        self._pauses += 1

    def resume(self) -> None:
        """The next lists are again those that the engine noted."""
        self._pauses -= 1


def _is_of(found: Checkpoint, total: int) -> bool:
    return found.count < total if found.is_open else found.count == total

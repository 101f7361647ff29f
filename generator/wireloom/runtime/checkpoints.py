"""Where the engine was when it gave up a record, so that the parser need not read all of it again.

The engine notes each list that it reads, in the order of reading: where its elements begin, how many it has read, and
where the next one begins. Lists within an element are forgotten once the next element begins. The parser meets the same
lists in the same order; it passes over the elements that the engine has read, and says what is wrong with the next one.

Of JSON the parser reads the text before its structure. There a note also says where all elements of the list end, so
that the text is passed over before the next element and after it.

What it passes over has no value. An expression that needs one raises Unread, and so does a list that begins elsewhere
than the engine says: then the whole record is read. So checkpoints save work, and never decide what an error is.
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
"""What stands in place of a list: the record is read again, in the other byte order; a text of JSON begins."""


class Unread(Exception):  # noqa: N818 - no error: it says that the record is to be read as a whole
    """The parser needs what it has passed over."""


def refusal(read: Callable[[], object]) -> DecodeError | None:
    """The error of a reading from checkpoints; None where only a reading of the whole record tells."""
    try:
        read()
    except Unread:
        return None
    except DecodeError as error:
        return None if error.code == "size_limit" else error  # the engine counts a little more than the parser does
    return None


class Passed(list[Any]):
    """Elements that the engine has read: only their number is known. Those after them have values."""

    def _refuse(self, *_: object) -> Any:
        raise Unread

    __iter__ = __reversed__ = __getitem__ = __contains__ = __eq__ = __ne__ = __add__ = index = count = copy = _refuse
    __hash__ = None


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A list as the engine has read it. Places count from the start of the record, or of what a region unpacked to.

    Those in a text of JSON count from its start. There a list begins with its bracket, and the next element after the
    one before.
    """

    start: int
    count: int  # elements that were read
    is_open: bool  # whether the next one was begun
    position: int  # where the next one begins, else where the list ends
    again: int  # what the limits count so far: bytes that were read again, and the furthest of them,
    furthest: int
    expanded: int  # bytes that the record was expanded to,
    packed: int  # bytes of regions that were unpacked, and of what they became
    unpacked: int
    text: int  # in a text of JSON: which one, negative where only the text was read,
    total: int  # how many elements there are, 0: not known,
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
        """Those of each reading, by the engine: there are two where the first byte order is the wrong one."""
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
        """How many elements of lists the engine has read."""
        return sum(count for start, count, *_ in _WORDS.iter_unpack(data) if start >= 0)

    def next(self, start: int, total: int | None) -> Checkpoint | None:
        """What is known of the list that begins here; `total` is the number of its elements, where that is known."""
        found = self._next()
        if found is not None and (found.start != start or (total is not None and not _is_of(found, total))):
            raise Unread
        return found

    def text(self, size: int, read: Callable[[dict[int, Checkpoint]], Any]) -> Any:
        """Read the JSON text of so many bytes that begins here, with what is known of its lists by their starts.

        Of a list that was read twice it is not known which reading counts. Lists of a text that the engine could not
        read to its end are JSON, and no more is known of them.
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
        """Elements of a message that its scan need not look at: by where they begin, their field, number and end.

        Where the message is whole and has what is required, those are scanned that the parser reads.
        """
        if self._pauses:
            return {}
        is_good, found = self._native.holes(data, start, end, words, None)
        if is_good:
            kept = array("q", [each.position for each in islice(self._lists, self._at, None) if each.is_open])
            _, found = self._native.holes(data, start, end, words, kept)
        return {first: (number, count, behind) for first, number, count, behind in _HOLE.iter_unpack(found)}

    def _next(self) -> Checkpoint | None:
        if self._pauses or self._at == len(self._lists):
            return None
        self._at += 1
        return self._lists[self._at - 1]

    def pause(self) -> None:
        """Elements are read that the engine has read: it has forgotten the lists in them."""
        self._pauses += 1

    def resume(self) -> None:
        """What follows is as the engine has read it."""
        self._pauses -= 1


def _is_of(found: Checkpoint, total: int) -> bool:
    return found.count < total if found.is_open else found.count == total

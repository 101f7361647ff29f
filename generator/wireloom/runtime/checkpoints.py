"""Where the engine was when it gave up a record, so that the parser need not read all of it again.

The engine notes each list that it reads, in the order of reading: where its elements begin, how many it has read, and
where the next one begins. Lists within an element are forgotten once the next element begins. The parser meets the same
lists in the same order; it passes over the elements that the engine has read, and says what is wrong with the next one.

What it passes over has no value. An expression that needs one raises Unread, and so does a list that begins elsewhere
than the engine says: then the whole record is read. So checkpoints save work, and never decide what an error is.
"""

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from wireloom.runtime.errors import DecodeError

_WORDS = struct.Struct("=9q")
_PASS = -2  # in place of a list: the record is read again, in the other byte order


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
    """Elements that the engine has read: only their number is known. Those behind them have values."""

    def _refuse(self, *_: object) -> Any:
        raise Unread

    __iter__ = __reversed__ = __getitem__ = __contains__ = __eq__ = __ne__ = __add__ = index = count = copy = _refuse
    __hash__ = None


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A list as the engine has read it. Places count from the start of the record, or of what a region unpacked to."""

    start: int
    count: int  # elements that were read
    is_open: bool  # whether the next one was begun
    position: int  # where the next one begins, else where the list ends
    again: int  # what the limits count so far: bytes that were read again, and the furthest of them,
    furthest: int
    expanded: int  # bytes that the record was expanded to,
    packed: int  # bytes of regions that were unpacked, and of what they became
    unpacked: int


class Checkpoints:
    """The lists of one reading of a record."""

    def __init__(self, lists: list[Checkpoint]) -> None:
        self._lists = iter(lists)
        self._pauses = 0

    @classmethod
    def passes(cls, data: bytes) -> "Iterator[Checkpoints]":
        """Those of each reading: there are two where the first byte order is the wrong one."""
        lists: list[Checkpoint] = []
        for start, count, is_open, *rest in _WORDS.iter_unpack(data):
            if start == _PASS:
                yield cls(lists)
                lists = []
            else:
                lists.append(Checkpoint(start, count, bool(is_open), *rest))
        yield cls(lists)

    def next(self, start: int, total: int | None) -> Checkpoint | None:
        """What is known of the list that begins here; `total` is the number of its elements, where that is known."""
        found = None if self._pauses else next(self._lists, None)
        if found is not None and (found.start != start or (total is not None and not _is_of(found, total))):
            raise Unread
        return found

    def pause(self) -> None:
        """Elements are read that the engine has read: it has forgotten the lists in them."""
        self._pauses += 1

    def resume(self) -> None:
        """What follows is as the engine has read it."""
        self._pauses -= 1


def _is_of(found: Checkpoint, total: int) -> bool:
    return found.count < total if found.is_open else found.count == total

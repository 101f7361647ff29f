"""The elements of a list, in any encoding: read in order, with errors at their index and unique members.

`Salvage` keeps the elements before the first bad one. If the engine has read part of the list (`Checkpoints`), the
parser skips those elements, so a bad record costs no more than a good one.
"""

from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import repeat
from typing import Any

from construct import Container

from wireloom.runtime.checkpoints import Checkpoint, Checkpoints, Passed, Unread
from wireloom.runtime.cursor import Cursor
from wireloom.runtime.errors import DecodeError, EncodeError, shown
from wireloom.runtime.parsers.protocol import Expression, holds, start_of


@dataclass(frozen=True)
class Salvage:
    """Keep the elements before the first that fails with one of `codes`, while `when` holds.

    The field `lost` counts the others.
    """

    codes: tuple[str, ...]
    when: Expression
    lost: str


def _pausing(streams: Iterable[Any], checkpoints: Checkpoints, known: Checkpoint) -> Generator[Any, None, None]:
    """The streams of elements; checkpoints are paused in those that the engine read, as it forgot their inner lists."""
    is_silent = not known.is_open or known.count > 0
    if is_silent:
        checkpoints.pause()
    try:
        for index, stream in enumerate(streams):
            if is_silent and known.is_open and index == known.count:
                is_silent = False
                checkpoints.resume()
            yield stream
    finally:
        if is_silent:
            checkpoints.resume()


def nodes_behind(nodes: list[Any], count: int) -> Iterator[Any]:
    """The nodes after the first `count`; raises Unread for a node that was skipped."""
    for node in list.__getitem__(nodes, slice(count, None)):
        if node is None:
            raise Unread
        yield node


@dataclass(frozen=True)
class Elements:
    """Elements of one type.

    The member `unique` of the elements must not repeat; a second element with the same value is `unique_code`.
    """

    element: Any
    unique: str = ""
    unique_code: str = "duplicate_element"
    salvage: Salvage | None = None

    @property
    def is_whole(self) -> bool:
        """Whether the elements depend on one another, so that none can be skipped."""
        return self.salvage is not None or bool(self.unique)

    def parse_at(
        self, stream: Cursor, streams: Iterable[Any], context: Container, total: int | None = None
    ) -> list[Any]:
        """The elements in a stream, without those that the engine has read.

        All `streams` are this stream, or do not depend on the elements before.
        """
        checkpoints = context._params.get("_checkpoints")
        found = None if checkpoints is None else checkpoints.next(stream.tell() - stream.origin, total)
        if found is None:
            return self.parse(streams, context, total)
        if self.is_whole:
            return self._parse_whole(streams, context, total, checkpoints, found)
        passed = self._pass_over(stream, streams, context, found)
        if not found.is_open:
            return passed
        rest = streams if total is None else repeat(stream, total - found.count)
        return self.parse(rest, context, total, passed)

    def parse_nodes(self, nodes: list[Any], context: Container, start: int) -> list[Any]:
        """The elements of a JSON array, at `start` of its text, or of a protobuf list, as `parse_at`."""
        checkpoints = None if self.is_whole else context._params.get("_checkpoints")
        found = None if checkpoints is None else checkpoints.next(start, len(nodes))
        if found is None:
            return self.parse(nodes, context, len(nodes))
        passed = self._pass_nodes(nodes, context, found)
        return self.parse(nodes_behind(nodes, found.count), context, len(nodes), passed) if found.is_open else passed

    def parse_whole(self, stream: Cursor, streams: Iterable[Any], context: Container, found: list[Any]) -> list[Any]:
        """As `parse_at`, if each stream depends on the elements before; skips only a list that was read whole."""
        checkpoints = context._params.get("_checkpoints")
        known = None if checkpoints is None else checkpoints.next(stream.tell() - stream.origin, None)
        if known is None:
            return self.parse(streams, context, found=found)
        if known.is_open or self.is_whole:
            return self._parse_whole(streams, context, None, checkpoints, known, found)
        return self._pass_over(stream, streams, context, known)

    def _parse_whole(  # noqa: PLR0913 - the arguments of `parse`, and the checkpoint
        self,
        streams: Iterable[Any],
        context: Container,
        total: int | None,
        checkpoints: Checkpoints,
        known: Checkpoint,
        found: list[Any] | None = None,
    ) -> list[Any]:
        """All elements, even those that the engine has read; their inner lists have no checkpoints."""
        with closing(_pausing(streams, checkpoints, known)) as whole:
            return self.parse(whole, context, total, found)

    def _pass_over(self, stream: Cursor, streams: Iterable[Any], context: Container, known: Checkpoint) -> Passed:
        """Continue where the engine was, with its counters of the limits."""
        stream.seek(stream.origin + known.position)
        stream.again = known.again
        stream.furthest = max(stream.furthest, stream.origin + known.furthest)
        return self._passed(context, known)

    def _pass_nodes(self, nodes: list[Any], context: Container, known: Checkpoint) -> Passed:
        """The skipped elements of a list of nodes."""
        return self._passed(context, known)

    @staticmethod
    def _passed(context: Container, known: Checkpoint) -> Passed:
        """The skipped elements; the record's expansion so far counts."""
        expansion = context._params.get("_expansion")
        expansion.spent, expansion.packed, expansion.unpacked = known.expanded, known.packed, known.unpacked
        return Passed([None] * known.count)

    def parse(
        self, streams: Iterable[Any], context: Container, total: int | None = None, found: list[Any] | None = None
    ) -> list[Any]:
        """The elements read from `streams`, added to `found`.

        `total` is their number, if it is known; a salvage counts with it.
        """
        elements: list[Any] = [] if found is None else found
        seen: set[Any] = set()
        outer = context.get("_index")
        for index, stream in enumerate(streams, len(elements)):
            context._index = index
            start = start_of(stream)
            try:
                element = self.element._parse(stream, context, "")
                self._keep_unique(element, seen, start)
            except DecodeError as error:
                if not self._salvages(error, context):
                    raise error.at(index) from None
                context[self.salvage.lost] = (total or index + 1) - index  # type: ignore[union-attr]
                break
            elements.append(element)
        context._index = outer
        return elements

    def _keep_unique(self, element: Any, seen: set[Any], start: int) -> None:
        if not self.unique:
            return
        absent = element.get(self.unique)  # null also if it belongs to a flattened record that is absent
        name = element.hidden.get(self.unique, absent)
        key = (name, isinstance(name, bool))  # true is not 1
        if key in seen:
            raise DecodeError(
                self.unique_code, offset=start, expected=f"another {self.unique}", actual=f"{shown(name)} again"
            )
        seen.add(key)

    def _salvages(self, error: DecodeError, context: Container) -> bool:
        return self.salvage is not None and error.code in self.salvage.codes and holds(self.salvage.when, context)

    def build(self, obj: Any, streams: Iterator[Any], context: Container) -> None:
        """Write the elements of `obj` to `streams`."""
        if not isinstance(obj, list | tuple):
            raise EncodeError("a list", shown(obj))
        outer = context.get("_index")
        for index, (element, stream) in enumerate(zip(obj, streams, strict=False)):
            context._index = index
            try:
                self.element._build(element, stream, context, "")
            except EncodeError as error:
                raise error.at(index) from None
        context._index = outer

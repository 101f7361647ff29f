"""The elements of a list, in any encoding: one after the other, each error at its index, names kept unique."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from construct import Container

from wireloom.runtime.errors import DecodeError, EncodeError, shown
from wireloom.runtime.parsers.structure import Expression, holds, start_of


@dataclass(frozen=True)
class Salvage:
    """Keep the elements before the first that fails with one of `codes`, while `when` holds.

    `lost` counts the others.
    """

    codes: tuple[str, ...]
    when: Expression
    lost: str


@dataclass(frozen=True)
class Elements:
    """Elements of one type.

    `unique` names a member of theirs that must not repeat (else `unique_code`, at the second).
    """

    element: Any
    unique: str = ""
    unique_code: str = "duplicate_element"
    salvage: Salvage | None = None

    def parse(
        self, streams: Iterable[Any], context: Container, total: int | None = None, found: list[Any] | None = None
    ) -> list[Any]:
        """The elements read from `streams`, added to `found`.

        `total` is their number where it is known (salvage counts with it).
        """
        elements: list[Any] = [] if found is None else found
        seen: set[Any] = set()
        outer = context.get("_index")
        for index, stream in enumerate(streams):
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
        absent = element.get(self.unique)  # null, also where it is of a flattened record that is not there
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

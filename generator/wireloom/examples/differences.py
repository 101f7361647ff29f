"""Compares two renderings member by member.

As in specs, a null member and a missing member are equal.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from wireloom.escapes import visible_json

Path = tuple[str | int, ...]

LONGEST = 60  # most characters of a value in a message


@dataclass(frozen=True, slots=True)
class Difference:
    """A member that differs, with its value on both sides; ABSENT for a missing one."""

    path: Path
    stated: object
    came: object

    def __str__(self) -> str:
        """`readings[1].value: expected 0.5, found 0.4`."""
        where = f"{member(self.path)}: " if self.path else ""
        match self.stated, self.came:
            case _Absent(), _:
                return f"{where}found {shown(self.came)}, and the example does not have it"
            case _, _Absent():
                return f"{where}expected {shown(self.stated)}, found nothing"
            case dict(), list():
                pairs = "; the value of a map is a list of pairs of key and value"
                return f"{where}expected {shown(self.stated)}, found {shown(self.came)}{pairs * _is_map(self.came)}"
            case _:
                return f"{where}expected {shown(self.stated)}, found {shown(self.came)}"


class _Absent:
    """The value of a missing member."""


ABSENT = _Absent()


def _is_map(rendering: list[Any]) -> bool:
    """Whether a list can be the rendering of a map."""
    return all(isinstance(each, list) and len(each) == 2 for each in rendering)


def differences(stated: object, came: object, path: Path = ()) -> Iterator[Difference]:
    """The members that differ, with the stated value first."""
    match stated, came:
        case dict(), dict():
            names = [*stated, *(name for name in came if name not in stated)]
            for name in names:
                yield from differences(_member(stated, name), _member(came, name), (*path, name))
        case list(), list():
            for place in range(max(len(stated), len(came))):
                yield from differences(_element(stated, place), _element(came, place), (*path, place))
        case _ if not same(stated, came):
            yield Difference(path, stated, came)
        case _:
            return


def same(one: object, other: object) -> bool:
    """Whether two scalars are equal; unlike in Python, true is not 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    return one is other or one == other


def without_nulls(rendering: object) -> object:
    """A rendering as specs write it, without null members."""
    match rendering:
        case dict():
            return {name: without_nulls(value) for name, value in rendering.items() if value is not None}
        case list():
            return [without_nulls(element) for element in rendering]
        case _:
            return rendering


def shown(value: object) -> str:
    """A value as one line of JSON, cut if it is long."""
    text = visible_json(json.dumps(without_nulls(value), ensure_ascii=False, default=repr))
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} ..."


def member(path: Path) -> str:
    """A path as text: `readings[1].value`."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".")


def _member(rendering: dict[str, object], name: str) -> object:
    value = rendering.get(name)
    return ABSENT if value is None else value


def _element(rendering: list[object], place: int) -> object:
    return rendering[place] if place < len(rendering) else ABSENT

"""Edits the text of a spec to change values in it, and leaves everything else as it is.

Loading and dumping YAML would lose comments and layout. So only the members that differ are edited in the text:
mappings and lists are compared member by member, and new members are written like their neighbours, in braces or on
lines of their own.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import yaml

from wireloom.examples.differences import differences
from wireloom.spec.yaml import raw_end

WIDTH = 120  # preferred line width
INDENT = 2

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_.+/=-]*( [A-Za-z0-9_.+/=-]+)*")
# plain texts that some YAML reader takes for another type
_OTHERWISE = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}


@dataclass(frozen=True, slots=True)
class Edit:
    """A replacement of a part of a text."""

    start: int
    end: int
    text: str


def edited(text: str, edits: Iterable[Edit]) -> str:
    """The text with the edits applied; edits at the same place keep their order."""
    parts, place = [], 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        parts += [text[place : edit.start], edit.text]
        place = edit.end
    return "".join([*parts, text[place:]])


@dataclass(frozen=True, slots=True)
class Editor:
    """Computes edits of a text. Its methods take a YAML node and its value."""

    text: str

    def mapping(self, node: yaml.MappingNode, old: Mapping[str, object], new: Mapping[str, object]) -> Iterator[Edit]:
        """The edits after which the mapping has exactly the members of `new`; at least one member is in both."""
        added = _added(old, new)
        first = next(name for name in old if name in new)
        places = list(zip(node.value, old, strict=True))
        for number, ((key, value), name) in enumerate(places):
            if name in new:
                if name == first:
                    yield from self._before(node, key, added.get(None, {}))
                yield from self._entry(node, (key, value), old[name], (name, new[name]))
                yield from self._after(node, value, added.get(name, {}))
            elif any(before in new for _, before in places[:number]):
                yield Edit(self._end_of(node, places[number - 1][0][1]), self._end_of(node, value), "")
            else:
                yield Edit(key.start_mark.index, places[number + 1][0][0].start_mark.index, "")

    def _entry(
        self, node: yaml.MappingNode, entry: tuple[yaml.Node, yaml.Node], old: object, new: tuple[str, object]
    ) -> Iterator[Edit]:
        """The edits of one member: inside its value if that is possible, otherwise of the whole entry."""
        key, value = entry
        name, wished = new
        if not _differ(old, wished):
            return
        within = self._within(value, old, wished)
        if within is not None:
            yield from within
            return
        end = max(raw_end(key, self.text), raw_end(value, self.text))
        yield Edit(key.start_mark.index, end, self._lines(node, {name: wished}).lstrip(" "))

    def _within(self, node: yaml.Node, old: object, new: object) -> Iterator[Edit] | None:
        """The edits inside a value; None if it must be replaced as a whole."""
        match node, old, new:
            case yaml.MappingNode(), dict(), dict():
                wished = new | {name: None for name, value in old.items() if value is None and name not in new}
                return self.mapping(node, old, wished) if old.keys() & wished.keys() else None
            case yaml.SequenceNode(), [_, *_], [_, *_]:
                return self._sequence(node, old, new)
            case yaml.ScalarNode(start_mark=start, end_mark=end), _, str() | int() | float() if start.index < end.index:
                return iter([Edit(start.index, raw_end(node, self.text), flow(new))])
            case _:
                return None

    def _sequence(self, node: yaml.SequenceNode, old: Sequence[object], new: Sequence[object]) -> Iterator[Edit]:
        for item, was, wished in zip(node.value, old, new, strict=False):
            within = self._within(item, was, wished)
            if not _differ(was, wished):
                continue
            if within is not None:
                yield from within
            else:
                start, end = item.start_mark.index, raw_end(item, self.text)
                yield Edit(start, end, flow(wished) if start < end else f" {flow(wished)}")
        last = self._end_of(node, node.value[min(len(old), len(new)) - 1])
        lead = ", " if node.flow_style else f"{self._ending}{' ' * node.start_mark.column}- "
        yield Edit(last, self._end_of(node, node.value[-1]), "".join(lead + flow(each) for each in new[len(old) :]))

    def _before(self, node: yaml.MappingNode, key: yaml.Node, members: Mapping[str, object]) -> Iterator[Edit]:
        if members:
            start = key.start_mark.index
            between = ", " if node.flow_style else self._ending + " " * node.start_mark.column
            yield Edit(start, start, self._lines(node, members).lstrip(" ") + between)

    def _after(self, node: yaml.MappingNode, value: yaml.Node, members: Mapping[str, object]) -> Iterator[Edit]:
        if members:
            place = self._end_of(node, value)
            between = ", " if node.flow_style else self._ending
            yield Edit(place, place, between + self._lines(node, members))

    def _lines(self, node: yaml.MappingNode, members: Mapping[str, object]) -> str:
        """Members in the style of the mapping."""
        if node.flow_style:
            return ", ".join(f"{flow(name)}: {flow(value)}" for name, value in members.items())
        column = node.start_mark.column
        return self._ending.join(line for name, value in members.items() for line in _block(name, value, column))

    def _end_of(self, node: yaml.CollectionNode, member: yaml.Node) -> int:
        """The offset after a member; in block style after its line, including a comment there."""
        place = raw_end(member, self.text)
        if node.flow_style:
            return place
        found = self.text.find("\n", place)
        end = len(self.text) if found < 0 else found
        return end - 1 if self.text[:end].endswith("\r") else end

    @property
    def _ending(self) -> str:
        return "\r\n" if "\r\n" in self.text else "\n"


def _differ(old: object, new: object) -> bool:
    return next(differences(old, new), None) is not None


def _added(old: Mapping[str, object], new: Mapping[str, object]) -> dict[str | None, dict[str, object]]:
    """The new members, by the existing member that they follow."""
    added: dict[str | None, dict[str, object]] = {}
    previous = None
    for name, value in new.items():
        if name in old:
            previous = name
        else:
            added.setdefault(previous, {})[name] = value
    return added


# --- values as YAML ------------------------------------------------------------------------------------------------


def _block(key: str, value: object, column: int) -> Iterator[str]:
    """An entry of a block mapping, on one line if it fits."""
    lead = f"{' ' * column}{flow(key)}:"
    line = f"{lead} {flow(value)}"
    match value:
        case dict() if len(line) > WIDTH:
            yield lead
            for name, member in value.items():
                yield from _block(name, member, column + INDENT)
        case list() if len(line) > WIDTH:
            yield lead
            yield from (f"{' ' * (column + INDENT)}- {flow(element)}" for element in value)
        case _:
            yield line


def flow(value: object) -> str:
    """A value on one line, in a form that YAML 1.1 and 1.2 read alike."""
    match value:
        case dict():
            return "{" + ", ".join(f"{flow(key)}: {flow(inner)}" for key, inner in value.items()) + "}"
        case list():
            return "[" + ", ".join(map(flow, value)) + "]"
        case str():
            return value if _PLAIN.fullmatch(value) and value.lower() not in _OTHERWISE else _quoted(value)
        case float():
            return _float(value)
        case _:
            return json.dumps(value)


def _quoted(text: str) -> str:
    quoted = json.dumps(text, ensure_ascii=False)
    return "".join(character if character.isprintable() else _escaped(character) for character in quoted)


def _escaped(character: str) -> str:
    return f"\\u{ord(character):04x}" if ord(character) < 1 << 16 else f"\\U{ord(character):08x}"


def _float(value: float) -> str:
    """A float, written with a point so that it is read as a float."""
    digits, exponent, power = repr(value).partition("e")
    return (digits if "." in digits else f"{digits}.0") + exponent + power

"""Compares a Kaitai reader of an exported description with the spans of the spec's own parse."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from wireloom.exporting.kaitai.names import identifier
from wireloom.runtime.spans import ABSENT, Span

_CLASS = re.compile(r"(?:^|_)([a-z0-9])")


def class_name(id: str) -> str:
    """The class name that Kaitai's compiler gives to a type."""
    return _CLASS.sub(lambda found: found[1].upper(), id)


def reader(files: Mapping[str, str], id: str) -> Any:
    """The reader class of a description, from the compiler's files."""
    module = ModuleType(id)
    exec(compile(next(iter(files.values())), id, "exec"), module.__dict__)  # noqa: S102 - the compiler's own output
    return getattr(module, class_name(id))


class Imported(dict[str, str]):
    """The members of a record of a re-imported spec, by the names in the first spec."""

    def __init__(self, record: dict[str, Any]) -> None:
        super().__init__({name: name for name in record})

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or super().__contains__(identifier(str(name)))

    def __missing__(self, name: str) -> str:
        return identifier(name)


def taken(found: Any, name: str) -> Any:
    """A member of an object or record; the number of a word that an imported spec lacks."""
    if not isinstance(found, dict):
        return getattr(found, name, None)  # Kaitai leaves out attributes of missing fields
    return found.get(f"{name}_number", found.get(name))


@dataclass
class Comparison:
    """Collects differences between Kaitai's values and the spans; `lost` are names that the description lacks."""

    description: Mapping[str, Any]
    differences: list[str] = field(default_factory=list)
    lost: set[str] = field(default_factory=set)
    equal: int = 0

    def compare(self, span: Span, found: Any) -> None:
        """Compare a record, or a value within one."""
        children = [each for each in span.children if each.kind in ("field", "bits", "computed", "element")]
        if span.kind == "record" and not isinstance(found, list) and any(each.kind == "element" for each in children):
            found = self._unwrapped(found)
        if any(each.kind == "element" for each in children):
            self._list(children, self._items(found), span)
        elif any(each.kind in ("field", "computed") for each in children):
            for each in children:
                self._member(each, found)
        elif span.value is not ABSENT:
            self._leaf(span, found)
        for part in span.children:
            if part.kind == "packed":
                self.compare(part.children[0], found)

    def _items(self, found: Any) -> list[Any]:
        """The elements of a list, including those after a pointer."""
        found = self._unwrapped(found)
        if not isinstance(found, list):
            return []
        items: list[Any] = []
        for each in found:
            if not _is_item(each):
                items.append(each)
            elif taken(each, "is_jump"):
                items += self._items(taken(taken(each, "rest"), "items"))
            elif not taken(each, "is_end"):
                items.append(taken(each, "value"))
        return items

    def _list(self, spans: list[Span], items: list[Any], around: Span) -> None:
        if len(spans) != len(items):
            self.differences.append(f"{around.path}: {len(items)} elements, not {len(spans)}")
            return
        for span, item in zip(spans, items, strict=True):
            self.compare(span, item)

    def _members(self, found: Any) -> dict[str, str] | None:
        """The names in the spec of an object's members, with Kaitai's names; for a dict, those of the imported spec."""
        if isinstance(found, dict):
            return Imported(found)
        name = type(found).__name__
        types = {class_name(id): each for id, each in self.description.get("types", {}).items()}
        own = self.description if name == class_name(self.description["meta"]["id"]) else types.get(name)
        if own is None:
            return None
        seq = {each["id"]: each for each in own["seq"]} | dict(own.get("instances", {}))
        return {each.get("-orig-id", id): id for id, each in seq.items()}

    def _unwrapped(self, found: Any) -> Any:
        """The value inside of Kaitai types that only wrap another."""
        while (members := self._members(found)) is not None:
            inner = next((each for each in ("value", "record", "items") if each in members), None)
            if inner is None or _is_item(found):
                return found
            found = taken(found, inner)
        return found

    def _member(self, span: Span, found: Any) -> None:
        members = self._members(found)
        if " .. " in span.name and members is not None:  # bytes that bit fields share
            for bits in span.children:
                self._member(bits, found)
            return
        while members is not None and span.name not in members and ("value" in members or "record" in members):
            found = taken(found, "value" if "value" in members else "record")
            members = self._members(found)
        if members is None or span.name not in members:
            self.lost.add(f"{span.path}")
            return
        value = taken(found, members[span.name])
        self.compare(span, value)
        for bits in span.children:
            if bits.kind == "bits":
                self._member(bits, found)

    def _leaf(self, span: Span, found: Any) -> None:
        expected = span.value if span.wire is ABSENT else span.wire
        found = self._items(found) if isinstance(expected, list) else self._unwrapped(found)
        candidates = [expected] if span.value is ABSENT or span.wire is ABSENT else [expected, span.value]
        plain = getattr(found, "value", found) if type(found).__module__ != "builtins" else found
        if any(same(plain, each) for each in candidates):
            self.equal += 1
        else:
            self.differences.append(f"{span.path}: {found!r}, not {expected!r}")


def _is_item(found: Any) -> bool:
    return "is_last" in found if isinstance(found, dict) else hasattr(found, "is_last")


def same(found: Any, expected: Any) -> bool:
    """Whether Kaitai reads the same value as the spec; a missing one is None or empty there."""
    if isinstance(expected, float) and isinstance(found, float):
        return found == expected or (math.isnan(found) and math.isnan(expected))
    if isinstance(expected, bytes) and isinstance(found, str):
        return True  # a text in a character set: the other candidate decides
    if expected is None:
        return found is None or found in ("", 0)
    if isinstance(expected, list) and isinstance(found, list):
        return len(expected) == len(found)
    return type(found) is type(expected) and found == expected

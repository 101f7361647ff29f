"""Crosses specs with each other, to combine features as no strategy would.

A document of a spec, of a case or of chance gets a few edits: a key, a type or a field of another document; a field
removed, repeated or moved; a list or a `?` around a type; another number; a section. Names of the other document are
replaced by names of this one, or their definitions are copied. Most results are refused, and lose the parts that the
diagnostics name. An accepted result is checked like any other spec.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

from proof.chance import Chance
from proof.formats import written_format
from proof.modules import Spec
from proof.repairing import repaired
from proof.texts import formats_below

_ROOT = Path(__file__).parents[2]
_FOLDERS = ("specs", "tests/cases", "tests/engine/encode_specs")
_DONORS = (*_FOLDERS, "tests/rejects")  # a mistake in one document may be none in another
_LARGE = 6000  # characters; larger documents are too slow to be examined hundreds of times
_EDITS = (1, 1, 2, 2, 3, 5)
_BY_CHANCE = 0.25  # the share of documents and donors that are random
_SEEDS = 10**9
_SIZES = ("0", "1", "2", "3", "7", "8", "16", "32", "64", "128")
_TYPES = ("list(uint8)", "bytes", "str", "json", "uint8", "bool", "float64", "int", "map(str, int)", "nil")
_TRIALS = 3
_SECTIONS = ("types", "checksums", "ranges", "parameters", "errors")  # the sections of a document that define names
_OWN = (
    "wireloom",
    "format",
    "title",
    "doc",
    "source",
    "encoding",
    "imports",
    "schema",
    "types",
    "root",
    "roots",
    "rows",
)
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_]*")

_Document = dict[str, Any]


def crossed_spec_of(seed: int) -> Spec:
    """The spec that the seed makes by crossing others."""
    chance = Chance(seed)
    document = _any_document(chance)
    crossing = _Crossing(document, chance)
    for _ in range(chance.one(_EDITS)):
        crossing.edit()
    return {"proof.yaml": repaired(document, chance)}


def _any_document(chance: Chance, folders: tuple[str, ...] = _FOLDERS) -> _Document:
    if chance.often(_BY_CHANCE):
        return written_format(chance.randrange(_SEEDS))
    return deepcopy(chance.one(_documents(folders)))


@cache
def _documents(folders: tuple[str, ...]) -> tuple[_Document, ...]:
    """The small specs of the project, without examples."""
    found = [
        {**{key: value for key, value in document.items() if key not in ("examples", "schema")}, "format": "proof"}
        for folder in folders
        for document in formats_below(_ROOT / folder)
    ]
    return tuple(document for document in found if len(repr(document)) < _LARGE)


class _Crossing:
    """A document that is edited in place."""

    def __init__(self, document: _Document, chance: Chance) -> None:
        self.document, self.chance = document, chance

    def edit(self) -> None:
        """Make one change."""
        structs = [part["fields"] for part in _mappings(self.document) if _has_fields(part)]
        if not structs:
            return
        fields = self.chance.one(structs)
        place = self.chance.randrange(len(fields))
        self.chance.does(
            [
                (4, lambda: self._key(fields, place)),
                (2, lambda: fields.insert(place, {f"n{self.chance.randrange(99)}": self._taken(fields[:place])})),
                (1, lambda: self._type(fields[place])),
                (1, lambda: fields.insert(self.chance.randrange(len(fields) + 1), fields.pop(place))),
                (1, lambda: self._twice(fields, place)),
                (1, lambda: fields.pop(place)),
                (1, self._scalar),
                (1, self._property),
                (1, self._section),
                (2, lambda: self._graft(fields, place)),
            ]
        )

    def _key(self, fields: list[Any], place: int) -> None:
        """Copy a key of another document's field."""
        field = _full(fields[place])
        given = self._taken(fields[: place + self.chance.often(0.2)])
        if field is not None and given:
            key = self.chance.one(list(given))
            field[key] = given[key]

    def _type(self, entry: Any) -> None:
        field = _full(entry)
        type = field.get("type") if field is not None else None
        if field is None or not isinstance(type, str):
            return
        resized = re.sub(r"\d+", lambda _: self.chance.one(_SIZES), type)
        around = (f"list({type})", f"{type}?", type.removesuffix("?"), f"{type} | str", resized)
        field["type"] = self.chance.one((*around, self.chance.one(_TYPES)))

    def _twice(self, fields: list[Any], place: int) -> None:
        entry = fields[place]
        if isinstance(entry, dict) and len(entry) == 1:
            (name,) = entry
            fields.insert(self.chance.randrange(len(fields) + 1), {f"{name}B": deepcopy(entry[name])})

    def _scalar(self) -> None:
        """Copy a number, flag or text that another document has at the same key."""
        part = self.chance.one(list(_mappings(self.document)))
        keys = [key for key, value in part.items() if not isinstance(value, dict | list)]
        if not keys:
            return
        key, donor = self.chance.one(keys), self._donor()
        known = [other[key] for other in _mappings(donor) if key in other]
        if known:
            part[key] = self._own(self.chance.one(known), donor, [])
        elif isinstance(part[key], bool):
            part[key] = not part[key]
        elif isinstance(part[key], int):
            part[key] = self.chance.one((0, 1, part[key] + 1, part[key] * 2, -part[key]))

    def _property(self) -> None:
        """Copy a key of another document's type, except for its fields."""
        donor = self._donor()
        types, others = _types(self.document), _types(donor)
        keys = [(other, key) for other in others for key in other if key != "fields"]
        if types and keys:
            other, key = self.chance.one(keys)
            self.chance.one(types)[key] = self._own(other[key], donor, [])

    def _donor(self) -> _Document:
        """Another document; if possible within a few tries, of the same encoding."""
        for _ in range(_TRIALS):
            donor = _any_document(self.chance, _DONORS)
            if donor.get("encoding") == self.document.get("encoding"):
                break
        return donor

    def _section(self) -> None:
        """Copy a top-level section of another document other than its types: limits, framing, parameters, checksums."""
        donor = self._donor()
        keys = [each for each in donor if each not in _OWN]
        if not keys:
            return
        key = self.chance.one(keys)
        taken = self._own(donor[key], donor, [])
        mine = self.document.get(key)
        self.document[key] = taken | mine if isinstance(mine, dict) and isinstance(taken, dict) else taken

    def _graft(self, fields: list[Any], place: int) -> None:
        """Copy a field of another document, with its types, checksums, ranges, parameters and errors."""
        donor = self._donor()
        full = [field for field in map(_full, _entries(donor)) if field is not None]
        if not full:
            return
        field = deepcopy(self.chance.one(full))
        for key, name, said in _named(donor, field):
            known = self.document.setdefault(key, {})
            if isinstance(known, dict):
                known.setdefault(name, deepcopy(said))
        fields.insert(place, {f"g{self.chance.randrange(99)}": field})

    def _taken(self, before: list[Any]) -> dict[str, Any]:
        """A field of another document, adapted to follow the given fields."""
        donor = self._donor()
        fields = [field for field in map(_full, _entries(donor)) if field is not None]
        taken = self._own(self.chance.one(fields), donor, _names(before)) if fields else {"type": "uint8"}
        return dict(taken)

    def _own(self, part: Any, donor: _Document, fields: list[str]) -> Any:
        """A part of another document with known names: those of its copied types, and of the fields before it."""
        theirs = set(_names(_entries(donor)))
        types = list(self.document.get("types") or ())
        fields = fields or _names(_entries(self.document))

        def named(found: re.Match[str]) -> str:
            if found[0] in (donor.get("types") or ()) and types:
                return str(self.chance.one(types))
            return self.chance.one(fields) if found[0] in theirs and fields else str(found[0])

        def own(part: Any) -> Any:
            match part:
                case str():
                    return _WORD.sub(named, part)
                case Mapping():
                    return {key: own(value) for key, value in part.items()}
                case list():
                    return [own(each) for each in part]
                case _:
                    return part

        return own(part)


def _named(donor: _Document, part: Any) -> Iterator[tuple[str, str, Any]]:
    """The definitions that a part of a document names, recursively: section, name and definition."""
    known = {
        name.partition("(")[0]: (key, name, said)
        for key in _SECTIONS
        if isinstance(donor.get(key), dict)
        for name, said in donor[key].items()
    }
    seen, open = set[str](), [part]
    while open:
        for name in set(_WORD.findall(repr(open.pop()))) & known.keys() - seen:
            seen.add(name)
            open.append(known[name][2])
    for name in sorted(seen):
        yield known[name]


def _mappings(part: Any) -> Iterator[_Document]:
    """Every mapping in a document, starting with itself."""
    if isinstance(part, dict):
        yield part
    for each in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from _mappings(each)


def _has_fields(part: Mapping[str, Any]) -> bool:
    return isinstance(part.get("fields"), list) and bool(part["fields"])


def _entries(document: _Document) -> Iterator[Any]:
    """The entries of `fields` of all structs."""
    for part in _mappings(document):
        if _has_fields(part):
            yield from part["fields"]


def _full(entry: Any) -> _Document | None:
    """The mapping of an entry's field, expanded in place if it was in short form; None for other steps."""
    if not isinstance(entry, dict) or len(entry) != 1:
        return None
    ((name, said),) = entry.items()
    if isinstance(said, str):
        entry[name] = said = {"type": said}
    return said if isinstance(said, dict) else None


def _names(entries: Iterable[Any]) -> list[str]:
    """The names of fields, and of their bits."""
    found: list[str] = []
    for entry in entries:
        for name, said in entry.items() if isinstance(entry, dict) else ():
            found.append(name)
            bits = said.get("bits") if isinstance(said, dict) else None
            found += bits if isinstance(bits, dict) else ()
    return found


def _types(document: _Document) -> list[_Document]:
    types = document.get("types")
    return [each for each in types.values() if isinstance(each, dict)] if isinstance(types, dict) else []

"""Moves types of a format into libraries, which may import each other."""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from proof.chance import Chance
from proof.parameters import keys_of
from proof.scope import ABSENT, document
from wireloom.spec.language import FormatDocument, LibraryDocument

UPPER, LOWER = "upper", "lower"
_NAMED = ("parameters", "errors", "checksums", "ranges")


def with_library(content: Mapping[str, Any], chance: Chance) -> dict[str, dict[str, Any]]:
    """The format without some of its types, and the libraries that have them, by file."""
    types: Mapping[str, Any] = content["types"]
    above = _closure(types, [_taken(content, chance)])
    inner = [name for name in above if _closure(types, [name]) != above]
    below = _closure(types, [chance.one(inner)]) if inner and chance.often(0.5) else set[str]()
    rest = types.keys() - above
    uses = _words([content.get("root"), content.get("roots"), *(types[name] for name in rest)])
    names = {UPPER: above - below, LOWER: below}
    imports = [name for name, taken in names.items() if keys_of(dict.fromkeys(taken)).keys() & uses]
    own = {key: value for key, value in content.items() if key not in ("types", *_NAMED)}
    own |= {"imports": imports, "types": {name: types[name] for name in types if name in rest}}
    kept = _words([{key: value for key, value in own.items() if key != "examples"}])
    for key in _NAMED:
        elsewhere = _words(types[name] for name in above)
        entries = {name: each for name, each in content.get(key, {}).items() if name in kept or name not in elsewhere}
        if entries:
            own[key] = entries
    files = {"proof.yaml": {key: own[key] for key in FormatDocument.keys() if key in own}}  # noqa: SIM118 - no mapping
    for name, taken in names.items():
        if taken:
            library = _library(content, name, {each: types[each] for each in types if each in taken}, chance)
            library["imports"] = [LOWER] if name == UPPER and below else ABSENT
            files[f"{name}.library.yaml"] = document(LibraryDocument, library)
    return files


def _taken(content: Mapping[str, Any], chance: Chance) -> str:
    """A type to move; more often one that uses something that libraries seldom have."""
    types: Mapping[str, Any] = content["types"]
    seldom = {*content.get("checksums", ()), *content.get("ranges", ())}
    looking = [name for name in types if seldom & _words([types[name]])]
    return chance.one(looking if looking and chance.often(0.7) else list(types))


def _library(content: Mapping[str, Any], name: str, types: Mapping[str, Any], chance: Chance) -> dict[str, Any]:
    words = _words(types.values())
    order = content.get("byteOrder", "big")
    said = order if isinstance(order, str) else chance.one(["big", "little"])
    library: dict[str, Any] = {
        "wireloom": 1,
        "library": name,
        "title": "Types by chance",
        "doc": "At length." if chance.often(0.2) else ABSENT,
        "source": "Nobody's document" if chance.often(0.2) else ABSENT,
        "encoding": content["encoding"],
        "byteOrder": said if content["encoding"] == "binary" else ABSENT,
        "types": dict(types),
    }
    for key in _NAMED:
        entries = {each: value for each, value in content.get(key, {}).items() if each in words}
        library[key] = entries or ABSENT
    return library


def _closure(types: Mapping[str, Any], names: Collection[str]) -> set[str]:
    """The types, and all types that they use."""
    found, waiting, keys = set[str](), list(names), keys_of(types)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(keys[word] for word in _words([types[name]]) & keys.keys())
    return found


def _words(values: Any) -> set[str]:
    """The words in a document, except in documentation."""
    return set(_said(list(values)))


def _said(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield from re.findall(r"\w+", value)
        case list():
            for each in value:
                yield from _said(each)
        case dict():
            for key, each in value.items():
                if key != "doc":
                    yield from _said(each)
        case _:
            pass

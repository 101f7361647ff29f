"""Adds type parameters to a format: a type or number in a type becomes an argument at each use."""

import re
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from typing import Any

from proof.chance import Chance

_NUMBERS = ("const", "default", "count", "size", "at", "null", "scale", "offset")
_OTHERS = ("uint16", "uint8", "bool", "list(uint8)", "str")
# the parts of a type's text: names, and names with simple arguments
_PARTS = re.compile(r"[A-Za-z_]\w*(?:\([^()]*\))?\??")


def with_parameters(content: Mapping[str, Any], chance: Chance) -> dict[str, Any]:
    """The format with up to three parameterised types."""
    document = deepcopy(dict(content))
    for _ in range(chance.randint(1, 3)):
        bodies = [name for name, form in document["types"].items() if isinstance(form, dict) and "(" not in name]
        if bodies:
            _parametrize(document, chance.one(bodies), chance)
    return document


def _parametrize(document: dict[str, Any], name: str, chance: Chance) -> None:
    types: dict[str, Any] = document["types"]
    arguments: dict[str, str] = {}
    whole = re.compile(rf"\b{name}\b")
    slots = [*_types(types[name]), *_numbers(types[name])]
    for number, (part, key) in enumerate(chance.sample(slots, min(len(slots), chance.one([1, 1, 2, 3])))):
        if isinstance(part[key], str):
            found = chance.one(list(_PARTS.finditer(part[key])) or [None])
            if found is not None and not whole.search(found[0]):
                arguments[f"P{number}"] = found[0]
                part[key] = part[key][: found.start()] + f"P{number}" + part[key][found.end() :]
        else:
            arguments[f"m{number}"] = str(part[key])
            part[key] = f"m{number}"
    if not arguments:
        return
    own = f"{name}({', '.join(arguments)})"

    def used(_: re.Match[str]) -> str:
        given = {
            each: chance.one(_OTHERS) if each.startswith("P") and chance.often(0.07) else value
            for each, value in arguments.items()
        }
        return f"{name}({', '.join(given.values())})"

    def outside(text: str) -> str:
        return whole.sub(used, text)

    def inside(text: str) -> str:
        return whole.sub(own, text)

    for key in ("root", "roots"):
        if key in document:
            document[key] = _changed(document[key], outside)
    for each, form in list(types.items()):
        types[each] = _changed(form, inside if each == name else outside)
    document["types"] = {own if each == name else each: form for each, form in types.items()}


def _types(form: Any) -> Iterator[tuple[Any, Any]]:
    """The places of type texts in a type, as container and key."""
    for entry in form.get("fields", ()):
        ((key, said),) = entry.items()
        if isinstance(said, str) and key not in ("mark", "end", "frame"):
            yield entry, key
        elif isinstance(said, dict) and isinstance(said.get("type"), str):
            yield said, "type"
    for key in ("cases", "oneOf"):
        cases = form.get(key)
        yield from ((cases, each) for each in cases or () if isinstance(cases[each], str))


def _numbers(form: Any) -> Iterator[tuple[Any, Any]]:
    for entry in form.get("fields", ()):
        for said in entry.values():
            if isinstance(said, dict):
                yield from ((said, key) for key in _NUMBERS if type(said.get(key)) is int)


def _changed(part: Any, change: Callable[[str], str]) -> Any:
    """A part of a document with changed texts, except for keys and documentation."""
    match part:
        case str():
            return change(part)
        case dict():
            return {key: each if key == "doc" else _changed(each, change) for key, each in part.items()}
        case list():
            return [_changed(each, change) for each in part]
        case _:
            return part


def keys_of(types: Mapping[str, Any]) -> dict[str, str]:
    """The keys of types by name; a key may have parameters after the name."""
    return {key.partition("(")[0]: key for key in types}

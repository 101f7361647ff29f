"""Removes unused types and error codes from a spec."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from proof.parameters import keys_of

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def pruned(document: Mapping[str, Any]) -> dict[str, Any]:
    """The format's document without unused types and codes."""
    kept = dict(document)
    types = kept.get("types")
    if isinstance(types, Mapping):
        reached, waiting, keys = set[str](), [kept.get("root"), kept.get("roots")], keys_of(types)
        while waiting:
            for word in _words(waiting.pop()):
                if word in keys and keys[word] not in reached:
                    reached.add(keys[word])
                    waiting.append(types[keys[word]])
        kept["types"] = {name: type for name, type in types.items() if name in reached}
    if isinstance(kept.get("errors"), Mapping):
        used = set(_words([kept.get("types"), kept.get("byteOrder")]))
        kept["errors"] = {code: text for code, text in kept["errors"].items() if code in used}
        if not kept["errors"]:
            del kept["errors"]
    return kept


def _words(part: Any) -> Iterator[str]:
    match part:
        case str():
            yield from _WORD.findall(part)
        case Mapping():
            for value in part.values():
                yield from _words(value)
        case list() | tuple():
            for value in part:
                yield from _words(value)
        case _:
            return

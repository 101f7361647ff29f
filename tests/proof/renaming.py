"""Renames parts of specs: words of Python and of the generated code, and one name for several things."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from proof.chance import Chance

_SHARE = 0.3  # of the specs get other names
_NAME = re.compile(r"(?:\b|(?<=\d_))(?:[abfknpqr]|[TAUVSW])\d+\b")  # also after a prefix
_FIELDS = (
    *("class", "from", "None", "lambda", "self", "type", "value", "values", "name", "data", "items", "keys", "get"),
    *("update", "copy", "hidden", "free", "scope", "stream", "start", "count", "length", "construct", "pa", "t"),
    *("int", "str", "len", "present", "min", "kind", "reason", "record", "error", "code", "path", "offset", "parents"),
    *("records", "n", "X", "id", "element", "variant", "metadata", "row", "schema", "evaluate", "obj", "params"),
    *("Null", "format", "fields", "e1", "E5", "nan", "inf", "lower_Upper", "x" * 90, "list", "map", "root", "columns"),
    *("auto", "big", "error_", "bytes", "bool", "Record", "io", "limit", "tell", "read"),
    *("bits", "cases", "oneOf", "else", "extElse", "codes", "versions", "as", "types", "flatten"),
)
_PARAMETERS = (
    *("strict", "self", "name", "context", "codec", "kind", "args", "request", "version", "stop", "array", "x", "obj"),
    *(
        "get",
        "items",
        "keys",
        "copy",
        "pop",
        "stream",
        "records",
        "parameters",
        "view",
        "settings",
        "limit",
        "size_limit",
    ),
)
_TYPES = ("Record", "Value", "List", "Map", "Struct", "Message", "Any", "Exception", "Field", "Type", "Row", "Schema")


def renamed(document: Mapping[str, Any], chance: Chance) -> dict[str, Any]:
    """The document, sometimes with changed names; fields may then share one."""
    if not chance.often(_SHARE):
        return dict(document)
    names = sorted(set(_NAME.findall(repr(document))))
    chosen = chance.sample(names, min(len(names), chance.randint(1, 8)))
    parameters = document.get("parameters", {})
    types = iter(chance.sample(_TYPES, len(_TYPES)))
    pool = chance.sample(_FIELDS, len(chosen))
    again = chance.often(0.3)
    given: dict[str, str] = {}
    for name in chosen:
        if name[0].isupper():
            given[name] = next(types, name)
        elif name in parameters:
            given[name] = chance.one([each for each in _PARAMETERS if each not in given.values()])
        else:
            given[name] = pool[0] if again else pool.pop()
            again = again and chance.often(0.5)

    return dict(retold(document, lambda text: _NAME.sub(lambda found: given.get(found[0], found[0]), text)))


def retold(part: Any, change: Callable[[str], str]) -> Any:
    """A part of a document with its texts changed, including names."""
    match part:
        case str():
            return change(part)
        case Mapping():
            return {retold(key, change): retold(value, change) for key, value in part.items()}
        case list():
            return [retold(each, change) for each in part]
        case _:
            return part

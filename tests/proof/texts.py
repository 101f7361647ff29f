"""Writes documents as YAML that people can read, and that every YAML 1.2 tool reads alike."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from wireloom.spec import yaml as positioned

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_]*(\([A-Za-z0-9_]*\))?")
_WORDS = ("true", "false", "null", "yes", "no", "on", "off", "y", "n")
_WIDTH = 150


def formats_below(folder: Path) -> Iterator[dict[str, Any]]:
    """The formats in the files below a folder, as plain values."""
    for path in sorted(folder.rglob("*.yaml")):
        node, _ = positioned.parse(path.read_text(encoding="utf-8"), path.as_posix())
        document = None if node is None else _plain(node)
        if isinstance(document, dict) and "format" in document:
            yield document


def _plain(node: positioned.Node) -> Any:
    """The node as plain values; digits after a leading zero stay a text, since they are hexadecimal (`00`)."""
    match node:
        case positioned.SequenceNode():
            return [_plain(item) for item in node.items]
        case positioned.MappingNode():
            return {key.text: _plain(value) for key, value in node.entries}
        case _:
            return node.text if re.fullmatch("0[0-9]+", node.text) else node.value


def yaml(document: Mapping[Any, Any]) -> str:
    """The document as YAML, short parts on one line, longer ones in blocks."""
    return "\n".join(_block(document, 0)) + "\n"


def _block(value: Any, indent: int) -> Iterator[str]:
    space = " " * indent
    items = value.items() if isinstance(value, Mapping) else ((None, each) for each in value)
    for key, each in items:
        head = f"{space}- " if not isinstance(value, Mapping) else f"{space}{flow(key)}: "
        line = head + flow(each)
        if (len(line) <= _WIDTH and not _is_outer(key)) or not isinstance(each, Mapping | list) or not each:
            yield line
        elif isinstance(value, Mapping):
            yield head.rstrip()
            yield from _block(each, indent + 2)
        else:
            first, *rest = _block(each, indent + 2)
            yield head + first.lstrip()
            yield from rest


def _is_outer(key: Any) -> bool:
    return key in ("types", "fields")


def flow(value: Any) -> str:
    """The value on one line."""
    match value:
        case Mapping():
            return "{" + ", ".join(f"{flow(key)}: {flow(each)}" for key, each in value.items()) + "}"
        case str():
            plain = _PLAIN.fullmatch(value) and value.lower() not in _WORDS
            return value if plain else json.dumps(value, ensure_ascii=any(map(_is_escaped, value)))
        case Sequence():
            return "[" + ", ".join(map(flow, value)) + "]"
        case float():
            mantissa, _, exponent = repr(value).partition("e")
            mantissa = mantissa if "." in mantissa else f"{mantissa}.0"
            return f"{mantissa}e{int(exponent):+d}" if exponent else mantissa
        case _:
            return json.dumps(value)


def _is_escaped(letter: str) -> bool:
    return not letter.isprintable() or "\ud800" <= letter <= "\udfff"

"""Writes the text of a spec as a person would: a field on one line if it fits, long docs folded."""

import json
import re
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from wireloom.escapes import visible

WIDTH = 118
_PLAIN = re.compile(r"[A-Za-z_/][A-Za-z0-9_ .()+*/<>=%$@&|^~;!?-]*")
_WORDS = {"true", "false", "null", "~", ""}
_NO_TEXT = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")


@dataclass(frozen=True, slots=True)
class Hexadecimal:
    """A number to write in hexadecimal."""

    number: int


@dataclass(frozen=True, slots=True)
class Quoted:
    """A text to quote if it looks like a number."""

    text: str


def document(head: Mapping[str, object], types: Mapping[str, object], origin: str) -> str:
    """The text of a spec: its origin, its head, then its types, separated by empty lines."""
    lines = ["# yaml-language-server: $schema=wireloom.schema.json", f"# {visible(origin)}"]
    lines += [line for key, value in head.items() for line in _entry(key, value, 0)]
    lines.append("types:")
    for name, type in types.items():
        lines += [*_entry(name, type, 1), ""]
    return "\n".join(lines).rstrip() + "\n"


def _entry(key: str, value: object, level: int, lead: str = "") -> Iterator[str]:
    """The lines of `key: value`; `lead` is the hyphen of a list item."""
    indent = "  " * level + lead
    if isinstance(value, str) and (len(value) > 80 or "\n" in value) and not _NO_TEXT.search(value) and " " in value:
        yield f"{indent}{key}: >-"
        yield from textwrap.wrap(
            value, WIDTH, initial_indent=" " * len(indent) + "  ", subsequent_indent=" " * len(indent) + "  ",
            break_long_words=False, break_on_hyphens=False,
        )  # fmt: skip
        return
    line = f"{indent}{key}: {flow(value)}"
    if not isinstance(value, (Mapping, list, tuple)) or not value or (key != "fields" and _is_short(line, value)):
        yield line
        return
    yield f"{indent}{key}:"
    deeper = level + 1 + (len(lead) // 2)
    if isinstance(value, Mapping):
        for each, part in value.items():
            yield from _entry(flow(each), part, deeper)
        return
    for item in value:
        if isinstance(item, Mapping) and item:
            first, *others = item.items()
            yield from _entry(str(first[0]), first[1], deeper, "- ")
            for each, part in others:
                yield from _entry(str(each), part, deeper + 1)
        else:
            yield f"{'  ' * deeper}- {flow(item)}"


def _is_short(line: str, value: object) -> bool:
    return len(line) <= WIDTH and not (isinstance(value, Mapping) and "fields" in value)


def flow(value: object) -> str:
    """The value on one line."""
    match value:
        case Hexadecimal():
            return f"0x{value.number:X}"
        case Quoted():
            return f"'{value.text}'"
        case Mapping():
            return "{" + ", ".join(f"{flow(key)}: {flow(each)}" for key, each in value.items()) + "}"
        case list() | tuple():
            return "[" + ", ".join(map(flow, value)) + "]"
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return str(value)
        case _:
            return _scalar(str(value))


_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)")


def _scalar(text: str) -> str:
    """A text as YAML, quoted if it would be read as another type. Numeric keys stay unquoted."""
    if _NUMBER.fullmatch(text):
        return text
    if (
        text not in _WORDS
        and _PLAIN.fullmatch(text)
        and not text.endswith(" ")
        and "?" not in text
        and " #" not in text
    ):
        return text
    if _NO_TEXT.search(text) or "\n" in text or "\t" in text:
        return json.dumps(text)
    return "'" + text.replace("'", "''") + "'"


def literal(value: object) -> object:
    """The value, with a text quoted if it looks like a number."""
    return Quoted(value) if isinstance(value, str) and _NUMBER.fullmatch(value) else value

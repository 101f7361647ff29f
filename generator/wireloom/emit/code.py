"""Trees of Python expressions, and their text in the layout of the formatter.

Emitters build groups (`call`, `tuple_of`, `mapping`) and literals, and `render` breaks the lines. An expression stays
on one line if it fits; else a call's arguments get a line of their own, else every part does.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

WIDTH = 120
_STEP = 4


@dataclass(frozen=True, slots=True)
class Group:
    """Code between brackets, each part after its prefix: a call, a subscript, a tuple or a dict.

    The parts of a `joined` group share one line if they fit on a line of their own; other groups have one part a line.
    """

    opening: str
    parts: tuple[tuple[str, "Code"], ...]
    closing: str
    joined: bool = False


@dataclass(frozen=True, slots=True)
class Prose:
    """A text literal; if it is too long for its line, adjacent literals in parentheses."""

    text: str


@dataclass(frozen=True, slots=True)
class Lambda:
    """`lambda parameter: body`, where the body may break between `pieces`: at conditionals, `and` and `or`."""

    parameter: str
    pieces: tuple[tuple[str, ...], ...]


Code = str | Group | Prose | Lambda


def call(name: str, *positional: Code, **keywords: "Code | None") -> Group:
    """Build `name(arguments)`, omitting keywords that are None."""
    named = ((f"{key}=", value) for key, value in keywords.items() if value is not None)
    return Group(f"{name}(", (*(("", value) for value in positional), *named), ")", joined=True)


def subscript(name: str, elements: Iterable[Code]) -> Group:
    """Build `name[element, ...]`."""
    return Group(f"{name}[", tuple(("", each) for each in elements), "]", joined=True)


def tuple_of(elements: Iterable[Code]) -> Group:
    """Build `(element, ...)`."""
    return Group("(", tuple(("", each) for each in elements), ")")


def mapping(entries: Mapping[str, Code]) -> Group:
    """Build a dict display; keys are Python source."""
    return Group("{", tuple((f"{key}: ", value) for key, value in entries.items()), "}")


def literal(value: object) -> str:
    """Write a constant as Python source, texts in double quotes."""
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, bytes):
        return "b" + _quoted_bytes(value)
    if isinstance(value, tuple | list):
        elements = ", ".join(literal(element) for element in value)
        return f"({elements},)" if len(value) == 1 else f"({elements})"
    return repr(value)


def display(value: object) -> Code:
    """Build a constant whose tuples may break over lines."""
    return tuple_of(map(display, value)) if isinstance(value, tuple) else literal(value)


def _quoted(value: str) -> str:
    """Quote a text as the formatter does: in double quotes, or in single ones if that needs fewer escapes."""
    quote = "'" if value.count('"') > value.count("'") else '"'
    return quote + f"\\{quote}".join(repr(part)[1:-1] for part in value.split(quote)) + quote


def _quoted_bytes(value: bytes) -> str:
    quote = "'" if value.count(b'"') > value.count(b"'") else '"'
    return quote + f"\\{quote}".join(repr(part)[2:-1] for part in value.split(quote.encode())) + quote


def render(code: Code, indent: int = 0, lead: int = 0, tail: int = 0) -> str:
    """Write `code` with its lines indented by `indent`.

    On its first line, `lead` columns precede it; on its last line, `tail` columns follow.
    """
    flat = _flat(code)
    if indent + lead + len(flat) + tail <= WIDTH:
        return flat
    match code:
        case str() | Group(parts=()):
            return flat  # nothing to break at
        case Group():
            return _broken(code, indent)
        case Lambda(parameter, pieces):
            return _broken_lambda(parameter, pieces, indent)
        case Prose(text):
            inner = " " * (indent + _STEP)
            parts = "\n".join(inner + part for part in _parts(text, WIDTH - len(inner)))
            return f"(\n{parts}\n{' ' * indent})"


def _broken_lambda(parameter: str, pieces: Sequence[Sequence[str]], indent: int) -> str:
    margin = " " * (indent + _STEP)
    lines = [" ".join(" ".join(piece) for piece in pieces)]
    if len(margin) + len(lines[0]) > WIDTH:
        lines = [" ".join(piece) for piece in pieces]
    if any(len(margin) + len(line) > WIDTH for line in lines):
        lines = [part for piece in pieces for part in piece]
    body = "\n".join(margin + line for line in lines)
    return f"lambda {parameter}: (\n{body}\n{' ' * indent})"


def _broken(group: Group, indent: int) -> str:
    inner = indent + _STEP
    margin = f"\n{' ' * inner}"
    body = _joined(group)
    if not group.joined or inner + len(body) > WIDTH:
        rendered = (prefix + render(part, inner, len(prefix), 1) + "," for prefix, part in group.parts)
        body = margin.join(rendered)
    return f"{group.opening}{margin}{body}\n{' ' * indent}{group.closing}"


def _joined(group: Group) -> str:
    return ", ".join(prefix + _flat(part) for prefix, part in group.parts)


def _flat(code: Code) -> str:
    match code:
        case str():
            return code
        case Group(opening, parts, closing):
            trailing = "," if opening == "(" and len(parts) == 1 else ""
            return opening + _joined(code) + trailing + closing
        case Prose(text):
            return literal(text)
        case Lambda(parameter, pieces):
            return f"lambda {parameter}: " + " ".join(" ".join(piece) for piece in pieces)


def _parts(text: str, width: int) -> Iterator[str]:
    """Split the text after spaces into literals of at most `width` columns."""
    part = ""
    for word in re.findall(r"\S*\s*", text):
        if part and len(literal(part + word)) > width:
            yield literal(part)
            part = ""
        part += word
    yield literal(part)

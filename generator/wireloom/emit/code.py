"""Python expressions as trees, and their text as the formatter would lay it out.

An emitter builds `Call`s and literals; `render` decides where lines break: on one line where it fits, else the
arguments on a line of their own, else one argument a line.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

WIDTH = 120
_STEP = 4


@dataclass(frozen=True, slots=True)
class Call:
    """`name(arguments)`; keywords where an argument has a name."""

    name: str
    arguments: tuple[tuple[str, "Code"], ...]


@dataclass(frozen=True, slots=True)
class Subscript:
    """`name[element, ...]`."""

    name: str
    elements: tuple["Code", ...]


@dataclass(frozen=True, slots=True)
class Braces:
    """`{key: value}`."""

    entries: tuple[tuple[str, "Code"], ...]


@dataclass(frozen=True, slots=True)
class Tuple:
    """`(element, ...)`."""

    elements: tuple["Code", ...]


@dataclass(frozen=True, slots=True)
class Brackets:
    """`[element, ...]`, one element a line however short they are."""

    elements: tuple["Code", ...]


@dataclass(frozen=True, slots=True)
class Prose:
    """A text literal; where it is too long for its line, adjacent literals in parentheses."""

    text: str


@dataclass(frozen=True, slots=True)
class Lambda:
    """`lambda parameter: body`. `pieces` are where the body may break: at a choice, and within at `and` and `or`."""

    parameter: str
    pieces: tuple[tuple[str, ...], ...]


Code = str | Call | Subscript | Braces | Tuple | Brackets | Prose | Lambda


def call(name: str, *positional: Code, **keywords: "Code | None") -> Call:
    """A call; keywords that are None are left out."""
    named = ((key, value) for key, value in keywords.items() if value is not None)
    return Call(name, (*(("", value) for value in positional), *named))


def literal(value: object) -> str:
    """A constant of a spec as Python source, texts in double quotes."""
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, bytes):
        return "b" + _quoted_bytes(value)
    if isinstance(value, tuple | list):
        elements = ", ".join(literal(element) for element in value)
        return f"({elements},)" if len(value) == 1 else f"({elements})"
    return repr(value)


def display(value: object) -> Code:
    """A constant whose tuples may break over lines."""
    return Tuple(tuple(display(element) for element in value)) if isinstance(value, tuple) else literal(value)


def _quoted(value: str) -> str:
    """In double quotes, or in single ones where that escapes fewer, as the formatter has it."""
    quote = "'" if value.count('"') > value.count("'") else '"'
    return quote + f"\\{quote}".join(repr(part)[1:-1] for part in value.split(quote)) + quote


def _quoted_bytes(value: bytes) -> str:
    quote = "'" if value.count(b'"') > value.count(b"'") else '"'
    return quote + f"\\{quote}".join(repr(part)[2:-1] for part in value.split(quote.encode())) + quote


def render(code: Code, indent: int = 0, lead: int = 0, tail: int = 0) -> str:
    """The text of `code` whose lines stand at `indent`.

    `lead` columns stand before it and `tail` after it on its line.
    """
    flat = _flat(code)
    if indent + lead + len(flat) + tail <= WIDTH and "\n" not in flat:
        return flat
    match code:
        case str():
            return code
        case Call(_, ()) | Tuple(()) | Brackets(()) | Braces(()):
            return flat  # nothing to break at
        case Call(name, arguments):
            return _broken(
                f"{name}(", [_Item(f"{key}=" if key else "", value) for key, value in arguments], ")", indent
            )
        case Subscript(name, elements):
            return _broken(f"{name}[", [_Item("", element) for element in elements], "]", indent)
        case Braces(entries):
            return _one_a_line("{", [_Item(f"{key}: ", value) for key, value in entries], "}", indent)
        case Tuple(elements):
            return _one_a_line("(", [_Item("", element) for element in elements], ")", indent)
        case Brackets(elements):
            return _one_a_line("[", [_Item("", element) for element in elements], "]", indent)
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


@dataclass(frozen=True, slots=True)
class _Item:
    prefix: str
    value: Code


def _broken(opening: str, items: Sequence[_Item], closing: str, indent: int) -> str:
    """The arguments of a call on the next line where they fit there; only displays have one element a line at once."""
    inner = indent + _STEP
    body = ", ".join(item.prefix + _flat(item.value) for item in items)
    if inner + len(body) <= WIDTH and "\n" not in body:
        return f"{opening}\n{' ' * inner}{body}\n{' ' * indent}{closing}"
    return _one_a_line(opening, items, closing, indent)


def _one_a_line(opening: str, items: Sequence[_Item], closing: str, indent: int) -> str:
    inner = indent + _STEP
    lines = (" " * inner + item.prefix + render(item.value, inner, len(item.prefix), 1) + "," for item in items)
    return opening + "\n" + "\n".join(lines) + f"\n{' ' * indent}{closing}"


def _flat(code: Code) -> str:
    match code:
        case str():
            return code
        case Call(name, arguments):
            return f"{name}({', '.join((f'{key}=' if key else '') + _flat(value) for key, value in arguments)})"
        case Subscript(name, elements):
            return f"{name}[{', '.join(map(_flat, elements))}]"
        case Braces(entries):
            return "{" + ", ".join(f"{key}: {_flat(value)}" for key, value in entries) + "}"
        case Tuple(elements):
            trailing = "," if len(elements) == 1 else ""
            return f"({', '.join(_flat(element) for element in elements)}{trailing})"
        case Brackets(elements):
            return "\n" if elements else "[]"  # never on one line
        case Prose(text):
            return literal(text)
        case Lambda(parameter, pieces):
            return f"lambda {parameter}: " + " ".join(" ".join(piece) for piece in pieces)


def _parts(text: str, width: int) -> Iterator[str]:
    """Literals no wider than `width` that make up the text, broken after spaces."""
    part = ""
    for word in re.findall(r"\S*\s*", text):
        if part and len(literal(part + word)) > width:
            yield literal(part)
            part = ""
        part += word
    yield literal(part)


def mapping(entries: Mapping[str, Code]) -> Braces:
    """A dict display; keys are ready source."""
    return Braces(tuple(entries.items()))

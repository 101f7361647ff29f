"""Write texts of a spec as docstrings: wrapped and escaped, so that no text can end the literal."""

import textwrap
from collections.abc import Iterable

WIDTH = 116  # of a docstring's lines, indentation included


def docstring(paragraphs: Iterable[str], indent: int = 0) -> str:
    """Write a docstring literal whose text begins right after the quotes."""
    margin = " " * indent
    body = "\n\n".join(paragraph for paragraph in paragraphs if paragraph)
    lines = _escaped(body).split("\n")
    if len(lines) == 1:
        return f'"""{lines[0]}"""'
    rest = (margin + line if line else "" for line in lines[1:])
    return "\n".join((f'"""{lines[0]}', *rest, f'{margin}"""'))


def paragraph(text: str, indent: int = 0) -> str:
    """Wrap each paragraph of a text."""
    parts = (" ".join(part.split()) for part in text.strip().split("\n\n"))
    return "\n\n".join(_wrapped(part, indent, "", "") for part in parts)


def definitions(entries: Iterable[tuple[str, str]], indent: int = 0) -> str:
    """Write lines `name: text`, wrapped with indented continuation lines."""
    return "\n".join(
        _wrapped(f"{name}: {' '.join(text.split())}" if text else name, indent, "    ", "        ")
        for name, text in entries
    )


def sentence(text: str) -> str:
    """The text on one line, ending with a full stop."""
    line = " ".join(text.split())
    return line if line.endswith((".", "!", "?")) else f"{line}."


def summary(text: str, indent: int = 0) -> str:
    """The first line of a docstring: a sentence; one that is too long is shortened, and follows in full."""
    whole = paragraph(sentence(text), indent)
    return whole if "\n" not in whole else f"{textwrap.shorten(whole, WIDTH - indent, placeholder=' ...')}\n\n{whole}"


def _wrapped(text: str, indent: int, first: str, rest: str) -> str:
    return textwrap.fill(
        text,
        WIDTH - indent,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _escaped(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    printable = "".join(
        char if char.isprintable() or char == "\n" else char.encode("unicode_escape").decode() for char in escaped
    )
    return printable + " " if printable.endswith('"') else printable

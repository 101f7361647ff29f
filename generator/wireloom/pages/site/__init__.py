"""The pages of all formats as a folder of HTML that a browser opens without a network and without scripts.

A page is its Markdown, rendered with raw HTML disabled, in a frame with the list of formats and the sections of the
page. Pictures are files beside it, as for the Markdown.
"""

import base64
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from wireloom.emit.frames import template
from wireloom.escapes import code_span, html_text
from wireloom.model.format import Format
from wireloom.pages.markdown import blocks, table, text

_HERE = Path(__file__).parent
_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")
_NO_LETTER = re.compile(r"[^\w\- ]")
_SCROLLED = re.compile(r"<(pre|table)>")
"""Elements that may be wider than the page, and can be scrolled with the keyboard."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a page: its level, its anchor, and its text as HTML."""

    level: int
    anchor: str
    said: str


def site(formats: Sequence[Format], pages: Mapping[str, str]) -> dict[str, str]:
    """The files of the site, from the pages of the formats and their pictures."""
    listed = [(f"{each.name}.html", html_text(each.name)) for each in formats]
    found = {name: text for name, text in pages.items() if not name.endswith(".md")}
    for format in formats:
        _, _, body = pages[f"{format.name}.md"].partition("\n")  # without the header comment; the HTML has its own
        found[f"{format.name}.html"] = _framed(format.title, body, listed, f"{format.name}.html")
    return found | {"index.html": _framed("Formats", _index(formats), listed, "index.html")}


def _index(formats: Sequence[Format]) -> str:
    rows = [
        (
            f"[{code_span(each.name)}]({each.name}.html)",
            text(each.title),
            each.encoding.name,
            ", ".join(code_span(root.name) for root in each.roots),
            text(each.source),
        )
        for each in formats
    ]
    return blocks("# Formats", table(("format", "title", "encoding", "records", "source"), rows))


def _framed(title: str, body: str, listed: Sequence[tuple[str, str]], here: str) -> str:
    tokens = _MARKDOWN.parse(body)
    headings = list(_anchored(tokens))
    style = (_HERE / "site.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return template(__file__, "site.html.jinja").render(
        title=html_text(" ".join(title.split())),
        policy=f"default-src 'none'; style-src 'sha256-{digest}'; img-src 'self' file:; base-uri 'none'",
        style=style,
        formats=[(address, name, address == here) for address, name in listed],
        headings=[each for each in headings if each.level in (2, 3)],
        body=_SCROLLED.sub(r'<\1 tabindex="0">', _MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {})),
    )


def _anchored(tokens: Sequence[Token]) -> Iterator[Heading]:
    """The headings, with anchors like those on code hosts."""
    seen: dict[str, int] = {}
    for place, token in enumerate(tokens):
        if token.type == "heading_open":
            said = tokens[place + 1]
            words = "".join(each.content for each in said.children or ())
            anchor = _NO_LETTER.sub("", words.lower()).replace(" ", "-")
            seen[anchor] = seen.get(anchor, -1) + 1
            anchor = f"{anchor}-{seen[anchor]}" if seen[anchor] else anchor
            token.attrSet("id", anchor)
            yield Heading(int(token.tag[1]), html_text(anchor), html_text(words))

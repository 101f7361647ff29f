"""Escapes of untrusted text (from specs, paths and records), one for each target.

| target | escape |
|---|---|
| a terminal, a message | `visible` |
| JSON, YAML, a text literal of a file that the user owns | `json_text` |
| Markdown | `paragraphs`, `inline`, `cell`, `code_span`, `code_block` |
| a comment in the first lines of a generated file | `header_path` |
| HTML, its attributes in double quotes | `html_text` |
| JSON in a `<script>` of HTML | `script_json` |
| Python | `emit.code.literal`, and `emit.prose.docstring` |
"""

import html
import json
import re
from urllib.parse import quote, unquote

_BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_HIDDEN = re.compile(rf"[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff{_BIDI}]")
"""Control characters, line breaks, characters that change the text direction, and those that no file can hold."""
_HIDDEN_IN_JSON = re.compile(_HIDDEN.pattern.replace(r"\x00-\x1f", ""))
_OF_SCRIPTS = re.compile("[<>&]")
"""Characters that can end a script, or begin a comment in it."""
_PATH = "/ +,@"
"""Characters that a path in a comment keeps besides letters, digits and `_.-~`: no `:` and no `=` (`coding: utf-7`)."""
_CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_MEANT = re.compile(r"[\\*\[`~]|<(?=[A-Za-z/!?])|&(?=#?\w+;)|(?<![^\W_])_|_(?![^\W_])")
"""Markup of Markdown within a line."""
_BEGINS = re.compile(r"^([0-9]*)([-+#=:|>.)])", re.MULTILINE)
"""Markup of Markdown at the start of a line."""


def visible(text: str) -> str:
    r"""The text with control characters as `\x1b` or `\u202e`."""
    return _HIDDEN.sub(lambda found: f"\\{f'x{code:02x}' if (code := ord(found[0])) < 0x100 else f'u{code:04x}'}", text)


def is_visible(text: str) -> bool:
    """Whether `visible` would leave the text unchanged."""
    return _HIDDEN.search(text) is None


def json_text(value: object, *, indent: int | None = None) -> str:
    """The value as JSON with hidden characters escaped; also valid as YAML, and for a text as a Python literal."""
    return visible_json(json.dumps(value, indent=indent, ensure_ascii=False))


def visible_json(text: str) -> str:
    """JSON text with hidden characters as JSON escapes."""
    return _HIDDEN_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def html_text(text: str) -> str:
    """The text in HTML or in a double-quoted attribute, without markup and hidden characters."""
    return html.escape(visible(text))


def script_json(value: object) -> str:
    """The value as JSON that is safe within a `<script>` of HTML."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    return _OF_SCRIPTS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def header_path(path: str) -> str:
    """The path of a spec for the header of a generated file: percent-encoded ASCII that cannot end a comment."""
    return quote(path, safe=_PATH)


def path_of_header(text: str) -> str:
    """The path in a header, decoded."""
    return unquote(text)


def paragraphs(text: str) -> str:
    """The text as paragraphs of Markdown, escaped except for code in backticks."""
    return _BEGINS.sub(r"\1\\\2", "\n".join(inline(line.strip()) for line in text.strip().split("\n")))


def inline(text: str) -> str:
    """The text within a line of Markdown, escaped except for code in backticks."""
    parts, end, text = [], 0, visible(text)
    for found in _CODE.finditer(text):
        if "\\|" not in found[2]:  # tables parse this differently
            parts += [_MEANT.sub(r"\\\g<0>", text[end : found.start()]), found[0]]
            end = found.end()
    return "".join((*parts, _MEANT.sub(r"\\\g<0>", text[end:])))


def cell(text: str) -> str:
    """Markdown for a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")


def code_span(text: str) -> str:
    """The text as code within a line of Markdown."""
    shown = visible(text)
    if not shown.strip() or "\\|" in shown:
        return inline(shown)
    fence = "`" * (_longest_run(shown) + 1)
    return f"{fence} {shown} {fence}" if len(fence) > 1 else f"{fence}{shown}{fence}"


def code_block(language: str, text: str) -> str:
    """The text as a fenced code block."""
    fence = "`" * max(3, _longest_run(text) + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _longest_run(text: str) -> int:
    """The length of the longest run of backticks."""
    return max(map(len, re.findall("`+", text)), default=0)

"""Patterns of base64 text, strict: standard alphabet, padded, no spare bits set.

`(?!\\n)$` is the end of the text: a bare `$` would also match before a last line feed in some regular expressions.
"""

_SIGN = "[A-Za-z0-9+/]"
_LAST_OF_ONE = "[AQgw]"  # second sign of one byte: four spare bits are zero
_LAST_OF_TWO = "[AEIMQUYcgkosw048]"  # third sign of two bytes: two spare bits are zero
_END = "(?!\\n)$"


def pattern(size: int | None = None, *, line_feeds: bool = False) -> str:
    """The pattern of the base64 of `size` bytes (None: any number), with line feeds between signs where allowed."""
    feed = "\\n*" if line_feeds else ""
    group = f"(?:{_SIGN}{feed}){{4}}" if line_feeds else f"{_SIGN}{{4}}"
    one = f"{_SIGN}{feed}{_LAST_OF_ONE}{feed}={feed}={feed}"
    two = f"{_SIGN}{feed}{_SIGN}{feed}{_LAST_OF_TWO}{feed}={feed}"
    if size is None:
        return f"^{feed}(?:{group})*(?:{one}|{two})?{_END}"
    return f"^{feed}(?:{group}){{{size // 3}}}{('', one, two)[size % 3]}{_END}"

r"""Patterns of strict base64 text: standard alphabet, padded, spare bits zero.

`(?!\\n)$` matches only at the end of the text; in some regular expressions a bare `$` also matches before a final line
feed.
"""

_SIGN = "[A-Za-z0-9+/]"
_LAST_OF_ONE = "[AQgw]"  # second character of one byte: four spare bits are zero
_LAST_OF_TWO = "[AEIMQUYcgkosw048]"  # third character of two bytes: two spare bits are zero
_GROUP = f"{_SIGN}{{4}}"
_ONE = f"{_SIGN}{_LAST_OF_ONE}=="
_TWO = f"{_SIGN}{{2}}{_LAST_OF_TWO}="
_PADDED = f"(?:{_ONE}|{_TWO})"
_LINE = f"(?:{_GROUP}){{19}}\\n"  # 76 characters
_FULL = 19  # groups of four characters in a line
_BYTES = 3  # in a group
_MOST = 65_535  # repetitions that every regular expression engine supports
_END = "(?!\\n)$"


def pattern(size: int | None = None, *, line_feeds: bool = False) -> str:
    """The pattern of the base64 text of `size` bytes (None: any number).

    With `line_feeds`, either no line has a line feed, or each full line of 76 characters has; it is optional after the
    last one.
    """
    if size is None:
        plain, forms = f"(?:{_GROUP})*{_PADDED}?", [_lines(), _padded_lines()]
    else:
        plain, forms = _sized(size), [_sized_lines(size)]
    return f"^(?:{'|'.join([plain, *forms])}){_END}" if line_feeds else f"^{plain}{_END}"


def _lines() -> str:
    """Full lines, then a last line that may be full and has no line feed."""
    return f"(?:{_LINE})+(?:(?:{_GROUP}){{0,{_FULL}}}|(?:{_GROUP}){{0,{_FULL - 1}}}{_PADDED})"


def _padded_lines() -> str:
    """Full lines, the last of them padded."""
    return f"(?:{_LINE})*(?:{_GROUP}){{{_FULL - 1}}}{_PADDED}\\n"


def _sized(size: int) -> str:
    groups = _times(_GROUP, size // _BYTES)
    return groups + ("", _ONE, _TWO)[size % 3]


def _sized_lines(size: int) -> str:
    """Full lines and a last one, with an optional line feed if that is full too."""
    groups = (size + 2) // 3
    lines = max(groups - 1, 0) // _FULL
    last = _sized(size - 3 * _FULL * lines)
    feed = "\\n?" if groups and groups % _FULL == 0 else ""
    return _times(_LINE, lines) + last + feed


def _times(part: str, count: int) -> str:
    """Repeat a part; counts beyond the engines' limit become nested repetitions."""
    if count <= _MOST:
        return f"(?:{part}){{{count}}}" if count else ""
    whole, rest = divmod(count, _MOST)
    return _times(_times(part, _MOST), whole) + _times(part, rest)

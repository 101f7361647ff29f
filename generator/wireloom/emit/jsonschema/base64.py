"""Patterns of base64 text, strict: standard alphabet, padded, no spare bits set.

`(?!\\n)$` is the end of the text: a bare `$` would also match before a last line feed in some regular expressions.
"""

_SIGN = "[A-Za-z0-9+/]"
_LAST_OF_ONE = "[AQgw]"  # second sign of one byte: four spare bits are zero
_LAST_OF_TWO = "[AEIMQUYcgkosw048]"  # third sign of two bytes: two spare bits are zero
_GROUP = f"{_SIGN}{{4}}"
_ONE = f"{_SIGN}{_LAST_OF_ONE}=="
_TWO = f"{_SIGN}{{2}}{_LAST_OF_TWO}="
_PADDED = f"(?:{_ONE}|{_TWO})"
_LINE = f"(?:{_GROUP}){{19}}\\n"  # 76 signs
_FULL = 19  # groups of four signs in a line
_BYTES = 3  # in a group
_MOST = 65_535  # repetitions that every regular expression can count
_END = "(?!\\n)$"


def pattern(size: int | None = None, *, line_feeds: bool = False) -> str:
    """The pattern of the base64 of `size` bytes (None: any number).

    With `line_feeds`, all full lines of 76 signs may have a line feed after them; after the last it may be missing.
    """
    if size is None:
        plain, forms = f"(?:{_GROUP})*{_PADDED}?", [_lines(), _padded_lines()]
    else:
        plain, forms = _sized(size), [_sized_lines(size)]
    return f"^(?:{'|'.join([plain, *forms])}){_END}" if line_feeds else f"^{plain}{_END}"


def _lines() -> str:
    """Full lines, then one that may be full and needs no line feed."""
    return f"(?:{_LINE})+(?:(?:{_GROUP}){{0,{_FULL}}}|(?:{_GROUP}){{0,{_FULL - 1}}}{_PADDED})"


def _padded_lines() -> str:
    """Full lines, the last of them padded."""
    return f"(?:{_LINE})*(?:{_GROUP}){{{_FULL - 1}}}{_PADDED}\\n"


def _sized(size: int) -> str:
    groups = _times(_GROUP, size // _BYTES)
    return groups + ("", _ONE, _TWO)[size % 3]


def _sized_lines(size: int) -> str:
    """Full lines, a last one, and a line feed after that where it is full, too."""
    groups = (size + 2) // 3
    lines = max(groups - 1, 0) // _FULL
    last = _sized(size - 3 * _FULL * lines)
    feed = "\\n?" if groups and groups % _FULL == 0 else ""
    return _times(_LINE, lines) + last + feed


def _times(part: str, count: int) -> str:
    """So many of a part, none where there is none; what regular expressions cannot count is counted by parts of it."""
    if count <= _MOST:
        return f"(?:{part}){{{count}}}" if count else ""
    whole, rest = divmod(count, _MOST)
    return _times(_times(part, _MOST), whole) + _times(part, rest)

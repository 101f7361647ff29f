"""Parses integers of specs, in expressions and elsewhere: `12`, `-3`, `0x1F`.

Other languages accept more: a leading zero may mean octal, and Python takes underscores, spaces and the digits of all
scripts. A text that two readers could read as different numbers is refused.
"""

import re

_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_HEXADECIMAL = re.compile(r"-?0x[0-9a-fA-F]+")
_DIGITS = re.compile(r"\b0x([0-9a-fA-F]+)\b")
_ZERO_IN_FRONT = re.compile(r"[-+]?0[0-9]")
MOST_DIGITS = 4000
"""Most digits of an integer, close to Python's own limit."""


def integer(text: str) -> int | None:
    """Parse an integer; None if the text is not one."""
    if len(text) > MOST_DIGITS:
        return None
    if _INTEGER.fullmatch(text):
        return int(text)
    return int(text, 16) if _HEXADECIMAL.fullmatch(text) else None


def notation_of(text: str) -> str:
    """The notation of the first hexadecimal integer in a text: `04X` for 0x5EF5, `02x` for 0xff; empty without one."""
    found = _DIGITS.search(text)
    return f"0{len(found[1])}{'x' if re.search('[a-f]', found[1]) else 'X'}" if found else ""


def respelled(text: str) -> str:
    """How to write an integer that is in another language's notation; empty if it is correct, or no integer."""
    bare = text.strip().replace("_", "")
    if len(text) > MOST_DIGITS or integer(text) is not None:
        return ""
    try:
        number = int(bare, 16) if bare.lower().lstrip("+-").startswith("0x") else int(bare)
    except ValueError:
        return ""
    shown = f"{number:#x}" if "x" in bare.lower() else str(number)
    why = "numbers have no leading zeros: " if _ZERO_IN_FRONT.match(bare) else ""
    return f"{why}write {shown}"


def respelled_ends(text: str) -> str:
    """The same for the first wrong end of a range, such as `0 .. 7`."""
    return next(filter(None, (respelled(part.strip()) for part in text.split(".."))), "")

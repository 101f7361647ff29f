"""Integers as specs write them, in expressions and anywhere else: `12`, `-3`, `0x1F`.

Other readers accept more: a leading zero means octal for some, and Python takes underscores, spaces and the digits of
all scripts. A text that two readers could read as two numbers is refused.
"""

import re

_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_HEXADECIMAL = re.compile(r"-?0x[0-9a-fA-F]+")
_DIGITS = re.compile(r"\b0x([0-9a-fA-F]+)\b")
_ZERO_IN_FRONT = re.compile(r"[-+]?0[0-9]")
MOST_DIGITS = 4000
"""Of an integer; Python reads few more."""


def integer(text: str) -> int | None:
    """The integer that a text says; None where it says none."""
    if len(text) > MOST_DIGITS:
        return None
    if _INTEGER.fullmatch(text):
        return int(text)
    return int(text, 16) if _HEXADECIMAL.fullmatch(text) else None


def notation_of(text: str) -> str:
    """How the first hexadecimal integer of a text is written: `04X` for 0x5EF5, `02x` for 0xff; empty without one."""
    found = _DIGITS.search(text)
    return f"0{len(found[1])}{'x' if re.search('[a-f]', found[1]) else 'X'}" if found else ""


def respelled(text: str) -> str:
    """What to write for an integer as others write it; empty for what is one, and for what is none to anybody."""
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
    """The same of the first end of a range, such as `0 .. 7`, that is written as others write it."""
    return next(filter(None, (respelled(part.strip()) for part in text.split(".."))), "")

"""Identifiers of Kaitai Struct: lower case with underscores, unique for each field, type and enumeration."""

import keyword
import re

from wireloom.exporting.values import Names

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_OTHERS = re.compile(r"[^a-z0-9]+")


def identifier(name: str) -> str:
    """A name as a Kaitai identifier: key_size for `keySize`.

    Python keywords get a final underscore, as Kaitai has a Python target.
    """
    found = _OTHERS.sub("_", _HUMP.sub("_", name).lower()).strip("_")
    if not found or not found[0].isalpha():
        found = f"n{found}"
    return f"{found}_" if keyword.iskeyword(found) or found.capitalize() in ("True", "False", "None") else found


def free(names: Names, name: str) -> str:
    """The name as an unused identifier."""
    return names.free(identifier(name))

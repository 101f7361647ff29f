"""Converts names of other languages to names of fields, types and formats."""

import re
from collections.abc import Iterable
from typing import Any

from wireloom.names import EXPRESSION_WORDS, capitalised, format_name_flaw, logical_name_flaw, type_name_flaw

STEPS = ("check", "verify", "mark", "need", "frame", "end", "discard")


def field_name(name: str) -> str:
    """The name of a field in expressions; reserved words get an underscore."""
    taken = name in EXPRESSION_WORDS or name in STEPS or logical_name_flaw(name)
    return f"{name}_" if taken else name


def renamed(name: str) -> dict[str, Any]:
    """The key `as`, for a field whose name cannot be used in expressions."""
    return {"as": name} if field_name(name) != name else {}


def one_line(text: str) -> str:
    """A text without line breaks."""
    return " ".join(text.split())


def camel(name: str) -> str:
    """`file_header` as the name of a type: FileHeader."""
    found = capitalised(re.sub("[^A-Za-z0-9_]", "_", name)[:80])
    return f"Type{found}" if type_name_flaw(found) else found


def format_name(name: str) -> str:
    """The most similar valid name of a format."""
    found = re.sub("[^a-z0-9_]+", "_", name.lower())[:90].strip("_")
    if not format_name_flaw(found):
        return found
    other = f"{found}_format"
    return other if other[0].isalpha() else f"f{other}"


def free(base: str, taken: set[str]) -> str:
    """The name `base`, or `base_2` and so on, if it is taken; case does not matter."""
    found, number = base, 2
    while found.lower() in taken:
        found, number = f"{base}_{number}", number + 1
    taken.add(found.lower())
    return found


class Members:
    """Names of a struct's fields: the original ones if valid, otherwise unused ones."""

    def __init__(self, names: Iterable[str]) -> None:
        self._taken = {each.lower() for each in names if not logical_name_flaw(each)}

    def reader(self, name: str) -> str:
        """The name of a field for readers."""
        return self.beside(re.sub("^[^A-Za-z]+", "", name) or "unnamed") if logical_name_flaw(name) else name

    def own(self, reader: str) -> str:
        """The name of a field in expressions."""
        name = field_name(reader)
        return reader if name == reader else self.beside(name)

    def beside(self, base: str) -> str:
        """The name of an additional field."""
        return free(base, self._taken)

"""Codecs and validators travel between processes by name: each is what its generated module calls so everywhere."""

import sys
from collections.abc import Callable
from importlib import import_module

Reduced = tuple[Callable[[str, str], object], tuple[str, str]]


def by_name(value: object, name: str) -> Reduced:
    """How a module's value of that name is pickled; raises PicklingError where no module calls it so."""
    for module, content in list(sys.modules.items()):
        if getattr(content, "__dict__", {}).get(name) is value:
            return _named, (module, name)
    from pickle import PicklingError

    raise PicklingError(f"a {type(value).__name__} is pickled as the {name} of its generated module, and this is none")


def _named(module: str, name: str) -> object:
    found: object = getattr(import_module(module), name)
    return found

"""Pickles codecs and validators by name: the module and the variable that hold them in every process."""

import sys
from collections.abc import Callable
from importlib import import_module

Reduced = tuple[Callable[[str, str], object], tuple[str, str]]


def by_name(value: object, name: str) -> Reduced:
    """The pickled form of the module variable `name` that holds the value; raises PicklingError if none does."""
    for module, content in list(sys.modules.items()):
        if getattr(content, "__dict__", {}).get(name) is value:
            return _named, (module, name)
    from pickle import PicklingError

    raise PicklingError(f"a {type(value).__name__} is pickled as the {name} of its generated module, and this is none")


def _named(module: str, name: str) -> object:
    found: object = getattr(import_module(module), name)
    return found

"""What generated modules run on: a room for each concern, and a `Codec` above them that joins what they do.

`parsers` say what bytes mean, `columns` what readers see, `streams` where records begin and end; `engine` reads and
writes columns natively. They share the modules that stand beside this one (errors, values, parameters, the cursor and
the functions of expressions) and see of one another what tests/docs/test_architecture.py lists; none sees the codec.
Imports what reading bytes needs and nothing else; the generator is never imported here.
"""

import importlib
import sys
from types import ModuleType


class _Later(ModuleType):
    """A module that is imported when something in it is used."""

    def __getattr__(self, name: str) -> object:
        """What the module itself has of that name."""
        return getattr(importlib.import_module(self.__name__), name)


def _without_debugger() -> None:
    """Import construct without the debugger that it imports, which takes longer than the parsers do."""
    if "pdb" not in sys.modules and "construct" not in sys.modules:
        sys.modules["pdb"] = _Later("pdb")
        try:
            importlib.import_module("construct")
        finally:
            del sys.modules["pdb"]


_without_debugger()

CONTRACT = 2
"""The version of what generated code may expect of this package; a generated package says which it was made for."""

"""Imports generated modules from their texts, without files."""

import importlib
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from types import ModuleType

PACKAGE = "wireloom_in_memory"


class _Texts(MetaPathFinder, Loader):
    """An import hook for the modules of PACKAGE."""

    def __init__(self, modules: Mapping[str, Mapping[str, str]]) -> None:
        """`modules` has the files of each format, by file name."""
        self._modules = modules

    def _text(self, fullname: str) -> str | None:
        """The text of a module; None if the hook does not have it."""
        match fullname.split("."):
            case [package] if package == PACKAGE:
                return ""
            case [package, format] if package == PACKAGE and format in self._modules:
                return self._modules[format]["__init__.py"]
            case [package, format, stem] if package == PACKAGE and format in self._modules:
                return self._modules[format].get(f"{stem}.py")
            case _:
                return None

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:  # noqa: ARG002
        """The import spec of a module that the hook has."""
        if self._text(fullname) is None:
            return None
        return spec_from_loader(fullname, self, is_package=fullname.count(".") < 2)

    def exec_module(self, module: ModuleType) -> None:
        """Execute the text of a module."""
        name = module.__name__
        exec(compile(self._text(name) or "", f"<{name}>", "exec"), module.__dict__)  # noqa: S102 - what we generated


@contextmanager
def opened(modules: Mapping[str, Mapping[str, str]]) -> Iterator[dict[str, ModuleType]]:
    """The module of each format, made from its files. Within the block, they can import more of their own files."""
    finder = _Texts(modules)
    sys.meta_path.insert(0, finder)
    try:
        yield {format: importlib.import_module(f"{PACKAGE}.{format}") for format in modules}
    finally:
        sys.meta_path.remove(finder)
        for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
            del sys.modules[name]

"""Generated modules as they would be on disk, imported from their texts."""

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
    """Finds the modules of PACKAGE among texts."""

    def __init__(self, modules: Mapping[str, Mapping[str, str]]) -> None:
        """`modules` are the files of each format, by their names."""
        self._texts = {PACKAGE: ""}
        self._packages = {PACKAGE}
        for format, files in modules.items():
            self._packages.add(f"{PACKAGE}.{format}")
            for name, text in files.items():
                stem, _, ending = name.rpartition(".")
                if ending == "py":
                    self._texts[f"{PACKAGE}.{format}" + ("" if stem == "__init__" else f".{stem}")] = text

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:  # noqa: ARG002
        """A module of ours."""
        if fullname not in self._texts:
            return None
        return spec_from_loader(fullname, self, is_package=fullname in self._packages)

    def exec_module(self, module: ModuleType) -> None:
        """Run its text."""
        name = module.__name__
        exec(compile(self._texts[name], f"<{name}>", "exec"), module.__dict__)  # noqa: S102 - what we generated


@contextmanager
def opened(modules: Mapping[str, Mapping[str, str]]) -> Iterator[dict[str, ModuleType]]:
    """The module of each format, made from its files; they can import more of their own as long as this is open."""
    finder = _Texts(modules)
    sys.meta_path.insert(0, finder)
    try:
        yield {format: importlib.import_module(f"{PACKAGE}.{format}") for format in modules}
    finally:
        sys.meta_path.remove(finder)
        for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
            del sys.modules[name]

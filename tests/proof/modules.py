"""A spec -> its generated module, in memory: nothing is written but the spec itself, for the loader to read."""

import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from pathlib import Path
from types import ModuleType
from typing import Any

from proof.texts import yaml
from wireloom import pipeline
from wireloom.model.format import Format
from wireloom.resolve import resolve
from wireloom.spec import load
from wireloom.spec.documents import Documents

PACKAGE = "wireloom_proof"
Spec = Mapping[str, Mapping[str, Any]]
"""Files by name: the format, and what it shares with others."""


@dataclass(frozen=True)
class Made:
    """What was generated of a spec."""

    format: Format
    module: ModuleType
    spark: ModuleType
    arrow: ModuleType
    schema: Mapping[str, Any]
    files: Mapping[str, str]  # which the module would read from beside it


def documents(spec: Spec) -> Documents:
    """The spec as the loader reads it; the last one is remembered, since whoever makes a spec has just read it."""
    return _read(tuple((name, yaml(content)) for name, content in spec.items()))


@lru_cache(maxsize=1)
def _read(spec: tuple[tuple[str, str], ...]) -> Documents:
    with tempfile.TemporaryDirectory(prefix="wireloom-proof-") as folder:
        paths = [Path(folder) / name for name, _ in spec]
        for path, (_, content) in zip(paths, spec, strict=True):
            path.write_text(content, encoding="utf-8")
        return load(paths, Path(folder))


_last: list[tuple[Documents, Format]] = []


def resolved(read: Documents) -> Format:
    """The one format, remembered as its documents are; raises SpecProblems."""
    if not _last or _last[0][0] is not read:
        (format,) = resolve(read)
        _last[:] = [(read, format)]
    return _last[0][1]


@contextmanager
def generated(format: Format) -> Iterator[Made]:
    """The format's module, for as long as it is needed."""
    texts = pipeline.emit(format)
    finder = _Finder(format.name, texts)
    sys.meta_path.insert(0, finder)
    _forget()
    try:
        name = f"{PACKAGE}.{format.name}"
        module = _imported(name)
        files = {file: text for file, text in texts.items() if file.endswith(".json")}
        schema = json.loads(files["schema.json"])
        yield Made(format, module, _imported(f"{name}.spark"), _imported(f"{name}.columns"), schema, files)
    finally:
        sys.meta_path.remove(finder)
        _forget()


def _imported(name: str) -> ModuleType:
    __import__(name)
    return sys.modules[name]


def _forget() -> None:
    for name in [name for name in sys.modules if name == PACKAGE or name.startswith(f"{PACKAGE}.")]:
        del sys.modules[name]


class _Finder(MetaPathFinder):
    """Modules whose text is in memory."""

    def __init__(self, format: str, texts: Mapping[str, str]) -> None:
        self.texts = {f"{PACKAGE}.{format}.{name.removesuffix('.py')}": text for name, text in texts.items()}
        self.texts[f"{PACKAGE}.{format}"] = texts["__init__.py"]
        self.texts[PACKAGE] = ""

    def find_spec(  # the signature is the import system's
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module of that name, where it is one of ours."""
        if fullname not in self.texts:
            return None
        package = any(name.startswith(f"{fullname}.") for name in self.texts)
        return spec_from_loader(fullname, _Text(self.texts[fullname]), is_package=package)


class _Text(Loader):
    def __init__(self, text: str) -> None:
        self.text = text

    def create_module(self, spec: ModuleSpec) -> None:
        """The usual one."""

    def exec_module(self, module: ModuleType) -> None:
        """Run the text."""
        exec(compile(self.text, f"<{module.__name__}>", "exec"), module.__dict__)  # noqa: S102 - it is what we generated

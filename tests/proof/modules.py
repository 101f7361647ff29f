"""Makes the generated module of a spec in memory; only the spec itself is written, for the loader."""

import json
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import Any

from proof.texts import yaml
from wireloom import pipeline
from wireloom.examples.memory import PACKAGE, opened
from wireloom.model.format import Format
from wireloom.resolve import resolve
from wireloom.spec import load
from wireloom.spec.documents import Documents

Spec = Mapping[str, Mapping[str, Any]]
"""File contents by name: the format, and the files that it imports."""


@dataclass(frozen=True)
class Made:
    """The generated files of a spec; each is made, and each module imported, on first use."""

    format: Format
    module: ModuleType
    texts: Mapping[str, str]

    @cached_property
    def spark(self) -> ModuleType:
        """The module of Spark's types."""
        return import_module(f"{self.module.__name__}.spark")

    @cached_property
    def arrow(self) -> ModuleType:
        """The module of Arrow's types."""
        return import_module(f"{self.module.__name__}.columns")

    @cached_property
    def schema(self) -> Any:
        """The JSON Schema."""
        return json.loads(self.texts["schema.json"])

    @cached_property
    def files(self) -> Mapping[str, str]:
        """The files that the module reads from its folder."""
        return {name: text for name, text in self.texts.items() if name.endswith(".json")}

    def complete(self) -> "Made":
        """The same object, with every file made and the modules of types imported."""
        attrgetter("spark", "arrow", "schema", "files")(self)
        return self


def documents(spec: Spec) -> Documents:
    """The spec as the loader reads it. The last one is cached, since its maker has just loaded it."""
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
    """The format of the spec, cached with its documents; raises SpecProblems."""
    if not _last or _last[0][0] is not read:
        (format,) = resolve(read)
        _last[:] = [(read, format)]
    return _last[0][1]


@contextmanager
def generated(format: Format) -> Iterator[Made]:
    """The format's module within the block; an open module of the same name is another one."""
    texts = pipeline.emit(format)
    for name in [name for name in sys.modules if f"{name}.".startswith(f"{PACKAGE}.{format.name}.")]:
        del sys.modules[name]
    with opened({format.name: texts}) as modules:
        yield Made(format, modules[format.name], texts)

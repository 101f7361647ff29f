"""Opens imported specs as modules."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from wireloom import pipeline
from wireloom.examples.memory import opened
from wireloom.importing.settling import Settled


@contextmanager
def module_of(made: Settled) -> Iterator[ModuleType]:
    """The module of an imported spec, within the block."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "spec.yaml").write_text(made.text, encoding="utf-8")
        modules = pipeline.read(Path(folder)).modules
    with opened(modules) as found:
        yield found[made.format]

"""Builds of the engine that stand elsewhere: those with sanitizers."""

import importlib.util
import sys
from typing import Any


def built(library: str) -> Any:
    """The build of the engine that stands elsewhere, in the place of the usual one."""
    name = "wireloom.runtime.engine._engine"
    spec = importlib.util.spec_from_file_location(name, library)
    assert spec is not None
    assert spec.loader is not None
    sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules[name])
    sys.modules["wireloom.runtime.engine"]._engine = sys.modules[name]  # type: ignore[attr-defined]
    return sys.modules[name]

"""Loads builds of the engine from other places, such as those with sanitizers."""

import importlib.util
import sys
from typing import Any


def built(library: str) -> Any:
    """Use a build of the engine from another place."""
    name = "wireloom.runtime.engine._engine"
    spec = importlib.util.spec_from_file_location(name, library)
    assert spec is not None
    assert spec.loader is not None
    sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules[name])
    sys.modules["wireloom.runtime.engine"]._engine = sys.modules[name]  # type: ignore[attr-defined]
    return sys.modules[name]

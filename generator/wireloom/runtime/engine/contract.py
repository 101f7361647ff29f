"""Layouts are accepted as they were generated, or not at all.

A layout states its own digest. A layout that was truncated, edited or merged from two would be compiled to a program
that reads other records than the spec describes, without an error. So the engine refuses it. What is compiled is what
the generator wrote, whose types the model has checked.
"""

from collections.abc import Mapping
from typing import Any

from wireloom.runtime.errors import ContractError

LAYOUT_VERSION = 10
"""The version of layouts that this engine reads."""


def digest(parts: Mapping[str, Any]) -> str:
    """What a layout of these parts states beside them."""
    import hashlib

    stated = [(name, part) for name, part in parts.items() if name != "digest"]
    return hashlib.sha256(repr(stated).encode("utf-8", "backslashreplace")).hexdigest()[:32]


def check(format: str, layout: Mapping[str, Any]) -> None:
    """Raises ContractError for a layout of another version, or that is not as it was generated."""
    version = layout.get("version")
    if version != LAYOUT_VERSION:
        raise ContractError(
            f"{format}: layout version {version}, but this engine reads {LAYOUT_VERSION}: run `wireloom generate`"
        )
    if layout.get("digest") != digest(layout):
        raise ContractError(f"{format}: the layout was changed after it was generated: run `wireloom generate`")

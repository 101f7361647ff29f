"""The engine accepts only layouts that are exactly as they were generated.

A layout contains its own digest. A truncated, edited or badly merged layout could be compiled to a program that reads
other records than the spec describes, without an error, so the engine refuses it. The model has checked the types of
every layout that the generator wrote.
"""

from collections.abc import Mapping
from typing import Any

from wireloom.runtime.errors import ContractError

LAYOUT_VERSION = 10
"""The version of layouts that this engine reads."""


def digest(parts: Mapping[str, Any]) -> str:
    """The digest of a layout, over all its other parts."""
    import hashlib

    stated = [(name, part) for name, part in parts.items() if name != "digest"]
    return hashlib.sha256(repr(stated).encode("utf-8", "backslashreplace")).hexdigest()[:32]


def check(format: str, layout: Mapping[str, Any]) -> None:
    """Raises ContractError for a layout of another version, or one that was changed after it was generated."""
    version = layout.get("version")
    if version != LAYOUT_VERSION:
        raise ContractError(
            f"{format}: layout version {version}, but this engine reads {LAYOUT_VERSION}: run `wireloom generate`"
        )
    if layout.get("digest") != digest(layout):
        raise ContractError(f"{format}: the layout was changed after it was generated: run `wireloom generate`")

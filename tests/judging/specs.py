"""Judges the vectors that `wireloom vectors` wrote for a format of the generated package."""

from collections.abc import Iterator
from functools import partial
from importlib import import_module
from pathlib import Path

import wireloom_formats
from judging.verdicts import Manifest, Verdict, cut, name_of, verdict
from wireloom.vectors import findings, recognises

FAMILY = "specs"
__all__ = ["FAMILY", "judge", "recognises"]


def judge(_: Path, manifest: Manifest) -> Iterator[Verdict]:
    """A verdict for each vector."""
    name = manifest["format"]
    if name not in wireloom_formats.FORMATS:
        raise ValueError(f"there is no format {name}")
    codec = import_module(f"wireloom_formats.{name}").CODEC
    for number, vector in enumerate(manifest["vectors"]):
        yield verdict(FAMILY, f"{name}: {name_of(vector, number)}", partial(map, cut, findings(codec, vector)))

"""`explain`: what a format runs on."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from wireloom.cli.console import say
from wireloom.cli.options import OUT, PACKAGE, Format, Out, Package, chosen

if TYPE_CHECKING:
    from wireloom.explanation import Explained


def explain(format: Format, out: Out = OUT, package: Package = PACKAGE) -> None:
    """Show what decoding and encoding a format run on: the native engine, or the construct path and why.

    For each root, and for each parameter whose values change it. The construct path gives the same results, some
    hundred times slower. Where it is taken, the columns that the engine reads when they are asked for alone are named.

    \b
    Examples:
      wireloom explain heartbeat
      wireloom explain heartbeat --package my_formats --out build
    """
    from wireloom.explanation import explained  # what it looks at imports pyarrow

    module = chosen(format, package, out)
    say(f"{module.FORMAT}: {module.TITLE}")
    for root in explained(module.CODEC):
        for line in _lines(root):
            say(f"    {line}")


def _lines(root: "Explained") -> Iterator[str]:
    yield f"root {root.root}"
    yield f"    decode  {root.decode}"
    if root.alone:
        yield f"            native engine for each of these columns alone: {', '.join(root.alone)}"
    yield f"    encode  {root.encode}"
    for change in root.changes:
        for way, path in (("decode", change.decode), ("encode", change.encode)):
            if path is not None:
                yield f"    {way}  with {change.asked}: {path}"

"""`explain`: what a format runs on."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from wireloom.catalog import open_format, open_package
from wireloom.cli.console import refuse_closed_output, say
from wireloom.cli.options import OUT, PACKAGE, Out, Package

if TYPE_CHECKING:
    from wireloom.explanation import Explained


def explain(
    formats: Annotated[
        list[str] | None, typer.Argument(metavar="[FORMAT]...", help="Formats of the package; all if none is named.")
    ] = None,
    out: Out = OUT,
    package: Package = PACKAGE,
) -> None:
    """Show how records follow one another, and what decoding and encoding run on: the native engine, or why not.

    For each root, and for each parameter whose values change it. The construct path gives the same results, some
    hundred times slower. Where it is taken, the columns that the engine reads when they are asked for alone are named.

    \b
    Examples:
      wireloom explain
      wireloom explain heartbeat
      wireloom explain heartbeat --package my_formats --out build
    """
    refuse_closed_output()
    from wireloom.explanation import explained  # what it looks at imports pyarrow

    opened = open_package(package, out)
    for module in [open_format(opened, name) for name in formats or opened.FORMATS]:
        say(f"{module.FORMAT}: {module.TITLE}")
        say(f"    framing {module.CODEC.framing}")
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

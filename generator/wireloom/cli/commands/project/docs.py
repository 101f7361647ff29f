"""`docs`: write a site that describes the formats of a folder of specs."""

from pathlib import Path
from typing import Annotated

import typer

from wireloom.cli.options import SPECS, Specs, refuse_no_folder, refuse_no_way
from wireloom.cli.terminal.console import refuse_closed_output, say, waiting


def docs(
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder of the site.")] = Path("site"),
    specs: Specs = SPECS,
) -> None:
    """Make a site that describes the formats: every byte on the wire, the columns, the errors, examples.

    The site is a folder of HTML pages and pictures. Open `index.html` in a browser, or serve the folder; the pages
    need no network and run no script. A page says enough to write a sender in any language.

    Writes only files that differ, and removes the pages of deleted specs. Leaves files alone that you wrote yourself.
    If specs have problems, shows all of them and writes nothing.

    \b
    Examples:
      wireloom docs                              specs/ -> site/index.html
      wireloom docs --specs mine --out public
    """
    refuse_closed_output()
    refuse_no_folder(specs)
    refuse_no_way("--out", out)
    with waiting(f"describing the formats of {specs}"):
        from wireloom import pipeline  # imported here: the generator's libraries are slow

        changes = pipeline.document(specs, out)
    for path in changes.removed:
        say(f"removed {path}")
    say(f"{len(changes.written)} written, {len(changes.removed)} removed, {changes.unchanged} unchanged")
    say(f"open {out / 'index.html'}")

"""`package`: write the generated package as a wheel and a zip."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from wireloom.bundle import bundle
from wireloom.cli.options import OUT, PACKAGE, Out, Package, refuse_no_way
from wireloom.cli.terminal.console import note, say


def package(
    destination: Annotated[Path, typer.Option("--dest", metavar="DIR", help="Folder for the two files.")] = Path(
        "dist"
    ),
    out: Out = OUT,
    package: Package = PACKAGE,
) -> None:
    """Make a wheel of the generated package, and a zip for Spark's --py-files.

    The wheel is for environments that have wireloom installed. The zip brings the runtime along and is imported from
    inside the zip; it needs construct, msgpack, protobuf and pyarrow on the executors. The version of both changes
    with the specs; bundles of earlier versions are removed from the folder. Name the exact version wherever the
    package is installed or submitted, as this command prints it: driver and executors must have the same.

    \b
    Examples:
      wireloom package
      wireloom package --dest /tmp/wheels
    """
    refuse_no_way("--dest", destination)
    made = bundle(out, package, destination)
    say(f"wrote {made.wheel}")
    say(f"wrote {made.zip}")
    for path in made.removed:
        say(f"removed {path}")
    note(f"submit with: spark-submit --py-files {shlex.quote(str(made.zip))} JOB.py")
    note(f"or install:  pip install '{made.requirement}' --find-links {shlex.quote(str(destination))}")

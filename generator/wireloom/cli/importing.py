"""`import`: specs of descriptions in other languages."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wireloom.cli.console import note, say, waiting
from wireloom.cli.guard import PROBLEMS
from wireloom.cli.options import SPECS, Specs, refuse_no_way
from wireloom.failures import MisuseError

if TYPE_CHECKING:
    from wireloom.importing.settling import Settled

Description = Annotated[
    Path, typer.Argument(metavar="FILE", help="The description.", exists=True, dir_okay=False, readable=True)
]
ImportPaths = Annotated[
    list[Path] | None,
    typer.Option(
        "--import-path",
        metavar="DIR",
        help="Another folder that imports may lead to, beside the file's own; several are several options.",
        exists=True,
        file_okay=False,
    ),
]
Replace = Annotated[bool, typer.Option("--replace", help="Write over a spec that is already there.")]


def ksy(file: Description, specs: Specs = SPECS, import_path: ImportPaths = None, replace: Replace = False) -> None:
    """Make a spec of a description in Kaitai Struct (.ksy): SPECS/ID.yaml, for the format that `meta/id` names.

    The spec that is written works. Parts that a spec cannot express are listed: where they are, what they are, and what
    to write by hand; then the exit code is 1. Nothing of the description is run.

    \b
    Examples:
      wireloom import ksy gif.ksy                      writes specs/gif.yaml
      wireloom import ksy gif.ksy --specs my/specs && wireloom generate --specs my/specs
      wireloom import ksy image/gif.ksy --import-path . --replace
    """
    from wireloom.importing.findings import ImportRefusedError

    refuse_no_way("--specs", specs)
    try:
        with waiting(f"reading {file}"):
            made = settled_ksy(file, import_path or ())
    except ImportRefusedError as error:
        note(*map(str, error.findings), "nothing was written")
        raise typer.Exit(PROBLEMS) from error
    path = specs / f"{made.format}.yaml"
    if path.exists() and not replace:
        raise MisuseError(f"{path} is already there; give --replace to write over it, or another folder by --specs")
    specs.mkdir(parents=True, exist_ok=True)
    path.write_text(made.text, encoding="utf-8")
    say(f"wrote {path}")
    _tell(made)


def settled_ksy(file: Path, folders: Sequence[Path]) -> "Settled":
    """The spec that a .ksy file stands for; raises ImportRefusedError where there is none."""
    from wireloom import pipeline  # here, because it imports jinja2 and yaml
    from wireloom.importing.ksy import draft, read
    from wireloom.importing.settling import settle

    description = read(file, folders)
    return settle(file, lambda refused: draft(description, refused), pipeline.flaws)


def _tell(made: "Settled") -> None:
    """What the spec lacks, each with its place."""
    if not made.findings:
        note("next: `wireloom generate`")
        return
    note(*map(str, made.findings))
    kinds = Counter(each.kind for each in made.findings)
    counts = ", ".join(f"{kind} {count}" for kind, count in sorted(kinds.items()))
    noun = "thing differs" if len(made.findings) == 1 else "things differ"
    note(f"{len(made.findings)} {noun} from the description: {counts}")
    raise typer.Exit(PROBLEMS)


COMMANDS = (ksy,)
import_ = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    help="Make a spec of a description in another language.",
)
"""The commands below `import`."""


@import_.callback()
def _import() -> None:
    """Make a spec of a description in another language."""

"""`import`: make specs from descriptions in other languages."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wireloom.cli.guard import PROBLEMS
from wireloom.cli.options import SPECS, Specs, refuse_no_way
from wireloom.cli.terminal.console import differing, note, say, waiting
from wireloom.escapes import visible
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
        help="Another folder to search for imports, besides the file's own; may be repeated.",
        exists=True,
        file_okay=False,
    ),
]
Replace = Annotated[bool, typer.Option("--replace", help="Overwrite an existing spec.")]


Name = Annotated[
    str, typer.Option("--name", metavar="NAME", help="The name of the format; by default, that of the file.")
]
Depth = Annotated[
    int | None,
    typer.Option(min=1, max=16, help="How many levels of a recursive type to read."),
]
Confluent = Annotated[
    bool, typer.Option("--confluent", help="Each record follows a zero byte and the number of its schema.")
]
Folders = Annotated[
    list[Path] | None,
    typer.Option(
        "--import-path",
        "-I",
        metavar="DIR",
        help="Another folder to search for imports, besides the file's own; may be repeated.",
        exists=True,
        file_okay=False,
    ),
]
Messages = Annotated[
    list[str] | None,
    typer.Option(
        "--message",
        metavar="NAME",
        help="A message that is a record; may be repeated. By default, each message that no other message of the "
        "file contains.",
    ),
]


def ksy(file: Description, specs: Specs = SPECS, import_path: ImportPaths = None, replace: Replace = False) -> None:
    """Make a spec from a description in Kaitai Struct (.ksy): SPECS/ID.yaml, for the format that `meta/id` names.

    The spec that is written works. Parts that a spec cannot express are listed: where they are, what they are, and what
    to write by hand; then the exit code is 1. No code from the description is run.

    \b
    Examples:
      wireloom import ksy gif.ksy                      writes specs/gif.yaml
      wireloom import ksy gif.ksy --specs my/specs && wireloom generate --specs my/specs
      wireloom import ksy image/gif.ksy --import-path . --replace
    """
    _write(lambda: settled_ksy(file, import_path or ()), file, specs, replace=replace)


def proto(
    file: Description,
    specs: Specs = SPECS,
    message: Messages = None,
    import_path: Folders = None,
    name: Name = "",
    depth: Depth = None,
    replace: Replace = False,
) -> None:
    """Make a spec from messages of Protocol Buffers: SPECS/FILE.yaml, for the format FILE that reads FILE.proto.

    FILE is a .proto file (proto2, proto3 or an edition), or a set of descriptors that protoc wrote. The spec that is
    written works. Parts that it lacks are listed with their places; then the exit code is 1.

    \b
    Examples:
      wireloom import proto orders.proto                       writes specs/orders.yaml
      wireloom import proto acme/orders.proto -I . --message Order
      protoc --include_imports --include_source_info --descriptor_set_out=orders.pb orders.proto
      wireloom import proto orders.pb                          needs no protoc
    """
    _refuse_name(name)
    _write(lambda: settled_proto(file, import_path or (), message or (), name, depth), file, specs, replace=replace)


def avsc(
    file: Description,
    specs: Specs = SPECS,
    confluent: Confluent = False,
    name: Name = "",
    depth: Depth = None,
    replace: Replace = False,
) -> None:
    """Make a spec from the records of an Avro schema (.avsc): SPECS/FILE.yaml, for the format FILE.

    The records are binary, each by itself, as in Kafka; an Avro data file is not read. The spec that is written works.
    Parts that differ are listed with their places; then the exit code is 1.

    \b
    Examples:
      wireloom import avsc user.avsc                 writes specs/user.yaml
      wireloom import avsc user.avsc --confluent     after the five bytes of a schema registry
    """
    _refuse_name(name)
    _write(lambda: settled_avsc(file, name, depth, confluent=confluent), file, specs, replace=replace)


def _refuse_name(name: str) -> None:
    from wireloom.names import format_name_flaw

    if name and (flaw := format_name_flaw(name)):
        raise MisuseError(f"{name} cannot be the name of a format: {flaw}")


def _write(made_by: "Callable[[], Settled]", file: Path, specs: Path, *, replace: bool) -> None:
    """Write the spec made from a description, and list what it lacks."""
    from wireloom.importing.findings import ImportRefusedError

    refuse_no_way("--specs", specs)
    try:
        with waiting(f"reading {visible(str(file))}"):
            made = made_by()
    except ImportRefusedError as error:
        note(*map(str, error.findings), "nothing was written")
        raise typer.Exit(PROBLEMS) from error
    path = specs / f"{made.format}.yaml"
    if path.exists() and not replace:
        raise MisuseError(f"{path} exists; overwrite it with --replace, or choose another folder with --specs")
    specs.mkdir(parents=True, exist_ok=True)
    path.write_text(made.text, encoding="utf-8")
    say(f"wrote {path}")
    _tell(made)


def settled_ksy(file: Path, folders: Sequence[Path]) -> "Settled":
    """The spec made from a .ksy file; raises ImportRefusedError if none can be made."""
    from wireloom import pipeline  # imported here: needs jinja2 and yaml
    from wireloom.importing.ksy import draft, read
    from wireloom.importing.settling import settle

    description = read(file, folders)
    return settle(file, lambda refused: draft(description, refused), pipeline.flaws)


def settled_avsc(file: Path, name: str = "", depth: int | None = None, *, confluent: bool = False) -> "Settled":
    """The spec made from an .avsc file; raises ImportRefusedError if none can be made."""
    from wireloom import pipeline
    from wireloom.importing.avsc import draft, read
    from wireloom.importing.settling import settle

    description = read(file)
    return settle(
        file, lambda refused: draft(description, refused, name=name, depth=depth, confluent=confluent), pipeline.flaws
    )


def settled_proto(
    file: Path, folders: Sequence[Path] = (), messages: Sequence[str] = (), name: str = "", depth: int | None = None
) -> "Settled":
    """The spec made from a .proto file or a descriptor set; raises ImportRefusedError if none can be made."""
    from wireloom import pipeline
    from wireloom.importing.proto import NoSuchMessageError, draft, read
    from wireloom.importing.proto.compiling import NoCompilerError
    from wireloom.importing.settling import settle

    try:
        description = read(file, folders, messages)
    except NoSuchMessageError as error:
        raise MisuseError(f"{visible(str(file))}: {error}") from error
    except NoCompilerError as error:
        made = f"protoc --include_imports --include_source_info --descriptor_set_out={file.stem}.pb {file.name}"
        raise MisuseError(
            "reading .proto files needs protoc: `pip install wireloom[proto]` brings one; or make a set of descriptors "
            f"(`{visible(made)}`), and import that"
        ) from error
    return settle(file, lambda refused: draft(description, refused, name=name, depth=depth), pipeline.flaws)


def _tell(made: "Settled") -> None:
    """Print what the spec lacks, each with its place."""
    if not made.findings:
        note("next: `wireloom generate`")
        return
    note(*map(str, made.findings))
    note(differing([each.kind for each in made.findings], "description"))
    raise typer.Exit(PROBLEMS)


COMMANDS = (ksy, proto, avsc)
HELP = "Make a spec from a description in another language."

"""`export`: describe a format in another language."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wireloom.cli.guard import PROBLEMS
from wireloom.cli.options import SPECS, Parameters, Root, Specs, refuse_no_folder
from wireloom.cli.terminal.console import differing, note, refuse_closed_output, say, waiting
from wireloom.failures import MisuseError, refuse_unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from wireloom.exporting import Exported, Format
    from wireloom.exporting import Root as FormatRoot

SpecFormat = Annotated[str, typer.Argument(metavar="FORMAT", help="A format of the specs.")]
File = Annotated[
    Path | None,
    typer.Option("--out", metavar="FILE", help="Write to FILE; by default, to standard output.", dir_okay=False),
]
Strict = Annotated[bool, typer.Option("--strict", help="Exit with 1 if the description differs from the spec.")]
Explode = Annotated[
    bool, typer.Option("--explode", help="Describe flat rows, as `decode --explode` gives them, not whole records.")
]


def ksy(
    format: SpecFormat,
    out: File = None,
    root: Root = None,
    parameter: Parameters = None,
    strict: Strict = False,
    specs: Specs = SPECS,
) -> None:
    """Write a description in Kaitai Struct (.ksy) of a binary format.

    Parts that Kaitai Struct cannot express are listed: where they are in the spec, what they are, and what the
    description has in their place. Parameters of the format have their defaults, or the values that you give with -p.

    \b
    Examples:
      wireloom export ksy heartbeat --out heartbeat.ksy
      wireloom export ksy heartbeat -p byteOrder=little
      wireloom export ksy heartbeat --strict            exits with 1 if the description differs
    """
    from wireloom.exporting import ksy as described

    def made(found: "Format", chosen: "FormatRoot", modules: "Mapping[str, Mapping[str, str]]") -> "Exported":
        from wireloom.catalog import parameter_values
        from wireloom.examples import opened

        with opened({found.name: modules[found.name]}) as opened_modules:
            values = parameter_values(opened_modules[found.name], parameter or [])
        return described(found, chosen, values)

    _write(format, root, specs, out, made, strict=strict)


def avsc(
    format: SpecFormat,
    out: File = None,
    root: Root = None,
    explode: Explode = False,
    strict: Strict = False,
    specs: Specs = SPECS,
) -> None:
    """Write an Avro schema of the decoded columns.

    Use it for a topic or a file of decoded records. Columns that may be null are unions with null. Open values are
    strings of JSON, as from decode(..., open_values="json").

    \b
    Examples:
      wireloom export avsc heartbeat
      wireloom export avsc heartbeat --out heartbeat.avsc
      wireloom export avsc heartbeat --explode          one record for each row
    """
    from wireloom.exporting import as_avsc

    _write(format, root, specs, out, lambda found, chosen, _: as_avsc(found, chosen, explode=explode), strict=strict)


def proto(
    format: SpecFormat,
    out: File = None,
    root: Root = None,
    explode: Explode = False,
    columns: Annotated[
        bool, typer.Option("--columns", help="Describe the decoded columns, even if the format has protobuf messages.")
    ] = False,
    strict: Strict = False,
    specs: Specs = SPECS,
) -> None:
    """Write a .proto file.

    It describes the messages on the wire if the format has protobuf messages, otherwise the decoded columns. Messages
    on the wire have the numbers of the spec. Columns are numbered in order, so a new column changes the numbers of
    those after it. Do not use the file for stored messages; check it in CI with `buf breaking`.

    \b
    Examples:
      wireloom export proto orders                 the protobuf messages in the records
      wireloom export proto orders --columns       the columns, for a topic of decoded records
      wireloom export proto heartbeat --out heartbeat.proto
    """
    from wireloom.exporting import as_proto, is_protobuf, wire_proto

    def made(found: "Format", chosen: "FormatRoot", _: "Mapping[str, Mapping[str, str]]") -> "Exported":
        if columns or explode or not is_protobuf(found):
            return as_proto(found, chosen, explode=explode)
        if root is not None:
            raise MisuseError("--root chooses columns, and this format has protobuf messages; give --columns, too")
        return wire_proto(found)

    _write(format, root, specs, out, made, strict=strict)


def _write(
    name: str,
    root: str | None,
    specs: Path,
    out: Path | None,
    made_by: "Callable[[Format, FormatRoot, Mapping[str, Mapping[str, str]]], Exported]",
    *,
    strict: bool,
) -> None:
    """Write the description of a format, and list where it differs from the spec."""
    refuse_closed_output()
    refuse_no_folder(specs)
    from wireloom import pipeline  # imported here: the generator's libraries are slow
    from wireloom.exporting.differences import difference_lines

    with waiting(f"reading {specs}"):
        read = pipeline.read(specs)
    known = {format.name: (format, document) for format, document in zip(read.formats, read.documents, strict=True)}
    refuse_unknown("format", [name], known)
    format, document = known[name]
    roots = {each.name: each for each in format.roots}
    refuse_unknown(f"root of {name}", [] if root is None else [root], roots)
    exported = made_by(format, roots[root or format.roots[0].name], read.modules)
    if exported.text:
        _put(exported.text, out)
    note(*difference_lines(exported.differences, document))
    if not exported.text:
        note("nothing was written")
    elif exported.differences:
        note(differing([each.kind for each in exported.differences], "spec"))
    if not exported.text or (strict and exported.differences):
        raise typer.Exit(PROBLEMS)


def _put(text: str, out: Path | None) -> None:
    if out is None:
        say(*text.removesuffix("\n").split("\n"))
        return
    out.write_text(text, encoding="utf-8")
    note(f"wrote {out}")


COMMANDS = (ksy, avsc, proto)
HELP = "Describe a format in another language."

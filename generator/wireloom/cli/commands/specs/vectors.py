"""`vectors`: write test vectors of formats, or check written ones."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wireloom.cli.guard import PROBLEMS
from wireloom.cli.options import SPECS, SpecFormats, Specs, refuse_no_folder
from wireloom.cli.terminal.console import note, refuse_closed_output, say, waiting
from wireloom.escapes import json_text
from wireloom.failures import DataError, MisuseError, refuse_unknown

if TYPE_CHECKING:
    from wireloom.pipeline import Specs as ReadSpecs

MANIFEST = "manifest.json"
_SHOWN = 20  # most differences that are printed
_NAMED = 8  # most codes or words on one line


def vectors(
    formats: SpecFormats = None,
    output: Annotated[Path, typer.Option("--output", metavar="DIR", help="Folder of the vectors.")] = Path("vectors"),
    check: Annotated[
        bool,
        typer.Option("--check", help="Write nothing; run the vectors in the folder. Exit with 1 if one fails."),
    ] = False,
    specs: Specs = SPECS,
) -> None:
    """Write test vectors of formats, to test other readers and writers with.

    Writes DIR/FORMAT/manifest.json: records that a reader must accept, each with its value, and records that it must
    refuse, each with the code, the path and the offset of the error. They are grown from the valid examples in the
    spec: each value at its limits, each word of an enumeration, lists of no, one and more elements, each parameter;
    then each field cut off, changed and left out, with checksums corrected so that later checks are met as well.

    The same specs always give the same vectors. With --check, runs vectors that were written before: it shows which
    records a change of the specs reads differently.

    \b
    Examples:
      wireloom vectors heartbeat
      wireloom vectors --output tests/vectors
      wireloom vectors --output tests/vectors --check
    """
    refuse_closed_output()
    refuse_no_folder(specs)
    from wireloom import pipeline  # imported here: the generator's libraries are slow

    with waiting(f"reading {specs}"):
        read = pipeline.read(specs)
    known = {format.name: format for format in read.formats}
    refuse_unknown("format", formats or (), known)
    names = formats or list(known)
    if check:
        _check(read, names, output)
    else:
        _write(read, names, output)


def _write(read: "ReadSpecs", names: list[str], output: Path) -> None:
    from wireloom.examples import opened
    from wireloom.vectors import document, make

    for format in read.formats:
        if format.name not in names:
            continue
        if not any(each.stated and each.error is None for each in format.examples):
            raise MisuseError(f"{format.name} has no valid example to make vectors from; add one to {format.spec}")
        with opened({format.name: read.modules[format.name]}) as modules, waiting(f"making vectors of {format.name}"):
            made = make(format, modules[format.name].CODEC)
        path = output / format.name / MANIFEST
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json_text(document(format, made.vectors), indent=1) + "\n", encoding="utf-8")
        say(f"wrote {path}: {made.valid} valid, {len(made.vectors) - made.valid} invalid")
        for what, missing in (("error codes", made.codes), ("words", made.words)):
            if missing:
                more = f" and {len(missing) - _NAMED} more" if len(missing) > _NAMED else ""
                named = f"{', '.join(missing[:_NAMED])}{more}"
                note(f"  {what} without a vector: {named}; to cover them, add examples close to them")


def _check(read: "ReadSpecs", names: list[str], output: Path) -> None:
    from wireloom.examples import opened
    from wireloom.vectors import findings

    failed = 0
    for name in names:
        path = output / name / MANIFEST
        if not path.is_file():
            raise MisuseError(f"there is no {path}; `wireloom vectors {name} --output {output}` writes it")
        found = _loaded(path)
        with opened({name: read.modules[name]}) as modules:
            bad = [(vector["name"], line) for vector in found for line in findings(modules[name].CODEC, vector)]
        failed += len(bad)
        say(f"{name}: {len(found) - len(bad)} of {len(found)} vectors pass")
        for vector, line in bad[:_SHOWN]:
            say(f"    {vector}: {line}")
    if failed:
        raise typer.Exit(PROBLEMS)


def _loaded(path: Path) -> list[dict[str, Any]]:
    from wireloom.vectors import recognises

    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: {error}") from error
    if not isinstance(found, dict) or not recognises(found):
        raise DataError(f"{path}: not written by `wireloom vectors`")
    vectors: list[dict[str, Any]] = found["vectors"]
    return vectors

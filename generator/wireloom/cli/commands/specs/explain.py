"""`explain`: show which parts of a format run on the native engine."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wireloom.cli.options import FormatOrigin
from wireloom.cli.terminal.console import refuse_closed_output, say, waiting
from wireloom.failures import MisuseError, refuse_unknown

if TYPE_CHECKING:
    from wireloom.catalog import FormatModule
    from wireloom.explain.engine_paths import Explained
    from wireloom.pipeline import Specs as ReadSpecs


def explain(
    formats: Annotated[
        list[str] | None,
        typer.Argument(metavar="[FORMAT]...", help="Formats of the package or of --specs; all if none is named."),
    ] = None,
    write: Annotated[
        bool, typer.Option("--write", help="Show where each written field comes from, and what decides each choice.")
    ] = False,
    *,
    origin: FormatOrigin,
) -> None:
    """Show how records are separated, and whether decoding and encoding run on the native engine, or why not.

    Shows this for each root, and for each parameter that changes it. What the engine cannot do runs on the construct
    parser, with the same results but some hundred times slower. For such a root, lists the columns that the engine
    reads if you ask only for them.

    Single records may leave the engine too. So the valid examples of each spec are run: how many the parser read, how
    many the builders wrote, and what in the spec would change that, where it is known.

    With --specs beside --out or --package, the formats are those of the package, and the specs only have the examples.

    \b
    Examples:
      wireloom explain
      wireloom explain heartbeat
      wireloom explain heartbeat --write
      wireloom explain heartbeat --package my_formats --out build
    """
    refuse_closed_output()
    if write:
        _say_plans(formats, origin.folder)
        return
    from wireloom.explain.engine_paths import explained  # imported here: needs pyarrow

    modules = origin.modules(formats, beside=True)
    known, why = _specs(origin.folder)
    for module in modules:
        say(f"{module.FORMAT}: {module.TITLE}")
        say(f"    framing {module.CODEC.framing}")
        for line in _versions(module, known):
            say(f"    {line}")
        for root in explained(module.CODEC):
            for line in (*_lines(root), *_examples(module, root.root, known, why)):
                say(f"    {line}")


def _versions(module: "FormatModule", known: "ReadSpecs | None") -> Iterator[str]:
    """A line for each version of the format, if its spec was found."""
    from wireloom.explain.versions import version_lines

    for format in known.formats if known else ():
        if format.name == module.FORMAT:
            yield from version_lines(format)


def _say_plans(names: list[str] | None, folder: Path) -> None:
    """Print how each struct of the formats is written."""
    from wireloom import pipeline
    from wireloom.explain import write_plan  # imported here: the generator's libraries are slow

    with waiting(f"reading {folder}"):
        known = {format.name: format for format in pipeline.formats(folder)}
    refuse_unknown("format", names or (), known)
    for name in names or known:
        say(f"{name}: {known[name].title}")
        for part in write_plan.plans(known[name]):
            say("", *(f"    {line}" for line in write_plan.lines(part)))


def _specs(folder: Path) -> "tuple[ReadSpecs | None, str]":
    """The specs of a folder, and the reason if a format is missing from them."""
    if not folder.is_dir():
        return None, f"there is no folder {folder}; --specs names another"
    from wireloom import pipeline  # imported here: only examples need the generator's libraries
    from wireloom.problems import SpecProblems

    try:
        with waiting(f"reading {folder}"):
            return pipeline.read(folder), f"{folder} has no spec of this format"
    except SpecProblems as problems:
        return None, f"{folder} has mistakes ({len(problems.problems)}); `wireloom generate` shows them"
    except MisuseError as error:
        return None, str(error)


def _examples(module: "FormatModule", root: str, known: "ReadSpecs | None", why: str) -> Iterator[str]:
    from wireloom.explain.engine_paths import counted

    format = next((each for each in known.formats if each.name == module.FORMAT), None) if known else None
    if format is None:
        yield f"    examples  not counted: {why}"
        return
    found = counted(format, root, module.CODEC, module.MEANING)
    if found is None:
        yield f"    examples  not counted: {format.spec} has changed since; run `wireloom generate`"
        return
    yield f"    examples  {_share(found.reread, found.decoded, 'decoded', 'read by the parser, which is slow')}"
    if found.encoded:
        written = _share(found.rebuilt, found.encoded, "encoded", "written by the builders, which are slow")
        yield f"              {written}"
    yield from (f"              {remedy}" for remedy in found.remedies)


def _share(slow: tuple[str, ...], count: int, done: str, slowly: str) -> str:
    """How many examples the engine handles, and which it does not."""
    if not slow:
        return f"all {count} {done} by the native engine" if count else "none of a good record"
    return f"{len(slow)} of {count} {slowly}: {'; '.join(slow)}"


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

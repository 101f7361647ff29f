"""Options that several commands share, each defined once."""

import os
import re
import shlex
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from wireloom.catalog import FormatModule, open_format, open_package, parameter_values
from wireloom.cli.gc_pause import uncollected
from wireloom.cli.option_presence import is_given
from wireloom.cli.terminal.console import waiting
from wireloom.failures import MachineError, MisuseError, refuse_unknown, unknown
from wireloom.project import spec_files
from wireloom.reports import FORMS

if TYPE_CHECKING:
    from wireloom.ingest.plan import Plan

Specs = Annotated[Path, typer.Option("--specs", metavar="DIR", help="Folder of the specs.")]


def _out(context: typer.Context, value: Path) -> Path:
    """Check --out: raises MisuseError if it is no folder, MachineError if the package is missing there."""
    if is_given(context, "out"):
        refuse_no_folder(value, "--out", "`wireloom generate --out DIR` makes one")
        if "package" in context.params:  # --package was parsed before --out
            _refuse_lacking(value, context.params["package"])
    return value


def _package(context: typer.Context, value: str) -> str:
    """The package of --package; by default the one in the folder of --out, which may have a name of its own."""
    if is_given(context, "package"):
        return value
    out = context.params.get("out")  # still a text if it was typed
    return package_in(OUT if out is None else Path(out)) or value


def _existing_package(context: typer.Context, value: str) -> str:
    """The same; raises MachineError if the folder of --out has no such package."""
    package = _package(context, value)
    if "out" in context.params and is_given(context, "out"):
        _refuse_lacking(Path(context.params["out"]), package)
    return package


def _refuse_lacking(out: Path, package: str) -> None:
    names = package.split(".")
    if all(name.isidentifier() for name in names) and not out.joinpath(*names, "__init__.py").is_file():
        raise MachineError(
            f"there is no generated package {package} in {out}; one that is installed is found without --out",
            f"wireloom generate --out {shlex.quote(str(out))}",
        )


def package_in(out: Path) -> str | None:
    """The name of the package that was generated into a folder; None if there is none."""
    try:
        found = tomllib.loads((out / "pyproject.toml").read_text(encoding="utf-8"))
        name: str = found["tool"]["setuptools"]["packages"]["find"]["include"][0]
    except (OSError, ValueError, LookupError, TypeError):
        return None
    return name if (out / name / "__init__.py").is_file() else None


_OUT_HELP, _PACKAGE_HELP = (
    "Folder of the generated package.",
    "Name of the generated package; by default, the package in --out.",
)
Out = Annotated[Path, typer.Option("--out", metavar="DIR", help=_OUT_HELP, callback=_out)]
Package = Annotated[str, typer.Option("--package", metavar="NAME", help=_PACKAGE_HELP, callback=_existing_package)]
OutMade = Annotated[Path, typer.Option("--out", metavar="DIR", help=_OUT_HELP)]
"""--out of commands that can create the folder and the package."""
PackageMade = Annotated[str, typer.Option("--package", metavar="NAME", help=_PACKAGE_HELP, callback=_package)]
Format = Annotated[
    str, typer.Argument(metavar="FORMAT", help="A format of the package or of --specs; `wireloom formats` lists them.")
]
SpecFormats = Annotated[
    list[str] | None, typer.Argument(metavar="[FORMAT]...", help="Formats of the specs; all if none is named.")
]
ReportForm = Annotated[
    str,
    typer.Option(
        "--report",
        metavar="|".join(FORMS),
        help="Lines for people, lines of JSON, SARIF 2.1.0, or annotations of a GitHub workflow.",
    ),
]
Source = Annotated[
    Path,
    typer.Argument(metavar="FILE", help="The input; - reads standard input.", allow_dash=True, dir_okay=False),
]
Root = Annotated[
    str | None, typer.Option("--root", metavar="NAME", help="Entry point of the format; by default, its first.")
]
Parameters = Annotated[
    list[str] | None,
    typer.Option("--parameter", "-p", metavar="NAME=VALUE", help="A parameter of the format; may be repeated."),
]
FRAMINGS = "none|concatenated|length-prefixed|lines|array|slip|cobs|prefix:NUMBER|size:BYTES|delimiter:HEX"
"""The framings, as help shows them. `runtime.streams.framing` parses them; help does not wait for its import."""
Framing = Annotated[
    str | None,
    typer.Option(
        "--framing",
        metavar=FRAMINGS,
        help="How records are separated; by default, as in the spec.",
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option("--drop", metavar="CODE,...", help="Error codes of bad records to count only, not to quarantine."),
]
Packages = Annotated[
    list[str] | None,
    typer.Option("--packages", metavar="COORDINATE,...", help="Maven packages for the session; may be repeated."),
]
Conf = Annotated[
    list[str] | None,
    typer.Option("--conf", metavar="NAME=VALUE", help="A setting of the Spark session; may be repeated."),
]
DriverMemory = Annotated[
    str | None,
    typer.Option("--driver-memory", metavar="SIZE", help="Memory of Spark's Java process, such as 4g; by default 2g."),
]
MASTER = "local[2]"
Master = Annotated[
    str | None,
    typer.Option("--master", metavar="MASTER", help=f"Spark master, by default {MASTER}; spark-submit sets its own."),
]
SPARK, LOCAL = ENGINES = ("spark", "local")

Engine = Annotated[
    str,
    typer.Option("--engine", metavar="spark|local", help="Run on Spark, or in processes of this machine without Java."),
]
Processes = Annotated[
    int | None,
    typer.Option(
        "--processes", metavar="N", min=1, max=256, help="Processes of --engine local; by default, one a processor."
    ),
]
NewVersion = Annotated[
    bool,
    typer.Option(
        "--new-version",
        help="If columns have new types, begin the next version of the tables, OUTPUT/v2, with a view of all.",
    ),
]

PartitionBy = Annotated[
    list[str] | None,
    typer.Option(
        "--partition-by",
        metavar="COLUMN,...",
        help="Put records into folders COLUMN=VALUE; by default, as the tables have it.",
    ),
]

_MEMORY = re.compile(r"[1-9][0-9]*[kmgtKMGT]?b?")

SPECS = Path("specs")
OUT = Path("generated")
PACKAGE = "wireloom_formats"


def refuse_no_folder(folder: Path, option: str = "--specs", start: str = "`wireloom new NAME` starts one") -> None:
    """Raise MisuseError if an input path is no folder."""
    if not folder.is_dir():
        lacking = f"{folder} is not a folder" if folder.exists() else f"there is no folder {folder}"
        raise MisuseError(f"{lacking}; {start}; {option} names another folder")


def refuse_no_way(option: str, folder: Path) -> None:
    """Raise MisuseError if an output folder cannot be created because a file is in the way."""
    nearest = next(path for path in (folder, *folder.parents, Path()) if os.path.lexists(path))
    if not nearest.is_dir():
        what = f"{nearest} is" if nearest == folder else f"{folder} cannot be made, since {nearest} is"
        raise MisuseError(f"{option}: {what} not a folder; name a folder, or one that can be made")


def one_of(option: str, value: str, options: tuple[str, ...], between: str = ", ") -> None:
    """Raise MisuseError for a value that the option does not have."""
    if value not in options:
        raise MisuseError(f"{option} {value}: it can be {between.join(options)}")


def chosen(format: str, package: str, out: Path) -> FormatModule:
    """Import the module of the format that the options name."""
    with uncollected():
        found = open_package(package, out)
        if format not in found.FORMATS and (spec := _spec_of(format)) is not None:
            raise MisuseError(
                f"{format} is not generated yet; run `wireloom generate`, which makes its code from {spec}"
            )
        return open_format(found, format)


@dataclass(frozen=True, slots=True)
class FormatOrigin:
    """Where a command finds formats: in the generated package, or in specs, whose modules it makes in memory."""

    context: typer.Context
    specs: Annotated[
        Path | None,
        typer.Option(
            "--specs", metavar="DIR", help="Folder of specs to read the format from, not from the generated package."
        ),
    ] = None
    out: Out = OUT
    package: Package = PACKAGE

    @property
    def folder(self) -> Path:
        """The folder of the specs, whose lines are shown."""
        return self.specs or SPECS

    def module(self, format: str, *, beside: bool = False) -> FormatModule:
        """The module of a format. `beside`: specs may be named beside a package, as something else is shown of them."""
        if self._are_made(beside=beside):
            return self._made([format])[0]
        return chosen(format, self.package, self.out)

    def modules(self, names: Sequence[str] | None = None, *, beside: bool = False) -> list[FormatModule]:
        """The modules of formats, of all if none is named."""
        if self._are_made(beside=beside):
            return self._made(names)
        opened = open_package(self.package, self.out)
        return [open_format(opened, name) for name in names or opened.FORMATS]

    def _are_made(self, *, beside: bool) -> bool:
        """Whether modules are made from the specs; raises MisuseError where a package is named, too."""
        if self.specs is None or not any(is_given(self.context, name) for name in ("out", "package")):
            return self.specs is not None
        if not beside:
            raise MisuseError(
                "--specs reads the format from its spec, --out and --package from a generated package; drop --specs, "
                "or drop the others"
            )
        return False

    def _made(self, names: Sequence[str] | None) -> list[FormatModule]:
        """Modules made from the specs, which last until the command ends."""
        refuse_no_folder(self.folder)
        from wireloom import pipeline  # the generator's libraries, which a generated package does without
        from wireloom.examples import opened

        with waiting(f"reading {self.folder}"):
            found = pipeline.read(self.folder).modules
            refuse_unknown("format", names or (), found)
            wanted = {name: found[name] for name in names or found}
            modules = self.context.with_resource(opened(wanted))
        return [cast(FormatModule, module) for module in modules.values()]


def _spec_of(format: str) -> Path | None:
    """The spec of a format in the default folder of `generate`; None if there is none."""
    declares = re.compile(rf"^format: *{re.escape(format)} *$", re.MULTILINE)
    try:
        return next((each for each in spec_files(SPECS) if declares.search(each.read_text(encoding="utf-8"))), None)
    except (OSError, UnicodeDecodeError):
        return None


def listed(texts: list[str] | None) -> tuple[str, ...]:
    """The items of texts that may each hold several, separated by commas."""
    return tuple(part.strip() for text in texts or [] for part in text.split(",") if part.strip())


def dropped_codes(module: FormatModule, texts: list[str] | None) -> tuple[str, ...]:
    """The error codes of --drop; raises MisuseError for a code that the format cannot report."""
    from wireloom.ingest.plan import CODES
    from wireloom.runtime.streams.framed import CODES as OF_STREAMS

    known = tuple(dict.fromkeys((*module.CODEC.codes, *CODES, *OF_STREAMS)))
    for code in listed(texts):
        if code not in known:
            raise unknown(f"error code of {module.FORMAT}", code, known)
    return listed(texts)


def plan_of(
    module: FormatModule,
    package: str,
    root: str | None,
    framing: str | None,
    parameter: list[str] | None,
    drop: list[str] | None,
) -> "Plan":
    """The decoding plan of a job; raises MisuseError if the options contradict each other."""
    from wireloom.ingest.plan import Plan

    given = tuple(parameter_values(module, parameter or []).items())
    called = f"{package}.{module.FORMAT}"
    return Plan(called, module.FORMAT, module.MEANING, root, framing, given, dropped_codes(module, drop))


def size_of(option: str, text: str) -> int:
    """The bytes of a size with a unit, such as `800m` or `2g`; raises MisuseError."""
    if not _MEMORY.fullmatch(text):
        raise MisuseError(f"{option} {text}: write a number, with a unit if you like, such as 4g or 800m")
    digits = text.lower().removesuffix("b")
    thousands = " kmgt".index(digits[-1] if digits[-1] in "kmgt" else " ")
    return int(digits.rstrip("kmgt")) << 10 * thousands


def refuse_no_java() -> None:
    """Raise MachineError if a local session would find no Java that Spark supports."""
    if "PYSPARK_GATEWAY_PORT" in os.environ or "SPARK_REMOTE" in os.environ:
        return
    from wireloom.spark.machine import java

    found = java()
    if not found.good:
        raise MachineError(f"Spark does not start: Java: {found.detail}", found.remedy)


@dataclass(frozen=True, slots=True)
class Workers:
    """Options about the engine that does the work."""

    engine: Engine = SPARK
    processes: Processes = None
    packages: Packages = None
    conf: Conf = None
    driver_memory: DriverMemory = None
    master: Master = None

    def refuse_unfit(self) -> None:
        """Raise MisuseError if an option belongs to the other engine, or is no Spark setting."""
        one_of("--engine", self.engine, ENGINES, " or ")
        if self.engine == SPARK and self.processes is not None:
            raise MisuseError("--processes is only for --engine local; on Spark, use --master local[4]")
        of_spark = {
            "--packages": self.packages,
            "--conf": self.conf,
            "--driver-memory": self.driver_memory,
            "--master": self.master,
        }
        for name, value in of_spark.items():
            if self.engine == LOCAL and value:
                raise MisuseError(f"{name} is an option of Spark; drop it, or drop --engine local")
        self.configuration()

    def configuration(self) -> tuple[tuple[str, str], ...]:
        """The settings of the Spark session; raises MisuseError for a text that is no setting."""
        settings = {"spark.jars.packages": ",".join(listed(self.packages))} if self.packages else {}
        if self.driver_memory is not None:
            size_of("--driver-memory", self.driver_memory)
            settings["spark.driver.memory"] = self.driver_memory
        for text in self.conf or []:
            name, equals, value = text.partition("=")
            if not equals or not name.startswith("spark."):
                raise MisuseError(f"--conf {text}: write NAME=VALUE; names of Spark's settings begin with `spark.`")
            settings[name] = value
        return tuple(settings.items())

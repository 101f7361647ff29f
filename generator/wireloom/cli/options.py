"""Options that several commands have, each defined once."""

import re
import tomllib
from pathlib import Path
from typing import Annotated

import typer

from wireloom.catalog import FormatModule, open_format, open_package
from wireloom.cli.garbage import uncollected
from wireloom.failures import MisuseError, unknown

Specs = Annotated[Path, typer.Option("--specs", metavar="DIR", help="Folder of the specs.")]
Out = Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder that the generated package lies in.")]


def _package(context: typer.Context, value: str) -> str:
    """The package that is asked for; else the one that --out has, which projects call by names of their own."""
    source = context.get_parameter_source("package")
    if source is None or source.name != "DEFAULT":
        return value
    out = context.params.get("out")  # a text, where the command line has it
    return package_in(OUT if out is None else Path(out)) or value


def package_in(out: Path) -> str | None:
    """The name of the package that was generated into a folder; None where none was."""
    try:
        found = tomllib.loads((out / "pyproject.toml").read_text(encoding="utf-8"))
        name: str = found["tool"]["setuptools"]["packages"]["find"]["include"][0]
    except (OSError, ValueError, LookupError, TypeError):
        return None
    return name if (out / name / "__init__.py").is_file() else None


Package = Annotated[
    str,
    typer.Option(
        "--package",
        metavar="NAME",
        help="Name of the generated package; else that of the one in --out.",
        callback=_package,
    ),
]
Format = Annotated[
    str, typer.Argument(metavar="FORMAT", help="A format of the package; `wireloom formats` lists them.")
]
Source = Annotated[
    Path,
    typer.Argument(metavar="FILE", help="The input; - reads standard input.", allow_dash=True, dir_okay=False),
]
Root = Annotated[str | None, typer.Option("--root", metavar="NAME", help="Entry point of the format; else its first.")]
Parameters = Annotated[
    list[str] | None,
    typer.Option("--parameter", "-p", metavar="NAME=VALUE", help="A parameter of the format; may be repeated."),
]
FRAMINGS = "none|concatenated|length-prefixed|lines|array|slip|cobs|prefix:NUMBER|size:BYTES|delimiter:HEX"
"""How records may follow one another; `runtime.streams.framing` reads it, which help does not wait for."""
Framing = Annotated[
    str | None,
    typer.Option(
        "--framing",
        metavar=FRAMINGS,
        help="How records follow one another; else as the spec says.",
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option("--drop", metavar="CODE,...", help="Error codes of records to count and not to quarantine."),
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
    typer.Option("--driver-memory", metavar="SIZE", help="Memory of Spark's Java process, such as 4g; else 2g."),
]
Master = Annotated[str, typer.Option("--master", help="Spark master; under spark-submit the submission decides.")]
SPARK, LOCAL = ENGINES = ("spark", "local")

Engine = Annotated[
    str,
    typer.Option(
        "--engine", metavar="spark|local", help="Who does it: Spark, or processes of this machine without Java."
    ),
]
Processes = Annotated[
    int | None,
    typer.Option("--processes", metavar="N", min=1, max=256, help="Processes of --engine local; else one a processor."),
]
NewVersion = Annotated[
    bool,
    typer.Option(
        "--new-version",
        help="Where columns have other types than before, begin the next version of the tables, OUTPUT/v2, and a view.",
    ),
]

PartitionBy = Annotated[
    list[str] | None,
    typer.Option(
        "--partition-by",
        metavar="COLUMN,...",
        help="Part the records into folders COLUMN=VALUE by these columns; else as the tables are.",
    ),
]

_MEMORY = re.compile(r"[1-9][0-9]*[kmgtKMGT]?b?")

SPECS = Path("specs")
OUT = Path("generated")
PACKAGE = "wireloom_formats"


def refuse_no_folder(specs: Path) -> None:
    """Stop where the folder of the specs is none."""
    if not specs.is_dir():
        lacking = f"{specs} is no folder" if specs.exists() else f"there is no folder {specs}"
        raise MisuseError(f"{lacking}; `wireloom new NAME` starts one, --specs names another")


def one_of(option: str, value: str, options: tuple[str, ...], between: str = ", ") -> None:
    """Raises MisuseError for a value that the option does not have."""
    if value not in options:
        raise MisuseError(f"{option} {value}: it can be {between.join(options)}")


def chosen(format: str, package: str, out: Path) -> FormatModule:
    """The module that the options name."""
    with uncollected():
        return open_format(open_package(package, out), format)


def listed(texts: list[str] | None) -> tuple[str, ...]:
    """The parts of texts that may each name several, with commas between them."""
    return tuple(part.strip() for text in texts or [] for part in text.split(",") if part.strip())


def dropped_codes(module: FormatModule, texts: list[str] | None) -> tuple[str, ...]:
    """The error codes of --drop; raises MisuseError for one that no record of the format can have."""
    from wireloom.ingest.plan import CODES
    from wireloom.runtime.streams.framed import CODES as OF_STREAMS

    known = tuple(dict.fromkeys((*module.CODEC.codes, *CODES, *OF_STREAMS)))
    for code in listed(texts):
        if code not in known:
            raise unknown(f"error code of {module.FORMAT}", code, known)
    return listed(texts)


def size_of(option: str, text: str) -> int:
    """Bytes of a number with a unit: `800m`, `2g`; raises MisuseError."""
    if not _MEMORY.fullmatch(text):
        raise MisuseError(f"{option} {text}: it is a number and a unit, such as 4g or 800m")
    digits = text.lower().removesuffix("b")
    thousands = " kmgt".index(digits[-1] if digits[-1] in "kmgt" else " ")
    return int(digits.rstrip("kmgt")) << 10 * thousands


def refuse_unfit_engine(
    engine: str,
    processes: int | None,
    packages: list[str] | None,
    conf: list[str] | None,
    driver_memory: str | None,
) -> None:
    """Raises MisuseError where options are of the other engine."""
    one_of("--engine", engine, ENGINES, " or ")
    if engine == SPARK and processes is not None:
        raise MisuseError("--processes is for --engine local; on Spark --master says it: local[4]")
    for name, value in {"--packages": packages, "--conf": conf, "--driver-memory": driver_memory}.items():
        if engine == LOCAL and value:
            raise MisuseError(f"{name} is Spark's; leave it out, or --engine local")


def session_configuration(
    packages: list[str] | None, conf: list[str] | None, driver_memory: str | None
) -> tuple[tuple[str, str], ...]:
    """What a Spark session is told for these options; raises MisuseError for what is no setting."""
    settings = {"spark.jars.packages": ",".join(listed(packages))} if packages else {}
    if driver_memory is not None:
        if not _MEMORY.fullmatch(driver_memory):
            raise MisuseError(f"--driver-memory {driver_memory}: it is a number and a unit, such as 4g or 800m")
        settings["spark.driver.memory"] = driver_memory
    for text in conf or []:
        name, equals, value = text.partition("=")
        if not equals or not name.startswith("spark."):
            raise MisuseError(f"--conf {text}: it is NAME=VALUE, and names of Spark's settings begin with `spark.`")
        settings[name] = value
    return tuple(settings.items())

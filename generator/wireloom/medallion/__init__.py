"""Creates a Declarative Pipeline: raw records (bronze), decoded ones (silver), and bad ones (quarantine).

The result is a project in the layout of `spark-pipelines init`, ready to run, which the user then owns.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, get_args

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from wireloom.catalog import FormatModule
from wireloom.escapes import inline, json_text
from wireloom.failures import MisuseError, unknown
from wireloom.runtime.codec import Root
from wireloom.runtime.columns.logical import List, LogicalType, Record

Source = Literal["kafka", "parquet", "files"]
SOURCES: tuple[Source, ...] = get_args(Source)
FILES = {
    "spark-pipeline.yml": "spark-pipeline.yml",
    "README.md": "README.md",
    "transformations/bronze.py": "bronze.py",
    "transformations/silver.py": "silver.py",
    "transformations/quarantine.py": "quarantine.py",
}
"""The files of a project, with the template of each."""

PLACES: Mapping[Source, tuple[str, ...]] = {
    "kafka": ("topic", "partition", "offset", "timestamp"),
    "parquet": ("file",),
    "files": ("file",),
}
"""Columns besides the value that tell where a record came from."""


def create(folder: Path, package: str, module: FormatModule, source: str) -> tuple[Path, ...]:
    """Write the project; an existing folder is not changed."""
    if source not in SOURCES:
        raise unknown("source", source, SOURCES)
    if folder.exists():
        raise MisuseError(f"{folder} is already there; give the pipeline another name")
    if source == "files" and module.CODEC.framing != "none":
        raise MisuseError(
            f"files of {module.FORMAT} hold many records each ({module.CODEC.framing}); a pipeline takes them as "
            "Parquet: use --source parquet, or `wireloom ingest --stream` for the files as they are"
        )
    root = module.CODEC.root(None)
    if root.elements:
        raise MisuseError(f"a record of {module.FORMAT} is a list; no column function decodes it")
    words = {
        "name": folder.name,
        "folder": folder.resolve(),
        "package": package,
        "format": module.FORMAT,
        "title": module.TITLE,
        "source": source,
        "places": PLACES[source],
        "rows": ".".join(root.rows),
        # decoding one member is enough to tell whether a record is good
        "member": next(iter(root.logical.fields)).name,
        "columns": [*(f"{place} AS _{place}" for place in PLACES[source]), *_silver(root)],
    }
    if source != "kafka":
        (folder / "landing").mkdir(parents=True)
    environment = _environment()
    for name, template in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(environment.get_template(f"{template}.jinja").render(words), encoding="utf-8")
    return tuple(folder / name for name in FILES)


def _silver(root: Root) -> Iterator[str]:
    """The columns of a decoded record, as SQL; those of its list of rows come first, as in `row_record`."""
    record, path = root.logical, root.rows
    if not path:
        yield "event.*"
        return
    element = _element(record, path)
    listed = ".".join(f"`{name}`" for name in path)
    own = {member.name for member in element.fields} if isinstance(element, Record) else {path[-1]}
    yield f"inline(event.{listed})" if isinstance(element, Record) else f"explode(event.{listed}) AS `{path[-1]}`"
    yield from (f"event.`{member.name}`" for member in record.fields if member.name not in {*own, path[0]})


def _element(type: LogicalType, path: Sequence[str]) -> LogicalType:
    """The element type of the list at `path`."""
    match type:
        case Record() if path:
            return _element(next(member.type for member in type.fields if member.name == path[0]), path[1:])
        case List(element) if not path:
            return element
        case _:
            raise ValueError(f"{'.'.join(path)!r} does not lead to a list through records")


def _environment() -> Environment:
    environment = Environment(
        autoescape=False,  # noqa: S701 - the output is Python, YAML and Markdown
        loader=FileSystemLoader(Path(__file__).parent),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"quoted": json_text, "markdown": inline}
    return environment

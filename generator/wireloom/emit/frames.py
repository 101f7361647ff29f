"""Fill the templates of generated files; a template lies beside its emitter and receives finished strings."""

from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from wireloom.emit.prose import docstring, summary
from wireloom.escapes import header_path
from wireloom.model.format import Format


def framed(emitter: str, name: str, format: Format, **parts: object) -> str:
    """Render the template `name` beside the file `emitter`, with the source and digest of the format filled in."""
    return template(emitter, name).render(source=header_path(format.spec), digest=format.digest, **parts)


def template(emitter: str, name: str) -> Template:
    """The template `name` beside the module file `emitter`."""
    return _environment(Path(emitter).parent).get_template(name)


def heading(text: str, indent: int = 0) -> str:
    """A docstring of one paragraph."""
    return docstring([summary(text, indent)], indent)


def described(doc: str, unit: str) -> str:
    """Documentation and unit in one line, for comments of columns and descriptions of JSON Schemas."""
    line = " ".join(doc.split())
    measure = f"unit: {unit}" if unit else ""
    return f"{line} ({measure})" if line and measure else line or measure


@cache
def _environment(folder: Path) -> Environment:
    return Environment(
        autoescape=False,  # noqa: S701  # the output is Python, whose texts arrive quoted
        loader=FileSystemLoader(folder),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )

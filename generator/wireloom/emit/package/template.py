"""Templates: the frame of a file as a picture, filled with strings that are ready."""

from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template


@cache
def _environment() -> Environment:
    return Environment(  # the output is Python and TOML, whose texts arrive quoted
        autoescape=False,  # noqa: S701
        loader=FileSystemLoader(Path(__file__).parent),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def template(name: str) -> Template:
    """The template of that file name, beside this module."""
    return _environment().get_template(name)

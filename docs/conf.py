"""The site of the documentation: `nox -s docs` builds it. Sources are the repository's Markdown pages.

The source folder is the repository itself, so that a link from a page to README.md or to a spec is the same on the site
and in a code host. The page of commands is what `--help` prints.
"""

from collections.abc import Iterator

import click
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from typer.main import get_command

import wireloom
from wireloom.cli.app import app

WIDTH = 100  # of the text of `--help`

project = "Wireloom"
author = "Wireloom's contributors"
release = wireloom.__version__
root_doc = "docs/index"
include_patterns = ["*.md", "docs/**.md"]
exclude_patterns = [".*", "build", "dist", "generated", "generator", "samples", "specs", "site", "tests"]

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
myst_heading_anchors = 4
suppress_warnings = ["misc.highlighting_failure"]  # hexadecimal is no program
autodoc_typehints = "description"
autodoc_member_order = "bysource"

html_theme = "furo"
html_title = f"Wireloom {release}"
html_extra_path = ["site/index.html"]
html_show_copyright = False


class Commands(SphinxDirective):
    """A section for each command with what its `--help` prints."""

    def run(self) -> list[nodes.Node]:
        """The sections, those of commands of commands after their own."""
        program = get_command(app)
        return list(_sections(program, click.Context(program, info_name="wireloom", terminal_width=WIDTH)))


def _sections(command: click.Command, context: click.Context) -> Iterator[nodes.Node]:
    section = nodes.section(ids=[nodes.make_id(context.command_path)], names=[context.command_path])
    text = command.get_help(context)
    section += [nodes.title(text=context.command_path), nodes.literal_block(text, text, language="text")]
    yield section
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            yield from _sections(inner, click.Context(inner, context, info_name=name))


def setup(application: Sphinx) -> None:
    """Add what the pages use beside Markdown."""
    application.add_directive("commands", Commands)

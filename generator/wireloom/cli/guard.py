"""Translates exceptions into messages and exit codes; no other module does.

A mistake of the user gives one line and no traceback. An exception that is not named here is a bug of wireloom, and
crashes.
"""

import errno
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import typer
from typer.core import TyperGroup

from wireloom.cli.terminal.console import STANDARD_OUTPUT, complain, note
from wireloom.failures import DataError, LimitError, MachineError, MisuseError
from wireloom.problems import SpecProblems

PROBLEMS, MISUSE, MACHINE, LIMIT, REFUSED, INTERRUPTED = 1, 2, 3, 4, 5, 130
RESUMED = ("ingest", "replay")
"""Commands that resume when they are started again."""
BROKEN = frozenset(
    (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO, errno.ENOMEM, errno.EMFILE, errno.ENFILE)
)
"""Errors of the machine, not of the arguments."""
EXTRAS = {
    "jinja2": "generate",
    "pydantic": "generate",
    "pyspark": "spark",
    "rich": "cli",
    "watchfiles": "cli",
    "yaml": "generate",
}
"""Libraries that commands import lazily, and the pip extra that installs each."""

_OF_URI = re.compile("[a-z][a-z0-9]+:/")  # a path has one slash left of the two


class Guarded(TyperGroup):
    """The group of commands, with exceptions translated."""

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - as typer has it
        """Run the command named on the command line."""
        try:
            with translated():
                return super().invoke(ctx)
        except KeyboardInterrupt as error:
            advice = "; start it again to continue" if ctx.invoked_subcommand in RESUMED else ""
            complain(f"interrupted{advice}")
            raise typer.Exit(INTERRUPTED) from error

    def main(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - as typer has it
        """Run the program. Exceptions are translated here too, because printing help runs no command."""
        try:
            return super().main(*args, **kwargs)
        except OSError as error:
            error.filename = error.filename or STANDARD_OUTPUT
            sys.exit(_file_error(error))


@contextmanager
def translated() -> Iterator[None]:
    """Translate the exceptions of a command into messages and exit codes."""
    try:
        yield
    except (typer.Exit, typer.Abort):
        raise
    except SpecProblems as problems:
        report_problems(problems)
        raise typer.Exit(PROBLEMS) from problems
    except LimitError as error:
        complain(str(error))
        raise typer.Exit(LIMIT) from error
    except _of_data() as error:
        complain(str(error))
        raise typer.Exit(PROBLEMS) from error
    except MisuseError as error:
        complain(*error.args)
        raise typer.Exit(MISUSE) from error
    except _of_the_call() as error:
        complain(str(error))
        raise typer.Exit(MISUSE) from error
    except MachineError as error:
        complain(str(error), remedy=error.remedy)
        raise typer.Exit(MACHINE) from error
    except ModuleNotFoundError as error:
        if error.name not in EXTRAS:
            raise
        complain(f"{error.name} is not installed", remedy=f"pip install 'wireloom[{EXTRAS[error.name]}]'")
        raise typer.Exit(MACHINE) from error
    except BrokenPipeError as error:
        _drop_output()  # the reader of the pipe has gone
        raise typer.Exit(0) from error
    except OSError as error:
        raise typer.Exit(_file_error(error)) from error
    except UnicodeEncodeError as error:
        if error.reason != "surrogates not allowed":
            raise
        complain(f"{error.object} has a name that is not UTF-8; rename it")
        raise typer.Exit(MISUSE) from error


def _file_error(error: OSError) -> int:
    """Print a file error, and return its exit code."""
    if error.filename == STANDARD_OUTPUT:
        _drop_output()
    said = f"{error.filename or 'input or output'}: {error.strerror or error}"
    if _OF_URI.match(str(error.filename)):
        said += "; this command opens only local files; `ingest`, `validate`, `inspect` and `drift` also open URIs"
    complain(said)
    return MACHINE if error.errno in BROKEN else MISUSE


def _drop_output() -> None:
    """Discard buffered output, which Python would otherwise try to write again when it exits."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _of_data() -> tuple[type[Exception], ...]:
    from wireloom.runtime.errors import DecodeError, EncodeError

    return DataError, DecodeError, EncodeError


def _of_the_call() -> type[Exception]:
    from wireloom.runtime.errors import ParameterError

    return ParameterError


def report_problems(problems: SpecProblems) -> None:
    """Print every problem of the specs, one per line, and their number."""
    count = len(problems.problems)
    for problem in problems.problems:
        note(str(problem), *(f"    {line}" for line in problem.picture))
    note(f"{count} problem{'' if count == 1 else 's'}; nothing was written")

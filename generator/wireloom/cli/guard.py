"""From what went wrong to what is printed and returned: the only place where exceptions become exit codes.

A mistake of the user is one line and never a traceback; anything not named here is a bug of wireloom and crashes.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperGroup

from wireloom.cli.console import complain
from wireloom.failures import DataError, LimitError, MachineError, MisuseError
from wireloom.problems import SpecProblems

PROBLEMS, MISUSE, MACHINE, LIMIT = 1, 2, 3, 4
EXTRAS = {
    "jinja2": "generate",
    "pydantic": "generate",
    "pyspark": "spark",
    "rich": "cli",
    "watchfiles": "cli",
    "yaml": "generate",
}
"""Libraries that a command imports when it needs them, and the extra that brings each."""


class Guarded(TyperGroup):
    """The group of commands, with their failures translated."""

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - as typer has it
        """Run the command named on the command line."""
        with translated():
            return super().invoke(ctx)


@contextmanager
def translated() -> Iterator[None]:
    """Exceptions that a command may meet, as messages and exit codes."""
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
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader has left; nothing to flush to
        raise typer.Exit(0) from error
    except OSError as error:
        complain(f"{error.filename or 'input or output'}: {error.strerror or error}")
        raise typer.Exit(MISUSE) from error


def _of_data() -> tuple[type[Exception], ...]:
    from wireloom.runtime.errors import DecodeError, EncodeError

    return DataError, DecodeError, EncodeError


def _of_the_call() -> tuple[type[Exception], ...]:
    from wireloom.runtime.errors import ParameterError

    return MisuseError, ParameterError


def report_problems(problems: SpecProblems) -> None:
    """Print every problem of the specs, one a line, and how many there are."""
    for problem in problems.problems:
        typer.echo(str(problem), err=True)
    count = len(problems.problems)
    typer.echo(f"{count} problem{'' if count == 1 else 's'}; nothing was written", err=True)

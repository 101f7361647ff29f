"""The command line: arguments in, printed problems and an exit code out. No logic lives here.

Exit codes: 0 done; 1 problems were found in specs, data or by a check; 2 the call was wrong; 3 something is missing or
broken on this machine; 4 more is bad than the caller allows; 5 most records of a run were refused, and are in the
quarantine; 130 interrupted (Ctrl-C).
"""

import logging
import sys
import warnings

from wireloom.cli.gc_pause import whole_process


def main() -> None:
    """Run the program on the process's arguments."""
    with whole_process():
        _run()


def _run() -> None:
    try:
        from wireloom.cli.app import app
    except ModuleNotFoundError as error:
        if error.name != "typer":
            raise
        sys.stderr.write(
            "wireloom: the command line needs more than the runtime\n  mend it with: pip install 'wireloom[cli]'\n"
        )
        sys.exit(3)
    warnings.formatwarning = lambda message, *_, **__: f"{message}\n"  # users need no line of our code
    logging.getLogger().addHandler(logging.NullHandler())  # what libraries log (py4j's tracebacks) we say ourselves
    app()

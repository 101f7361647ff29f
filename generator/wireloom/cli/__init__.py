"""The command line: parses arguments, prints results and problems, and sets the exit code. It holds no logic.

Exit codes: 0 done; 1 problems were found in specs or data, or by a check; 2 the command was wrong; 3 something is
missing or broken on this machine; 4 more data is bad than the caller allows; 5 most records of a run are in the
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
    # without the source line, which means nothing to users
    warnings.formatwarning = lambda message, *_, **__: f"{message}\n"
    # libraries log failures (py4j with tracebacks) that we report ourselves
    logging.getLogger().addHandler(logging.NullHandler())
    app()

"""Shows the number of records so far, on one line of a terminal; the same for every command."""

import sys

from wireloom.cli.terminal.console import CLEAR, clear


def progress(records: int, bad: int, *, quiet: bool = False) -> None:
    """Show the count, unless the results go to the same terminal."""
    if not quiet and sys.stderr.isatty():
        sys.stderr.write(f"{CLEAR}{records:,} records, {bad:,} bad")
        sys.stderr.flush()


def end_progress(*, quiet: bool = False) -> None:
    """Clear the line."""
    if not quiet:
        clear()

"""Errors that stop a command, apart from mistakes in specs: a wrong command, bad input, or a broken machine."""

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from wireloom.problems import nearest

if TYPE_CHECKING:
    from wireloom.ingest.plan import Summary


class MisuseError(Exception):
    """The command line names something that does not exist or does not fit; one line each, exit code 2."""

    def __str__(self) -> str:
        return "\n".join(self.args)


class MachineError(Exception):
    """Something that the command needs is missing or broken on this machine; exit code 3.

    `remedy` is the command that fixes it.
    """

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.remedy = remedy


class DataError(Exception):
    """The input is not in the format that the command reads; exit code 1."""


class LimitError(DataError):
    """More data is bad than the caller allows; exit code 4, nothing is lost. `summary` describes the batch if known."""

    def __init__(self, message: str, summary: "Summary | None" = None) -> None:
        super().__init__(message)
        self.summary = summary


def refuse_unknown(kind: str, names: Iterable[str], known: Collection[str]) -> None:
    """Raise MisuseError for the first unknown name."""
    for name in names:
        if name not in known:
            raise unknown(kind, name, known)


def unknown(kind: str, name: str, known: Iterable[str]) -> MisuseError:
    """The error for an unknown name, with the most similar known one."""
    hint = nearest(name, known)
    message = f"{name!r} is not {'an' if kind[0] in 'aeiou' else 'a'} {kind}"
    return MisuseError(f"{message}; {hint}" if hint else message)

"""What stops a command apart from mistakes in specs: the call itself, its input, or the machine."""

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from wireloom.problems import nearest

if TYPE_CHECKING:
    from wireloom.ingest.plan import Summary


class MisuseError(Exception):
    """The command line names something that does not exist or does not fit, a line each; exit code 2."""

    def __str__(self) -> str:
        return "\n".join(self.args)


class MachineError(Exception):
    """Something that the command needs is missing or broken on this machine; exit code 3.

    `remedy` is the command that mends it.
    """

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.remedy = remedy


class DataError(Exception):
    """Input that is not what the command reads; exit code 1."""


class LimitError(DataError):
    """More is bad than the caller allows; exit code 4, and nothing is lost. `summary` is of the batch, where known."""

    def __init__(self, message: str, summary: "Summary | None" = None) -> None:
        super().__init__(message)
        self.summary = summary


def refuse_unknown(kind: str, names: Iterable[str], known: Collection[str]) -> None:
    """Raises MisuseError for the first name that is not known."""
    for name in names:
        if name not in known:
            raise unknown(kind, name, known)


def unknown(kind: str, name: str, known: Iterable[str]) -> MisuseError:
    """The error for a name that is none of those known, with the nearest that is."""
    hint = nearest(name, known)
    message = f"{name!r} is not {'an' if kind[0] in 'aeiou' else 'a'} {kind}"
    return MisuseError(f"{message}; {hint}" if hint else message)

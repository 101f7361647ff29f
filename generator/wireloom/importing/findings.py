"""Parts of a description that an import could not carry over: the place, the problem, and what to write by hand."""

from dataclasses import dataclass

from wireloom.escapes import visible
from wireloom.problems import Location


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """A part that the spec lacks or expresses differently. `kind` groups findings with the same cause."""

    location: Location
    kind: str
    message: str
    hint: str

    def __str__(self) -> str:
        """`x.ksy:41:9: message; hint [kind]`."""
        return (
            f"{self.location}: {visible(f'{self.message}; {self.hint}' if self.hint else self.message)} [{self.kind}]"
        )


class ImportRefusedError(Exception):
    """The file cannot be imported; carries the findings that say why."""

    def __init__(self, *findings: Finding) -> None:
        super().__init__("\n".join(map(str, findings)))
        self.findings = findings

"""What an import could not carry over: where it stands, what it is, and what to write by hand."""

from dataclasses import dataclass

from wireloom.escapes import visible
from wireloom.problems import Location


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One thing that the spec lacks, or says in another way. `kind` groups findings of one cause."""

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
    """Nothing can be imported from the file; carries the findings that say why."""

    def __init__(self, *findings: Finding) -> None:
        super().__init__("\n".join(map(str, findings)))
        self.findings = findings

"""How much it takes to believe that a record begins at a place of a stream."""

from dataclasses import dataclass

PROOF = 32
"""Bits that prove a place: they are there by chance once in 2^32 times."""


@dataclass(frozen=True, slots=True)
class Proof:
    """Bits of checksums that were verified, and of constants that were there."""

    checksums: int = 0
    constants: int = 0

    @property
    def alone(self) -> bool:
        """Whether it proves a place."""
        return self.checksums > 0 and self.checksums + self.constants >= PROOF

    @property
    def with_next(self) -> bool:
        """Whether two such places, one after another, are proven."""
        return self.constants >= PROOF or (self.checksums > 0 and 2 * (self.checksums + self.constants) >= PROOF)

"""How much evidence proves that a record begins at an offset of a stream."""

from dataclasses import dataclass

PROOF = 32
"""Bits that prove an offset: random bytes match them once in 2^32 times."""


@dataclass(frozen=True, slots=True)
class Proof:
    """Bits of checksums that were verified, and of constants that matched."""

    checksums: int = 0
    constants: int = 0

    @property
    def alone(self) -> bool:
        """Whether one record proves its offset."""
        return self.checksums > 0 and self.checksums + self.constants >= PROOF

    @property
    def with_next(self) -> bool:
        """Whether two such records, one after another, prove their offsets."""
        return self.constants >= PROOF or (self.checksums > 0 and 2 * (self.checksums + self.constants) >= PROOF)

"""Makes the vectors of one format, and tells what they do not cover."""

from dataclasses import dataclass

from wireloom.model.format import Format
from wireloom.runtime.codec import Codec
from wireloom.vectors.invalid import invalid
from wireloom.vectors.manifest import Vector
from wireloom.vectors.valid import Edges, leaves, valid, words_in


@dataclass(frozen=True, slots=True)
class Made:
    """The vectors of a format, valid ones first, and the error codes and words that none of them has."""

    vectors: tuple[Vector, ...]
    codes: tuple[str, ...]
    words: tuple[str, ...]

    @property
    def valid(self) -> int:
        """The number of valid vectors."""
        return sum(not vector.error for vector in self.vectors)


def make(format: Format, codec: Codec) -> Made:
    """Make the vectors of a format."""
    edges = Edges.of(format)
    good = list(valid(format, codec, edges))
    unlike = {words_in(vector.value, edges): vector for vector in reversed(good)}
    examples = {example.name for example in format.examples}
    bases = [vector for vector in good if vector.name in examples or vector in unlike.values()]
    bad = list(invalid(format, codec, bases, edges.stated))
    codes = {vector.error for vector in bad}
    seen = {leaf for vector in good for _, leaf in leaves(vector.value) if isinstance(leaf, str)}
    return Made(
        (*good, *bad),
        tuple(each.code for each in format.errors if each.code not in codes),
        tuple(word for word in edges.words if word not in seen),
    )

"""Vectors of one format, and what they do not reach."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from wireloom.model.format import Format
from wireloom.runtime.codec import Codec
from wireloom.vectors.invalid import invalid
from wireloom.vectors.manifest import Vector
from wireloom.vectors.valid import Edges, valid, words_in

Show = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Made:
    """The vectors of a format, the valid ones first, and the error codes and words that none of them has."""

    vectors: tuple[Vector, ...]
    codes: tuple[str, ...]
    words: tuple[str, ...]

    @property
    def valid(self) -> int:
        """How many are valid."""
        return sum(not vector.error for vector in self.vectors)


def make(format: Format, codec: Codec) -> Made:
    """The vectors of a format."""
    edges = Edges.of(format)
    good = list(valid(format, codec, edges))
    unlike = {words_in(vector.value, edges): vector for vector in reversed(good)}
    examples = {example.name for example in format.examples}
    bases = [vector for vector in good if vector.name in examples or vector in unlike.values()]
    bad = list(invalid(format, codec, bases, edges.stated))
    codes = {vector.error for vector in bad}
    seen = {text for vector in good for text in _texts(vector.value)}
    return Made(
        (*good, *bad),
        tuple(each.code for each in format.errors if each.code not in codes),
        tuple(word for word in edges.words if word not in seen),
    )


def _texts(rendering: object) -> Iterator[str]:
    match rendering:
        case str():
            yield rendering
        case dict():
            for member in rendering.values():
                yield from _texts(member)
        case list():
            for member in rendering:
                yield from _texts(member)
        case _:
            pass

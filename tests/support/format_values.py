"""Hypothesis strategies for the values of a format: `wireloom.drawing`, with Hypothesis making the choices."""

import json
from collections.abc import Callable, Mapping
from functools import cached_property
from random import Random
from typing import Any

from hypothesis import reject
from hypothesis import strategies as st

from wireloom.drawing.values import NoValueError, value_of
from wireloom.model.format import Format
from wireloom.runtime.primitives.charsets import TWO_BYTES, characters

Draw = Callable[[st.SearchStrategy[Any]], Any]
_SIZES = (0, 1, 2, 4, 16, 16, 20, 33)
_LED = 60
"""Choices of a value that Hypothesis makes, and can shrink; all others cost a hundredth of that."""


def values(format: Format, root: str, parameters: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    """Values of one of the format's roots."""
    return _values(_Source(format, root, parameters))


class _Source:
    """The arguments of drawing. Not a dataclass, since Hypothesis would print every field of the format, and often."""

    def __init__(self, format: Format, root: str, parameters: Mapping[str, Any]) -> None:
        self.format, self.root, self.parameters = format, root, parameters

    def __repr__(self) -> str:
        return f"{self.format.name}.{self.root}"


@st.composite
def _values(draw: Draw, source: _Source) -> Any:
    try:
        return value_of(source.format, source.root, source.parameters, _Drawn(draw))
    except NoValueError:
        return reject()


class _Drawn:
    """Choices by Hypothesis: the first ones of a value each by itself, the many later ones by one seed."""

    def __init__(self, draw: Draw) -> None:
        self.draw, self._left = draw, _LED

    def integer(self, low: int, high: int) -> int:
        return int(self.draw(st.integers(low, high))) if self._is_led() else self._random.randint(low, high)

    def edge(self, low: int, high: int) -> int:
        edges = [number for number in (1, 0, low, high, -1, 127, 128, 255, 256, 65535, 65536) if low <= number <= high]
        if self._is_led():
            return int(self.draw(st.one_of(st.sampled_from(edges), st.integers(low, high))))
        return self._random.choice((self._random.choice(edges), self._random.randint(low, high)))

    def _is_led(self) -> bool:
        self._left -= self._left > 0
        return self._left > 0

    @cached_property
    def _random(self) -> Random:
        return Random(self.draw(st.integers(0, 1 << 32)))  # noqa: S311 - no secret

    def boolean(self) -> bool:
        return bool(self.draw(st.booleans()))

    def float(self, bits: int, *, finite: bool) -> float:
        return float(self.draw(st.floats(width=bits, allow_nan=not finite, allow_infinity=not finite)))  # type: ignore[arg-type]

    def text(self, size: int | None) -> str:
        if size is None:
            return str(self.draw(st.text(max_size=12)))
        return str(self.draw(st.text(st.characters(codec="ascii"), min_size=size, max_size=size)))

    def encoded(self, size: int | None, charset: str) -> str:
        if charset in TWO_BYTES:
            letters, width = st.characters(max_codepoint=0xD7FF), 2
        else:
            letters, width = st.sampled_from([each for each in characters(charset) if each]), 1
        if size is not None and (size < 0 or size % width):
            raise NoValueError
        least, most = (0, 12) if size is None else (size // width, size // width)
        return str(self.draw(st.text(letters, min_size=least, max_size=most)))

    def octets(self, size: int | None) -> bytes:
        count = self.draw(st.sampled_from(_SIZES)) if size is None else size
        if count < 0:
            raise NoValueError
        return bytes(self.draw(st.binary(min_size=count, max_size=count)))

    def json_text(self, kind: str) -> str:
        scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
        objects = st.dictionaries(st.text(max_size=5), scalars | st.lists(scalars, max_size=2), max_size=3)
        match kind:
            case "object":
                documents: st.SearchStrategy[Any] = objects
            case "array":
                documents = st.lists(scalars, max_size=3)
            case _:
                documents = scalars | objects
        return str(self.draw(documents.map(json.dumps)))

"""The files of one module, each made when it is asked for: who runs examples needs no Spark columns."""

from collections.abc import Callable, Iterator, Mapping
from functools import cache

from wireloom.model.format import Format

Emitter = Callable[[Format], str | None]


class Texts(Mapping[str, str]):
    """What emitters make of a format, by the names of their files; a format has no file where they make nothing."""

    def __init__(self, format: Format, emitters: Mapping[str, Emitter]) -> None:
        self._names = tuple(emitters)
        self._text = cache(lambda name: emitters[name](format))

    def __getitem__(self, name: str) -> str:
        text = self._text(name) if name in self._names else None
        if text is None:
            raise KeyError(name)
        return text

    def __iter__(self) -> Iterator[str]:
        return (name for name in self._names if self._text(name) is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)

"""The generated files of a format, each made only when it is read: running examples does not need Spark columns."""

from collections.abc import Callable, Iterator, Mapping
from functools import cache

from wireloom.model.format import Format

Emitter = Callable[[Format], str | None]


class Texts(Mapping[str, str]):
    """The texts of a format's files by name; a file whose emitter returns None is not included."""

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

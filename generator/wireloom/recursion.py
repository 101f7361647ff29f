"""Formats that become very large because of recursive types with a depth: where that is reported, and what helps.

Each level has columns, a shape and a program of its own, so a type that contains itself in several ways grows by a
factor with each level. Such a format works; but generating, importing and compiling it take time and memory.
"""

from collections.abc import Iterator, Mapping

from wireloom.encodings import ENCODINGS
from wireloom.problems import Location
from wireloom.spec import Document
from wireloom.spec.language import FormatDocument, StructType

_LARGE = 2_000_000  # bytes of a generated module
_MEGABYTE = 1_000_000
_BYTES = "use a smaller `depth`, or keep nested values as bytes (`size: length` and `bytes`)"
_OPEN = "use a smaller `depth`, or an open union (`oneOf`): one VARIANT column of any depth"


def large_formats(
    documents: tuple[Document, ...], modules: Mapping[str, Mapping[str, str]]
) -> Iterator[tuple[Location, str]]:
    """The formats with a depth whose modules are very large: where the depth stands, and what to know of it."""
    for document in documents:
        content = document.content
        if not isinstance(content, FormatDocument) or content.format not in modules:
            continue
        size = sum(len(text) for text in modules[content.format].values())
        deepest = max(_with_depth(content), default=None)
        if deepest is not None and size > _LARGE:
            depth, name, encoding = deepest
            place = document.place / "types" / name / "depth"
            what = f"{name} contains itself to a depth of {depth}, so {content.format} has {size / _MEGABYTE:.1f} MB"
            yield place.value_location(), f"{what}; {_OPEN if ENCODINGS[encoding].tells_kinds else _BYTES}"


def _with_depth(content: FormatDocument) -> Iterator[tuple[int, str, str]]:
    """The types that hold themselves: how deep, and in which encoding."""
    for name, form in content.types.items():
        if isinstance(form, StructType) and form.depth is not None:
            yield form.depth, name, form.encoding or content.encoding

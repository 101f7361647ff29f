"""Finds formats that recursion depths make very large, with the place to report and the advice.

Each level has its own columns, shape and program, so a type that contains itself in several ways grows by a factor with
each level. Such a format works, but generating, importing and compiling it takes time and memory.
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
    """The formats with very large modules because of a depth: the location of the depth, and the advice."""
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
    """The recursive types: depth, name and encoding."""
    for name, form in content.types.items():
        if isinstance(form, StructType) and form.depth is not None:
            yield form.depth, name, form.encoding or content.encoding

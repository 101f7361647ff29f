"""What every byte of a record is: each has one span, or a span that says why no field reads it."""

from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

from conftest import CASES, SPECS
from wireloom import pipeline
from wireloom.examples import opened
from wireloom.model.format import Example
from wireloom.runtime.codec import Codec
from wireloom.runtime.errors import DecodeError
from wireloom.runtime.spans import Explained


@cache
def modules(folder: Path) -> dict[str, ModuleType]:
    with opened(pipeline.read(folder).modules) as found:
        return dict(found)


EXAMPLES = [
    pytest.param(folder, format.name, example, id=f"{format.name}: {example.name}")
    for folder in (SPECS, CASES)
    for format in pipeline.read(folder).formats
    for example in format.examples
]


def hold(codec: Codec, data: bytes, root: str | None = None, **parameters: object) -> Explained:
    """Explain a record, and hold what is said of it against what the parser gives."""
    explained = codec.explain_bytes(data, root=root, **parameters)
    try:
        value, error = codec.parse(data, root=root, **parameters), None
    except DecodeError as raised:
        value, error = None, raised
    if error is None:
        assert explained.error is None
        assert repr(explained.value) == repr(value)
    else:
        found = explained.error
        assert found is not None, error
        assert (found.code, found.path, found.offset) == (error.code, error.path, error.offset)
        assert explained.fault is not None
    for space in explained.spaces:
        leaves = explained.leaves(space.number)
        position = 0
        for leaf in leaves:
            assert leaf.start == position, f"space {space.number}: byte {position} before {leaf}"
            position = leaf.end
        assert position == len(space.data), f"space {space.number}: bytes from {position} on have no span"
    for span in explained.span.walk():
        assert 0 <= span.start <= span.end <= len(explained.spaces[span.space].data), span
        assert span.kind != "unread" or error is not None, span
        assert span.kind not in ("ignored", "unread") or span.note, span
    return explained


@pytest.mark.parametrize(("folder", "name", "example"), EXAMPLES)
def test_every_byte_of_an_example_has_one_span(folder: Path, name: str, example: Example):
    hold(modules(folder)[name].CODEC, example.data, example.root, **dict(example.parameters))

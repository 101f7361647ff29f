"""A parse that tells what every byte of a record is; see `spans` for what it gives.

The constructs of a format are copied once, so that they report to a tracer (`traced`, `tracer`), and what they report
becomes spans (`covering`). Nothing of it is imported, and nothing costs time, before a record is explained.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from wireloom.runtime.errors import DecodeError
from wireloom.runtime.parsers.record import Record
from wireloom.runtime.root import Root
from wireloom.runtime.spans.covering import Claims, Noted, fault_of
from wireloom.runtime.spans.spans import ABSENT, BODILESS, Covered, Explained, Fault, Space, Span
from wireloom.runtime.spans.traced import traced
from wireloom.runtime.spans.tracer import TRACER, Tracer

__all__ = ["ABSENT", "BODILESS", "Covered", "Explained", "Fault", "Space", "Span", "explained"]


def explained(
    format: str, root: Root, data: bytes, settings: Mapping[str, Any], label: Callable[[DecodeError], DecodeError]
) -> Explained:
    """The spans of a record that is all of `data`, whether or not it is good."""
    tracer, value, error = Tracer(data), None, None
    construct = _traced(root.construct)
    try:
        value = root.complete(construct.read_all(tracer.cursor(data), {**settings, TRACER: tracer}))
    except DecodeError as raised:
        error = label(raised).bare()
    node, spaces, fault, _ = next(
        (each for each in tracer.roots if error is not None and each[3] is error),
        tracer.roots[-1] if tracer.roots else (tracer.root, tracer.spaces, None, None),
    )
    Claims(spaces).settle(node, failed=error is not None)
    place = fault or (0, 0 if error is None else error.offset)
    found = None if error is None else fault_of(node, place, error, spaces[place[0]].data)
    span = Span(Noted(node, root.logical), "")
    return Explained(format, tuple(spaces), span, value, error, found)


@lru_cache(maxsize=64)
def _traced(record: Record) -> Record:
    return traced(record)

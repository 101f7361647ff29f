"""A parse that tells what every byte of a record is; see `spans` for what it gives.

The constructs of a format are copied once, so that they report to a tracer (`traced`, `tracer`), and what they report
becomes spans (`covering`). Nothing of it is imported, and nothing costs time, before a record is explained.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from typing import Any

from wireloom.runtime.cursor import Cursor
from wireloom.runtime.errors import DecodeError
from wireloom.runtime.parsers.record import Record
from wireloom.runtime.root import Root
from wireloom.runtime.spans.covering import Claims, Noted, fault_of
from wireloom.runtime.spans.spans import ABSENT, BODILESS, Covered, Explained, Fault, Space, Span
from wireloom.runtime.spans.traced import traced
from wireloom.runtime.spans.tracer import TRACER, Tracer

__all__ = ["ABSENT", "BODILESS", "Covered", "Explained", "Fault", "Space", "Span", "explained"]

_DEEPER = 4  # times as many calls as the parser may have


def explained(
    format: str, root: Root, data: bytes, settings: Mapping[str, Any], label: Callable[[DecodeError], DecodeError]
) -> Explained:
    """The spans of a record that is all of `data`, whether or not it is good."""
    found = _explained(format, root, data, settings, label)
    if found.error is None or found.error.code != "depth_limit":
        return found
    try:  # a trace needs more of the stack than the parser, whose word counts
        root.complete(root.construct.read_all(Cursor(data), settings))
    except DecodeError as error:
        if error.code == "depth_limit":
            fault = Fault(0, error.offset, error.offset, error.offset + 1)
            return replace(found, error=label(error).bare(), fault=found.fault if _same(found.error, error) else fault)
    with _deeper():
        return _explained(format, root, data, settings, label)


def _same(one: DecodeError, other: DecodeError) -> bool:
    return (one.offset, one.components) == (other.offset, other.components)


@contextmanager
def _deeper() -> Iterator[None]:
    """Python's limit on calls within one another is higher meanwhile."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(limit * _DEEPER)
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def _explained(
    format: str, root: Root, data: bytes, settings: Mapping[str, Any], label: Callable[[DecodeError], DecodeError]
) -> Explained:
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
    refused = tuple(Span(Noted(each, None), "") for each in tracer.refused)
    return Explained(format, tuple(spaces), span, value, error, found, refused)


@lru_cache(maxsize=64)
def _traced(record: Record) -> Record:
    return traced(record)

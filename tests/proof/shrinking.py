"""Shrinks a violation: parts of its spec are removed or simplified while its class still occurs."""

import re
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from proof.modules import Spec
from proof.properties import Violation, examined
from proof.pruning import pruned

Path = tuple[Any, ...]
_SIMPLE_TYPES = ("uint8", "int", "str", "bytes", "bool")
_SIMPLE_FORMULAS = ("0", "1", "true", "null")
_TYPE_KEYS = ("type", "cases", "oneOf")
_FORMULA_KEYS = (
    "when",
    "compute",
    "derive",
    "stored",
    "that",
    "size",
    "count",
    "at",
    "keep",
    "select",
    "frame",
    "buildWhen",
)
_EFFORTS = (0.25, 0.6)  # the smallest effort that still shows it
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.]*")
_ARGUMENT = re.compile(r"^(list|map)\((.*)\)$")


def shrunk(spec: Spec, seed: int, violation: Violation, seconds: float = 12) -> tuple[Spec, Violation]:
    """The smallest spec found that breaks the same guarantee, and its violation."""
    until = time.monotonic() + seconds
    effort = next((each for each in _EFFORTS if violation.name in examined(spec, seed, None, each).violations), 1)

    def breaks(candidate: Spec) -> Violation | None:
        return examined(candidate, seed, None, effort).violations.get(violation.name)

    return _smallest(spec, violation, breaks, lambda: time.monotonic() > until)


def _smallest(
    spec: Spec, violation: Violation, breaks: Callable[[Spec], Violation | None], is_over: Callable[[], bool]
) -> tuple[Spec, Violation]:
    progress = True
    while progress and not is_over():
        progress = False
        for candidate in candidates(spec):
            if is_over():
                break
            found = breaks(candidate)
            if found is not None:
                spec, violation, progress = candidate, found, True
                break
    return spec, violation


def candidates(spec: Spec) -> Iterator[Spec]:
    """Slightly smaller specs, those with the greatest loss first."""
    (name, content), *others = spec.items()
    seen = set[str]()
    for _, edited in sorted(_edits(content), key=lambda each: -each[0]):
        candidate = pruned(edited)
        text = repr(candidate)
        if text not in seen and text != repr(content):
            seen.add(text)
            yield {name: candidate, **dict(others)}


def _edits(content: Mapping[str, Any]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Edited documents, with the amount of text that each loses."""
    for path, part in _parts(content, ()):
        size = len(repr(part))
        if len(path) > 1 or path[:1] not in (("wireloom",), ("format",), ("title",), ("encoding",)):
            yield size, _without(content, path)
        for simpler in _simpler(path, part):
            yield size - len(repr(simpler)), _with(content, path, simpler)


def _parts(part: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    items = part.items() if isinstance(part, Mapping) else enumerate(part) if isinstance(part, list) else ()
    for key, value in items:
        yield (*path, key), value
        yield from _parts(value, (*path, key))


def _simpler(path: Path, part: Any) -> Iterator[Any]:
    key = path[-1]
    if isinstance(part, Mapping) and "type" in part:
        yield part["type"]
    if isinstance(part, Mapping) and "fields" in part:
        yield {"fields": part["fields"]}
    if isinstance(part, str) and key in _FORMULA_KEYS:
        yield from (each for each in (*_SIMPLE_FORMULAS, *_pieces(part)) if each != part)
    elif isinstance(part, str) and key not in ("format", "title", "encoding", "field", "name", "wireloom", "else"):
        inner = _ARGUMENT.match(part)
        if inner:
            yield inner[2]
        if "|" in part:
            yield from (piece.strip() for piece in part.split("|"))
            yield from (" | ".join(part.split(" | ")[:place] + part.split(" | ")[place + 1 :]) for place in range(4))
        yield part.removesuffix("?")
        yield from (each for each in _SIMPLE_TYPES if each != part)


def _pieces(formula: str) -> Iterator[str]:
    """Parts of an expression: contents of parentheses, operands, and names."""
    depth, starts = 0, list[int]()
    for place, letter in enumerate(formula):
        if letter == "(":
            starts.append(place + 1)
            depth += 1
        elif letter == ")" and starts:
            yield formula[starts.pop() : place]
    for operator in (
        " and ",
        " or ",
        " ? ",
        " : ",
        " == ",
        " + ",
        " - ",
        " * ",
        " & ",
        " | ",
        " ^ ",
        " << ",
        " >> ",
        ", ",
    ):
        if operator in formula:
            left, right = formula.split(operator, 1)
            yield from (left, right)
    yield from dict.fromkeys(_NAME.findall(formula))


def _without(content: Any, path: Path) -> Any:
    first, *rest = path
    if isinstance(content, Mapping):
        if not rest:
            return {key: value for key, value in content.items() if key != first}
        return {key: _without(value, tuple(rest)) if key == first else value for key, value in content.items()}
    if not rest:
        return content[:first] + content[first + 1 :]
    return [*content[:first], _without(content[first], tuple(rest)), *content[first + 1 :]]


def _with(content: Any, path: Path, part: Any) -> Any:
    if not path:
        return part
    first, *rest = path
    if isinstance(content, Mapping):
        return {key: _with(value, tuple(rest), part) if key == first else value for key, value in content.items()}
    return [*content[:first], _with(content[first], tuple(rest), part), *content[first + 1 :]]

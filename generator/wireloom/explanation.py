"""What decoding and encoding a format run on, for each root and parameter, and why where that is not the engine.

The construct path gives the same results some hundred times slower, so a format that leaves the engine without anybody
knowing is a cost without a sign.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from wireloom.runtime.codec import Codec, Root
from wireloom.runtime.engine import Path
from wireloom.runtime.parameters import Parameter

_SOME_RANGE = (0, 9)


@dataclass(frozen=True, slots=True)
class Change:
    """What asking otherwise changes: the paths that differ from those of the defaults, None where they do not."""

    asked: str
    decode: Path | None
    encode: Path | None


@dataclass(frozen=True, slots=True)
class Explained:
    """A root: what its defaults run on, and what parameters and options change."""

    root: str
    decode: Path
    encode: Path
    alone: tuple[str, ...]  # columns that the engine reads where they are asked for one by one, and does not read all
    changes: tuple[Change, ...]


def explained(codec: Codec) -> Iterator[Explained]:
    """Every root of a format."""
    for name, root in codec.roots.items():
        decode, encode = codec.decode_path(root=name), codec.encode_path(root=name)
        alone = () if decode.native else tuple(_native_alone(codec, name, root))
        yield Explained(name, decode, encode, alone, tuple(_changes(codec, name, root, decode, encode)))


def slow(codec: Codec) -> str:
    """Which of the format's usual ways leave the engine, or some records do, and why, on one line; else empty."""
    reasons: dict[str, list[str]] = {}
    for name, root in codec.roots.items():
        ways = {"decode": codec.decode_path(root=name)}
        if not root.elements:  # no columns hold a list of records
            ways["encode"] = codec.encode_path(root=name)
        for way, path in ways.items():
            if path.reason:
                reasons.setdefault(path.reason, []).append(way)
    told = (f"{' and '.join(dict.fromkeys(ways))}: {reason}" for reason, ways in reasons.items())
    return "; ".join(told)


def _native_alone(codec: Codec, name: str, root: Root) -> Iterator[str]:
    for field in root.logical.fields:
        if codec.decode_path((field.name,), root=name).native:
            yield field.name


def _changes(codec: Codec, name: str, root: Root, decode: Path, encode: Path) -> Iterator[Change]:
    for parameter in codec.parameters:
        for value in _others(parameter):
            given: Mapping[str, Any] = {parameter.name: value}
            change = Change(
                f"-p {parameter.name}={_written(value)}",
                _other(codec.decode_path(root=name, **given), decode),
                _other(codec.encode_path(root=name, **given), encode),
            )
            if change.decode or change.encode:
                yield change
    options: list[tuple[str, Path]] = [
        (f"open_values={form}", codec.decode_path(root=name, open_values=form)) for form in ("json", "binary")
    ]
    if root.rows or root.elements:
        options.append(("explode, for flat rows", codec.decode_path(root=name, explode=True)))
    yield from (Change(asked, path, None) for asked, path in options if path != decode)


def _other(path: Path, usual: Path) -> Path | None:
    return None if path == usual else path


def _others(parameter: Parameter) -> Iterator[Any]:
    """Values besides the default: all where they are few, else one."""
    match parameter.kind:
        case "text":
            yield from (option for option in parameter.options if option != parameter.default)
        case "boolean":
            yield not parameter.default
        case "range":
            yield _SOME_RANGE
        case _:
            yield (parameter.default if isinstance(parameter.default, int) else 0) + 1


def _written(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case (first, last):
            return f"{first}..{last}"
        case _:
            return str(value)

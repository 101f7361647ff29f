"""Tells for each root and parameter of a format whether decoding and encoding use the engine, and why not.

The construct path gives the same results but is some hundred times slower. Without this report, nobody would notice
that a format leaves the engine.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from wireloom.expr.ast import Binary, Expression, parts
from wireloom.expr.extents import Known
from wireloom.expr.text import text_of
from wireloom.model.extents import field_extents
from wireloom.model.format import Example, Format
from wireloom.model.meaning import meaning
from wireloom.model.traversal import nested, reached
from wireloom.model.types import Attempt, Check, Field, Struct
from wireloom.runtime.codec import Codec, Root
from wireloom.runtime.engine import Path, Request
from wireloom.runtime.errors import EncodeError
from wireloom.runtime.parameters import Parameter, parameter_text

_SOME_RANGE = (0, 9)
_BEYOND = 1 << 63
_GROW = frozenset({"+", "-", "*", "<<"})


@dataclass(frozen=True, slots=True)
class Change:
    """The effect of a parameter or option: the paths that differ from the default ones; None if they do not."""

    asked: str
    decode: Path | None
    encode: Path | None


@dataclass(frozen=True, slots=True)
class Explained:
    """A root: its paths under defaults, and the effect of parameters and options."""

    root: str
    decode: Path
    encode: Path
    alone: tuple[str, ...]  # columns that the engine can read if only they are selected
    changes: tuple[Change, ...]


def explained(codec: Codec) -> Iterator[Explained]:
    """The paths of every root of a format."""
    for name, root in codec.roots.items():
        decode, encode = codec.decode_path(root=name), codec.encode_path(root=name)
        alone = () if decode.native else tuple(_native_alone(codec, name, root))
        yield Explained(name, decode, encode, alone, tuple(_changes(codec, name, root, decode, encode)))


@dataclass(frozen=True, slots=True)
class Counted:
    """The valid examples of a root, and those that the engine did not decode or encode."""

    decoded: int
    reread: tuple[str, ...]
    encoded: int
    rebuilt: tuple[str, ...]
    remedies: tuple[str, ...]


def counted(format: Format, root: str, codec: Codec, of: str) -> Counted | None:
    """Run the examples of a root one by one; None if the module was generated from another spec than `of`."""
    if meaning(format) != of:
        return None
    read, reread, written, rebuilt = 0, list[str](), 0, list[str]()
    for example in format.examples:
        if example.root == root and example.stated and example.error is None:
            again, built = _leaves(codec, example)
            read += 1
            reread += [example.name] if again else []
            written += built is not None
            rebuilt += [example.name] if built else []
    remedies = tuple(_remedies(format, root)) if reread else ()
    return Counted(read, tuple(reread), written, tuple(rebuilt), remedies)


def _leaves(codec: Codec, example: Example) -> tuple[bool, bool | None]:
    """Whether the parser, not the engine, decodes an example; and the builders encode it (None if nothing can)."""
    import pyarrow as pa  # noqa: PLC0415 - slow to import; only examples need it

    if codec.engine is None:  # a module without an engine layout
        return True, True
    request = Request(example.root, codec.settings(dict(example.parameters)))
    decoded = codec.decode_request(pa.array([example.data], pa.binary()), request)
    if codec.root(example.root).elements:
        return decoded.reread > 0, None
    before = codec.engine.rebuilt
    try:
        native = codec.engine.encode(decoded.records, request) is not None
    except EncodeError:
        return decoded.reread > 0, None
    return decoded.reread > 0, not native or codec.engine.rebuilt > before


def _remedies(format: Format, root: str) -> Iterator[str]:
    """Changes of the spec that keep more records of the root in the engine."""
    types, begun = dict(format.types), next(each.type for each in format.roots if each.name == root)
    for name, type in (("root", begun), *((name, types[name]) for name in sorted(reached(begun, types)))):
        for each in nested(type):
            if isinstance(each, Attempt):
                first = each.trials[0].name
                yield (
                    f"{name}: the engine may give up records that are not the first alternative ({first}); "
                    "put the most frequent one first, or use `select` on a value that tells them apart"
                )
            elif isinstance(each, Struct):
                for place, large in _large(each, format):
                    yield (
                        f"{name}: `{large}` ({place}) may be beyond 64 bits, and the parser reads such records; "
                        "divide or shift before you multiply"
                    )


def _large(struct: Struct, format: Format) -> Iterator[tuple[str, str]]:
    """The innermost subexpressions of a struct that may exceed 64 bits, each with the place of its expression."""
    known = Known(field_extents(struct, format.named))
    for step in struct.steps:
        match step:
            case Field(compute=expression) if expression is not None:
                yield from ((f"compute of {step.name}", text_of(each)) for each in _beyond(expression, known))
            case Check(that=expression):
                yield from (("check", text_of(each)) for each in _beyond(expression, known))
            case _:
                pass


def _beyond(expression: Expression, known: Known) -> list[Expression]:
    """The innermost subexpressions that may exceed 64 bits."""
    inner = [found for part in parts(expression) for found in _beyond(part, known)]
    if inner or not (isinstance(expression, Binary) and expression.operator in _GROW):
        return inner
    found = known.of(expression)
    return [expression] if found.low < -_BEYOND or found.high >= _BEYOND else []


def slow(codec: Codec) -> str:
    """One line on the functions of a format that do not use the engine, with the reasons; empty if all do."""
    reasons: dict[str, list[str]] = {}
    for name, root in codec.roots.items():
        ways = {"decode": codec.decode_path(root=name)}
        if not root.elements:  # there are no columns for a list of records
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
                f"-p {parameter.name}={parameter_text(value)}",
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
    """Other values than the default: all of them if they are few, otherwise one."""
    match parameter.kind:
        case "text":
            yield from (option for option in parameter.options if option != parameter.default)
        case "boolean":
            yield not parameter.default
        case "range":
            yield _SOME_RANGE
        case _:
            yield (parameter.default if isinstance(parameter.default, int) else 0) + 1

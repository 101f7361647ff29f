"""What decoding and encoding a format run on, for each root and parameter, and why where that is not the engine.

The construct path gives the same results some hundred times slower, so a format that leaves the engine without anybody
knowing is a cost without a sign.
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


@dataclass(frozen=True, slots=True)
class Counted:
    """The valid examples of a root, and those that left the engine on the way in and on the way out."""

    decoded: int
    reread: tuple[str, ...]
    encoded: int
    rebuilt: tuple[str, ...]
    remedies: tuple[str, ...]


def counted(format: Format, root: str, codec: Codec, of: str) -> Counted | None:
    """The examples of a root, run one by one; None where the module, which means `of`, is of another spec."""
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
    """Whether the parser reads an example, and whether the builders write it; None where nothing writes it."""
    import pyarrow as pa  # noqa: PLC0415 - slow to import, and generated modules without examples do without

    if codec.engine is None:  # a module without a layout
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
    """What keeps records of the root in the engine, as far as the spec shows it."""
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
    """The innermost results of a struct's expressions that 64 bits may not hold, and where they stand."""
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
    """The innermost parts that grow beyond 64 bits."""
    inner = [found for part in parts(expression) for found in _beyond(part, known)]
    if inner or not (isinstance(expression, Binary) and expression.operator in _GROW):
        return inner
    found = known.of(expression)
    return [expression] if found.low < -_BEYOND or found.high >= _BEYOND else []


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

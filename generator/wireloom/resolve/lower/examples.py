"""Examples of a format: bytes, and the value or the error that they must give."""

from collections.abc import Iterator
from typing import assert_never, cast

from wireloom.model import logical
from wireloom.model.format import ErrorCode, Example, Root
from wireloom.model.logical import LogicalType
from wireloom.model.meanings import EXPECTED, read
from wireloom.model.types import Scalar
from wireloom.problems import nearest
from wireloom.resolve.bind import constants
from wireloom.resolve.bind.draft import Draft
from wireloom.resolve.bind.header import fits_parameter
from wireloom.resolve.logical.schemas import shown
from wireloom.spec.documents import Place
from wireloom.spec.language import Example as ExampleDocument


def examples(draft: Draft, roots: tuple[Root, ...], errors: tuple[ErrorCode, ...]) -> tuple[Example, ...]:
    """The format's examples."""
    found = [
        _example(draft, draft.place / "examples" / index, each, roots, errors)
        for index, each in enumerate(draft.content.examples)
    ]
    names: dict[str, int] = {}
    for index, example in enumerate(found):
        if example.name in names:
            draft.reports(
                draft.place / "examples" / index / "name",
                "duplicate-example",
                f"two examples are called {example.name!r}",
                "tests and documents call them by name",
            )
        names[example.name] = index
    return tuple(found)


def _example(
    draft: Draft, place: Place, document: ExampleDocument, roots: tuple[Root, ...], errors: tuple[ErrorCode, ...]
) -> Example:
    given = document.given
    root = _root(draft, place / "root", document.root, roots)
    if "value" in given and "error" in given:
        draft.reports(
            place, "example-outcome", "an example has a value or an error", "give `value` or `error`, not both"
        )
    beside = ("path", "offset") if "value" in given else ("rebuilds",) if "error" in given else ()
    for key in beside if not {"value", "error"} <= given else ():
        if key in given:
            what, other = ("an error", "value") if key != "rebuilds" else ("a value", "error")
            message = f"`{key}` is of {what}, and this has `{other}`"
            draft.reports_entry(place / key, "example-outcome", message, "drop one of them")
    if document.error is not None:
        codes = [each.code for each in errors]
        if document.error not in codes:
            draft.reports(
                place / "error",
                "example-outcome",
                f"decoding never reports {document.error}",
                nearest(document.error, codes),
            )
    elif root is not None and "value" in given:
        for path, message, hint in _misfits(document.value, root):
            draft.reports(_below(place / "value", path), "example-value", message, hint)
    return Example(
        name=document.name,
        data=_data(draft, place, document),
        root=document.root or (roots[0].name if roots else "record"),
        parameters=_parameters(draft, place / "parameters", document),
        value=document.value,
        error=document.error,
        path=document.path,
        offset=document.offset,
        rebuilds=document.rebuilds,
        doc=document.doc,
        stated="value" in given or "error" in given,
    )


def _below(place: Place, path: tuple[str | int, ...]) -> Place:
    for step in path:
        place = place / step
    return place


def _root(draft: Draft, place: Place, name: str | None, roots: tuple[Root, ...]) -> Root | None:
    if name is None:
        return roots[0] if roots else None
    found = next((root for root in roots if root.name == name), None)
    if found is None:
        known = [root.name for root in roots]
        draft.reports(place, "example-root", f"there is no root {name}", nearest(name, known))
    return found


def _parameters(draft: Draft, place: Place, document: ExampleDocument) -> tuple[tuple[str, Scalar], ...]:
    known = draft.content.parameters
    for name, value in document.parameters.items():
        if name not in known:
            hint = nearest(name, known) or "the format has no parameters"
            draft.reports_entry(place / name, "example-parameter", f"there is no parameter {name}", hint)
        elif not fits_parameter(known[name], value):
            options = known[name].one_of
            hint = f"one of {', '.join(options)}" if options else f"its type is {known[name].type}"
            draft.reports(place / name, "example-parameter", f"{name} is never {value}", hint)
    return tuple((name, _parameter_value(value)) for name, value in document.parameters.items())


def _parameter_value(value: object) -> Scalar:
    """A parameter's value; a range is a pair."""
    return cast(Scalar, tuple(value) if isinstance(value, list) else value)


def _data(draft: Draft, place: Place, document: ExampleDocument) -> bytes:
    if (document.hex is None) == (document.text is None):
        draft.reports(place, "example-outcome", "an example has its bytes as `hex` or as `text`", "give one of them")
    if document.hex is None:
        try:
            return (document.text or "").encode()
        except UnicodeEncodeError:
            message = "this text has half of a character, which has no bytes"
            draft.reports(place / "text", "bad-hex", message, "write the bytes as `hex`")
            return b""
    data = constants.hexadecimal((place / "hex").text)
    if not isinstance(data, bytes):
        draft.reports(
            place / "hex", "bad-hex", "this is not hexadecimal", "write pairs of 0-9 and a-f; spaces do not matter"
        )
        return b""
    return data


# --- the canonical rendering ---------------------------------------------------------------------------------------

_Path = tuple[str | int, ...]


def _misfits(value: object, root: Root) -> Iterator[tuple[_Path, str, str]]:
    if root.elements:
        yield from _value_misfits(value, logical.List(root.logical), ())
    else:
        yield from _value_misfits(value, root.logical, ())


def _value_misfits(value: object, type: LogicalType, path: _Path) -> Iterator[tuple[_Path, str, str]]:
    """Where a value is not a canonical rendering of the type: path, what is wrong, what would be right.

    What is missing is shown where examples are run, which know what it would be.
    """
    match type, value:
        case _, None:
            return
        case logical.Record(fields), dict():
            known = {field.name: field for field in fields}
            for name, member in value.items():
                if name not in known:
                    yield (*path, name), f"the record has no field {name}", nearest(name, known)
                else:
                    yield from _value_misfits(member, known[name].type, (*path, name))
        case logical.List(element), list():
            for index, member in enumerate(value):
                yield from _value_misfits(member, element, (*path, index))
        case logical.Alternatives(options), dict() if len(value) == 1:
            yield from _option_misfits(value, options, path)
        case logical.Open(), _:
            return
        case logical.Map(), list():
            return
        case _:
            if not _is_scalar_of(type, value):
                yield path, f"{value!r} is not the rendering of the field's type", _rendering(type)


def _option_misfits(
    value: dict[str, object], options: tuple[LogicalType, ...], path: _Path
) -> Iterator[tuple[_Path, str, str]]:
    known = {logical.kind_name(option): option for option in options}
    for name, inner in value.items():
        if name in known:
            yield from _value_misfits(inner, known[name], (*path, name))
        else:
            yield (*path, name), f"{name} is no alternative", f"one of {', '.join(known)}"


def _is_scalar_of(type: LogicalType, value: object) -> bool:
    match type:
        case logical.Boolean():
            return isinstance(value, bool)
        case logical.Integer():
            return isinstance(value, int) and not isinstance(value, bool) and type.minimum <= value <= type.maximum
        case logical.BigInteger():
            return isinstance(value, str) and value.removeprefix("-").isdecimal()
        case logical.Float():
            return value in ("NaN", "Infinity", "-Infinity") or (
                isinstance(value, int | float) and not isinstance(value, bool)
            )
        case logical.Text(symbols):
            return isinstance(value, str) and (not symbols or value in symbols)
        case logical.Binary():
            return isinstance(value, str)
        case logical.Meant():
            return _is_meaning_of(type, value)
        case _:
            return False


def _rendering(type: LogicalType) -> str:
    """What to write for a value of a type."""
    match type:
        case logical.Text(symbols) if symbols:
            return f"write one of {', '.join(symbols)}"
        case logical.Meant(shown=logical.Scaled(kind)) if kind in EXPECTED:
            return f"write {EXPECTED[kind]}"
        case logical.Meant(shown=logical.Named(names)):
            return f"write one of {', '.join(name for _, name in names)}"
        case logical.Binary():
            return "write base64"
        case _:
            return f"write {shown(type)}"


def _is_meaning_of(type: logical.Meant, value: object) -> bool:
    match type.shown:
        case None:
            return _is_scalar_of(type.wire, value)
        case logical.Scaled() as scaled:
            return _is_quantity(value, scaled)
        case logical.Said():
            return _is_scalar_of(type.shown.plain, value)
        case logical.Measured():
            return isinstance(value, int | float) and not isinstance(value, bool)
        case logical.Written() | logical.Encoded():
            return isinstance(value, str)
        case logical.Named(names):
            return any(value == name for _, name in names)
        case _:
            assert_never(type.shown)


def _is_quantity(value: object, scaled: logical.Scaled) -> bool:
    try:
        read(value, scaled)
    except ValueError:
        return False
    return True

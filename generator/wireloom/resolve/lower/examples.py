"""Convert the examples of a format: bytes, and the value or error expected of them."""

from typing import cast

from wireloom.model.format import ErrorCode, Example, Root
from wireloom.model.types import Scalar
from wireloom.problems import nearest
from wireloom.resolve.bind import constants
from wireloom.resolve.bind.draft import Draft
from wireloom.resolve.bind.header import fits_parameter
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
            message, hint = f"two examples are named {example.name!r}", "rename one: tests and pages use the name"
            draft.reports(draft.place / "examples" / index / "name", "duplicate-example", message, hint)
        names[example.name] = index
    return tuple(found)


def _example(
    draft: Draft, place: Place, document: ExampleDocument, roots: tuple[Root, ...], errors: tuple[ErrorCode, ...]
) -> Example:
    given = document.given
    _check_root(draft, place / "root", document.root, roots)
    if "value" in given and "error" in given:
        message, hint = "an example has a value or an error", "give `value` or `error`, not both"
        draft.reports(place, "example-outcome", message, hint)
    beside = ("path", "offset") if "value" in given else ("rebuilds",) if "error" in given else ()
    for key in beside if not {"value", "error"} <= given else ():
        if key in given:
            what, other = ("an error", "value") if key != "rebuilds" else ("a value", "error")
            message = f"`{key}` belongs to {what}, but this example has `{other}`"
            draft.reports_entry(place / key, "example-outcome", message, "drop one of them")
    if document.error is not None:
        codes = [each.code for each in errors]
        if document.error not in codes:
            message, hint = f"decoding never reports {document.error}", nearest(document.error, codes)
            draft.reports(place / "error", "example-outcome", message, hint)
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


def _check_root(draft: Draft, place: Place, name: str | None, roots: tuple[Root, ...]) -> None:
    known = [root.name for root in roots]
    if name is not None and name not in known:
        draft.reports(place, "example-root", f"there is no root {name}", nearest(name, known))


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
    """The value of a parameter; a range becomes a pair."""
    return cast(Scalar, tuple(value) if isinstance(value, list) else value)


def _data(draft: Draft, place: Place, document: ExampleDocument) -> bytes:
    if (document.hex is None) == (document.text is None):
        hint = "give one of them"
        draft.reports(place, "example-outcome", "an example needs its bytes, as either `hex` or `text`", hint)
    if document.hex is None:
        try:
            return (document.text or "").encode()
        except UnicodeEncodeError:
            message = "this text has half of a surrogate pair, which has no bytes"
            draft.reports(place / "text", "bad-hex", message, "write the bytes as `hex`")
            return b""
    data = constants.hexadecimal((place / "hex").text)
    if not isinstance(data, bytes):
        message, hint = "this is not hexadecimal", "write two digits (0-9, a-f) for each byte; spaces do not matter"
        draft.reports(place / "hex", "bad-hex", message, hint)
        return b""
    return data

"""Makes examples for a spec from its parser's results; the loader must accept them."""

from collections.abc import Mapping
from typing import Any

from proof.chance import Chance
from proof.modules import Made
from proof.scope import ABSENT, document
from wireloom.model.format import Root
from wireloom.runtime.errors import DecodeError
from wireloom.runtime.parameters import Range
from wireloom.spec.language import Example, FormatDocument


def with_examples(content: Mapping[str, Any], examples: list[dict[str, Any]]) -> dict[str, Any]:
    """The format's document with these examples."""
    named = {**content, "examples": examples}
    return {key: named[key] for key in FormatDocument.keys() if key in named}  # noqa: SIM118 - no mapping


def example(  # noqa: PLR0913 - what an example says
    made: Made, root: Root, name: str, record: bytes, parameters: Mapping[str, Any], chance: Chance
) -> dict[str, Any] | None:
    """The example of a record; None if it cannot be written down."""
    if any(isinstance(each, Range) for each in parameters.values()):
        return None
    shown: dict[str, Any] = {"value": ABSENT, "error": ABSENT, "path": ABSENT, "offset": ABSENT}
    try:
        value = made.module.parse(record, root=root.name, **parameters)
        shown["value"] = _tidy(made.module.to_canonical(value, root=root.name))
    except DecodeError as error:
        shown |= {"error": error.code, "path": error.path or ABSENT, "offset": error.offset}
    readable = made.format.encoding.name == "json" and _is_text(record)
    as_text = readable and chance.often(0.7)
    return document(
        Example,
        {
            "name": name,
            "hex": ABSENT if as_text else record.hex(),
            "text": record.decode() if as_text else ABSENT,
            "root": root.name if root.name != made.format.roots[0].name or chance.often(0.2) else ABSENT,
            "parameters": dict(parameters) or ABSENT,
            **shown,
            "rebuilds": False if shown["error"] is ABSENT and chance.often(0.5) else ABSENT,
            "doc": "An example." if chance.often(0.1) else ABSENT,
        },
    )


def _tidy(rendering: Any) -> Any:
    """The rendering without null members."""
    match rendering:
        case dict():
            return {name: _tidy(value) for name, value in rendering.items() if value is not None}
        case list():
            return [_tidy(value) for value in rendering]
        case _:
            return rendering


def _is_text(record: bytes) -> bool:
    try:
        return record.decode().isprintable()
    except UnicodeDecodeError:
        return False

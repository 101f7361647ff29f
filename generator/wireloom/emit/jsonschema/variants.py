"""The JSON Schemas of a format whose parameters are not at their defaults: `variants.json`.

A parameter of few values has a schema for each; of one with too many to list, its default is told from all others, of
which nothing is known, so that what depends on them is left open. Parameters that no schema depends on are left out.
"""

from collections.abc import Sequence
from itertools import product
from math import prod

from wireloom.emit.jsonschema.conditions import Unknown, Value
from wireloom.emit.jsonschema.document import documents
from wireloom.expr.ast import Kind
from wireloom.model.format import Format, Parameter

MAXIMUM_SCHEMAS = 64
"""Where values of parameters make more combinations, all but the defaults have one schema, which leaves them open."""

_Choice = tuple[Value, ...]


def variants(format: Format) -> dict[str, object] | None:
    """The schemas by parameters, the first that fits counts; None where the schema is not of documents."""
    if not format.encoding.text:
        return None
    schemas = _schemas(format.parameters, format)
    deciding = [place for place in range(len(format.parameters)) if _decides(place, schemas)]
    defaults = tuple(format.parameters[place].default for place in deciding)
    listed = {tuple(choice[place] for place in deciding): schema for choice, schema in schemas.items()}
    names = [format.parameters[place].name for place in deciding]
    ordered = sorted(listed.items(), key=lambda entry: sum(isinstance(value, Unknown) for value in entry[0]))
    return {
        "parameters": names,
        "variants": [
            {"when": _when(names, choice), "$defs": schema} for choice, schema in ordered if choice != defaults
        ],
    }


def _schemas(parameters: Sequence[Parameter], format: Format) -> dict[_Choice, dict[str, object]]:
    """The definitions for each choice of values."""
    values = [_values(parameter) for parameter in parameters]
    choices = list(product(*values))
    if prod(map(len, values)) > MAXIMUM_SCHEMAS:
        choices = [tuple(parameter.default for parameter in parameters), tuple(Unknown.ANYTHING for _ in parameters)]
    names = [parameter.name for parameter in parameters]
    return {choice: documents(format, dict(zip(names, choice, strict=True))) for choice in choices}


def _values(parameter: Parameter) -> Sequence[Value]:
    """The values that a parameter can have, or its default and all others."""
    match parameter.kind:
        case Kind.BOOLEAN if parameter.default is not None:
            return (True, False)
        case Kind.TEXT if parameter.options and parameter.default is not None:
            return parameter.options
        case _:
            return (parameter.default, Unknown.ANYTHING)


def _decides(place: int, schemas: dict[_Choice, dict[str, object]]) -> bool:
    """Whether the schema is another for another value of the parameter at that place."""
    seen: dict[_Choice, dict[str, object]] = {}
    return any(
        seen.setdefault((*choice[:place], *choice[place + 1 :]), schema) != schema for choice, schema in schemas.items()
    )


def _when(names: Sequence[str], choice: _Choice) -> dict[str, object]:
    """The values that a choice is about; what it leaves out may have any."""
    return {name: value for name, value in zip(names, choice, strict=True) if not isinstance(value, Unknown)}

"""Generate `variants.json`: the schemas of a format for other values of its parameters.

A parameter with few values gets a schema for each value. A parameter with too many values gets one for its default, and
one for all others that leaves open what depends on it. Parameters that no schema depends on are omitted.
"""

from collections.abc import Sequence
from itertools import product
from math import prod

from wireloom.emit.jsonschema.conditions import Unknown, Value
from wireloom.emit.jsonschema.document import documents
from wireloom.expr.ast import Kind
from wireloom.model.format import Format, Parameter

MAXIMUM_SCHEMAS = 64
"""With more combinations of parameters than this, all but the defaults share one schema that leaves them open."""

_Choice = tuple[Value, ...]


def variants(format: Format) -> dict[str, object] | None:
    """The schemas by parameters, of which the first match counts; None if the format has no schema of documents."""
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
    """The values of a parameter to distinguish: all of them, or its default and all others."""
    match parameter.kind:
        case Kind.BOOLEAN if parameter.default is not None:
            return (True, False)
        case Kind.TEXT if parameter.options and parameter.default is not None:
            return parameter.options
        case _:
            return (parameter.default, Unknown.ANYTHING)


def _decides(place: int, schemas: dict[_Choice, dict[str, object]]) -> bool:
    """Whether the parameter at that index changes the schema."""
    seen: dict[_Choice, dict[str, object]] = {}
    return any(
        seen.setdefault((*choice[:place], *choice[place + 1 :]), schema) != schema for choice, schema in schemas.items()
    )


def _when(names: Sequence[str], choice: _Choice) -> dict[str, object]:
    """The parameters that a choice fixes; all others may have any value."""
    return {name: value for name, value in zip(names, choice, strict=True) if not isinstance(value, Unknown)}

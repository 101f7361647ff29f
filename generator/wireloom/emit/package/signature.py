"""A format's parameters as Python: keyword parameters with types, defaults and documents."""

from typing import assert_never

from wireloom.emit.code import literal
from wireloom.emit.prose import sentence
from wireloom.expr.ast import Kind
from wireloom.model.format import Parameter


def keyword(parameter: Parameter) -> str:
    """The parameter in a function's signature."""
    return f"{parameter.name}: {annotation(parameter)} = {literal(parameter.default)}"


def annotation(parameter: Parameter) -> str:
    """The parameter's type."""
    match parameter.kind:
        case Kind.TEXT:
            return one_of(parameter.options) if parameter.options else _or_none("str", parameter)
        case Kind.BOOLEAN:
            return "bool"
        case Kind.INTEGER:
            return _or_none("int", parameter)
        case Kind.RANGE:
            return "tuple[int, int] | None"
        case Kind.BYTES | Kind.LIST | Kind.RECORD | Kind.NULL | Kind.FLOAT | Kind.ANY:
            raise ValueError(f"a parameter cannot be of kind {parameter.kind.value}")
        case _:
            assert_never(parameter.kind)


def _or_none(type: str, parameter: Parameter) -> str:
    """The type, with None where that is the default."""
    return type if parameter.default is not None else f"{type} | None"


def one_of(names: tuple[str, ...]) -> str:
    """The type of one of these texts."""
    return f"Literal[{', '.join(literal(name) for name in names)}]"


def documented(parameter: Parameter) -> tuple[str, str]:
    """The parameter's name and what it means."""
    unit = f" In {parameter.unit}." if parameter.unit else ""
    return parameter.name, sentence(parameter.doc) + unit if parameter.doc else unit.strip()

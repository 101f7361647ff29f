"""A format's parameters as keyword parameters of Python functions, with types, defaults and documentation."""

from typing import assert_never

from wireloom.emit.code import Code, Group, Prose, call, display, literal, render, subscript
from wireloom.emit.prose import sentence
from wireloom.expr.ast import Kind
from wireloom.model.format import Format, Parameter

_INDENT = 4  # of keywords, one in a line


def keyword(parameter: Parameter) -> str:
    """The parameter in a function's signature."""
    return annotated(parameter.name, annotation(parameter), literal(parameter.default))


def annotated(name: str, type: Code, default: str, *, or_none: bool = False) -> str:
    """A keyword in a function's signature, on its own line."""
    rest = f"{' | None' * or_none} = {default}"
    return f"{name}: {render(type, _INDENT, len(name) + 2, len(rest) + 1)}{rest}"


def annotation(parameter: Parameter) -> Code:
    """The Python type of the parameter."""
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
    """The type, optional if the default is None."""
    return type if parameter.default is not None else f"{type} | None"


def one_of(names: tuple[str, ...]) -> Code:
    """The type of one of these texts."""
    return subscript("Literal", map(literal, names))


def declared(parameter: Parameter, format: Format) -> Group:
    """The declaration of the parameter that the runtime checks arguments with."""
    is_limit = parameter.name in (format.depth, format.size, format.expansion, format.ratio)
    return call(
        "_codec.Parameter",
        literal(parameter.name),
        literal(
            {Kind.TEXT: "text", Kind.BOOLEAN: "boolean", Kind.INTEGER: "integer", Kind.RANGE: "range"}[parameter.kind]
        ),
        literal(parameter.default),
        options=display(parameter.options) if parameter.options else None,
        doc=Prose(" ".join(parameter.doc.split())) if parameter.doc else None,
        least="0" if is_limit else None,
    )


def documented(parameter: Parameter) -> tuple[str, str]:
    """The parameter's name and documentation."""
    unit = f" In {parameter.unit}." if parameter.unit else ""
    return parameter.name, sentence(parameter.doc) + unit if parameter.doc else unit.strip()

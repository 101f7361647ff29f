"""Translate expressions into nodes of the layout."""

from typing import assert_never

from wireloom.expr import ast
from wireloom.expr.types import kind
from wireloom.runtime.engine import nodes


def tree(expression: ast.Expression) -> nodes.Tree:
    """The node of an expression."""
    match expression:
        case ast.Literal() as literal:
            return _constant(literal)
        case ast.FieldRef(up, name, members):
            return nodes.FieldRef(up, name, tuple(members))
        case ast.MarkRef(name):
            return nodes.MarkRef(name)
        case ast.ParameterRef(name, members):
            return nodes.ParameterRef(name, tuple(members))
        case ast.Position(fact):
            return nodes.Position(fact)
        case ast.Unary(operator, operand):
            return nodes.Unary("negative" if operator == "-" else operator, tree(operand))
        case ast.Binary(operator, left, right):
            return nodes.Binary(operator, tree(left), tree(right))
        case ast.Membership(operand, options):
            return nodes.Among(tree(operand), tuple(tree(ast.Literal(option)) for option in options))
        case ast.Conditional(condition, then, otherwise):
            return nodes.If(tree(condition), tree(then), tree(otherwise))
        case ast.Call():
            return _call(expression)
        case ast.Name(parts):
            raise AssertionError(f"an unresolved name reached the emitter: {'.'.join(parts)}")
        case _:
            assert_never(expression)


def optional(expression: ast.Expression | None) -> nodes.Tree:
    """The node of an expression that may be missing."""
    return None if expression is None else tree(expression)


def formula(expression: ast.Expression | None) -> nodes.Formula | None:
    """The formula of an expression that may be missing."""
    return None if expression is None else nodes.Formula(tree(expression))


def _call(call: ast.Call) -> nodes.Tree:
    match call.function, call.arguments:
        case "rangeName", (value, ast.Literal(str(ranges))):
            return nodes.RangeName(tree(value), ranges)
        case "int", (data, ast.Literal("big" | "little" as order)):
            return nodes.NumberOf(tree(data), order)
        case "sum", (listed, *member):
            return nodes.Sum(tree(listed), _member(member))
        case "join", (listed, separator, *member):
            return nodes.Join(tree(listed), tree(separator), _member(member))
        case "slice", (whole, start, *end):
            return nodes.Slice(kind(whole).value, tree(whole), tree(start), *(tree(each) for each in end))
        case name, arguments:
            return nodes.Call(name, tuple(tree(argument) for argument in arguments))


def _member(stated: list[ast.Expression]) -> str:
    """The member of a list's elements that a function uses; empty for the elements themselves."""
    return next((str(each.value) for each in stated if isinstance(each, ast.Literal)), "")


def _constant(literal: ast.Literal) -> nodes.Tree:
    """The node of a constant."""
    match literal.value:
        case bytes() as data:
            return nodes.BytesConstant(data)
        case str() as text:
            return nodes.TextConstant(text)
        case None:
            return nodes.NullConstant()
        case value:
            return value

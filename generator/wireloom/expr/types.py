"""The kind of an expression's value, and the check that its operands fit together.

`Kind.ANY` (the value of a union) fits everywhere, an integer is accepted for a float, and null can be compared with
anything. All other kinds must agree: a comparison that can never be true is an error of the spec.
"""

from typing import assert_never

from wireloom.expr import ast
from wireloom.expr.ast import Binary, Call, Conditional, Expression, FieldRef, Kind, Literal, Membership, Name, Unary
from wireloom.expr.functions import FUNCTIONS, Function


class KindError(Exception):
    """Operands of an expression do not fit together."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message, self.hint = message, hint


SIZE_OF_RECORDS = (
    "put marks before and after it, for the size `after - before`; or write the size before it: `size: uint16`"
)
_LOOSE = (Kind.ANY, Kind.NULL)
_NUMBERS = (Kind.INTEGER, Kind.FLOAT)
_KINDS = {type(None): Kind.NULL, bool: Kind.BOOLEAN, int: Kind.INTEGER, str: Kind.TEXT, bytes: Kind.BYTES}


def kind(expression: Expression) -> Kind:
    """The kind of a resolved expression's value; raises KindError if its operands do not fit together."""
    match expression:
        case Literal(value):
            return literal_kind(value)
        case FieldRef(kind=known) | ast.ParameterRef(kind=known):
            return known
        case ast.MarkRef() | ast.Position():
            return Kind.INTEGER
        case Unary("not", operand):
            _require(operand, Kind.BOOLEAN, "not")
            return Kind.BOOLEAN
        case Unary("-", operand):
            return _number_kind("-", operand)
        case Unary(operator, operand):
            _require(operand, Kind.INTEGER, operator)
            return Kind.INTEGER
        case Binary():
            return _binary_kind(expression)
        case Membership(operand, options):
            found = kind(operand)
            for option in options:
                _require_same(found, literal_kind(option), "in")
            return Kind.BOOLEAN
        case Conditional(condition, then, otherwise):
            _require(condition, Kind.BOOLEAN, "?")
            return _joined(kind(then), kind(otherwise))
        case Call(function, arguments):
            return _call_kind(function, FUNCTIONS[function], arguments)
        case Name():
            return Kind.ANY
        case _:
            assert_never(expression)


def literal_kind(value: object) -> Kind:
    """The kind of a literal."""
    return _KINDS.get(type(value), Kind.ANY)


def fits(found: Kind, wanted: Kind) -> bool:
    """Whether a value of kind `found` is accepted where `wanted` is needed."""
    widened = found is Kind.INTEGER and wanted is Kind.FLOAT
    return found is wanted or wanted is Kind.ANY or found in _LOOSE or widened


def _binary_kind(expression: Binary) -> Kind:
    left, right = expression.left, expression.right
    match expression.operator:
        case "and" | "or" as operator:
            _require(left, Kind.BOOLEAN, operator)
            _require(right, Kind.BOOLEAN, operator)
            return Kind.BOOLEAN
        case "==" | "!=" as operator:
            _require_same(kind(left), kind(right), operator)
            return Kind.BOOLEAN
        case "<" | "<=" | ">" | ">=" as operator:
            for found in (kind(left), kind(right)):
                if found not in (*_NUMBERS, Kind.ANY):
                    raise KindError(f"{operator} compares numbers, not {a_kind(found)}")
            return Kind.BOOLEAN
        case "+" | "-" | "*" as operator:
            return _number_kind(operator, left, right)
        case operator:
            _require(left, Kind.INTEGER, operator)
            _require(right, Kind.INTEGER, operator)
            return Kind.INTEGER


def _number_kind(operator: str, *operands: Expression) -> Kind:
    """The kind of an arithmetic result: a float if any operand is one."""
    found = [_require(operand, Kind.FLOAT, operator) for operand in operands]
    return Kind.FLOAT if Kind.FLOAT in found else Kind.INTEGER


def _call_kind(name: str, function: Function, arguments: tuple[Expression, ...]) -> Kind:
    parameters = function.parameters
    least = len(parameters) - function.optional
    if len(arguments) < least or (len(arguments) > len(parameters) and not function.variadic):
        raise KindError(f"{name} takes {least} arguments, not {len(arguments)}", function.doc)
    wanted = (*parameters, *(parameters[-1] for _ in arguments[len(parameters) :]))[: len(arguments)]
    found = [kind(argument) for argument in arguments]
    for place, (argument, known, kinds) in enumerate(zip(arguments, found, wanted, strict=True)):
        if place in function.literals and not isinstance(argument, Literal):
            raise KindError(f"argument {place + 1} of {name} must be a literal", function.doc)
        if isinstance(argument, Literal) and place in function.literals and not _is_known(function, argument.value):
            words = " or ".join(f"'{word}'" for word in function.words)
            raise KindError(f"argument {place + 1} of {name} is {words}", function.doc)
        if not any(fits(known, each) for each in kinds):
            wanted_kinds = " or ".join(a_kind(each) for each in kinds)
            raise KindError(f"{name} takes {wanted_kinds}, not {a_kind(known)}", _other_function(name, known))
    if function.alike:
        return _alike_kind(name, found)
    return Kind.FLOAT if function.result is Kind.INTEGER and Kind.FLOAT in found else function.result


def _is_known(function: Function, value: object) -> bool:
    """Whether the function accepts this literal argument."""
    return not function.words or value in function.words


def _alike_kind(name: str, arguments: list[Kind]) -> Kind:
    """Text or bytes, whichever the arguments are; ANY if they may be either."""
    operands = (
        arguments[1:2] if name == "join" else arguments
    )  # `join`: the first is the list, the last the member's name
    found = {*operands} & {Kind.TEXT, Kind.BYTES, Kind.ANY}
    if {Kind.TEXT, Kind.BYTES} <= found:
        raise KindError(f"{name} takes texts or bytes, not both")
    return found.pop() if len(found) == 1 else Kind.ANY


def _other_function(name: str, found: Kind) -> str:
    """A hint for a wrong argument: the function that accepts its kind, or how to measure a record."""
    if name == "len" and found is Kind.RECORD:
        return SIZE_OF_RECORDS
    other = {"len": "count", "count": "len"}.get(name, "")
    fits_other = any(found in kinds for kinds in FUNCTIONS[other].parameters) if other else False
    return f"use `{other}`" if fits_other else ""


def _require(expression: Expression, wanted: Kind, operator: str) -> Kind:
    """The kind of an operand; raises KindError if it is not the wanted one."""
    found = kind(expression)
    if not fits(found, wanted):
        needed = "a number" if wanted is Kind.FLOAT else a_kind(wanted)
        raise KindError(f"{operator} needs {needed}, not {a_kind(found)}", _hint(found, wanted, operator))
    return found


def _require_same(left: Kind, right: Kind, operator: str) -> None:
    if not fits(left, right) and not fits(right, left):
        raise KindError(f"{operator} compares {a_kind(left)} with {a_kind(right)}, which are never equal")


def _joined(left: Kind, right: Kind) -> Kind:
    if left is right or right is Kind.NULL:
        return left
    if left is Kind.NULL:
        return right
    if Kind.ANY in (left, right):
        return Kind.ANY
    if left in _NUMBERS and right in _NUMBERS:
        return Kind.FLOAT
    raise KindError(f"? : gives {a_kind(left)} or {a_kind(right)}", "both sides must have the same type")


def _hint(found: Kind, wanted: Kind, operator: str) -> str:
    if operator == "+" and found in (Kind.TEXT, Kind.BYTES):
        return "write concat(x, y) to join them"
    if wanted is Kind.BOOLEAN and found is Kind.INTEGER:
        return "compare it: != 0"
    return "use present(...) to ask if there is a value" if wanted is Kind.BOOLEAN else ""


def a_kind(kind: Kind) -> str:
    """The kind with its article."""
    match kind:
        case Kind.INTEGER:
            return "an integer"
        case Kind.ANY:
            return "any value"
        case Kind.NULL | Kind.BYTES:
            return str(kind.value)
        case _:
            return f"a {kind.value}"


def makes_text(expression: Expression) -> bool:
    """Whether an expression copies text or bytes of the record: a field, a part of one, or several joined."""
    match expression:
        case Call("slice" | "concat" | "join"):
            return True
        case FieldRef(kind=found):
            return found in (Kind.TEXT, Kind.BYTES, Kind.ANY)
        case Conditional(_, then, otherwise):
            return makes_text(then) or makes_text(otherwise)
        case _:
            return False


def may_be_fraction(expression: Expression) -> bool:
    """Whether arithmetic in the expression may have a float as an operand."""
    match expression:
        case Literal():
            return False
        case Conditional(_, then, otherwise):
            return may_be_fraction(then) or may_be_fraction(otherwise)
        case Binary("+" | "-" | "*", left, right):
            return may_be_fraction(left) or may_be_fraction(right)
        case Unary("-", operand):
            return may_be_fraction(operand)
        case Call("min" | "max", arguments):
            return any(may_be_fraction(argument) for argument in arguments)
        case _:
            return kind(expression) in (Kind.FLOAT, Kind.ANY)

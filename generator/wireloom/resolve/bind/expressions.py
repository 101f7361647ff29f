"""Parse the texts of expressions, resolve their names and check their kinds."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import assert_never

from wireloom.expr import ast
from wireloom.expr.ast import (
    Binary,
    Call,
    Expression,
    FieldRef,
    Kind,
    Literal,
    MarkRef,
    Membership,
    Name,
    Unary,
    fields_in,
    parts,
)
from wireloom.expr.parse import ExpressionError, parse, parse_range
from wireloom.expr.text import text_of
from wireloom.expr.types import KindError, fits, kind
from wireloom.problems import nearest
from wireloom.resolve.bind.scopes import USES, MeaningError, Scope, word_named
from wireloom.resolve.bind.wording import any_of
from wireloom.spec.documents import Place

Constant = int | bool | str | bytes | None
BROKEN = Literal(None)  # in place of an expression with a reported problem
_NAMELESS = FieldRef(0, "")  # in place of a name with a reported problem; fits any kind


def expression(scope: Scope, place: Place, written: object, wanted: Kind, column: int = 0) -> Expression:
    """Resolve the expression at `place`, which must have the kind `wanted`; report problems to the scope's draft."""
    if isinstance(written, bool | int):
        return _checked(scope, place, Literal(written), wanted, column)
    text = str(written)
    if scope.is_misnamed(text):
        scope.draft.marks(place)
        return BROKEN
    try:
        parsed = parse(text)
    except ExpressionError as error:
        scope.draft.reports(place, "expression-syntax", error.message, error.hint, column=column + error.column)
        return BROKEN
    return _checked(scope, place, _resolved(scope, place, parsed, column), wanted, column)


def expression_if_any(scope: Scope, place: Place, written: object, wanted: Kind = Kind.BOOLEAN) -> Expression | None:
    """Resolve an expression that a key may omit; None if it does."""
    return None if written is None else expression(scope, place, written, wanted)


def byte_range(scope: Scope, place: Place, text: str) -> tuple[Expression, Expression]:
    """Resolve the two ends of a range of bytes."""
    if scope.is_misnamed(text):
        scope.draft.marks(place)
        return BROKEN, BROKEN
    try:
        start, end = parse_range(text)
    except ExpressionError as error:
        hint = error.hint or "a range is START .. END"
        scope.draft.reports(place, "expression-syntax", error.message, hint, column=error.column)
        return BROKEN, BROKEN
    return (
        _checked(scope, place, _resolved(scope, place, start, 0), Kind.INTEGER, 0),
        _checked(scope, place, _resolved(scope, place, end, 0), Kind.INTEGER, 0),
    )


def first_field(expression: Expression) -> str:
    """The first field of the struct itself that an expression refers to; empty if there is none."""
    match expression:
        case FieldRef(up=0, name=name):
            return name
        case _:
            return next((name for part in parts(expression) if (name := first_field(part))), "")


def _checked(scope: Scope, place: Place, resolved: Expression, wanted: Kind, column: int) -> Expression:
    try:
        found = kind(resolved)
    except KindError as error:
        if _is_broken(resolved):
            return BROKEN  # reported at the name
        mapped = next(filter(scope.values, fields_in(resolved)), None)
        if mapped is not None and not scope.draft.problems.is_first(f"{scope.type}.{mapped.name}"):
            scope.draft.marks(place)  # the same mistake was reported before
            return BROKEN
        hint = error.hint or _known_as_bytes(scope, resolved) or _known_by_values(scope, mapped)
        scope.draft.reports(place, "expression-type", error.message, hint, column=column)
        return BROKEN
    if not fits(found, wanted):
        message = f"the expression gives {found.value}, but must give {wanted.value}"
        hint = _boolean_of(resolved) if wanted is Kind.BOOLEAN else _CONVERSIONS.get((found, wanted), "")
        if (found, wanted) == (Kind.BYTES, Kind.TEXT):
            hint = _known_as_bytes(scope, resolved)
        scope.draft.reports(place, "expression-type", message, hint, column=column)
        return BROKEN
    _check_constants(scope, place, resolved)
    return BROKEN if _is_broken(resolved) else resolved


_FROM_FLOAT = (
    "no expression turns a float into an integer yet; give a computed field the type float64, or for a time give the "
    "float itself `logical: {timestamp: s}`"
)
_FROM_NUMBER = "no expression turns a number into a text; choose one, as in `x == 1 ? 'one' : 'other'`"
_CONVERSIONS: Mapping[tuple[Kind, Kind], str] = MappingProxyType(
    {
        (Kind.FLOAT, Kind.INTEGER): _FROM_FLOAT,
        (Kind.TEXT, Kind.INTEGER): "for the number that digits say, write `decimal(x, 64)`; for the size, `len(x)`",
        (Kind.BYTES, Kind.INTEGER): "for the number that the bytes are, write `int(x, 'big')`; for the size, `len(x)`",
        (Kind.BOOLEAN, Kind.INTEGER): "write `x ? 1 : 0`",
        (Kind.LIST, Kind.INTEGER): "for the number of elements, write `count(x)`",
        (Kind.RECORD, Kind.INTEGER): "name a member of it: `x.MEMBER`",
        (Kind.INTEGER, Kind.TEXT): _FROM_NUMBER,
        (Kind.FLOAT, Kind.TEXT): _FROM_NUMBER,
    }
)


def _boolean_of(expression: Expression) -> str:
    """A hint for an expression that must be a boolean."""
    match expression:
        case Literal(0 | 1 as number):
            return f"write {'true' if number else 'false'}"
        case _:
            return "compare it, as in `x != 0` or `present(x)`"


def _known_as_bytes(scope: Scope, expression: Expression) -> str:
    """A hint for a text in a character set that is used as a text: expressions see it as bytes."""
    for each in fields_in(expression):
        if charset := scope.charset(each):
            return f"{each.name} is in {charset}, so expressions see it as bytes"
    return ""


def _known_by_values(scope: Scope, mapped: FieldRef | None) -> str:
    """A hint for a field whose number was used although expressions see the meanings in its `values`."""
    if mapped is None:
        return ""
    values = [text_of(Literal(value)) for value in scope.values(mapped) or () if not isinstance(value, float)]
    return f"by its `values`, {text_of(mapped)} is {any_of(values)}"


def _is_broken(expression: Expression) -> bool:
    return expression == _NAMELESS or any(_is_broken(part) for part in parts(expression))


def _resolved(scope: Scope, place: Place, parsed: Expression, column: int) -> Expression:
    def inner(part: Expression) -> Expression:
        return _resolved(scope, place, part, column)

    match parsed:
        case Name():
            try:
                return scope.meaning(parsed)
            except MeaningError as error:
                _report_name(scope, place, error, column + parsed.column)
                return _NAMELESS
        case Literal() | FieldRef() | MarkRef() | ast.ParameterRef() | ast.Position():
            return parsed
        case Unary(operator, operand):
            return Unary(operator, inner(operand))
        case Binary("==" | "!=" as operator, left, right):
            return _compared(scope, place, operator, inner(left), inner(right))
        case Binary(operator, left, right):
            return Binary(operator, inner(left), inner(right))
        case Membership(operand, options):
            found = inner(operand)
            return Membership(found, _on_wire(scope, place, found, options), parsed.notation)
        case ast.Conditional(condition, then, otherwise):
            return ast.Conditional(inner(condition), inner(then), inner(otherwise))
        case Call("sum" | "join"):
            return _over_list(scope, place, parsed, column)
        case Call("concat", arguments):
            return _concatenated(scope, place, tuple(inner(argument) for argument in arguments), column)
        case Call("count", (argument,)):
            return _counted(scope, place, inner(argument), column)
        case Call(function, arguments):
            return Call(function, tuple(inner(argument) for argument in arguments))
        case _:
            assert_never(parsed)


def _report_name(scope: Scope, place: Place, error: MeaningError, column: int) -> None:
    """Report a name without a meaning, unless its type was already reported."""
    if error.id and scope.draft.problems.is_first(error.of):
        scope.draft.reports(place, error.id, error.message, error.hint, column=column)


def _over_list(scope: Scope, place: Place, call: Call, column: int) -> Expression:
    """Resolve `sum` or `join` over a list, or over a member of the list's elements."""
    match call:
        case Call("sum", (Name() as name,)) | Call("join", (Name() as name, Literal(str()))):
            try:
                return scope.over_list(call, name)
            except MeaningError as error:
                _report_name(scope, place, error, column + name.column)
        case Call(function):
            between = " and a literal to put between its elements" if function == "join" else ""
            message = f"{function} takes the name of a list{between}"
            scope.draft.reports(place, "expression-type", message, USES[function], column=column)
    return _NAMELESS


def _counted(scope: Scope, place: Place, argument: Expression, column: int) -> Expression:
    """Resolve `count`; reject an argument that may be a record, whose number of members depends on the reader."""
    possible = (argument.then, argument.otherwise) if isinstance(argument, ast.Conditional) else (argument,)
    for each in possible:
        if isinstance(each, FieldRef) and each.kind is Kind.ANY and scope.may_be_record(each):
            message = f"count takes a list, but {'.'.join((each.name, *each.members))} may be a record"
            hint = "give the list a field with its own name, and count that"
            scope.draft.reports(place, "expression-type", message, hint, column=column)
            return _NAMELESS
    return Call("count", (argument,))


def _concatenated(scope: Scope, place: Place, arguments: tuple[Expression, ...], column: int) -> Expression:
    """Resolve `concat`; beside bytes, text literals are converted to bytes."""
    others = [argument for argument in arguments if not isinstance(argument, Literal)]
    octets = next((each for each in others if _kind(each) is Kind.BYTES), None)
    try:
        return Call("concat", tuple(_as_operand(scope, octets, argument) for argument in arguments))
    except MeaningError as error:
        _report_name(scope, place, error, column)
        return _NAMELESS


def _as_operand(scope: Scope, octets: Expression | None, argument: Expression) -> Expression:
    """Convert a text literal beside bytes to bytes; any other argument unchanged."""
    match argument:
        case Literal(str(text)) if octets is not None:
            return Literal(scope.octets(octets, text))
        case _:
            return argument


def _kind(expression: Expression) -> Kind:
    """The kind of a subexpression; ANY if its operands do not fit, which is reported for the whole expression."""
    try:
        return kind(expression)
    except KindError:
        return Kind.ANY


def _on_wire(scope: Scope, place: Place, operand: Expression, options: tuple[Constant, ...]) -> tuple[Constant, ...]:
    """Convert options to wire values: numbers for their names, bytes for the texts that denote them."""
    names = scope.known(operand).names
    octets = _kind(operand) is Kind.BYTES
    found: list[Constant] = []
    for option in options:
        if not isinstance(option, str) or not (octets or names):
            found.append(option)
            continue
        if _is_misnamed(scope, place, operand, option):
            return ()
        named: list[Constant] = [number for number, name in names if name == option]
        if octets:
            try:
                named = [scope.octets(operand, option)]
            except MeaningError as error:
                scope.draft.reports(place, error.id, error.message, error.hint)
                return ()
        if not named:
            called = getattr(operand, "name", "it")
            hint = nearest(option, [name for _, name in names])
            scope.draft.reports(place, "impossible-value", f"no {called} has the name '{option}'", hint)
            return ()
        found += named
    return tuple(found)


def _is_misnamed(scope: Scope, place: Place, operand: Expression, text: str) -> bool:
    """Report a text that is only the readers' name of a wire value."""
    hint = word_named(text, scope.known(operand).words)
    if hint:
        message = f"'{text}' is the name that readers see for {getattr(operand, 'name', 'it')}"
        scope.draft.reports(place, "impossible-value", message, hint)
    return bool(hint)


def _compared(scope: Scope, place: Place, operator: str, left: Expression, right: Expression) -> Expression:
    """Resolve a comparison; names of numbers and texts beside bytes become wire values."""
    operand, option = (right, left) if isinstance(left, Literal) else (left, right)
    if not isinstance(option, Literal) or not (scope.known(operand).names or _kind(operand) is Kind.BYTES):
        return Binary(operator, left, right)
    options = _on_wire(scope, place, operand, (option.value,))
    if not options:
        return BROKEN
    if len(options) == 1:
        return Binary(operator, operand, Literal(options[0]))
    among = Membership(operand, options)
    return among if operator == "==" else Unary("not", among)


def _check_constants(scope: Scope, place: Place, resolved: Expression) -> None:
    """Report comparisons with texts that the operand never equals, and unknown names of ranges."""
    match resolved:
        case Binary("==" | "!=", left, Literal(str(text))):
            _check_texts(scope, place, left, [text])
        case Binary("==" | "!=", Literal(str(text)), right):
            _check_texts(scope, place, right, [text])
        case Membership(operand, options):
            _check_texts(scope, place, operand, [option for option in options if isinstance(option, str)])
        case Call("rangeName", (_, Literal(str(name)))) if name not in scope.draft.content.ranges:
            known = nearest(name, scope.draft.content.ranges)
            message, hint = f"there are no ranges {name}", known or "declare them in `ranges`"
            scope.draft.reports(place, "unknown-ranges", message, hint)
        case _:
            pass
    for part in parts(resolved):
        _check_constants(scope, place, part)


def _check_texts(scope: Scope, place: Place, operand: Expression, options: Sequence[str]) -> None:
    values = scope.values(operand)
    wrong = [text for text in options if not _is_misnamed(scope, place, operand, text)]
    wrong = [text for text in wrong if values is not None and text not in values]
    if wrong and values is not None:
        texts = [value for value in values if isinstance(value, str)]
        named = text_of(operand) if isinstance(operand, FieldRef | ast.ParameterRef) else "it"
        message = f"{named} is never {any_of([text_of(Literal(text)) for text in wrong])}"
        scope.draft.reports(place, "impossible-value", message, nearest(wrong[0], texts))

"""Expressions of specs in Kaitai's language.

In Kaitai, a missing field has no value, and using it is an error. So a comparison with an optional field is guarded by
the condition of the field: if the field is missing, the comparison is false, or true for `!=`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol, assert_never

from wireloom.expr.ast import (
    Binary,
    Call,
    Conditional,
    Expression,
    FieldRef,
    Kind,
    Literal,
    MarkRef,
    Membership,
    Name,
    ParameterRef,
    Position,
    Unary,
)
from wireloom.model.format import Ranges

_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
EMPTY = {Kind.INTEGER: "0", Kind.BOOLEAN: "false", Kind.TEXT: '""', Kind.FLOAT: "0.0"}


class UnsayableError(Exception):
    """Kaitai cannot express a part of a spec, which the message names."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A field as an expression uses it: its text in Kaitai, and the `guard`, the condition under which it is present.

    `charset` is set if bytes of the spec are a text in Kaitai. For a field with words, `words` gives the values in
    Kaitai that each word stands for, and `spelled` the word itself. If it `may_lack` a word, readers see null then.
    """

    text: str
    guard: str = ""
    charset: str = ""
    words: Mapping[str, tuple[str, ...]] | None = None
    spelled: Callable[[], str] | None = None
    may_lack: bool = False

    def guarded(self, text: str, otherwise: str) -> str:
        """The text if the field is present, `otherwise` if it is missing."""
        return f"({self.guard} ? {text} : {otherwise})" if self.guard else text


class Scope(Protocol):
    """The struct or element that contains an expression: it translates names."""

    ranges: tuple[Ranges, ...]

    def field(self, reference: FieldRef) -> Seen:
        """A field."""

    def mark(self, name: str) -> str:
        """The offset of a mark, from the struct's start."""

    def position(self, fact: str) -> str:
        """A fact of the position."""

    def length(self, reference: FieldRef) -> str:
        """The bytes of a field."""


def translated(expression: Expression, scope: Scope) -> str:
    """The expression in Kaitai's language, in brackets if it is compound; raises UnsayableError."""
    match expression:
        case Literal(value):
            return literal(value)
        case FieldRef(kind=kind):
            return _value(scope.field(expression), kind)
        case MarkRef(name):
            return scope.mark(name)
        case Position(fact):
            return scope.position(fact)
        case Unary("not", operand):
            return f"(not {translated(operand, scope)})"
        case Unary(operator, operand):
            return f"({operator}{translated(operand, scope)})"
        case Binary(operator, left, right) if operator in _COMPARISONS:
            return _comparison(operator, left, right, scope)
        case Binary("//", left, right):
            return f"({translated(left, scope)} / {translated(right, scope)})"
        case Binary(operator, left, right):
            return f"({translated(left, scope)} {operator} {translated(right, scope)})"
        case Membership(operand, options):
            either = (_comparison("==", operand, Literal(each), scope) for each in options)
            return f"({' or '.join(either)})"
        case Conditional(condition, then, otherwise):
            return f"({translated(condition, scope)} ? {translated(then, scope)} : {translated(otherwise, scope)})"
        case Call(function, arguments):
            return _call(function, arguments, scope)
        case ParameterRef(name):
            raise UnsayableError(f"the parameter {name}")
        case Name(parts):
            raise UnsayableError(f"the name {'.'.join(parts)}")
        case _:
            assert_never(expression)


def bare(text: str) -> str:
    """The text of a whole expression, without brackets around all of it."""
    if not (text.startswith("(") and text.endswith(")")):
        return text
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0 and place < len(text) - 1:
            return text
    return text[1:-1] if '"' not in text else text


def literal(value: object) -> str:
    """A constant in Kaitai's language."""
    match value:
        case bool():
            return "true" if value else "false"
        case int() if -(1 << 63) <= value < 1 << 63:
            return str(value)
        case int():
            raise UnsayableError(f"the number {value}, which has more than 63 bits")
        case str():
            return quoted(value)
        case bytes():
            return f"[{', '.join(map(str, value))}]"
        case _:
            raise UnsayableError("a comparison with null")


def quoted(text: str) -> str:
    r"""A text as a literal, with unprintable characters as \u escapes."""
    return '"' + "".join(_letter(each) for each in text) + '"'


def _letter(letter: str) -> str:
    if letter in '"\\':
        return f"\\{letter}"
    if letter.isprintable() and ord(letter) < 0x10000:
        return letter
    if ord(letter) >= 0x10000:
        raise UnsayableError("a character beyond U+FFFF in a constant")
    return f"\\u{ord(letter):04x}"


def _plain(seen: Seen) -> str:
    return seen.text if seen.spelled is None else seen.spelled()


def _value(seen: Seen, kind: Kind) -> str:
    text = _plain(seen)
    if seen.charset and kind is Kind.BYTES:
        raise UnsayableError("bytes that are a text in Kaitai")
    if not seen.guard:
        return text
    if kind is Kind.BOOLEAN:
        return f"({seen.guard} and {text})"
    if kind not in EMPTY:
        raise UnsayableError("the bytes of a field that may be missing")
    return seen.guarded(text, EMPTY[kind])


def _comparison(operator: str, left: Expression, right: Expression, scope: Scope) -> str:
    if isinstance(left, Literal) and not isinstance(right, Literal):
        turned = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
        return _comparison(turned.get(operator, operator), right, left, scope)
    if isinstance(right, Literal) and right.value is None:
        present = _present(left, scope)
        return present if operator == "!=" else f"(not {present})"
    if not isinstance(left, FieldRef):
        return f"({translated(left, scope)} {operator} {translated(right, scope)})"
    seen = scope.field(left)
    if seen.words is not None and isinstance(right, Literal) and isinstance(right.value, str):
        equal = " or ".join(f"{seen.text} == {each}" for each in seen.words.get(right.value, ())) or "false"
        text = f"({equal})" if operator == "==" else f"(not ({equal}))"
    else:
        text = f"({_plain(seen)} {operator} {translated(_as_text(right, seen.charset), scope)})"
    other = scope.field(right).guard if isinstance(right, FieldRef) else ""
    if seen.guard and other and operator in ("==", "!="):
        both = f"({seen.guard} and {other} and {text})"
        neither = f"((not {seen.guard}) and (not {other}))"
        return f"({both} or {neither})" if operator == "==" else f"(not {_comparison('==', left, right, scope)})"
    if not seen.guard:
        return text
    return f"((not {seen.guard}) or {text})" if operator == "!=" else f"({seen.guard} and {text})"


def strict(expression: Expression, scope: Scope) -> list[str]:
    """The conditions under which a computed value exists: those of the optional fields that it uses."""
    match expression:
        case FieldRef():
            return [guard] if (guard := scope.field(expression).guard) else []
        case Unary(_, operand):
            return strict(operand, scope)
        case Binary("and" | "or" | "==" | "!="):
            return []
        case Binary(_, left, right):
            return list(dict.fromkeys((*strict(left, scope), *strict(right, scope))))
        case _:
            return []


def _as_text(constant: Expression, charset: str) -> Expression:
    if not charset:
        return constant
    if not isinstance(constant, Literal):
        raise UnsayableError("bytes that are a text in Kaitai")
    return in_charset(constant.value, charset)


def in_charset(constant: object, charset: str) -> Literal:
    """Constant bytes, decoded with a character set."""
    if not isinstance(constant, bytes):
        raise UnsayableError("bytes that are a text in Kaitai")
    try:
        return Literal(constant.decode(charset))
    except (UnicodeDecodeError, LookupError) as error:
        raise UnsayableError(f"constant bytes in {charset}") from error


def _present(expression: Expression, scope: Scope) -> str:
    if not isinstance(expression, FieldRef):
        return "true"
    seen = scope.field(expression)
    known = [f"{seen.text} == {each}" for values in (seen.words or {}).values() for each in values]
    if not seen.may_lack:
        return seen.guard or "true"
    return f"({seen.guard} and ({' or '.join(known)}))" if seen.guard else f"({' or '.join(known)})"


def _call(function: str, arguments: tuple[Expression, ...], scope: Scope) -> str:
    match function, arguments:
        case "present", (argument,):
            return _present(argument, scope)
        case "len", (FieldRef() as reference,):
            return scope.length(reference)
        case "count", (FieldRef() as reference,):
            seen = scope.field(reference)
            return seen.guarded(f"{seen.text}.size", "0")
        case "min" | "max", (first, *others):
            return _extreme(
                "<" if function == "min" else ">",
                translated(first, scope),
                [translated(each, scope) for each in others],
            )
        case "rangeName", (number, Literal(str(name))):
            return _range_name(translated(number, scope), next(each for each in scope.ranges if each.name == name))
        case "slice", (FieldRef(kind=Kind.TEXT) as text, Literal(int(start)), Literal(int(end))) if 0 <= start <= end:
            return f"{translated(text, scope)}.substring({start}, {end})"
        case "concat", texts if all(not isinstance(each, FieldRef) or each.kind is Kind.TEXT for each in texts):
            return f"({' + '.join(translated(each, scope) for each in texts)})"
        case _:
            raise UnsayableError(f"{function}()")


def _extreme(operator: str, first: str, others: list[str]) -> str:
    for other in others:
        first = f"({first} {operator} {other} ? {first} : {other})"
    return first


def _range_name(number: str, ranges: Ranges) -> str:
    text = '""'
    for each in reversed(ranges.ranges):
        least = [] if each.minimum is None else [f"{number} >= {each.minimum}"]
        most = [] if each.maximum is None else [f"{number} <= {each.maximum}"]
        text = f"({' and '.join([*least, *most]) or 'true'} ? {quoted(each.name)} : {text})"
    return text

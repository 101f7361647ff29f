"""Parse the text of an expression, by operator precedence. Names become `Name` nodes, which `resolve` replaces.

    expression  = either [ "?" expression ":" expression ]
    either      = both { "or" both }
    both        = negation { "and" negation }
    negation    = "not" negation | comparison
    comparison  = sum [ ( "==" | "!=" | "<" | "<=" | ">" | ">=" ) sum | [ "not" ] "in" "[" literal { "," literal } "]" ]
    sum .. atom = binary operators, binding from loosest to tightest:  |   ^   &   << >>   + -   * // %
    factor      = ( "-" | "~" ) factor | atom
    atom        = integer | 'text' | "true" | "false" | "null" | function "(" [ expression { "," expression } ] ")"
                | name { "." name } | "(" expression ")"

Unlike in C, `a & 3 == 3` means `(a & 3) == 3`: comparisons bind looser than every operator on numbers. Comparisons do
not chain. This grammar has no ranges: `parse_range` reads `over: 5 .. headerEnd` as two expressions around `..`.
"""

import re
from dataclasses import dataclass

from wireloom.expr.ast import Binary, Call, Conditional, Expression, Literal, Membership, Name, Unary, parts
from wireloom.expr.functions import FUNCTIONS
from wireloom.numbers import integer, notation_of, respelled
from wireloom.problems import nearest

COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
LEVELS = (("or",), ("and",), COMPARISONS, ("|",), ("^",), ("&",), ("<<", ">>"), ("+", "-"), ("*", "//", "%"))
"""The binary operators, from those that bind loosest to the tightest."""
NEGATION = 4
BINDING = {operator: place + 2 + (place > 1) for place, level in enumerate(LEVELS) for operator in level}
"""The precedence of each operator, as in Python; a conditional has 1, and `not` is between `and` and comparisons."""
_DEPTH = 24  # nesting of parentheses and conditionals
_LENGTH = 400  # tokens
_HEIGHT = 64  # nesting of operators
_BITS = 128  # of an integer
_DIGITS = 64  # digits of an integer, leading zeros included

_TOKEN = re.compile(
    r"""\s*(?:
      (?P<integer>0[xX][0-9a-fA-F]+|[0-9]+)
    | (?P<text>'[^']*')
    | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
    | (?P<symbol>\.\.|//|<<|>>|<=|>=|==|!=|[-+*%~&|^<>?:().,\[\]])
    )""",
    re.VERBOSE,
)


_FRACTION = re.compile(r"\s*((?:[0-9]+\.[0-9]+|[0-9]+(?=[eE])|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)(?![.\w])")
_COMPARISON = re.compile(r"[<>]|[=!]=|\bin\b")
_COMPARED = "scale the other side: `x * 10 > 5` in place of `x > 0.5`"
_SCALED = "for a column with fractions, give an integer field `scale: {}`"


class ExpressionError(Exception):
    """The text is not a valid expression; `column` counts its characters from 0."""

    def __init__(self, message: str, column: int, hint: str = "") -> None:
        super().__init__(message)
        self.message, self.column, self.hint = message, column, hint


@dataclass(frozen=True, slots=True)
class Token:
    """A token: its kind (integer, text, name, symbol or end), its text and its column."""

    kind: str
    text: str
    column: int


def parse(text: str) -> Expression:
    """Parse an expression; raises ExpressionError."""
    parser = _Parser(tokens(text))
    expression = parser.expression()
    parser.expect_end()
    return _shallow(expression)


def parse_range(text: str) -> tuple[Expression, Expression]:
    """Parse the two ends of `START .. END`; raises ExpressionError."""
    parser = _Parser(tokens(text))
    start = parser.expression()
    parser.expect("..")
    end = parser.expression()
    parser.expect_end()
    return _shallow(start), _shallow(end)


def _shallow(expression: Expression) -> Expression:
    """Return the expression; raises ExpressionError if operators are nested too deep, as in a sum of hundreds."""
    level = [expression]
    for _ in range(_HEIGHT):
        level = [part for each in level for part in parts(each)]
        if not level:
            return expression
    raise ExpressionError("too deeply nested", 0, "compute parts of it in hidden fields")


def tokens(text: str) -> tuple[Token, ...]:
    """Split a text into tokens, with an `end` token last; raises ExpressionError."""
    found: list[Token] = []
    position = 0
    while text[position:].strip():
        fraction = _FRACTION.match(text, position)
        member = bool(found) and found[-1].kind == "name" and text[position:].startswith(".")
        if fraction is not None and not member:
            hint = _COMPARED if _COMPARISON.search(text) else _SCALED.format(fraction[1])
            raise ExpressionError(
                f"{fraction[1]} is a fraction, but expressions have only integers", fraction.start(1), hint
            )
        foreign = _FOREIGN.match(text, position)
        if foreign is not None:
            message = f"{foreign[1]} is not allowed in an expression"
            raise ExpressionError(message, foreign.start(1), _MEANT.get(foreign[1], ""))
        match = _TOKEN.match(text, position)
        if match is None:
            raise _stray(text, len(text) - len(text[position:].lstrip()))
        kind = str(match.lastgroup)
        found.append(Token(kind, match[kind], match.start(kind)))
        position = match.end()
    if len(found) > _LENGTH:
        raise ExpressionError("too long", found[_LENGTH].column, "compute parts of it in hidden fields")
    return (*found, Token("end", "", len(text)))


_FOREIGN = re.compile(r"\s*(&&|\|\||\*\*|=>|=<|<>|===|!==|\+\+)")
_MEANT = {
    "&&": "write `and`",
    "||": "write `or`",
    "=>": "write `>=`",
    "=<": "write `<=`",
    "<>": "write `!=`",
    "===": "write `==`",
    "!==": "write `!=`",
}


def _stray(text: str, column: int) -> ExpressionError:
    hints = {
        "'": "close the text with '",
        '"': "put texts into single quotes",
        "=": "write == to compare",
        "!": "write `not` for a negation",
        "/": "write // for a division of integers, % for its remainder",
    }
    return ExpressionError(f"{text[column]} is not allowed in an expression", column, hints.get(text[column], ""))


_AFTER_EXPRESSION = {  # what other languages write after an expression
    "is": "write == to compare",
    "eq": "write == to compare",
    "AND": "write `and`",
    "OR": "write `or`",
    "if": "write a choice as `condition ? value : value`",
    "[": "an expression cannot use a single element; use `count(list)` or `sum(list.member)`; for a list of bytes in "
    "binary, read it as `bytes` and write `int(slice(x, index, index + 1), 'big')`; for a part of a text, "
    "`slice(x, 0, 2)`",
}


class _Parser:
    """A recursive-descent parser with one method for each rule of the grammar."""

    def __init__(self, words: tuple[Token, ...]) -> None:
        self.words = words
        self.place = 0
        self.depth = 0

    @property
    def word(self) -> Token:
        return self.words[self.place]

    def expression(self) -> Expression:
        self.depth += 1
        if self.depth > _DEPTH:
            raise ExpressionError("too deeply nested", self.word.column, "compute parts of it in hidden fields")
        result = condition = self._operation()
        if self._take("?"):
            then = self.expression()
            self.expect(":")
            result = Conditional(condition, then, self.expression())
        self.depth -= 1
        return result

    def _operation(self, level: int = 0) -> Expression:
        if level == len(LEVELS):
            return self._factor()
        if LEVELS[level] is COMPARISONS:
            return self._negation(level + 1)
        left = self._operation(level + 1)
        while (operator := self.word.text) in LEVELS[level]:
            self.place += 1
            left = Binary(operator, left, self._operation(level + 1))
        return left

    def _negation(self, level: int) -> Expression:
        negations = 0
        while self._take("not"):
            negations += 1
        operand = self._comparison(level)
        for _ in range(negations):
            operand = Unary("not", operand)
        return operand

    def _comparison(self, level: int) -> Expression:
        left = self._operation(level)
        if (operator := self.word.text) in COMPARISONS:
            self.place += 1
            right = self._operation(level)
            if self.word.text in COMPARISONS:
                raise ExpressionError("a comparison of three values", self.word.column, "join two with and")
            return Binary(operator, left, right)
        if self._take("in"):
            return self._membership(left)
        if self.word.text == "not" and self.words[self.place + 1].text == "in":
            self.place += 2
            return Unary("not", self._membership(left))
        return left

    def _membership(self, operand: Expression) -> Membership:
        first = self.place
        options = self._options()
        return Membership(operand, options, notation_of(" ".join(word.text for word in self.words[first : self.place])))

    def _options(self) -> tuple[int | bool | str | None, ...]:
        self.expect("[")
        options = [self._option()]
        while self._take(","):
            options.append(self._option())
        self.expect("]")
        return tuple(options)

    def _option(self) -> int | bool | str | None:
        word = self.word
        match self._factor():
            case Literal(value) if not isinstance(value, bytes):
                return value
            case Unary("-", Literal(int(value))):
                return -value
            case _:
                raise ExpressionError("a list may have only literals", word.column, "compare with == and join with or")

    def _factor(self) -> Expression:
        signs: list[str] = []
        while self.word.text in ("-", "~"):
            signs.append(self.word.text)
            self.place += 1
        operand = self._atom()
        for sign in reversed(signs):
            operand = Unary(sign, operand)
        return operand

    def _atom(self) -> Expression:
        word = self.word
        self.place += 1
        match word.kind:
            case "integer":
                return _integer(word)
            case "text":
                return Literal(word.text[1:-1])
            case "name":
                return self._word(word)
            case "symbol" if word.text == "(":
                inner = self.expression()
                self.expect(")")
                return inner
            case _:
                self.place -= 1
                raise ExpressionError(f"{_shown(word)} in place of a value", word.column)

    def _word(self, word: Token) -> Expression:
        match word.text:
            case "true" | "false":
                return Literal(word.text == "true")
            case "null":
                return Literal(None)
            case "and" | "or" | "not" | "in":
                raise ExpressionError(f"{word.text} in place of a value", word.column)
            case _ if self.word.text == "(":
                return self._call(word)
            case _:
                return self._name(word)

    def _call(self, word: Token) -> Expression:
        if word.text not in FUNCTIONS:
            raise ExpressionError(f"there is no function {word.text}", word.column, nearest(word.text, FUNCTIONS))
        self.expect("(")
        arguments = [] if self.word.text == ")" else [self.expression()]
        while self._take(","):
            arguments.append(self.expression())
        self.expect(")")
        return Call(word.text, tuple(arguments))

    def _name(self, word: Token) -> Expression:
        parts = [word.text]
        while self._take("."):
            if self.word.kind != "name":
                raise ExpressionError(f"{_shown(self.word)} in place of a member's name", self.word.column)
            parts.append(self.word.text)
            self.place += 1
        return Name(tuple(parts), word.column)

    def _take(self, text: str) -> bool:
        if self.word.text != text:
            return False
        self.place += 1
        return True

    def expect(self, text: str) -> None:
        if not self._take(text):
            raise ExpressionError(f"{_shown(self.word)} in place of {text}", self.word.column)

    def expect_end(self) -> None:
        if self.word.kind != "end":
            hint = _AFTER_EXPRESSION.get(self.word.text, "")
            raise ExpressionError(f"{_shown(self.word)} after the end of the expression", self.word.column, hint)


def _integer(word: Token) -> Literal:
    if hint := respelled(word.text):
        raise ExpressionError(f"{word.text} is not an integer", word.column, hint)
    number = integer(word.text) if len(word.text) <= _DIGITS else None
    if number is None or number >= 1 << _BITS:
        raise ExpressionError("an integer beyond 128 bits", word.column, "integers go from -2^127 to 2^128-1")
    return Literal(number, notation_of(word.text))


def _shown(word: Token) -> str:
    return word.text or "the end"

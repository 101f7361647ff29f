"""Parses Kaitai's expressions into trees. The operators are those of Python, and C's `? :`."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import assert_never

_TOKEN = re.compile(
    r"""\s*(?:
      (?P<real>[0-9][0-9_]*(?:\.[0-9]+(?:[eE][-+]?[0-9]+)?|[eE][-+]?[0-9]+))
    | (?P<integer>0[xX][0-9a-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+|[0-9][0-9_]*)
    | (?P<single>'[^']*')
    | (?P<double>f?"(?:[^"\\]|\\.)*")
    | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
    | (?P<symbol>::|<<|>>|<=|>=|==|!=|[-+*/%~&|^<>?:().,\[\]])
    )""",
    re.VERBOSE | re.DOTALL,
)
_LENGTH, _DEPTH = 1000, 24
_HEIGHT = 64  # deepest nesting of operators
_DIGITS = 40
LEVELS = (("|",), ("^",), ("&",), ("<<", ">>"), ("+", "-"), ("*", "/", "%"))
_COMPARISONS = ("==", "!=", "<=", ">=", "<", ">")
_ESCAPES = {"a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13, "e": 27, '"': 34, "'": 39, "\\": 92}


class SyntaxFlaw(Exception):  # noqa: N818 - it is no error of the program
    """The text is not a Kaitai expression; `column` counts from 0."""

    def __init__(self, message: str, column: int) -> None:
        super().__init__(message)
        self.message, self.column = message, column


@dataclass(frozen=True, slots=True)
class Literal:
    """An integer, a text or a boolean."""

    value: int | str | bool


@dataclass(frozen=True, slots=True)
class Real:
    """A number with a fraction, as written."""

    text: str


@dataclass(frozen=True, slots=True)
class Template:
    """A text with embedded values: `f"..."`."""

    text: str


@dataclass(frozen=True, slots=True)
class Items:
    """`[1, 2]`."""

    items: tuple["Tree", ...]


@dataclass(frozen=True, slots=True)
class Name:
    """A name without a dot."""

    name: str


@dataclass(frozen=True, slots=True)
class Member:
    """`of.name`, or `of.name(arguments)`."""

    of: "Tree"
    name: str
    arguments: tuple["Tree", ...] | None = None


@dataclass(frozen=True, slots=True)
class Element:
    """`of[index]`."""

    of: "Tree"
    index: "Tree"


@dataclass(frozen=True, slots=True)
class Cast:
    """`of.as<type>`."""

    of: "Tree"
    type: str


@dataclass(frozen=True, slots=True)
class SizeOf:
    """`sizeof<type>`, or `bitsizeof<type>`."""

    type: str
    bits: bool


@dataclass(frozen=True, slots=True)
class EnumWord:
    """`path::word`."""

    path: tuple[str, ...]
    word: str


@dataclass(frozen=True, slots=True)
class Unary:
    """`-x`, `~x`, `not x`."""

    operator: str
    operand: "Tree"


@dataclass(frozen=True, slots=True)
class Binary:
    """Two operands and their operator."""

    operator: str
    left: "Tree"
    right: "Tree"


@dataclass(frozen=True, slots=True)
class Choice:
    """`condition ? this : that`."""

    condition: "Tree"
    this: "Tree"
    that: "Tree"


Tree = Literal | Real | Template | Items | Name | Member | Element | Cast | SizeOf | EnumWord | Unary | Binary | Choice


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    column: int


def parse(text: str) -> Tree:
    """Parse an expression; raises SyntaxFlaw."""
    parser = _Parser(_tokens(text))
    tree = parser.expression()
    parser.expect("")
    return _shallow(tree)


def parse_type(text: str) -> tuple[str, tuple[Tree, ...]]:
    """A type's name and its arguments: `block(1, size)`; raises SyntaxFlaw."""
    head, bracket, _ = text.partition("(")
    if not bracket:
        return text.strip(), ()
    parser = _Parser(_tokens(text[len(head) :]))
    parser.expect("(")
    arguments = parser.rest_of_arguments()
    parser.expect("")
    return head.strip(), tuple(map(_shallow, arguments))


def _shallow(tree: Tree) -> Tree:
    """The tree; raises SyntaxFlaw if its operators are nested too deep, as in a sum of hundreds of terms."""
    level = [tree]
    for _ in range(_HEIGHT):
        level = [part for each in level for part in _parts(each)]
        if not level:
            return tree
    raise SyntaxFlaw("the expression is nested too deep", 0)


def _parts(tree: Tree) -> tuple[Tree, ...]:
    match tree:
        case Literal() | Real() | Template() | Name() | SizeOf() | EnumWord():
            return ()
        case Items(items=items):
            return items
        case Member(of=of, arguments=arguments):
            return (of, *(arguments or ()))
        case Element(of=of, index=index):
            return of, index
        case Cast(of=of):
            return (of,)
        case Unary(operand=operand):
            return (operand,)
        case Binary(left=left, right=right):
            return left, right
        case Choice(condition=condition, this=this, that=that):
            return condition, this, that
        case _:
            assert_never(tree)


def _tokens(text: str) -> list[_Token]:
    found: list[_Token] = []
    position = 0
    while text[position:].strip():
        match = _TOKEN.match(text, position)
        if match is None or match.lastgroup is None:
            blank = len(text[position:]) - len(text[position:].lstrip())
            raise SyntaxFlaw(f"{text[position:].strip()[:1]!r} is not allowed in an expression", position + blank)
        found.append(_Token(match.lastgroup, match[match.lastgroup], match.start(match.lastgroup)))
        if len(found) > _LENGTH:
            raise SyntaxFlaw(f"the expression has more than {_LENGTH} tokens", 0)
        position = match.end()
    return [*found, _Token("end", "", len(text))]


class _Parser:
    def __init__(self, tokens: list[_Token]) -> None:
        self.tokens = tokens
        self.place = 0
        self.depth = 0

    @property
    def token(self) -> _Token:
        return self.tokens[self.place]

    def take(self) -> _Token:
        token = self.token
        self.place = min(self.place + 1, len(self.tokens) - 1)
        return token

    def accept(self, *texts: str) -> str:
        if self.token.kind in ("symbol", "name") and self.token.text in texts:
            return self.take().text
        return ""

    def expect(self, text: str) -> None:
        token = self.take()
        if token.text != text or (not text and token.kind != "end"):
            what = f"{text} is missing" if text else f"{token.text} is not allowed here"
            raise SyntaxFlaw(f"{what} in the expression", token.column)

    def deeper(self, part: Callable[[], Tree]) -> Tree:
        self.depth += 1
        if self.depth > _DEPTH:
            raise SyntaxFlaw("the expression is nested too deep", self.token.column)
        try:
            return part()
        finally:
            self.depth -= 1

    def expression(self) -> Tree:
        return self.deeper(self.choice)

    def choice(self) -> Tree:
        condition = self.either()
        if not self.accept("?"):
            return condition
        this = self.expression()
        self.expect(":")
        return Choice(condition, this, self.expression())

    def either(self) -> Tree:
        left = self.both()
        while self.accept("or"):
            left = Binary("or", left, self.both())
        return left

    def both(self) -> Tree:
        left = self.negation()
        while self.accept("and"):
            left = Binary("and", left, self.negation())
        return left

    def negation(self) -> Tree:
        return Unary("not", self.deeper(self.negation)) if self.accept("not") else self.comparison()

    def comparison(self) -> Tree:
        left = self.operators(0)
        operator = self.accept(*_COMPARISONS)
        return Binary(operator, left, self.operators(0)) if operator else left

    def operators(self, level: int) -> Tree:
        if level == len(LEVELS):
            return self.factor()
        left = self.operators(level + 1)
        while operator := self.accept(*LEVELS[level]):
            left = Binary(operator, left, self.operators(level + 1))
        return left

    def factor(self) -> Tree:
        operator = self.accept("-", "+", "~")
        if not operator:
            return self.trailers(self.atom())
        operand = self.deeper(self.factor)
        return operand if operator == "+" else Unary(operator, operand)

    def trailers(self, tree: Tree) -> Tree:
        while True:
            if self.accept("["):
                tree = Element(tree, self.expression())
                self.expect("]")
            elif self.accept("."):
                tree = self.member(tree)
            else:
                return tree

    def member(self, of: Tree) -> Tree:
        token = self.take()
        if token.kind != "name":
            raise SyntaxFlaw("a name is missing after the point", token.column)
        if token.text == "as" and self.accept("<"):
            return Cast(of, self.type_name())
        if self.accept("("):
            return Member(of, token.text, self.rest_of_arguments())
        return Member(of, token.text)

    def type_name(self) -> str:
        parts: list[str] = []
        nested = 1
        while nested:
            token = self.take()
            if token.kind == "end":
                raise SyntaxFlaw("> is missing after the type", token.column)
            nested += {"<": 1, ">": -1, ">>": -2}.get(token.text, 0)
            parts.append(token.text)
        return "".join(parts)[:-1].removeprefix("::")

    def rest_of_arguments(self) -> tuple[Tree, ...]:
        arguments: list[Tree] = []
        while not self.accept(")"):
            arguments.append(self.expression())
            if not self.accept(","):
                self.expect(")")
                break
        return tuple(arguments)

    def atom(self) -> Tree:
        token = self.take()
        match token.kind:
            case "integer":
                return Literal(_integer(token))
            case "real":
                return Real(token.text.replace("_", ""))
            case "single":
                return Literal(token.text[1:-1])
            case "double":
                return Template(token.text) if token.text[0] == "f" else Literal(_unescaped(token))
            case "name":
                return self.name(token)
            case "symbol" if token.text == "(":
                tree = self.expression()
                self.expect(")")
                return tree
            case "symbol" if token.text == "[":
                return self.items()
            case "symbol" if token.text == "::":
                return self.name(self.take())
            case _:
                raise SyntaxFlaw(f"a value is missing before {token.text or 'the end'}", token.column)

    def items(self) -> Tree:
        items: list[Tree] = []
        while not self.accept("]"):
            items.append(self.expression())
            if not self.accept(","):
                self.expect("]")
                break
        return Items(tuple(items))

    def name(self, token: _Token) -> Tree:
        if token.text in ("true", "false"):
            return Literal(token.text == "true")
        if token.text in ("sizeof", "bitsizeof") and self.accept("<"):
            return SizeOf(self.type_name(), token.text == "bitsizeof")
        words = [token.text]
        while self.accept("::"):
            words.append(self.take().text)
        return Name(words[0]) if len(words) == 1 else EnumWord(tuple(words[:-1]), words[-1])


def _integer(token: _Token) -> int:
    text = token.text.replace("_", "")
    if len(text) > _DIGITS * 4:
        raise SyntaxFlaw(f"a number of {len(text)} digits", token.column)
    return int(text, {"0x": 16, "0o": 8, "0b": 2}.get(text[:2].lower(), 10))


def _unescaped(token: _Token) -> str:
    def character(found: re.Match[str]) -> str:
        text = found[1]
        if text[0] == "u":
            return chr(int(text[1:], 16))
        if text[0].isdigit():
            return chr(int(text, 8))
        if text not in _ESCAPES:
            raise SyntaxFlaw(f"\\{text} is not an escape", token.column + found.start())
        return chr(_ESCAPES[text])

    return re.sub(r"\\(u[0-9a-fA-F]{4}|[0-7]{1,3}|.)", character, token.text[1:-1], flags=re.DOTALL)

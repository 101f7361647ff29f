"""Expressions of a layout as the engine's: parameters become constants first, and what is constant is computed."""

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from wireloom.runtime import expressions as functions
from wireloom.runtime.engine.assembly import Assembly, Operand, Register, Uncovered

Tree = Any  # nested tuples of the layout

_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<<": operator.lshift,
    ">>": operator.rshift,
}
_ORDER: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_NUMERIC = frozenset({"int", "bool", "list"})
_JUMPS = frozenset({"JUMP", "FALSE_KEEP", "TRUE_KEEP", "FALSE"})
_TWO_VALUES = frozenset(_ARITHMETIC) | frozenset(_ORDER) | {"==", "!=", "min", "max"}
HELD = {"CONST": 64, "LOAD": 128, "HERE": 192}
"""What an operation's number grows by where its right value is its argument."""

_RESULTS = {"int": 1, "bool": 2, "text": 3}


class Scope(Protocol):
    """What names mean where an expression stands."""

    def field(self, up: int, name: str) -> Register:
        """The register of a field."""

    def mark(self, name: str) -> Register:
        """The register of a mark."""

    def start(self) -> Register:
        """The register of the struct's first byte."""

    def size(self) -> Register:
        """The register of the size of the struct's region."""

    def index(self) -> Register:
        """The register of the place in the innermost list."""


@dataclass(frozen=True, slots=True)
class Constant:
    """An expression whose value is known."""

    value: Any

    @property
    def kind(self) -> str:
        """The kind of the value."""
        match self.value:
            case None:
                return "null"
            case bool():
                return "bool"
            case int():
                return "int"
            case str():
                return "text"
            case _:
                return "other"


@dataclass(frozen=True, slots=True)
class Code:
    """An expression as operations: pairs of a name and an argument; jumps count operations from the first."""

    kind: str
    operations: tuple[tuple[str, Operand], ...]


Compiled = Constant | Code


class _NullError(Exception):
    """The expression computes with an absent value: it is null as a whole."""


@dataclass(frozen=True, slots=True)
class Expressions:
    """The expressions of one program."""

    assembly: Assembly
    settings: dict[str, Any]
    ranges: dict[str, Sequence[tuple[str, int | None, int | None]]]

    def compiled(self, tree: Tree, scope: Scope) -> Compiled:
        """The expression in its scope."""
        try:
            return self._compiled(tree, scope)
        except _NullError:
            return Constant(None)

    def place(self, compiled: Compiled) -> int:
        """Where the expression stands in the program."""
        words = self.assembly.expressions
        start, operations = len(words), _merged(self._code(compiled).operations)
        for name, held, argument in (*operations, ("END", 0, 0)):
            words += [self.assembly.operations[name] + held, start + 2 * argument if name in _JUMPS else argument]
        return start

    def result(self, compiled: Compiled) -> int:
        """The number of the kind of the value."""
        if compiled.kind not in _RESULTS:
            raise Uncovered(f"an expression that gives {compiled.kind}")
        return _RESULTS[compiled.kind]

    def _code(self, compiled: Compiled) -> Code:
        if isinstance(compiled, Code):
            return compiled
        match compiled.value:
            case None:
                return Code("null", (("NULL", 0),))
            case str() as text:
                return Code("text", (("CONST", self.assembly.text(text.encode())),))
            case bool() | int() as number if -(1 << 63) <= number < 1 << 63:
                return Code(compiled.kind, (("CONST", int(number)),))
            case _:
                raise Uncovered("a constant that is no number of 64 bits")

    def _compiled(self, tree: Tree, scope: Scope) -> Compiled:
        match tree:
            case None | bool() | int():
                return Constant(tree)
            case ("text", str(text)):
                return Constant(text)
            case ("parameter", name, *members):
                return self._parameter(name, members)
            case ("field", up, name):
                return _loaded(scope.field(up, name))
            case ("mark", name):
                return _loaded(scope.mark(name))
            case ("here",):
                return Code("int", (("HERE", scope.start().read()),))
            case ("size",):
                return _loaded(scope.size())
            case ("index",):
                return _loaded(scope.index())
            case ("and" | "or" as word, left, right):
                return self._logic(word, self._compiled(left, scope), lambda: self._inner(right, scope))
            case ("not", operand):
                return self._not(self._compiled(operand, scope))
            case ("negative" | "~" as word, operand):
                return self._unary(word, self._compiled(operand, scope))
            case ("in", operand, options):
                return self._membership(self._compiled(operand, scope), options)
            case ("if", condition, then, otherwise):
                return self._conditional(self._compiled(condition, scope), then, otherwise, scope)
            case ("present" | "len" | "count" as word, operand):
                return self._fact(word, self._compiled(operand, scope))
            case ("rangeName", operand, name):
                return self._range_name(self._compiled(operand, scope), name)
            case ("min" | "max" as word, first, *others):
                result = self._compiled(first, scope)
                for other in others:
                    result = self._binary(word, result, self._compiled(other, scope))
                return result
            case (str(word), left, right) if word in _ARITHMETIC or word in _ORDER or word in ("==", "!="):
                return self._binary(word, self._compiled(left, scope), self._compiled(right, scope))
            case _:
                raise Uncovered(f"the expression {tree!r}")

    def _inner(self, tree: Tree, scope: Scope) -> Compiled:
        """A part that may never be evaluated, so that its null need not be the whole's."""
        try:
            return self._compiled(tree, scope)
        except _NullError:
            raise Uncovered("a part that is always null") from None

    def _parameter(self, name: str, members: Sequence[str]) -> Constant:
        value = self.settings[name]
        for member in members:
            value = getattr(value, member, None)
        return Constant(value)

    def _truth(self, compiled: Compiled) -> Code:
        if compiled.kind not in ("bool", "int", "null"):
            raise Uncovered(f"{compiled.kind} as a condition")
        return self._code(compiled)

    def _logic(self, word: str, left: Compiled, right: Callable[[], Compiled]) -> Compiled:
        if isinstance(left, Constant):
            return right() if bool(left.value) == (word == "and") else left
        first, second = self._truth(left), self._truth(right())
        jump = "FALSE_KEEP" if word == "and" else "TRUE_KEEP"
        return _joined("bool", first, (jump, 0), second)

    def _not(self, operand: Compiled) -> Compiled:
        if isinstance(operand, Constant):
            return Constant(not operand.value)
        return Code("bool", (*self._truth(operand).operations, ("not", 0)))

    def _unary(self, word: str, operand: Compiled) -> Compiled:
        if isinstance(operand, Constant):
            if operand.value is None:
                raise _NullError
            return Constant(-operand.value if word == "negative" else ~operand.value)
        self._need_number(operand)
        return Code("int", (*operand.operations, ("NEGATE" if word == "negative" else "~", 0)))

    def _need_number(self, compiled: Compiled) -> None:
        if compiled.kind not in ("int", "bool"):
            raise Uncovered(f"computing with {compiled.kind}")

    def _membership(self, operand: Compiled, options: Sequence[Tree]) -> Compiled:
        values = [option[1] if isinstance(option, tuple) else option for option in options]
        if isinstance(operand, Constant):
            return Constant(operand.value in values)
        if any(not _comparable(operand.kind, Constant(value).kind) or value is None for value in values):
            raise Uncovered("membership among values of several kinds")
        words = [self._code(Constant(value)).operations[0][1] for value in values]
        return Code("bool", (*operand.operations, ("in", self.assembly.table([len(words), *words]))))

    def _conditional(self, condition: Compiled, then: Tree, otherwise: Tree, scope: Scope) -> Compiled:
        if isinstance(condition, Constant):
            return self._compiled(then if condition.value else otherwise, scope)
        first, second = self._inner(then, scope), self._inner(otherwise, scope)
        kinds = {first.kind, second.kind} - {"null"}
        if len(kinds) != 1:
            raise Uncovered("a choice between kinds of values")
        test, yes, no = self._truth(condition), self._code(first), self._code(second)
        skipped = _joined("", test, ("FALSE", 0), Code("", (*yes.operations, ("JUMP", 0))))
        return _joined(kinds.pop(), skipped, None, no)

    def _fact(self, word: str, operand: Compiled) -> Compiled:
        if isinstance(operand, Constant):
            if word == "present":
                return Constant(operand.value is not None)
            return Constant(functions.length(operand.value) if word == "len" else functions.count(operand.value))
        if word == "present":
            return Code("bool", (*operand.operations, ("present", 0)))
        if operand.kind == {"len": "bytes", "count": "list"}[word]:
            return Code("int", (*operand.operations, ("zero", 0)))
        raise Uncovered(f"{word} of {operand.kind}")

    def _range_name(self, operand: Compiled, name: str) -> Compiled:
        if isinstance(operand, Constant):
            return Constant(functions.range_name(operand.value, self.ranges[name]))
        self._need_number(operand)
        words: list[int] = [len(self.ranges[name])]
        for text, low, high in self.ranges[name]:
            words += [low is not None, low or 0, high is not None, high or 0, self.assembly.text(text.encode())]
        return Code("text", (*operand.operations, ("rangeName", self.assembly.table(words))))

    def _binary(self, word: str, left: Compiled, right: Compiled) -> Compiled:
        if isinstance(left, Constant) and isinstance(right, Constant):
            return _folded(word, left.value, right.value)
        if word in ("==", "!="):
            if not _comparable(left.kind, right.kind) or (
                isinstance(right, Constant) and right.kind == "bool" != left.kind
            ):
                raise Uncovered(f"comparing {left.kind} with {right.kind}")
            kind = "bool"
        else:
            if "null" in (left.kind, right.kind):
                raise _NullError
            self._need_number(left)
            self._need_number(right)
            kind = "bool" if word in _ORDER else "int"
        return Code(
            kind,
            (*self._code(left).operations, *_moved(self._code(right), len(self._code(left).operations)), (word, 0)),
        )


def _loaded(register: Register) -> Code:
    if register.kind == "mixed":
        raise Uncovered("a field of several kinds in an expression")
    return Code("int" if register.kind == "position" else register.kind, (("LOAD", register.read()),))


def _comparable(left: str, right: str) -> bool:
    return left == right != "bytes" or {left, right} <= _NUMERIC or "null" in (left, right)


def _folded(word: str, left: Any, right: Any) -> Constant:
    if word in ("==", "!="):
        same = left is right if right is None or isinstance(right, bool) else left == right
        return Constant(same == (word == "=="))
    if left is None or right is None:
        raise _NullError
    if word in ("min", "max"):
        return Constant(min(left, right) if word == "min" else max(left, right))
    return Constant((_ARITHMETIC | _ORDER)[word](left, right))


def _merged(operations: Sequence[tuple[str, Operand]]) -> list[tuple[str, int, Operand]]:
    """Operations whose right value is a register or a constant take it as their argument."""
    landings = {argument for name, argument in operations if name in _JUMPS}
    merged: list[tuple[str, int, Operand]] = []
    places: list[int] = []
    for at, (name, argument) in enumerate(operations):
        places.append(len(merged))
        last = merged[-1] if merged else ("", 0, 0)
        if name in _TWO_VALUES and last[0] in HELD and at not in landings and len(merged) > 1:
            places[-1] = len(merged) - 1
            merged[-1] = (name, HELD[last[0]], last[2])
        else:
            merged.append((name, 0, argument))
    places.append(len(merged))
    return [(name, held, places[argument] if name in _JUMPS else argument) for name, held, argument in merged]


def _moved(code: Code, by: int) -> tuple[tuple[str, Operand], ...]:
    """Operations with their jumps counted from `by` operations earlier."""
    return tuple((name, argument + by if name in _JUMPS else argument) for name, argument in code.operations)


def _joined(kind: str, first: Code, jump: tuple[str, int] | None, second: Code) -> Code:
    """`first`, then perhaps a jump behind `second`; the last jump of `first` without one leads there, too."""
    if jump is None:
        count = len(first.operations)
        *before, (name, _) = first.operations
        end = count + len(second.operations)
        return Code(kind, (*before, (name, end), *_moved(second, count)))
    count = len(first.operations) + 1
    end = count + len(second.operations)
    return Code(kind, (*first.operations, (jump[0], end), *_moved(second, count)))

"""Conditions as jumps: each comparison of a field becomes one branch, and no expression is evaluated.

The operations of a condition are followed on every path that they can take, with what stands on their stack known by
name; what is computed goes to registers of the conditions' own. Where a path does more than that, the condition stays
an expression. Computing or ordering with an absent value makes a whole condition null, which does not hold; so does a
part that is null where a choice hangs on it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from wireloom.runtime.engine.assembly import Assembly, Label, Operand, Register
from wireloom.runtime.engine.expressions import Code

_LESS, _EQUAL, _GREATER = 1, 2, 4
_RELATIONS = {
    "<": _LESS,
    "<=": _LESS | _EQUAL,
    "==": _EQUAL,
    "!=": _LESS | _GREATER,
    ">=": _GREATER | _EQUAL,
    ">": _GREATER,
}
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
_ALWAYS = _LESS | _EQUAL | _GREATER
_LONGEST = 40  # instructions; beyond that an expression is shorter
_ARITHMETIC = ("+", "-", "*", "&", "|", "^", "<<", ">>")
_RESULTS = 4  # numbers that a path may have computed


class _Intricate(Exception):  # noqa: N818 - not an error: the condition stays an expression
    """The condition does what branches cannot."""


@dataclass(frozen=True, slots=True)
class _Known:
    value: int | None


@dataclass(frozen=True, slots=True)
class _Loaded:
    register: Register
    computed: bool = False  # and so never absent


@dataclass(frozen=True, slots=True)
class _Compared:
    """How a register stands to another or to a number; `null` says what follows where it is absent."""

    relation: int
    left: Register
    right: Register | int
    null: bool | None  # holds, does not, or (None) the whole condition is null

    def inverse(self) -> "_Compared":
        """The opposite."""
        return _Compared(_ALWAYS & ~self.relation, self.left, self.right, None if self.null is None else not self.null)


@dataclass(frozen=True, slots=True)
class _Member:
    register: Register
    table: int
    inverted: bool = False


_Value = _Known | _Loaded | _Compared | _Member


class Conditions:
    """Makes the branches of conditions."""

    def __init__(self, assembly: Assembly) -> None:
        self.assembly = assembly
        self.results = [assembly.register("int") for _ in range(_RESULTS)]

    def branch(self, code: Code, otherwise: Label) -> bool:
        """Go on where the condition holds, else to `otherwise`; False, and nothing emitted, where that cannot be."""
        path = _Paths(code, otherwise, self.results)
        try:
            path.follow(0, ())
        except _Intricate:
            return False
        for row in path.rows:
            match row:
                case ("BRANCH" | "BRANCH_IN" as name, *operands):
                    self.assembly.emit(name, *operands)
                case ("ARITHMETIC" as name, str(word), Register() as result, *operands):
                    self.assembly.emit(name, self.assembly.operations[word], result.read(), *operands)
                case ("JUMP", Label() as label):
                    self.assembly.jump(label)
                case ("PLACE", Label() as label):
                    self.assembly.place(label)
                case _:
                    raise AssertionError(row)
        self.assembly.place(path.holds)
        return True


class _Paths:
    """The paths of one condition, as rows to be emitted."""

    def __init__(self, code: Code, otherwise: Label, results: Sequence[Register]) -> None:
        self.operations, self.otherwise, self.holds = code.operations, otherwise, Label()
        self.results = iter(results)
        self.rows: list[tuple[Any, ...]] = []

    def follow(self, at: int, stack: tuple[_Value, ...]) -> None:
        """Everything from an operation on."""
        while at < len(self.operations):
            name, argument = self.operations[at]
            at += 1
            match name:
                case "JUMP":
                    at = argument
                case "FALSE" | "FALSE_KEEP" | "TRUE_KEEP":
                    self._choice(name, at, argument, stack)
                    return
                case _ if name in _ARITHMETIC:
                    stack = (*stack[:-2], self._computed(name, *stack[-2:]))
                case _:
                    stack = _after(name, argument, stack)
        self._test(stack[-1], self.otherwise)
        self._emit("JUMP", self.holds)

    def _choice(self, name: str, at: int, target: int, stack: tuple[_Value, ...]) -> None:
        *below, top = stack
        no = Label()
        self._test(top, no)
        if name == "TRUE_KEEP":
            self.follow(target, (*below, _Known(1)))
        else:
            self.follow(at, tuple(below))
        self._emit("PLACE", no)
        if name == "TRUE_KEEP":
            self.follow(at, tuple(below))
        else:
            self.follow(target, (*below, _Known(0)) if name == "FALSE_KEEP" else tuple(below))

    def _computed(self, name: str, left: _Value, right: _Value) -> _Value:
        """Two numbers, computed with; where one is absent, the whole condition is null."""
        result = next(self.results, None)
        if result is None:
            raise _Intricate
        match left, right:
            case _Loaded(register), _Known(int(number)):
                self._emit("ARITHMETIC", name, result, register, None, number, self.otherwise)
            case _Loaded(register), _Loaded(other):
                self._emit("ARITHMETIC", name, result, register, other, 0, self.otherwise)
            case _:
                raise _Intricate
        return _Loaded(result, computed=True)

    def _test(self, value: _Value, otherwise: Label) -> None:
        """Go on where the value holds."""
        match value:
            case _Known(known):
                if not known:
                    self._emit("JUMP", otherwise)
            case _Member(register, table, inverted):
                behind = Label()
                self._emit("BRANCH_IN", register, table, behind if inverted else otherwise)
                if inverted:
                    self._emit("JUMP", otherwise)
                    self._emit("PLACE", behind)
            case _:
                compared = _truth(value)
                behind = Label()
                null = self.otherwise if compared.null is None else behind if compared.null else otherwise
                operands: list[Operand] = [compared.relation, compared.left, None, compared.right]
                if isinstance(compared.right, Register):
                    operands[2:] = [compared.right, 0]
                self._emit("BRANCH", *operands, otherwise, null)
                self._emit("PLACE", behind)

    def _emit(self, *row: Operand) -> None:
        self.rows.append(row)
        if len(self.rows) > _LONGEST:
            raise _Intricate


def _after(name: str, argument: Operand, stack: tuple[_Value, ...]) -> tuple[_Value, ...]:
    """The stack behind an operation that does not jump."""
    match name, stack:
        case "CONST", _:
            return (*stack, _Known(argument))
        case "LOAD", _:
            return (*stack, _Loaded(argument))
        case "not", (*below, top):
            return (*below, _not(top))
        case "present", (*below, _Loaded(register)):
            return (*below, _Compared(_ALWAYS, register, 0, null=False))
        case "in", (*below, _Loaded(register)):
            return (*below, _Member(register, argument))
        case _, (*below, left, right) if name in _RELATIONS:
            return (*below, _compared(name, left, right))
        case _:
            raise _Intricate


def _truth(value: _Value) -> _Compared:
    match value:
        case _Compared():
            return value
        case _Loaded(register):
            return _Compared(_RELATIONS["!="], register, 0, null=False)
        case _:
            raise _Intricate


def _not(value: _Value) -> _Value:
    match value:
        case _Known(known):
            return _Known(int(not known))
        case _Member(register, table, inverted):
            return _Member(register, table, not inverted)
        case _:
            return _truth(value).inverse()


def _compared(name: str, left: _Value, right: _Value) -> _Value:
    match left, right:
        case _Loaded(register), _Known(int(number)):
            null = {"==": False, "!=": True}.get(name)
            return _Compared(_RELATIONS[name], register, number, null)
        case _Known(int(number)), _Loaded(register):
            return _compared(_MIRRORED[name], _Loaded(register), _Known(number))
        case _Loaded(first), _Loaded(second) if name not in ("==", "!="):
            return _Compared(_RELATIONS[name], first, second, None)
        case _Loaded(first, computed), _Loaded(second, also) if computed or also:
            return _Compared(_RELATIONS[name], first, second, name == "!=")
        case _:
            raise _Intricate

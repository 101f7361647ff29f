"""Expressions of a layout, compiled to operations of the engine's stack machine.

`Expressions.compiled` makes a `Constant` or a `Code` from a node in its scope. Parameters become constants first, and
constant parts are computed at once. A `Code` has the kind of its value and a tree of `Term`s; `place` writes them in
order as operations. If the engine has no operation, `Uncovered` is raised, and construct serves the request.
"""

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Literal, Protocol, assert_never

from wireloom.runtime import expressions as functions
from wireloom.runtime.engine import nodes
from wireloom.runtime.engine.programs.assembly import Assembly, Operand, Register, Uncovered

Tree = nodes.Tree

_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": functions.add,
    "-": functions.subtract,
    "*": functions.multiply,
    "//": functions.divide,
    "%": functions.remainder,
    "&": functions.bit_and,
    "|": functions.bit_or,
    "^": functions.bit_xor,
    "<<": functions.shift_left,
    ">>": functions.shift_right,
}
_ORDER: dict[str, Callable[[Any, Any], Any]] = {
    "<": functions.less,
    "<=": functions.at_most,
    ">": functions.more,
    ">=": functions.at_least,
}
_FOLDED: dict[str, Callable[[Any, Any], Any]] = (
    _ARITHMETIC
    | _ORDER
    | {
        "==": functions.equal,
        "!=": lambda left, right: not functions.equal(left, right),
        "min": functions.smallest,
        "max": functions.largest,
    }
)
_EQUALITIES = frozenset({"==", "!="})
_TEXTS = frozenset({"text", "bytes", "made"})
_PARTS = {"text": 1, "bytes": 0}  # whether offsets count characters or bytes
_TO_THE_END = 2
_WIDE = "wide"
_GREATEST = (1 << 63) - 1
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}  # comparisons with swapped operands
_WIDEST = 128  # bits of an integer
_JUMPS = frozenset({"JUMP", "FALSE_KEEP", "TRUE_KEEP", "FALSE"})
_TWO_VALUES = frozenset(_ARITHMETIC) | frozenset(_ORDER) | _EQUALITIES | {"min", "max", "and", "or"}
HELD = {"CONST": 64, "LOAD": 128, "HERE": 192}
"""The increment of an operation's number if its right value is its argument."""

NUMBER = 1
"""The number of the kind int."""
_NUMBERS = frozenset({"int", "null", "wide"})  # instructions take no 128-bit integers
_RESULTS = {"int": NUMBER, "bool": 2, "text": 3}
KINDS = {
    "int": "an integer",
    "wide": "a 128-bit integer",
    "bool": "a boolean",
    "text": "constant text",
    "bytes": "text or bytes of the record",
    "list": "a list",
    "made": "a computed text",
    "mixed": "a record, a float, a union or JSON",
    "several": "a field of several types",
    "null": "null",
    "other": "another value",
}
"""Kinds of values, as messages name them."""


class Scope(Protocol):
    """What names mean in an expression."""

    def field(self, up: int, name: str, members: Sequence[str] = ()) -> Register:
        """The register of a field, or of a member of the record that it is."""

    def mark(self, name: str) -> Register:
        """The register of a mark."""

    def start(self) -> Register:
        """The register of the struct's first byte."""

    def size(self) -> Register:
        """The register of the size of the struct's region."""

    def index(self) -> Register:
        """The register of the index in the innermost list."""


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
            case str() | bytes():
                return "text"
            case _:
                return "other"


@dataclass(frozen=True, slots=True)
class Term:
    """An operation on the values of its parts; without parts: CONST, NULL, LOAD or HERE."""

    word: str
    parts: tuple["Term", ...] = ()
    argument: Operand = 0

    def operations(self) -> list[tuple[str, Operand]]:
        """The operations in order, with their arguments; jump targets count from the first operation."""
        match self.word, self.parts:
            case "if", (condition, then, otherwise):
                first = [*condition.operations(), ("FALSE", 0)]
                yes, no = [*then.operations(), ("JUMP", 0)], otherwise.operations()
                other = len(first) + len(yes)
                first[-1], yes[-1] = ("FALSE", other), ("JUMP", other + len(no))
                return [*first, *_moved(yes, len(first), keep=1), *_moved(no, other)]
            case "and" | "or", (left, right):
                first, second = left.operations(), right.operations()
                jump = "FALSE_KEEP" if self.word == "and" else "TRUE_KEEP"
                second_at = len(first) + 1
                end = second_at + len(second) + 1
                return [*first, (jump, end), *_moved(second, second_at), (self.word, 0)]
            case _:
                found: list[tuple[str, Operand]] = []
                for part in self.parts:
                    found += _moved(part.operations(), len(found))
                return [*found, (self.word, self.argument)]


@dataclass(frozen=True, slots=True)
class Code:
    """An expression that the engine computes, and the kind of its value if that is not null."""

    kind: str
    term: Term


Compiled = Constant | Code
_NULL = Constant(None)


@dataclass(frozen=True, slots=True)
class Expressions:
    """The expressions of one program."""

    assembly: Assembly
    settings: dict[str, Any]
    ranges: Mapping[str, Sequence[tuple[str, int | None, int | None]]]

    def place(self, compiled: Compiled) -> int:
        """Append an expression to the program; returns its address."""
        if compiled.kind == _WIDE:
            raise Uncovered("a 128-bit integer where a 64-bit one is needed")
        words = self.assembly.expressions
        start, operations = len(words), _merged(self._code(compiled).term.operations())
        for name, held, argument in (*operations, ("END", 0, 0)):
            if name not in self.assembly.operations:
                raise Uncovered("a comparison of 128-bit integers inside of a larger expression")
            words += [self.assembly.operations[name] + held, start + 2 * argument if name in _JUMPS else argument]
        return start

    def result(self, compiled: Compiled) -> int:
        """The number of the kind of a value."""
        if compiled.kind not in _RESULTS:
            raise Uncovered(f"an expression whose result is {KINDS[compiled.kind]}")
        return _RESULTS[compiled.kind]

    def compiled(self, tree: Tree, scope: Scope) -> Compiled:
        """Compile an expression."""
        match tree:
            case None | bool() | int():
                return Constant(tree)
            case nodes.NullConstant():
                return _NULL
            case nodes.BytesConstant(stated) | nodes.TextConstant(stated):
                return Constant(stated)
            case nodes.ParameterRef(name, members):
                return self._parameter(name, members)
            case nodes.FieldRef(up, name, members):
                return _loaded(scope.field(up, name, members), name)
            case nodes.MarkRef(name):
                return _loaded(scope.mark(name), name)
            case nodes.Position(fact):
                return self._position(fact, scope)
            case nodes.Unary("not", operand):
                return self._not(self.compiled(operand, scope))
            case nodes.Unary(word, operand):
                return self._unary(word, self.compiled(operand, scope))
            case nodes.Binary("and" | "or" as word, left, right):
                return self._logic(word, self.compiled(left, scope), lambda: self.compiled(right, scope))
            case nodes.Binary(word, left, right):
                return self._binary(word, self.compiled(left, scope), self.compiled(right, scope))
            case nodes.Among(operand, options):
                return self._membership(self.compiled(operand, scope), options)
            case nodes.If(condition, then, otherwise):
                return self._chosen(
                    self.condition(condition, scope), then, otherwise, lambda each: self.compiled(each, scope)
                )
            case _:
                return self._function(tree, scope)

    def condition(self, tree: Tree, scope: Scope) -> Compiled:
        """Compile a condition; a value that is not a boolean counts as null."""
        match tree:
            case nodes.If(choice, then, otherwise):
                return self._chosen(
                    self.condition(choice, scope), then, otherwise, lambda each: self.condition(each, scope)
                )
            case _:
                return self._truth(self.compiled(tree, scope))

    def number(self, tree: Tree, scope: Scope) -> Compiled:
        """Compile an expression whose value must be a number."""
        found = self.compiled(tree, scope)
        if found.kind not in _NUMBERS:
            raise Uncovered(f"{KINDS[found.kind]} where a number is needed")
        return found

    def _function(self, tree: nodes.Function, scope: Scope) -> Compiled:
        """Compile a function."""
        match tree:
            case nodes.Slice(kind, whole, start, end):
                ends = () if end is None else (self.compiled(end, scope),)
                return self._part(kind, self.compiled(whole, scope), self.compiled(start, scope), *ends)
            case nodes.Sum(nodes.FieldRef() as listed, member):
                return self._sum(listed, member, scope)
            case nodes.NumberOf(data, order):
                return self._number_of_bytes(self.compiled(data, scope), order)
            case nodes.Join() | nodes.Sum():
                raise Uncovered(f"the function {tree.words[0]} in an expression")
            case nodes.RangeName(operand, name):
                return self._range_name(self.compiled(operand, scope), name)
            case nodes.Call(word, arguments):
                return self._call(word, arguments, scope)
            case _:
                assert_never(tree)

    def _call(self, word: str, arguments: Sequence[Tree], scope: Scope) -> Compiled:
        """Compile a call."""
        match word, arguments:
            case "present" | "len" | "count", (nodes.FieldRef(up, name, members),):
                return self._fact(word, scope.field(up, name, members))
            case "present" | "len" | "count", (operand,):
                return self._fact_of(word, self.compiled(operand, scope))
            case "decimal", (operand, int(bits)) if 1 <= bits <= _WIDEST:
                return self._number_of_text(self.compiled(operand, scope), "DECIMAL", bits)
            case "md5", (operand,):
                return self._number_of_text(self.compiled(operand, scope), "MD5")
            case "min" | "max", (first, *others):
                result = self.compiled(first, scope)
                for other in others:
                    result = self._binary(word, result, self.compiled(other, scope))
                return result
            case _:
                raise Uncovered(f"the function {word} in an expression")

    def _code(self, compiled: Compiled) -> Code:
        if isinstance(compiled, Code):
            return compiled
        match compiled.value:
            case None:
                return Code("null", Term("NULL"))
            case str() | bytes() as text:
                return Code("text", Term("CONST", (), self.assembly.text(encoded(text))))
            case bool() | int() as number if -(1 << 63) <= number < 1 << 63:
                return Code(compiled.kind, Term("CONST", (), int(number)))
            case _:
                raise Uncovered("an integer beyond int64 in an expression")

    def _position(self, fact: str, scope: Scope) -> Compiled:
        match fact:
            case "here":
                return Code("int", Term("HERE", (), scope.start().read()))
            case "size":
                return _loaded(scope.size(), "size")
            case _:
                return _loaded(scope.index(), "index")

    def _parameter(self, name: str, members: Sequence[str]) -> Constant:
        value = self.settings[name]
        for member in members:
            value = getattr(value, member, None)
        return Constant(value)

    def _truth(self, compiled: Compiled) -> Compiled:
        return compiled if compiled.kind == "bool" else _NULL

    def _logic(self, word: str, left: Compiled, right: Callable[[], Compiled]) -> Compiled:
        """Three-valued logic: `true or null` is true, `false and null` is false."""
        deciding = word == "or"
        if isinstance(left, Constant) and left.value is deciding:
            return left
        left, other = self._truth(left), self._truth(right())
        if isinstance(other, Constant) and other.value is not None:
            return other if other.value is deciding else left
        if isinstance(left, Constant) and left.value is not None:
            return other
        if isinstance(left, Constant) and isinstance(other, Constant):
            return _NULL
        return Code("bool", Term(word, (self._code(left).term, self._code(other).term)))

    def _not(self, operand: Compiled) -> Compiled:
        operand = self._truth(operand)
        if isinstance(operand, Constant):
            return Constant(functions.negated(operand.value))
        return Code("bool", Term("not", (self._code(operand).term,)))

    def _unary(self, word: str, operand: Compiled) -> Compiled:
        if isinstance(operand, Constant):
            return Constant((functions.negative if word == "negative" else functions.inverted)(operand.value))
        return Code("int", Term("NEGATE" if word == "negative" else "~", (self._number(operand),)))

    def _number(self, compiled: Compiled) -> Term:
        if compiled.kind not in ("int", "null"):
            raise Uncovered(f"computing with {KINDS[compiled.kind]}")
        return self._code(compiled).term

    def _membership(self, operand: Compiled, options: Sequence[Tree]) -> Compiled:
        values = [self._option(option) for option in options]
        if isinstance(operand, Constant):
            return Constant(functions.among(operand.value, values))
        operand = self.named(operand, values)
        if any(value is None or Constant(value).kind != operand.kind for value in values):
            raise Uncovered("`in` with values of several types")
        words = [self._code(Constant(value)).term.argument for value in values]
        table = self.assembly.table([len(words), *words])
        return Code("bool", Term("in", (self._code(operand).term,), table))

    def _option(self, option: Tree) -> Any:
        match option:
            case None | bool() | int():
                return option
            case nodes.NullConstant():
                return None
            case nodes.BytesConstant(stated) | nodes.TextConstant(stated):
                return stated
            case _:
                raise Uncovered("`in` with values that are not constants")

    def _chosen(self, condition: Compiled, then: Tree, otherwise: Tree, made: Callable[[Tree], Compiled]) -> Compiled:
        if isinstance(condition, Constant):
            return made(then if condition.value else otherwise)
        first, second = made(then), made(otherwise)
        if isinstance(first, Constant) and first == second and first.kind == second.kind:
            return first
        kinds = {first.kind, second.kind} - {"null"}
        if len(kinds) > 1 and kinds <= _TEXTS:
            return Code("made", Term("if", (self._code(condition).term, self.text(first), self.text(second))))
        if len(kinds) != 1:
            raise Uncovered("a conditional expression whose two results have different types")
        parts = (self._code(condition).term, self._code(first).term, self._code(second).term)
        return Code(kinds.pop(), Term("if", parts))

    def _fact(self, word: str, register: Register) -> Compiled:
        """Compile `present`, `len` or `count` of a field."""
        if register.kind == "null":
            return self._fact_of(word, _NULL)
        if register.kind == "several":
            raise Uncovered(f"`{word}` of {KINDS[register.kind]}")
        load = Term("LOAD", (), register.read())
        if word == "present" or register.kind == "made":
            return self._fact_of(word, Code(register.kind, load))
        if register.kind == {"len": "bytes", "count": "list"}[word]:
            return Code("int", Term("zero", (load,)))
        raise Uncovered(f"`{word}` of {KINDS[register.kind]}")

    def _fact_of(self, word: str, operand: Compiled) -> Compiled:
        match operand:
            case Constant(value) if word == "present":
                return Constant(value is not None)
            case Constant(value):
                return Constant(functions.length(value) if word == "len" else functions.count(value))
            case Code(_, term) if word == "present":
                return Code("bool", Term("present", (term,)))
            case _:
                raise Uncovered(f"`{word}` of a computed value")

    def _sum(self, listed: nodes.FieldRef, member: str, scope: Scope) -> Compiled:
        """The sum over a list, from its register."""
        if scope.field(listed.up, listed.name, listed.members).kind == "null":
            return Constant(0)
        *outer, last = listed.name, *listed.members
        first, *inner = *outer, sum_name(last, member)
        try:
            register = scope.field(listed.up, first, inner)
        except Uncovered:
            raise Uncovered(f"the sum over {last!r} in an expression") from None
        return Code("int", Term("zero", (Term("LOAD", (), register.read()),)))

    def text(self, compiled: Compiled) -> Term:
        """The address of a text."""
        match compiled:
            case Constant(None) | Constant(str() | bytes()):
                return self._code(compiled).term
            case Code("text" | "made", term):
                return term
            case Code("bytes", term):
                return self._address(term)
            case _:
                raise Uncovered(f"a text made of {KINDS[compiled.kind]}")

    def held(self, compiled: Compiled) -> Compiled:
        """The value as a register can hold it: for bytes, the address of the text."""
        return Code("made", self.text(compiled)) if compiled.kind == "bytes" else compiled

    def _address(self, term: Term) -> Term:
        """The address of a text of the record."""
        match term:
            case Term("LOAD", _, Register(coded=True)):
                raise Uncovered("writing from a part of a text with a `charset`")
            case Term("LOAD", _, Register() as register):
                return Term("TEXT", (), register.read())
            case Term("if", (condition, then, otherwise)):
                return Term("if", (condition, self._address(then), self._address(otherwise)))
            case Term("NULL"):
                return term
            case _:
                raise Uncovered(f"a text made of {KINDS['made']}")

    def _part(self, kind: str, whole: Compiled, start: Compiled, *end: Compiled) -> Compiled:
        """The address of a part of a text."""
        places = (start, *end)
        if isinstance(whole, Constant) and all(isinstance(place, Constant) for place in places):
            return Constant(
                functions.part(whole.value, *(place.value for place in places if isinstance(place, Constant)))
            )
        if "null" in (whole.kind, *(place.kind for place in places)):
            return _NULL
        if kind not in _PARTS:
            raise Uncovered(f"a part of {KINDS[whole.kind]}")
        last = self._number(*end) if end else Term("CONST", (), 0)
        made = self.assembly.register("bytes").read()
        table = self.assembly.table([made, _PARTS[kind] | (0 if end else _TO_THE_END)])
        return Code("made", Term("PART", (self.text(whole), self._number(start), last), table))

    def _number_of_text(self, operand: Compiled, word: str, bits: int = 0) -> Compiled:
        """The number written in a text, or the text's MD5."""
        match operand:
            case Constant(value):
                return Constant(functions.decimal(value, bits) if word == "DECIMAL" else functions.md5(value))
            case Code("bytes", Term("LOAD") as term):
                return Code(_WIDE, Term(word, (term,), bits))
            case _:
                raise Uncovered(f"a number read from {KINDS[operand.kind]}")

    def _number_of_bytes(self, operand: Compiled, order: Literal["big", "little"]) -> Compiled:
        """Bytes as an unsigned number; null for more than eight."""
        if isinstance(operand, Constant):
            return Constant(functions.integer(operand.value, order))
        return Code("int", Term("NUMBER", (self.text(operand),), int(order == "big")))

    def _range_name(self, operand: Compiled, name: str) -> Compiled:
        if isinstance(operand, Constant):
            return Constant(functions.range_name(operand.value, self.ranges[name]))
        words: list[int] = [0]
        for text, low, high in self.ranges[name]:
            if low is None or low <= _GREATEST:  # registers have no number beyond 63 bits
                ends = (low, None if high is not None and high > _GREATEST else high)
                bounds = (each for end in ends for each in (end is not None, end or 0))
                words += [*bounds, self.assembly.text(text.encode())]
        words[0] = len(words) // 5
        return Code("text", Term("rangeName", (self._number(operand),), self.assembly.table(words)))

    def _binary(self, word: str, left: Compiled, right: Compiled) -> Compiled:
        if isinstance(left, Constant) and isinstance(right, Constant):
            return Constant(_FOLDED[word](left.value, right.value))
        if word in _EQUALITIES and left == right and isinstance(left, Code) and left.term.word == "LOAD":
            return Constant(word == "==")
        if _WIDE in (left.kind, right.kind) and (word in _EQUALITIES or word in _ORDER):
            return Code("bool", Term(f"wide {word}", (self._wide(left), self._wide(right))))
        if (decided := self._beyond(word, left, right)) is not None:
            return decided
        if word in _EQUALITIES:
            left, right = self._compared_with(left, right), self._compared_with(right, left)
            alike = left.kind == right.kind and left.kind not in ("bytes", "made", "list")
            if not alike and "null" not in (left.kind, right.kind):
                raise Uncovered(f"comparing {KINDS[left.kind]} with {KINDS[right.kind]}")
            return Code("bool", Term(word, (self._code(left).term, self._code(right).term)))
        if "null" in (left.kind, right.kind):
            return _NULL
        return Code("bool" if word in _ORDER else "int", Term(word, (self._number(left), self._number(right))))

    def _beyond(self, word: str, left: Compiled, right: Compiled) -> Compiled | None:
        """Fold a comparison with a number beyond 63 bits, which no register holds; None for other operands.

        A number of the record that is beyond 63 bits never gets here: construct reads such a record.
        """
        match left, right:
            case Code("int"), Constant(int(number)) if number > _GREATEST:
                code = left
            case Constant(int(number)), Code("int") if number > _GREATEST:
                code, word = right, _TURNED.get(word, word)
            case _:
                return None
        greatest = Constant(_GREATEST)
        match word:
            case "<" | "<=":
                return self._binary("<=", code, greatest)
            case ">" | ">=":
                return self._binary(">", code, greatest)
            case "==":
                return self._logic("and", self._binary("==", code, greatest), lambda: self._binary(">", code, greatest))
            case "!=":
                return self._logic("or", self._binary("!=", code, greatest), lambda: self._binary("<=", code, greatest))
            case _:
                return None

    def named(self, compiled: Code, others: Sequence[Any]) -> Code:
        """A text of the record that is compared with constants or null: the number of the constant that it equals."""
        texts = [encoded(other) for other in others if isinstance(other, str | bytes)]
        if compiled.kind == "made" and len(texts) + others.count(None) == len(others):
            return self._known(compiled.term, texts)
        if compiled.kind != "bytes" or len(texts) + others.count(None) < len(others):
            return compiled
        match compiled.term:
            case Term("LOAD", _, Register(named=Register() as number)):
                return Code("text", Term("LOAD", (), number.read()))
            case Term("LOAD", _, Register()) as term if self.assembly.points_to_texts:
                return self._known(self._address(term), texts)
            case _:
                return compiled

    def _known(self, text: Term, texts: Sequence[bytes]) -> Code:
        """The number of the constant that a text equals."""
        known = [self.assembly.text(each) for each in texts]
        return Code("text", Term("KNOWN", (text,), self.assembly.table([len(known), *known])))

    def _compared_with(self, compiled: Compiled, other: Compiled) -> Compiled:
        if isinstance(compiled, Code) and isinstance(other, Constant) and other.value is not None:
            return self.named(compiled, [other.value])
        return compiled

    def _wide(self, compiled: Compiled) -> Term:
        """The other operand of a comparison with a 128-bit number."""
        match compiled:
            case Constant(None):
                return Term("NULL")
            case Constant(bool()):
                pass
            case Constant(int(number)):
                return Term("CONST", (), number)
            case Code("wide", term):
                return term
            case _:
                pass
        raise Uncovered(f"comparing {KINDS[_WIDE]} with {KINDS[compiled.kind]}")


def sum_name(name: str, member: str) -> str:
    """The name of a list's sum in the scope of its struct."""
    return f"\0sum {name} {member}"


def makes_text(tree: Tree) -> bool:
    """Whether the value of an expression may be a copy of text or bytes of the record."""
    match tree:
        case nodes.Slice() | nodes.FieldRef():
            return True
        case nodes.If(_, then, otherwise):
            return makes_text(then) or makes_text(otherwise)
        case _:
            return False


def looks_at(tree: Tree, words: AbstractSet[str]) -> bool:
    """Whether an expression uses one of these positions: `here`, `size`, `mark`."""
    return any(
        (isinstance(each, nodes.Position) and each.word in words)
        or (isinstance(each, nodes.MarkRef) and "mark" in words)
        for each in nodes.within(tree)
    )


def number_of(tree: Tree) -> int | None:
    """The value of a constant number, with its sign; None for other expressions."""
    match tree:
        case nodes.Unary("negative", int(number)):
            return -number
        case int():
            return tree
        case _:
            return None


def stated(value: Any) -> Tree:
    """Make an expression of a constant."""
    return nodes.TextConstant(value) if isinstance(value, str) else value


def encoded(text: str | bytes) -> bytes:
    """The bytes of a text in a record; bytes as they are."""
    return text.encode() if isinstance(text, str) else text


def compares_wide(term: Term) -> bool:
    """Whether an expression compares 128-bit numbers."""
    return term.word.startswith("wide ") or any(compares_wide(part) for part in term.parts)


def _loaded(register: Register, name: str) -> Compiled:
    if register.kind == "null":
        return _NULL
    if register.kind in ("mixed", "several"):
        raise Uncovered(f"the field {name} ({KINDS[register.kind]}) in an expression")
    return Code("int" if register.kind == "position" else register.kind, Term("LOAD", (), register.read()))


def _merged(operations: Sequence[tuple[str, Operand]]) -> list[tuple[str, int, Operand]]:
    """Merge operations with a preceding LOAD, CONST or HERE, which becomes their argument."""
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


def _moved(operations: Sequence[tuple[str, Operand]], by: int, keep: int = 0) -> list[tuple[str, Operand]]:
    """Increase jump targets by `by`, except for the last `keep` operations."""
    moved = len(operations) - keep
    return [
        (name, argument + by if name in _JUMPS and at < moved else argument)
        for at, (name, argument) in enumerate(operations)
    ]

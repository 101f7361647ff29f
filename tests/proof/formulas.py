"""Random expressions: every literal, name, operator and function, of a wanted kind."""

from dataclasses import dataclass
from typing import Any

from proof.chance import Chance
from proof.scope import Known, Scope

_ARITHMETIC = ("+", "-", "*", "//", "%", "&", "|", "^", "<<", ">>")
_OF_FLOATS = ("+", "-", "*")
_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
_EDGES = (127, 128, 255, 256, 65535, 2**31 - 1, 2**32, 2**63 - 1, 2**64 - 1)


def literal(value: Any) -> str:
    """A literal in the notation of expressions."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return f"'{value}'"
        case _:
            return str(value)


@dataclass(frozen=True)
class Formulas:
    """Makes expressions for one place in a spec."""

    scope: Scope
    late: bool = False  # may use all names of the struct
    parameters: bool = False  # may use only parameters
    checks: bool = False  # for a check

    @property
    def chance(self) -> Chance:
        """The source of choices."""
        return self.scope.draft.chance

    @property
    def depth(self) -> int:
        """The nesting depth of expressions."""
        return self.scope.draft.temper.formulas

    def named(self, *kinds: str) -> list[Known]:
        """Known names of these kinds."""
        if self.parameters:
            return Scope(self.scope.draft, "").named(*kinds)
        return self.scope.named(*kinds)

    def integer(self, depth: int = 0) -> str:
        """An integer."""
        chance = self.chance
        if depth >= self.depth or chance.often(0.45):
            return self._plain_integer()
        sums = self._sums()
        return str(
            chance.does(
                [
                    (6, lambda: self._binary(depth)),
                    (1, lambda: f"-{self._part(self.integer(depth + 1))}"),
                    (1, lambda: f"~{self._part(self.integer(depth + 1))}"),
                    (1.5, lambda: self._conditional(self.integer, depth)),
                    (1, lambda: self._call("len", "text", "bytes")),
                    (1, lambda: self._call("count", "list")),
                    *((1, lambda: chance.one(sums)) for _ in sums[:1]),
                    (1, lambda: f"{chance.one(['min', 'max'])}({self._list(self.integer, depth)})"),
                    (0.4, lambda: f"decimal({self.text(depth + 1)}, {chance.one([8, 32, 63, 64, 128])})"),
                    (0.6, self._number_of_bytes),
                    (0.2, lambda: f"md5({self.text(depth + 1)})"),
                ]
            )
        )

    def _number_of_bytes(self) -> str:
        """The integer value of bytes or of a part of them."""
        chance, known = self.chance, self.named("bytes")
        if not known:
            return self._plain_integer()
        name = chance.one(known).name
        part = name if chance.often(0.5) else f"slice({name}, {chance.randint(0, 2)}, {chance.randint(0, 8)})"
        return f"int({part}, '{chance.one(['big', 'little'])}')"

    def number(self, depth: int = 0) -> str:
        """A float, or an integer instead."""
        chance, floats = self.chance, self.named("float")
        if depth >= self.depth or chance.often(0.5):
            return chance.one(floats).name if floats and chance.often(0.7) else self.integer(depth)
        return str(
            chance.does(
                [
                    (3, lambda: self._joined(chance.one(_OF_FLOATS), self.number, depth)),
                    (1, lambda: f"-{self._part(self.number(depth + 1))}"),
                    (1, lambda: self._conditional(self.number, depth)),
                    (1, lambda: f"{chance.one(['min', 'max'])}({self._list(self.number, depth)})"),
                ]
            )
        )

    def boolean(self, depth: int = 0) -> str:
        """A condition."""
        chance = self.chance
        flags = self.named("bool", "any")
        if flags and chance.often(0.25):
            return chance.one(flags).name
        if depth >= self.depth or chance.often(0.5):
            return self._comparison(depth)
        return str(
            chance.does(
                [
                    (2, self._present),
                    (1, lambda: f"not {self._part(self.boolean(depth + 1))}"),
                    (2, lambda: self._joined(chance.one(["and", "or"]), self.boolean, depth)),
                    (0.5, lambda: chance.one(["true", "false", "null"])),
                    (1, lambda: self._conditional(self.boolean, depth)),
                    (1, lambda: self._comparison(depth)),
                ]
            )
        )

    def text(self, depth: int = 0) -> str:
        """A text."""
        chance, texts = self.chance, [each for each in self.named("text") if not each.coded]
        if texts and depth < self.depth and chance.often(0.2):
            return self._made(self.text, self._joins("text"), depth)
        if texts and chance.often(0.6):
            return chance.one(texts).name
        if self.scope.draft.ranges and chance.often(0.4):
            return f"rangeName({self.integer(depth + 1)}, '{chance.one(sorted(self.scope.draft.ranges))}')"
        if depth < self.depth and chance.often(0.2):
            return self._conditional(self.text, depth)
        return chance.one(["'a'", "'b'", "''", "'12'", "'it s'", "'é'"])

    def octets(self, depth: int = 0) -> str:
        """Bytes that have a name."""
        chance, known = self.chance, self.named("bytes")
        if depth < self.depth and chance.often(0.5):
            return self._made(self.octets, self._joins("bytes"), depth)
        return chance.one(known).name

    def tag(self) -> Known | None:
        """A name for `select`."""
        found = self.named("int", "bool", "text", "any")
        return self.chance.one(found) if found else None

    # --- parts ---

    def _plain_integer(self) -> str:
        chance = self.chance
        options = self.named("int", "any")
        if options and chance.often(0.6):
            return chance.one(options).name
        if self.scope.marks and not self.parameters and chance.often(0.3):
            return chance.one(self.scope.marks)
        if not (self.parameters or self.late) and self.scope.encoding == "binary" and chance.often(0.15):
            return chance.one(["here", "size"])
        if not (self.parameters or self.late) and self.scope.in_list and chance.often(0.2):
            return "index"
        if chance.often(0.05):
            return str(chance.one(_EDGES))
        return chance.one(["0", "1", "2", "3", "4", "8", "0x10", "0xFF", "5", "7"])

    def _part(self, text: str) -> str:
        """An operand, in parentheses unless it is a single word."""
        return text if text.replace(".", "").replace("_", "").isalnum() else f"({text})"

    def _binary(self, depth: int) -> str:
        operator = self.chance.one(_ARITHMETIC)
        joined = self._joined(operator, self.integer, depth)
        by_zero = operator in ("//", "%") and joined.endswith(f" {operator} 0")
        return joined[:-1] + "3" if by_zero and self.chance.often(0.98) else joined

    def _joined(self, operator: str, maker: Any, depth: int) -> str:
        return f"{self._part(maker(depth + 1))} {operator} {self._part(maker(depth + 1))}"

    def _conditional(self, maker: Any, depth: int) -> str:
        condition, this, that = (self._part(each(depth + 1)) for each in (self.boolean, maker, maker))
        return f"{condition} ? {this} : {that}"

    def _list(self, maker: Any, depth: int) -> str:
        return ", ".join(maker(depth + 1) for _ in range(self.chance.randint(2, 3)))

    def _call(self, function: str, *kinds: str) -> str:
        found = self.named(*kinds)
        return f"{function}({self.chance.one(found).name})" if found else self._plain_integer()

    def _sums(self) -> list[str]:
        """Sums over known lists."""
        found = self.named("list")
        sums = [f"sum({each.name})" for each in found if each.integers]
        for each in found:
            inner = [known for known in each.elements if known.kind == "int"]
            summed = [known.name for known in inner if known.plain or (self.checks and known.checked)]
            sums += [f"sum({each.name}.{name})" for name in summed]
        return sums

    def _joins(self, kind: str) -> list[str]:
        """Texts joined from lists."""
        between = "'.'" if kind == "text" else "'00'"
        found = self.named("list")
        joins = [f"join({each.name}, {between})" for each in found if each.texts == kind]
        for each in found:
            inner = [known for known in each.elements if known.kind == kind and known.plain]
            joins += [f"join({each.name}.{known.name}, {between})" for known in inner]
        return joins

    def _made(self, maker: Any, joins: list[str], depth: int) -> str:
        """A part of a text or of bytes, or several joined."""
        chance = self.chance
        if joins and chance.often(0.5):
            return chance.one(joins)
        if chance.often(0.4):
            return f"concat({self._list(maker, depth)})"
        places = ", ".join(self._place(depth) for _ in range(chance.randint(1, 2)))
        return f"slice({maker(depth + 1)}, {places})"

    def _place(self, depth: int) -> str:
        """An index into a text."""
        chance = self.chance
        return self.integer(depth + 1) if chance.often(0.3) else str(chance.randint(-3, 4))

    def _present(self) -> str:
        found = self.named("int", "bool", "text", "bytes", "list", "struct", "any", "float")
        found = [each for each in found if not each.sure or self.chance.often(0.01)]
        return f"present({self.chance.one(found).name})" if found else "true"

    def _comparison(self, depth: int) -> str:
        chance = self.chance
        known = [each for each in self.named("text") if each.values is None or any(each.values)]
        if known and chance.often(0.25):
            return self._text_comparison(chance.one(known))
        if depth < self.depth and (known or self.named("bytes")) and chance.often(0.05):
            return self._comparison_of_texts(depth)
        numbers = self.named("int", "any", "float")
        if not numbers:
            return self._present()
        number = chance.one(numbers)
        left, operators = number.name, _OF_FLOATS if number.kind == "float" else _ARITHMETIC
        if depth < self.depth and chance.often(0.3):
            left = f"{left} {chance.one(operators)} {self._part(self.integer(depth + 1))}"
        if chance.often(0.15):
            options = ", ".join(str(chance.randint(0, 9)) for _ in range(chance.randint(1, 3)))
            return f"{self._part(left)} {chance.one(['in', 'not in'])} [{options}]"
        right = str(chance.randint(0, 9)) if chance.often(0.5) else self._part(self.integer(depth + 1))
        sides = [self._part(left), right if right != self._part(left) else str(chance.randint(0, 9))]
        if chance.often(0.2):
            sides.reverse()
        return f"{sides[0]} {chance.one(_COMPARISONS)} {sides[1]}"

    def _comparison_of_texts(self, depth: int) -> str:
        """A comparison of computed texts or bytes with each other or with literals."""
        chance = self.chance
        of_bytes = bool(self.named("bytes")) and chance.often(0.6)
        maker, literals = (self.octets, ("00", "6161", "")) if of_bytes else (self.text, ("a", "aa", ""))
        left = self._made(maker, self._joins("bytes" if of_bytes else "text"), depth)
        if of_bytes and chance.often(0.3):
            left = chance.one(self.named("bytes")).name
        if chance.often(0.2):
            options = ", ".join(literal(each) for each in chance.some(literals, 1))
            return f"{left} {chance.one(['in', 'not in'])} [{options}]"
        right = literal(chance.one(literals)) if chance.often(0.6) else self._part(maker(depth + 1))
        return f"{left} {chance.one(['==', '!='])} {right if right != left else literal(chance.one(literals))}"

    def _text_comparison(self, known: Known) -> str:
        chance = self.chance
        texts = [each for each in known.values or ("a", "b") if isinstance(each, str)] or ["a"]
        if chance.often(0.3):
            options = ", ".join(literal(each) for each in chance.some(texts, 1))
            return f"{known.name} {chance.one(['in', 'not in'])} [{options}]"
        return f"{known.name} {chance.one(['==', '!='])} {literal(chance.one(texts))}"

"""The state while a spec is written: the format, the current struct, and the names for expressions."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from proof.chance import Chance
from wireloom.runtime.codes import CODES
from wireloom.spec.language import Document

ABSENT: Any = object()


def document(kind: type[Document], values: Mapping[str, Any]) -> dict[str, Any]:
    """A mapping of the language. Each of its keys needs a value or ABSENT, otherwise it raises KeyError."""
    found = {key: values[key] for key in kind.keys()}  # noqa: SIM118 - a class method, no mapping
    return {key: value for key, value in found.items() if value is not ABSENT}


@dataclass(slots=True)
class Known:
    """A name that expressions see, the kind of its value, and further properties."""

    name: str
    kind: str  # int, bool, text, bytes, float, list, struct or any
    values: tuple[Any, ...] | None = None
    members: tuple["Known", ...] = ()
    elements: tuple["Known", ...] = ()
    counted: bool = False
    integers: bool = False  # its elements are integers on the wire
    coded: bool = False  # a text in a character set; expressions see its bytes
    texts: str = ""  # its elements are texts or bytes on the wire
    plain: bool = False  # the value equals the wire value
    checked: bool = False  # the same, or computed or hidden; checks may use it in sums
    sure: bool = False  # never null, as the loader knows


@dataclass(frozen=True, slots=True)
class Temper:
    """How large and deep a spec gets, and how many keys a field has."""

    fields: tuple[tuple[float, int], ...] = ((1, 1), (3, 2), (3, 3), (2, 4), (1, 5))
    types: int = 9
    depth: int = 3  # of nested structs
    formulas: int = 2  # the depth of expressions
    keys: float = 1.0  # the relative number of keys per field


TEMPERS = (
    (6, Temper()),
    (1.2, Temper(((1, 3), (2, 6), (2, 9), (1, 14)), types=20, depth=4)),
    (1, Temper(((2, 1), (3, 2), (1, 3)), types=14, depth=9)),
    (2, Temper(formulas=4, keys=3.0)),
)


@dataclass(slots=True)
class Draft:
    """A format being written."""

    chance: Chance
    encoding: str
    temper: Temper = Temper()
    types: dict[str, Any] = field(default_factory=dict)
    parameters: dict[str, Any] = field(default_factory=dict)
    known_parameters: list[Known] = field(default_factory=list)
    ranges: dict[str, Any] = field(default_factory=dict)
    checksums: dict[str, Any] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    names: int = 0
    budget: int = 9  # the number of named types that may still be added
    rests: set[str] = field(default_factory=set)  # structs that take the other members of their object
    made: list[tuple[str, Any]] = field(default_factory=list)  # finished structs with their encodings, for reuse

    def name(self, letter: str) -> str:
        """An unused name."""
        self.names += 1
        return f"{letter}{self.names}"

    def code(self) -> str:
        """An error code that the spec uses: its own or a built-in one."""
        if self.chance.often(0.2):
            return self.chance.one(sorted(CODES))
        code = self.chance.one(["bad_thing", "bad_other", "bad_third"])
        self.errors[code] = "Something is wrong."
        return code

    def new_type(self, letter: str = "T") -> str:
        """The name of a new type."""
        self.budget -= 1
        return self.name(letter)


@dataclass(slots=True)
class Scope:
    """The current struct: its encoding, its fields so far, and the outer scope."""

    draft: Draft
    encoding: str
    known: list[Known] = field(default_factory=list)
    marks: list[str] = field(default_factory=list)
    outer: "Scope | None" = None
    depth: int = 0
    in_list: bool = False

    def inner(self, encoding: str, *, in_list: bool = False) -> "Scope":
        """The scope of an inner struct."""
        return Scope(self.draft, encoding, outer=self, depth=self.depth + 1, in_list=self.in_list or in_list)

    def visible(self) -> Iterator[Known]:
        """Every visible name, the struct's own ones more often."""
        yield from self.known
        yield from self.known
        yield from self.draft.known_parameters
        if self.outer is not None:
            yield from self.outer.known

    def named(self, *kinds: str) -> list[Known]:
        """Visible names of these kinds, including dotted ones."""
        found: list[Known] = []
        for each in self.visible():
            if each.kind in kinds:
                found.append(each)
            found += [
                Known(f"{each.name}.{member.name}", member.kind, member.values)
                for member in each.members
                if member.kind in kinds
            ]
        return found

"""What the parts of the compiler pass to each other: scopes, sinks and items.

A `Scope` has the names of one struct, a `Sink` says where a value goes, an `Item` is a field with its scope and
column. A scope holds the register of each name, mark and table that expressions may use, and the registers of the
start and size of its struct. An expression that asks a scope for something it does not have raises `Uncovered`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeGuard

from wireloom.runtime.engine import nodes
from wireloom.runtime.engine.programs.assembly import Register, Uncovered
from wireloom.runtime.engine.programs.columns import Column
from wireloom.runtime.engine.programs.expressions import Constant, Tree
from wireloom.runtime.primitives.numerals import LONGEST, base_of, width_of

Node = nodes.Type
Version = tuple[list[str], Tree]
"""The names of a struct's versions, and the expression that gives the place of the one at hand."""

MD5 = "md5"
"""The one digest that the engine computes."""
FRONT = "\0front"
"""The mark of how far fields reach that stand before what counts from the end."""
_WIDEST_PADDED = 1 << 31
_WORD = 64  # bits of a register
_NUMERALS = {"varint": 0, "zigzag": 0, "bcd": 6, "packed": 7}
_NUMERALS |= {"decimal": 8, "hexadecimal": 9, "octal": 10, "capitals": 11, "extended": 12, "ended": 14}
_NUMERALS |= {"zoned": 15, "leading zoned": 16, "overpunched": 17, "leading overpunched": 18}
ALWAYS = Constant(True)  # noqa: FBT003 - a value
UNBOUNDED = (-(1 << 63), (1 << 63) - 1)
"""The limits of a number that any register holds."""


@dataclass(eq=False, slots=True)
class Discard:
    """A list that a step after it empties unless a condition holds for each element."""

    keep: Tree
    dropped: Register  # true where the condition did not hold of an element
    listed: bool = False  # the list has been read
    column: Column | None = None


@dataclass(frozen=True, slots=True)
class Last:
    """What tells that an element is the last of its list: the register is filled where the condition holds for it."""

    holds: Tree
    register: Register


@dataclass(eq=False, slots=True)
class Located:
    """How many elements of an array have been read whose length depends on the record; it has `least` in any case."""

    least: int
    certain: int = 0  # by every record
    unsure: bool = False  # others by some


@dataclass(eq=False)
class Scope:
    """The names of one struct, and where it stands."""

    encoding: str
    parent: "Scope | None" = None
    into: "Scope | None" = None  # the struct that this one's members melt into
    place: Register | None = None  # its place in the list that it is an element of
    names: dict[str, Register] = field(default_factory=dict)
    records: dict[str, "Scope"] = field(default_factory=dict)  # the names within fields that are records
    joint: bool = False  # the names of a field's members, whatever records it may be
    marks: dict[str, Register] = field(default_factory=dict)
    tables: dict[str, int] = field(default_factory=dict)
    texts: set[str] = field(default_factory=set)  # protobuf: the lists of texts, which have what others refer to
    checksums: dict[str, "Item"] = field(default_factory=dict)
    words: dict[str, Register] = field(default_factory=dict)  # of checksums, as they stand in 64 bits
    elements: dict[str, Tree] = field(default_factory=dict)  # what says that the array of the struct has an element
    located: Located | None = None  # MessagePack: of an array whose length depends on the record
    places: dict[str, Register] = field(default_factory=dict)  # where checksums stand that cover themselves
    discards: dict[str, Discard] = field(default_factory=dict)
    start_register: Register | None = None
    size_register: Register | None = None
    reach: Register | None = None  # the farthest position, where fields stand at offsets
    holder: int | None = None  # JSON: the slot of the object or array that fields are looked for in
    members: int | None = None  # the table of the object's members; None: an array
    others: int = 0  # MessagePack: whether members that are not in that table are allowed, refused or taken
    shared: bool = False  # the object is that of the struct around
    listed: bool = False  # a list of its own has been read, whose last index `index` would see

    def field(self, up: int, name: str, members: Sequence[str] = ()) -> Register:
        """The register of a field, or of a member of the record that it is."""
        scope = self.outward(up)
        for inner in members:
            if name not in scope.records:
                raise Uncovered(f"members of {name!r} in an expression")
            scope, name = scope.records[name], inner
        if name not in scope.names:
            raise Uncovered(f"the field {name!r}, whose value the engine does not keep, in an expression")
        return scope.names[name]

    def within(self, name: str) -> "Scope":
        """What the names of a field's members melt into, whatever record it is: one register each.

        A field of what melts into a struct is that struct's, too.
        """
        if name not in self.records:
            self.records[name] = Scope(self.encoding, joint=True) if self.into is None else self.into.within(name)
        return self.records[name]

    def outward(self, up: int) -> "Scope":
        """The scope so many structs outward."""
        scope: Scope | None = self
        for _ in range(up):
            scope = scope.parent if scope is not None else None
        if scope is None:
            raise Uncovered("a field from outside of the record")
        return scope

    def discard(self, name: str) -> Discard | None:
        """What empties a list of the struct, or of one that it melts into."""
        scope: Scope | None = self
        while scope is not None and name not in scope.discards:
            scope = scope.into
        return None if scope is None else scope.discards[name]

    def mark(self, name: str) -> Register:
        """The register of a mark."""
        if name not in self.marks:
            raise Uncovered(f"the mark {name!r} before it is set")
        return self.marks[name]

    def start(self) -> Register:
        """The register of the struct's first byte."""
        if self.encoding == "json":
            raise Uncovered("an offset or a size in JSON")
        if self.start_register is None:
            raise Uncovered("an offset outside of a struct")
        return self.start_register.read()

    def size(self) -> Register:
        """The register of the size of the struct's region."""
        if self.encoding == "json":
            raise Uncovered("an offset or a size in JSON")
        if self.size_register is None:
            raise Uncovered("a size outside of a struct")
        return self.size_register.read()

    def index(self) -> Register:
        """The register of the place in the innermost list."""
        scope: Scope | None = self
        while scope is not None and not scope.listed:
            if scope.place is not None:
                return scope.place
            scope = scope.parent
        raise Uncovered("`index` after a list of the same struct")


@dataclass(frozen=True, slots=True)
class Sink:
    """Where a value goes: to expressions, to readers, or nowhere; of a field called `name` the members are known."""

    register: Register | None = None
    column: Column | None = None
    name: str = ""
    word: Register | None = None  # of an integer as it stands in 64 bits, which no expression sees


NOWHERE = Sink()


@dataclass(frozen=True, slots=True)
class Item:
    """A field being compiled: what the layout says of it, where it is, and the column that shows it."""

    field: nodes.Field
    scope: Scope
    record: Column | None
    column: Column | None

    @property
    def name(self) -> str:
        """What expressions call it."""
        return self.field.name

    @property
    def type(self) -> Node:
        """Its type."""
        return self.field.type


def needs(bit: nodes.Bits, *, shared: bool) -> bool:
    """Whether the value must give these bits: they are a field of their own, and nothing determines them."""
    return shared and bit.derive is None and bit.null is None and not bit.hidden


def member(record: Column | None, name: str) -> Column | None:
    """The column of a member, where the record is asked for."""
    return None if record is None else record.children.get(name)


def limits(bits: int, signed: bool) -> tuple[int, int]:  # noqa: FBT001 - as in the layout
    """The least and the greatest integer of a type, as far as 64 signed bits hold them."""
    least, greatest = (-(1 << min(bits, _WORD) - 1), 1 << bits - 1) if signed else (0, 1 << bits)
    return least, min(greatest - 1, (1 << _WORD - 1) - 1)


def number_form(node: Node, big: bool) -> tuple[int, bool, int]:  # noqa: FBT001 - as the compiler has it
    """How binary writes an integer: its bytes, whether it is signed, whether the highest byte comes first.

    One that is not written as its two's complement has none, and in place of the order a word of its bits, its form
    and its digits, or its markers: the first byte that is one, whether the highest byte comes first after them, and
    four bits for each; or the most digits, their form, and how many bytes end them, and which. Signed varints are
    zigzag.
    """
    match node:
        case nodes.Int(bits, signed, form, nodes.Markers(first, widths, order)):
            markers = first | ordered(order, big) << 8 | sum(width << 9 + 4 * n for n, width in enumerate(widths))
            return 0, signed, bits | _NUMERALS[form] << 8 | markers << 16
        case nodes.Int(bits, signed, form, nodes.Ending(digits, ending)):
            after = len(ending) << 12 | int.from_bytes(ending, "little") << 16
            return 0, signed, bits | _NUMERALS[form] << 8 | (LONGEST[digits] | _NUMERALS[digits] << 8 | after) << 16
        case nodes.Int(bits, signed, form, int() | None as digits) if form in _NUMERALS:
            return 0, signed, bits | _NUMERALS[form] << 8 | (digits or 0) << 16
        case nodes.Int(_, _, "vlq" | "sleb" | "quic" | "sqlite" | "flac" | "ebml" as form):
            raise Uncovered(f"a binary integer in {form} form")
        case nodes.Int(bits, signed, form) if bits <= 64 and bits % 8 == 0:
            return bits // 8, signed, ordered(form, big)
        case nodes.Int(bits):
            raise Uncovered(f"a binary integer of {bits} bits")
        case _:
            raise AssertionError(f"the form of an integer that is a {word_of(node)}")


def is_bits(node: Node) -> bool:
    """Whether the elements of a list in binary are no whole number of bytes."""
    match node:
        case nodes.Bit():
            return True
        case nodes.Int(bits, _, form):
            return bits % 8 > 0 and form in ("", "big", "little")
        case _:
            return False


def word_of(node: nodes.Arm) -> str:
    """What a layout calls the sort of a type, as reasons say it."""
    return node.words[0]


def taken(node: Node) -> str:
    """What the column of a value takes; "" if that is no single kind."""
    match node:
        case nodes.ListOf(entries=True) | nodes.MapOf():
            return "map"
        case nodes.Text() | nodes.Json():
            return "str"
        case nodes.Int() | nodes.Bool() | nodes.Float() | nodes.Bytes() | nodes.ListOf() | nodes.Null():
            return word_of(node)
        case _:
            return ""


def ordered(form: str, big: bool) -> bool:  # noqa: FBT001 - as the compiler has it
    """Whether the highest byte of a number comes first: if its form does not say, as the compiler has it."""
    return form == "big" if form else big


def prefix_word(prefix: nodes.Prefix, big: bool) -> int:  # noqa: FBT001 - as the compiler has it
    """A number before what it counts, as instructions have it: its form, and whether -1 is null. Never 0."""
    return front_word(prefix.number, big) | int(prefix.null) << 6


def front_word(number: nodes.Int, big: bool) -> int:  # noqa: FBT001 - as the compiler has it
    """How instructions have a number before what it counts that is not null. Never 0."""
    width, signed, order = number_form(number, big)
    return 1 | width << 1 | int(signed) << 5 | int(order) << 8


def most(node: nodes.Int) -> int:
    """The greatest number of an integer type, as far as 62 bits hold it."""
    match node:
        case nodes.Int(_, _, form, int(digits)):
            greatest = int(base_of(form) ** digits) - 1
        case _:
            _, greatest = limits(node.bits, node.signed)
    return min(greatest, 1 << 62)


def is_computed(amount: nodes.Amount) -> TypeGuard[Tree]:
    """Whether an expression that is no constant says a size or a count."""
    return isinstance(amount, nodes.Node) and not isinstance(amount, nodes.Counted)


def padded_word(padded: nodes.Padded) -> int:
    """The size of what is filled up, and the byte that does so, as instructions have them."""
    if padded.size > _WIDEST_PADDED:
        raise Uncovered(f"a text padded to {padded.size} bytes")
    return padded.size << 8 | padded.fill[-1]


def ending_of(amount: nodes.Amount) -> bytes | None:
    """The bytes that end a value or a list; None if it does not end so."""
    match amount:
        case nodes.Delimiter(data) | nodes.Terminator(data) | nodes.Terminated(data):
            return data
        case nodes.Delimited(delimiters):
            return delimiters[0]
        case _:
            return None


def endless(amount: nodes.Amount) -> str:
    """The code of a value that no delimiter ends; empty if that is what its region says."""
    return amount.code if isinstance(amount, nodes.Delimiter | nodes.Delimited) else ""


def held_width(node: Node) -> int:
    """The bytes to be held for an integer whose value comes later; 0 if the value says in how many it is written."""
    match node:
        case nodes.Int(_, signed, form, int(digits)):
            return width_of(form, digits, signed=signed)
        case _:
            width, *_ = number_form(node, big=True)
            return width


def need_width(column: Column | None, bits: int, signed: bool) -> None:  # noqa: FBT001 - as in the layout
    """The column must hold every value of the type."""
    if column is not None and column.kind != "decimal" and column.bits < (bits if signed else bits + 1):
        raise Uncovered(f"an integer of {bits} bits in a column of {column.bits} bits")

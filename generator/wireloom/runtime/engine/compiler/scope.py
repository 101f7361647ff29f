"""What the parts of the compiler pass to each other: scopes, sinks and items.

A `Scope` holds the names of one struct, a `Sink` tells where a value goes, an `Item` is a field with its scope and
column. A scope holds the register of each name, mark and table that expressions may use, and the registers of the
start and size of its struct. If an expression needs something that its scope lacks, the scope raises `Uncovered`.
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
"""The names of a struct's versions, and the expression for the index of the current one."""

MD5 = "md5"
"""The one digest that the engine computes."""
FRONT = "\0front"
"""The mark for the end of the fields before those that count from the end."""
_WIDEST_PADDED = 1 << 31
_WORD = 64  # bits of a register
_NUMERALS = {"varint": 0, "zigzag": 0, "bcd": 6, "packed": 7}
_NUMERALS |= {"decimal": 8, "hexadecimal": 9, "octal": 10, "capitals": 11, "extended": 12, "ended": 14}
_NUMERALS |= {"zoned": 15, "leading zoned": 16, "overpunched": 17, "leading overpunched": 18}
ALWAYS = Constant(True)  # noqa: FBT003 - a value
UNBOUNDED = (-(1 << 63), (1 << 63) - 1)
"""The limits of a number that fits any register."""


@dataclass(eq=False, slots=True)
class Discard:
    """A list that a later step empties unless a condition holds for each element."""

    keep: Tree
    dropped: Register  # true if the condition failed for an element
    listed: bool = False  # the list has been read
    column: Column | None = None


@dataclass(frozen=True, slots=True)
class Last:
    """The condition that an element is the last of its list; the register is filled when it holds."""

    holds: Tree
    register: Register


@dataclass(eq=False, slots=True)
class Located:
    """How many elements of a variable-length array have been read; the array has at least `least`."""

    least: int
    certain: int = 0  # in every record
    unsure: bool = False  # whether some records had more


@dataclass(eq=False)
class Scope:
    """The names of one struct, and its place among the other structs."""

    encoding: str
    parent: "Scope | None" = None
    into: "Scope | None" = None  # the struct that this one is flattened into
    place: Register | None = None  # its index, if it is an element of a list
    names: dict[str, Register] = field(default_factory=dict)
    records: dict[str, "Scope"] = field(default_factory=dict)  # the names inside fields that are records
    joint: bool = False  # holds the names of a field's members, whichever record it is
    marks: dict[str, Register] = field(default_factory=dict)
    tables: dict[str, int] = field(default_factory=dict)
    texts: set[str] = field(default_factory=set)  # protobuf: the lists of texts that `refers` fields index
    checksums: dict[str, "Item"] = field(default_factory=dict)
    words: dict[str, Register] = field(default_factory=dict)  # of checksums, as 64 raw bits
    elements: dict[str, Tree] = field(default_factory=dict)  # the condition that the array has an element, by field
    located: Located | None = None  # MessagePack: for arrays whose length depends on the record
    places: dict[str, Register] = field(default_factory=dict)  # the positions of checksums that cover themselves
    discards: dict[str, Discard] = field(default_factory=dict)
    start_register: Register | None = None
    size_register: Register | None = None
    reach: Register | None = None  # the farthest position, if fields have offsets
    holder: int | None = None  # JSON, MessagePack: the slot of the object or array with the fields
    members: int | None = None  # the table of the object's members; None for an array
    others: int = 0  # MessagePack: whether unknown members are allowed or refused
    shared: bool = False  # the object belongs to the enclosing struct
    listed: bool = False  # a list of the struct has been read, and has changed `index`

    def field(self, up: int, name: str, members: Sequence[str] = ()) -> Register:
        """The register of a field, or of a member of the record in that field."""
        scope = self.outward(up)
        for inner in members:
            if name not in scope.records:
                raise Uncovered(f"members of {name!r} in an expression")
            scope, name = scope.records[name], inner
        if name not in scope.names:
            raise Uncovered(f"the field {name!r}, whose value the engine does not keep, in an expression")
        return scope.names[name]

    def within(self, name: str) -> "Scope":
        """The scope for the members of a record field: one register for each name, whichever record the field holds.

        If this struct is flattened into another, that one's scope is used.
        """
        if name not in self.records:
            self.records[name] = Scope(self.encoding, joint=True) if self.into is None else self.into.within(name)
        return self.records[name]

    def outward(self, up: int) -> "Scope":
        """The scope `up` structs outward."""
        scope: Scope | None = self
        for _ in range(up):
            scope = scope.parent if scope is not None else None
        if scope is None:
            raise Uncovered("a field from outside of the record")
        return scope

    def discard(self, name: str) -> Discard | None:
        """The discard of a list in the struct, or in one that it is flattened into."""
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
        """The register of the index in the innermost list."""
        scope: Scope | None = self
        while scope is not None and not scope.listed:
            if scope.place is not None:
                return scope.place
            scope = scope.parent
        raise Uncovered("`index` after a list of the same struct")


@dataclass(frozen=True, slots=True)
class Sink:
    """Where a value goes: a register for expressions, a column for readers, or neither; `name` is its field's name."""

    register: Register | None = None
    column: Column | None = None
    name: str = ""
    word: Register | None = None  # for an integer as raw 64 bits, hidden from expressions


NOWHERE = Sink()


@dataclass(frozen=True, slots=True)
class Item:
    """A field being compiled: its layout node, its scope, and the columns of its record and itself."""

    field: nodes.Field
    scope: Scope
    record: Column | None
    column: Column | None

    @property
    def name(self) -> str:
        """The name in expressions."""
        return self.field.name

    @property
    def type(self) -> Node:
        """Its type."""
        return self.field.type


def needs(bit: nodes.Bits, *, shared: bool) -> bool:
    """Whether callers must supply these bits: nothing derives them, and they are neither nullable nor hidden."""
    return shared and bit.derive is None and bit.null is None and not bit.hidden


def member(record: Column | None, name: str) -> Column | None:
    """The column of a member; None if the record was not requested."""
    return None if record is None else record.children.get(name)


def limits(bits: int, signed: bool) -> tuple[int, int]:  # noqa: FBT001 - as in the layout
    """The smallest and greatest integer of a type, clipped to 64 signed bits."""
    least, greatest = (-(1 << min(bits, _WORD) - 1), 1 << bits - 1) if signed else (0, 1 << bits)
    return least, min(greatest - 1, (1 << _WORD - 1) - 1)


def number_form(node: Node, big: bool) -> tuple[int, bool, int]:  # noqa: FBT001 - as the compiler has it
    """How binary writes an integer: width in bytes, signed, big-endian.

    An integer that is not plain two's complement has width 0, and in place of the byte order a word of bits, form and
    detail. The detail is the number of digits; or, for markers, the first marker byte, the byte order, and four bits
    for each width; or, for digits with an ending, the most digits, their form, and the ending's length and bytes.
    Signed varints are zigzag.
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
    """Whether the elements of a binary list are not whole bytes."""
    match node:
        case nodes.Bit():
            return True
        case nodes.Int(bits, _, form):
            return bits % 8 > 0 and form in ("", "big", "little")
        case _:
            return False


def word_of(node: nodes.Arm) -> str:
    """The word for a type in layouts and in reasons."""
    return node.words[0]


def taken(node: Node) -> str:
    """The kind of value that the type's column takes; "" if there are several."""
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
    """Whether a number is big-endian: by its form, else by the compiler's byte order."""
    return form == "big" if form else big


def prefix_word(prefix: nodes.Prefix, big: bool) -> int:  # noqa: FBT001 - as the compiler has it
    """The operand for a number before the data: its form, and whether -1 is null. Never 0."""
    return front_word(prefix.number, big) | int(prefix.null) << 6


def front_word(number: nodes.Int, big: bool) -> int:  # noqa: FBT001 - as the compiler has it
    """The operand for a number before the data that cannot be null. Never 0."""
    width, signed, order = number_form(number, big)
    return 1 | width << 1 | int(signed) << 5 | int(order) << 8


def most(node: nodes.Int) -> int:
    """The greatest number of an integer type, clipped to 62 bits."""
    match node:
        case nodes.Int(_, _, form, int(digits)):
            greatest = int(base_of(form) ** digits) - 1
        case _:
            _, greatest = limits(node.bits, node.signed)
    return min(greatest, 1 << 62)


def is_computed(amount: nodes.Amount) -> TypeGuard[Tree]:
    """Whether a size or count is computed by an expression that is not a constant."""
    return isinstance(amount, nodes.Node) and not isinstance(amount, nodes.Counted)


def padded_word(padded: nodes.Padded) -> int:
    """The operand for padding: the size and the fill byte."""
    if padded.size > _WIDEST_PADDED:
        raise Uncovered(f"a text padded to {padded.size} bytes")
    return padded.size << 8 | padded.fill[-1]


def ending_of(amount: nodes.Amount) -> bytes | None:
    """The bytes that end a value or a list; None for other sizes."""
    match amount:
        case nodes.Delimiter(data) | nodes.Terminator(data) | nodes.Terminated(data):
            return data
        case nodes.Delimited(delimiters):
            return delimiters[0]
        case _:
            return None


def endless(amount: nodes.Amount) -> str:
    """The error code for a missing delimiter; empty if the region may end the value instead."""
    return amount.code if isinstance(amount, nodes.Delimiter | nodes.Delimited) else ""


def held_width(node: Node) -> int:
    """The bytes to reserve for an integer whose value is known later; 0 if its width depends on the value."""
    match node:
        case nodes.Int(_, signed, form, int(digits)):
            return width_of(form, digits, signed=signed)
        case _:
            width, *_ = number_form(node, big=True)
            return width


def need_width(column: Column | None, bits: int, signed: bool) -> None:  # noqa: FBT001 - as in the layout
    """Raise Uncovered unless the column holds every value of the type."""
    if column is not None and column.kind != "decimal" and column.bits < (bits if signed else bits + 1):
        raise Uncovered(f"an integer of {bits} bits in a column of {column.bits} bits")

"""The nodes of a layout: declared types that the emitter writes and the engine's compilers read.

A generated `layout.py` states each node as a tuple: its word, then its parts, as in `("int", 8, False)`. Trailing parts
that equal their default are omitted. `loaded` makes nodes of such tuples when the engine first needs them; the emitter
makes the same nodes from the model and writes them as tuples.

A node *is* its tuple, with a property for each part. So it is immutable, compares by value, and a class of nodes takes
microseconds to make, where a dataclass takes hundreds: users should not pay for the engine at import. The type checker
sees plain objects: readers ask for parts by name, and each union below is closed.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from operator import itemgetter
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Final,
    Literal,
    Self,
    TypedDict,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

Scalar = bool | int | float | str | bytes | None
Form = Literal["sequence", "array", "object", "message"]


class Absent:
    """Marks a field without a default; None cannot, because null is a valid default."""


ABSENT: Final = Absent()

if TYPE_CHECKING:
    _Base = object
else:
    _Base = tuple


@dataclass_transform(frozen_default=True)
class Node(_Base):
    """A tuple of the declared parts, after a word if nodes of several classes can occur in one place.

    A class has one `word` or, if its first part is the word, several `words`. With `rest`, the last part is a tuple
    whose elements are stored inline at the end. With `keys`, the parts that have defaults are stored in a mapping at
    the end, under their names or the names that `keys` gives them.
    """

    words: ClassVar[tuple[str, ...]] = ()
    _lead: ClassVar[tuple[str, ...]] = ()
    _rest: ClassVar[bool] = False
    _keys: ClassVar[Mapping[str, str] | None] = None
    _defaults: ClassVar[Mapping[str, Any]] = {}
    _names: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(
        cls,
        word: str = "",
        words: tuple[str, ...] = (),
        keys: Mapping[str, str] | None = None,
        *,
        rest: bool = False,
    ) -> None:
        names = tuple(cls.__annotations__)
        cls._lead = (word,) if word else ()
        cls.words, cls._rest, cls._keys = words or cls._lead, rest, keys
        cls._names = names
        setattr(cls, "__match_args__", names)  # noqa: B010 - of this class, not of its instances
        cls._defaults = {name: vars(cls)[name] for name in names if name in vars(cls)}
        for place, name in enumerate(names, len(cls._lead)):
            setattr(cls, name, property(cls._part(name, place)))

    @classmethod
    def _part(cls, name: str, place: int) -> Callable[[Any], Any]:
        """The getter of the part with this name."""
        if cls._rest and name == cls._names[-1]:
            return itemgetter(slice(place, None))
        if name not in cls._defaults:
            return itemgetter(place)
        default = cls._defaults[name]
        if cls._keys is None:
            return lambda node: node[place] if len(node) > place else default
        key = cls._keys.get(name, name)
        return lambda node: node[-1].get(key, default)

    def __new__(cls, *given: Any, **named: Any) -> Self:
        """Make a node from its parts."""
        names, defaults = cls._names, cls._defaults
        parts = [*given, *(named.pop(name) if name in named else defaults[name] for name in names[len(given) :])]
        assert len(parts) == len(names), f"too many parts for {cls.__name__}"
        assert not named, f"{cls.__name__} has no {next(iter(named))}"
        required = len(names) - len(defaults)
        if cls._rest:
            parts[-1:] = parts[-1]
        elif cls._keys is not None:
            stated = [
                (n, part) for n, part in zip(names, parts, strict=True) if n in defaults and not _is(part, defaults[n])
            ]
            parts[required:] = [{cls._keys.get(name, name): part for name, part in stated}]
        else:
            while len(parts) > required and _is(parts[-1], defaults[names[len(parts) - 1]]):
                parts.pop()
        made: Self = tuple.__new__(cls, (*cls._lead, *parts))  # type: ignore[type-var]
        return made

    def with_parts(self, **named: Any) -> Self:
        """A copy in which the parts of these names are replaced."""
        return type(self)(**({name: getattr(self, name) for name in self._names} | named))

    def changed(self, change: Callable[[Any], Any]) -> Self:
        """A copy with `change` applied to each element of its tuple."""
        parts: Any = self
        made: Self = tuple.__new__(type(self), map(change, parts))  # type: ignore[type-var]
        return made

    @classmethod
    def load(cls, stated: Any) -> Self:
        """Make a node from the tuple that states it."""
        if isinstance(stated, cls):
            return stated
        kind: Any = cls
        readers = _readers(kind)
        names, parts = cls._names, stated[len(cls._lead) :]
        if cls._rest:
            last = len(names) - 1
            parts = (*parts[:last], parts[last:])
        if cls._keys is None:
            return cls(*(read(part) for read, part in zip(readers.values(), parts, strict=False)))
        called = {cls._keys.get(name, name): name for name in names}
        *own, others = parts
        named = {called[key]: part for key, part in others.items()}
        named |= dict(zip(names, own, strict=False))
        return cls(**{name: readers[name](part) for name, part in named.items()})


def _is(part: object, default: object) -> bool:
    return part is default or (type(part) is type(default) and part == default)


@cache
def _readers(kind: Any) -> Mapping[str, Callable[[Any], Any]]:
    """The function that loads each part of a class of nodes, by the part's name."""
    hints = get_type_hints(kind)
    return {name: _reader(hints[name]) for name in kind._names}


@cache
def _reader(declared: Any) -> Callable[[Any], Any]:
    """The function that loads a part of a declared type: a node, a tuple of nodes, or a value that stays as it is."""
    kinds = get_args(declared) if isinstance(declared, UnionType) else (declared,)
    for each in kinds:
        if get_origin(each) is tuple and get_args(each)[1:] == (...,):
            read = _reader(get_args(each)[0])
            return lambda parts: parts if parts is None else tuple(map(read, parts))
    classes: list[type[Node]] = [each for each in kinds if isinstance(each, type) and issubclass(each, Node)]
    by_word = {word: each for each in classes for word in each.words}
    other = next((each for each in classes if not each.words), None)

    def load(part: Any) -> Any:
        if not isinstance(part, tuple) or isinstance(part, Node):
            return part
        found = by_word.get(part[0], other)
        assert found is not None, f"no node has the word {part[0]!r}"
        return found.load(part)

    return load if classes else lambda part: part


# --- expressions -----------------------------------------------------------------------------------------------------


class NullConstant(Node, word="null"):
    """The constant null; a missing expression is None instead."""


class TextConstant(Node, word="text"):
    """A text constant of the format."""

    text: str


class BytesConstant(Node, word="octets"):
    """A bytes constant of the format."""

    data: bytes


class ParameterRef(Node, word="parameter", rest=True):
    """A parameter, or a member of it."""

    name: str
    members: tuple[str, ...]


class FieldRef(Node, word="field", rest=True):
    """A field of the struct `up` levels outward, or, with `members`, a member of the record in that field."""

    up: int
    name: str
    members: tuple[str, ...] = ()


class MarkRef(Node, word="mark"):
    """The position where a mark was set."""

    name: str


class Position(Node, words=("here", "size", "index")):
    """The current position in the struct, the struct's size in bytes, or the index in the innermost list."""

    word: str


class Unary(Node, words=("not", "negative", "~")):
    """An operation on one value."""

    word: str
    operand: "Tree"


class Binary(
    Node,
    words=("and", "or", "==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "//", "%", "&", "|", "^", "<<", ">>"),
):
    """An operation on two values."""

    word: str
    left: "Tree"
    right: "Tree"


class Among(Node, word="in"):
    """Whether a value is one of some constants."""

    operand: "Tree"
    options: "tuple[Tree, ...]"


class If(Node, word="if"):
    """One of two values, chosen by a condition."""

    condition: "Tree"
    then: "Tree"
    otherwise: "Tree"


class RangeName(Node, word="rangeName"):
    """The name of the range that contains a number, from a table of ranges."""

    operand: "Tree"
    ranges: str


class NumberOf(Node, word="int"):
    """Bytes as an unsigned integer."""

    data: "Tree"
    order: Literal["big", "little"]


class Sum(Node, word="sum"):
    """The sum over a list, or over a member of its elements."""

    listed: "Tree"
    member: str = ""


class Join(Node, word="join"):
    """The texts of a list, or of a member of its elements, with a separator between them."""

    listed: "Tree"
    separator: "Tree"
    member: str = ""


class Slice(Node, word="slice"):
    """A part of a text or of bytes, from an offset to another one or to the end."""

    kind: str
    whole: "Tree"
    start: "Tree"
    end: "Tree" = None


class Call(Node, rest=True):
    """A call of any function that has no node of its own."""

    word: str
    arguments: "tuple[Tree, ...]"


Function = RangeName | NumberOf | Sum | Join | Slice | Call
Tree = (
    None
    | bool
    | int
    | NullConstant
    | TextConstant
    | BytesConstant
    | ParameterRef
    | FieldRef
    | MarkRef
    | Position
    | Unary
    | Binary
    | Among
    | If
    | Function
)
"""An expression: an integer or boolean constant as it is, a node, or None for no expression."""


def own(name: str) -> FieldRef:
    """A field of the struct itself."""
    return FieldRef(0, name)


def present(tree: Tree) -> Call:
    """Whether a value is not null."""
    return Call("present", (tree,))


def negated(tree: Tree) -> Unary:
    """Whether a condition does not hold."""
    return Unary("not", tree)


def both(one: Tree, other: Tree) -> Binary:
    """The conjunction of two conditions."""
    return Binary("and", one, other)


class Formula(Node, word="is"):
    """An expression in a part that may be missing; the wrapper tells the constant null from a missing expression."""

    tree: Tree


# --- sizes and counts -------------------------------------------------------------------------------------------------


class Prefix(Node, word="prefix"):
    """A count or size that is stored before the data; with `null`, -1 means null."""

    number: "Int"
    null: bool


class Blocks(Node, word="blocks"):
    """Parts, each after its length; 0 ends the value. A negative length is followed by the part's size in bytes."""

    number: "Int"
    size: "Int | None" = None


class Delimiter(Node, word="delimiter"):
    """Bytes that end the value; they are searched at multiples of `unit` bytes from its start."""

    data: bytes
    code: str
    unit: int = 1


class Delimited(Node, word="delimited"):
    """Several possible delimiters, or a delimiter that can be escaped."""

    delimiters: tuple[bytes, ...]
    code: str
    unit: int
    escape: int | None
    escaped: tuple[tuple[int, int], ...]
    kept: bool = False


class Padded(Node, word="padded"):
    """A fixed size; shorter values are padded with `fill`."""

    size: int
    fill: bytes


class Last(Node, word="last"):
    """The first element for which the condition holds is the last of its list."""

    holds: Tree


class Jump(Node):
    """The numbers that, in place of an element, are pointers to where the list continues."""

    number: "Int"
    least: int
    most: int
    start: int
    bound: int | None


class Terminator(Node, word="terminator"):
    """Bytes that end a list, or a pointer in place of them."""

    data: bytes
    jump: "Jump | None" = None


class Terminated(Node, word="terminated"):
    """Bytes that end a list if a condition holds; otherwise the region ends it."""

    data: bytes
    when: Tree


Counted = Prefix | Blocks | Delimiter | Delimited | Padded | Last | Terminator | Terminated
"""The ways to state a size or a count that are not expressions."""
Amount = Tree | Counted


# --- what values are checked against, and what they mean -------------------------------------------------------------


class Meaning(Node):
    """A value on the wire and its meaning."""

    wire: Scalar
    means: Tree


class Spelling(Node):
    """The allowed length of a text, and its pattern."""

    minimum: int | None
    maximum: int | None
    pattern: str


class Bits(Node):
    """Some bits of an integer; `null` is the number that means null, `renamed` the name for readers."""

    name: str
    low: int
    width: int
    signed: bool
    values: "tuple[Meaning, ...] | None"
    code: str
    hidden: bool
    derive: Tree
    null: Scalar = None
    renamed: str | None = None

    @property
    def title(self) -> str:
        """The name for readers; expressions use `name`."""
        return self.renamed or self.name


class Checksum(Node):
    """A checksum over a range; with `hole`, its own bytes (at `at`, or where it was read) count as zeros."""

    algorithm: str
    start: Tree
    end: Tree
    code: str
    hole: bool = False
    at: int | None = None


class Cover(Node):
    """Further input of a checksum, after or before its range: a number of `octets` bytes, or (0) bytes."""

    after: int
    octets: int
    value: Tree


class TableRef(Node):
    """The table of the enclosing message that a field indexes, and the error code for an index out of range."""

    table: str
    code: str


class Packing(Node):
    """The compression codec, by a tag; `unknown` is the error code for other tags."""

    tag: Tree
    cases: tuple[tuple[tuple[Scalar, ...], str], ...]
    unknown: str


class Salvage(Node):
    """The error codes that end a list early if a condition holds, and the field that counts the bytes lost."""

    codes: tuple[str, ...]
    when: Tree
    lost: str


# --- types -----------------------------------------------------------------------------------------------------------


class Markers(Node, word="markers"):
    """An integer in one byte; a byte from `first` on is a marker instead, and the integer follows in so many bytes."""

    first: int
    widths: tuple[int, ...]
    order: str = ""


class Ending(Node, word="ending"):
    """The form of an integer's digits, and the bytes that end them."""

    digits: str
    data: bytes


IntegerDetail = int | Markers | Ending


class Int(Node, word="int"):
    """An integer; `form` is its notation if not the encoding's default, `detail` the number of digits or similar."""

    bits: int
    signed: bool
    form: str = ""
    detail: "IntegerDetail | None" = None


class Float(Node, word="float"):
    """A float of 16, 32 or 64 bits."""

    bits: int
    form: str = ""


class Bool(Node, word="bool"):
    """True or false."""


class Null(Node, word="null"):
    """The value null."""


class Text(Node, word="text"):
    """UTF-8 text."""

    size: "Amount | None"


class Charset(Node, word="charset"):
    """Text in a character set other than UTF-8."""

    type: "Type"
    charset: str


class Bytes(Node, word="bytes"):
    """Bytes. In JSON they are base64, with `line_feeds` or without; `pieces`: a protobuf message kept as bytes."""

    size: "Amount | None"
    code: str
    line_feeds: bool = False
    pieces: bool = False


class Json(Node, word="json", rest=True):
    """A JSON value of some kinds (`any`, `array`, `object`) that is kept as text."""

    kinds: tuple[str, ...]


class ListOf(Node, word="list"):
    """A list; no two elements may have the same value of the member `unique`. With `entries`, readers see a map."""

    element: "Type"
    count: "Amount | None"
    unique: str | None
    unique_code: str
    salvage: "Salvage | None"
    entries: bool


class Bit(Node, word="bit"):
    """A list element that is one bit."""

    form: str = ""


class Held(Node, word="held", keys={}):
    """An element with constraints: `values`, a range or a spelling."""

    type: "Type"
    code: str = ""
    values: "tuple[Meaning, ...] | None" = None
    minimum: int | None = None
    maximum: int | None = None
    spelling: "Spelling | None" = None


class MapOf(Node, word="map"):
    """A map."""

    key: "Type"
    value: "Type"


class Spelled(Node, word="spelled"):
    """A map key with constraints on its length or pattern."""

    type: "Type"
    spelling: "Spelling"
    code: str


class Ext(Node, word="ext"):
    """An ext value of MessagePack, of text or bytes."""

    code: int
    content: Literal["text", "bytes"]


class Nullable(Node, word="nullable"):
    """A value or null."""

    type: "Type"


class Ref(Node, word="ref"):
    """A type of the layout by its name."""

    name: str


class OneOf(Node, word="oneOf"):
    """One of several types, told apart by the bytes; `open`: any value, shown as it is."""

    open: bool
    alternatives: "tuple[Type, ...]"


class Refuse(Node, word="refuse"):
    """A case that is refused with an error."""

    code: str


class Case(Node):
    """The values that select a type; the case without values takes all others."""

    values: tuple[Scalar, ...]
    type: "Arm"


class Select(Node, word="select"):
    """One of several types, selected by an expression."""

    tag: Tree
    cases: tuple[Case, ...]
    code: str


class Peek(Node, word="peek"):
    """One of several types, selected by a number that is read without consuming it."""

    tag: "Type"
    cases: tuple[Case, ...]
    code: str


class Tagged(Node, word="tagged"):
    """One of several types, selected by a member of the object."""

    member: str
    presence: bool
    default: Scalar
    required: bool
    cases: tuple[Case, ...]
    code: str


class Fallback(Node):
    """Error codes that lead to the next trial, if a condition holds."""

    codes: tuple[str, ...]
    when: Tree


class Trial(Node):
    """An alternative; readers try it in order, builders choose it if `build_when` holds."""

    name: str
    type: "Type"
    fallbacks: "tuple[Fallback, ...]"
    build_when: Tree


class Attempt(Node, word="attempt"):
    """The first trial that reads without an error; the members `kind` and `reason` hold its name and the last error."""

    trials: "tuple[Trial, ...]"
    kind: str
    reason: str


class Version(Node):
    """A version of a struct, determined by the length of its array or by a condition."""

    name: str
    arity: int | None
    when: Tree


class Struct(Node, word="struct"):
    """A struct: its steps, in order."""

    name: str
    encoding: str
    form: Form
    versions: "tuple[Version, ...]"
    steps: "tuple[Step, ...]"

    @property
    def fields(self) -> "tuple[Field, ...]":
        """The steps that are fields."""
        return fields(self.steps)


class Inline(Node, word="inline"):
    """A record whose members are stored in the enclosing object."""

    type: "Type"


Type = (
    Int
    | Float
    | Bool
    | Null
    | Text
    | Charset
    | Bytes
    | Json
    | ListOf
    | Bit
    | Held
    | MapOf
    | Spelled
    | Ext
    | Nullable
    | Ref
    | OneOf
    | Select
    | Peek
    | Tagged
    | Attempt
    | Struct
    | Inline
)
Arm = Type | Refuse


# --- steps -----------------------------------------------------------------------------------------------------------


class Field(Node, word="field", keys={"renamed": "as", "base": "from", "one_of": "oneOf"}):
    """A field: its type and, by their names, the parts that differ from their defaults."""

    name: str
    type: Type
    renamed: str | None = None  # the name for readers, if it differs
    code: str = ""
    at: Tree = None
    base: str = ""  # the mark that `at` counts from
    size: "Amount | None" = None
    packing: "Packing | None" = None
    when: Tree = None
    optional: bool = False
    default: Scalar | Absent = ABSENT
    const: Scalar = None
    values: "tuple[Meaning, ...] | None" = None
    minimum: int | None = None
    maximum: int | None = None
    spelling: "Spelling | None" = None
    bits: "tuple[Bits, ...]" = ()
    shared: bool = False  # a group of bytes whose bits are the fields
    compute: "Formula | None" = None
    given: bool = False
    derive: "Formula | None" = None
    build: "Formula | None" = None  # with `compute`: the expression that builders use instead
    checksum: "Checksum | None" = None
    stored: "Formula | None" = None  # the expression that is compared in place of the checksum
    covers: "tuple[Cover, ...]" = ()
    refers: "TableRef | None" = None
    flatten: bool = False
    counted: bool = False
    table: bool = False
    hidden: bool = False
    tag: int = 0
    one_of: str = ""
    group: bool = False
    besides: tuple[str, ...] | None = None
    member: str | None = None  # the name of the member in an object, if it differs
    since: str = ""
    until: str = ""

    @property
    def title(self) -> str:
        """The name for readers."""
        return self.renamed or self.name

    @property
    def is_written(self) -> bool:
        """Whether it is on the wire."""
        return self.compute is None and not self.counted

    @property
    def is_conditional(self) -> bool:
        """Whether its presence depends on a condition or a version."""
        return self.when is not None or bool(self.since or self.until)

    @property
    def has_default(self) -> bool:
        """Whether it has a default; null counts as one."""
        return self.default is not ABSENT

    @property
    def default_value(self) -> Scalar:
        """Its default; None also if it has none."""
        return None if isinstance(self.default, Absent) else self.default

    @property
    def derived(self) -> Tree:
        """The expression that it is derived from, or None."""
        return None if self.derive is None else self.derive.tree

    @property
    def wire_member(self) -> str:
        """The name of the member in an object."""
        return self.name if self.member is None else self.member

    @property
    def stated(self) -> Mapping[str, Any]:
        """The parts that differ from their defaults, by their names in the layout."""
        parts: Any = self
        found: Mapping[str, Any] = parts[-1]
        return found


class Check(Node, word="check"):
    """A condition that must hold."""

    that: Tree
    code: str
    when: Tree


class Verify(Node, word="verify"):
    """Compare a checksum with the data that it covers."""

    field: str
    when: Tree


class Mark(Node, word="mark"):
    """Name the current position."""

    name: str


class Need(Node, word="need"):
    """The struct must have at least so many bytes."""

    count: Tree


class Frame(Node, word="frame"):
    """The struct ends after so many bytes."""

    count: Tree


class End(Node, word="end"):
    """The region must end here."""

    code: str


class Discard(Node, word="discard"):
    """Empty a list unless a condition holds for each element; the field `count` tells how many it had."""

    field: str
    keep: Tree
    count: str
    when: Tree


Step = Field | Check | Verify | Mark | Need | Frame | End | Discard


def fields(steps: Sequence[Step]) -> tuple[Field, ...]:
    """The steps that are fields."""
    return tuple(step for step in steps if isinstance(step, Field))


class Layout(TypedDict, total=False):
    """The layout of a format. Limits are numbers or names of parameters."""

    version: int
    format: str
    order: str | tuple[str, tuple[str, ...]]
    depth: Any
    expansion: Any
    ratio: Any
    crcs: Mapping[str, tuple[int | bool | str, ...]]
    ranges: Mapping[str, tuple[tuple[str, int | None, int | None], ...]]
    types: Mapping[str, Type]
    roots: Mapping[str, Type]
    unknown: str  # the parameter for unknown members; in JSON always present, if only as None
    replaced: str  # the parameter for invalid UTF-8
    structure: Mapping[str, int]  # JSON: how deep each root nests
    needs: Mapping[str, tuple[str, ...]]  # the required members, for structs chosen by them
    digest: str


def within(part: Any) -> Iterator[Node]:
    """All nodes in a part of a layout; each before the nodes inside it."""
    if isinstance(part, Node):
        yield part
    if isinstance(part, dict):
        part = part.values()
    elif not isinstance(part, tuple | list):
        return
    for each in part:
        yield from within(each)


def loaded(layout: Mapping[str, Any]) -> Layout:
    """The generated layout with its tuples made into nodes."""
    read = _reader(Type)
    parts = {name: {key: read(type) for key, type in layout[name].items()} for name in ("types", "roots")}
    made: Any = {**layout, **parts}
    found: Layout = made
    return found


def is_laid_out(layout: Layout, root: str) -> bool:
    """Whether records of a root are binary: their first struct is."""
    waiting, met = [layout["roots"][root]], set[str]()
    for type in waiting:
        for part in within(type):
            if isinstance(part, Struct):
                return part.encoding == "binary"
            if isinstance(part, Ref) and part.name not in met:
                met.add(part.name)
                waiting.append(layout["types"][part.name])
    return False

"""The nodes of a layout: declared types that the emitter writes and the engine's compilers read.

A generated `layout.py` states each node as a tuple: its word, then its parts, as in `("int", 8, False)`. Parts at the
end that have their default are left out. `loaded` makes nodes of such tuples when the engine first needs them, as the
declarations below say; the emitter makes the same nodes from the model and writes them as they are.

A node *is* the tuple that states it, with a name for each part. So it is immutable, compares by value, and a class of
nodes takes microseconds to make, where a dataclass takes hundreds: an engine should not cost its users an import. The
type checker sees plain objects: readers ask for parts by name, and each union below is closed.
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
    """The default of a field that has none, since null is a default, too."""


ABSENT: Final = Absent()

if TYPE_CHECKING:
    _Base = object
else:
    _Base = tuple


@dataclass_transform(frozen_default=True)
class Node(_Base):
    """A tuple of a word, where nodes of several classes may stand in one place, and of the parts declared.

    A class has one `word` or, if its first part is the word, several `words`. With `rest`, the elements of the last
    part are the last elements of the tuple. With `keys`, parts that have defaults stand in a mapping at the end, by
    their names or as `keys` calls them.
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
        """What gives the part of a node that has this name."""
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
        """The node of these parts."""
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
        """The node with other parts of these names."""
        return type(self)(**({name: getattr(self, name) for name in self._names} | named))

    def changed(self, change: Callable[[Any], Any]) -> Self:
        """The node with each part of its tuple changed."""
        parts: Any = self
        made: Self = tuple.__new__(type(self), map(change, parts))  # type: ignore[type-var]
        return made

    @classmethod
    def load(cls, stated: Any) -> Self:
        """The node that a tuple states."""
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
    """What reads each part of a class of nodes."""
    hints = get_type_hints(kind)
    return {name: _reader(hints[name]) for name in kind._names}


@cache
def _reader(declared: Any) -> Callable[[Any], Any]:
    """What makes nodes of a part that is declared so: of nodes, of tuples of them, or of neither."""
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
    """Null; no expression at all is None."""


class TextConstant(Node, word="text"):
    """A text that the format states."""

    text: str


class BytesConstant(Node, word="octets"):
    """Bytes that the format states."""

    data: bytes


class ParameterRef(Node, word="parameter", rest=True):
    """A parameter, or a member of it."""

    name: str
    members: tuple[str, ...]


class FieldRef(Node, word="field", rest=True):
    """A field of the struct so many structs outward, or a member of the record that it is."""

    up: int
    name: str
    members: tuple[str, ...] = ()


class MarkRef(Node, word="mark"):
    """Where a mark was set."""

    name: str


class Position(Node, words=("here", "size", "index")):
    """How far the struct has come, how many bytes it has, or the place in the innermost list."""

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
    """One of two values, as a condition says."""

    condition: "Tree"
    then: "Tree"
    otherwise: "Tree"


class RangeName(Node, word="rangeName"):
    """The name of the range of a table that a number is in."""

    operand: "Tree"
    ranges: str


class NumberOf(Node, word="int"):
    """The unsigned number that bytes are."""

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
    """A part of a text or of bytes, from a place to another or to the end."""

    kind: str
    whole: "Tree"
    start: "Tree"
    end: "Tree" = None


class Call(Node, rest=True):
    """A function of values: any word that no other node has."""

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
"""An expression: a number or truth as it is, a node, or None where there is none."""


def own(name: str) -> FieldRef:
    """A field of the struct itself."""
    return FieldRef(0, name)


def present(tree: Tree) -> Call:
    """Whether a value is there."""
    return Call("present", (tree,))


def negated(tree: Tree) -> Unary:
    """Whether a condition does not hold."""
    return Unary("not", tree)


def both(one: Tree, other: Tree) -> Binary:
    """Whether two conditions hold."""
    return Binary("and", one, other)


class Formula(Node, word="is"):
    """An expression that is stated, though it may be a constant."""

    tree: Tree


# --- how many bytes or elements there are ----------------------------------------------------------------------------


class Prefix(Node, word="prefix"):
    """A number before what it counts; `null`: -1 stands for null."""

    number: "Int"
    null: bool


class Blocks(Node, word="blocks"):
    """A number before each part, of which 0 ends the value; a negative one has its size after it."""

    number: "Int"
    size: "Int | None" = None


class Delimiter(Node, word="delimiter"):
    """Bytes after the value, which has a whole number of units before them."""

    data: bytes
    code: str
    unit: int = 1


class Delimited(Node, word="delimited"):
    """One of several delimiters, or one that may be escaped."""

    delimiters: tuple[bytes, ...]
    code: str
    unit: int
    escape: int | None
    escaped: tuple[tuple[int, int], ...]
    kept: bool = False


class Padded(Node, word="padded"):
    """A size that is filled up."""

    size: int
    fill: bytes


class Last(Node, word="last"):
    """The last element of a list is the first for which this holds."""

    holds: Tree


class Jump(Node):
    """Which numbers in place of an element are pointers to where the list goes on."""

    number: "Int"
    least: int
    most: int
    start: int
    bound: int | None


class Terminator(Node, word="terminator"):
    """Bytes after the last element, or a pointer in place of them."""

    data: bytes
    jump: "Jump | None" = None


class Terminated(Node, word="terminated"):
    """Bytes after the last element where a condition holds, else the end of the region."""

    data: bytes
    when: Tree


Counted = Prefix | Blocks | Delimiter | Delimited | Padded | Last | Terminator | Terminated
"""What says how many bytes or elements there are, and is no expression."""
Amount = Tree | Counted


# --- what values are checked against, and what they mean -------------------------------------------------------------


class Meaning(Node):
    """What a value on the wire means."""

    wire: Scalar
    means: Tree


class Spelling(Node):
    """The lengths that a text may have, and the pattern that it must match."""

    minimum: int | None
    maximum: int | None
    pattern: str


class Bits(Node):
    """Bits of an integer; `null` is the number that means null, `renamed` what readers call them."""

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
        """What readers call the bits, which expressions call by their name."""
        return self.renamed or self.name


class Checksum(Node):
    """A checksum of a range; with a `hole` it may be among these bytes, as zeros, `at` a place or where it was read."""

    algorithm: str
    start: Tree
    end: Tree
    code: str
    hole: bool = False
    at: int | None = None


class Cover(Node):
    """What a checksum covers beside its range: after it or before, a number of so many bytes or (0) bytes."""

    after: int
    octets: int
    value: Tree


class TableRef(Node):
    """The table of the message around that a field is an index into, and the code of an index beyond it."""

    table: str
    code: str


class Packing(Node):
    """The codec that a tag selects, and the code of a tag that selects none."""

    tag: Tree
    cases: tuple[tuple[tuple[Scalar, ...], str], ...]
    unknown: str


class Salvage(Node):
    """The errors that end a list early, if a condition holds, and the field that counts the bytes lost."""

    codes: tuple[str, ...]
    when: Tree
    lost: str


# --- types -----------------------------------------------------------------------------------------------------------


class Markers(Node, word="markers"):
    """An integer that is one byte, unless that byte is the `first` marker or a later one: of so many bytes then."""

    first: int
    widths: tuple[int, ...]
    order: str = ""


class Ending(Node, word="ending"):
    """The form of an integer's digits, and the bytes that end them."""

    digits: str
    data: bytes


IntegerDetail = int | Markers | Ending


class Int(Node, word="int"):
    """An integer; `form` is how it is written unless as the encoding has it, `detail` its digits and the like."""

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
    """Null alone."""


class Text(Node, word="text"):
    """UTF-8 text."""

    size: "Amount | None"


class Charset(Node, word="charset"):
    """Bytes that are text in another character set."""

    type: "Type"
    charset: str


class Bytes(Node, word="bytes"):
    """Bytes; in JSON base64, with line feeds or not; in protobuf maybe a message kept as it is, in pieces."""

    size: "Amount | None"
    code: str
    line_feeds: bool = False
    pieces: bool = False


class Json(Node, word="json", rest=True):
    """A JSON value of some kinds (`any`, `array`, `object`) that is kept as its text."""

    kinds: tuple[str, ...]


class ListOf(Node, word="list"):
    """Elements of one type; `unique` is the member that no two of them may share, `entries`: readers see a map."""

    element: "Type"
    count: "Amount | None"
    unique: str | None
    unique_code: str
    salvage: "Salvage | None"
    entries: bool


class Bit(Node, word="bit"):
    """A boolean of one bit, as an element of a list."""

    form: str = ""


class Held(Node, word="held", keys={}):
    """An element that is checked against values, a range or a spelling."""

    type: "Type"
    code: str = ""
    values: "tuple[Meaning, ...] | None" = None
    minimum: int | None = None
    maximum: int | None = None
    spelling: "Spelling | None" = None


class MapOf(Node, word="map"):
    """Entries of keys and values."""

    key: "Type"
    value: "Type"


class Spelled(Node, word="spelled"):
    """A key that is checked against a spelling."""

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
    """One of several types, told by the bytes; `open`: any value, shown as it is."""

    open: bool
    alternatives: "tuple[Type, ...]"


class Refuse(Node, word="refuse"):
    """A case that is an error."""

    code: str


class Case(Node):
    """The values that select a type; none: all others."""

    values: tuple[Scalar, ...]
    type: "Arm"


class Select(Node, word="select"):
    """One of several types, by an expression."""

    tag: Tree
    cases: tuple[Case, ...]
    code: str


class Peek(Node, word="peek"):
    """One of several types, by a number that is read ahead."""

    tag: "Type"
    cases: tuple[Case, ...]
    code: str


class Tagged(Node, word="tagged"):
    """One of several types, by a member of the object."""

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
    """A type that is tried; builders choose it if its condition holds."""

    name: str
    type: "Type"
    fallbacks: "tuple[Fallback, ...]"
    build_when: Tree


class Attempt(Node, word="attempt"):
    """The first type that reads without an error; the names of the members for its name and the error before it."""

    trials: "tuple[Trial, ...]"
    kind: str
    reason: str


class Version(Node):
    """A version of a struct, told by the length of its array or by a condition."""

    name: str
    arity: int | None
    when: Tree


class Struct(Node, word="struct"):
    """Steps, one after the other."""

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
    """A record whose members stand in the object around it."""

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
    """A field: its type and, by their names, what is not the default."""

    name: str
    type: Type
    renamed: str | None = None  # what readers call it, if that is another name
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
    shared: bool = False  # bytes that fields share, which are its bits
    compute: "Formula | None" = None
    given: bool = False
    derive: "Formula | None" = None
    build: "Formula | None" = None  # beside `compute`: what builders compute
    checksum: "Checksum | None" = None
    stored: "Formula | None" = None  # what stands for the checksum
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
    member: str | None = None  # what an object calls it, if that is another name
    since: str = ""
    until: str = ""

    @property
    def title(self) -> str:
        """What readers call it."""
        return self.renamed or self.name

    @property
    def is_written(self) -> bool:
        """Whether it is on the wire."""
        return self.compute is None and not self.counted

    @property
    def is_conditional(self) -> bool:
        """Whether a condition or a version says if it is there."""
        return self.when is not None or bool(self.since or self.until)

    @property
    def has_default(self) -> bool:
        """Whether it has a default, be it null."""
        return self.default is not ABSENT

    @property
    def default_value(self) -> Scalar:
        """Its default; null also where it has none."""
        return None if isinstance(self.default, Absent) else self.default

    @property
    def derived(self) -> Tree:
        """What it is derived from; None where it is not derived."""
        return None if self.derive is None else self.derive.tree

    @property
    def wire_member(self) -> str:
        """What an object calls it."""
        return self.name if self.member is None else self.member

    @property
    def stated(self) -> Mapping[str, Any]:
        """What is not the default, by its name in the layout."""
        parts: Any = self
        found: Mapping[str, Any] = parts[-1]
        return found


class Check(Node, word="check"):
    """A condition that must hold."""

    that: Tree
    code: str
    when: Tree


class Verify(Node, word="verify"):
    """Compare a checksum with what it covers."""

    field: str
    when: Tree


class Mark(Node, word="mark"):
    """Give this place a name."""

    name: str


class Need(Node, word="need"):
    """The struct must have so many bytes."""

    count: Tree


class Frame(Node, word="frame"):
    """The struct ends after so many bytes."""

    count: Tree


class End(Node, word="end"):
    """The region must end here."""

    code: str


class Discard(Node, word="discard"):
    """Empty a list unless a condition holds for each element; the field `count` says how many it had."""

    field: str
    keep: Tree
    count: str
    when: Tree


Step = Field | Check | Verify | Mark | Need | Frame | End | Discard


def fields(steps: Sequence[Step]) -> tuple[Field, ...]:
    """The steps that are fields."""
    return tuple(step for step in steps if isinstance(step, Field))


class Layout(TypedDict, total=False):
    """What a format states for the engine. Limits are numbers or names of parameters."""

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
    unknown: str  # the parameter for members that nothing names; of JSON always there, if only as None
    replaced: str  # the parameter for what is no UTF-8
    structure: Mapping[str, int]  # of JSON: how deep each root nests
    needs: Mapping[str, tuple[str, ...]]  # of structs that are told by their members, what a value must have
    digest: str


def within(part: Any) -> Iterator[Node]:
    """All nodes of a part of a layout, each before those within it."""
    if isinstance(part, Node):
        yield part
    if isinstance(part, dict):
        part = part.values()
    elif not isinstance(part, tuple | list):
        return
    for each in part:
        yield from within(each)


def loaded(layout: Mapping[str, Any]) -> Layout:
    """A layout as it was generated, with nodes for tuples."""
    read = _reader(Type)
    parts = {name: {key: read(type) for key, type in layout[name].items()} for name in ("types", "roots")}
    made: Any = {**layout, **parts}
    found: Layout = made
    return found


def is_laid_out(layout: Layout, root: str) -> bool:
    """Whether records of a root are binary: the structs that they begin with are."""
    ahead, met = [layout["roots"][root]], set[str]()
    for type in ahead:
        for part in within(type):
            if isinstance(part, Struct):
                return part.encoding == "binary"
            if isinstance(part, Ref) and part.name not in met:
                met.add(part.name)
                ahead.append(layout["types"][part.name])
    return False

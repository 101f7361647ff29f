"""Wire types: how bytes become values, after every name has been resolved.

A closed union, one class per idea; the type checker lists the emitters that forgot one. Two conventions hold for all:
`code` is the error code that the type's own check reports, and the order of a struct's steps is the order in which
every decoder checks them.
"""

from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import Union

from wireloom.encodings import Encoding, Form
from wireloom.expr.ast import Expression, Literal
from wireloom.model.ground import Ending, automaton, base_of, width_of
from wireloom.model.logical import Encoded, Measured, Named, Said, Scaled, Written

Scalar = int | bool | str | bytes | float | None


class Presence(Enum):
    """Whether a field may be left out of its container (JSON member, protobuf field)."""

    REQUIRED = "required"
    OPTIONAL = "optional"


class NumberForm(Enum):
    """How a number is written; what its value may be is another matter."""

    OWN = "own"  # as the encoding has it: binary in its width, protobuf as a varint, the others in any width
    BIG = "big"  # in its width, the highest byte first, whatever the order of the format
    LITTLE = "little"  # in its width, the lowest byte first
    VARINT = "varint"  # seven bits a byte, the lowest first; the highest bit says that another byte follows (LEB128)
    ZIGZAG = "zigzag"  # a varint of 2n, or of -2n - 1 where it is negative
    FIXED = "fixed"  # in its width, in protobuf
    VLQ = "vlq"  # seven bits a byte, the highest first; the highest bit says that another byte follows
    QUIC = "quic"  # the two highest bits say 1, 2, 4 or 8 bytes (RFC 9000)
    SQLITE = "sqlite"  # as VLQ, but that a ninth byte is the last and has eight bits
    FLAC = "flac"  # as UTF-8 writes a character, in up to seven bytes
    SLEB = "sleb"  # as a varint, in two's complement: the second highest bit of the last byte is the sign
    EBML = "ebml"  # the place of the highest bit that is set says how many bytes; all others set is the greatest number
    BCD = "bcd"  # a decimal digit in each half of a byte, the highest first
    PACKED = "packed"  # the same, and the sign in the last half (COMP-3)
    ZONED = "zoned"  # digits in EBCDIC, a byte each, the sign in the upper half of the last one
    LEADING_ZONED = "leading zoned"  # the same, the sign in the upper half of the first one
    OVERPUNCHED = "overpunched"  # the characters of zoned digits in ASCII
    LEADING_OVERPUNCHED = "leading overpunched"  # those of digits with the sign in the first one
    DECIMAL = "decimal"  # digits in ASCII, a byte each, and a sign in front of signed ones
    HEXADECIMAL = "hexadecimal"  # the same, of base 16
    CAPITALS = "capitals"  # the same, written in capitals
    OCTAL = "octal"  # the same, of base 8


_WIDEST = 64  # bits of a register
ORDERED = (NumberForm.BIG, NumberForm.LITTLE)
"""The forms that state an order of bytes."""
DIGITS = (NumberForm.DECIMAL, NumberForm.HEXADECIMAL, NumberForm.CAPITALS, NumberForm.OCTAL)
"""Digits in ASCII."""


# --- scalars -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Markers:
    """Bytes that are no number, but say how many bytes of one follow.

    They are `first` and those after it, in the order of `widths`; 0 is a byte that says nothing. So say bytes after
    the last one. Those before `first` are the number.
    """

    first: int
    widths: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Integer:
    """An integer that `bits` bits can hold, and its form on the wire. What a form can say beyond is `int_range`.

    Signed ones of 65 bits are those that int64 or uint64 holds. Forms that are written in digits have so many
    `digits`, others none. One that shares bytes with its neighbours has the `share` of them that a run of such fields
    has: the last one all. One that is a byte unless that is one of the `markers` has its order of bytes after them.
    One in as many digits as its value takes has the `ending` after them.
    """

    bits: int
    signed: bool
    form: NumberForm = NumberForm.OWN
    digits: int = 0
    share: int | None = None
    markers: Markers | None = None
    ending: bytes = b""

    @property
    def is_plain(self) -> bool:
        """Whether it is written, in binary, as its two's complement in so many bytes."""
        return self.form in (NumberForm.OWN, *ORDERED) and self.share is None and self.markers is None

    @property
    def is_partial(self) -> bool:
        """Whether it is no whole number of bytes, and so stands beside others that fill them."""
        return self.form in (NumberForm.OWN, *ORDERED) and self.bits % 8 > 0 and self.bits <= _WIDEST

    @property
    def is_endless(self) -> bool:
        """Whether it is as many digits as its value takes, and nothing says where they end."""
        return self.form in DIGITS and not self.digits and not self.ending

    @property
    def width(self) -> int | None:
        """Its bytes in binary; None where they are as many as its value takes."""
        if self.share is not None:
            return self.share
        if self.digits:
            return width_of(self.form.value, self.digits, signed=self.signed)
        return self.bits // 8 if self.is_plain else None

    @property
    def minimum(self) -> int:
        """The smallest value."""
        if not self.signed:
            return 0
        return 1 - self._beyond if self.digits else -(1 << (min(self.bits, 64) - 1))

    @property
    def maximum(self) -> int:
        """The largest value."""
        return self._beyond - 1 if self.digits else (1 << (self.bits - 1 if self.signed else self.bits)) - 1

    @property
    def _beyond(self) -> int:
        """The first number that takes a digit more."""
        return int(base_of(self.form.value) ** self.digits)


@dataclass(frozen=True, slots=True)
class Float:
    """An IEEE 754 number of 16, 32 or 64 bits; MessagePack and JSON read any width and round to it."""

    bits: int
    form: NumberForm = NumberForm.OWN


@dataclass(frozen=True, slots=True)
class Boolean:
    """true or false; in binary one byte, 0 or 1, or a `bit` that shares its byte with its neighbours (see Integer)."""

    bit: bool = False
    form: NumberForm = NumberForm.OWN
    share: int | None = None


@dataclass(frozen=True, slots=True)
class Null:
    """MessagePack nil, JSON null."""


# --- extents -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Prefix:
    """A number right before what it sizes or counts (binary); where it may be `null`, -1 says that nothing is there."""

    number: Integer
    null: bool = False


@dataclass(frozen=True, slots=True)
class Blocks:
    """Numbers, each right before so many bytes or elements of one value, until one is 0 (binary).

    Where a `size` is given, a negative number is of as many elements, and stands before their size in bytes.
    """

    number: Integer
    size: Integer | None = None


@dataclass(frozen=True, slots=True)
class Delimiter:
    """Bytes right after a value, or its end where they are `kept`: where they, or `others`, first stand (binary).

    Where they are not found, that is `code`, or what a region that is too small says. They stand after a whole number
    of `unit` bytes. After an `escape` a byte stands for itself, or for what `escaped` says beside it.
    """

    data: bytes
    code: str = ""
    unit: int = 1
    escape: int | None = None
    escaped: tuple[tuple[int, int], ...] = ()
    others: tuple[bytes, ...] = ()
    kept: bool = False

    @property
    def ending(self) -> Ending:
        """The same, as who reads and writes values has it."""
        return Ending((self.data, *self.others), self.unit, self.escape, self.escaped, self.kept)

    @property
    def is_plain(self) -> bool:
        """Whether nothing but one delimiter is to be looked for, and left out."""
        return self.escape is None and not self.others and not self.kept


@dataclass(frozen=True, slots=True)
class Padded:
    """So many bytes, of which those at the end that are `fill` are no part of the value (binary)."""

    size: int
    fill: bytes


@dataclass(frozen=True, slots=True)
class Last:
    """The first element for which `holds` is the last (binary); the expression is in the scope of an element."""

    holds: Expression


@dataclass(frozen=True, slots=True)
class Jump:
    """In place of an element, a number from `minimum` to `maximum`: the list goes on elsewhere (binary).

    It does so as many bytes from the record's start as the number is beyond `start`, and before every place of the
    list so far; after the list the record goes on after the first such number. `most` is how many bytes the whole
    list may have, with what ends it and without the numbers that lead on.
    """

    number: Integer
    minimum: int
    maximum: int
    start: int
    most: int | None = None


@dataclass(frozen=True, slots=True)
class Terminator:
    """Bytes that stand in place of an element, after the last (binary); before them the list may `jump`.

    With `behind` the list may end with its region, too; builders write the bytes where that holds.
    """

    data: bytes
    jump: Jump | None = None
    behind: Expression | None = None


Amount = Expression | Prefix | Blocks | Delimiter | Padded | Last | Terminator
"""What says how many bytes or elements there are; a region is sized by either of the first two."""


def stated(amount: Amount | None) -> Expression | None:
    """The expression that says an amount; None where there is none: the bytes themselves say it."""
    return None if isinstance(amount, Prefix | Blocks | Delimiter | Padded | Last | Terminator) else amount


@dataclass(frozen=True, slots=True)
class Text:
    """UTF-8 text; `size` in bytes where the container does not say it (binary)."""

    size: Amount | None = None


@dataclass(frozen=True, slots=True)
class Bytes:
    """Bytes; `size` fixed or computed, `code` where the container says another size.

    In JSON they are base64 text, `line_feeds` every 76 characters where allowed. They are text to readers where they
    have a `charset` other than UTF-8; what it does not have is `invalid_text`. Of a `filler` of a computed size nobody
    sees them, and builders write zeros. Those of a message of protobuf that is kept as it is may stand in `pieces`,
    which are one message one after another.
    """

    size: Amount | None = None
    code: str = "bad_size"
    line_feeds: bool = False
    charset: str = ""
    filler: bool = False
    pieces: bool = False


@dataclass(frozen=True, slots=True)
class JsonText:
    """A JSON value of one `kind` (object, array, any) kept as its text, white space as written."""

    kind: str = "any"


# --- composites --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Array:
    """Elements of one type; as many as `count` says, as fill the region (binary), or as the container says."""

    element: "Type"
    count: Amount | None = None
    unique: str | None = None  # a member of the element that must not repeat
    unique_code: str = "duplicate_element"
    salvage: "Salvage | None" = None
    held: "Held | None" = None  # of elements that are no structs
    entries: bool = False  # structs that readers see as the entries of a map: each has a `key` and a `value`

    @property
    def is_open(self) -> bool:
        """Whether nothing says how many elements there are before they are read."""
        return self.count is None or isinstance(self.count, Blocks | Last | Terminator)

    @property
    def packed(self) -> int:
        """The bits of elements that share their bytes, being no whole number of them (binary); 0 of others."""
        match self.element:
            case Boolean(bit=True):
                return 1
            case Integer(bits=bits, is_partial=True):
                return bits
            case _:
                return 0

    @property
    def packed_size(self) -> int | None:
        """The bytes of such elements, where a constant says how many there are."""
        match self.count:
            case Literal(int(count)) if self.packed:
                return -(-max(count, 0) * self.packed // 8)
            case _:
                return None


@dataclass(frozen=True, slots=True)
class Held:
    """What each element of a list that is not null is held against, else it is `code`; what its values mean."""

    code: str
    mappings: "tuple[Mapping, ...] | None" = None
    minimum: int | None = None
    maximum: int | None = None
    spelling: "Spelling | None" = None


@dataclass(frozen=True, slots=True)
class Salvage:
    """Keep the elements before the first that fails with one of `codes`, while `when` holds.

    `lost` names the field that counts the others.
    """

    codes: tuple[str, ...]
    when: Expression
    lost: str


@dataclass(frozen=True, slots=True)
class Map:
    """Entries in wire order; equal keys are `duplicate_key`, in protobuf the last one counts.

    Keys that are texts may be held against a `spelling`; what is spelled otherwise is `misspelled`.
    """

    key: "Type"
    value: "Type"
    spelling: "Spelling | None" = None
    misspelled: str = ""


@dataclass(frozen=True, slots=True)
class Extension:
    """A MessagePack ext value of one type code, its content text or bytes."""

    code: int
    content: Union[Text, Bytes]


@dataclass(frozen=True, slots=True)
class Nullable:
    """The type, or null."""

    type: "Type"


@dataclass(frozen=True, slots=True)
class Reference:
    """A named type of the format (`Format.types`); the only way to recursion."""

    name: str


@dataclass(frozen=True, slots=True)
class Alternative:
    """One member of a OneOf: a name for documents and tagged JSON, and its type."""

    name: str
    type: "Type"


def not_null(type: "Type") -> "Type":
    """The type of what is not null."""
    return type.type if isinstance(type, Nullable) else type


def charset_of(type: "Type") -> str:
    """The character set of a text; empty for UTF-8, and for what is no text."""
    plain = not_null(type)
    return plain.charset if isinstance(plain, Bytes) else ""


@dataclass(frozen=True, slots=True)
class OneOf:
    """Alternatives told apart by the wire family of the value (MessagePack, JSON).

    Recursive ones are `open`: VARIANT columns, depth counted.
    """

    alternatives: tuple[Alternative, ...]
    open: bool = False
    code: str = "type_mismatch"
    extension_code: str = "type_mismatch"  # an ext value of a type code that no alternative has


@dataclass(frozen=True, slots=True)
class FieldTag:
    """Select on an expression over earlier fields."""

    expression: Expression


@dataclass(frozen=True, slots=True)
class PeekTag:
    """Select on a value read ahead without consuming it (binary); `octets`: its cases are bytes."""

    type: Integer
    octets: bool = False


@dataclass(frozen=True, slots=True)
class MemberTag:
    """Select on a member of the JSON object itself, or on whether it is present; `default` where it may be absent."""

    member: str
    presence: bool = False
    default: Scalar = None
    required: bool = True


@dataclass(frozen=True, slots=True)
class Refusal:
    """A case that is known and is an error."""

    code: str


@dataclass(frozen=True, slots=True)
class Case:
    """The tag's values and what they select; one without values is for every other value, and the last."""

    values: tuple[Scalar, ...]
    type: Union["Type", Refusal]


@dataclass(frozen=True, slots=True)
class Select:
    """A union chosen by a tag; a value of no case is `code`."""

    tag: FieldTag | PeekTag | MemberTag
    cases: tuple[Case, ...]
    code: str = "unknown_case"
    notation: str = field(default="", compare=False)  # how the spec writes the values of cases

    @property
    def otherwise(self) -> Case | None:
        """The case of a value that no other has; None where that is an error."""
        return self.cases[-1] if self.cases and not self.cases[-1].values else None


@dataclass(frozen=True, slots=True)
class Fallback:
    """Codes that send an Attempt on to its next alternative, while `when` holds (None: always)."""

    codes: tuple[str, ...]
    when: Expression | None = None


@dataclass(frozen=True, slots=True)
class Trial:
    """One alternative of an Attempt."""

    name: str
    type: "Type"
    fallbacks: tuple[Fallback, ...] = ()
    build_when: Expression | None = None  # chosen on build where the value does not name the alternative


@dataclass(frozen=True, slots=True)
class Attempt:
    """Alternatives tried in order over the same bytes.

    `kind_field` receives the name of the one that held, `reason_field` the code that refused the one before; either is
    empty where readers do not see it.
    """

    trials: tuple[Trial, ...]
    kind_field: str
    reason_field: str


# --- structs -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Mapping:
    """One value on the wire and the value that readers see for it (an expression, so that a parameter may decide)."""

    wire: Scalar
    value: Expression
    doc: str = ""
    notation: str = field(default="", compare=False)  # how the spec writes `wire`


@dataclass(frozen=True, slots=True)
class Meaning:
    """What readers see for the value on the wire, which is what expressions see; of a list, for each element.

    `null` is the value on the wire that means null. Readers see the value on the wire too where it has a name, `raw`;
    then what they see otherwise is divided by `divisor`, and what is after the point is lost.
    """

    shown: Scaled | Measured | Written | Said | Encoded | Named | None = None
    null: Scalar = None
    raw: str = ""
    divisor: int = 1
    minimum: int | None = None  # what readers can be shown, on the wire
    maximum: int | None = None


@dataclass(frozen=True, slots=True)
class Spelling:
    """What a text is held against: how many characters it has, and a pattern; `known` is its name, if any."""

    minimum: int | None = None
    maximum: int | None = None
    pattern: str = ""
    known: str = ""

    def has(self, value: Scalar) -> bool:
        """Whether a text is spelled so; what is no text is no matter of spelling."""
        if not isinstance(value, str):
            return True
        sized = (self.minimum is None or len(value) >= self.minimum) and (
            self.maximum is None or len(value) <= self.maximum
        )
        return sized and (not self.pattern or automaton(self.pattern).accepts(value))


@dataclass(frozen=True, slots=True)
class Bit:
    """A bit or a range of bits of an integer field, read as a field of the same struct. Bit 0 is the lowest."""

    name: str
    low: int
    width: int
    signed: bool = False
    mappings: tuple[Mapping, ...] | None = None
    code: str = "unknown_value"
    derive: Expression | None = None
    hidden: bool = False
    doc: str = ""
    unit: str = ""
    meaning: Meaning | None = None

    @property
    def flag(self) -> bool:
        """Whether the value is a boolean."""
        return self.width == 1 and self.mappings is None

    @property
    def title(self) -> str:
        """What readers call the value, which expressions call by its name."""
        return self.name if self.meaning is None else self.meaning.raw or self.name


@dataclass(frozen=True, slots=True)
class Packing:
    """The bytes of a region are compressed or written as text (binary): by the one codec, or as a tag says.

    `cases` are values of the tag and the codec for them; without a tag there is one, without values. Damaged bytes are
    `code`, or what the codec calls them; a tag of no case is `unknown`.
    """

    cases: tuple[tuple[tuple[Scalar, ...], str], ...]
    tag: Expression | None = None
    code: str = ""
    unknown: str = "unknown_case"


@dataclass(frozen=True, slots=True)
class Extra:
    """What a checksum covers beside a range: so many of the lowest `octets` of an integer, the highest first.

    None: bytes as they are. Null counts as zero, and as no bytes.
    """

    value: Expression
    octets: int | None


@dataclass(frozen=True, slots=True)
class Checksum:
    """The field holds `algorithm` over the bytes from `start` to `end` (from the struct's start).

    It covers what is `ahead` and `after` of these, too, which stands elsewhere in the record, or nowhere.
    A Verify step says when it is checked. Where the field stands itself there are zeros; that it may be among the bytes
    is a `hole`, and `at` its place where that is always the same. What is `stored` follows from the checksum, which has
    the field's name there; None: the checksum itself.
    """

    algorithm: str
    start: Expression
    end: Expression
    code: str
    hole: bool = False
    at: int | None = None
    stored: Expression | None = None
    ahead: tuple[Extra, ...] = ()
    after: tuple[Extra, ...] = ()


@dataclass(frozen=True, slots=True)
class TableReference:
    """The field is an index into `table` (a repeated field of the enclosing message), and its value the entry there."""

    table: str
    code: str
    holders: tuple[str, ...] = ()  # the structs that have the table


@dataclass(frozen=True, slots=True)
class Field:
    """One field.

    `name` is what readers and columns call it, `wire_name` what expressions and error paths call it (they differ
    where the spec says `as`).
    """

    name: str
    wire_name: str
    type: "Type"
    doc: str = ""
    unit: str = ""
    code: str = ""  # of this field's const, mappings, range, spelling, region
    at: Expression | None = None  # absolute in the struct; negative literal: from the end
    size: Amount | None = None  # the region given to the type
    packing: Packing | None = None  # how the region's bytes say what the type is read from
    when: Expression | None = None
    circular: bool = False  # the condition follows from just this field: builders write it where the value has it
    presence: Presence = Presence.REQUIRED
    default: Scalar = None
    has_default: bool = False  # the value that stands for an absent one may be null, where null means something
    const: Scalar = None
    mappings: tuple[Mapping, ...] | None = None
    meaning: Meaning | None = None
    minimum: int | None = None
    maximum: int | None = None
    spelling: Spelling | None = None
    bits: tuple[Bit, ...] = ()
    shared: bool = False  # bytes that fields share, which are its bits: it has no name of its own
    derive: Expression | None = None  # computed when building; beside `compute` in its place
    compute: Expression | None = None  # not on the wire: computed when parsing
    given: bool = False  # builders take it from the value, since what it is computed from is derived of it
    agrees: bool = False  # it is what another member means: builders take no value in which the two differ
    checksum: Checksum | None = None
    refers: TableReference | None = None
    table: bool = False  # a table that TableReference fields fill when building
    flatten: bool = False  # the members of the struct become members of the parent's value
    inline: bool = False  # JSON: the struct's members stand in the parent's own object; of a map, in MessagePack, too
    besides: tuple[str, ...] | None = None  # an inline map takes all members but these
    counted: bool = False  # not on the wire: set by a Salvage or a Discard, else 0
    hidden: bool = False
    tag: int = 0  # protobuf field number
    one_of: str = ""  # protobuf: the group of fields of which the last on the wire is there alone
    group: bool = False  # protobuf: the message, or each of a list, stands between two tags and after no length
    member: str | None = None  # what it is called in an object, where it is a member of one
    since: str = ""
    until: str = ""
    base: str = ""  # binary: the mark, of the struct or of one around, that `at` counts from; reading goes on before it
    notation: str = field(default="", compare=False)  # how the spec writes the constant, or the range

    @property
    def key(self) -> str:
        """What it is called in an object."""
        return self.wire_name if self.member is None else self.member

    @property
    def is_conditional(self) -> bool:
        """Whether a condition, or the version of the struct, decides whether it is there."""
        return self.when is not None or bool(self.since or self.until)

    @property
    def on_wire(self) -> bool:
        """Whether it has bytes or a member of its own."""
        return self.compute is None and not self.counted

    @property
    def in_struct(self) -> bool:
        """Whether its bytes are some of those of the struct, not of one around it."""
        return self.on_wire and not self.base


@dataclass(frozen=True, slots=True)
class Check:
    """`that` must hold (while `when` holds), else `code` at `field`."""

    that: Expression
    code: str
    field: str
    when: Expression | None = None
    doc: str = ""


@dataclass(frozen=True, slots=True)
class Verify:
    """Here the checksum held by `field` is verified (while `when` holds)."""

    field: str
    when: Expression | None = None


@dataclass(frozen=True, slots=True)
class Mark:
    """A name for the offset reached here."""

    name: str


@dataclass(frozen=True, slots=True)
class Need:
    """At least `bytes` bytes from the struct's start must be there, else `truncated` at `field`."""

    bytes: Expression
    field: str


@dataclass(frozen=True, slots=True)
class Frame:
    """From here on the record is known to end `bytes` after its start.

    What follows is bounded by it, and a stream can go on after it even if the rest is bad.
    """

    bytes: Expression
    field: str


@dataclass(frozen=True, slots=True)
class End:
    """The region must be used up here, else `code`."""

    code: str


@dataclass(frozen=True, slots=True)
class Discard:
    """While `when` holds, the whole list `field` is emptied unless `keep` holds for every element.

    `count` names the field that counts them.
    """

    field: str
    keep: Expression  # in the scope of an element
    count: str
    when: Expression | None = None


Step = Field | Check | Verify | Mark | Need | Frame | End | Discard


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a struct: told by the `arity` of its array, or by an expression."""

    name: str
    arity: int | None = None
    when: Expression | None = None


@dataclass(frozen=True)
class Struct:
    """Named fields with the checks between them, in order. `versions` run from the oldest to the newest."""

    name: str
    encoding: Encoding
    form: Form
    steps: tuple[Step, ...]
    versions: tuple[Version, ...] = ()
    doc: str = ""
    needs: tuple[str, ...] = ()  # where members decide between types, or versions: what a value must have

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """The fields among the steps, in order."""
        return tuple(step for step in self.steps if isinstance(step, Field))


Type = Union[
    Integer,
    Float,
    Boolean,
    Null,
    Text,
    Bytes,
    JsonText,
    Array,
    Map,
    Extension,
    Nullable,
    Reference,
    OneOf,
    Select,
    Attempt,
    Struct,
]

"""Wire types: how bytes become values, after all names are resolved.

The types form a closed union with one class per idea, so the type checker reports an emitter that misses one. In every
class, `code` is the error code that the type's own check reports. The steps of a struct are in the order in which every
decoder checks them.
"""

from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import Union

from wireloom.encodings import Encoding, Form
from wireloom.expr.ast import Expression, Literal
from wireloom.runtime.columns.logical import Encoded, Measured, Named, Said, Scaled, Written
from wireloom.runtime.patterns import automaton
from wireloom.runtime.primitives.delimiters import Ending
from wireloom.runtime.primitives.numerals import base_of, width_of

Scalar = int | bool | str | bytes | float | None


class Presence(Enum):
    """Whether a field may be left out of its container (JSON member, protobuf field)."""

    REQUIRED = "required"
    OPTIONAL = "optional"


class NumberForm(Enum):
    """How the wire writes a number; the range of its value is declared elsewhere."""

    OWN = "own"  # the encoding's default: fixed width in binary, a varint in protobuf, any width in the others
    BIG = "big"  # fixed width, big-endian whatever the byte order of the format
    LITTLE = "little"  # fixed width, little-endian
    VARINT = "varint"  # unsigned LEB128: seven bits per byte, lowest first; the top bit announces another byte
    ZIGZAG = "zigzag"  # a varint of 2n if n >= 0, else of -2n - 1
    FIXED = "fixed"  # protobuf: fixed width
    VLQ = "vlq"  # seven bits per byte, highest first; the top bit announces another byte
    QUIC = "quic"  # the top two bits give the length: 1, 2, 4 or 8 bytes (RFC 9000)
    SQLITE = "sqlite"  # as VLQ, but a ninth byte is the last and has eight bits
    FLAC = "flac"  # as UTF-8 encodes a character, in up to seven bytes
    SLEB = "sleb"  # signed LEB128: two's complement; bit 6 of the last byte is the sign
    EBML = "ebml"  # the leading zero bits give the length; all value bits set is the greatest number
    BCD = "bcd"  # one decimal digit per nibble, highest first
    PACKED = "packed"  # as BCD, with the sign in the last nibble (COMP-3)
    ZONED = "zoned"  # EBCDIC digits, one per byte; the sign is in the upper nibble of the last byte
    LEADING_ZONED = "leading zoned"  # as ZONED, but the sign is in the first byte
    OVERPUNCHED = "overpunched"  # ASCII characters of zoned digits, the sign in the last one
    LEADING_OVERPUNCHED = "leading overpunched"  # as OVERPUNCHED, but the sign is in the first one
    DECIMAL = "decimal"  # ASCII decimal digits, after a sign if the type is signed
    HEXADECIMAL = "hexadecimal"  # as DECIMAL, in base 16
    CAPITALS = "capitals"  # as HEXADECIMAL, written in upper case
    OCTAL = "octal"  # as DECIMAL, in base 8


_WIDEST = 64  # bits of a register
ORDERED = (NumberForm.BIG, NumberForm.LITTLE)
"""The forms that fix a byte order."""
DIGITS = (NumberForm.DECIMAL, NumberForm.HEXADECIMAL, NumberForm.CAPITALS, NumberForm.OCTAL)
"""The forms that write ASCII digits."""


# --- scalars -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Markers:
    """First bytes that announce a longer number instead of being the number.

    A byte below `first` is the number. Byte `first + i` announces a number of `widths[i]` bytes. A width of 0, and any
    byte after the last marker, is invalid.
    """

    first: int
    widths: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Integer:
    """An integer that `bits` bits can hold, and its form on the wire; a larger wire value is `int_range`.

    A signed integer of 65 bits is any value of int64 or uint64. Forms made of digits have a fixed number of `digits`,
    or 0 and an `ending` that delimits them. A run of bit fields shares whole bytes: `share` is the size of the run in
    its last field, and 0 in the others. With `markers`, the bytes after a marker are in the byte order of the form.
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
        """Whether the number is written as two's complement in `bits` bits."""
        return self.form in (NumberForm.OWN, *ORDERED) and self.share is None and self.markers is None

    @property
    def is_partial(self) -> bool:
        """Whether the number fills no whole bytes, so that its neighbours must fill the rest."""
        return self.form in (NumberForm.OWN, *ORDERED) and self.bits % 8 > 0 and self.bits <= _WIDEST

    @property
    def is_endless(self) -> bool:
        """Whether the number has any count of digits, and neither a width nor a delimiter ends them."""
        return self.form in DIGITS and not self.digits and not self.ending

    @property
    def width(self) -> int | None:
        """The size in bytes (binary); None if it depends on the value."""
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
        """The smallest number that needs one digit more."""
        return int(base_of(self.form.value) ** self.digits)


@dataclass(frozen=True, slots=True)
class Float:
    """An IEEE 754 number of 16, 32 or 64 bits; MessagePack and JSON read any width and round to it."""

    bits: int
    form: NumberForm = NumberForm.OWN


@dataclass(frozen=True, slots=True)
class Boolean:
    """true or false: one byte 0 or 1 in binary, or a `bit` that shares its byte with its neighbours (see Integer)."""

    bit: bool = False
    form: NumberForm = NumberForm.OWN
    share: int | None = None


@dataclass(frozen=True, slots=True)
class Null:
    """MessagePack nil, JSON null."""


# --- extents -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Prefix:
    """A number right before the value that it sizes or counts (binary); with `null`, -1 means null."""

    number: Integer
    null: bool = False


@dataclass(frozen=True, slots=True)
class Blocks:
    """Blocks of bytes or elements, each after its count, until a count is 0 (binary).

    With `size`, a count may be negative: -n means n elements, and the size of the block in bytes follows it.
    """

    number: Integer
    size: Integer | None = None


@dataclass(frozen=True, slots=True)
class Delimiter:
    """A value ends at the first `data`, or any of `others` (binary); the delimiter is part of it if `kept`.

    A missing delimiter is `code`, or else the error of a region that is too small. Delimiters start at a multiple of
    `unit` bytes. After an `escape` a byte means itself, or what `escaped` maps it to.
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
        """The delimiters as the runtime reads and writes them."""
        return Ending((self.data, *self.others), self.unit, self.escape, self.escaped, self.kept)

    @property
    def is_plain(self) -> bool:
        """Whether there is one delimiter, without an escape, that is not part of the value."""
        return self.escape is None and not self.others and not self.kept


@dataclass(frozen=True, slots=True)
class Padded:
    """A fixed size in bytes; trailing bytes equal to `fill` are not part of the value (binary)."""

    size: int
    fill: bytes


@dataclass(frozen=True, slots=True)
class Last:
    """The list ends with the first element for which `holds` is true (binary), in the scope of that element."""

    holds: Expression


@dataclass(frozen=True, slots=True)
class Jump:
    """A pointer in place of an element: the list continues at another offset (binary).

    A number from `minimum` to `maximum` is a pointer. It leads to the offset `number - start` from the record's start,
    which must lie before every offset that the list already visited. After the list, reading continues after the first
    pointer. The list has at most `most` bytes, with its terminator and without pointers.
    """

    number: Integer
    minimum: int
    maximum: int
    start: int
    most: int | None = None


@dataclass(frozen=True, slots=True)
class Terminator:
    """Bytes in place of an element that end the list (binary); the list may `jump` before them.

    With `behind`, the end of the region ends the list too; builders write the terminator if `behind` holds.
    """

    data: bytes
    jump: Jump | None = None
    behind: Expression | None = None


Amount = Expression | Prefix | Blocks | Delimiter | Padded | Last | Terminator
"""How a size or a count is declared; a region allows only the first two."""


def stated(amount: Amount | None) -> Expression | None:
    """The expression of a size or count; None if the bytes themselves determine it."""
    return None if isinstance(amount, Prefix | Blocks | Delimiter | Padded | Last | Terminator) else amount


@dataclass(frozen=True, slots=True)
class Text:
    """UTF-8 text; in binary `size` is its extent in bytes."""

    size: Amount | None = None


@dataclass(frozen=True, slots=True)
class Bytes:
    """Bytes; `size` fixed or computed, `code` the error of a container with another size.

    In JSON they are base64 text, with line feeds every 76 characters if `line_feeds`. With a `charset` other than UTF-8
    readers see text, and undecodable bytes are `invalid_text`. A `filler` of computed size is hidden, and builders
    write zeros. With `pieces`, a protobuf message that is kept as bytes may be split over several occurrences of its
    field, which are concatenated.
    """

    size: Amount | None = None
    code: str = "bad_size"
    line_feeds: bool = False
    charset: str = ""
    filler: bool = False
    pieces: bool = False


@dataclass(frozen=True, slots=True)
class JsonText:
    """A JSON value of one `kind` (object, array, any), kept as its text with its white space."""

    kind: str = "any"


# --- composites --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Array:
    """Elements of one type: `count` of them, or until the region ends (binary), or as the container counts them."""

    element: "Type"
    count: Amount | None = None
    unique: str | None = None  # a member of the element that must not repeat
    unique_code: str = "duplicate_element"
    salvage: "Salvage | None" = None
    held: "Held | None" = None  # the checks of elements that are not structs
    entries: bool = False  # readers see a map; each element is a struct of `key` and `value`

    @property
    def is_open(self) -> bool:
        """Whether the number of elements is unknown until they are read."""
        return self.count is None or isinstance(self.count, Blocks | Last | Terminator)

    @property
    def packed(self) -> int:
        """The bits per element if elements do not fill whole bytes (binary), else 0."""
        match self.element:
            case Boolean(bit=True):
                return 1
            case Integer(bits=bits, is_partial=True):
                return bits
            case _:
                return 0

    @property
    def packed_size(self) -> int | None:
        """The size in bytes of such elements if their count is constant, else None."""
        match self.count:
            case Literal(int(count)) if self.packed:
                return -(-max(count, 0) * self.packed // 8)
            case _:
                return None


@dataclass(frozen=True, slots=True)
class Held:
    """The checks and the value table of each element of a list that is not null; a failed check is `code`."""

    code: str
    mappings: "tuple[Mapping, ...] | None" = None
    minimum: int | None = None
    maximum: int | None = None
    spelling: "Spelling | None" = None


@dataclass(frozen=True, slots=True)
class Salvage:
    """Keep the elements before the first one that fails with one of `codes`, while `when` holds.

    The field `lost` counts the others.
    """

    codes: tuple[str, ...]
    when: Expression
    lost: str


@dataclass(frozen=True, slots=True)
class Map:
    """Entries in wire order; a repeated key is `duplicate_key`, except in protobuf, where the last entry counts.

    Text keys may have a `spelling`; a key that violates it is `misspelled`.
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
    """A named type of the format (`Format.types`); the only way to a recursive type."""

    name: str


@dataclass(frozen=True, slots=True)
class Alternative:
    """One alternative of a OneOf: its type, and its name in documents and tagged JSON."""

    name: str
    type: "Type"


def not_null(type: "Type") -> "Type":
    """The type without null."""
    return type.type if isinstance(type, Nullable) else type


def charset_of(type: "Type") -> str:
    """The character set of a text type; empty for UTF-8, and for other types."""
    plain = not_null(type)
    return plain.charset if isinstance(plain, Bytes) else ""


@dataclass(frozen=True, slots=True)
class OneOf:
    """Alternatives told apart by the wire family of the value (MessagePack, JSON).

    Recursive unions are `open`: they become VARIANT columns, and their depth is limited.
    """

    alternatives: tuple[Alternative, ...]
    open: bool = False
    code: str = "type_mismatch"
    extension_code: str = "type_mismatch"  # an ext value whose type code no alternative has


@dataclass(frozen=True, slots=True)
class FieldTag:
    """Select on an expression over earlier fields."""

    expression: Expression


@dataclass(frozen=True, slots=True)
class PeekTag:
    """Select on a value that is read ahead without consuming it (binary); with `octets`, the cases are bytes."""

    type: Integer
    octets: bool = False


@dataclass(frozen=True, slots=True)
class MemberTag:
    """Select on a member of the JSON object itself, or on its presence; `default` replaces an absent member."""

    member: str
    presence: bool = False
    default: Scalar = None
    required: bool = True


@dataclass(frozen=True, slots=True)
class Refusal:
    """A known case that is an error."""

    code: str


@dataclass(frozen=True, slots=True)
class Case:
    """Values of the tag and the type that they select; without values, it is the last case and matches the rest."""

    values: tuple[Scalar, ...]
    type: Union["Type", Refusal]


@dataclass(frozen=True, slots=True)
class Select:
    """A union chosen by a tag; a value without a case is `code`."""

    tag: FieldTag | PeekTag | MemberTag
    cases: tuple[Case, ...]
    code: str = "unknown_case"
    notation: str = field(default="", compare=False)  # how the spec writes numbers of cases, or the charset of texts

    @property
    def otherwise(self) -> Case | None:
        """The case that matches every other value; None if such a value is an error."""
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
    build_when: Expression | None = None  # decides when building, if the value does not name an alternative


@dataclass(frozen=True, slots=True)
class Attempt:
    """Alternatives tried in order over the same bytes.

    `kind_field` receives the name of the alternative that parsed, `reason_field` the error code that refused the one
    before it. Either name is empty if the field is hidden.
    """

    trials: tuple[Trial, ...]
    kind_field: str
    reason_field: str


# --- structs -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Mapping:
    """A wire value and the value that readers see for it (an expression, since it may depend on a parameter)."""

    wire: Scalar
    value: Expression
    doc: str = ""
    notation: str = field(default="", compare=False)  # how the spec writes `wire`


@dataclass(frozen=True, slots=True)
class Meaning:
    """What readers see instead of the wire value; expressions see the wire value. In a list it holds per element.

    `null` is the wire value that means null. With a name in `raw`, readers see the wire value too; then their other
    value is divided by `divisor` and truncated.
    """

    shown: Scaled | Measured | Written | Said | Encoded | Named | None = None
    null: Scalar = None
    raw: str = ""
    divisor: int = 1
    minimum: int | None = None  # the wire values that `shown` can represent
    maximum: int | None = None


@dataclass(frozen=True, slots=True)
class Spelling:
    """The length in characters and the pattern that a text must have; `known` names the pattern, if it has a name."""

    minimum: int | None = None
    maximum: int | None = None
    pattern: str = ""
    known: str = ""

    def has(self, value: Scalar) -> bool:
        """Whether a text conforms; any value that is not a text does."""
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
        """The readers' name for the wire value; expressions use `name`."""
        return self.name if self.meaning is None else self.meaning.raw or self.name


@dataclass(frozen=True, slots=True)
class Packing:
    """A region's bytes are compressed or written as text (binary), by one codec or by the codec that a tag selects.

    `cases` are values of the tag and their codec; without a tag there is one case, without values. Damaged bytes are
    `code`, or else the codec's own error. A tag without a case is `unknown`.
    """

    cases: tuple[tuple[tuple[Scalar, ...], str], ...]
    tag: Expression | None = None
    code: str = ""
    unknown: str = "unknown_case"


@dataclass(frozen=True, slots=True)
class Extra:
    """A value that a checksum covers besides its byte range.

    An integer is covered as its `octets` lowest bytes, highest first, and null as zero. With `octets` None the value is
    bytes, covered as they are, and null as no bytes.
    """

    value: Expression
    octets: int | None


@dataclass(frozen=True, slots=True)
class Checksum:
    """The field holds `algorithm` over the bytes from `start` to `end` (offsets from the struct's start).

    The checksum also covers the values `ahead` of the range and `after` it. A Verify step says when it is checked. With
    `hole`, the field lies within the range and counts as zeros; `at` is its offset, if that is constant. `stored`
    computes the field from the checksum, which has the field's name there; None: the field is the checksum.
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
    """The field is an index into `table` (a repeated field of the enclosing message); its value is the entry."""

    table: str
    code: str
    holders: tuple[str, ...] = ()  # the structs that have the table


@dataclass(frozen=True, slots=True)
class Field:
    """One field.

    Readers and columns use `name`, expressions and error paths `wire_name`; they differ if the spec says `as`.
    """

    name: str
    wire_name: str
    type: "Type"
    doc: str = ""
    unit: str = ""
    code: str = ""  # the error of the field's own checks: const, mappings, range, spelling, region
    at: Expression | None = None  # offset from the struct's start; a negative literal counts from its end
    size: Amount | None = None  # the region given to the type
    packing: Packing | None = None  # how to unpack the region before reading the type
    when: Expression | None = None
    circular: bool = False  # `when` is derived from this field: builders write the field if the value has it
    presence: Presence = Presence.REQUIRED
    default: Scalar = None
    has_default: bool = False  # tells a default of null from no default
    const: Scalar = None
    mappings: tuple[Mapping, ...] | None = None
    meaning: Meaning | None = None
    minimum: int | None = None
    maximum: int | None = None
    spelling: Spelling | None = None
    bits: tuple[Bit, ...] = ()
    shared: bool = False  # the bytes that a run of bit fields shares; its `bits` are the fields
    derive: Expression | None = None  # computed when building, instead of `compute` if there is one
    compute: Expression | None = None  # not on the wire: computed when parsing
    given: bool = False  # a computed field that builders take from the value, as its source is derived from it
    agrees: bool = False  # repeats another member's meaning: builders reject a value in which the two differ
    checksum: Checksum | None = None
    refers: TableReference | None = None
    table: bool = False  # a table that TableReference fields fill when building
    flatten: bool = False  # the members of the struct become members of the parent's value
    inline: bool = False  # the members are in the parent's own object (JSON; for a map also MessagePack)
    besides: tuple[str, ...] | None = None  # an inline map takes all members but these
    counted: bool = False  # not on the wire: set by a Salvage or a Discard, else 0
    hidden: bool = False
    tag: int = 0  # protobuf field number
    one_of: str = ""  # protobuf: its oneof; only the last field of a oneof on the wire is present
    group: bool = False  # protobuf: the message, or each one of a list, is delimited by tags, not by a length
    member: str | None = None  # the member name in an object; None: `wire_name`
    since: str = ""
    until: str = ""
    base: str = ""  # binary: the mark, here or in an enclosing struct, that `at` counts from
    notation: str = field(default="", compare=False)  # how the spec writes the constant, or the range

    @property
    def key(self) -> str:
        """The member name in an object."""
        return self.wire_name if self.member is None else self.member

    @property
    def is_conditional(self) -> bool:
        """Whether a condition or the struct's version decides if the field is present."""
        return self.when is not None or bool(self.since or self.until)

    @property
    def on_wire(self) -> bool:
        """Whether the field has bytes or a member of its own."""
        return self.compute is None and not self.counted

    @property
    def in_struct(self) -> bool:
        """Whether the field's bytes lie within the struct, not in an enclosing one."""
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
    """Verify the checksum of `field` here (while `when` holds)."""

    field: str
    when: Expression | None = None


@dataclass(frozen=True, slots=True)
class Mark:
    """Name the offset reached here."""

    name: str


@dataclass(frozen=True, slots=True)
class Need:
    """At least `bytes` bytes must follow the struct's start, else `truncated` at `field`."""

    bytes: Expression
    field: str


@dataclass(frozen=True, slots=True)
class Frame:
    """From here on the record is known to end `bytes` after its start.

    Later steps are bounded by it, and a stream can skip the rest of a bad record.
    """

    bytes: Expression
    field: str


@dataclass(frozen=True, slots=True)
class End:
    """The region must end here, else `code`."""

    code: str


@dataclass(frozen=True, slots=True)
class Discard:
    """While `when` holds, empty the list `field` unless `keep` holds for every element.

    The field `count` counts the dropped elements.
    """

    field: str
    keep: Expression  # in the scope of an element
    count: str
    when: Expression | None = None


Step = Field | Check | Verify | Mark | Need | Frame | End | Discard


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a struct, told by the `arity` of its array or by an expression."""

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
    needs: tuple[str, ...] = ()  # the members that a value must have to select this type or version

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

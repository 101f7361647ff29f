"""A format: everything an emitter may know about one spec."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from wireloom.encodings import Encoding
from wireloom.expr.ast import Kind
from wireloom.model.types import Scalar, Type
from wireloom.runtime.columns.logical import Record
from wireloom.runtime.streams.framing import Framing


@dataclass(frozen=True, slots=True)
class Parameter:
    """A choice of the caller that the bytes do not contain.

    It is a keyword of `parse`, `build` and `decode`, and an option on the command line.
    """

    name: str
    kind: Kind  # TEXT (one of `options`), BOOLEAN, INTEGER or RANGE
    default: int | bool | str | None
    options: tuple[str, ...] = ()
    doc: str = ""
    unit: str = ""


@dataclass(frozen=True, slots=True)
class ByteOrder:
    """big or little, or chosen by `parameter`.

    The parameter may be `auto`: the other order is tried if the first one fails with one of `wrong_when`.
    """

    fixed: str | None = "big"
    parameter: str | None = None
    wrong_when: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CrcAlgorithm:
    """A CRC by the parameters of the Rocksoft model; `check` is its value over the nine bytes `123456789`."""

    name: str
    width: int
    poly: int
    init: int
    xorout: int
    reflected: bool
    check: int
    doc: str = ""


@dataclass(frozen=True, slots=True)
class SumAlgorithm:
    """A checksum that sums bytes by a rule: `add`, `xor`, `fletcher` (modulo `modulus`) or `internet`."""

    name: str
    rule: str
    width: int
    modulus: int
    init: int
    xorout: int
    check: int
    doc: str = ""


@dataclass(frozen=True, slots=True)
class DigestAlgorithm:
    """The first `size` bytes of a chain of digests, each taken over the one before."""

    name: str
    digests: tuple[str, ...]
    size: int
    doc: str = ""


@dataclass(frozen=True, slots=True)
class NamedRange:
    """A range of integers (either end may be open) and its name."""

    name: str
    minimum: int | None
    maximum: int | None


@dataclass(frozen=True, slots=True)
class Ranges:
    """Named ranges; the first that holds a number names it."""

    name: str
    ranges: tuple[NamedRange, ...]


@dataclass(frozen=True, slots=True)
class ErrorCode:
    """A code of the format's vocabulary and what it means."""

    code: str
    doc: str


@dataclass(frozen=True, slots=True)
class Root:
    """An entry point: the type of a whole record.

    `logical` is what readers see. `rows` is the path (in logical names) of the list whose elements become rows of the
    flat form; () means that a record is a row, and with `elements` that the root itself is a list of rows. `unplaced`
    are the columns of a shared schema that no member of this format fills.
    """

    name: str
    type: Type
    logical: Record  # the record, or with `elements` one element
    elements: bool = False  # the root is a list; its elements are the rows
    rows: tuple[str, ...] = ()
    doc: str = ""
    unplaced: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Example:
    """Bytes and their expected `value` (canonical JSON) or `error` code.

    An example that is not `stated` has neither yet; `wireloom test --record` fills it in.
    """

    name: str
    data: bytes
    root: str
    parameters: tuple[tuple[str, Scalar], ...] = ()
    value: object = None
    error: str | None = None
    path: str | None = None
    offset: int | None = None
    rebuilds: bool = True  # build(value) gives `data` again, byte for byte
    doc: str = ""
    stated: bool = True


@dataclass(frozen=True, slots=True)
class Versions:
    """The named versions of a format, oldest first, and the value that marks each in records.

    `told` is the expression that yields the value. In records of `roots`, builders set it at `path` (names of readers)
    or as the `parameter`. With `newer`, values after the newest are read as the newest. `record` is the struct of which
    one copy per version is tried (`from: fits`).
    """

    names: tuple[str, ...]
    values: tuple[int | str, ...]
    told: str
    ordered: bool = False  # the values are increasing numbers
    newer: bool = False
    column: str = ""
    path: tuple[str, ...] = ()
    parameter: str = ""
    roots: tuple[str, ...] = ()
    record: str = ""

    @staticmethod
    def copy_name(struct: str, version: str) -> str:
        """The name of the copy of a struct for one version."""
        return f"{struct}_{re.sub(r'[^0-9A-Za-z_]+', '_', version)}"


@dataclass(frozen=True)
class Format:
    """One resolved spec."""

    name: str
    title: str
    doc: str
    source: str  # the document that the format comes from
    spec: str  # the spec's path below the specs folder
    digest: str  # SHA-256 of the spec's bytes and of what it imports, hexadecimal
    encoding: Encoding
    byte_order: ByteOrder
    parameters: tuple[Parameter, ...]
    framing: Framing
    depth: int | str  # limit on nested open containers: a number, or the name of a parameter
    checksums: tuple[CrcAlgorithm | SumAlgorithm | DigestAlgorithm, ...]
    errors: tuple[ErrorCode, ...]  # every code that decoding may report, in the order of first mention
    types: tuple[tuple[str, Type], ...]  # named types, in spec order; References point here
    roots: tuple[Root, ...]  # the first is the default
    ranges: tuple[Ranges, ...] = ()
    invalid_text: str | None = None  # a parameter that says `error` or `replace`; None: error
    size: int | str | None = None  # the most bytes of a record: a number, or the name of a parameter
    expansion: int | str = 1 << 26  # limit in bytes on what tables and texts add to a record: a number or a parameter
    ratio: int | str = 64  # limit on unpacked size per packed byte: a number or a parameter
    unknown_members: str | None = None  # a parameter that says `error` or `ignore`; None: error
    named_versions: Versions | None = None
    schema: str = ""  # the name of the shared logical schema, if there is one
    examples: tuple[Example, ...] = ()

    def type(self, name: str) -> Type:
        """The named type."""
        return self.named[name]

    @cached_property
    def named(self) -> Mapping[str, Type]:
        """The named types by their names."""
        return dict(self.types)

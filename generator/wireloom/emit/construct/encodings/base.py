"""How parser.py states the values of an encoding: as calls of the module of its name in `runtime.parsers`.

What is here holds where an encoding says nothing else. Inner types are declared already.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from wireloom.emit.code import Call, Code, call, literal
from wireloom.encodings import Form
from wireloom.model.types import Bytes, Float, Integer

_BYTE = 8  # bits of an integer that has no byte order
_WIDEST = 64  # bits of a float


@dataclass(frozen=True, slots=True)
class Elements:
    """What there is of a list, whatever it is written in."""

    element: Code
    count: Code | None
    depth: str | None  # limits the nesting of open values
    salvage: Code | None
    unique: Mapping[str, Code | None]


class Parsers:
    """The declarations of one encoding."""

    containers: Mapping[Form, str] = {}
    """What reads the fields of a struct of each form; nothing where they follow one another."""
    any_width = False
    """Whether floats are read of any width, and rounded to theirs."""
    has_bodies = False
    """Whether records, too, are structs in bytes that are all their own."""

    def __init__(self, module: str) -> None:
        self.module = module

    def call(self, name: str, *arguments: Code | None, **keywords: Code | None) -> Call:
        """A call of the module of the encoding, without arguments that there are not."""
        return call(f"{self.module}.{name}", *(each for each in arguments if each), **keywords)

    def integer(self, type: Integer, order: Code | None, **keywords: Code | None) -> Code:
        """An integer; `order` is that of its bytes, if the spec lays them out."""
        order = order if type.bits > _BYTE else None
        return self.call("Integer", str(type.bits), signed=str(type.signed), order=order, **keywords)

    def float(self, type: Float, order: Code | None) -> Code:
        """A float."""
        return self.call("Float", None if self.any_width and type.bits == _WIDEST else str(type.bits), order=order)

    def bytes(self, type: Bytes, size: Code | None) -> Code:
        """Bytes, or a text in another character set."""
        charset, pieces = literal(type.charset) if type.charset else None, "True" if type.pieces else None
        return self.call("Bytes", size, code=refusal(type, size), charset=charset, pieces=pieces)

    def array(self, name: str, each: Elements) -> Code:
        """A list; its `name` is `Entries` if it is one of the entries of a map."""
        return self.call(name, each.element, **each.unique, depth=each.depth)

    def map(self, key: Code, value: Code, **keywords: Code | None) -> Code:
        """A map: the `depth` of open values in it, and what its `keys` are held against."""
        return self.call("Map", key, value, **keywords)

    def nullable(self, inner: Code) -> Code:
        """A value or null."""
        return self.call("Nullable", inner)

    def form(self, form: Form, unknown: str) -> Code | None:
        """What reads the fields of a struct; `unknown` says what becomes of members that no field names."""
        name = self.containers.get(form)
        return None if name is None else self.call(name, unknown if form is Form.OBJECT else None)

    def carried(self, body: Code) -> Code:
        """A struct of another encoding among the values of this one."""
        return self.call("Carried", body)

    def body(self, declared: Code, message: str, depth: int) -> Code:  # noqa: ARG002 - of encodings that need to know
        """What reads a struct from bytes that are all its own; `depth` is how deep its containers nest."""
        return declared

    def record(self, declared: Code, depth: int) -> Code:  # noqa: ARG002 - of texts
        """What reads a record from all the bytes that there are."""
        return declared


def refusal(type: Bytes, size: Code | None) -> str | None:
    """The code of bytes of another size, where it is not the usual one."""
    return literal(type.code) if size and type.code != "bad_size" else None

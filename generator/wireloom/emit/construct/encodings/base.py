"""How parser.py declares the values of an encoding: as calls of the module with its name in `runtime.parsers`.

The base class has the defaults; an encoding overrides what differs. Inner types are passed as declarations.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from wireloom.emit.code import Code, Group, call, literal
from wireloom.encodings import Form
from wireloom.model.types import Bytes, Float, Integer

_BYTE = 8  # bits of an integer that has no byte order
_WIDEST = 64  # bits of a float


@dataclass(frozen=True, slots=True)
class Elements:
    """The parts of a list that all encodings share."""

    element: Code
    count: Code | None
    depth: str | None  # limits the nesting of open values
    salvage: Code | None
    unique: Mapping[str, Code | None]


class Parsers:
    """The declarations of one encoding."""

    containers: Mapping[Form, str] = {}
    """The container for each form of struct; empty if fields simply follow one another."""
    any_width = False
    """Whether floats of any width are read, and rounded to the stated width."""
    has_bodies = False
    """Whether a record is written as a struct in its own bytes, like an inner struct of another encoding."""

    def __init__(self, module: str) -> None:
        self.module = module

    def call(self, name: str, *arguments: Code | None, **keywords: Code | None) -> Group:
        """A call of the encoding's module, without the arguments that are None."""
        return call(f"{self.module}.{name}", *(each for each in arguments if each), **keywords)

    def integer(self, type: Integer, order: Code | None, **keywords: Code | None) -> Code:
        """An integer; `order` is its byte order, if the spec lays out the bytes."""
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
        """A list; `name` is `Entries` for the entries of a map."""
        return self.call(name, each.element, **each.unique, depth=each.depth)

    def map(self, key: Code, value: Code, **keywords: Code | None) -> Code:
        """A map: the `depth` of open values in it, and the checks of its `keys`."""
        return self.call("Map", key, value, **keywords)

    def nullable(self, inner: Code) -> Code:
        """A value or null."""
        return self.call("Nullable", inner)

    def form(self, form: Form, unknown: str) -> Code | None:
        """The container that finds the fields of a struct; `unknown` decides about members without a field."""
        name = self.containers.get(form)
        return None if name is None else self.call(name, unknown if form is Form.OBJECT else None)

    def carried(self, body: Code) -> Code:
        """A struct of another encoding inside of this one."""
        return self.call("Carried", body)

    def body(self, declared: Code, message: str, depth: int) -> Code:  # noqa: ARG002 - of encodings that need to know
        """A struct that is read from its own bytes; `depth` limits how deep its containers nest."""
        return declared

    def record(self, declared: Code, depth: int) -> Code:  # noqa: ARG002 - of texts
        """A record, which is read from all bytes."""
        return declared


def refusal(type: Bytes, size: Code | None) -> str | None:
    """The code of bytes of another size, where it is not the usual one."""
    return literal(type.code) if size and type.code != "bad_size" else None

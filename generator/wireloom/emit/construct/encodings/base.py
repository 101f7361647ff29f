"""How parser.py declares the values of an encoding: as calls into the encoding's module of `runtime.parsers`.

The base class has the defaults; an encoding overrides what differs. Inner types are passed as finished declarations.
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
    """The parts of a list's declaration that are independent of the encoding."""

    element: Code
    count: Code | None
    depth: str | None  # limits the nesting of open values
    salvage: Code | None
    unique: Mapping[str, Code | None]


class Parsers:
    """Emits the declarations of one encoding."""

    containers: Mapping[Form, str] = {}
    """The construct of the container for each form of struct; empty if fields simply follow one another."""
    any_width = False
    """Whether floats of any width are accepted and rounded to the declared width."""
    has_bodies = False
    """Whether a record is read from its own bytes, like an inner struct of another encoding."""

    def __init__(self, module: str) -> None:
        self.module = module

    def call(self, name: str, *arguments: Code | None, **keywords: Code | None) -> Group:
        """Call a construct of the encoding's module, omitting arguments that are None."""
        return call(f"{self.module}.{name}", *(each for each in arguments if each), **keywords)

    def integer(self, type: Integer, order: Code | None, **keywords: Code | None) -> Code:
        """Declare an integer; `order` is its byte order, or None if the encoding has no byte orders."""
        order = order if type.bits > _BYTE else None
        return self.call("Integer", str(type.bits), signed=str(type.signed), order=order, **keywords)

    def float(self, type: Float, order: Code | None) -> Code:
        """Declare a float."""
        return self.call("Float", None if self.any_width and type.bits == _WIDEST else str(type.bits), order=order)

    def bytes(self, type: Bytes, size: Code | None) -> Code:
        """Declare bytes, or a text in another character set than UTF-8."""
        charset, pieces = literal(type.charset) if type.charset else None, "True" if type.pieces else None
        return self.call("Bytes", size, code=refusal(type, size), charset=charset, pieces=pieces)

    def array(self, name: str, each: Elements) -> Code:
        """Declare a list; `name` is `Entries` if its elements are the entries of a map."""
        return self.call(name, each.element, **each.unique, depth=each.depth)

    def map(self, key: Code, value: Code, **keywords: Code | None) -> Code:
        """Declare a map; keywords are the nesting limit `depth` and the checks of its `keys`."""
        return self.call("Map", key, value, **keywords)

    def nullable(self, inner: Code) -> Code:
        """Declare a value that may be null."""
        return self.call("Nullable", inner)

    def form(self, form: Form, unknown: str) -> Code | None:
        """The container that locates a struct's fields; `unknown` decides about members without a field."""
        name = self.containers.get(form)
        return None if name is None else self.call(name, unknown if form is Form.OBJECT else None)

    def carried(self, body: Code) -> Code:
        """Declare a struct of another encoding within this one."""
        return self.call("Carried", body)

    def body(self, declared: Code, message: str, depth: int) -> Code:  # noqa: ARG002 - some encodings need them
        """Declare a struct that is read from its own bytes; `depth` is how deep its own containers nest."""
        return declared

    def record(self, declared: Code, depth: int) -> Code:  # noqa: ARG002 - only for JSON
        """Declare a record, which is read from all of the input."""
        return declared


def refusal(type: Bytes, size: Code | None) -> str | None:
    """The error code for bytes of the wrong size, unless it is the default."""
    return literal(type.code) if size and type.code != "bad_size" else None

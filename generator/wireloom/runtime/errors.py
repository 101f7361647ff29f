"""The errors of bad data and of wrong calls.

`DecodeError` means that the bytes are wrong, `EncodeError` that the value given to `build` is. Both carry a path that
grows from the inside out while the error travels: each struct, list and map adds its own component.
"""

from collections.abc import Iterable
from typing import Any, Self

from wireloom.runtime.codes import CODES

Component = str | int


class WireloomError(Exception):
    """The root of all errors that the runtime raises on purpose."""


class ContractError(WireloomError, ImportError):
    """A generated package and the installed runtime do not fit together.

    Generate again or install the other version.
    """


class ParameterError(WireloomError, TypeError):
    """A parameter, root or column that the format does not have, or a value that it cannot take.

    `wanted` says which values a parameter takes, if the error is about a value.
    """

    wanted = ""


def render_path(components: Iterable[Component]) -> str:
    """The path as text: `payload.bins[3].value`."""
    text = ""
    for component in components:
        if isinstance(component, int):
            text += f"[{component}]"
        else:
            text += f".{component}" if text else component
    return text


class _Error(Exception):
    """A base class in between, so that `_ConstructError` can change its base."""


class _ConstructError(_Error):
    """A construct error, once the first error is created: good records do not load construct."""


class _PathError(WireloomError, ValueError):
    """An error at a path within a record."""

    def __new__(cls, *given: Any, **named: Any) -> Self:
        if _ConstructError.__base__ is _Error:
            from construct import ConstructError

            _ConstructError.__bases__ = (ConstructError,)
        return super().__new__(cls, *given, **named)

    def __init__(self) -> None:
        super().__init__()
        self._components: list[Component] = []

    @property
    def path(self) -> str:
        """The path in the record, by wire names: `payload.bins[3].value`; empty for the record itself."""
        return render_path(reversed(self._components))

    @property
    def components(self) -> tuple[Component, ...]:
        """The path, from the outermost component on."""
        return tuple(reversed(self._components))

    def at(self, component: object) -> Self:
        """The same error, one level further out; a component may be any object that a caller used as a name."""
        self._components.append(component if isinstance(component, int | str) else shown(component))
        return self

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    def inward(self) -> Component:
        """Remove the outermost component of the path, and return it."""
        return self._components.pop()

    def path_from(self, other: "_PathError") -> Self:
        """The same error, at the path of another."""
        self._components = list(other._components)
        return self


class DecodeError(_PathError, _ConstructError):
    """Bytes that do not match the format; construct treats it as one of its own errors.

    `code` is one of the format's error codes; `meaning` describes it, as the spec words it under `errors` or as every
    format has it. `offset` counts bytes from the start of the record; `expected` and `actual` are texts for people.
    `frame_end` is the offset after the record if it is known despite the error, so that a stream can continue there.
    `frame_size` is the size that the record declares, if fewer bytes are there. `frame_proof` counts the bits of
    checksums and constants that matched up to the frame. `cut_off` tells whether more bytes could change the error.
    `record_index` and `record_offset` locate the record in a stream, if the error ended the stream.
    """

    def __init__(self, code: str, *, offset: int, expected: str = "", actual: str = "", meaning: str = "") -> None:
        super().__init__()
        self.code = code
        self.meaning = meaning or CODES.get(code, "")
        self.offset = offset
        self.expected = expected
        self.actual = actual
        self.format = ""
        self.version = ""
        self.frame_end: int | None = None
        self.frame_size: int | None = None
        self.frame_proof = (0, 0)
        self.cut_off = code == "truncated"
        self.record_index: int | None = None
        self.record_offset: int | None = None

    def __str__(self) -> str:
        place = f" at {self.path}" if self.path else ""
        detail = f": expected {self.expected}" if self.expected else ""
        found = f", found {self.actual}" if self.actual else ""
        record = "" if self.record_index is None else f" (record {self.record_index} at byte {self.record_offset})"
        meaning = f" ({self.meaning})" if self.meaning else ""
        return f"{self.format or 'record'}: {self.code}{place}, byte {self.offset}{record}{detail}{found}{meaning}"

    def _repr_html_(self) -> str:
        """The HTML that notebooks show."""
        from wireloom.runtime.display import fault_rows, table

        return table(f"{self.format or 'record'}: a bad record", fault_rows(self))

    def bare(self) -> "DecodeError":
        """The error without its stack frames, which would keep all parsed values of the record alive."""
        self.__traceback__ = self.__context__ = self.__cause__ = None
        return self

    def __reduce__(self) -> tuple[object, ...]:
        return _restore, (self.__class__, self.__dict__)


class CheckError(DecodeError):
    """A failed `check` of the format; the code is the one in the spec."""


class EncodeError(_PathError, _ConstructError):
    """A value that the format cannot represent; `expected` and `actual` are texts for people.

    construct treats it as one of its own errors.
    """

    def __init__(self, expected: str, actual: str) -> None:
        super().__init__()
        self.expected = expected
        self.actual = actual

    def __str__(self) -> str:
        place = f"{self.path}: " if self.path else ""
        return f"{place}expected {self.expected}, found {self.actual}"

    def __reduce__(self) -> tuple[object, ...]:
        return _restore, (self.__class__, self.__dict__)


class UnplacedError(EncodeError):
    """A value for a member that the format, or this record of it, has no place for."""


def _restore(kind: type[_PathError], state: dict[str, object]) -> _PathError:
    error = kind.__new__(kind)
    error.__dict__.update(state)
    return error


def amount(count: int) -> str:
    """A number of bytes as an error message shows it: `1 byte`, `20 bytes`."""
    return f"{count} byte" if count == 1 else f"{count} bytes"


def _decoded(data: bytes, charset: str) -> str:
    try:
        return data.decode(charset)
    except UnicodeDecodeError:
        return ""


def shown(value: object, limit: int = 48, notation: str = "") -> str:
    """A value as an error message shows it: long ones cut; bytes in hexadecimal, integers in a notation as `04X`.

    The notation of bytes is the character set of the text that they are, if they are one.
    """
    match value:
        case bytes() if notation and (text := _decoded(value, notation)):
            return shown(text, limit)
        case bytes():
            text = value[:limit].hex(" ") + (f" ... ({len(value)} bytes)" if len(value) > limit else "")
            return text or "no bytes"
        case str():
            return repr(value[:limit]) + (f" ... ({len(value)} characters)" if len(value) > limit else "")
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() if notation:
            return f"{'-' if value < 0 else ''}0x{abs(value):{notation}}"
        case int():
            return str(value) if value.bit_length() < 128 else f"an integer of {value.bit_length()} bits"
        case float():
            return repr(value)
        case dict():
            return "a record"
        case list():
            return f"a list of {len(value)}"
        case _:
            return type(value).__name__

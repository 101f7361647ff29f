"""What the engine and the codec know of each other.

A `Request` has root, parameters and columns; a `Path` says what it runs on, and why; the `Host` gives programs the
layout and the construct path. Programs ask the host for the parser when they give up a record, and for the builders
when they give up a row. The host counts both (`reread`, `rebuilt`), so that a slow path never goes unnoticed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from wireloom.runtime.root import Root

if TYPE_CHECKING:
    from wireloom.runtime.columns.arrow import OpenValues
    from wireloom.runtime.columns.logical import ExtensionType
    from wireloom.runtime.engine.nodes import Layout


@dataclass(frozen=True, slots=True)
class Path:
    """What a request runs on: the native engine or, for a reason, the construct path."""

    native: bool
    reason: str = ""  # why not the engine; where it does, why it leaves some records; empty where it leaves none

    def __str__(self) -> str:
        """One line for people."""
        if not self.native:
            return f"construct path: {self.reason}"
        return f"native engine, but for {self.reason}" if self.reason else "native engine"


NATIVE = Path(native=True)
NO_ENGINE = Path(native=False, reason="no compiled engine is installed")


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be decoded, and how it is to be shown."""

    root: str
    settings: Mapping[str, Any]
    columns: tuple[str, ...] | None = None
    explode: bool = False
    open_values: "OpenValues" = "variant"
    stop: bool = False  # raise the first error

    @property
    def key(self) -> tuple[object, ...]:
        """What a program depends on."""
        return self.root, tuple(self.settings.items()), self.columns, self.explode, self.open_values


class Reader(Protocol):
    """Whoever reads a record at a time."""

    def read_all(self, data: bytes, checkpoints: bytes | None = None) -> Any:
        """The value of a record; raises DecodeError. Checkpoints say where the engine has given it up."""


class Format(Protocol):
    """What the engine needs of a codec."""

    @property
    def format(self) -> str:
        """Its name."""

    @property
    def extensions(self) -> "tuple[ExtensionType, ...]":
        """The extensions that open values may hold."""

    def root(self, name: str | None) -> Root:
        """The root of that name."""

    def reader(self, request: Request) -> Reader:
        """What reads the records of which columns are asked for."""

    def build_at(self, root: Root, row: int, value: Any, parameters: Mapping[str, Any]) -> bytes:
        """The bytes that the construct path builds; raises EncodeError at the row."""


@dataclass(slots=True)
class Host:
    """What programs ask when they are made, and when they give a record up."""

    codec: Format
    stated: Mapping[str, Any]  # the layout as it was generated
    reread: int = 0  # records that the engine gave up on and the construct parser accepted
    rebuilt: int = 0  # rows that the engine gave up on and the construct path was asked to build

    _layout: "Layout | None" = None

    @property
    def layout(self) -> "Layout":
        """The layout, whose types are nodes."""
        if self._layout is None:
            from wireloom.runtime.engine.nodes import loaded

            self._layout = loaded(self.stated)
        return self._layout

    def build(self, row: int, value: Any, request: Request) -> bytes:
        """The bytes that the construct path builds of a row's value; raises EncodeError at the row."""
        return self.codec.build_at(self.root(request), row, value, request.settings)

    def root(self, request: Request) -> Root:
        """The root that a request names."""
        return self.codec.root(request.root)

    def reader(self, request: Request) -> Reader:
        """The construct parser, which judges what the engine gives up."""
        return self.codec.reader(request)

"""The interface between the engine and the codec.

A `Request` names root, parameters and columns; a `Path` tells whether the engine serves it, and why not; the `Host`
gives programs the layout and the construct path. Programs ask the host for the parser when they give up a record, and
for the builders when they give up a row. The host counts both (`reread`, `rebuilt`), so slow paths are noticed.
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
    """What serves a request: the native engine or, for a stated reason, the construct path."""

    native: bool
    reason: str = ""  # if not native: why; if native: why it leaves some records to construct, or empty

    def __str__(self) -> str:
        """A line for people."""
        if not self.native:
            return f"construct path: {self.reason}"
        return f"native engine, but for {self.reason}" if self.reason else "native engine"


NATIVE = Path(native=True)
NO_ENGINE = Path(native=False, reason="no compiled engine is installed")


@dataclass(frozen=True, slots=True)
class Request:
    """What to decode, and how to show it."""

    root: str
    settings: Mapping[str, Any]
    columns: tuple[str, ...] | None = None
    explode: bool = False
    open_values: "OpenValues" = "variant"
    stop: bool = False  # raise the first error

    @property
    def key(self) -> tuple[object, ...]:
        """Everything that a program depends on."""
        return self.root, tuple(self.settings.items()), self.columns, self.explode, self.open_values


class Reader(Protocol):
    """Reads one record at a time."""

    def read_all(self, data: bytes, checkpoints: bytes | None = None) -> Any:
        """The value of a record; raises DecodeError. `checkpoints` tell where the engine gave it up."""


class Format(Protocol):
    """What the engine needs from a codec."""

    @property
    def format(self) -> str:
        """The format's name."""

    @property
    def extensions(self) -> "tuple[ExtensionType, ...]":
        """The extensions that open values may hold."""

    def root(self, name: str | None) -> Root:
        """The root with that name."""

    def reader(self, request: Request) -> Reader:
        """The parser for records, limited to the requested columns."""

    def build_at(self, root: Root, row: int, value: Any, parameters: Mapping[str, Any]) -> bytes:
        """Build a record with the construct path; raises EncodeError that names the row."""


@dataclass(slots=True)
class Host:
    """Gives programs the layout, the parser and the builders."""

    codec: Format
    stated: Mapping[str, Any]  # the layout as it was generated
    reread: int = 0  # records that the engine gave up on and the construct parser accepted
    rebuilt: int = 0  # rows that the engine gave up on and the construct path was asked to build

    _layout: "Layout | None" = None

    @property
    def layout(self) -> "Layout":
        """The layout, with its types as nodes."""
        if self._layout is None:
            from wireloom.runtime.engine.nodes import loaded

            self._layout = loaded(self.stated)
        return self._layout

    def build(self, row: int, value: Any, request: Request) -> bytes:
        """Build a row's value with the construct path; raises EncodeError that names the row."""
        return self.codec.build_at(self.root(request), row, value, request.settings)

    def root(self, request: Request) -> Root:
        """The root that a request names."""
        return self.codec.root(request.root)

    def reader(self, request: Request) -> Reader:
        """The construct parser, which reads the records that the engine gives up."""
        return self.codec.reader(request)

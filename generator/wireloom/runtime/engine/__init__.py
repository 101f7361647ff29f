"""The native engine as the codec sees it: it decodes and encodes Arrow arrays, or returns None for the construct path.

The engine decodes record by record and gives up on a record at the first irregularity. The construct parser reads
exactly those records again and reports their errors, so errors come from one place. If the parser accepts such a
record, its value is put into the columns (`Engine.reread` counts these records).
"""

import warnings
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from wireloom.runtime.engine import contract
from wireloom.runtime.engine.contract import LAYOUT_VERSION
from wireloom.runtime.engine.host import NATIVE, NO_ENGINE, Host, Path, Request
from wireloom.runtime.engine.program_cache import Kept

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from wireloom.runtime.columns.arrow import Decoded
    from wireloom.runtime.engine.compiler.table import Table
    from wireloom.runtime.engine.encoder.table import Table as Writer

__all__ = ["LAYOUT_VERSION", "Engine", "Path", "Request", "available", "module"]


@cache
def module() -> Any:
    """The compiled engine, or None with one warning if it is missing or was built from other sources."""
    try:
        _engine = import_module("wireloom.runtime.engine._engine")
    except ImportError as error:
        _miss(str(error))
        return None
    from wireloom.runtime.engine.sources import digest

    if digest(FilePath(__file__).parent) not in ("", getattr(_engine, "SOURCES", None)):
        _miss("it was built from other sources; install wireloom again")
        return None
    return _engine


def _miss(reason: str) -> None:
    warnings.warn(
        f"wireloom: no native engine ({reason}); the parser decodes, about a hundred times slower",
        RuntimeWarning,
        stacklevel=3,
    )


def available() -> bool:
    """Whether there is a compiled engine."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return module() is not None


@dataclass(slots=True)
class Engine(Host):
    """The engine of one codec. It compiles a program when one is first needed and keeps the recent ones."""

    _programs: "Kept[Table | Path]" = field(default_factory=Kept)
    _writers: "Kept[Writer | Path]" = field(default_factory=Kept)
    _drafters: "Kept[Writer | Path]" = field(default_factory=Kept)

    def decode(self, array: "pa.Array", request: Request) -> "Decoded | None":
        """The columns of an array of records; None if the engine does not cover the request."""
        program = self.program(request)
        if program is None or not program.takes(array):
            return None
        decoded: Decoded = program.decode(array, request)
        return decoded

    def leading(self, array: "pa.Array", request: Request, made: int) -> "tuple[Decoded, int] | None":
        """See `Table.leading`; None if the engine does not cover the request."""
        program = self.program(request)
        if program is None or not program.takes(array):
            return None
        found: tuple[Decoded, int] = program.leading(array, request, made)
        return found

    def given_up(self, array: "pa.Array", request: Request) -> "Iterator[int] | None":
        """The rows that the engine gives up; None if it does not cover the request."""
        program = self.program(request)
        return None if program is None or not program.takes(array) else program.given_up(array, request)

    def checkpoints(self, data: bytes, request: Request) -> bytes | None:
        """Where the engine gives up a record; None if it does not cover the request, or notes no checkpoints."""
        program = self.program(request)
        found: bytes | None = None if program is None else program.program.checkpoints(data)
        return found

    def program(self, request: Request) -> "Table | None":
        """The reading program for a request; None if the engine does not cover it."""
        found = self._program(request)
        return None if isinstance(found, Path) else found

    def decode_path(self, request: Request) -> Path:
        """Whether the engine or the construct path decodes a request, and why."""
        found = self._program(request)
        return found if isinstance(found, Path) else NATIVE

    def _program(self, request: Request) -> "Table | Path":
        return self._programs.get(request.key, lambda: self._made("compiler.table", request))

    def batches(self, array: "pa.Array", request: Request, row_budget: int = 0) -> "Iterator[Decoded] | None":
        """The columns in parts, each below Arrow's 2 GiB and, for lists of rows, not far above the row budget."""
        program = self.program(request)
        if program is None or not program.takes(array):
            return None
        parts: Iterator[Decoded] = program.batches(array, request, row_budget)
        return parts

    def _made(self, home: str, request: Request, **options: bool) -> Any:
        """Compile a request with the Table of module `home`; a Path with the reason if the engine does not cover it."""
        from wireloom.runtime.engine.programs.assembly import Uncovered

        contract.check(self.codec.format, self.stated)
        native = module()
        if native is None:
            return NO_ENGINE
        try:
            return import_module(f"wireloom.runtime.engine.{home}").Table.compiled(self, native, request, **options)
        except Uncovered as reason:
            return Path(native=False, reason=str(reason))
        except native.LayoutError as refusal:
            return Path(native=False, reason=f"its program would be beyond the engine's bounds ({refusal})")
        except RecursionError:
            return Path(native=False, reason="types nested deeper than a program can be made of")

    def encode(self, records: "pa.StructArray", request: Request) -> "pa.Array | None":
        """Encode the records of columns; None if the engine does not cover the request. Raises EncodeError."""
        from wireloom.runtime.engine.programs.assembly import Uncovered

        writer = self.writer(request)
        try:
            return None if writer is None else writer.encode(records, request)
        except Uncovered:  # columns of other types than the emitted schema's
            return None

    def attempted(self, records: "pa.StructArray", request: Request, *, drafts: bool = False) -> "pa.Array | None":
        """Encode each row with the engine alone, null if it gives up; None if it does not cover the request.

        `drafts` are not read back, and omit the parts of a value that the record cannot store.
        """
        from wireloom.runtime.engine.programs.assembly import Uncovered

        writer = self._drafter(request) if drafts else self._writer(request)
        try:
            return None if isinstance(writer, Path) else writer.attempted(records, request)
        except Uncovered:
            return None

    def encode_batches(self, records: "pa.StructArray", request: Request) -> "Iterator[pa.Array] | None":
        """Encode the records of columns in parts below Arrow's 2 GiB; None if the engine does not cover the request.

        Raises Uncovered, before the first part, if the columns do not have the emitted schema's types.
        """
        from wireloom.runtime.columns import soundness

        writer = self.writer(request)
        return None if writer is None else writer.batches(soundness.columns_of(records), request)

    def writer(self, request: Request) -> "Writer | None":
        """The writing program for a request; None if the engine does not cover it."""
        found = self._writer(request)
        return None if isinstance(found, Path) else found

    def encode_path(self, request: Request) -> Path:
        """Whether the engine or the construct path encodes a request, and why."""
        found = self._writer(request)
        return found if isinstance(found, Path) else found.path

    def _writer(self, request: Request) -> "Writer | Path":
        return self._writers.get(request.key, lambda: self._made("encoder.table", request))

    def _drafter(self, request: Request) -> "Writer | Path":
        return self._drafters.get(request.key, lambda: self._made("encoder.table", request, drafts=True))

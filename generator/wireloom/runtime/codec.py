"""A format at work: each generated module has one `Codec`, whose methods are the module's functions.

It joins the declarations (constructs, logical records, parameters) with the code that acts on them (streams, columns,
renderings), checks the callers' arguments, and puts the format's name on every error. Parsers, columns and streams are
imported on first use: importing a format loads none of them, and columns are decoded natively without parsers.
"""

import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from importlib import import_module
from itertools import chain
from typing import TYPE_CHECKING, Any, BinaryIO

from wireloom.runtime.engine import Engine, Path, Request
from wireloom.runtime.errors import DecodeError, EncodeError, ParameterError, WireloomError
from wireloom.runtime.parameters import (
    Parameter,
    ParameterValue,
    accept_all,
    accept_columns,
    accept_flag,
    accept_word,
    refuse_single,
)
from wireloom.runtime.pickling import Reduced, by_name
from wireloom.runtime.root import Root

if TYPE_CHECKING:
    import pyarrow as pa

    from wireloom.runtime.columns.arrow import Decoded, OpenValues
    from wireloom.runtime.columns.logical import ExtensionType
    from wireloom.runtime.columns.repetition import Bound
    from wireloom.runtime.cursor import Cursor
    from wireloom.runtime.spans import Explained, Trace
    from wireloom.runtime.streams.framed import Extent, Framed
    from wireloom.runtime.streams.framing import Bare, Framing, Headed
    from wireloom.runtime.streams.headers import Head
    from wireloom.runtime.streams.parts import DecodedPart
    from wireloom.runtime.streams.resync import Resync
    from wireloom.runtime.versions import Versions

__all__ = ["Codec", "Parameter", "Root"]

Buffer = bytes | bytearray | memoryview
OPEN_VALUES = ("variant", "json", "binary")
"""How columns can show open values (values of any type)."""
_TOGETHER = 1 << 29
"""Bytes of columns, estimated, after which the parser ends a batch of records."""
_NO_LAYOUT = Path(native=False, reason="a format without a layout")


@dataclass(frozen=True)
class _StreamReader:
    """What a stream needs to read records: one root with its parameters checked."""

    codec: "Codec"
    root: Root
    parameters: Mapping[str, ParameterValue]
    open_bytes: bool = False
    bound: "Bound | None" = None  # limits the flat rows of a record, if rows were requested

    def read(self, cursor: "Cursor") -> Any:
        """The record at the cursor."""
        cursor.keeps_open = self.open_bytes
        return self.codec.labelled(partial(self._read, cursor))

    def _read(self, cursor: "Cursor") -> Any:
        from wireloom.runtime.values import remembered

        start = cursor.tell()
        value = self.root.complete(self.root.construct.read(cursor, self.parameters))
        try:
            self._hold(value)
        except DecodeError as error:
            error.offset, error.frame_end = start, cursor.tell()
            raise
        return remembered(value, cursor.getvalue()[start : cursor.tell()])

    def read_all(self, data: bytes, checkpoints: bytes | None = None) -> Any:
        """The record that is all of `data`; `checkpoints` say where the engine gave it up."""
        if checkpoints is not None:
            from wireloom.runtime.checkpoints import refusal

            read = partial(self.codec.parse_with, self.root, data, self.parameters, checkpoints=checkpoints)
            if (error := refusal(read)) is not None:
                raise error
        value = self.codec.parse_with(self.root, data, self.parameters, open_bytes=self.open_bytes)
        self.codec.labelled(lambda: self._hold(value))
        return value

    def _hold(self, value: Any) -> None:
        if self.bound is not None:
            self.bound.hold(value)

    def weight(self, value: Any) -> int:
        """The bytes that a value takes in columns, estimated."""
        from wireloom.runtime.streams.budget import weight

        return weight(value) + (0 if self.bound is None or value is None else self.bound.size(value))

    def label(self, error: DecodeError) -> DecodeError:
        """The error, with the format's name, version and description of the code."""
        return self.codec.label(error)


@dataclass(frozen=True)
class Codec:
    """Everything one format can do, for the generated package `home`; errors carry `digest` as the version."""

    home: str
    format: str
    digest: str
    parameters: tuple[Parameter, ...]
    roots: Mapping[str, Root]
    framing: str
    layout: Mapping[str, Any] | None = None  # the tables that the native engine reads the format with
    codes: Mapping[str, str] = field(default_factory=dict)  # the error codes of its records, and their meanings
    named_versions: Mapping[str, Any] | None = None  # the arguments of `versions`

    def __reduce__(self) -> Reduced:
        """A pickle names the generated module."""
        return by_name(self, "CODEC")

    @cached_property
    def versions(self) -> "Versions | None":
        """The named versions of the format; None if it has none."""
        if self.named_versions is None:
            return None
        from wireloom.runtime.versions import Versions

        return Versions(**self.named_versions)

    @cached_property
    def extensions(self) -> "tuple[ExtensionType, ...]":
        """The extension types that open values may hold."""
        found: tuple[ExtensionType, ...] = import_module(f"{self.home}.shape").EXTENSIONS
        return found

    @cached_property
    def engine(self) -> Engine | None:
        """The native engine for this format; None if it has no layout."""
        return None if self.layout is None else Engine(self, self.layout)

    @property
    def default_root(self) -> str:
        """The first root of the spec."""
        return next(iter(self.roots))

    def root(self, name: str | None) -> Root:
        """The root of that name (None: the first); raises ParameterError, with the nearest name."""
        if name is None:
            return self.roots[self.default_root]
        if not isinstance(name, str):
            raise ParameterError(f"root must be a name, or None for the first, not {type(name).__name__}")
        if name not in self.roots:
            import difflib

            near = difflib.get_close_matches(name, self.roots, 1)
            hint = f"; did you mean {near[0]!r}?" if near else f"; there are {', '.join(self.roots)}"
            raise ParameterError(f"{self.format} has no root {name!r}{hint}")
        return self.roots[name]

    def settings(self, given: Mapping[str, object]) -> dict[str, ParameterValue]:
        """All parameters of the format with their values; raises ParameterError for wrong ones."""
        return accept_all(self.parameters, given)

    def labelled(self, act: Callable[[], Any]) -> Any:
        """Call `act`; a DecodeError gets the format's name, version and description of the code."""
        try:
            return act()
        except DecodeError as error:
            self.label(error)
            raise

    def label(self, error: DecodeError) -> DecodeError:
        """The error, with the format's name, version and description of the code."""
        error.format, error.version = self.format, self.digest
        error.meaning = self.codes.get(error.code, error.meaning)
        return error

    # --- one record ------------------------------------------------------------------------------------------------

    def parse(self, data: Buffer, /, *, root: str | None = None, **parameters: object) -> Any:
        """The value of one record; raises DecodeError, and ParameterError for wrong keywords."""
        if not isinstance(data, bytes | bytearray | memoryview):
            raise ParameterError(f"data must be bytes, not {type(data).__name__}")
        return self.parse_with(self.root(root), bytes(data), self.settings(parameters))

    def parse_with(
        self,
        root: Root,
        data: bytes,
        parameters: Mapping[str, ParameterValue],
        *,
        open_bytes: bool = False,
        checkpoints: bytes | None = None,
    ) -> Any:
        """`parse` with root and parameters checked; `open_bytes` leaves open values as `OpenBytes`.

        With `checkpoints`, an error is the right one, but a value lacks the elements that were skipped.
        """
        from wireloom.runtime.cursor import Cursor
        from wireloom.runtime.values import remembered

        cursor = Cursor(data)
        cursor.keeps_open = open_bytes
        if checkpoints is not None:
            from wireloom.runtime.checkpoints import Checkpoints
            from wireloom.runtime.engine import module

            cursor.checkpoints = Checkpoints.passes(checkpoints, module())
        return self.labelled(lambda: remembered(root.complete(root.construct.read_all(cursor, parameters)), data))

    def explain_bytes(self, data: Buffer, /, *, root: str | None = None, **parameters: object) -> "Explained":
        """The meaning of every byte of one record, as a tree of spans; a bad record is shown up to its fault."""
        if not isinstance(data, bytes | bytearray | memoryview):
            raise ParameterError(f"data must be bytes, not {type(data).__name__}")
        return self._trace(bytes(data), root, self.settings(parameters)).explained()

    def summarize_bytes(
        self,
        data: bytes,
        root: str | None,
        parameters: Mapping[str, ParameterValue],
        indices: frozenset[int] = frozenset(),
    ) -> "Explained":
        """`explain_bytes` with parameters checked, and ten times faster for a large record.

        The elements of long lists are folded, except the first ones, a bad one, and those at `indices`.
        """
        from wireloom.runtime.engine import module

        request = Request(root or self.default_root, parameters, ())
        known = None if self.engine is None else self.engine.checkpoints(data, request)
        trace = self._trace(data, root, parameters)
        return trace.summarized(None if known is None else (known, module()), indices)

    def _trace(self, data: bytes, root: str | None, parameters: Mapping[str, ParameterValue]) -> "Trace":
        from wireloom.runtime.spans import Trace

        return Trace(self.format, self.root(root), data, parameters, self.label)

    def reader(self, request: Request) -> _StreamReader:
        """The reader of the records for a request of columns."""
        root = self.root(request.root)
        bound = None
        if request.explode and root.rows:
            from wireloom.runtime.columns import arrow, repetition

            view = arrow.View(request.columns, request.explode, request.open_values)
            bound = repetition.Bound.of(root.tabulation, view)
        return _StreamReader(self, root, request.settings, request.open_values == "binary", bound)

    def refusal(
        self,
        data: bytes,
        root: str | None,
        parameters: Mapping[str, ParameterValue],
        reader: Callable[[bytes, int, int], Any] | None = None,
    ) -> tuple[DecodeError, Any] | None:
        """The parser's error for a record, and the nodes of its JSON if they were read; None if it is valid.

        `reader` replaces the parser's own reader of JSON texts, and must agree with it.
        """
        from wireloom.runtime import checkpoints
        from wireloom.runtime.cursor import Cursor
        from wireloom.runtime.engine import module

        chosen, cursor, error = self.root(root), Cursor(data), None

        def read(cursor: Cursor) -> None:
            cursor.reader = reader
            chosen.complete(chosen.construct.read_all(cursor, parameters))

        request = Request(root or self.default_root, parameters, ())
        known = None if self.engine is None else self.engine.checkpoints(data, request)
        if known is not None:
            cursor.checkpoints = checkpoints.Checkpoints.passes(known, module())
            error = checkpoints.refusal(partial(read, cursor))
        if error is None:
            cursor = Cursor(data)
            try:
                read(cursor)
            except DecodeError as refused:
                error = refused
        return None if error is None else (self.label(error).bare(), cursor.document)

    def build(self, value: Any, /, *, root: str | None = None, **parameters: object) -> bytes:
        """The bytes of one record; raises EncodeError if the format cannot represent `value`.

        The bytes are parsed again and compared: if a given member does not come back, that is an EncodeError. With
        `version`, the record is of that version of the format, and a value of another version is an EncodeError.
        """
        entry = self.root(root)
        version, settings = self._version(entry, parameters)
        return self._build_version(entry, value, settings, version)

    def _version(self, root: Root, parameters: Mapping[str, object]) -> tuple[str | None, dict[str, ParameterValue]]:
        """The requested version (None: the value decides), and the checked parameters."""
        versions = self.versions
        if versions is None or any(each.name == "version" for each in self.parameters):
            return None, self.settings(parameters)
        given: Mapping[str, object] = {name: value for name, value in parameters.items() if name != "version"}
        asked = parameters.get("version")
        if asked is None:
            return None, self.settings(given)
        version = versions.checked(self.format, root.name, asked)
        if versions.parameter:
            default = next(each.default for each in self.parameters if each.name == versions.parameter)
            given = versions.settings(given, version, default)
        return version, self.settings(given)

    def _build_version(
        self, root: Root, value: Any, parameters: Mapping[str, ParameterValue], version: str | None
    ) -> bytes:
        if self.versions is None or root.name not in self.versions.roots:
            return self._build_with(root, value, parameters)
        return self.versions.written(value, version, lambda told: self._build_with(root, told, parameters))

    def _build_with(self, root: Root, value: Any, parameters: Mapping[str, ParameterValue]) -> bytes:
        from wireloom.runtime.foreign_values import foreign
        from wireloom.runtime.values import same, source_of

        try:
            return root.construct.written(
                root.wired(value), parameters, lambda read: same(root.complete(read), value), source_of(value)
            )
        except RecursionError:
            raise EncodeError("a value that the stack can hold", "one that is nested deeper, or holds itself") from None
        except WireloomError:
            raise
        except (ArithmeticError, BufferError) as error:  # numbers too large for arithmetic, non-contiguous buffers
            raise foreign(value) or EncodeError("a value that can be encoded", str(error)) from error
        except Exception as error:
            found = foreign(value)
            if found is None:
                raise
            raise found from error

    # --- streams ---------------------------------------------------------------------------------------------------

    def iter_parse(
        self,
        source: Buffer | BinaryIO,
        /,
        *,
        root: str | None = None,
        framing: str | None = None,
        on_error: str = "raise",
        resync: bool = False,
        **parameters: object,
    ) -> "Iterator[Framed]":
        """The records of a buffer or binary file; see `streams.framed.iterate`, and `streams.resync` for `resync`."""
        from wireloom.runtime.streams import framed
        from wireloom.runtime.streams.framing import Headed, bare

        reader = _StreamReader(self, self.root(root), self.settings(parameters))
        chosen = self.framing_of(reader.root, framing)
        framed.check(on_error)
        accept_flag("resync", resync)
        file = framed.opened(source)
        found = self._searching(reader, bare(chosen)) if resync else None
        if isinstance(chosen, Headed):
            return self._after_header(reader, file, chosen, on_error, resync=resync)
        return framed.iterate(reader, file, chosen, on_error, found)

    def _after_header(
        self, reader: _StreamReader, file: BinaryIO, framing: "Headed", on_error: str, *, resync: bool
    ) -> "Iterator[Framed]":
        from wireloom.runtime.streams import framed

        head = self.head(framing, file, reader.parameters)
        if isinstance(head, framed.Extent):
            yield from framed.numbered(iter((head,)), on_error)
            return
        reader = replace(reader, parameters=head.settings)
        found = self._searching(reader, framing.records) if resync else None
        yield from framed.iterate(reader, head.file, framing.records, on_error, found, head.size)

    def head(self, framing: "Headed", file: BinaryIO, settings: Mapping[str, ParameterValue]) -> "Head | Extent":
        """The header before the records of a stream, or the stream as one bad record if it has no valid header."""
        from wireloom.runtime.streams import headers

        def place(member: str, data: bytes) -> tuple[str, int]:
            span = self.explain_bytes(data, root=framing.header, **settings).member(member)
            return (member, len(data)) if span is None else (span.path, span.start)

        reader = _StreamReader(self, self.root(framing.header), settings)
        return headers.head(reader, framing, file, settings, headers.Judges(self.settings, place))

    def iter_build(
        self, values: Iterable[Any], /, *, root: str | None = None, framing: str | None = None, **parameters: object
    ) -> Iterator[bytes]:
        """The stream of the records of these values, piece by piece, as `iter_parse` reads it.

        Raises EncodeError, whose path begins with the value's number, if a value cannot be represented or could not be
        found again in the stream. A header before the records is built from the parameters.
        """
        from wireloom.runtime.streams.writing import pieces

        entry = self.root(root)
        chosen = self.framing_of(entry, framing)
        refuse_single("values", values, "a list or an iterator of values")
        version, given = self._version(entry, parameters)
        begun, settings = self.beginning(chosen, given)
        records = (self.build_at(entry, number, value, settings, version) for number, value in enumerate(values))
        return chain((begun,) if begun else (), pieces(chosen, records))

    def beginning(
        self, framing: "Framing", parameters: Mapping[str, object]
    ) -> tuple[bytes, dict[str, ParameterValue]]:
        """The header before all records that are written with these parameters, and the parameters it states.

        Raises EncodeError if the format cannot represent such a header.
        """
        from wireloom.runtime.streams.framing import Headed
        from wireloom.runtime.streams.headers import Head

        settings = self.settings(parameters)
        if not isinstance(framing, Headed):
            return b"", settings
        data = self._header(framing, settings)
        found = self.head(framing, io.BytesIO(data), settings)
        if not isinstance(found, Head):
            raise EncodeError("a header that reads back", f"{data.hex()}, which does not")
        return data, dict(found.settings)

    def _header(self, framing: "Headed", settings: Mapping[str, ParameterValue]) -> bytes:
        root = self.root(framing.header)
        value = {field: settings[name] for name, field in framing.gives if settings[name] is not None}
        try:
            return self._build_with(root, value, settings)
        except EncodeError:
            undecided = root.construct.undecided(settings)
            known = {field: settings[name] for name, field in framing.gives if field in value and name != undecided}
            if len(known) == len(value):
                raise
            return self._build_with(root, known, settings)  # the byte order of the header tells its parameter

    def _searching(self, reader: _StreamReader, framing: "Bare") -> "Resync":
        """The search for the offset where a stream continues; raises ParameterError if no offset proves itself."""
        from wireloom.runtime.streams.resync import resync

        return resync(reader, reader.root, framing, reader.parameters, self.format)

    def remedy(self, root: str | None, framing: str | None, parameters: Mapping[str, object]) -> str:
        """How to recover records after one whose end is not known, as a sentence."""
        from wireloom.runtime.streams.framing import Concatenated, bare

        reader = _StreamReader(self, self.root(root), self.settings(parameters))
        chosen = bare(self.framing_of(reader.root, framing))
        other = self._bounding(root) if isinstance(chosen, Concatenated) else ""
        try:
            self._searching(reader, chosen)
            found = "--resync searches for it"
        except ParameterError as error:
            found = str(error)
        return "; ".join(filter(None, ("the start of the next record is not known", found, other)))

    def _bounding(self, root: str | None) -> str:
        """How concatenated records can get an end that is known without reading them."""
        from wireloom.runtime.engine.nodes import is_laid_out, loaded
        from wireloom.runtime.streams.framing import Prefixed

        if self.layout is None or is_laid_out(loaded(self.layout), self.root(root).name):
            return "a `frame` step in the spec says where a bad record ends, if the error comes after that step"
        return f"if the writer puts the length before each record ({Prefixed().text}), only the bad record is lost"

    def framing_of(self, root: Root, framing: str | None) -> "Framing":
        """The framing of a stream of a root's records: the given one, or the format's; may raise ParameterError.

        Records that do not tell their own end cannot be concatenated, and only JSON texts can be in a JSON array.
        """
        from wireloom.runtime.streams.framing import Array, Concatenated, Headed, bare, framing_of, others

        if not isinstance(framing, str | None):
            raise ParameterError(f"framing must be a text, or None for the format's, not {type(framing).__name__}")
        named = framing_of(self.framing if framing is None else framing)
        if isinstance(named, Headed):
            self._check_header(named)
        chosen = bare(named)
        if isinstance(chosen, Concatenated) and root.endless:
            message = f"records of {self.format} cannot be back to back: the end of {root.endless} is not known"
            raise ParameterError(f"{message}; framing can be {others(chosen)}")
        if isinstance(chosen, Array) and not root.is_text:
            message = f"records of {self.format} cannot be in a JSON array"
            raise ParameterError(f"{message}; framing can be {others(chosen)}")
        return named

    def _check_header(self, framing: "Headed") -> None:
        """Raises ParameterError if the format has no such header, or no such parameter."""
        known, record = [each.name for each in self.parameters], self.root(framing.header).logical
        for name, member in framing.gives:
            if name not in known:
                raise ParameterError(f"{self.format} has no parameter {name!r}, which framing {framing.text} gives")
            if member not in [each.name for each in record.fields]:
                raise ParameterError(f"{framing.header} of {self.format} has no member {member!r}, which gives {name}")

    # --- columns ---------------------------------------------------------------------------------------------------

    def decode(  # noqa: PLR0913 - the keywords of the generated functions
        self,
        array: "pa.Array | pa.ChunkedArray | Sequence[bytes | str | None]",
        /,
        columns: Sequence[str] | None = None,
        *,
        root: str | None = None,
        explode: bool = False,
        on_error: str = "null",
        open_values: "OpenValues" = "variant",
        **parameters: object,
    ) -> "Decoded":
        """The columns of an Arrow array or a list of records; a null value gives a null record and no error."""
        stop = _stops(on_error)
        return self.decode_request(array, self._request(root, parameters, columns, explode, open_values), stop=stop)

    def batches(  # noqa: PLR0913 - the keywords of decode, and one more
        self,
        array: "pa.Array",
        /,
        columns: Sequence[str] | None = None,
        *,
        root: str | None = None,
        explode: bool = False,
        on_error: str = "null",
        open_values: "OpenValues" = "variant",
        row_budget: int = 0,
        **parameters: object,
    ) -> "Iterator[Decoded]":
        """`decode` in parts, in order; `parents` count in the whole array.

        Each part is below Arrow's 2 GiB. With the engine, a part of flat rows is not far above the row budget (0:
        none).
        """
        from wireloom.runtime.columns import soundness

        stop = _stops(on_error)
        asked = replace(self._request(root, parameters, columns, explode, open_values), stop=stop)
        array = soundness.records_of(array)
        if self.engine is not None and (parts := self.engine.batches(array, asked, row_budget)) is not None:
            return parts
        return self._parsed_batches(array, asked)

    def _parsed_batches(self, array: "pa.Array", request: Request) -> "Iterator[Decoded]":
        """`batches` with the construct parser."""
        import pyarrow.compute as pc

        start = 0
        while True:
            values, errors = self.parse_all(array[start:], request, _TOGETHER)
            found = self._tabulated(values, errors, request)
            yield found if not start or found.parents is None else replace(found, parents=pc.add(found.parents, start))
            start += len(values)
            if start >= len(array):
                return

    def root_of_rows(self, root: str | None, *, explode: bool, open_values: "OpenValues") -> Root:
        """The root of the requested rows; raises ParameterError for an unknown root, flag or word."""
        accept_flag("explode", explode)
        accept_word("open_values", open_values, OPEN_VALUES)
        return self.root(root)

    def _request(
        self,
        root: str | None,
        parameters: Mapping[str, object],
        columns: Sequence[str] | None,
        explode: bool,  # noqa: FBT001 - in the order of Request
        open_values: "OpenValues",
    ) -> Request:
        """The checked request; raises ParameterError."""
        from wireloom.runtime.columns.projection import project
        from wireloom.runtime.columns.rows import row_record

        entry = self.root_of_rows(root, explode=explode, open_values=open_values)
        settings, asked = self.settings(parameters), accept_columns(columns)
        try:
            project(row_record(entry.logical, entry.rows if explode else ()), asked)
        except ValueError as error:
            raise ParameterError(str(error)) from error
        return Request(root or self.default_root, settings, asked, explode, open_values)

    def covers(self, request: Request) -> bool:
        """Whether the engine decodes this request."""
        return self.decode_path_of(request).native

    def decode_path_of(self, request: Request) -> Path:
        """Whether the engine or the parser decodes a request."""
        return _NO_LAYOUT if self.engine is None else self.engine.decode_path(request)

    def decode_path(
        self,
        /,
        columns: Sequence[str] | None = None,
        *,
        root: str | None = None,
        explode: bool = False,
        open_values: "OpenValues" = "variant",
        **parameters: object,
    ) -> Path:
        """Whether the engine runs `decode` with these arguments, and if not, why; raises ParameterError."""
        return self.decode_path_of(self._request(root, parameters, columns, explode, open_values))

    def encode_path(self, /, *, root: str | None = None, **parameters: object) -> Path:
        """Whether the engine runs `encode` with these arguments, and if not, why; raises ParameterError."""
        if self.root(root).elements:
            return Path(native=False, reason="a root that is a list, which has no columns to be encoded from")
        request = Request(root or self.default_root, self.settings(parameters))
        return _NO_LAYOUT if self.engine is None else self.engine.encode_path(request)

    def decode_request(self, records: object, request: Request, *, stop: bool = False) -> "Decoded":
        """`decode` with a checked request; `stop` raises the first error."""
        from wireloom.runtime.columns import soundness

        request, array = replace(request, stop=stop), soundness.records_of(records)
        if self.engine is not None and (found := self.engine.decode(array, request)) is not None:
            return found
        return self.decode_parsed(array, request)

    def decode_leading(  # noqa: PLR0913 - the keywords of decode, less what to do about errors
        self,
        array: "pa.Array",
        made: int,
        /,
        columns: Sequence[str] | None = None,
        *,
        root: str | None = None,
        explode: bool = False,
        open_values: "OpenValues" = "variant",
        **parameters: object,
    ) -> "tuple[Decoded, int]":
        """`decode` the first values, up to about `made` bytes of columns; the columns and the number of values."""
        return self.leading(array, self._request(root, parameters, columns, explode, open_values), made)

    def leading(self, array: "pa.Array", request: Request, made: int) -> "tuple[Decoded, int]":
        """`decode_leading` with a checked request."""
        from wireloom.runtime.columns import soundness

        array = soundness.records_of(array)
        if self.engine is not None and (found := self.engine.leading(array, request, made)) is not None:
            return found
        values, errors = self.parse_all(array, request, made)
        return self._tabulated(values, errors, request), len(values)

    def decode_parsed(self, array: "pa.Array", request: Request) -> "Decoded":
        """The columns by way of the construct parser, even if the engine could decode them."""
        return self._tabulated(*self.parse_all(array, request), request)

    def _tabulated(self, values: list[Any], errors: "list[DecodeError | None]", request: Request) -> "Decoded":
        from wireloom.runtime.columns import arrow

        entry = self.root(request.root)
        view = arrow.View(request.columns, request.explode, request.open_values)
        path = self.decode_path_of(request)
        reason = path.reason or "an array of a type that the engine does not take"
        return arrow.decoded(values, errors, entry.tabulation, view, reason=reason)

    def decode_stream(  # noqa: PLR0913 - the keywords of the generated functions
        self,
        source: Buffer | BinaryIO,
        /,
        columns: Sequence[str] | None = None,
        *,
        root: str | None = None,
        framing: str | None = None,
        explode: bool = False,
        on_error: str = "skip",
        open_values: "OpenValues" = "variant",
        resync: bool = False,
        **parameters: object,
    ) -> "Iterator[DecodedPart]":
        """The columns of the records of a buffer or binary file, in parts of some megabytes; see `parts.parts`."""
        from wireloom.runtime.streams import framed, parts
        from wireloom.runtime.streams.framing import Headed, bare

        chosen = self.framing_of(self.root(root), framing)
        framed.check(on_error)
        accept_flag("resync", resync)
        request = self._request(root, parameters, columns, explode, open_values)
        reader = self.reader(request)
        file = framed.opened(source)
        found = self._searching(reader, bare(chosen)) if resync else None
        if isinstance(chosen, Headed):
            return self._parts_after_header(reader, file, chosen, request, on_error, resync=resync)
        return parts.parts(self, file, reader, chosen, request, on_error, found)

    def _parts_after_header(  # noqa: PLR0913 - the stream, and how to read it
        self,
        reader: _StreamReader,
        file: BinaryIO,
        framing: "Headed",
        request: Request,
        on_error: str,
        *,
        resync: bool,
    ) -> "Iterator[DecodedPart]":
        from wireloom.runtime.streams import framed, parts

        head = self.head(framing, file, request.settings)
        if isinstance(head, framed.Extent):
            yield from parts.lost(self, reader, head, request, on_error)
            return
        reader, request = replace(reader, parameters=head.settings), replace(request, settings=dict(head.settings))
        found = self._searching(reader, framing.records) if resync else None
        for part in parts.parts(self, head.file, reader, framing.records, request, on_error, found, head.size):
            yield replace(part, settings=head.settings)

    def given_up(self, array: "pa.Array", root: str, settings: Mapping[str, ParameterValue]) -> set[int] | None:
        """The rows that the engine leaves to the parser; None without the engine."""
        request = Request(root, settings, ())
        rows = None if self.engine is None else self.engine.given_up(array, request)
        return None if rows is None else set(rows)

    def parse_all(
        self, array: "pa.Array", request: Request, made: int | None = None
    ) -> tuple[list[Any], list[DecodeError | None]]:
        """The construct parser's value and error for each record of an array.

        With `made`, it stops after the record at which the values reach so many bytes.
        """
        reader = self.reader(request)
        values: list[Any] = []
        errors: list[DecodeError | None] = []
        for item in array:
            buffer = item.as_buffer() if item.is_valid else None
            try:
                values.append(None if buffer is None else reader.read_all(buffer.to_pybytes()))
                errors.append(None)
            except DecodeError as error:
                if request.stop:
                    raise
                values.append(None)
                errors.append(error.bare())
            if made is not None and (made := made - reader.weight(values[-1])) <= 0:
                break
        return values, errors

    def encode(
        self,
        records: "pa.RecordBatch | pa.StructArray | pa.Table | pa.ChunkedArray",
        /,
        *,
        root: str | None = None,
        **parameters: object,
    ) -> "pa.Array":
        """The bytes of each record of a batch (null for null); raises EncodeError at the first bad row.

        With `version`, a row that states no version gets that one, and a row that states another is an EncodeError.
        """
        import pyarrow as pa

        from wireloom.runtime.columns import reading, soundness

        entry = self.root(root)
        version, settings = self._version(entry, parameters)
        if entry.elements:
            raise ParameterError(
                f"columns hold one record a row; a root that is a list cannot be encoded from them: {root}"
            )
        structs = soundness.columns_of(records)
        if version is not None and self.versions is not None and self.versions.path:
            from wireloom.runtime.columns.arrow import arrow_type

            structs = self.versions.columns(structs, version, arrow_type(entry.logical))
        request = Request(root or self.default_root, settings)
        if self.engine is not None and (found := self.engine.encode(structs, request)) is not None:
            return found
        values, error = reading.leading(structs, entry.logical, extensions=self.extensions)
        written = [
            None if value is None else self.build_at(entry, row, value, settings) for row, value in enumerate(values)
        ]
        if error is not None:
            raise error.at(len(values))
        return pa.array(written, pa.binary())

    def attempted(
        self, structs: "pa.StructArray", root: str, settings: Mapping[str, ParameterValue], *, drafts: bool = False
    ) -> "pa.Array | None":
        """The bytes of each row that the engine can write alone; see `Engine.attempted`."""
        from wireloom.runtime.columns import soundness

        if self.engine is None:
            return None
        return self.engine.attempted(soundness.columns_of(structs), Request(root, settings), drafts=drafts)

    def encode_stream(
        self,
        batches: "Iterable[pa.RecordBatch | pa.StructArray] | pa.RecordBatch | pa.StructArray | pa.Table",
        /,
        *,
        root: str | None = None,
        framing: str | None = None,
        **parameters: object,
    ) -> Iterator[bytes]:
        """The stream of the records of columns, in pieces of some megabytes, as `decode_stream` reads it.

        Raises EncodeError as `iter_build` does, with the row counted over all batches; a null row writes no record.
        """
        from wireloom.runtime.streams.writing import joined

        chosen, given = self.framing_of(self.root(root), framing), _batches(batches)
        version, stated = self._version(self.root(root), parameters)
        begun, settings = self.beginning(chosen, stated)
        asked = {} if version is None else {"version": version}
        return chain((begun,) if begun else (), joined(chosen, self._encoded(given, root, {**settings, **asked})))

    def _encoded(
        self, batches: "Iterable[pa.RecordBatch | pa.StructArray]", root: str | None, settings: Mapping[str, object]
    ) -> "Iterator[pa.Array]":
        count = 0
        for batch in batches:
            try:
                yield self.encode(batch, root=root, **settings)
            except EncodeError as error:
                row = error.inward()
                raise error.at(row + count if isinstance(row, int) else row) from None
            count += len(batch)

    def build_at(
        self, root: Root, row: int, value: Any, parameters: Mapping[str, ParameterValue], version: str | None = None
    ) -> bytes:
        """`build` with root and parameters checked; an error has the row in its path."""
        try:
            return self._build_version(root, value, parameters, version)
        except EncodeError as error:
            raise error.at(row) from None

    # --- renderings ------------------------------------------------------------------------------------------------

    def to_canonical(self, value: Any, *, root: str | None = None) -> object:
        """The canonical JSON rendering of a value, as a tree for `json`; raises EncodeError for a foreign value."""
        from wireloom.runtime.columns import canonical

        entry = self.root(root)
        try:
            return canonical.to_canonical(value, entry.type)
        except RecursionError:
            raise EncodeError("a value that the stack can hold", "one that is nested deeper, or holds itself") from None
        except (AttributeError, TypeError, ValueError, ArithmeticError, BufferError) as error:
            raise EncodeError("a value of the format", str(error)) from error

    def from_canonical(self, rendering: object, *, root: str | None = None) -> Any:
        """The value of a canonical JSON rendering; raises EncodeError if it does not fit the format."""
        from wireloom.runtime.columns import canonical

        entry = self.root(root)
        try:
            return canonical.from_canonical(rendering, entry.type, self.extensions)
        except RecursionError:
            raise EncodeError("a rendering that the stack can hold", "one that is nested deeper") from None
        except (ValueError, ArithmeticError) as error:
            raise EncodeError("the canonical JSON rendering of a record", str(error)) from error


def _batches(given: Any) -> "Iterable[pa.RecordBatch | pa.StructArray]":
    """Batches of columns: those of a table, a single one, or an iterable of them."""
    import pyarrow as pa

    found: Iterable[pa.RecordBatch | pa.StructArray] = given
    match given:
        case pa.Table():
            found = given.to_batches()
        case pa.ChunkedArray():
            found = given.chunks
        case pa.RecordBatch() | pa.StructArray():
            found = (given,)
        case _:
            refuse_single("batches", given, "batches of columns, a Table, or an iterator of batches")
    return found


def _stops(on_error: str) -> bool:
    """Whether the first bad record of an array ends its decoding; raises ParameterError for an unknown word."""
    accept_word("on_error", on_error, ("null", "raise"))
    return on_error == "raise"

"""The functions of a format's module, which pass its parameters on to its codec or validator."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from wireloom.emit import prose
from wireloom.emit.code import literal
from wireloom.emit.package.signature import annotated, documented, keyword, one_of
from wireloom.model.format import Format

_SOURCE = "source: bytes | bytearray | memoryview | BinaryIO"
_COLUMNS = "columns: Sequence[str] | None = None"
_FRAMING = "framing: str | None = None"
_EXPLODE = "explode: bool = False"
_OPEN_VALUES = 'open_values: Literal["variant", "json", "binary"] = "variant"'
_RESYNC = "resync: bool = False"
_RECORDS = "data: pa.Array | pa.ChunkedArray | Sequence[bytes | str | None]"
_DOCUMENTS: Mapping[str, str] = {
    "build": "The bytes of one record; raises EncodeError if the format cannot represent the value.",
    "explain_bytes": "The meaning of every byte of one record, as a tree of spans; a bad record up to its error.",
    "iter_parse": "The records of a stream, in the framing of the spec unless `framing` is given.",
    "iter_build": "The stream of the records of these values, in pieces, as `iter_parse` reads it.",
    "decode": "The columns of an Arrow array or a list of records; a bad record gives nulls and an error.",
    "decode_stream": "The columns of a stream's records, in parts of some megabytes, with the offset of each record.",
    "encode": "The bytes of each record of a batch; raises EncodeError at the first that cannot be built.",
    "encode_stream": "The stream of the records in columns, in pieces of some megabytes, as `decode_stream` reads it.",
    "validate": "All problems of a message: bytes{beside}.",
    "validate_many": "The problems of each message; for an Arrow array, as a column of the same length.",
}
_BESIDE_BYTES = {True: ", JSON text, or a parsed document", False: ", or a value as `parse` gives it"}


@dataclass(frozen=True, slots=True)
class Function:
    """A function for the template; `home` is the object whose method of the same name it calls."""

    name: str
    arguments: tuple[str, ...]
    keywords: tuple[str, ...]
    result: str
    docstring: str
    home: str

    @property
    def passed(self) -> Iterator[str]:
        """The arguments of the call to that method."""
        yield from map(_name, self.arguments)
        yield from (f"{name}={name}" for name in map(_name, self.keywords))


def functions(format: Format) -> Iterator[Function]:
    """The functions of the module, in order."""
    root = annotated("root", one_of(tuple(root.name for root in format.roots)), literal(format.roots[0].name))
    parameters = tuple(map(keyword, format.parameters))
    for name, arguments, own, result in _functions(_version(format)):
        document = f'"""{_DOCUMENTS[name]} Parameters as in `parse`."""' if name != "parse" else _of_parse(format)
        home = "_validator()" if name.startswith("validate") else "CODEC"
        docstring = document.format(beside=_BESIDE_BYTES[format.encoding.text]) if name == "validate" else document
        yield Function(name, arguments, (root, *own, *parameters), result, docstring, home)


def _functions(version: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...], str]]:
    """The name, arguments, own keywords and result type of each function."""
    data, batch = "data: bytes | bytearray | memoryview", "pa.RecordBatch | pa.StructArray"
    skip, null = _on_error("raise", "stop", "skip", default="skip"), _on_error("null", "raise")
    yield "parse", (data,), (), "Any"
    yield "build", ("value: Any",), version, "bytes"
    yield "explain_bytes", (data,), (), "Explained"
    yield "iter_parse", (_SOURCE,), (_FRAMING, _on_error("raise", "stop", "skip"), _RESYNC), "Iterator[Framed]"
    yield "iter_build", ("values: Iterable[Any]",), (_FRAMING, *version), "Iterator[bytes]"
    yield "decode", (_RECORDS, _COLUMNS), (_EXPLODE, null, _OPEN_VALUES), "Decoded"
    own = (_FRAMING, _EXPLODE, skip, _OPEN_VALUES, _RESYNC)
    yield "decode_stream", (_SOURCE, _COLUMNS), own, "Iterator[DecodedPart]"
    yield "encode", (f"value: {batch}",), version, "pa.Array"
    batches = f"batches: Iterable[{batch}] | {batch} | pa.Table"
    yield "encode_stream", (batches,), (_FRAMING, *version), "Iterator[bytes]"
    yield "validate", ("message: object",), (), "list[Problem]"
    messages = "messages: Iterable[object] | pa.Array"
    yield "validate_many", (messages,), (), "Iterator[list[Problem]] | pa.ListArray"


def _name(declared: str) -> str:
    """The name of a declared argument."""
    return declared.partition(":")[0]


def _on_error(*choices: str, default: str = "") -> str:
    return f"on_error: Literal[{', '.join(map(literal, choices))}] = {literal(default or choices[0])}"


def _version(format: Format) -> tuple[str, ...]:
    """The `version` keyword of builders; none if there are no versions, or a parameter has that name."""
    if format.named_versions is None or any(parameter.name == "version" for parameter in format.parameters):
        return ()
    return (annotated("version", one_of(format.named_versions.names), "None", or_none=True),)


def _of_parse(format: Format) -> str:
    known = prose.definitions(map(documented, format.parameters), 4)
    what = "The value of one record; raises DecodeError with code, path and byte offset."
    return prose.docstring([what, f"Parameters:\n{known}" if known else ""], 4)

"""Writes decoded records as lines of JSON, an Arrow file or a Parquet file, by the suffix of the output."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, assert_never

from wireloom.escapes import visible_json
from wireloom.failures import DataError, MisuseError
from wireloom.records import transcode

if TYPE_CHECKING:
    from typing import Literal

    import pyarrow as pa

    from wireloom.runtime.columns.arrow import OpenValues
    from wireloom.runtime.streams.parts import DecodedPart

    Form = Literal[".jsonl", ".arrow", ".parquet"]

OPEN: "dict[Form, OpenValues]" = {".jsonl": "json", ".arrow": "variant", ".parquet": "variant"}
"""How each form holds values of any type."""


def form_of(output: Path | None) -> "Form":
    """The form of an output file; raises MisuseError for an unknown suffix."""
    suffix = ".jsonl" if output is None else output.suffix
    if suffix not in OPEN:
        raise MisuseError(f"--output {output}: the suffix says what to write; it can be {', '.join(OPEN)}")
    return suffix


@contextmanager
def sink(
    form: "Form", target: BinaryIO, request: transcode.Request, columns: Sequence[str] | None
) -> "Iterator[Callable[[DecodedPart], None]]":
    """A function that writes the good records of a part to the file."""
    match form:
        case ".jsonl":
            from wireloom.runtime.columns.rendering import bytes_of_lines

            def write_lines(part: "DecodedPart") -> None:
                target.write(_visible(bytes_of_lines(transcode.lines(request, columns, part))))

            yield write_lines
        case ".arrow" | ".parquet":
            with _columns(form, target, request, columns) as write:
                yield write
        case _:
            assert_never(form)


def _visible(lines: memoryview) -> bytes:
    """Lines of JSON with terminal control characters escaped."""
    data = bytes(lines)
    return data if data.isascii() and b"\x7f" not in data else visible_json(data.decode()).encode()


@contextmanager
def _columns(
    form: "Literal['.arrow', '.parquet']", target: BinaryIO, request: transcode.Request, columns: Sequence[str] | None
) -> "Iterator[Callable[[DecodedPart], None]]":
    import pyarrow as pa

    from wireloom.runtime.columns import arrow

    schema = arrow.schema(transcode.shown_type(request, columns), open_values=OPEN[form])
    try:
        with _writer(form, target, schema) as writer:
            yield lambda part: writer.write_batch(
                pa.RecordBatch.from_arrays(part.records.filter(part.records.is_valid()).flatten(), schema=schema)
            )
    except pa.ArrowException as error:
        raise DataError(f"{form} cannot hold these columns: {error}; choose others with --columns") from error


def _writer(form: "Literal['.arrow', '.parquet']", target: BinaryIO, schema: "pa.Schema") -> Any:  # noqa: ANN401
    match form:
        case ".arrow":
            import pyarrow as pa

            return pa.ipc.new_file(target, schema)
        case ".parquet":
            import pyarrow.parquet as pq

            return pq.ParquetWriter(target, schema, compression="zstd")
        case _:
            assert_never(form)

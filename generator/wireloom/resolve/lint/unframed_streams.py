"""Streams that damage affects badly: the end of records is known late, or their size is not limited.

If records are concatenated and their end is known only after reading them, one damaged byte costs that record and all
after it. Such a format works, but its author should know the cost and the remedies.
"""

from collections.abc import Iterator

from wireloom.expr.ast import Expression, fields_in
from wireloom.model import types
from wireloom.model.format import Format
from wireloom.model.traversal import within
from wireloom.model.types import Frame, Struct, Type
from wireloom.problems import Problem
from wireloom.runtime.streams.framing import Concatenated, Prefixed, bare
from wireloom.spec import Document
from wireloom.spec.language import FormatDocument

_FRAME = (
    "put `- frame: BYTES` into the record, after the field with its length; if records have one size or end with the "
    "same bytes, use that framing (`size`, `delimiter`)"
)
_LINES = "if each record is on a line of its own, use `framing: lines`"
_WIDE = 4  # bytes of a length that can exceed all memory
_OWN = "if the stream is yours to design, use `framing: length-prefixed`"
_ALLOWED = "else allow it: `lint: {allow: [{id: unframed-stream, why: TEXT}]}`"


def unframed_streams(format: Format, document: Document) -> Iterator[Problem]:
    """Warn about a framing in which damage costs the rest of a stream."""
    framed = (
        isinstance(each, Struct) and any(isinstance(step, Frame) for step in each.steps) for each in _records(format)
    )
    if isinstance(bare(format.framing), Concatenated) and not all(framed):
        what = f"records ({format.roots[0].name}) are back to back, and the end of each is known only after it is read"
        message = f"{what}, so one damaged byte costs all records after it"
        ways = [_FRAME] if format.encoding.laid_out else [_LINES] if format.encoding.text else []
        hint = "; ".join((*ways, _OWN, _ALLOWED))
        yield (document.place / "framing").problem("unframed-stream", message, hint)


def unlimited_records(format: Format, document: Document, _: FormatDocument) -> Iterator[Problem]:
    """Advise to limit the size of records whose stated length nothing checks."""
    framing = bare(format.framing)
    streamed = isinstance(framing, Prefixed) and framing.longest >= _WIDE
    unchecked = isinstance(framing, Concatenated) and any(map(_is_unchecked, _records(format)))
    if format.size is None and format.encoding.laid_out and (streamed or unchecked):
        place = document.place / "framing"
        message = "records have no size limit, so a damaged length can make one record of the rest of a file"
        yield place.problem("no-size-limit", message, "set the most bytes of a record: `limits: {size: BYTES}`")


def _records(format: Format) -> Iterator[Type]:
    """The structs that a record may be, through all unions."""
    unions = (types.Nullable, types.Select, types.Attempt, types.OneOf)
    found = within(format.roots[0].type, dict(format.types), *unions)
    return (each for each in found if not isinstance(each, unions))


def _is_unchecked(record: Type) -> bool:
    """Whether a record may be framed by a length that is not checked before."""
    checked: set[str] = set()
    for step in record.steps if isinstance(record, Struct) else ():
        match step:
            case types.Check(that=that):
                checked |= _names(that)
            case types.Field(wire_name=name, maximum=int()):
                checked.add(name)
            case Frame(bytes=size):
                return not _names(size) <= checked
            case _:
                pass
    return False


def _names(expression: Expression) -> set[str]:
    """The fields that an expression refers to."""
    return {each.name for each in fields_in(expression)}

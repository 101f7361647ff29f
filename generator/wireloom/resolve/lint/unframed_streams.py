"""Streams that damage hits hard: where no record says early where it ends, and where a record may be of any size.

Where records stand back to back and none says early where it ends, one wrong byte costs the record that has it and
all records after it. Such a format works; who writes its spec should know what it costs, and what helps.
"""

from collections.abc import Iterator

from wireloom.expr.ast import Expression, FieldRef, references
from wireloom.model import types
from wireloom.model.format import Format
from wireloom.model.framing import Concatenated, Prefixed, bare
from wireloom.model.types import Attempt, Frame, Nullable, OneOf, Reference, Refusal, Select, Struct, Type
from wireloom.problems import Problem
from wireloom.spec import Document
from wireloom.spec.language import FormatDocument

_FRAME = (
    "put `- frame: BYTES` into the record, after what tells its length, or use a framing that tells where records "
    "end (`length-prefixed`, `size`, `delimiter`)"
)
_LINES = "use `framing: lines`"
_WIDE = 4  # bytes of a length that may say more than any memory has
_PREFIX = "use `framing: length-prefixed`"


def unframed_streams(format: Format, document: Document) -> Iterator[Problem]:
    """A framing of which damage costs the rest of a stream."""
    root = format.roots[0]  # the others are read by who names them
    if isinstance(bare(format.framing), Concatenated) and not _framed(root.type, format, ()):
        what = f"records ({root.name}) stand back to back, and none says where it ends before it is read"
        message = f"{what}: one damaged byte costs all records after it"
        hint = _FRAME if format.encoding.laid_out else _LINES if format.encoding.text else _PREFIX
        yield (document.place / "framing").problem("unframed-stream", message, hint)


def unlimited_records(format: Format, document: Document, _: FormatDocument) -> Iterator[Problem]:
    """Records that say their size in a stream, and nothing says how large they may be."""
    framing = bare(format.framing)
    root = format.roots[0].type
    streamed = isinstance(framing, Prefixed) and framing.longest >= _WIDE
    unchecked = isinstance(framing, Concatenated) and _is_unchecked(root, format, ())
    if format.size is None and format.encoding.laid_out and (streamed or unchecked):
        place = document.place / "framing"
        message = "nothing says how large a record may be: a reader takes what a damaged length says for its end"
        yield place.problem("no-size-limit", message, "state the most bytes of a record: `limits: {size: BYTES}`")


def _is_unchecked(type: Type, format: Format, seen: tuple[str, ...]) -> bool:
    """Whether a record of a type may be framed by a length that nothing has checked."""
    match type:
        case Reference(name):
            return name not in seen and _is_unchecked(format.type(name), format, (*seen, name))
        case Select(cases=cases):
            return any(not isinstance(case.type, Refusal) and _is_unchecked(case.type, format, seen) for case in cases)
        case Attempt(trials=trials):
            return any(_is_unchecked(trial.type, format, seen) for trial in trials)
        case Struct(steps=steps):
            checked: set[str] = set()
            for step in steps:
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
        case _:
            return False


def _names(expression: Expression) -> set[str]:
    """The fields that an expression refers to."""
    return {each.name for each in references(expression) if isinstance(each, FieldRef)}


def _framed(type: Type, format: Format, seen: tuple[str, ...]) -> bool:
    """Whether each value of a type says where it ends before it is read to its end."""
    match type:
        case Reference(name):
            return name not in seen and _framed(format.type(name), format, (*seen, name))
        case Nullable(inner):
            return _framed(inner, format, seen)
        case Select(cases=cases):
            return all(isinstance(case.type, Refusal) or _framed(case.type, format, seen) for case in cases)
        case Attempt(trials=trials):
            return all(_framed(trial.type, format, seen) for trial in trials)
        case OneOf(alternatives=alternatives):
            return all(_framed(each.type, format, seen) for each in alternatives)
        case Struct(steps=steps):  # of a record: within others a frame ends no record
            return any(isinstance(step, Frame) for step in steps)
        case _:
            return False

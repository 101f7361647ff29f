"""Formats whose damaged streams cannot be read on: records stand back to back, and none says early where it ends.

There one wrong byte costs the record that has it and all records after it. Such a format works; who writes its spec
should know what it costs, and what helps.
"""

from collections.abc import Iterator

from wireloom.model.format import Format
from wireloom.model.framing import Concatenated, bare
from wireloom.model.types import Attempt, Encoding, Frame, Nullable, OneOf, Reference, Refusal, Select, Struct, Type
from wireloom.problems import Problem
from wireloom.spec import Document

_HINTS = {
    Encoding.BINARY: (
        "put `- frame: BYTES` into the record, after what tells its length, or use a framing that tells where records "
        "end (`length-prefixed`, `size`, `delimiter`)"
    ),
    Encoding.JSON: "use `framing: lines`",
}
_PREFIX = "use `framing: length-prefixed`"


def unframed_streams(format: Format, document: Document) -> Iterator[Problem]:
    """A framing of which damage costs the rest of a stream."""
    root = format.roots[0]  # the others are read by who names them
    if isinstance(bare(format.framing), Concatenated) and not _framed(root.type, format, ()):
        what = f"records ({root.name}) stand back to back, and none says where it ends before it is read"
        message = f"{what}: one damaged byte costs all records after it"
        yield (document.place / "framing").problem("unframed-stream", message, _HINTS.get(format.encoding, _PREFIX))


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

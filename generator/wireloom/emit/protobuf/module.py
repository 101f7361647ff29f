"""Emit `descriptor.py`, which holds the serialized descriptor of the messages, so that builders do not need protoc."""

from collections.abc import Iterator, Sequence

from wireloom.emit.code import WIDTH, literal
from wireloom.emit.frames import framed
from wireloom.emit.prose import docstring
from wireloom.emit.protobuf.descriptor import descriptor_set
from wireloom.emit.protobuf.messages import messages
from wireloom.emit.protobuf.text import proto_text
from wireloom.model.format import Format

_LITERAL = 110
_INDENTED = WIDTH - 4


def emit(format: Format) -> str | None:
    """Generate the text of the module; None if the format has no protobuf message."""
    if not messages(format):
        return None
    title = f"The protobuf messages of {format.name} as a serialised FileDescriptorSet of this file."
    data = descriptor_set(format).SerializeToString(deterministic=True)
    return framed(
        __file__,
        "descriptor.py.jinja",
        format,
        docstring=docstring([title, proto_text(format).rstrip()]),
        descriptor_set=_assigned(list(_literals(data))),
    )


def _assigned(literals: Sequence[str]) -> str:
    """The literals, laid out as the formatter does after the constant's name."""
    target = "DESCRIPTOR_SET: Final = "
    if len(literals) == 1 and len(target + literals[0]) <= WIDTH:
        return target + literals[0]
    return "\n".join((f"{target}(", *(f"    {part}" for part in literals), ")"))


def _literals(data: bytes) -> Iterator[str]:
    """Split `data` into bytes literals that fit a line; a single one if the formatter would join them."""
    if len(literal(data)) <= _INDENTED:
        yield literal(data)
        return
    part = b""
    for byte in data:
        if len(literal(part + bytes((byte,)))) > _LITERAL:
            yield literal(part)
            part = b""
        part += bytes((byte,))
    yield literal(part)

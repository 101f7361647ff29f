"""Numbers behind a marker, as types are written: `extended(253, uint16, uint32, uint64)`."""

from wireloom.model.types import Integer, Markers
from wireloom.numbers import integer
from wireloom.resolve import builtins, notation
from wireloom.resolve.notation import NotationError

NAME = "extended"
_HINT = "write extended(253, uint16, uint32, uint64): the first byte that is a marker, and what follows each"
_NOTHING = "-"
_MOST = 7  # markers
_BYTES = 256


def extended_of(single: notation.Single) -> Integer:
    """The integer that is a byte, or stands behind one; raises NotationError."""
    if len(single.arguments) < 2:
        raise NotationError("extended without its markers", single.column, _HINT)
    written, *types = single.arguments
    first = integer(written.text.strip())
    if first is None or not 0 <= first < _BYTES:
        raise NotationError(f"{written.text.strip() or 'nothing'} is no byte", written.column, _HINT)
    if len(types) > min(_MOST, _BYTES - first):
        beyond = types[min(_MOST, _BYTES - first)]
        message = f"there are {_MOST} markers at most, and the last one is 255"
        raise NotationError(message, beyond.column, "drop this one, or begin earlier")
    widths = tuple(map(_width, types))
    if not any(widths):
        raise NotationError("no number stands behind any marker", types[0].column, _HINT)
    return Integer(8 * max(widths), signed=False, markers=Markers(first, widths))


def _width(argument: notation.Argument) -> int:
    """The bytes behind a marker; 0 where it says nothing."""
    word = argument.text.strip()
    type = builtins.SCALARS.get(word)
    if word == _NOTHING:
        return 0
    if not isinstance(type, Integer) or type.signed or not type.is_plain or type.is_partial or type.width is None:
        hint = builtins.nearly(word) or "write uint8, uint16 ... uint64, or - for a byte that is no number"
        raise NotationError(f"{word or 'nothing'} does not follow a marker", argument.column, hint)
    return type.width

"""The header before all records of a stream: it is read once, and its fields are parameters of the records."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import BinaryIO

from wireloom.runtime.cursor import Cursor
from wireloom.runtime.errors import DecodeError, ParameterError, shown
from wireloom.runtime.parameters import ParameterValue
from wireloom.runtime.streams import framed
from wireloom.runtime.streams.framed import LARGEST, Extent, Reader
from wireloom.runtime.streams.framing import Headed

Settings = Mapping[str, ParameterValue]
_WINDOW = 1 << 12


@dataclass(frozen=True, slots=True)
class Head:
    """A header: its size in bytes, the parameters for the records, and the stream of the records."""

    size: int
    settings: Settings
    file: BinaryIO


@dataclass(frozen=True, slots=True)
class Judges:
    """Functions that check parameters, and that find a header's member: its path and offset."""

    accept: Callable[[Settings], Settings]
    place: Callable[[str, bytes], tuple[str, int]]


def head(reader: Reader, framing: Headed, file: BinaryIO, settings: Settings, judges: Judges) -> Head | Extent:
    """The header of a stream, or the whole stream as one bad record; an empty stream needs no header."""
    window = framed.read_exactly(file, _WINDOW)
    if not window:
        return Head(0, settings, file)
    more = True
    while True:
        found = framed.next_record(reader, Cursor(window), window, 0, 0, more=more)
        if found.error is None or not found.error.cut_off or len(window) >= LARGEST or not more:
            break
        addition = framed.read_exactly(file, len(window))
        more = bool(addition)
        window += addition
    if found.error is None:
        values = {field: found.value[field] for _, field in framing.gives}
        for name, field in framing.gives:
            try:
                settings = judges.accept({**settings, name: values[field]})
            except ParameterError as error:
                path, offset = judges.place(field, window[: found.size])
                wanted = f"{error.wanted} (parameter {name})"
                wrong = DecodeError("unknown_value", offset=offset, expected=wanted, actual=shown(values[field]))
                found = Extent(0, 0, b"", error=reader.label(wrong.at(path)))
                break
        else:
            return Head(found.size, settings, framed.given_back(file, window[found.size :]))
    assert found.error is not None
    found.error.at(framing.header)
    return framed.rest(reader, file, found, window, large=False)

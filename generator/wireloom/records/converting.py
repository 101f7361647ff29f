"""Converts streams of one format's records to another format, in constant memory."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from wireloom.failures import MisuseError
from wireloom.records import transcode
from wireloom.records.transcode import Request
from wireloom.runtime.conversion import Conversion
from wireloom.runtime.conversion.conversion import error_line
from wireloom.runtime.streams.framing import Framing, Whole, bare
from wireloom.runtime.streams.writing import ending


@dataclass(slots=True)
class Tally:
    """How many records were converted, how many were not, and in how many each member was lost."""

    converted: int = 0
    refused: int = 0
    lost: Counter[str] = field(default_factory=Counter)
    read: transcode.Tally = field(default_factory=transcode.Tally)
    built: transcode.Written = field(default_factory=transcode.Written)

    def slow(self) -> Iterator[str]:
        """Lines about good records that were read or built one by one, with the reason."""
        yield from filter(None, (self.read.slow(), self.built.slow()))


@dataclass(frozen=True, slots=True)
class Refused:
    """A record that was not converted, and the reason."""

    index: int
    offset: int
    reason: str


def convert(
    conversion: Conversion, request: Request, chosen: Framing, source: BinaryIO, tally: Tally
) -> Iterator[bytes | Refused]:
    """The framed bytes of each converted record, or a Refused."""
    parameters: dict[str, Any] = dict(request.parameters)
    codec = request.module.CODEC
    parts = codec.decode_stream(source, root=request.root, framing=request.framing, on_error="skip", **parameters)
    path = conversion.target.encode_path(root=conversion.target_root, **conversion.target_parameters)
    tally.built.reason = path.reason or "the engine cannot decide what they lose"
    for part in parts:
        tally.read.add(part, part.refusals())
        places = part.parents.to_pylist() if part.parents is not None else range(len(part.records))
        wrong = [error_line(each.as_py()) if each.is_valid else None for each in part.errors]
        made = conversion.of_columns(part.records, wrong)
        tally.built.records += len(made.data)
        # bad records are always built one by one, to find the error
        tally.built.rebuilt += sum(made.data[row].is_valid for row in made.built)
        rows = zip(places, made.data.to_pylist(), made.errors.to_pylist(), made.lost.to_pylist(), strict=True)
        for place, data, error, lost in rows:
            if data is None:
                tally.refused += 1
                yield Refused(part.first + place, part.offsets[place].as_py(), error)
                continue
            tally.converted += 1
            tally.lost.update({path.partition("[")[0] for path in lost})
            if tally.converted > 1 and isinstance(bare(chosen), Whole):
                raise MisuseError("more than one record, and the target has no framing; choose one with --to-framing")
            yield transcode.written(chosen, data, tally.converted, first=tally.converted == 1)
    yield ending(chosen, tally.converted)

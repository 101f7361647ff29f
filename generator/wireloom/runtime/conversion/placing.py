"""Finds the members that have no place in the target's records, for many records at once.

A builder reports the first member of a record that it reads back as null, and is called again without that member,
until it accepts the rest. The engine does the same for all records at once: it writes drafts, without comparing them
with the columns; a member that is missing from the draft has no place there. A record is settled if all its drafts have
the same bytes, and if the engine, which reads back what it writes, writes exactly these from the remaining members. All
other records are left to the builder.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as kinds

from wireloom.runtime.codec import Codec
from wireloom.runtime.columns.logical import Alternatives, LogicalType, Meant, Open, Record
from wireloom.runtime.errors import render_path

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Target:
    """The target format, the root of its records, and all parameters."""

    codec: Codec
    root: str
    settings: Mapping[str, Any]

    def written(self, records: pa.StructArray, *, drafts: bool = False) -> pa.Array | None:
        """The engine's bytes of each record, null if it gives up; None if it does not cover the format."""
        return self.codec.attempted(records, self.root, self.settings, drafts=drafts)


@dataclass(frozen=True, slots=True)
class Written:
    """The bytes of records, null for those left to the builder, and by row the members without a place."""

    data: list[bytes | None]
    lost: Mapping[int, Sequence[str]]


def written(records: pa.StructArray, target: Target, most: int) -> Written:
    """The records as the engine writes them, without members that have no place (fewer than `most` each)."""
    data = target.written(records)
    if data is None:
        return _by_halves(records, target, most)
    made: list[bytes | None] = data.to_pylist()
    rows = pc.indices_nonzero(pc.and_(data.is_null(), records.is_valid()))
    lost: dict[int, Sequence[str]] = {}
    if len(rows):
        settled = _settled(records.take(rows), target, most)
        for row, (bytes_, paths) in zip(rows.to_pylist(), settled, strict=False):
            if bytes_ is not None:
                made[row], lost[row] = bytes_, paths
    return Written(made, lost)


def _by_halves(records: pa.StructArray, target: Target, most: int) -> Written:
    """Write each half separately, since one value that a column cannot hold stops the engine for all records."""
    if len(records) < 2 or not target.codec.encode_path(root=target.root, **target.settings).native:
        return Written([None] * len(records), {})
    half = len(records) // 2
    first, second = (written(part, target, most) for part in (records.slice(0, half), records.slice(half)))
    more = {half + row: paths for row, paths in second.lost.items()}
    return Written([*first.data, *second.data], {**first.lost, **more})


def _settled(records: pa.StructArray, target: Target, most: int) -> list[tuple[bytes | None, Sequence[str]]]:
    """For records that the engine does not write as they are: the bytes and the left-out members; may be empty."""
    draft = target.written(records, drafts=True)
    if draft is None:
        return []
    read = target.codec.decode(draft, root=target.root, **target.settings).records
    places = list(_unplaced(records, read, target.codec.root(target.root).logical, ()))
    lacking: list[list[int]] = [[] for _ in range(len(records))]  # in the order in which a builder would find them
    for place, (_, missing) in enumerate(places):
        for row in pc.indices_nonzero(missing).to_pylist():
            lacking[row].append(place)
    same, rest = pc.fill_null(draft.is_valid(), fill_value=False), records
    for step in range(min(max(map(len, lacking), default=0), most)):
        for place in {each[step] for each in lacking if step < len(each)}:
            mask = pa.array([step < len(each) and each[step] == place for each in lacking], pa.bool_())
            rest = _without(rest, places[place][0], mask)
        same = pc.and_(same, _equal(target.written(rest, drafts=True), draft))
    same = pc.and_(same, _equal(target.written(rest), draft)).to_pylist()
    paths = [render_path(path) for path, _ in places]
    return [
        (data, [paths[place] for place in each]) if is_settled and 0 < len(each) < most else (None, ())
        for data, is_settled, each in zip(draft.to_pylist(), same, lacking, strict=True)
    ]


def _equal(made: pa.Array | None, draft: pa.Array) -> pa.Array:
    """Where the bytes equal those of a draft."""
    return pa.array([False] * len(draft)) if made is None else pc.fill_null(pc.equal(made, draft), fill_value=False)


def _unplaced(
    given: pa.StructArray, read: pa.StructArray, record: Record, path: Path
) -> Iterator[tuple[Path, pa.Array]]:
    """The members of records, nested ones included, that a reader did not find in some rows, and those rows.

    Elements, open values and members that are shown twice are left to the builder.
    """
    raws = {each.type.raw for each in record.fields if isinstance(each.type, Meant)}
    columns, found = (
        dict(zip((field.name for field in each.type), each.flatten(), strict=True)) for each in (given, read)
    )
    for name, type in ((each.name, each.type) for each in record.fields):
        twice = name in raws or (isinstance(type, Meant) and type.raw)
        if name not in columns or name not in found or isinstance(type, Open) or twice:
            continue
        before, after = columns[name], found[name]
        missing = pc.and_(read.is_valid(), pc.and_not(_there(before, type), _there(after, type)))
        if pc.any(missing).as_py():
            yield (*path, name), missing
        if isinstance(type, Record) and kinds.is_struct(before.type):
            yield from _unplaced(before, after, type, (*path, name))


def _there(array: pa.Array, type: LogicalType) -> pa.Array:
    """The rows that have a value."""
    if not isinstance(type, Alternatives) or not kinds.is_struct(array.type):
        return array.is_valid()
    found = pa.array([False] * len(array), pa.bool_())
    for each in array.flatten():
        found = pc.or_(found, each.is_valid())
    return found


def _without(records: pa.StructArray, path: Path, mask: pa.Array) -> pa.StructArray:
    """The records, with null at a path in the rows of the mask."""
    name, *rest = path
    children = records.flatten()
    place = records.type.get_field_index(name)
    if rest:
        children[place] = _without(children[place], tuple(rest), mask)
    else:
        rows = pa.array(range(len(records)), pa.int64())
        children[place] = children[place].take(pc.if_else(mask, pa.scalar(None, pa.int64()), rows))
    return pa.StructArray.from_arrays(children, fields=list(records.type), mask=records.is_null())

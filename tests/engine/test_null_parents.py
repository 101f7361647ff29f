"""Values of a column under a null record, list or map are ignored.

Arrow does not define these values: `pa.array(rows)` has empty texts and zeros there, a filter or a join values of other
rows. Native `encode` writes the same bytes in all cases.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
import yaml

import encoding
import engine_data as data
from engine.test_encode import asked, decoded, dictionary, large, recast, said, view
from wireloom import pipeline
from wireloom.examples.memory import opened
from wireloom.runtime import engine as engines

pytestmark = pytest.mark.skipif(not engines.available(), reason="the native engine is not built")


# --- arrays with garbage under their nulls ---------------------------------------------------------------------------


def with_garbage(array: pa.Array, hidden: pa.Array | None = None) -> pa.Array:
    """The array with arbitrary non-null values where it is `hidden`, and below its own nulls."""
    hidden = pa.array([False] * len(array)) if hidden is None else hidden
    null = pc.or_(hidden, array.is_null())
    if pa.types.is_struct(array.type):
        below = [with_garbage(member, null) for member in array.flatten()]
        mask = pc.and_(array.is_null(), pc.invert(hidden))
        return pa.StructArray.from_arrays(below, fields=list(array.type), mask=mask)
    if pa.types.is_list(array.type) or pa.types.is_map(array.type):
        return _lists(array, null, pc.and_(array.is_null(), pc.invert(hidden)))
    return pc.if_else(hidden, _garbage(array.type), array)


def _lists(array: pa.Array, null: pa.Array, mask: pa.Array) -> pa.Array:
    """Lists or maps whose null and hidden entries have an element."""
    is_map = pa.types.is_map(array.type)
    columns = [array.keys, array.items] if is_map else [array.values]
    places: list[int | None] = []
    ends = [0]
    for row, is_null in enumerate(null.to_pylist()):
        first, last = array.offsets[row].as_py(), array.offsets[row + 1].as_py()
        places += [None] if is_null else range(first, last)
        ends.append(len(places))
    taken = pa.array(places, pa.int64())
    below = [with_garbage(each.take(taken), taken.is_null()) for each in columns]
    offsets = pa.array(ends, pa.int32())
    if is_map:
        return _masked(pa.MapArray.from_arrays(offsets, *below, type=array.type), mask)
    return _masked(pa.ListArray.from_arrays(offsets, *below, type=array.type), mask)


def _masked(array: pa.Array, mask: pa.Array) -> pa.Array:
    """The lists, some of them null, with the elements that they have."""
    validity = pc.invert(mask).buffers()[1]
    child = array.values if not pa.types.is_map(array.type) else _entries(array)
    return pa.Array.from_buffers(array.type, len(array), [validity, array.buffers()[1]], children=[child])


def _entries(array: pa.MapArray) -> pa.StructArray:
    return pa.StructArray.from_arrays([array.keys, array.items], fields=[array.type.key_field, array.type.item_field])


def _garbage(type: pa.DataType) -> pa.Scalar:
    if pa.types.is_string(type):
        return pa.scalar("no such thing", type)
    if pa.types.is_binary(type):
        return pa.scalar(b"\xff", type)
    if pa.types.is_decimal(type):
        return pa.scalar(Decimal("9" * type.precision).scaleb(-type.scale), type)
    if pa.types.is_timestamp(type) or pa.types.is_duration(type):
        return pa.scalar((1 << 63) - 1, pa.int64()).cast(type)
    return pa.scalar(120 if pa.types.is_integer(type) else None, type)


def forms(records: pa.StructArray) -> Iterator[pa.StructArray]:
    """The rows as they come from elsewhere: with garbage, as a slice of more rows, as Arrow makes them of Python's."""
    spoilt = with_garbage(records)
    assert spoilt.equals(records)
    yield spoilt
    yield pa.concat_arrays([spoilt, spoilt])[len(records) :]
    yield pa.concat_arrays([spoilt[1:], spoilt])[len(records) - 1 :]
    yield pa.array(records.to_pylist(), records.type)


@pytest.mark.parametrize("name", tuple(encoding.SETTINGS))
def test_what_lies_under_a_null_changes_nothing_of_what_the_engine_writes(name: str) -> None:
    engine = data.engine(name)
    records = said(engine, decoded(engine))
    wanted, given_up = encoding.written(engine, records, asked(engine))
    widths = (recast(with_garbage(records), as_type) for as_type in (dictionary, large, view))
    for form in (*forms(records), *widths):
        found, left = encoding.written(engine, form, asked(engine))
        assert (left, found.to_pylist()) == (given_up, wanted.to_pylist())


# --- every kind of meaning, in every encoding ------------------------------------------------------------------------

MEANINGS: dict[str, tuple[dict[str, Any], Any]] = {
    "kind": ({"type": "uint8", "values": {0: "off", 1: "on"}}, "on"),
    "level": ({"type": "uint8", "values": {1: "low", 2: "high"}, "raw": "levelNumber"}, "high"),
    "code": ({"type": "uint8", "values": {1: "warm", 2: "cold"}, "raw": "codeNumber", "null": 255}, "cold"),
    "price": ({"type": "int32", "scale": "0.01"}, Decimal("1.25")),
    "at": ({"type": "int64", "logical": {"timestamp": "ms"}}, datetime(2026, 11, 28, tzinfo=UTC)),
    "said": ({"type": "{text}", "logical": "timestamp"}, datetime(2026, 11, 28, tzinfo=UTC)),
    "amount": ({"type": "{text}", "logical": "decimal(6, 2)"}, Decimal("12.50")),
    "id": ({"type": "{id}", "logical": "uuid"}, "00112233-4455-6677-8899-aabbccddeeff"),
    "plain": ({"type": "{text}"}, "abc"),
}
ROOTS: dict[str, tuple[str, ...]] = {
    "binary": (
        "hasOne: {type: bool, hidden: true, derive: present(one)}",
        "hasMany: {type: bool, hidden: true, derive: present(many)}",
        "one: {type: Thing, when: hasOne}",
        "many: {type: list(Thing), count: uint8, when: hasMany}",
        "last: uint8",
    ),
    "msgpack": ("one: Thing?", "many: list(Thing)?", "by: 'map(str, Thing)?'", "last: uint8"),
    "protobuf": (
        "one: {type: Thing, tag: 1, optional: true}",
        "outer: {type: Outer, tag: 2, optional: true}",
        "by: {type: 'map(str, Thing)', tag: 3}",
        "last: {type: uint8, tag: 4, optional: true, default: 0}",
    ),
    "json": ("one: Thing?", "many: list(Thing)?", "by: 'map(str, Thing)?'", "last: uint8"),
}
TYPES = {"text": {"binary": "str(uint8)"}, "id": {"binary": "bytes(16)", "json": "str"}}


@contextmanager
def codec(folder: Path, encoding: str) -> Iterator[Any]:
    """The codec of a record that may lack others, whose members mean something."""
    fields: list[dict[str, Any]] = []
    for tag, (name, (field, _)) in enumerate(MEANINGS.items(), 1):
        made = dict(field)
        for key, types in TYPES.items():
            default = "str" if key == "text" else "bytes(16)"
            made["type"] = made["type"].replace(f"{{{key}}}", types.get(encoding, default))
        if encoding == "json" and name == "id":
            made = {"type": "str"}
        fields.append({name: made | ({"tag": tag} if encoding == "protobuf" else {})})
    root = [yaml.safe_load(f"- {each}")[0] for each in ROOTS[encoding]]
    types: dict[str, Any] = {"Record": {"fields": root}, "Thing": {"fields": fields}}
    if encoding == "protobuf":
        types["Outer"] = {
            "fields": [
                {"inner": {"type": "Thing", "tag": 1, "optional": True}},
                {"many": {"type": "list(Thing)", "tag": 2}},
            ]
        }
    document = {"wireloom": 1, "format": "probe", "title": "Probe", "encoding": encoding, "root": "Record"}
    (folder / "probe.yaml").write_text(yaml.safe_dump(document | {"types": types}, sort_keys=False), encoding="utf-8")
    (format,) = pipeline.formats(folder)
    with opened({format.name: pipeline.emit(format)}) as modules:
        yield modules[format.name].CODEC


@pytest.mark.parametrize("name", ROOTS)
def test_rows_that_lack_a_record_are_written_natively(tmp_path: Path, name: str) -> None:
    thing = {name: value for name, (_, value) in MEANINGS.items()} | {"levelNumber": 2, "codeNumber": 2}
    if name == "protobuf":
        rows = [
            {"one": thing, "outer": {"inner": thing, "many": [thing]}, "by": {"k": thing}, "last": 1},
            {"one": None, "outer": {"inner": None, "many": []}, "by": {}, "last": 2},
            {"one": thing, "outer": None, "by": {}, "last": 3},
        ]
    else:
        rows = [
            {"one": thing, "many": [thing, thing], "by": {"k": thing}, "last": 1},
            {"one": None, "many": None, "by": None, "last": 2},
            {"one": None, "many": [thing], "by": {}, "last": 3},
        ]
    with codec(tmp_path, name) as found:
        names = {member.name for member in found.root(None).logical.fields}
        wanted = [found.build({key: value for key, value in row.items() if key in names}) for row in rows]
        records = found.decode(wanted).records
        for form in forms(records):
            request = engines.Request("record", found.settings({}))
            written = found.engine.encode(form, request)
            assert written is not None
            assert written.to_pylist() == wanted
        assert found.engine.rebuilt == 0

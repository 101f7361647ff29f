"""Native encoding against the construct path: the same bytes and errors."""
# ruff: noqa: S311 - no secrets are made

import importlib
import random
from dataclasses import replace
from functools import partial
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given

import differential
import encoding
import engine_data as data
from codec.test_roundtrips import LIMITS, ROOTS, building, module  # noqa: F401 - the fixture of a format's module
from support.drawing import drawn
from support.format_values import values
from support.without_engine import LEFT
from wireloom.runtime import engine as engines
from wireloom.runtime.columns import arrow, reading
from wireloom.runtime.engine.encoder import Compiler
from wireloom.runtime.errors import EncodeError

pytestmark = [
    pytest.mark.drawing,
    pytest.mark.skipif(not engines.available(), reason="the native engine is not built"),
]
VARIANTS = [(name, settings) for name, every in encoding.SETTINGS.items() for settings in every]


@pytest.fixture(name="engine", params=tuple(encoding.SETTINGS))
def _engine(request):
    return data.engine(request.param)


def asked(engine, root=None, **settings):
    return engines.Request(root or engine.codec.default_root, engine.codec.settings(settings))


def decoded(engine, **settings):
    """The rows of valid records, as columns."""
    records = pa.array(differential.seeds(engine.codec.format), pa.binary())
    found = engine.codec.decode(records, **settings)
    return found.records.filter(found.errors.is_null())


def said(engine, records, **settings):
    """The rows that the format can express; an aggregate without records is not one."""
    request = asked(engine, **settings)
    good = [
        isinstance(encoding.outcome(partial(encoding.constructed, engine, records.take([row]), request)), bytes)
        for row in range(len(records))
    ]
    return records.filter(pa.array(good))


def plain(engine):
    """The codec without the engine."""
    return replace(engine.codec, layout=None)


def outcomes(engine, records):
    """The result or exception of encoding, with the engine and without it, as text."""
    return tuple(
        encoding.outcome(lambda codec=codec: codec.encode(records).to_pylist())
        for codec in (engine.codec, plain(engine))
    )


@pytest.mark.parametrize(("name", "settings"), VARIANTS)
def test_what_was_decoded_is_written_by_the_engine_as_the_construct_path_builds_it(name, settings):
    engine = data.engine(name)
    records = said(engine, decoded(engine, **settings), **settings)
    assert encoding.compare(engine, records, asked(engine, **settings)) == []
    found, given_up = encoding.written(engine, records, asked(engine, **settings))
    assert len(records) > 3
    # What such records say for themselves (checksums, newer members) is not what the format says of them.
    left = {"on_corrupt", "variant", "verifyCrc"} & settings.keys() or settings.get("byteOrder") == "auto"
    assert not given_up or left, records.take(pa.array(sorted(given_up)))
    assert found.equals(plain(engine).encode(records, **settings)) or given_up


def test_what_is_written_is_read_as_it_was(engine):
    records = said(engine, decoded(engine))
    again = engine.codec.decode(engine.codec.encode(records))
    assert again.errors.null_count == len(records)
    assert repr(again.records.to_pylist()) == repr(records.to_pylist())


@pytest.mark.parametrize(("name", "settings"), VARIANTS)
def test_altered_rows_are_written_alike_or_left_to_the_construct_path(name, settings):
    engine = data.engine(name)
    request = asked(engine, **settings)
    rows = encoding.rows(engine, request, differential.seeds(name))
    type = arrow.arrow_type(engine.root(request).logical)
    batch = encoding.as_columns(list(encoding.altered(rows, drawn(150), 3)), type)
    assert encoding.compare(engine, batch, request) == []
    assert 0 < len(encoding.written(engine, batch, request)[1]) < len(batch)


def test_the_first_row_that_cannot_be_said_is_named_as_the_construct_path_names_it(engine):
    rows = encoding.rows(engine, asked(engine), differential.seeds(engine.codec.format))
    type = arrow.arrow_type(engine.root(asked(engine)).logical)
    errors = set()
    for seed in range(drawn(24)):
        batch = encoding.as_columns([*rows[:2], *encoding.altered(rows, 6, seed)], type)
        ours, theirs = outcomes(engine, batch)
        assert ours == theirs
        errors.add(str(ours))
    assert len(errors) > 10


BUILT = {  # by the construct path, and why
    ("clock_reading", "record"): "'hasMore', before the members that it is computed from have values",
    ("bit_fields", "position"): "`bits` of an integer of more than 64 bits",
    ("known_facts", "record"): "a name in `bits` for all 64 bits",
    ("last_elements", "record"): "an optional field in an array",
    ("packet", "record"): "'isLong', before the members that it is computed from have values",
    ("some_elements", "record"): "an optional field in an array",
    ("shapes_beside", "record"): "an optional field with `flatten` or `inline`",
    ("text_octets", "record"): "writing from a part of a text with a `charset`",
    ("text_parts", "record"): "comparing a computed text with a computed text",
    ("track_report", "record"): "a derived value of type text",
    ("words_of_bits", "melted"): "'leftKind', before the members that it is computed from have values",
}


@pytest.mark.parametrize(("package", "format", "root", "variant"), ROOTS)
@pytest.mark.usefixtures("case_package")
def test_values_of_the_model_are_written_as_built(package, format, root, variant, module):  # noqa: F811
    codec = module.CODEC
    if codec.root(root).elements:
        pytest.skip("a root that is a list")
    parameters = building(format, root, variant)
    request = engines.Request(root, codec.settings(parameters))
    assert codec.engine.encode_path(request).reason == BUILT.get((format.name, root), LEFT.get(format.name, ""))

    outcomes: list[object] = []

    @LIMITS
    @given(values(format, root, variant))
    def check(value: Any) -> None:
        try:
            records = arrow.to_struct_array([value], codec.root(root).logical)
        except (pa.ArrowInvalid, TypeError, OverflowError):
            return  # no column holds it
        (given_back,) = reading.from_struct_array(records, codec.root(root).logical, extensions=codec.extensions)
        wanted = encoding.outcome(lambda: codec.build_at(codec.root(root), 0, given_back, request.settings))
        found = encoding.outcome(lambda: codec.encode(records, root=root, **parameters).to_pylist()[0])
        outcomes.append(found)
        assert found == wanted

    before = codec.engine.rebuilt
    check()
    written = sum(isinstance(each, bytes) for each in outcomes)
    assert not written or codec.engine.rebuilt - before < len(outcomes)


def test_records_of_both_byte_orders_are_written_by_the_engine():
    from wireloom_formats.pcap_file import CODEC

    seeds = pa.array(differential.seeds("pcap_file"), pa.binary())
    found = CODEC.decode(seeds, root="record", byteOrder="auto")
    records = found.records.filter(found.errors.is_null())
    orders = records.field("order").to_pylist()
    before = CODEC.engine.rebuilt
    assert CODEC.encode(records, root="record", byteOrder="auto").equals(
        replace(CODEC, layout=None).encode(records, root="record", byteOrder="auto")
    )
    assert CODEC.engine.rebuilt == before
    assert {"big", "little"} == set(orders)
    rows = records.to_pylist()
    neither = pa.array([*rows, rows[0] | {"resolution": "weeks"}], records.type)
    refusals = [
        encoding.outcome(lambda codec=codec: codec.encode(neither, root="record"))
        for codec in (CODEC, replace(CODEC, layout=None))
    ]
    assert repr(refusals[0]) == repr(refusals[1])
    assert f"[{len(rows)}].resolution" in str(refusals[0])


def test_nulls_slices_and_pieces_are_written(engine):
    records = said(engine, decoded(engine))
    wanted = engine.codec.encode(records).to_pylist()
    rows = [None, *records.to_pylist()[:4], None, *records.to_pylist()[4:]]
    wanted = [None, *wanted[:4], None, *wanted[4:]]
    whole = pa.array(rows, records.type)
    for start, stop in ((0, len(rows)), (1, 4), (3, len(rows) - 1), (2, 2)):
        assert engine.codec.encode(whole[start:stop]).to_pylist() == wanted[start:stop]
    pieces = pa.chunked_array([whole[:3], whole[3:3], whole[3:]])
    assert engine.codec.encode(pieces).to_pylist() == wanted
    batch = pa.RecordBatch.from_struct_array(records)
    assert engine.codec.encode(batch).to_pylist() == engine.codec.encode(records).to_pylist()
    assert engine.codec.encode(pa.Table.from_batches([batch])).equals(engine.codec.encode(records))
    assert engine.codec.encode(whole[:0]).equals(pa.array([], pa.binary()))


def recast(array: pa.Array, as_type: Any) -> pa.Array:
    """The array with the types of its leaves replaced."""
    if pa.types.is_struct(array.type):
        children = [recast(array.field(field.name), as_type) for field in array.type]
        fields = [field.with_type(child.type) for field, child in zip(array.type, children, strict=True)]
        return pa.StructArray.from_arrays(children, fields=fields, mask=array.is_null())
    if pa.types.is_list(array.type):
        offsets = pa.array([*array.offsets.to_pylist()[:-1], array.offsets[-1].as_py()], pa.int32())
        inner = recast(array.values, as_type)
        return pa.ListArray.from_arrays(offsets, inner, type=pa.list_(inner.type), mask=array.is_null())
    return as_type(array)


def dictionary(array: pa.Array) -> pa.Array:
    return array.dictionary_encode() if pa.types.is_string(array.type) else array


def large(array: pa.Array) -> pa.Array:
    wide = {pa.string(): pa.large_string(), pa.binary(): pa.large_binary(), pa.int16(): pa.int64()}
    return array.cast(wide.get(array.type, array.type))


def view(array: pa.Array) -> pa.Array:
    views = {pa.string(): pa.string_view(), pa.binary(): pa.binary_view(), pa.int64(): pa.decimal128(20, 0)}
    return array.cast(views.get(array.type, array.type))


@pytest.mark.parametrize("as_type", [dictionary, large, view])
def test_columns_of_other_widths_are_written_alike(engine, as_type):
    records = said(engine, decoded(engine))
    given = recast(records, as_type)
    assert given.type != records.type
    before = engine.rebuilt
    assert engine.encode(given, asked(engine)).equals(engine.codec.encode(records))
    assert engine.rebuilt == before


def test_missing_columns_read_as_null(engine):
    records = said(engine, decoded(engine))
    for field in records.type:
        kept = [each for each in records.type if each.name != field.name]
        columns = [records.field(each.name) for each in kept]
        fewer = pa.StructArray.from_arrays(columns, fields=kept, mask=records.is_null())
        ours, theirs = outcomes(engine, fewer)
        assert ours == theirs, field.name


def test_unknown_columns_and_other_types_are_refused_alike(engine):
    name = next(iter(decoded(engine).type)).name
    for refused in (
        pa.array([{"nosuch": 1}]),
        pa.array([{name: 1.5}]),
        pa.array([{name: {"deep": 1}}]),
        pa.array([{name: None}]),
        pa.array([None], pa.struct([(name, pa.null())])),
    ):
        ours, theirs = outcomes(engine, refused)
        assert ours == theirs


def test_offsets_that_lead_nowhere_are_an_error_and_no_wild_read(engine):
    records = said(engine, decoded(engine))
    program, source, refused = engine.writer(asked(engine)), random.Random(2), 0
    given = program.gathered(records)
    for _ in range(400):
        column = source.choice([index for index, each in enumerate(given) if each is not None and each[1] is not None])
        validity, offsets, bytes_, first, length = given[column]
        numbers = memoryview(bytearray(offsets)).cast("i")
        numbers[source.randrange(len(numbers))] = source.choice((-1, 1 << 30, -(1 << 31), source.randrange(1 << 12)))
        altered = list(given)
        altered[column] = validity, numbers, bytes_, first, length
        try:
            program.program.run(altered, 0, len(records)).take()
        except ValueError as error:
            assert "contradict themselves" in str(error)
            refused += 1
    assert refused > 50


@pytest.mark.parametrize("shorter", [1, 8])
def test_buffers_that_are_too_short_are_refused(engine, shorter):
    records = said(engine, decoded(engine))
    program = engine.writer(asked(engine))
    given = program.gathered(records)
    for column, each in enumerate(given):
        if each is None or each[2] is None or each[1] is not None:
            continue
        validity, offsets, values_, first, length = each
        altered = list(given)
        altered[column] = validity, offsets, memoryview(values_)[: len(values_) // 64 // shorter], first, length + 4096
        with pytest.raises(ValueError, match="too short"):
            program.program.run(altered, 0, len(records))


def test_a_wrong_program_is_refused_or_harmless(engine):
    """A program with a random word is refused when loaded, or writes only inside of the record."""
    native, source = engines.module(), random.Random(5)
    request = asked(engine)
    root = engine.root(request)
    positional, keywords = Compiler(native, engine.layout, request.settings, root.logical).parts(request.root)
    records = said(engine, decoded(engine))[:40]
    given = engine.writer(request).gathered(records)
    refused = 0
    for _ in range(drawn(600)):
        parts = [list(part) for part in positional[:3]]
        part = source.choice([each for each in parts if each])
        place = source.randrange(len(part))
        others = (-1, 0, 1, part[place] + 1, part[place] - 1, source.randrange(64), source.getrandbits(62))
        part[place] = source.choice((*others, -source.getrandbits(40)))
        try:
            program = native.WritingProgram(*parts, *positional[3:], **keywords)
            written = program.run(given, 0, len(records))
            written.take()
        except (ValueError, MemoryError, OverflowError):
            refused += 1
    assert refused > 100


def test_a_record_beyond_the_limit_on_size_is_refused_alike():
    engine = data.engine("aerospike_msgpack")
    records = decoded(engine)
    with pytest.raises(EncodeError, match="size_limit"):
        engine.codec.encode(records, max_size=60)
    short = engine.codec.encode(records[:1])
    assert engine.codec.encode(records[:1], max_size=len(short[0].as_py())).equals(short)


def test_roots_are_importable_as_generated():
    for name in encoding.SETTINGS:
        assert importlib.import_module(f"wireloom_formats.{name}").CODEC.engine.writer(asked(data.engine(name)))

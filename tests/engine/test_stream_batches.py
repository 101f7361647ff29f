"""Streams as columns give the same records, places and errors as `iter_parse`, on every path."""
# ruff: noqa: S311 - no secrets are made

import importlib
import io
import random
from dataclasses import replace

import pytest

import differential
import engine_data as data
from codec.test_streams import Pipe
from mutants import mutants
from wireloom.runtime import engine as engines
from wireloom.runtime.columns import arrow
from wireloom.runtime.errors import DecodeError, ParameterError
from wireloom.runtime.streams import framed, parts
from wireloom.runtime.streams.framing import framing_of

FORMATS = tuple(differential.SETTINGS)
DATABUS = "databus_event"


@pytest.fixture(name="codec", params=["engine", "parser"])
def _codec(request):
    """A codec by name, with the engine or without."""
    if request.param == "engine" and not engines.available():
        pytest.skip("the native engine is not built")

    def made(name):
        codec = importlib.import_module(f"wireloom_formats.{name}").CODEC
        return codec if request.param == "engine" else replace(codec, layout=None)

    return made


@pytest.fixture(params=["whole", "small"])
def window(request, monkeypatch):
    """Windows that hold all of a test's stream, and some that are smaller than most records."""
    if request.param == "small":
        monkeypatch.setattr(parts, "WINDOW", 100)
        monkeypatch.setattr(parts, "VALUES", 3)
        monkeypatch.setattr(parts, "RECORDS", 4)
        monkeypatch.setattr(framed, "_WINDOW", 70)


def stream(name, seed):
    """Records of a format with damaged ones among them, and something broken off at the end."""
    source, seeds = random.Random(seed), differential.seeds(name)
    records = [*source.choices(seeds, k=12), *mutants(seeds, 12, seed), *source.choices(seeds, k=3)]
    source.shuffle(records)
    return records, source.choice(seeds)[: source.randrange(1, 30)] if seed % 2 else b""


def in_frames(framing, records, rest):
    if framing == "length-prefixed":
        return b"".join(len(each).to_bytes(4, "big") + each for each in records) + rest
    return b"".join(records) + rest


def json_lines():
    return [record for record in data.examples("databus_json") if b"\n" not in record]


def same(codec, source, framing, *, on_error="skip", explode=False, **settings):
    """Hold the parts of a stream against what `iter_parse` finds in it; the records that were found."""
    wanted = list(codec.iter_parse(source, framing=framing, on_error=on_error, **settings))
    if isinstance(source, io.BytesIO):
        source.seek(0)
    found = list(codec.decode_stream(source, framing=framing, on_error=on_error, explode=explode, **settings))
    root = codec.root(None)
    expected = arrow.decoded(
        [each.value for each in wanted],
        [each.error for each in wanted],
        arrow.Tabulation(root.logical, root.rows, root.elements),
        arrow.View(explode=explode),
    )
    assert [row for part in found for row in part.offsets.to_pylist()] == [each.offset for each in wanted]
    assert [row for part in found for row in part.sizes.to_pylist()] == [each.size for each in wanted]
    assert [row for part in found for row in part.raw.to_pylist()] == [e.data if e.error else None for e in wanted]
    assert rows(part.errors for part in found) == rows([expected.errors])
    assert rows(part.records for part in found) == rows([expected.records])
    if explode and root.rows:
        parents = [part.first + parent for part in found for parent in part.parents.to_pylist()]
        assert parents == expected.parents.to_pylist()
    for part in found:
        part.records.validate(full=True)
    return wanted


def rows(arrays):
    return [repr(row) for array in arrays for row in array.to_pylist()]


@pytest.mark.usefixtures("window")
@pytest.mark.parametrize("seed", range(6))
def test_damaged_streams_of_concatenated_records_are_those_of_iter_parse(codec, seed):
    for settings in differential.SETTINGS[DATABUS]:
        same(codec(DATABUS), in_frames("concatenated", *stream(DATABUS, seed)), "concatenated", **settings)


@pytest.mark.usefixtures("window")
@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("seed", range(4))
def test_damaged_streams_behind_lengths_are_those_of_iter_parse(codec, name, seed):
    source = in_frames("length-prefixed", *stream(name, seed))
    same(codec(name), source, "length-prefixed")
    same(codec(name), Pipe(source), "length-prefixed", explode=True)


@pytest.mark.usefixtures("window")
@pytest.mark.parametrize("on_error", ["skip", "stop"])
def test_every_cut_of_a_stream_is_that_of_iter_parse(codec, on_error):
    for framing in ("concatenated", "length-prefixed"):
        records = data.databus(3, 5)
        whole = in_frames(framing, [records[0], records[1][:60] + b"\xff" + records[1][61:], records[2]], b"")
        for end in range(0, len(whole), 7):
            same(codec(DATABUS), whole[:end], framing, on_error=on_error)


@pytest.mark.parametrize("framing", ["none", "lines"])
def test_files_of_one_record_and_lines_are_read_together(codec, framing):
    same(codec(DATABUS), data.databus(1, 5)[0], framing)
    lines = b"\n\n".join(each for each in json_lines() for _ in range(3))
    errors = [each.error for each in same(codec("databus_json"), lines + b"\n[]\n{", framing)]
    assert (None in errors) == (framing == "lines")


@pytest.mark.parametrize("pipe", [io.BytesIO, Pipe])
def test_what_is_too_large_is_passed_over_or_ends_the_stream(codec, monkeypatch, pipe):
    monkeypatch.setattr(framed, "KEPT", 50)
    monkeypatch.setattr(framed, "LARGEST", 400)
    small, other = data.databus(2, 5)
    large = (1 << 12).to_bytes(4, "big") + b"x" * (1 << 12)
    prefixed = in_frames("length-prefixed", [small], large) + in_frames("length-prefixed", [other], b"")
    for window in (100, 1 << 20):
        monkeypatch.setattr(parts, "WINDOW", window)
        found = same(codec(DATABUS), pipe(prefixed), "length-prefixed")
        assert [each.error and each.error.code for each in found] == [None, "size_limit", None]
        same(codec(DATABUS), small + b"\x07" * 1000, "concatenated")
        same(codec(DATABUS), pipe(prefixed[:-20]), "length-prefixed")
        same(codec(DATABUS), pipe(prefixed[:1000]), "length-prefixed")


@pytest.mark.skipif(not engines.available(), reason="the native engine is not built")
def test_a_record_beyond_the_formats_limit_is_refused_within_a_stream():
    codec = data.engine(DATABUS).codec
    records = data.databus(3, 5)
    same(codec, b"".join(records), "concatenated", maxEventSize=len(records[1]))
    same(codec, in_frames("length-prefixed", records, b""), "length-prefixed", maxEventSize=len(records[1]))


def test_the_first_bad_record_is_raised_with_its_place(codec):
    good = data.databus(3, 5)
    damaged = [good[0], good[1][:-1] + bytes([good[1][-1] ^ 1]), good[2]]
    for framing in ("concatenated", "length-prefixed"):
        source = in_frames(framing, damaged, b"")
        with pytest.raises(DecodeError) as wanted:
            list(codec(DATABUS).iter_parse(source, framing=framing))
        with pytest.raises(DecodeError) as raised:
            list(codec(DATABUS).decode_stream(source, framing=framing, on_error="raise"))
        assert str(raised.value) == str(wanted.value)


def test_columns_and_policies_are_checked_before_anything_is_read(codec):
    with pytest.raises(ParameterError, match="did you mean 'opcode'"):
        codec(DATABUS).decode_stream(b"", ["opcod"])
    with pytest.raises(ParameterError, match="on_error must be one of raise, stop, skip"):
        codec(DATABUS).decode_stream(b"", on_error="null")


@pytest.mark.skipif(not engines.available(), reason="the native engine is not built")
def test_good_streams_are_read_by_the_engine_alone(monkeypatch):
    codec = data.engine(DATABUS).codec
    monkeypatch.setattr(type(codec), "parse_with", None)
    records = data.databus(500, 5)
    (part,) = codec.decode_stream(b"".join(records), ["opcode"], framing="concatenated")
    assert part.raw.null_count == len(part.offsets) == 500
    assert part.records.type.names == ["opcode"]
    assert part.offsets[1].as_py() == len(records[0])


def test_a_record_of_no_bytes_ends_the_stream():
    class Nothing:
        def read(self, cursor):
            """The record at the cursor, which stays."""
            return cursor.tell()

        def label(self, error):
            """The error."""
            return error

    (record,) = framed.iterate(Nothing(), b"abc", framing_of("concatenated"), "skip")
    assert (record.error.code, record.offset, record.size, record.data) == ("trailing_bytes", 0, 3, b"abc")

"""Splitting streams: where records end, the cost of a bad one, and limited memory."""

import io
import tracemalloc
from contextlib import ExitStack

import pytest

from codec.test_small_records import record
from wireloom.runtime.errors import DecodeError
from wireloom.runtime.streams import framed
from wireloom.runtime.streams.framed import KEPT, LARGEST, iterate
from wireloom.runtime.streams.framing import framing_of

HUGE = 3_000_000_000
BOUND = 6 * LARGEST  # the window, the cursor's copy of it, and both again while it grows


class Digits:
    """Reads a digit and as many letters; `!` is no digit."""

    def read(self, cursor):
        """The record at the cursor."""
        start = cursor.tell()
        count = cursor.take(1)
        if not count.isdigit():
            raise DecodeError("bad_digit", offset=start)
        return cursor.take(int(count))

    def read_all(self, data):
        """The record that is all of `data`."""
        if not data[:1].isdigit() or len(data) != 1 + int(data[:1]):
            raise self.label(DecodeError("bad_digit", offset=0))
        return data[1:]

    def label(self, error):
        """As a codec does it."""
        error.format, error.version = "digits", "1"
        return error


class Hungry(Digits):
    """Always wants more."""

    def read(self, cursor):
        """The record at the cursor."""
        return cursor.take(1 << 40)


class Pipe(io.BytesIO):
    """A source that cannot seek."""

    def seekable(self):
        """Whether it can."""
        return False


@pytest.fixture
def sparse(tmp_path):
    """A file of that many bytes, which begins with the given ones; it takes no room on the disk."""

    def made(size, begin=b""):
        path = tmp_path / "sparse.bin"
        with path.open("wb") as file:
            file.write(begin)
            file.truncate(size)
        return opened.enter_context(path.open("rb"))

    with ExitStack() as opened:
        yield made


@pytest.fixture
def small(monkeypatch):
    """Limits that a test can reach."""
    monkeypatch.setattr(framed, "KEPT", 8)
    monkeypatch.setattr(framed, "LARGEST", 16)


def found(reader, source, framing):
    tracemalloc.start()
    try:
        records = list(iterate(reader, source, framing_of(framing), "skip"))
        assert tracemalloc.get_traced_memory()[1] < BOUND
    finally:
        tracemalloc.stop()
    return records


def codes(records):
    return [record.error and record.error.code for record in records]


def test_a_rest_that_is_larger_than_memory_is_one_bad_record_with_its_first_bytes_and_its_size(sparse):
    good, rest = found(Digits(), sparse(HUGE, b"2ab!"), "concatenated")
    assert (good.value, good.size) == (b"ab", 3)
    assert (rest.error.code, rest.offset, rest.size, len(rest.data)) == ("bad_digit", 3, HUGE - 3, KEPT)
    assert rest.data.startswith(b"!\0")


def test_a_record_that_never_ends_is_given_up_at_the_limit(sparse):
    (rest,) = found(Hungry(), sparse(HUGE), "concatenated")
    assert (rest.error.code, rest.size, len(rest.data)) == ("size_limit", HUGE, KEPT)


@pytest.mark.parametrize(("framing", "size"), [("none", HUGE), ("lines", 3 * LARGEST)])
def test_a_huge_file_or_line_is_refused_without_being_held(sparse, framing, size):
    (record,) = found(Digits(), sparse(size), framing)
    assert (record.error.code, record.size, len(record.data)) == ("size_limit", size, KEPT)


def test_a_length_prefix_that_claims_more_than_there_is_keeps_little(sparse):
    (record,) = found(Digits(), sparse(HUGE, b"\xff\xff\xff\xff"), "length-prefixed")
    assert (record.error.code, record.size, len(record.data)) == ("truncated", HUGE, KEPT)
    assert record.error.actual == f"{HUGE - 4} bytes left"


def test_a_record_of_a_length_prefix_that_is_too_large_is_passed_over(small):
    data = (20).to_bytes(4, "big") + b"x" * 20 + (2).to_bytes(4, "big") + b"1a"
    for source in (io.BytesIO(data), Pipe(data)):
        large, good = iterate(Digits(), source, framing_of("length-prefixed"), "skip")
        assert (large.error.code, large.offset, large.size, large.data) == ("size_limit", 4, 20, b"x" * 8)
        assert (good.value, good.offset) == (b"a", 28)


def test_a_source_is_given_back_as_often_as_there_is_need():
    source = Pipe(b"1a2bc")
    for _ in range(3000):
        source = framed.given_back(source, source.read(2))
    assert framed.read_exactly(framed.given_back(source, b"0"), 9) == b"01a2bc"


def test_a_line_that_is_too_long_is_passed_over(small):
    large, good = iterate(Digits(), b"x" * 40 + b"\n1a\n", framing_of("lines"), "skip")
    assert (large.error.code, large.size, large.data) == ("size_limit", 41, b"x" * 8)
    assert (good.value, good.offset) == (b"a", 41)


def test_a_source_that_cannot_seek_is_not_read_beyond_what_is_kept(small):
    for framing in ("none", "concatenated"):
        (rest,) = iterate(Digits(), Pipe(b"!" * 100), framing_of(framing), "skip")
        assert rest.data == b"!" * 8


def test_a_record_at_the_end_that_is_broken_off_says_so(small):
    good, rest = iterate(Digits(), b"1a9bc", framing_of("concatenated"), "skip")
    assert (good.value, rest.error.code, rest.size, rest.data) == (b"a", "truncated", 3, b"9bc")


@pytest.mark.parametrize("data", [b"\0\0", b"\0\0\0\x05ab", b"\0\0\0\x20" + b"x" * 40])
def test_errors_of_the_framing_carry_the_formats_name(small, data):
    record = next(iter(iterate(Digits(), data, framing_of("length-prefixed"), "skip")))
    assert (record.error.format, record.error.version) == ("digits", "1")
    assert str(record.error).startswith("digits: ")


def test_an_error_that_is_raised_says_which_record_it_was():
    with pytest.raises(DecodeError) as raised:
        list(iterate(Digits(), b"1a2bc!x", framing_of("concatenated"), "raise"))
    assert (raised.value.record_index, raised.value.record_offset, raised.value.offset) == (2, 5, 0)
    assert "(record 2 at byte 5)" in str(raised.value)


def test_a_struct_within_a_record_that_says_where_it_ends_does_not_say_where_the_record_does(tmp_path):
    inner = {"fields": [{"n": {"type": "uint8", "derive": "size"}}, {"frame": "n"}, {"a": "uint8"}]}
    fields = [{"whole": {"type": "uint8", "derive": "size"}}, {"frame": "whole"}, {"inner": "Inner"}, {"tail": "bytes"}]
    with record(tmp_path, *fields, Inner=inner) as format:
        good = format.build({"inner": {"a": 1}, "tail": b"zzz"})
        bad = bytes.fromhex("06 03 01 7a7a7a")
        found = list(format.iter_parse(bad + good, framing="concatenated", on_error="skip"))
        assert [(each.offset, each.size, each.error is None) for each in found] == [(0, 6, False), (6, 6, True)]

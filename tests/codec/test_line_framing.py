"""The engine's search for lines in a window finds the same lines as reading them one by one."""
# ruff: noqa: S311 - no secrets are made

import io
import random

import pyarrow as pa
import pytest

from wireloom.runtime.streams import framed, lines
from wireloom.runtime.streams.budget import Budget
from wireloom.runtime.streams.framed import Extent
from wireloom.runtime.streams.framing import framing_of
from wireloom_formats import databus_json

LINE = b'{"endOfPeriod":true,"sequence":5000,"timestampInNanos":7}'


class Whole:
    """A reader whose records are their bytes."""

    def read_all(self, data):
        """The bytes."""
        return data

    def label(self, error):
        """The error as it is."""
        return error


def one_by_one(data):
    extents = framed.extents(Whole(), io.BytesIO(data), framing_of("lines"))
    return [(each.offset, each.size, each.data, each.error is not None) for each in extents]


def by_windows(data, window):
    for found in lines.windows(Whole(), io.BytesIO(data), Budget(window, window)):
        if isinstance(found, Extent):
            yield found.offset, found.size, found.data, found.error is not None
        else:
            places = [each.to_pylist() for each in found.places]
            yield from ((*place, line, False) for *place, line in zip(*places, found.data.to_pylist(), strict=True))


def test_windows_hold_the_lines_that_are_found_one_by_one(monkeypatch):
    monkeypatch.setattr(framed, "LARGEST", 40)
    monkeypatch.setattr(framed, "KEPT", 16)
    source = random.Random(3)
    for _ in range(2000):
        alphabet = source.choice((b"ab\n\r \t\x0b\x0c\xff\0", b"ab\n\n ", b"abcdefgh\n"))
        data = bytes(source.choices(alphabet, k=source.randrange(160)))
        assert list(by_windows(data, source.randrange(1, 41))) == one_by_one(data)


@pytest.mark.parametrize("ending", [b"\n", b"\r\n", b"\n\n", b" \n \n"])
@pytest.mark.parametrize("last", [b"", b"[]"])
def test_lines_of_a_format_are_decoded_whatever_ends_them(ending, last):
    data = ending.join([LINE, LINE.replace(b"5000", b"1.5"), LINE, last])
    parts = list(databus_json.decode_stream(io.BytesIO(data)))
    wanted = list(databus_json.iter_parse(data, on_error="skip"))
    assert [offset for part in parts for offset in part.offsets.to_pylist()] == [each.offset for each in wanted]
    assert [size for part in parts for size in part.sizes.to_pylist()] == [each.size for each in wanted]
    errors = pa.chunked_array([part.errors for part in parts]).to_pylist()
    assert [error and error["code"] for error in errors] == [each.error and each.error.code for each in wanted]
    raw = [each for part in parts for each in part.raw.to_pylist()]
    assert raw == [each.data if each.error else None for each in wanted]

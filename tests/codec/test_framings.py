"""Every framing, read by `parse`, `iter_parse` and `decode_stream`, from sources that return any number of bytes."""

import importlib
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from conftest import GENERATED, case_formats, shipped_formats
from support.databus_events import built
from support.drawing import THOROUGH
from wireloom.cli.app import app
from wireloom.model.format import Format
from wireloom.runtime import engine
from wireloom.runtime.errors import DecodeError, EncodeError, ParameterError
from wireloom.runtime.streams import delimiters, elements, framed
from wireloom.runtime.streams.framed import Framed
from wireloom.runtime.streams.framing import NAMED, framing_of
from wireloom.runtime.streams.framing_guess import HEAD, likely_framing
from wireloom.runtime.streams.writing import frame
from wireloom_formats import aerospike_msgpack, databus_event, databus_json, kpl_record

FORMATS = {format.name: format for format in (*shipped_formats(), *case_formats())}
SHIPPED = {format.name for format in shipped_formats()}


class Trickle(io.RawIOBase):
    """A pipe that gives a few bytes at a time."""

    def __init__(self, data: bytes, most: int) -> None:
        super().__init__()
        self._file, self._most = io.BytesIO(data), most

    def readable(self) -> bool:
        """It can be read."""
        return True

    def read(self, size: int | None = -1) -> bytes:
        """Some bytes; none at the end."""
        return self._file.read(self._most if size is None or size < 0 else min(size, self._most))


def leb128(number: int) -> bytes:
    groups = [number >> shift & 0x7F for shift in range(0, max(number.bit_length(), 1), 7)]
    return bytes([*(group | 0x80 for group in groups[:-1]), groups[-1]])


PREFIXES: dict[str, Callable[[int], bytes]] = {
    "length-prefixed": lambda size: size.to_bytes(4, "big"),
    "prefix:uint16:little": lambda size: size.to_bytes(2, "little"),
    "prefix:uint24:itself": lambda size: (size + 3).to_bytes(3, "big"),
    "prefix:int64:plus=-2": lambda size: (size + 2).to_bytes(8, "big"),
    "prefix:int16:little:itself:plus=5": lambda size: (size - 3).to_bytes(2, "little", signed=True),
    "prefix:varint32": leb128,
    "prefix:zigzag64:itself": lambda size: next(
        number for width in (1, 2, 3) if len(number := leb128(2 * (size + width))) == width
    ),
}
"""What stands before a record of a size."""


def cobs(data: bytes) -> bytes:
    """As S. Cheshire and M. Baker describe it, a byte at a time."""
    written, place = bytearray(1), 0
    for byte in data:
        if written[place] == 0xFE and len(written) - place == 0xFF:
            written[place], place = 0xFF, len(written)
            written.append(0)
        if byte:
            written.append(byte)
            written[place] = len(written) - place - 1
        else:
            written[place], place = len(written) - place, len(written)
            written.append(0)
    written[place] = len(written) - place
    return bytes(written) + b"\0"


ENDED: dict[str, Callable[[bytes], bytes]] = {
    "slip": lambda data: data.replace(b"\xdb", b"\xdb\xdd").replace(b"\xc0", b"\xdb\xdc") + b"\xc0",
    "cobs": cobs,
    "delimiter:7e:escape=7d:xor=20": lambda data: data.replace(b"}", b"}]").replace(b"~", b"}^") + b"~",
    "delimiter:0d0a": lambda data: data.replace(b"\r\n", b"\r") + b"\r\n",
}
"""Records with what ends them."""
FRAMINGS = (
    *NAMED,
    "prefix:varint32",
    "prefix:int16:little:itself:plus=5",
    "size:64",
    "delimiter:0d0a",
    "delimiter:7e:escape=7d:xor=20",
)

SOURCES: dict[str, Callable[[bytes], bytes | BinaryIO]] = {
    "a buffer": lambda data: data,
    "a file": io.BytesIO,
    "a pipe of single bytes": lambda data: Trickle(data, 1),
    "a pipe of two bytes": lambda data: Trickle(data, 2),
    "a pipe of seven bytes": lambda data: Trickle(data, 7),
}


@pytest.fixture(name="module")
def _module(case_package: ModuleType) -> Callable[[str], ModuleType]:
    package = {True: "wireloom_formats", False: case_package.__name__}
    return lambda name: importlib.import_module(f"{package[name in SHIPPED]}.{name}")


def records(format: Format) -> list[tuple[str, dict[str, Any], list[bytes]]]:
    """The examples of each root by their parameters, good and bad, in an order that mixes them."""
    found: dict[tuple[str, tuple[tuple[str, Any], ...]], list[bytes]] = {}
    for example in format.examples:
        found.setdefault((example.root, example.parameters), []).append(example.data)
    return [(root, dict(parameters), data) for (root, parameters), data in found.items()]


def written(framing: str, data: list[bytes]) -> bytes:
    """The records as a stream."""
    match framing:
        case "none":
            return data[0]
        case "concatenated":
            return b"".join(data)
        case "array":
            return b" [" + b" ,\n".join(data) + b"]\n"
        case _ if framing in PREFIXES:
            return b"".join(PREFIXES[framing](len(each)) + each for each in data)
        case _ if framing in ENDED:
            return b"".join(map(ENDED[framing], data))
        case _ if framing.startswith("size:"):
            return b"".join(data)
        case _:
            return b"".join(each.replace(b"\n", b" ") + b"\n" for each in data)


def said(error: DecodeError | None) -> tuple[object, ...]:
    return () if error is None else (error.code, error.path, error.offset)


def from_parts(module: ModuleType, source: bytes | BinaryIO, **keywords: Any) -> Iterator[tuple[Any, ...]]:
    """The offset, size and error of each record in `decode_stream`."""
    for part in module.decode_stream(source, **keywords):
        errors = part.errors.to_pylist()
        if part.parents is not None:
            first = dict(zip(reversed(part.parents.to_pylist()), reversed(errors), strict=True))
            errors = [first.get(row) for row in range(len(part.offsets))]  # a list without elements has no row
        for offset, size, error in zip(part.offsets.to_pylist(), part.sizes.to_pylist(), errors, strict=True):
            yield offset, size, () if error is None else (error["code"], error["path"], error["offset"])


def in_itself(module: ModuleType, record: Framed, **keywords: Any) -> tuple[object, ...]:
    """The result of `parse` for the record's bytes alone."""
    try:
        module.parse(record.data, **keywords)
    except DecodeError as error:
        return said(error)
    return ()


@pytest.mark.drawing
@pytest.mark.parametrize(
    ("name", "framing"),
    [
        (name, framing)
        for place, name in enumerate(FORMATS)
        for turn, framing in enumerate(FRAMINGS)
        if THOROUGH or name in SHIPPED or (place + turn) % len(FRAMINGS) == 0
    ],
)
def test_all_ways_of_reading_a_stream_agree_however_its_bytes_come(
    module: Callable[[str], ModuleType], name: str, framing: str
) -> None:
    codec = module(name)
    for root, parameters, data in records(FORMATS[name]):
        keywords = {"root": root, **parameters}
        if framing == "concatenated" and codec.CODEC.root(root).endless:
            for read in (codec.iter_parse, codec.decode_stream):
                with pytest.raises(ParameterError, match="is not known; framing can be none, "):
                    read(b"", framing=framing, **keywords)
            continue
        if framing == "array" and codec.ENCODING != "json":
            for read in (codec.iter_parse, codec.decode_stream):
                with pytest.raises(ParameterError, match="cannot be in a JSON array; framing can be none, "):
                    read(b"", framing=framing, **keywords)
            continue
        tail = b"\xff" if framing in PREFIXES else b""
        stream = written(framing, data) + (b"\0\0" if framing == "length-prefixed" else tail)
        told = list(codec.iter_parse(stream, framing=framing, on_error="skip", **keywords))
        wanted = [(each.offset, each.size, said(each.error)) for each in told]
        for each in told:
            whole = framing != "concatenated" or each.error is None
            broken_off = framing not in ("none", "lines") and each is told[-1]
            assert not whole or broken_off or in_itself(codec, each, **keywords) == said(each.error)
        for source in SOURCES.values():
            again = codec.iter_parse(source(stream), framing=framing, on_error="skip", **keywords)
            assert [(each.offset, each.size, said(each.error)) for each in again] == wanted
            assert list(from_parts(codec, source(stream), framing=framing, **keywords)) == wanted


NO_FRAMINGS = (
    *("", "line", "size:0", "size:x", "prefix:", "prefix:uint9", "prefix:varint32:little"),
    *("delimiter:", "delimiter:0", "delimiter:" + "00" * 17, "delimiter:7e7e:escape=7d:xor=20"),
    *(
        "delimiter:7e:xor=20",
        "delimiter:7e:escape=7d",
        "delimiter:7e:escape=7e:xor=20",
        "delimiter:7e:escape=5e:xor=20",
    ),
    *(
        "delimiter:c0:escape=db:dc=c0",
        "delimiter:c0:escape=db:xor=01:dc=c0:dd=db",
        "delimiter:c0:escape=db:dc=c0:c0=db",
    ),
)


@pytest.mark.parametrize("read", [databus_event.iter_parse, databus_event.decode_stream])
def test_a_framing_that_there_is_not_is_refused_before_anything_is_read(read: Callable[..., Any]) -> None:
    for framing in NO_FRAMINGS:
        with pytest.raises(ParameterError, match="framing must be one of none, concatenated, length-prefixed, lines"):
            read(b"", framing=framing)


@pytest.mark.parametrize("framing", ["concatenated", "length-prefixed"])
def test_a_record_that_is_too_large_costs_itself_alone_and_says_where_it_stands_in_itself(framing: str) -> None:
    good = [each.data for each in FORMATS["aerospike_msgpack"].examples if each.error is None and each.root == "record"]
    small, large = min(good, key=len), max(good, key=len)
    stream = written(framing, [small, large, small])
    keywords = {"framing": framing, "max_size": len(small)}
    told = list(aerospike_msgpack.iter_parse(stream, on_error="skip", **keywords))
    assert [said(each.error) for each in told] == [(), ("size_limit", "", 0), ()]
    assert [each.size for each in told] == [len(small), len(large), len(small)]
    wanted = [(each.offset, each.size, said(each.error)) for each in told]
    assert list(from_parts(aerospike_msgpack, stream, **keywords)) == wanted


# --- framings that do not fit --------------------------------------------------------------------------------------


def good_records(module: ModuleType, format: Format) -> list[bytes]:
    """Good records of the first root under the default parameters; no text that a line may not have in it."""
    root = format.roots[0].name
    usable = [example for example in format.examples if example.root == root and not example.parameters]
    found = [example.data for example in usable if example.stated and example.error is None and example.data]
    return [data.replace(b"\n", b" ") if format.framing.text == "lines" else data for data in found]


def likely(codec: Any, data: bytes, framing: str, size: int | None) -> str | None:
    return likely_framing(
        lambda head, other: codec.iter_parse(head, framing=other, on_error="stop"), data, size, framing
    )


@pytest.mark.parametrize("name", FORMATS)
def test_a_framing_that_does_not_fit_is_named_and_one_that_fits_is_not_questioned(
    module: Callable[[str], ModuleType], name: str
) -> None:
    codec = module(name)
    good = (good_records(codec, FORMATS[name]) * 3)[:4]
    unfit = {"concatenated" if codec.CODEC.root(None).endless else "", "" if codec.ENCODING == "json" else "array"}
    possible = [framing for framing in NAMED if framing not in unfit and framing not in ENDED]
    for framing in possible if good else ():
        if framing == "lines" and any(b"\n" in data for data in good):
            continue
        stream = written(framing, good)
        rightly = [each.error for each in codec.iter_parse(stream, framing=framing, on_error="skip")]
        if any(rightly):
            continue  # records that are no lines
        assert likely(codec, stream, framing, len(stream)) is None or framing == "none"
        for other in possible:
            named = likely(codec, stream, other, len(stream))
            if named is not None:
                assert named != other
                assert next(each.error for each in codec.iter_parse(stream, framing=named, on_error="skip")) is None
            if (other, framing) == ("none", "length-prefixed"):
                assert named == "length-prefixed", "also where the format takes any bytes"
            elif any(each.error for each in codec.iter_parse(stream, framing=other, on_error="skip")):
                first = next(iter(codec.iter_parse(stream, framing=other, on_error="skip")))
                assert named is not None or first.error is None


def test_a_file_is_judged_by_its_first_bytes_however_large_it_is() -> None:
    record = built(1)
    prefixed = (len(record).to_bytes(4, "big") + record) * 5_000
    for size in (len(prefixed), None):
        assert likely(databus_event, prefixed[:HEAD], "none", size) == "length-prefixed"
        assert likely(databus_event, prefixed[:HEAD], "concatenated", size) == "length-prefixed"
        assert likely(databus_event, prefixed[:HEAD], "length-prefixed", size) is None
        assert likely(databus_event, (record * 5_000)[:HEAD], "none", size) == "concatenated"
        assert likely(databus_event, b"\xfe" * HEAD, "concatenated", size) is None
    long = b"x" * (2 * HEAD)
    assert likely(kpl_record, long[:HEAD], "none", len(long)) is None
    lines = b"text\n" * HEAD
    assert likely(kpl_record, lines[:HEAD], "none", len(lines)) is None, "any bytes are a record, lines or not"


@pytest.mark.parametrize("command", ["decode", "validate", "ingest"])
def test_commands_name_the_framing_that_fits_and_read_as_they_were_told(tmp_path: Path, command: str) -> None:
    data = b"any bytes are a record of this format"
    (tmp_path / "in.bin").write_bytes((len(data).to_bytes(4, "big") + data) * 3)
    asked = [command, "kpl_record", str(tmp_path / "in.bin"), "--out", str(GENERATED)]
    if command == "ingest":
        asked[1:3] = ["--format", "kpl_record", "--input", str(tmp_path / "in.bin"), "--engine", "local"]
        asked += ["--output", str(tmp_path / "out"), "--overwrite"]
    done = CliRunner().invoke(app, asked)
    assert done.exit_code == 0, done.output
    assert "in.bin looks like length-prefixed: use --framing length-prefixed" in done.output
    right = CliRunner().invoke(app, [*asked, "--framing", "length-prefixed"])
    assert right.exit_code == 0, right.output
    assert "looks like" not in right.output


LINE = b'{"sequence":1,"timestampInNanos":2,"endOfPeriod":true}'


def elements_of(stream: bytes, most: int = 1 << 20) -> list[tuple[int, int, str]]:
    """Offset, size and code of each element of an array, which comes a few bytes at a time."""
    found = databus_json.iter_parse(Trickle(stream, most), framing="array", on_error="skip")
    return [(each.offset, each.size, each.error.code if each.error else "") for each in found]


@pytest.mark.parametrize("most", [1, 3, 1 << 20])
@pytest.mark.parametrize(
    ("stream", "wanted"),
    [
        (b"", []),
        (b" \n", []),
        (b" [ ] \n", []),
        (b"\t[\n" + LINE + b" ,\r\n" + LINE + b"]", [(3, 54, ""), (61, 54, "")]),
        (b"[" + LINE + b",]", [(1, 54, ""), (56, 0, "truncated")]),
        (b"[," + LINE + b"]", [(1, 0, "truncated"), (2, 54, "")]),
        (b"[nul, 1} ," + LINE + b"]", [(1, 3, "truncated"), (6, 2, "trailing_bytes"), (10, 54, "")]),
        (b'[{"a":"]}\\"","b":[{}]},' + LINE + b"]", [(1, 21, "missing_key"), (23, 54, "")]),
        (b"[" + LINE, [(1, 54, "truncated")]),
        (b"[" + LINE + b",", [(1, 54, ""), (56, 0, "truncated")]),
        (b'["a\\', [(1, 3, "truncated")]),
        (b"[" + LINE + b"] x", [(1, 54, ""), (57, 1, "trailing_bytes")]),
        (LINE, [(0, 54, "json_syntax")]),
        (b"\xef\xbb\xbf[]", [(0, 5, "json_syntax")]),
    ],
)
def test_a_broken_element_of_an_array_costs_itself_where_brackets_and_quotes_tell_its_end(
    stream: bytes, wanted: list[tuple[int, int, str]], most: int
) -> None:
    assert elements_of(stream, most) == wanted


@pytest.mark.skipif(not engine.available(), reason="the native engine is not built")
@settings(max_examples=300)
@given(
    stream=st.lists(st.sampled_from([b"[", b"]", b"{", b"}", b",", b'"', b"\\", b" ", b"\n", b"12345678", b"\xc3"])),
    most=st.integers(1, 20),
    largest=st.integers(0, 30),
)
def test_elements_are_the_same_with_and_without_the_engine(stream: list[bytes], most: int, largest: int) -> None:
    def told() -> list[elements.Piece]:
        source = Trickle(b"[" + b"".join(stream), most)
        return list(elements.elements(lambda size: source.read(min(size, most)), elements.Limits(largest, 8)))

    found = told()
    with patch.object(engine, "available", return_value=False):
        assert told() == found


def test_an_element_larger_than_any_record_may_be_is_passed_over_without_holding_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(framed, "LARGEST", 100)
    monkeypatch.setattr(elements, "_WINDOW", 16)
    large = b'{"x":"' + b'[\\"' * 200 + b'"}'
    found = elements_of(b"[" + LINE + b"," + large + b"," + LINE + b"]", 7)
    behind = 57 + len(large)
    assert found == [(1, 54, ""), (56, len(large), "size_limit"), (behind, 54, "")]


def test_lines_are_written_as_an_array_and_read_again(tmp_path: Path) -> None:
    (tmp_path / "lines").write_bytes(LINE + b"\n" + LINE + b"\n")
    run = CliRunner().invoke
    plain = run(app, ["decode", "databus_json", str(tmp_path / "lines")])
    (tmp_path / "rendered").write_text(plain.stdout, encoding="utf-8")
    array = tmp_path / "array"
    written = run(app, ["encode", "databus_json", str(tmp_path / "rendered"), "--framing", "array", "-o", str(array)])
    assert written.exit_code == 0, written.output
    assert len(elements_of(array.read_bytes())) == 2
    again = run(app, ["decode", "databus_json", str(array), "--framing", "array"])
    assert again.stdout == plain.stdout


@pytest.mark.parametrize("text", [*PREFIXES, *ENDED, "lines", "size:7"])
def test_what_is_written_is_found_again_where_it_stands(text: str) -> None:
    framing = framing_of(text)
    assert framing.text == text
    records = [bytes([number]) * (7 if text.startswith("size") else number) for number in range(33, 200, 7)]
    stream = b"".join(frame(framing, each, first=False) for each in records)
    found = list(kpl_record.iter_parse(stream, framing=framing.text))
    assert [each.data for each in found] == records
    if text != "cobs":
        assert [stream[each.offset : each.offset + each.size] for each in found] == records
    if text in PREFIXES:
        assert stream == b"".join(PREFIXES[text](len(each)) + each for each in records)


@pytest.mark.parametrize(
    ("text", "record"),
    [
        ("prefix:uint8", b"x" * 256),
        ("prefix:uint8:itself", b"x" * 255),
        ("prefix:int16:plus=4", b"x" * 3),
        ("size:4", b"xxx"),
        ("size:4", b"xxxxx"),
        ("concatenated", b""),
        ("lines", b"x\ny"),
        ("lines", b" \t"),
        ("delimiter:0d0a", b""),
        ("delimiter:0d0a", b"x\r\ny"),
        ("delimiter:6161", b"xa"),
        ("slip", b""),
    ],
)
def test_a_record_that_would_not_be_found_again_is_not_written(text: str, record: bytes) -> None:
    with pytest.raises(EncodeError):
        frame(framing_of(text), record, first=False)


@pytest.mark.parametrize(
    ("text", "behind"),
    [
        ("prefix:int8", "ff"),
        ("prefix:uint32:itself", "00000003"),
        ("prefix:uint8:plus=-9", "08"),
        ("prefix:varint32", "ffffffffff00"),
        ("prefix:varint32", "8080808010"),
        ("prefix:zigzag64", "01"),
    ],
)
def test_a_prefix_that_no_record_can_have_ends_the_stream_as_one_bad_record(text: str, behind: str) -> None:
    good = frame(framing_of(text), b"0123456789", first=False)
    stream = good + bytes.fromhex(behind) + b"rest"
    for source in SOURCES.values():
        last = list(kpl_record.iter_parse(source(stream), framing=text, on_error="skip"))[1:]
        assert [(each.offset, each.error and each.error.code) for each in last] == [(len(good), "bad_size")]
        offset, size, error = list(from_parts(kpl_record, source(stream), framing=text))[-1]
        assert (offset, size, error) == (len(good), last[0].size, ("bad_size", "", 0))
    assert last[0].data == stream[len(good) :][: len(last[0].data)]


def test_a_spec_says_a_framing_by_its_parts(tmp_path: Path) -> None:
    """Written, read, converted and split accordingly by every command."""
    home, out = tmp_path / "specs" / "meter", tmp_path / "out"
    home.mkdir(parents=True)
    (home / "meter.yaml").write_text(METER)
    common = ["--out", str(out), "--package", "meters"]
    run = CliRunner().invoke
    assert run(app, ["generate", "--specs", str(tmp_path / "specs"), *common]).exit_code == 0
    lines = "".join(f'{{"id":{number},"name":"{"x" * (number % 9)}"}}\n' for number in range(500))
    (tmp_path / "lines").write_text(lines)
    stream = tmp_path / "stream"
    done = run(app, ["encode", "meter", str(tmp_path / "lines"), "-o", str(stream), *common])
    assert done.exit_code == 0, done.output
    assert stream.read_bytes()[:9].hex() == "030000000400010078"
    again = run(app, ["decode", "meter", str(stream), *common])
    assert again.stdout == lines
    other = run(app, ["decode", "meter", str(stream), "--framing", "prefix:uint16:little:plus=-1", *common])
    assert other.stdout == lines
    sized = run(app, ["decode", "meter", str(stream), "--framing", "size:4", *common])
    assert sized.exit_code == 1


METER = """
wireloom: 1
format: meter
title: Readings of a meter
encoding: binary
byteOrder: little
framing: {prefix: uint16, plus: -1}
root: Reading
types:
  Reading:
    fields:
      - id: uint16
      - name: {type: str}
"""


@pytest.mark.parametrize("text", ENDED)
def test_every_byte_is_written_and_read_between_delimiters(text: str) -> None:
    records = [
        bytes(range(256)),
        b"\xdb\xdc\xdd\xc0" * 3,
        b"}~}]^" * 2,
        b"\0" * 3,
        b"x" * 254,
        b"x" * 255 + b"\0" + b"y" * 254,
    ]
    records += [
        bytes([number % 7]) * size + b"z" for number, size in enumerate((1, 252, 253, 254, 507, 508, 509, 2000))
    ]
    records = [each.replace(b"\r\n", b"") for each in records]
    stream = b"".join(frame(framing_of(text), each, first=False) for each in records)
    assert stream == b"".join(map(ENDED[text], records))
    for source in SOURCES.values():
        assert [each.data for each in kpl_record.iter_parse(source(stream), framing=text)] == records


@pytest.mark.parametrize(
    ("text", "stream", "wanted"),
    [
        ("slip", "c0c0 01 c0 02dbdc c0c0 03", [(2, 1, ""), (4, 2, ""), (9, 1, "truncated")]),
        ("slip", "01dbc0 02dbdbdc c0 03 c0", [(0, 2, "bad_escape"), (3, 4, "bad_escape"), (8, 1, "")]),
        ("cobs", "00 01 00 0501 00 03aabb 00 02", [(1, 0, ""), (3, 2, "bad_escape"), (6, 2, ""), (10, 1, "truncated")]),
        ("delimiter:0d0a", "0d0a 01 0d0a 02 0d 03 0d0a0d0a 04", [(2, 1, ""), (5, 3, ""), (12, 1, "")]),
        ("delimiter:6161", "01 616161 6161 02 61", [(0, 1, ""), (5, 3, "")]),
    ],
)
def test_a_bad_escape_costs_its_record_and_nothing_between_delimiters_is_no_record(
    text: str, stream: str, wanted: list[tuple[int, int, str]]
) -> None:
    data = bytes.fromhex(stream)
    for source in SOURCES.values():
        told = list(kpl_record.iter_parse(source(data), framing=text, on_error="skip"))
        assert [(each.offset, each.size, each.error.code if each.error else "") for each in told] == wanted
        found = [
            (offset, size, error[0] if error else "")
            for offset, size, error in from_parts(kpl_record, source(data), framing=text)
        ]
        assert found == wanted
    bad = next((each for each in told if each.error and each.error.code == "bad_escape"), None)
    assert bad is None or bad.data == data[bad.offset : bad.offset + bad.size]


@pytest.mark.parametrize("text", ["delimiter:0d0a", "slip"])
def test_a_record_too_large_between_delimiters_costs_itself_without_being_held(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setattr(framed, "LARGEST", 100)
    monkeypatch.setattr(framed, "KEPT", 10)
    monkeypatch.setattr(delimiters, "_WINDOW", 16)
    records = [b"a", b"\r" * 1000, b"b" * 100]
    stream = b"".join(map(ENDED[text], records))
    for most in (1, 7, 1 << 20):
        found = list(kpl_record.iter_parse(Trickle(stream, most), framing=text, on_error="skip"))
        assert [(each.size, said(each.error)[:1]) for each in found] == [(1, ()), (1000, ("size_limit",)), (100, ())]
        assert len(found[1].data) == 10

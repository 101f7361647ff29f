"""Rows that the engine does not read back would come back equal, in every case and shipped format, altered or not."""

import importlib

import pyarrow as pa
import pytest

import encoding
import engine_data as data
from conftest import case_formats, shipped_formats, specs_below
from read_back import agreed
from support.drawing import drawn
from support.without_engine import LEFT
from wireloom.examples.memory import opened
from wireloom.runtime import engine as engines
from wireloom.runtime.columns import arrow
from wireloom.runtime.engine.programs.assembly import Uncovered
from wireloom.runtime.errors import EncodeError

pytestmark = [
    pytest.mark.drawing,
    pytest.mark.skipif(not engines.available(), reason="the native engine is not built"),
]
COVERED = [format for format in case_formats() if format.name not in LEFT]


def hold(engine, examples, count):
    """Hold rows of the examples, altered or not, against what comes back where all of them are read back."""
    given = list({repr(example.parameters): example.parameters for example in examples}.values())
    for parameters in given:
        request = engines.Request(engine.codec.default_root, engine.codec.settings(dict(parameters)))
        root = engine.root(request)
        seeds = [example.data for example in examples if example.parameters == parameters]
        is_covered = not root.elements and engine.writer(request) is not None
        rows = encoding.rows(engine, request, seeds) if is_covered else []
        if not rows:
            continue
        changed = [*rows, *encoding.altered(rows, count // len(given), 3)]
        records = encoding.as_columns(changed, arrow.arrow_type(root.logical))
        for part in [records] if _is_taken(engine, request, records) else _taken(engine, request, records):
            agreed(engine, request, part)


def _is_taken(engine, request, records):
    """Whether the engine takes the columns; unknown words are left to the builders."""
    try:
        engine.writer(request).gathered(records)
    except Uncovered:
        return False
    return True


def _taken(engine, request, records):
    rows = (records.slice(row, 1) for row in range(len(records)))
    return [row for row in rows if _is_taken(engine, request, row)]


@pytest.mark.parametrize("format", COVERED, ids=lambda format: format.name)
def test_rows_of_a_case_that_are_not_read_back_would_come_back(format, case_package):
    engine = importlib.import_module(f"{case_package.__name__}.{format.name}").CODEC.engine
    hold(engine, [each for each in format.examples if each.root == engine.codec.default_root], drawn(5))


@pytest.mark.parametrize("format", shipped_formats(), ids=lambda format: format.name)
def test_rows_of_a_shipped_format_that_are_not_read_back_would_come_back(format):
    engine = data.engine(format.name)
    hold(engine, [each for each in format.examples if each.root == engine.codec.default_root], drawn(30))


SIZED = """\
wireloom: 1
format: sized_constant
title: A constant whose size follows from the record
encoding: {encoding}
root: Record
types:
  Record:
    fields:
      - length: {{type: uint8}}
      - text: {{type: "{type}(length + 0)", {stated}}}
      - last: {{type: uint8}}
"""


@pytest.mark.parametrize(
    ("encoding", "type", "stated", "value"),
    [
        ("binary", "str", "const: abc", "abc"),
        ("binary", "str", "values: {abc: one, d: two}", "one"),
        ("msgpack", "bytes", "const: '616263'", b"abc"),
    ],
)
def test_a_constant_of_another_size_than_the_record_says_is_not_written(tmp_path, encoding, type, stated, value):
    (tmp_path / "sized_constant.yaml").write_text(SIZED.format(encoding=encoding, type=type, stated=stated))
    with opened(specs_below(tmp_path).modules) as modules:
        module = modules["sized_constant"]
        rows = pa.array([{"length": length, "text": value, "last": 1} for length in (3, 5)])
        assert module.encode(rows.take([0])).to_pylist() == [module.build({"length": 3, "text": value, "last": 1})]
        with pytest.raises(EncodeError, match="text"):
            module.encode(rows)


CHECKED = """\
wireloom: 1
format: checked_elements
title: A list whose elements are checked
encoding: {encoding}
root: Record
types:
  Record: {{fields: [{{items: {{type: list({type}), {stated}}}}}]}}
"""


@pytest.mark.parametrize(
    ("encoding", "type", "stated", "items"),
    [
        ("binary", "uint8", "count: 2, range: .. 100", ([90, 100], [90, 101])),
        ("binary", "str(uint8)", "count: 2, pattern: '[a-c]+'", (["ab", "bc"], ["ab", "ad"])),
        ("binary", "str(uint8)", "count: 2, charset: ascii", (["ab", "bc"], ["ab", "é"])),
        ("msgpack", "uint8?", "range: .. 100", ([None, 100], [None, 101])),
        ("msgpack", "str", "length: .. 2", (["ab", "bc"], ["ab", "abc"])),
        ("msgpack", "str", "charset: ascii", (["ab", "bc"], ["ab", "é"])),
        ("json", "uint8", "range: .. 100", ([90, 100], [90, 101])),
        ("json", "str", "pattern: '[a-c]+'", (["ab", "bc"], ["ab", "ad"])),
    ],
)
def test_an_element_that_readers_refuse_is_not_written(tmp_path, encoding, type, stated, items):
    text = CHECKED.format(encoding=encoding, type=type, stated=stated)
    (tmp_path / "checked_elements.yaml").write_text(text)
    with opened(specs_below(tmp_path).modules) as modules:
        module = modules["checked_elements"]
        rows = pa.array([{"items": each} for each in items])
        assert module.encode(rows.take([0])).to_pylist() == [module.build({"items": items[0]})]
        with pytest.raises(EncodeError, match=r"items\[1\]"):
            module.encode(rows)


@pytest.mark.parametrize("encoding", ["binary", "msgpack", "json"])
def test_bytes_of_another_size_than_numbers_of_the_spec_say_are_not_written(tmp_path, encoding):
    spec = f"{{wireloom: 1, format: sized, title: s, encoding: {encoding}, root: R, types: "
    spec += "{R: {fields: [{data: 'bytes(4 * 5)'}]}}}"
    (tmp_path / "sized.yaml").write_text(spec)
    with opened(specs_below(tmp_path).modules) as modules:
        module = modules["sized"]
        good, bad = (pa.array([{"data": data}], pa.struct([("data", pa.binary())])) for data in (bytes(20), b""))
        assert module.encode(good).to_pylist() == [module.build({"data": bytes(20)})]
        with pytest.raises(EncodeError):
            module.encode(bad)


UNIQUE = """\
wireloom: 1
format: unique_members
title: A list of elements with unlike names
encoding: {encoding}
root: Record
types:
  Item: {{fields: [{{id: {type}}}]}}
  Record: {{fields: [{{items: {{type: list(Item), unique: id{count}}}}}]}}
"""


@pytest.mark.parametrize(
    ("encoding", "type", "count", "values"),
    [
        ("binary", "str(uint8)", ", count: uint8", ("a", "b")),
        ("binary", "uint8", ", count: 2", (1, 2)),
        ("msgpack", "str", "", ("a", "b")),
        ("msgpack", "uint8", "", (1, 2)),
        ("json", "str", "", ("a", "b")),
        ("json", "uint8", "", (1, 2)),
    ],
)
def test_two_elements_with_one_unique_member_are_not_written(tmp_path, encoding, type, count, values):
    (tmp_path / "unique_members.yaml").write_text(UNIQUE.format(encoding=encoding, type=type, count=count))
    one, other = ({"id": value} for value in values)
    with opened(specs_below(tmp_path).modules) as modules:
        module = modules["unique_members"]
        rows = pa.array([{"items": items} for items in ([one, other], [one, one])])
        assert module.encode(rows.take([0])).to_pylist() == [module.build({"items": [one, other]})]
        with pytest.raises(EncodeError, match="expected another id"):
            module.encode(rows)


def test_no_event_of_databus_is_read_back():
    engine = data.engine("databus_event")
    request = engines.Request(engine.codec.default_root, engine.codec.settings({}))
    (format,) = (each for each in shipped_formats() if each.name == "databus_event")
    seeds = [each.data for each in format.examples if each.error is None and not each.parameters]
    records = encoding.as_columns(encoding.rows(engine, request, seeds), arrow.arrow_type(engine.root(request).logical))
    assert agreed(engine, request, records) == ([0] * len(seeds), 0)

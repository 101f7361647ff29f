"""Columns render to the same canonical JSON as their values, and encode from lines to the same bytes."""

import importlib
from decimal import Decimal

import pyarrow as pa
import pytest

from conftest import case_formats, shipped_formats
from wireloom.model.format import Format
from wireloom.records import transcode
from wireloom.runtime.columns.arrow import to_struct_array
from wireloom.runtime.columns.canonical import dumps, to_canonical
from wireloom.runtime.columns.logical import (
    Alternatives,
    BigInteger,
    Binary,
    Float,
    Integer,
    List,
    LogicalField,
    Map,
    Meant,
    Open,
    Record,
    Scaled,
    Text,
)
from wireloom.runtime.columns.rendering import rendered, rendered_lists
from wireloom.runtime.errors import DecodeError, EncodeError
from wireloom.runtime.values import Pairs

FORMATS = [
    pytest.param(package, format, id=format.name)
    for package, formats in (("wireloom_formats", shipped_formats()), ("wireloom_cases", case_formats()))
    for format in formats
    if format.examples
]


@pytest.mark.parametrize(("package", "format"), FORMATS)
def test_examples_have_one_text_whether_columns_or_values_are_rendered(package, format: Format, case_package):
    module = importlib.import_module(f"{package}.{format.name}")
    for example in format.examples:
        given = dict(example.parameters)
        try:
            value = module.parse(example.data, root=example.root, **given)
        except DecodeError:
            continue
        root = module.CODEC.root(example.root)
        found = module.CODEC.decode([example.data], root=example.root, open_values="json", **given)
        if root.elements:
            (text,) = rendered_lists(found.records, root.logical, found.parents, 1).to_pylist()
        else:
            (text,) = rendered(found.records, root.logical).to_pylist()
        assert text == dumps(module.to_canonical(value, root=example.root)), example.name


@pytest.mark.parametrize(("package", "format"), FORMATS)
def test_lines_become_the_bytes_that_build_gives(package, format: Format, case_package):
    module = importlib.import_module(f"{package}.{format.name}")
    for example in format.examples:
        given = dict(example.parameters)
        try:
            rendering = module.to_canonical(module.parse(example.data, root=example.root, **given), root=example.root)
            built = module.build(module.from_canonical(rendering, root=example.root), root=example.root, **given)
        except (DecodeError, EncodeError):
            continue  # a record that is read and not written
        request = transcode.Request(module, example.root, "length-prefixed", given)
        line = dumps(rendering).encode()
        made = b"".join(transcode.encode(request, [line, b"\n", line], transcode.Written()))
        assert made == 2 * (len(built).to_bytes(4, "big") + built), example.name


def field(name, type):
    return LogicalField(name, type, nullable=True)


RECORD = Record(
    (
        field("text", Text()),
        field("float", Float(64)),
        field("bytes", Binary()),
        field("big", BigInteger()),
        field("list", List(Text())),
        field("map", Map(Text(), List(Integer(8, signed=True)))),
        field("kind", Alternatives((Integer(64, signed=True), Text(), List(Binary())))),
        field("open", Open()),
        field("empty", Record(())),
        field("amount", Meant(Integer(64, signed=True), Scaled("decimal", precision=20, digits=9))),
    )
)


def test_rows_of_slices_and_nulls_are_rendered_as_they_are():
    values = [
        {"text": 'a"\\\n\x1f\x7fü', "float": -0.0, "bytes": b"", "big": -(1 << 100), "list": [], "empty": {}},
        None,
        dict.fromkeys(member.name for member in RECORD.fields),
        {"text": "", "float": float("nan"), "list": ["x", None, "\\"], "map": Pairs([("k", [1, None]), ("", None)])},
        {"kind": 7, "open": None, "float": float("-inf"), "bytes": bytes(range(256)), "amount": Decimal("0.000000001")},
        {"kind": [b"\0", None], "open": Pairs([(1, [None, 1.5])]), "float": 1e300, "amount": Decimal("-12.300000000")},
        {"kind": "text", "float": 0.1, "map": Pairs([]), "list": None},
    ]
    array = to_struct_array([each and {m.name: None for m in RECORD.fields} | each for each in values], RECORD,
                            open_values="json")  # fmt: skip
    wanted = [None if each is None else dumps(to_canonical(each, RECORD)) for each in values]
    assert rendered(array, RECORD).to_pylist() == wanted
    assert rendered(array[2:5], RECORD).to_pylist() == wanted[2:5]
    assert rendered(array[:0], RECORD).to_pylist() == []


def test_the_rows_of_lists_are_one_text_for_each_parent():
    rows = pa.array([{"n": 1}, {"n": 2}, None, {"n": None}], pa.struct([("n", pa.int64())]))
    record = Record((field("n", Integer(64, signed=True)),))
    texts = rendered_lists(rows, record, pa.array([1, 1, 2, 4], pa.int32()), 5)
    assert texts.to_pylist() == ["[]", '[{"n":1},{"n":2}]', "[]", "[]", "[{}]"]

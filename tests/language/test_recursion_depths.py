"""Recursion depths that make very large modules are reported at the depth."""

import pytest
from yaml import safe_load

from conftest import CASES
from proof.modules import documents, generated, resolved
from wireloom import pipeline, recursion


def test_a_depth_that_makes_a_very_large_module_is_said_where_it_stands_with_what_helps():
    specs = pipeline.read(CASES / "recursion")
    modules = {"recursion": {"columns.py": "x" * 2_500_000}}
    ((location, message),) = recursion.large_formats(specs.documents, modules)
    line = (CASES / "recursion" / "recursion.yaml").read_text(encoding="utf-8").splitlines()[location.line - 1]
    assert line[location.column - 1 :] == "3"
    assert "contains itself to a depth of 3, so recursion has 2.5 MB; use a smaller `depth`, or keep" in message


def test_formats_of_normal_size_give_no_note():
    assert pipeline.large_formats(pipeline.read(CASES / "recursion")) == []


@pytest.mark.parametrize(
    ("held", "depth", "around"),
    [("Part", 64, '{"a":%s}'), ("list(Part)", 32, '{"a":[%s]}'), ("map(str, list(Part))", 21, '{"a":{"k":[%s]}}')],
)
def test_what_stands_in_one_another_as_deep_as_it_may_is_read_and_built(held, depth, around):
    content = {"wireloom": 1, "format": "deep", "title": "Deep", "encoding": "json", "root": "Part"}
    content["types"] = {"Part": {"depth": depth, "fields": [{"a": {"type": held, "optional": True}}]}}
    record = "{}"
    for _ in range(depth - 1):
        record = around % record
    with generated(resolved(documents({"deep.yaml": content}))) as made:
        assert made.module.build(made.module.parse(record.encode())) == record.encode()
        assert made.module.decode([record.encode()]).errors.null_count == 1


MESSAGE = """
wireloom: 1
format: kept
title: Messages that are kept as they are
encoding: protobuf
root: Message
types:
  Message:
    depth: 1
    fields:
      - name: {tag: 1, type: str, oneOf: either}
      - other: {tag: 2, type: Message, oneOf: either}
      - single: {tag: 3, type: Message, optional: true}
      - by: {tag: 4, type: "map(str, Message)"}
      - several: {tag: 5, type: list(Message)}
"""
KEPT = {
    "1a 03 0a0161 1a 00 1a 02 0a00": {"single": b"\x0a\x01a\x0a\x00"},
    "12 02 2200 12 03 0a0161": {"other": b"\x22\x00\x0a\x01a"},
    "12 02 2200 0a 01 61 12 03 0a0161": {"other": b"\x0a\x01a"},
    "12 02 2200 0a 01 61": {"name": "a"},
    "22 0c 0a016b 12 03 0a0161 12 02 0a00": {"by": [("k", b"\x0a\x01a\x0a\x00")]},
    "22 08 0a016b 12 03 0a0161 22 05 0a016b 12 00": {"by": [("k", b"")]},
    "2a 03 0a0161 2a 02 0a00": {"several": [b"\x0a\x01a", b"\x0a\x00"]},
}


@pytest.mark.parametrize("record", KEPT)
def test_the_pieces_of_a_message_that_is_kept_as_it_is_are_one(record):
    data = bytes.fromhex(record)
    expected = {"name": None, "other": None, "single": None, "by": [], "several": [], **KEPT[record]}
    with generated(resolved(documents({"kept.yaml": safe_load(MESSAGE)}))) as made:
        value = made.module.parse(data)
        assert {**value, "by": list(value["by"])} == expected
        decoded = made.module.decode([data])
        assert decoded.errors.null_count == 1
        assert decoded.records.to_pylist() == [expected]
        assert made.module.parse(made.module.build(value)) == value

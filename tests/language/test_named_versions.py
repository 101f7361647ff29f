"""Named versions in pages, vectors, and the model."""

from pathlib import Path

import pytest

from wireloom import pipeline
from wireloom.examples import opened
from wireloom.model.format import Format
from wireloom.model.versions import Revision, revisions
from wireloom.pages.page import files
from wireloom.runtime.errors import DecodeError
from wireloom.vectors import make

SPEC = """
wireloom: 1
format: report
title: A report
encoding: binary
framing: length-prefixed
root: Report
{}
types:
  Report:
    fields:
      - version: uint8
      - id: uint8
      - old: {{type: uint8, until: v1}}
      - items: {{type: list(Item), count: uint8}}
  Item: {{fields: [{{id: uint8}}, {{unit: {{type: str(uint8), since: v3}}}}]}}
examples: [{{name: one, hex: 01 07 05 00, value: {{version: 1, id: 7, old: 5, items: []}}}}]
"""
TOLD = "versions: {order: {v1: 1, v2: 2, v3: 3}, from: version}"


@pytest.fixture
def format(tmp_path: Path) -> Format:
    (tmp_path / "report.yaml").write_text(SPEC.format(TOLD).strip(), encoding="utf-8")
    return pipeline.formats(tmp_path)[0]


def test_each_version_says_what_is_new_and_what_is_gone(format):
    assert list(revisions(format)) == [
        Revision("v1", "version 1", (), ()),
        Revision("v2", "version 2", (), ("Report.old",)),
        Revision("v3", "version 3", ("Item.unit",), ()),
    ]


def test_fields_of_versions_that_fit_are_of_the_struct_that_is_tried(tmp_path):
    told = 'versions: {order: ["1.0", "2.0"], from: fits, column: made}'
    text = SPEC.format(told).replace("until: v1", 'since: "2.0"').replace(", since: v3", "")
    (tmp_path / "report.yaml").write_text(text[: text.index("examples")], encoding="utf-8")
    (format,) = pipeline.formats(tmp_path)
    assert list(revisions(format)) == [
        Revision("1.0", "what fits", (), ()),
        Revision("2.0", "what fits", ("Report.old",), ()),
    ]


def test_the_page_has_a_table_of_versions(format):
    page = files(format, {})["report.md"]
    assert "| `v3` | version 3 | `Item.unit` |  |" in page
    assert "| `v2` | version 2 |  | `Report.old` |" in page


def test_vectors_have_a_record_of_each_version_that_lacks_an_example(tmp_path):
    text = SPEC.format(TOLD).replace("      - old: {type: uint8, until: v1}\n", "").replace("01 07 05 00", "01 07 00")
    (tmp_path / "report.yaml").write_text(text.replace("old: 5, ", "").strip(), encoding="utf-8")
    (format,) = pipeline.formats(tmp_path)
    with opened({format.name: pipeline.emit(format)}) as modules:
        found = {vector.name: vector for vector in make(format, modules[format.name].CODEC).vectors}
    assert found["one, in version v2"].data.hex() == "020700"
    assert found["one, in version v3"].value == {"version": 3, "id": 7, "items": []}


def test_vectors_have_none_of_a_version_that_lacks_members_of_every_example(format):
    with opened({format.name: pipeline.emit(format)}) as modules:
        found = [vector.name for vector in make(format, modules[format.name].CODEC).vectors]
    assert "one, in version v2" not in found


def test_a_select_with_many_cases_of_versions_asks_once_for_each_span(tmp_path):
    numbers = range(1, 41)
    cases = ", ".join(f"{number}: {{type: T{number}, since: v{2 + number % 2}}}" for number in numbers)
    types = "\n".join(f"  T{number}: {{fields: [{{x{number}: uint8}}]}}" for number in numbers)
    body = f"      - body: {{type: {{select: id, cases: {{{cases}}}}}}}\n"
    text = (
        SPEC.format(TOLD)
        .replace("      - old: {type: uint8, until: v1}\n", body)
        .replace("  Item:", f"{types}\n  Item:")
    )
    (tmp_path / "report.yaml").write_text(text[: text.index("examples")], encoding="utf-8")
    (format,) = pipeline.formats(tmp_path)
    with opened({format.name: pipeline.emit(format)}) as modules:
        codec = modules[format.name].CODEC
        assert codec.parse(bytes.fromhex("02280900"))["body"]["x40"] == 9
        with pytest.raises(DecodeError, match="unknown_case"):
            codec.parse(bytes.fromhex("01280900"))
        with pytest.raises(DecodeError, match="unknown_case"):
            codec.parse(bytes.fromhex("02270900"))

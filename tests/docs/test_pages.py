"""The pages of formats are complete: all wire types, whole tables, working links."""

import importlib
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from codec.test_schema_gaps import package_of
from conftest import case_formats, shipped_formats
from wireloom.model.format import Format
from wireloom.model.traversal import reached
from wireloom.model.types import Struct
from wireloom.pages.examples import traces
from wireloom.pages.offsets import Offset, offsets
from wireloom.pages.page import files
from wireloom.pages.wire import sections
from wireloom.resolve import resolve
from wireloom.spec import load

FORMATS = [*shipped_formats(), *case_formats()]


MADE: dict[str, dict[str, str]] = {}


def made(format: Format) -> dict[str, str]:
    """The page and the pictures of a format whose module is generated."""
    if format.name not in MADE:
        module = importlib.import_module(f"{package_of(format)}.{format.name}")
        MADE[format.name] = files(format, traces(module.CODEC, format.examples))
    return MADE[format.name]


def page(format: Format) -> str:
    """The page of a format."""
    return made(format)[f"{format.name}.md"]


def structs(format: Format) -> list[Struct]:
    """The structs that the roots lead to."""
    names = {name for root in format.roots for name in reached(root.type, format.named)}
    return [type for name, type in format.types if name in names and isinstance(type, Struct)]


@pytest.mark.parametrize("format", FORMATS, ids=lambda format: format.name)
def test_a_page_names_every_field_of_the_wire_in_its_order(format: Format):
    bodies = {section.name: section.body for section in sections(format)}
    for struct in structs(format):
        body = bodies[struct.name]
        named = [field for field in struct.fields if not field.shared and field.on_wire]
        found = [place for field in named if (place := body.find(f"`{field.wire_name}`")) >= 0]
        assert len(found) == len(named), f"{struct.name}: {[field.wire_name for field in named]}"
        for bit in (bit for field in struct.fields for bit in field.bits):
            assert f"`{bit.name}`" in body, f"{struct.name}.{bit.name}"


@pytest.mark.parametrize("format", FORMATS, ids=lambda format: format.name)
def test_every_link_of_a_page_leads_to_a_heading(format: Format, case_package):
    text = page(format)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    anchors = {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings}
    linked = set(re.findall(r"\]\(#([^)]*)\)", text))
    assert linked <= anchors
    assert set(re.findall(r"\]\(([^#)]*)\)", text)) == made(format).keys() - {f"{format.name}.md"}


@pytest.mark.parametrize("format", FORMATS, ids=lambda format: format.name)
def test_a_picture_is_whole_names_every_field_and_keeps_all_within_its_edges(format: Format, case_package):
    shown = {Path(name).stem: text for name, text in made(format).items() if name.endswith(".svg")}
    for struct in structs(format):
        if struct.name in shown:
            said = " ".join(ET.fromstring(shown[struct.name]).itertext())  # noqa: S314 - our own
            for field in struct.fields:
                assert not field.on_wire or field.shared or field.wire_name in said, f"{struct.name}.{field.wire_name}"
    for name, text in shown.items():
        tree = ET.fromstring(text)  # noqa: S314 - our own
        width, height = (float(tree.attrib[side]) for side in ("width", "height"))
        for box in tree.iter("{http://www.w3.org/2000/svg}rect"):
            if box.attrib["class"] != "page":
                x, y, wide, high = (float(box.attrib[side]) for side in ("x", "y", "width", "height"))
                assert 0 <= x <= x + wide <= width, name
                assert 0 <= y <= y + high <= height, name


@pytest.mark.parametrize("format", FORMATS, ids=lambda format: format.name)
def test_the_rows_of_a_table_have_the_columns_of_its_head(format: Format, case_package):
    lines = page(format).splitlines()
    for place, line in enumerate(lines):
        if line.startswith("| ---"):
            width = cells(lines[place - 1])
            for row in lines[place:]:
                if not row.startswith("|"):
                    break
                assert cells(row) == width, row


def cells(line: str) -> int:
    """The cells of a row of a table."""
    return len(re.findall(r"(?<!\\)\|", line))


def struct_of(folder: Path, fields: str, extra: str = "") -> tuple[Struct, Format]:
    """The type Message of a format with these fields."""
    path = folder / "paged.yaml"
    path.write_text(
        f"wireloom: 1\nformat: paged\ntitle: Paged\nsource: none\nencoding: binary\nroot: Message\n{extra}"
        f"types:\n  Message:\n    fields:\n{fields}"
    )
    (format,) = resolve(load([path], folder))
    struct = format.type("Message")
    assert isinstance(struct, Struct)
    return struct, format


def test_offsets_are_fixed_behind_fields_that_conditions_exchange(tmp_path: Path):
    struct, format = struct_of(
        tmp_path,
        "      - kind: uint8\n"
        "      - short: {type: uint16, when: kind == 1}\n"
        "      - long: {type: uint32, when: kind == 2}\n"
        "      - mark: body\n"
        "      - length: {type: uint8, hidden: true, derive: len(data)}\n"
        "      - data: bytes(length)\n"
        "      - last: uint8\n",
    )
    found = offsets(struct, format)
    assert found["short"] == found["long"] == (Offset("", 1),)
    assert {each.bytes for each in found["body"]} == {1, 3, 5}
    assert found["last"] == (Offset("data", 0, after=True),)


def test_a_field_behind_both_values_of_a_parameter_has_one_offset(tmp_path: Path):
    struct, format = struct_of(
        tmp_path,
        "      - id: {type: bytes(16), when: \"form == 'id'\"}\n"
        "      - version: {type: uint16, when: \"form == 'version'\"}\n"
        "      - tail: {type: bytes(14), when: \"form == 'version'\"}\n"
        "      - last: uint8\n",
        "parameters:\n  form: {oneOf: [id, version], default: id}\n",
    )
    assert offsets(struct, format)["last"] == (Offset("", 16),)


def test_a_page_says_which_bits_of_a_byte_come_first_in_a_list_of_bits(case_package):
    (format,) = (each for each in case_formats() if each.name == "bit_lists")
    text = page(format)
    assert "list of boolean, 1 bit (lowest bits first)" in text
    assert "list of `uint12`, 12 bits (highest bits of a byte first; lowest first if little-endian)" in text


@pytest.mark.parametrize("format", shipped_formats(), ids=lambda format: format.name)
def test_a_page_has_all_bytes_of_an_example_to_compare_it_with_others(format: Format):
    rows = page(format).partition("### More examples")[2].splitlines()
    shown = [example for example in format.examples if any(line.startswith(f"| {example.name} |") for line in rows)]
    small = [example for example in shown if example.error is None and len(example.data) <= 256]
    assert [example.name for example in small if not any(example.data.hex(" ") in line for line in rows)] == []

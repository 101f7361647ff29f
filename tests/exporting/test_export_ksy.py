"""`export ksy`: the description and its reported differences; importing it again gives the same values.

Kaitai's own compiler is tested in tests/integration/test_kaitai_exports.py.
"""

from pathlib import Path
from textwrap import dedent

import pytest
import yaml
from typer.testing import CliRunner

from conftest import CASES, SPECS, specs_below
from support.imported_specs import module_of
from support.kaitai import Comparison
from wireloom.cli.app import app
from wireloom.cli.commands.specs.import_ import settled_ksy
from wireloom.examples.memory import opened
from wireloom.exporting import Difference, ksy
from wireloom.exporting.differences import difference_lines
from wireloom.spec.places import Site

AGAIN = {
    SPECS: ("databus_event", "netflow_v5"),
    CASES: ("alignment", "bit_fields", "charsets", "filler", "odd_widths", "sensor_frame"),
}
"""Formats of which the import says all that the export says."""


@pytest.mark.parametrize("folder", AGAIN)
def test_an_imported_export_reads_the_same_values(folder: Path, tmp_path: Path):
    specs = specs_below(folder)
    formats = [each for each in specs.formats if each.name in AGAIN[folder]]
    assert len(formats) == len(AGAIN[folder])
    for format in formats:
        root = format.roots[0]
        good = [one for one in format.examples if one.root == root.name and not one.parameters and one.error is None]
        with opened({format.name: specs.modules[format.name]}) as modules:
            spans = [modules[format.name].explain_bytes(each.data).span for each in good]
            for span in spans:
                assert [each.value for each in span.walk()]  # worked out while the module is there
        exported = ksy(format, root, {})
        file = tmp_path / f"{format.name}.ksy"
        file.write_text(exported.text)
        made = settled_ksy(file, ())
        assert not made.findings, format.name
        with module_of(made) as module:
            for example, span in zip(good, spans, strict=True):
                comparison = Comparison(yaml.safe_load(exported.text))
                comparison.compare(span, module.parse(example.data))
                assert not comparison.differences, (format.name, example.name)
                assert comparison.equal


def exported(tmp_path: Path, text: str, *options: str):
    (tmp_path / "one.yaml").write_text("wireloom: 1\nformat: one\ntitle: One\nencoding: binary\n" + dedent(text))
    done = CliRunner().invoke(app, ["export", "ksy", "one", "--specs", str(tmp_path), *options])
    return done, yaml.safe_load(done.stdout) if done.stdout else None


SAMPLE = """
    byteOrder: {parameter: byteOrder}
    parameters:
      byteOrder: {oneOf: [big, little], default: big}
      strict: {type: bool, default: true}
    root: Record
    types:
      Record:
        fields:
          - kind: {type: uint8, values: {1: short text, 2: number}}
          - flags: {type: uint16, bits: {urgent: 0, level: 4..7}}
          - many: {type: int24, range: 0 .. 100}
          - text: {type: str(varint32), when: kind == 'short text', pattern: '[a-z]*'}
          - check: {that: level < 3, when: strict, else: bad_level, field: level}
          - crc: {type: uint32, checksum: sum, over: 0 .. 4, else: bad_crc}
          - verify: {field: crc}
          - at: {type: int64, logical: {timestamp: us}}
    errors: {bad_level: A level that there is not., bad_crc: Another checksum.}
    checksums: {sum: {width: 32, poly: 0x04C11DB7, check: 0x0376E6E7, init: 0xFFFFFFFF, xorout: 0, reflected: false}}
"""


def test_fields_are_said_and_what_kaitai_lacks_is_told_with_its_place(tmp_path):
    done, description = exported(tmp_path, SAMPLE, "-p", "byteOrder=little")
    assert done.exit_code == 0, done.stderr
    assert description["meta"]["endian"] == "le"
    seq = {each["id"]: each for each in description["seq"]}
    assert seq["kind"]["valid"] == {"in-enum": True}
    assert description["enums"] == {"kind": {1: {"id": "short_text", "-orig-id": "short text"}, 2: "number"}}
    assert seq["len_text_raw"]["if"] == "kind == kind::short_text"
    assert seq["check_bad_level"]["valid"] == {"expr": "level < 3"}
    assert description["instances"]["urgent"]["value"] == "(flags & 1) != 0"
    lines = (tmp_path / "one.yaml").read_text().splitlines()

    def told(text: str, place: str) -> bool:
        line = next(number for number, each in enumerate(lines, 1) if place in each)
        return any(f"one.yaml:{line}:" in each and text in each for each in done.stderr.splitlines())

    assert told("it is little", "byteOrder: {oneOf")
    assert told("it is true", "strict: {type")
    assert told("a pattern of the text; it is not checked [pattern]", "- text:")
    assert told("a checksum; it is read, and not verified [checksum]", "- crc:")
    assert told("readers see a time; it has the value on the wire [meaning]", "- at:")
    assert "things differ from the spec: check 1, checksum 1, meaning 1, parameter 2, pattern 1" in done.stderr
    assert exported(tmp_path, SAMPLE, "--strict")[0].exit_code == 1


def test_differences_at_one_place_are_told_in_the_order_in_which_they_were_found():
    document = next(iter(specs_below(SPECS).documents))
    sites = [Site(f"Copy{number}", "unknown") for number in (3, 1, 4, 5, 9, 2, 6)]
    told = difference_lines([Difference("list", each, "it is long", "it is short") for each in sites], document)
    assert [each.split(": ")[1] for each in told] == [f"{each.struct}.unknown" for each in sites]


def test_a_check_that_a_parameter_turns_off_is_left_out(tmp_path):
    _, description = exported(tmp_path, SAMPLE, "-p", "strict=false")
    assert "check_bad_level" not in [each["id"] for each in description["seq"]]


def test_a_struct_ends_where_a_length_is_unknown_and_so_does_the_one_around(tmp_path):
    done, description = exported(
        tmp_path,
        """
        root: Record
        types:
          Record: {fields: [{first: Inner}, {region: {type: Inner, size: 9}}, {second: Inner}, {last: uint8}]}
          Inner: {fields: [{a: uint8}, {b: {type: bytes, delimiter: 0d0a}}, {c: uint8}]}
        """,
    )
    assert done.exit_code == 0
    assert [each["id"] for each in description["seq"]] == ["first"]
    assert [each["id"] for each in description["types"]["inner"]["seq"]] == ["a"]
    assert (
        "Inner.b: a delimiter of several bytes, or with an escape; Inner is not read from here on [cut]" in done.stderr
    )


def test_what_a_struct_looks_at_around_it_is_given_to_its_type(tmp_path):
    _, description = exported(
        tmp_path,
        """
        root: Record
        types:
          Record: {fields: [{wide: bool}, {parts: {type: list(Part), count: uint8}}]}
          Part: {fields: [{inner: Inner}]}
          Inner: {fields: [{large: {type: uint32, when: wide}}, {place: {compute: index, type: int64}}]}
        """,
    )
    part, inner = description["types"]["part"], description["types"]["inner"]
    assert description["seq"][-1]["type"] == "part(_index, wide)"
    assert [each["type"] for each in part["params"]] == ["s4", "bool"]
    assert part["seq"][-1]["type"] == "inner(index, wide)"
    assert inner["instances"]["place"]["value"] == "index"


def test_a_format_that_is_not_binary_is_refused_with_what_to_use():
    done = CliRunner().invoke(app, ["export", "ksy", "aerospike_json", "--specs", str(SPECS / "aerospike")])
    assert (done.exit_code, done.stdout) == (1, "")
    assert "Kaitai describes only binary formats; export its columns (`proto` or `avsc`) [encoding]" in done.stderr
    assert "nothing was written" in done.stderr


def test_a_parameter_that_there_is_not_is_a_misuse():
    done = CliRunner().invoke(app, ["export", "ksy", "dns_message", "--specs", str(SPECS / "dns"), "-p", "x=1"])
    assert done.exit_code == 2


@pytest.mark.parametrize("folder", [SPECS, CASES])
def test_every_binary_format_is_described_or_refused_with_a_reason(folder):
    for format in specs_below(folder).formats:
        for root in format.roots:
            made = ksy(format, root, {})
            assert made.text or made.differences
            assert made.text == ksy(format, root, {}).text

"""`inspect` and `quarantine` show bytes beside fields, mark the faulty byte, and answer wrong requests in one line."""

import json
import re
import shutil

import pytest
from typer.testing import CliRunner

from conftest import GENERATED, ROOT, SPECS
from wireloom.cli.app import app

SAMPLES = ROOT / "samples"
OUT = ["--out", str(GENERATED)]
BAD = SAMPLES / "mqtt_packet" / "damaged-0.bin"
GOOD = SAMPLES / "netflow_v5" / "good-000.bin"


def inspect(*arguments, input=None):
    return CliRunner().invoke(app, ["inspect", *map(str, arguments), "--specs", str(SPECS), *OUT], input=input)


def row(result, name):
    """The words of the row of a field."""
    return next(line.split() for line in result.stdout.splitlines() if re.search(rf"\s{re.escape(name)}(\s|$)", line))


def test_a_field_has_its_offset_its_bytes_its_value_and_its_meaning():
    result = inspect("netflow_v5", GOOD)
    assert result.exit_code == 0
    assert row(result, "source")[:7] == ["24", "4", "c0", "00", "02", "0a", "source"]
    assert "'192.0.2.10'" in row(result, "source")
    assert "ms" in " ".join(row(result, "uptime"))
    assert "hidden" in " ".join(row(result, "version"))


def test_a_pipe_gets_no_colours_and_a_record_no_escape_through():
    result = inspect("kpl_record", "-", input=b"\x1b[31m\x07red")
    assert result.exit_code == 0
    assert "\x1b" not in result.stdout


def test_a_bad_record_shows_the_byte_what_was_expected_and_the_line_of_the_spec():
    result = inspect("mqtt_packet", BAD)
    assert result.exit_code == 1
    assert "record 2 at byte 106" in result.stdout
    assert "the first bad one" in result.stdout
    assert "bad_protocol" in result.stdout
    assert "'MQTD'" in result.stdout
    place = re.search(r"spec +(\S+mqtt_packet\.yaml):(\d+)", result.stdout)
    assert place, result.stdout
    line = (SPECS / "mqtt" / "mqtt_packet.yaml").read_text(encoding="utf-8").splitlines()[int(place[2]) - 1]
    assert "protocol" in line
    marks = result.stdout.splitlines()
    at = next(number for number, text in enumerate(marks) if "^^ byte 7" in text)
    assert marks[at - 1][marks[at].index("^^") :][:2] == "44"  # D, in place of T


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--record", 9], "has no record 9; it has 3, numbered from 0"),
        (["--at", 99], "the record has 17 bytes, numbered 0 to 16"),
        (["--at", "x"], "a number of bytes from the start of the record"),
        (["--path", "body.protocl"], "did you mean body.protocol?"),
        (["--framing", "lins"], "lins"),
        (["--diff", "a", "b"], "--diff names both records; drop "),
        (["--html", "page.html", "--json"], "--html writes a page; leave out --json"),
        (
            ["--html", "page.html", "--at", "1"],
            "--html writes a page of the whole record, which folds and searches; leave out --at",
        ),
        (["--json", "--depth", "1"], "--json prints all levels; leave out --depth"),
        (["--at", "1", "--path", "x"], "--at names a field; leave out --path"),
        (["--html", SAMPLES], "is a folder"),
    ],
)
def test_a_wrong_option_or_missing_part_gives_one_line(options, said):
    result = inspect("mqtt_packet", BAD, *options)
    assert result.exit_code == 2
    assert said in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_a_wrong_format_or_file_is_one_line():
    assert "did you mean mqtt_packet?" in inspect("mqtt_packt", BAD).stderr
    assert inspect("mqtt_packet", "nowhere.bin").exit_code == 2
    assert "FILE is missing" in inspect("mqtt_packet").stderr


def test_one_field_is_shown_with_all_its_bytes():
    by_path = inspect("netflow_v5", GOOD, "--path", "flows[1]")
    by_offset = inspect("netflow_v5", GOOD, "--at", "0x49")
    assert len([line for line in by_path.stdout.splitlines() if re.match(r" +\d+  ([0-9a-f]{2} )+", line)]) == 3
    assert row(by_offset, "source")[:2] == ["72", "4"]


def test_levels_are_cut_off():
    result = inspect("netflow_v5", GOOD, "--depth", "1")
    assert "flows" in result.stdout
    assert "sourcePort" not in result.stdout


def test_a_long_list_is_short_but_for_what_is_wrong_in_it():
    event = (SAMPLES / "netflow_v5" / "good-000.bin").read_bytes()
    many = event[:2] + (30).to_bytes(2, "big") + event[4:24] + event[24:72] * 30
    result = inspect("netflow_v5", "-", input=many)
    assert result.exit_code == 0
    assert "22 more, flows[8] to flows[29], bytes 408 to 1463" in result.stdout


def test_json_has_the_tree_and_the_fault():
    found = json.loads(inspect("mqtt_packet", BAD, "--json").stdout)
    assert found["fault"]["code"] == "bad_protocol"
    assert found["fault"]["start"] == 7
    assert found["span"]["children"][0] == {
        **found["span"]["children"][0],
        "path": "header",
        "start": 0,
        "end": 1,
        "hex": "10",
        "value": 16,
        "hidden": True,
    }
    assert bytes.fromhex(found["spaces"][0]["hex"])[4:8] == b"MQTD"


def test_two_records_are_compared_field_by_field_and_byte_by_byte(tmp_path):
    data = bytearray(GOOD.read_bytes())
    data[40] ^= 1
    (tmp_path / "other.bin").write_bytes(data)
    result = CliRunner().invoke(app, ["inspect", "netflow_v5", "--diff", str(GOOD), str(tmp_path / "other.bin"), *OUT])
    assert result.exit_code == 1
    assert "1 field differs" in result.stdout
    assert "flows[0].packets" in result.stdout
    assert "16777228" in result.stdout
    assert "different bytes: byte 40 in both" in result.stdout
    same = CliRunner().invoke(app, ["inspect", "mqtt_packet", "--diff", f"{BAD}#0", f"{BAD}#0", *OUT])
    assert same.exit_code == 0
    assert "the same bytes" in same.stdout


def test_a_checksum_names_the_byte_that_was_changed():
    event = bytearray((SAMPLES / "databus_event" / "good.bin").read_bytes())
    event[30] ^= 4
    result = inspect("databus_event", "-", "--record", "0", input=bytes(event))
    assert result.exit_code == 1
    assert "byte 30 (timestampInNanos) is 04; the checksum of bytes 5 to 60 is right if it is 00" in result.stdout
    assert "^^ byte 30" in result.stdout


def test_bytes_that_a_fault_left_unread_are_shown_at_an_offset():
    event = bytearray((SAMPLES / "databus_event" / "good.bin").read_bytes())
    event[30] ^= 4
    result = inspect("databus_event", "-", "--record", "0", "--at", "61", input=bytes(event))
    assert "(unread)" in result.stdout
    assert "sequence" not in result.stdout


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("quarantine")
    (folder / "landing").mkdir()
    for path in (SAMPLES / "mqtt_packet").glob("damaged-*.bin"):
        shutil.copy(path, folder / "landing")
    made = CliRunner().invoke(
        app,
        [
            *("ingest", "--engine", "local", "--processes", "1", "--format", "mqtt_packet", *OUT),
            *("--input", str(folder / "landing"), "--output", str(folder / "tables")),
        ],
    )
    assert made.exit_code == 0, made.output
    return folder / "tables"


def quarantine(*arguments):
    return CliRunner().invoke(app, ["quarantine", *map(str, arguments), "--specs", str(SPECS), *OUT])


@pytest.mark.integration
def test_a_quarantine_is_counted_and_listed(tables):
    result = quarantine(tables)
    assert result.exit_code == 0
    assert "4 records in the quarantine" in result.stdout
    assert re.search(r"3  truncated: The input ends before the item does\.", result.stdout)
    assert len(re.findall(r"^row \d", result.stdout, re.MULTILINE)) == 4
    some = quarantine(tables, "--code", "truncated", "--limit", "1")
    assert len(re.findall(r"^row \d", some.stdout, re.MULTILINE)) == 1
    assert "2 more" in some.stderr


@pytest.mark.integration
def test_a_row_of_a_quarantine_is_inspected(tables):
    number = re.search(r"^row (\d): bad_protocol", quarantine(tables).stdout, re.MULTILINE)[1]
    result = quarantine(tables, "--inspect", number)
    assert result.exit_code == 1
    assert "^^ byte 7" in result.stdout
    assert f"row {number} of the quarantine: 17 bytes of mqtt_packet (refused as bad_protocol" in result.stdout


@pytest.mark.integration
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--inspect", "9"], "has no row 9 in its quarantine; it has 4, numbered from 0"),
        (["--code", "trunkated"], "did you mean truncated?"),
        (["--html", "x.html"], "--inspect N"),
    ],
)
def test_a_wrong_option_of_quarantine_is_reported(tables, options, said):
    result = quarantine(tables, *options)
    assert result.exit_code == 2
    assert said in result.stderr


def test_a_folder_that_is_no_output_is_one_line(tmp_path):
    assert "there is no" in quarantine(tmp_path / "none").stderr
    (tmp_path / "empty").mkdir()
    assert "is not a table" in quarantine(tmp_path / "empty").stderr


def test_a_checksum_that_turns_a_record_into_another_kind_names_the_byte():
    record = bytearray((SAMPLES / "kpl_record" / "good-000.bin").read_bytes())
    record[26] ^= 8
    result = inspect("kpl_record", "-", input=bytes(record))
    assert result.exit_code == 0
    assert "not the alternative before it: digest_mismatch" in result.stdout
    assert f"is {record[26]:02x}; the checksum of bytes 4 to 44 is right if it is {record[26] ^ 8:02x}" in result.stdout


COUNTED = """\
wireloom: 1
format: counted
title: A message whose parts have lengths
encoding: binary
byteOrder: big
root: Message
types:
  Message:
    fields:
      - name: str(uint8)
      - content_length: {type: uint16, derive: len(content), hidden: true}
      - content: bytes(content_length)
      - count: {type: uint16, derive: count(points), hidden: true}
      - points: {type: list(Point), count: count}
      - state: {type: uint8, values: {0: idle, 1: busy}}
  Point: {fields: [x: int16]}
"""


@pytest.fixture(scope="module")
def counted(tmp_path_factory, request):
    """A format of a name, a content with a length, and a list with a count."""
    folder = tmp_path_factory.mktemp("counted")
    (folder / "specs").mkdir()
    (folder / "specs" / "counted.yaml").write_text(spec := getattr(request, "param", COUNTED))
    package = "counted_formats" if spec is COUNTED else "framed_formats"
    places = ["--specs", str(folder / "specs"), "--out", str(folder / "out"), "--package", package]
    assert CliRunner().invoke(app, ["generate", *places]).exit_code == 0

    def of(data):
        return CliRunner().invoke(app, ["inspect", "counted", "-", *places], input=bytes.fromhex(data)).stdout

    return of


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("026869 0fa0 61", "lengths   content_length at byte 3 says 4000; name at byte 0 says 2"),
        ("026869 0002 61 00 05 0001", "lengths   count at byte 7 says 1280; content_length at byte 3 says 2; name at"),
        ("28ff", "lengths   name at byte 0 says 40"),
    ],
)
def test_the_lengths_before_a_fault_are_named(counted, data, said):
    assert said in counted(data)


FRAMED = """\
wireloom: 1
format: counted
title: A message that says where it ends
encoding: binary
byteOrder: big
root: Message
errors: {bad_length: A length that the message does not fill.}
types:
  Message:
    fields:
      - length: {type: uint16, derive: size, hidden: true}
      - frame: length
      - body: {type: Body}
      - end: bad_length
  Body: {fields: [{x: uint16}, {y: uint16}]}
"""


@pytest.mark.parametrize("counted", [FRAMED], indirect=True)
@pytest.mark.parametrize(
    ("data", "found", "said"),
    [
        ("0005 0001 00 02", "1 left", "lengths   length at byte 0 says 5"),
        ("0007 0001 0002 00", "1 byte more", "lengths   length at byte 0 says 7"),
    ],
)
def test_the_length_that_bounds_a_struct_is_named(counted, data, found, said):
    shown = counted(data)
    assert f"found     {found}" in shown
    assert said in shown


def test_a_word_that_is_none_is_beside_those_that_are(counted):
    assert "expected  one of 0 (idle), 1 (busy)" in counted("026869 0000 0000 09")


def test_a_member_that_may_be_misspelled_is_named():
    good = (SAMPLES / "aerospike_json" / "good.bin").read_bytes().splitlines()[0]
    result = inspect("aerospike_json", "-", input=good.replace(b'"msg"', b'"mgs"'))
    assert "there is a member 'mgs', whose value is at byte" in result.stdout, result.stdout


@pytest.mark.parametrize(
    "option", [["--json"], ["--html", "page.html"], ["--depth", "1"], ["--at", "1"], ["--record", "1"]]
)
def test_options_that_a_difference_has_no_use_for_are_refused(option):
    result = CliRunner().invoke(app, ["inspect", "netflow_v5", "--diff", str(GOOD), str(GOOD), *option, *OUT])
    assert result.exit_code == 2
    assert f"leave out {option[0]}" in result.stderr


def test_the_count_of_a_list_that_does_not_fit_comes_before_the_lengths_in_it():
    query = bytearray.fromhex(
        "12340100 0001 0000 0000 0000 0377777707 6578616d706c6503636f6d00 0001 0001".replace(" ", "")
    )
    query[5] = 9
    assert "lengths   questionCount at byte 4 says 9; " in inspect("dns_message", "-", input=bytes(query)).stdout


def test_the_count_of_a_list_that_ends_at_the_fault_comes_before_the_lengths_in_it():
    row = "49 00004005 4e 0004 7400000001317400000005416461373774000000073130 2e353039366e740000000663616c6d3231"
    shown = inspect("pgoutput_message", "-", input=bytes.fromhex(row)).stdout
    assert "found     11 bytes more" in shown
    assert "lengths   body.after at byte 6 says 4; body.after[2].value.text at byte 25 says 7" in shown


def test_the_numbers_that_a_computed_length_follows_from_are_named():
    capture = bytearray((SAMPLES / "pcap_file" / "good.bin").read_bytes())
    capture[24 + 9] = 0x7F
    assert "lengths   " in (shown := inspect("pcap_file", "-", input=bytes(capture)).stdout)
    assert "first at byte 8 says 325" in shown

"""Capture files are read packet by packet, in every version that libpcap reads, up to the first damage."""

import io
import struct

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from conftest import GENERATED
from wireloom.cli.app import app
from wireloom_formats import pcap_file

US, NS, PATCHED = 0xA1B2C3D4, 0xA1B23C4D, 0xA1B2CD34
PACKETS = [(1700000000, 1000, b"\1\2\3", 60), (1700000001, 999, b"", 0), (1700000002, 0, b"abcd", 4)]
ETHERNET, USB, DBUS, EBHSCR = 1, 249, 231, 279


def capture(
    order: str = "<", magic: int = US, version: tuple[int, int] = (2, 4), link: int = ETHERNET, packets=PACKETS
) -> bytes:
    """A capture file; before version 2.3 the original length precedes the captured length."""
    made = struct.pack(f"{order}IHHiIII", magic, *version, 0, 0, 65535, link)
    extra = struct.pack(f"{order}IHBx", 2, 0x0800, 4) if magic == PATCHED else b""
    for seconds, fraction, data, length in packets:
        lengths = (length, len(data)) if version < (2, 3) or version[0] == 543 else (len(data), length)
        made += struct.pack(f"{order}4I", seconds, fraction, *lengths) + extra + data
    return made


def read(data: bytes) -> list[tuple[int, int, bytes, int]]:
    records = pcap_file.iter_parse(data)
    return [tuple(each.value[name] for name in ("seconds", "fraction", "data", "length")) for each in records]


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("magic", [US, NS, PATCHED])
@pytest.mark.parametrize("version", [(2, 0), (2, 1), (2, 2), (2, 3), (2, 4), (543, 0)])
def test_every_version_is_read_in_both_orders_of_bytes(order, magic, version):
    assert read(capture(order, magic, version)) == PACKETS


@pytest.mark.parametrize("order", ["<", ">"])
def test_lengths_of_version_2_3_may_be_swapped(order):
    whole = capture(order, version=(2, 2))
    assert read(whole[:4] + struct.pack(f"{order}HH", 2, 3) + whole[8:]) == PACKETS


@pytest.mark.parametrize("version", [(1, 2), (2, 5), (3, 0), (543, 1), (543, 4)])
def test_another_version_is_one_bad_record(version):
    (found,) = pcap_file.iter_parse(capture(version=version), on_error="skip")
    assert (found.error.code, found.error.path) == ("bad_version", "header.majorVersion")


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize(
    ("magic", "version"), [(US, (2, 4)), (NS, (2, 4)), (PATCHED, (2, 4)), (US, (2, 2)), (US, (543, 0))]
)
def test_what_was_read_is_written_again(order, magic, version):
    data = capture(order, magic, version, link=101)
    names = {US: "us", NS: "ns", PATCHED: "patched"}
    said = {"byteOrder": "little" if order == "<" else "big", "resolution": names[magic], "linkType": 101}
    said |= {"major": version[0], "minor": version[1], "snapLength": 65535}
    values = [each.value for each in pcap_file.iter_parse(data)]
    assert b"".join(pcap_file.CODEC.iter_build(values, **said)) == data


@pytest.mark.parametrize("missing", [1, 3, 4, 15, 19, 20])
def test_packets_before_a_cut_are_kept(missing):
    found = list(pcap_file.iter_parse(capture()[:-missing], on_error="skip"))
    assert [each.value["data"] for each in found if each.error is None] == [b"\1\2\3", b""]
    assert [each.error.code for each in found if each.error is not None] == (["truncated"] if missing < 20 else [])


@pytest.mark.parametrize(
    ("link", "kept", "code"),
    [
        (ETHERNET, 65536, None),  # more than the snap length
        (ETHERNET, 262144, None),
        (ETHERNET, 262145, "too_long"),
        (ETHERNET | 0xF4000000, 262145, "too_long"),  # beside a check sequence
        (EBHSCR, 262145, None),
        *((link, 262145, None) for link in (USB, DBUS, 220)),
        (EBHSCR, 8388609, "too_long"),
    ],
)
def test_packets_have_the_most_bytes_that_their_link_allows(link, kept, code):
    data = capture(link=link, packets=[*PACKETS, (0, 0, bytes(kept), kept)])
    *before, last = pcap_file.iter_parse(data, on_error="skip")
    assert len(before) == len(PACKETS)
    assert last.error is None if code is None else last.error.code == code


def test_a_whole_file_is_read_by_its_root():
    data = capture()
    (found,) = pcap_file.iter_parse(data, root="record", framing="none")
    assert found.value == pcap_file.parse(data, root="record")
    assert [packet["data"] for packet in found.value["packets"]] == [each[2] for each in PACKETS]
    assert pcap_file.build(found.value, root="record") == data


def test_columns_are_read_and_written_in_parts():
    (part,) = pcap_file.decode_stream(io.BytesIO(capture(">", NS)))
    assert part.settings["byteOrder"] == "big"
    assert [row["data"] for row in part.records.to_pylist()] == [each[2] for each in PACKETS]


def test_ingest_gives_a_row_a_packet_and_keeps_those_before_a_damage(tmp_path):
    for name, cut in (("whole", 0), ("cut", 1)):
        path = tmp_path / f"{name}.pcap"
        path.write_bytes(capture()[: len(capture()) - cut])
        asked = ["ingest", "--format", "pcap_file", "--input", str(path), "--output", str(tmp_path / name)]
        CliRunner().invoke(app, [*asked, "--engine", "local", "--out", str(GENERATED)])
        rows = pq.read_table(tmp_path / name / "records").to_pylist()
        assert [row["data"] for row in rows] == [each[2] for each in PACKETS][: 3 - cut]

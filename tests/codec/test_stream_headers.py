"""Streams with a file header whose values are parameters of the records."""

import importlib
import io
import struct
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml
from typer.testing import CliRunner

from conftest import ROOT, case_formats
from proof.modules import documents, generated, resolved
from wireloom.cli.app import app
from wireloom.demo.samples import samples, stream
from wireloom.ingest.files.finding import looked_up
from wireloom.ingest.files.ranges import Heads, even, parts
from wireloom.ingest.files.reading import part_records
from wireloom.ingest.job.batch import ingest
from wireloom.ingest.job.local import LocalEngine
from wireloom.ingest.plan import Job, Plan, Replay
from wireloom.ingest.quarantine.replay import replay
from wireloom.records import validating
from wireloom.records.transcode import Request
from wireloom.runtime.errors import DecodeError, EncodeError, ParameterError
from wireloom.runtime.streams.framing import framing_of

SPEC = ROOT / "tests" / "cases" / "framings" / "capture_packet.yaml"
MAGIC = {"us": 0xA1B2C3D4, "ns": 0xA1B23C4D}


@pytest.fixture(name="capture")
def _capture(case_package: ModuleType) -> Any:
    return importlib.import_module(f"{case_package.__name__}.capture_packet")


def header(order: str, unit: str, link: int, most: int = 65535) -> bytes:
    return struct.pack(f"{order}IHHxxxxxxxxII", MAGIC[unit], 2, 4, most, link)


def packet(order: str, number: int) -> bytes:
    data = bytes([number % 256]) * (number % 40)
    return struct.pack(f"{order}IIII", 1700000000 + number, number * 1000, len(data), len(data) + 1) + data


def file(order: str, unit: str, link: int, count: int = 300) -> bytes:
    return header(order, unit, link) + b"".join(packet(order, number) for number in range(count))


CAPTURES = [("<", "us", 1), (">", "us", 101), ("<", "ns", 1), (">", "ns", 7)]


@pytest.mark.parametrize(("order", "unit", "link"), CAPTURES)
@pytest.mark.parametrize("seekable", [True, False])
def test_records_are_read_with_what_the_header_of_their_file_says(
    capture: Any, order: str, unit: str, link: int, seekable: bool
) -> None:
    def source() -> Any:
        found = io.BytesIO(file(order, unit, link))
        if not seekable:
            found.seekable = lambda: False  # type: ignore[method-assign]
        return found

    read = list(capture.iter_parse(source()))
    assert [each.index for each in read] == list(range(300))
    assert [each.value["fraction"] for each in read] == [number * 1000 for number in range(300)]
    assert {each.value["medium"] for each in read} == {link}
    behind = 1 if unit == "ns" else 1000
    micros = [each.value["time"].microsecond for each in read]
    assert micros == [number * behind % 1_000_000 for number in range(300)]
    assert read[0].offset == 24
    found = list(capture.decode_stream(source()))
    assert [row for part in found for row in part.records.field("fraction").to_pylist()] == [
        each.value["fraction"] for each in read
    ]
    assert [place for part in found for place in part.offsets.to_pylist()] == [each.offset for each in read]
    assert [row for part in found for row in part.records.field("time").to_pylist()] == [
        each.value["time"] for each in read
    ]


@pytest.mark.parametrize(
    ("data", "code", "path"),
    [
        (b"GIF89a" + bytes(40), "bad_magic", "header.unit"),
        (header("<", "us", 1)[:10], "truncated", "header.reserved"),
    ],
)
def test_a_broken_header_costs_the_stream_and_says_where(capture: Any, data: bytes, code: str, path: str) -> None:
    (bad,) = capture.iter_parse(data, on_error="skip")
    assert (bad.error.code, bad.error.path, bad.offset, bad.size) == (code, path, 0, len(data))
    (part,) = capture.decode_stream(data)
    error = part.errors[0].as_py()
    assert (error["code"], error["path"], part.sizes.to_pylist()) == (code, path, [len(data)])
    with pytest.raises(DecodeError):
        list(capture.iter_parse(data))
    assert list(capture.iter_parse(b"")) == []


def test_a_damaged_record_behind_a_header_is_told_at_its_place_in_the_file(capture: Any) -> None:
    data = file("<", "us", 1, 3)[:-1]
    last = list(capture.iter_parse(data, on_error="skip"))[-1]
    assert (last.index, last.offset, last.error.code) == (2, 24 + 16 + 17, "truncated")
    with pytest.raises(DecodeError, match=r"record 2 at byte 57"):
        list(capture.iter_parse(data))


@pytest.mark.parametrize(("order", "unit", "link"), CAPTURES)
def test_each_part_of_a_file_is_read_with_the_values_of_its_header(
    capture: Any, tmp_path: Path, order: str, unit: str, link: int
) -> None:
    (tmp_path / "capture").write_bytes(file(order, unit, link, 2000))
    codec, plan = capture.CODEC, Plan(capture.__name__, capture.FORMAT, capture.MEANING)
    heads = Heads(codec, codec.root(None), codec.settings({}))
    found = list(parts(looked_up(str(tmp_path / "capture")), codec.framing, heads, even(10_000), numbered=True))
    assert len(found) > 3
    rows, places = [], []
    for part in found:
        for records, start in part_records(plan, capture, part):
            rows += records.records.to_pylist()
            places += [start + offset for offset in records.offsets.to_pylist()]
    whole = list(capture.iter_parse((tmp_path / "capture").read_bytes()))
    assert places == [each.offset for each in whole]
    assert [(row["seconds"], row["medium"], row["time"]) for row in rows] == [
        (each.value["seconds"], each.value["medium"], each.value["time"]) for each in whole
    ]


def test_writers_make_the_header_of_the_parameters_that_it_gives(capture: Any, tmp_path: Path) -> None:
    out, package = Path(capture.__file__).parents[2], capture.__name__.partition(".")[0]
    common = ["--out", str(out), "--package", package]
    run = CliRunner().invoke
    for order, unit, link in CAPTURES:
        (tmp_path / "in").write_bytes(file(order, unit, link, 20))
        lines = run(app, ["decode", "capture_packet", str(tmp_path / "in"), *common])
        assert lines.exit_code == 0, lines.output
        (tmp_path / "lines").write_text(lines.stdout)
        given = [
            "-p",
            f"byteOrder={'little' if order == '<' else 'big'}",
            "-p",
            f"resolution={unit}",
            "-p",
            f"linkType={link}",
        ]
        again = run(
            app, ["encode", "capture_packet", str(tmp_path / "lines"), "-o", str(tmp_path / "out"), *given, *common]
        )
        assert again.exit_code == 0, again.output
        assert (tmp_path / "out").read_bytes() == file(order, unit, link, 20)


def test_a_header_that_cannot_be_said_is_not_written(capture: Any) -> None:
    with pytest.raises(EncodeError):
        capture.CODEC.beginning(framing_of(capture.FRAMING), {"linkType": -1})


ORDER = {"oneOf": ["big", "little", "auto"], "default": "auto"}
WORD = {"oneOf": ["a", "b"], "default": "b"}


def headed(head: list[Any], gives: dict[str, str], framing: dict[str, Any], value: str, **said: Any) -> Any:
    """The module of a format whose streams begin with a header, which gives parameters."""
    document = {"wireloom": 1, "format": "proof", "title": "T", "encoding": "binary"}
    types = {"H": {"fields": head}, "R": {"fields": [{"v": value}]}, **said.pop("types", {})}
    framing = {"framing": {"header": "h", "gives": gives, "records": framing}}
    roots = {"roots": {"r": {"type": "R"}, "h": {"type": "H"}}}
    return generated(resolved(documents({"proof.yaml": {**document, **said, **framing, **roots, "types": types}})))


@pytest.mark.parametrize(
    ("parameter", "member", "begun"),
    [
        ({"oneOf": ["manual", "auto"], "default": "auto"}, {"type": "uint8", "values": {0: "manual", 1: "auto"}}, "01"),
        ({"oneOf": ["manual", "auto"], "default": "auto"}, {"at": "0..1", "values": {0: "manual", 1: "auto"}}, "01"),
        ({"type": "str", "default": "auto"}, "str(uint8)", "046175746f"),
        ({"oneOf": ["manual", "auto"], "default": "auto"}, {"at": "0..1", "values": {0: "manual"}}, ""),
    ],
)
def test_a_header_says_auto_of_a_parameter_that_is_no_byte_order(parameter: Any, member: Any, begun: str) -> None:
    at = isinstance(member, dict) and "at" in member
    head = {"all": {"type": "uint8", "hidden": True, "bits": {"mode": member}}} if at else {"mode": member}
    with headed([head], {"way": "mode"}, {"prefix": "uint8"}, "uint8", parameters={"way": parameter}) as made:
        if begun:
            assert b"".join(made.module.iter_build([{"v": 5}])).hex() == f"{begun}0105"
        else:
            with pytest.raises(EncodeError):
                list(made.module.iter_build([{"v": 5}]))


@pytest.mark.parametrize(("member", "begun"), [(["big", "little", "auto"], "02"), (["big", "little"], "00")])
def test_a_header_says_that_the_byte_order_is_open_where_it_can(member: list[str], begun: str) -> None:
    bits = {"mode": {"at": "0..7", "values": dict(enumerate(member))}}
    head = {"all": {"type": "uint8", "hidden": True, "bits": bits}}
    said = {"byteOrder": {"parameter": "order"}, "parameters": {"order": ORDER}}
    with headed([head], {"order": "mode"}, {"prefix": "uint8"}, "uint8", **said) as made:
        assert b"".join(made.module.iter_build([{"v": 5}])).hex() == f"{begun}0105"


@pytest.mark.parametrize(
    ("framing", "wanted"),
    [
        ("header:packets::concatenated", "no root 'packets'"),
        ("header:header:orders=order:concatenated", "no parameter 'orders'"),
        ("header:header:byteOrder=orders:concatenated", "no member 'orders'"),
        ("header:header:byteOrder=order", "framing must be one of"),
        ("header:header:byteOrder:lines", "framing must be one of"),
    ],
)
def test_a_header_that_the_format_does_not_have_is_refused(capture: Any, framing: str, wanted: str) -> None:
    with pytest.raises(ParameterError, match=wanted):
        capture.iter_parse(b"", framing=framing)


def test_samples_stand_behind_the_header_that_says_how_they_are_read(capture: Any) -> None:
    (format,) = (each for each in case_formats() if each.name == "capture_packet")
    made = samples(format, capture)
    assert len(made.good) == 120
    assert made.said == {"byteOrder": "little", "resolution": "ns", "snapLength": 65535, "linkType": 101}
    read = list(capture.iter_parse(stream(format.framing, made.good, made.header)))
    assert {each.value["medium"] for each in read} == {101}
    assert [each.data for each in read] == list(made.good)
    for data in made.damaged:
        found = list(capture.iter_parse(stream(format.framing, (*made.good[:2], data), made.header), on_error="skip"))
        assert [each.error is None for each in found[:2]] == [True, True]
    assert [capture.parse(data, **made.said)["medium"] for data in made.good[:3]] == [101] * 3


def test_validate_asks_what_is_wrong_with_a_record_as_the_header_says(
    capture: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, problems = [], validating._problems

    def noted(request: Request, *rest: Any, **more: Any) -> Any:
        asked.append(request.parameters)
        return problems(request, *rest, **more)

    monkeypatch.setattr(validating, "_problems", noted)
    request = Request(capture, None, None, {})
    found = validating.validate(request, io.BytesIO(file("<", "ns", 7, 4)[:-1]))
    (bad,) = (each for part in found for each in part.bad)
    assert (bad.index, bad.problems[0].expected, bad.problems[0].actual) == (3, "3 bytes", "2 left")
    assert asked == [{"byteOrder": "little", "resolution": "ns", "snapLength": 65535, "linkType": 7}]


@pytest.mark.parametrize("order", ["<", ">"])
def test_a_replay_reads_records_as_the_header_of_their_file_says(capture: Any, tmp_path: Path, order: str) -> None:
    (tmp_path / "in").mkdir()
    where, behind = tmp_path / "in" / "a", b"".join(packet(order, number) for number in range(5))
    where.write_bytes(header(order, "ns", 7, most=0) + behind)
    plan = Plan(capture.__name__, capture.FORMAT, capture.MEANING)

    def ingested(name: str) -> Replay:
        home = tmp_path / name
        assert ingest(LocalEngine(1), Job(plan, str(tmp_path / "in"), str(home))).quarantined == 1
        return Replay(replace(plan, framing="concatenated"), str(home / "quarantine"), str(home))

    def seen(asked: Replay) -> list[tuple[int, int, int]]:
        rows = pq.read_table(f"{asked.output}/records").to_pylist()
        return sorted((row["seconds"], row["medium"], row["_offset"]) for row in rows)

    whole = [
        (1700000000 + number, 7, 24 + len(b"".join(packet(order, at) for at in range(number)))) for number in range(5)
    ]
    there, gone, told = (ingested(name) for name in ("there", "gone", "told"))
    where.write_bytes(header(order, "ns", 7) + behind)
    assert replay(LocalEngine(1), there).summary.decoded == 4
    assert seen(there) == whole
    where.unlink()
    assert replay(LocalEngine(1), gone).summary.quarantined == 1, "nobody knows any more how it is read"
    assert seen(gone) == whole[:1]
    given = (
        ("byteOrder", {"<": "little", ">": "big"}[order]),
        ("resolution", "ns"),
        ("snapLength", 100),
        ("linkType", 7),
    )
    assert replay(LocalEngine(1), replace(told, plan=replace(told.plan, parameters=given))).summary.decoded == 4
    assert seen(told) == whole


@pytest.mark.parametrize("framing", [None, "concatenated"])
def test_a_replay_takes_no_header_that_cannot_be_read_for_a_record(
    capture: Any, tmp_path: Path, framing: str | None
) -> None:
    """Nor a header without records after it."""
    (tmp_path / "in").mkdir()
    good = header("<", "ns", 7)
    for name, data in {"a": b"\0" * 16 + packet("<", 0), "b": good[:9], "c": good}.items():
        (tmp_path / "in" / name).write_bytes(data)
    plan = Plan(capture.__name__, capture.FORMAT, capture.MEANING)

    def codes() -> list[tuple[str, int]]:
        rows = pq.read_table(f"{tmp_path}/out/quarantine").to_pylist()
        return sorted((row["code"], row["_offset"]) for row in rows)

    assert ingest(LocalEngine(1), Job(plan, str(tmp_path / "in"), str(tmp_path / "out"))).quarantined == 2
    before = codes()
    asked = Replay(replace(plan, framing=framing), str(tmp_path / "out" / "quarantine"), str(tmp_path / "out"))
    assert replay(LocalEngine(1), asked).summary.decoded == 0
    assert codes() == before


def test_a_replay_looks_for_no_header_where_the_tables_were_made_without(capture: Any, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    where = tmp_path / "in" / "a"
    where.write_bytes(packet("<", 5) + packet("<", 15))
    plan = replace(Plan(capture.__name__, capture.FORMAT, capture.MEANING), framing="concatenated")

    def told(most: int) -> Plan:
        return replace(plan, parameters=(("byteOrder", "little"), ("resolution", "ns"), ("snapLength", most)))

    assert ingest(LocalEngine(1), Job(told(10), str(tmp_path / "in"), str(tmp_path / "out"))).quarantined == 1
    where.write_bytes(header(">", "us", 1, most=1))
    asked = Replay(told(100), str(tmp_path / "out" / "quarantine"), str(tmp_path / "out"))
    assert replay(LocalEngine(1), asked).summary.decoded == 1
    rows = pq.read_table(f"{tmp_path}/out/records").to_pylist()
    assert sorted((row["seconds"], row["medium"]) for row in rows) == [(1700000005, 1), (1700000015, 1)]


WORDS = "values: {1: a, 2: b, 3: c}"
SAYING = {
    "a word": (f"[{{k: uint8}}, {{w: {{type: uint8, {WORDS}}}}}]", "0103", "h.w", 1),
    "bits": (
        f"[{{k: uint8}}, {{f: {{type: uint8, hidden: true, bits: {{w: {{at: 0..1, {WORDS}}}}}}}}}]",
        "0103",
        "h.f.w",
        1,
    ),
    "a field of another name": (f"[{{k: uint8}}, {{x: {{type: uint8, as: w, {WORDS}}}}}]", "0103", "h.x", 1),
    "a field of a flattened struct": ("[{k: uint16}, {f: {type: F, flatten: true}}]", "00010103", "h.f.w", 3),
    "a text": ("[{w: str(uint8)}]", "0164", "h.w", 0),
    "what is not there": ("[{k: uint8}, {w: {type: str(uint8), when: k == 2}}]", "01", "h.w", 1),
    "one of two": (
        "[{k: uint8}, {w: {type: str(1), when: k == 2}}, {x: {type: str(1), when: k == 1, as: w}}]",
        "0164",
        "h.x",
        1,
    ),
    "what is computed": ("[{k: uint8}, {w: {compute: \"k == 1 ? 'x' : 'a'\", type: str}}]", "01", "h.w", 1),
}


@pytest.mark.parametrize(("fields", "data", "path", "offset"), SAYING.values(), ids=SAYING)
def test_a_member_that_says_what_the_parameter_may_not_be_is_the_error(
    fields: str, data: str, path: str, offset: int
) -> None:
    types = {}
    if "F" in fields:
        types["F"] = yaml.safe_load(f"{{fields: [{{j: uint8}}, {{w: {{type: uint8, {WORDS}}}}}]}}")
    said = {"parameters": {"w": WORD}, "types": types}
    with headed(yaml.safe_load(fields), {"w": "w"}, {"delimiter": "0a"}, "bytes", **said) as made:
        stream = bytes.fromhex(data) + b"v\n"
        (bad,) = made.module.iter_parse(stream, on_error="skip")
        assert (bad.error.code, bad.error.path, bad.error.offset) == ("unknown_value", path, offset)
        assert bad.error.expected == "one of a, b (parameter w)"
        assert bad.error.actual in ("'c'", "'d'", "'x'", "null")
        (part,) = made.module.decode_stream(stream)
        (error,) = part.errors.to_pylist()
        assert (error["code"], error["path"], error["offset"]) == ("unknown_value", path, offset)


@pytest.mark.parametrize("data", ["020101000300", "010200010003"], ids=["little", "big"])
def test_such_a_member_is_the_error_in_the_byte_order_that_the_header_has(data: str) -> None:
    mark = {"m": {"type": "uint16", "const": 0x0102, "hidden": True}}
    word = {"w": {"type": "uint16", "values": {1: "a", 2: "b", 3: "c"}}}
    said = {"byteOrder": {"parameter": "order"}, "parameters": {"w": WORD, "order": ORDER}}
    head = [mark, {"k": "uint16"}, word]
    with headed(head, {"w": "w"}, {"delimiter": "0a"}, "bytes", **said) as made:
        (bad,) = made.module.iter_parse(bytes.fromhex(data) + b"v\n", on_error="skip")
        assert (bad.error.code, bad.error.path, bad.error.offset) == ("unknown_value", "h.w", 4)

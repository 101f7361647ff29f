"""Splitting files: the records and errors of the parts are those of the whole file, however damaged."""

import random

import pytest

from support.databus_events import LONG_KEY
from support.drawing import drawn
from wireloom.failures import DataError
from wireloom.ingest.files import ranges as source_ranges
from wireloom.ingest.files.compression import Bounds
from wireloom.ingest.files.finding import Listing
from wireloom.ingest.plan import Plan
from wireloom.runtime.streams.framed import iterate
from wireloom.runtime.streams.framing import framing_of
from wireloom.spark.options import Options
from wireloom.spark.source.read import batches, portions, reading
from wireloom.spark.source.schema import offer
from wireloom_formats import aerospike_msgpack, databus_event, databus_json

pytestmark = pytest.mark.drawing
LINES = framing_of("lines")

PLACE = ["_record", "_offset", "_error", "_corrupt_record"]
DELETE = bytes.fromhex("9301029594a474657374c0c414000102030405060708090a0b0c0d0e0f10111213c00104c0c0")


HEADS = source_ranges.Heads(databus_json.CODEC, databus_json.CODEC.root(None), databus_json.CODEC.settings({}))


def events(count):
    value = databus_event.parse(LONG_KEY)
    return [databus_event.build({**value, "sequence": n, "value": b"v" * (n * 37 % 400)}) for n in range(count)]


def lines(count):
    lacking = {"opcodeAmbiguous", "attributes", "headerCrc", "valueCrc", "length"}  # lines do not say them
    value = {name: each for name, each in databus_event.parse(LONG_KEY).items() if name not in lacking}
    return [databus_json.build({**value, "sequence": n}) for n in range(count)]


def framed(records, framing):
    match framing:
        case "length-prefixed":
            return b"".join(len(record).to_bytes(4, "big") + record for record in records)
        case "lines":
            return b"".join(record + b"\n" for record in records)
        case _:
            return b"".join(records)


def read_of(module, framing, columns, **parameters):
    options = Options("PERMISSIVE", framing=framing, parameters=tuple(parameters.items()))
    plan = Plan(module.__name__, module.FORMAT, module.DIGEST, None, framing, options.parameters)
    offered = offer(module, options)
    from pyspark.sql.types import StructType

    return reading(module, plan, options, StructType([offered.field(name) for name in columns]))


def rows_of(module, read, path, target):
    found = portions(read, module, Listing((str(path),)).files(), target)
    return found, [row for portion in found for batch in batches(read, portion.parts) for row in batch.to_pylist()]


def damaged(data, chance):
    """Bytes with some of them changed, cut out or added, and perhaps the end broken off."""
    changed = bytearray(data)
    for _ in range(chance.randrange(4)):
        at = chance.randrange(len(changed))
        match chance.randrange(3):
            case 0:
                changed[at] ^= 1 << chance.randrange(8)
            case 1:
                del changed[at : at + chance.randrange(1, 60)]
            case _:
                changed[at:at] = chance.randbytes(chance.randrange(1, 60))
    return bytes(changed[: chance.randrange(len(changed))] if chance.random() < 0.3 else changed)


@pytest.mark.parametrize("seed", range(drawn(2)))
@pytest.mark.parametrize(
    ("module", "framing", "parameters"),
    [
        (databus_event, "concatenated", {}),
        (databus_event, "concatenated", {"byteOrder": "auto"}),
        (databus_event, "length-prefixed", {}),
        (databus_json, "lines", {}),
        (aerospike_msgpack, "concatenated", {}),
    ],
    ids=lambda value: getattr(value, "FORMAT", str(value)),
)
def test_the_rows_of_the_parts_are_those_of_the_file(  # noqa: PLR0913 - fixtures and cases
    tmp_path, monkeypatch, module, framing, parameters, seed
):
    monkeypatch.setattr(source_ranges, "HEAD", 150)
    monkeypatch.setattr(source_ranges, "WINDOW", 64)
    chance = random.Random(seed)  # noqa: S311 - a test's
    records = {databus_event: events, databus_json: lines}.get(module, lambda count: [DELETE] * count)(120)
    data = framed(records, framing)
    path = tmp_path / "data"
    path.write_bytes(damaged(data, chance) if seed else data)
    names = [name for name in PLACE if name != "_record" or framing != "lines"]
    read = read_of(module, framing, [*module.struct_type(root=module.CODEC.default_root).names, *names], **parameters)
    (whole,), expected = rows_of(module, read, path, 1 << 30)
    parts, found = rows_of(module, read, path, 2_000)
    assert len(whole.parts) == 1
    assert len(parts) > 2 or seed  # damage may leave one part
    assert found == expected


def test_heads_are_read_and_bodies_are_not(tmp_path, monkeypatch):
    big = [
        databus_event.build({**databus_event.parse(LONG_KEY), "sequence": n, "value": bytes(1 << 20)}) for n in range(8)
    ]
    (tmp_path / "data").write_bytes(b"".join(big))
    read_bytes = []
    window = source_ranges._window
    monkeypatch.setattr(source_ranges, "HEAD", 4096)
    monkeypatch.setattr(source_ranges, "_window", lambda *given: read_bytes.append(given[2]) or window(*given))
    read = read_of(databus_event, "concatenated", ["sequence"])
    parts, rows = rows_of(databus_event, read, tmp_path / "data", 2 << 20)
    assert [row["sequence"] for row in rows] == list(range(8))
    assert len(parts) == 4
    assert sum(read_bytes) <= 8 * 4096


def test_small_records_that_heads_would_not_help_with_leave_the_file_whole(tmp_path, monkeypatch):
    (tmp_path / "data").write_bytes(LONG_KEY * 1000)
    monkeypatch.setattr(source_ranges, "HEADS", 400)
    read = read_of(databus_event, "concatenated", ["sequence"])
    parts, rows = rows_of(databus_event, read, tmp_path / "data", 400 * len(LONG_KEY) + 1)
    assert (len(parts), len(rows)) == (1, 1000)


@pytest.mark.parametrize("target", [7, 64, 999])
def test_lines_are_read_once_wherever_the_borders_fall(tmp_path, target):
    chance = random.Random(target)  # noqa: S311 - a test's
    data = b"".join(b"%d" % n * chance.randrange(9) + chance.choice([b"\n", b"\r\n", b"\n\n"]) for n in range(200))
    (tmp_path / "data").write_bytes(data + b"last")
    (file,) = Listing((str(tmp_path),)).files()
    found = []
    for part in source_ranges.parts(file, "lines", HEADS, source_ranges.even(target), numbered=False):
        with file.place.open() as source:
            section, start = source_ranges.opened(source, part, "lines", Bounds())
            found += [(start + each.offset, each.data) for each in iterate(_Bytes(), section, LINES, "skip")]
    assert found == [(each.offset, each.data) for each in iterate(_Bytes(), data + b"last", LINES, "skip")]


class _Bytes:
    def read_all(self, data):
        return data


def test_numbered_lines_and_files_of_one_record_stay_whole(tmp_path):
    (tmp_path / "data").write_bytes(b"{}\n" * 1000)
    (file,) = Listing((str(tmp_path),)).files()
    for framing in ("lines", "none"):
        assert len(list(source_ranges.parts(file, framing, HEADS, source_ranges.even(100), numbered=True))) == 1


def test_small_files_are_read_together(tmp_path):
    for number in range(100):
        (tmp_path / f"{number:03}").write_bytes(LONG_KEY)
    read = read_of(databus_event, "concatenated", ["_source"])
    parts, rows = rows_of(databus_event, read, tmp_path, 32 << 20)
    assert [len(portion.parts) for portion in parts] == [32, 32, 32, 4]
    assert [row["_source"][-3:] for row in rows] == [f"{number:03}" for number in range(100)]


def test_a_file_that_grew_since_it_was_listed_is_refused(tmp_path):
    (tmp_path / "data").write_bytes(LONG_KEY)
    read = read_of(databus_event, "concatenated", ["sequence"])
    found = portions(read, databus_event, Listing((str(tmp_path),)).files(), 1 << 20)
    (tmp_path / "data").write_bytes(LONG_KEY * 2)
    with pytest.raises(DataError, match="had 63 bytes when it was listed, and has 126 now"):
        list(batches(read, found[0].parts))


def test_the_decoder_is_asked_for_the_columns_of_the_schema_alone(tmp_path, monkeypatch):
    (tmp_path / "data").write_bytes(LONG_KEY)
    asked = []
    decode = type(databus_event.CODEC).decode_stream
    monkeypatch.setattr(
        type(databus_event.CODEC),
        "decode_stream",
        lambda self, source, columns=None, **rest: asked.append(columns) or decode(self, source, columns, **rest),
    )
    read = read_of(databus_event, "concatenated", ["_offset", "sequence"])
    assert rows_of(databus_event, read, tmp_path, 1 << 20)[1] == [{"_offset": 0, "sequence": 100}]
    read = read_of(databus_event, "concatenated", ["_source"])
    assert len(rows_of(databus_event, read, tmp_path, 1 << 20)[1]) == 1
    assert asked == [("sequence",), ()]

"""With resync, a stream continues after a damaged record at the next one that proves itself."""

import importlib
import io
import random
import sys
from dataclasses import replace

import pytest

from support.databus_events import LONG_KEY
from support.databus_events import noisy as record
from wireloom import pipeline
from wireloom.ingest.files.finding import looked_up
from wireloom.ingest.files.ranges import Heads, Part, even
from wireloom.ingest.files.ranges import parts as cut
from wireloom.ingest.files.records import ranges_of
from wireloom.ingest.plan import Plan
from wireloom.project import Project
from wireloom.runtime.errors import ParameterError
from wireloom.runtime.streams import framed, parts
from wireloom_formats import databus_event

CHANCE = random.Random(7)  # noqa: S311 - no secret


def joined(records, framing):
    prefixed = framing == "length-prefixed"
    return b"".join((len(each).to_bytes(4, "big") if prefixed else b"") + each for each in records)


def seen(data, framing="concatenated", module=databus_event, **options):
    """The numbers of the good records, and offset, size and code of the bad ones; by parser and engine alike."""
    by_parser = list(module.iter_parse(data, framing=framing, on_error="skip", **options))
    good = [each.value["sequence"] for each in by_parser if each.error is None]
    bad = [(each.offset, each.size, each.error.code) for each in by_parser if each.error is not None]
    found = list(module.decode_stream(io.BytesIO(data), framing=framing, **options))
    rows = [(row, part.offsets[at].as_py(), part.sizes[at].as_py(), part.errors[at].as_py())
            for part in found for at, row in enumerate(part.records.to_pylist())]  # fmt: skip
    assert [row["sequence"] for row, _, _, error in rows if error is None] == good
    assert [(offset, size, error["code"]) for _, offset, size, error in rows if error] == bad
    assert [each.data for each in by_parser if each.error] == [
        raw.as_py() for part in found for raw in part.raw if raw.is_valid
    ]
    return good, bad


@pytest.fixture(params=[8 << 20, 700], ids=["one window", "small windows"])
def window(request, monkeypatch):
    monkeypatch.setattr(parts, "WINDOW", request.param)
    monkeypatch.setattr(framed, "_WINDOW", request.param)


@pytest.mark.parametrize("framing", ["concatenated", "length-prefixed"])
def test_a_flipped_header_byte_in_each_tenth_costs_its_record_alone(window, framing):
    made = [record(number) for number in range(200)]
    hurt = [number * 20 + 7 for number in range(10)]
    places = (2, 6, 7, 8, 12, 50, 1, 60, 20, 30) if framing == "concatenated" else (-4, -3, -2, -1, 0, 2, 6, 7, 8, 30)
    data, offsets = bytearray(joined(made, framing)), [0]
    width = len(made[0]) + (4 if framing == "length-prefixed" else 0)
    for number, place in zip(hurt, places, strict=True):
        data[number * width + (width - len(made[0])) + place] ^= 0x41
    offsets = [number * width + width - len(made[0]) for number in hurt]
    good, bad = seen(bytes(data), framing, resync=True)
    assert good == sorted(set(range(200)) - set(hurt))
    assert [offset for offset, _, _ in bad] == offsets
    lost, rest = seen(bytes(data), framing)
    assert len(lost) < 190
    assert len(rest) >= 1


@pytest.mark.thorough
def test_a_megabyte_of_garbage_is_one_bad_record_with_its_range():
    before, behind = (joined([record(number) for number in numbers], "") for numbers in (range(50), range(50, 100)))
    for garbage in (CHANCE.randbytes(1 << 20), bytes(1 << 20), b"\x02" * (1 << 20)):
        good, bad = seen(before + garbage + behind, resync=True)
        assert good == list(range(100))
        assert [(offset, size) for offset, size, _ in bad] == [(len(before), len(garbage))]


def test_garbage_at_either_end_and_nothing_but_garbage(window):
    noise, made = CHANCE.randbytes(5000), joined([record(1), record(2)], "")
    assert seen(noise + made, resync=True)[0] == [1, 2]
    assert seen(made + noise, resync=True) == ([1, 2], [(len(made), len(noise), "bad_version")])
    good, bad = seen(noise, resync=True)
    assert (good, sum(size for _, size, _ in bad)) == ([], len(noise))


def test_garbage_beyond_the_largest_record_is_skipped_in_pieces(monkeypatch):
    for module in (framed, parts):
        monkeypatch.setattr(module, "WINDOW" if module is parts else "_WINDOW", 1000)
    monkeypatch.setattr("wireloom.runtime.streams.resync.LARGEST", 4000)
    monkeypatch.setattr(framed, "LARGEST", 4000)
    noise, made = CHANCE.randbytes(30_000), joined([record(number) for number in range(30)], "")
    good, bad = seen(made[:1010] + noise + made[1010:], resync=True)
    assert good == list(range(30))
    assert (bad[0][0], sum(size for _, size, _ in bad)) == (1010, len(noise))
    assert max(size for _, size, _ in bad) <= 4000


def test_a_bad_value_behind_a_head_that_holds_is_a_bad_record_of_its_own(window):
    made = [bytearray(record(number)) for number in range(10)]
    for number in (4, 5):
        made[number][-1] ^= 1
    good, bad = seen(joined(made, ""), resync=True)
    assert good == [0, 1, 2, 3, 6, 7, 8, 9]
    assert [code for _, _, code in bad] == ["value_crc", "value_crc"]


def test_two_bad_records_behind_sound_prefixes_stay_two(window):
    made = [bytearray(record(number)) for number in range(10)]
    for number in (4, 5):
        made[number][30] ^= 1
    good, bad = seen(joined(made, "length-prefixed"), "length-prefixed", resync=True)
    assert (good, len(bad)) == ([0, 1, 2, 3, 6, 7, 8, 9], 2)


def test_streams_that_cannot_lose_their_way_are_refused():
    with pytest.raises(ParameterError, match="not with lines"):
        databus_event.CODEC.iter_parse(b"", framing="lines", resync=True)


CONSTANT = """
wireloom: 1
format: boxed
title: Boxes with a magic number and a size
encoding: binary
framing: concatenated
root: Box
types:
  Box:
    fields:
      - magic: {type: uint32, const: 0xCAFEF00D, hidden: true}
      - sequence: uint16
      - length: {type: uint16, derive: size, hidden: true}
      - frame: length
      - content: bytes
"""


@pytest.fixture(scope="module")
def boxed(tmp_path_factory):
    """Formats with a constant and a size, and a weak checksum; each module by a name of its own."""
    home = tmp_path_factory.mktemp("boxed")
    (home / "specs").mkdir()
    (home / "specs" / "boxed.yaml").write_text(CONSTANT)
    (home / "specs" / "summed.yaml").write_text(SUMMED)
    (home / "specs" / "bare.yaml").write_text(BARE)
    pipeline.generate(Project(home / "specs", home / "out", "resync_formats"))
    sys.path.insert(0, str(home / "out"))
    yield lambda name: importlib.import_module(f"resync_formats.{name}")
    sys.path.remove(str(home / "out"))


SUMMED = """
wireloom: 1
format: summed
title: Records behind their sizes, with a CRC of 16 bits
encoding: binary
framing: length-prefixed
checksums:
  crc16: {width: 16, poly: 0x1021, init: 0xFFFF, xorout: 0, reflected: false, check: 0x29B1}
errors: {bad_sum: The checksum does not match.}
root: Sum
types:
  Sum:
    fields:
      - sequence: uint16
      - crc: {type: uint16, checksum: crc16, over: 4 .. end, else: bad_sum, hidden: true}
      - content: bytes
      - mark: end
      - verify: {field: crc}
"""
BARE = """
wireloom: 1
format: bare
title: A size and its bytes
encoding: binary
framing: concatenated
root: Bare
types:
  Bare:
    fields:
      - length: {type: uint16, derive: size, hidden: true}
      - frame: length
      - content: bytes
"""


@pytest.mark.parametrize("name", ["boxed", "summed"])
def test_a_constant_and_a_size_or_a_weak_checksum_count_where_two_follow_one_another(boxed, name, window):
    module, framing = boxed(name), boxed(name).CODEC.framing
    made = [module.build({"sequence": number, "content": bytes([65 + number]) * 30}) for number in range(40)]
    head = 4 if framing == "length-prefixed" else 0
    data = bytearray(joined(made, framing))
    width = head + len(made[0])
    data[10 * width + 1] ^= 0x41  # the size before the record, or the constant
    data[20 * width + (2 if name == "boxed" else 8)] ^= 0x11  # the constant again, or what is summed
    good, bad = seen(bytes(data), framing, module, resync=True)
    assert good == sorted(set(range(40)) - {10, 20})
    assert [offset for offset, _, _ in bad] == [10 * width + head, 20 * width + head]
    noise = CHANCE.randbytes(3000)
    good, bad = seen(joined(made[:5], framing) + noise + joined(made[5:], framing), framing, module, resync=True)
    assert (good, sum(size for _, size, _ in bad)) == (list(range(40)), len(noise) - (head if len(bad) else 0))


def test_a_format_that_proves_nothing_is_refused(boxed):
    with pytest.raises(ParameterError, match="cannot find the start of a record of bare"):
        boxed("bare").CODEC.iter_parse(b"", resync=True)
    assert boxed("boxed").CODEC.root(None).beginnings == {b"\xca\xfe\xf0\x0d"}


def test_without_the_checksum_the_records_that_have_a_magic_number_are_found():
    """Of one version, that is: the other has nothing to be found by."""
    second = databus_event.build({
        **{name: value for name, value in databus_event.parse(LONG_KEY).items()
           if name in ("key", "sequence", "physicalPartitionId", "timestampInNanos", "srcId", "opcode")},
        "version": 2, "trace": False, "replicated": False, "value": b"abc", "schemaId": bytes(16),
        "schemaDigestType": "MD5", "schemaVersion": 1,
    })  # fmt: skip
    assert seen(second * 3 + b"noise" * 9 + second * 3, resync=True, verifyCrc=False)[0] == [100] * 6


# --- in ingest -----------------------------------------------------------------------------------------------------


def test_parts_of_a_file_have_the_records_and_errors_of_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr(parts, "WINDOW", 5000)
    for framing in ("concatenated", "length-prefixed"):
        for seed in range(5):
            chance = random.Random(seed)  # noqa: S311 - the same
            data = bytearray(joined([record(number, chance.randrange(200)) for number in range(300)], framing))
            for _ in range(8):
                at = chance.randrange(len(data))
                data[at : at + chance.choice((0, 0, 5))] = chance.randbytes(chance.choice((1, 1, 40, 900)))
            path = tmp_path / f"{framing}{seed}"
            path.write_bytes(data)
            plan = Plan("wireloom_formats.databus_event", "databus_event", databus_event.DIGEST, framing=framing)
            plan = replace(plan, resync=True)
            file = looked_up(str(path))
            codec = databus_event.CODEC
            heads = Heads(codec, codec.root(None), codec.settings({}), resync=True)
            split = list(cut(file, framing, heads, even(4000), numbered=True))
            found = [row for part in ranges_of(plan, split) for row in _places(part)]
            whole = [row for part in ranges_of(plan, [Part(file, 0, file.size, 0)]) for row in _places(part)]
            assert sorted(found) == sorted(whole)
            assert len(split) > 4


def _places(part):
    good = [(row["_record"], row["_offset"], "", 0) for row in part.rows.to_pylist()]
    return good + [(row["_record"], row["_offset"], row["code"], row["raw_size"]) for row in part.bad.to_pylist()]

"""Compression codecs, and compressed regions in batches, streams and damaged data."""
# ruff: noqa: S311 - no secrets are made

import gzip
import importlib
import random
import tracemalloc
import zlib
from contextlib import suppress

import pyarrow as pa
import pytest

from wireloom import pipeline
from wireloom.examples.memory import opened
from wireloom.runtime import engine as engines
from wireloom.runtime.errors import DecodeError
from wireloom.runtime.primitives.packing import CODECS, NAMES, ExpansionError, PackingError, packed, unpacked

CONTENTS = (b"", b"a", b"hello " * 5000, random.Random(1).randbytes(70_000))
COMPRESSIONS = tuple(name for name in NAMES if name != "none")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("content", CONTENTS, ids=len)
def test_a_codec_reads_its_own_output(name, content):
    assert unpacked(name, packed(name, content), len(content)) == content


@pytest.mark.parametrize("name", NAMES)
def test_equal_content_gives_equal_bytes(name):
    assert packed(name, CONTENTS[2]) == packed(name, bytes(bytearray(CONTENTS[2])))


@pytest.mark.parametrize("name", NAMES)
def test_more_than_there_may_be_is_refused(name):
    with pytest.raises(ExpansionError):
        unpacked(name, packed(name, CONTENTS[2]), len(CONTENTS[2]) - 1)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("limit", [(1 << 63) - 2, (1 << 63) - 1, 1 << 70])
def test_a_limit_may_be_beyond_what_codecs_can_be_asked_for(name, limit):
    assert unpacked(name, packed(name, CONTENTS[2]), limit) == CONTENTS[2]


@pytest.mark.parametrize("name", COMPRESSIONS)
def test_truncated_data_are_damaged(name):
    data = packed(name, CONTENTS[2])
    for end in (1, len(data) // 2 + 1, len(data) - 1):
        with pytest.raises(PackingError):
            unpacked(name, data[:end] if name.lower() != "hex" else data[: end // 2 * 2 + 1])


@pytest.mark.parametrize("name", COMPRESSIONS)
def test_damaged_data_leak_no_memory(name):
    damaged = packed(name, bytes(range(256)) * 8)[:-1]
    tracemalloc.start()
    try:
        for _ in range(20):
            with suppress(PackingError):
                unpacked(name, damaged)
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 1 << 20


@pytest.mark.parametrize("name", COMPRESSIONS)
def test_bytes_that_turned_are_damaged_or_others(name):
    """Never a crash, and never the content where the codec has a checksum of it."""
    source, data = random.Random(2), packed(name, CONTENTS[2])
    for _ in range(300):
        altered = bytearray(data)
        altered[source.randrange(len(altered))] ^= 1 << source.randrange(8)
        try:
            assert len(unpacked(name, bytes(altered), 1 << 20)) <= 1 << 20
        except (PackingError, ExpansionError):
            continue


def test_a_bomb_is_refused_before_it_grows():
    bomb = zlib.compress(bytes(1 << 26), 9)
    with pytest.raises(ExpansionError):
        unpacked("zlib", bomb, 1 << 16)


def test_a_snappy_block_that_claims_gigabytes_is_damaged():
    with pytest.raises(PackingError):
        unpacked("snappy", b"\xff\xff\xff\xff\x0f\x00", 1 << 40)


def test_gzip_may_have_several_members_but_nothing_after_them():
    two = gzip.compress(b"one") + gzip.compress(b"two")
    assert unpacked("gzip", two) == b"onetwo"
    with pytest.raises(PackingError):
        unpacked("gzip", two + b"\x00")


def test_only_codecs_with_a_text_name_their_damage_otherwise():
    assert {codec.damaged for codec in CODECS.values()} == {"bad_compression", "bad_base64", "bad_hex"}


def records(codec, count):
    """Values of the case, one way of packing after the other."""
    for number in range(count):
        body = {"name": f"n{number}", "points": [{"x": number % 100, "y": -1}] * (number % 7), "rest": b"abc" * 9}
        yield codec.build({"codec": number % len(NAMES), "id": 1, "body": body, "note": "é", "after": 7})


def test_a_batch_of_many_compressed_regions_is_decoded_as_parsed(case_package):
    codec = importlib.import_module(f"{case_package.__name__}.packed_regions").CODEC
    data = list(records(codec, 300))
    decoded = codec.decode(pa.array(data, pa.binary()))
    assert decoded.reread == 0 or not str(codec.decode_path()).startswith("native")
    assert [row["body"] for row in decoded.records.to_pylist()] == [codec.parse(each)["body"] for each in data]


def test_columns_after_a_compressed_region_can_be_selected_without_it(case_package):
    codec = importlib.import_module(f"{case_package.__name__}.packed_regions").CODEC
    data = list(records(codec, 30))
    decoded = codec.decode(pa.array(data, pa.binary()), ["after"])
    assert decoded.records.to_pylist() == [{"after": 7}] * 30


def test_damaged_regions_are_the_records_own_errors(case_package):
    codec = importlib.import_module(f"{case_package.__name__}.packed_regions").CODEC
    source, good = random.Random(3), list(records(codec, 20))
    damaged = []
    for _ in range(200):
        data = bytearray(source.choice(good))
        data[source.randrange(len(data))] ^= 1 << source.randrange(8)
        damaged.append(bytes(data))
    decoded = codec.decode(pa.array(damaged, pa.binary()))
    for data, row, error in zip(damaged, decoded.records.to_pylist(), decoded.errors.to_pylist(), strict=True):
        try:
            wanted = codec.parse(data)
        except DecodeError as refused:
            assert (error["code"], error["path"], error["offset"]) == (refused.code, refused.path, refused.offset)
        else:
            assert row["body"] == wanted["body"]


LISTED = """
wireloom: 1
format: listed
title: Digests in a list that is packed
encoding: binary
root: Record
types:
  Record:
    fields:
      - items: {type: list(Item), size: uint16, unpack: gzip}
  Item:
    fields:
      - text: str(uint8)
      - mark: end
      - digest: {type: bytes(16), checksum: md5, over: 0 .. end, else: bad_digest, hidden: true}
      - verify: {field: digest}
errors: {bad_digest: The digest does not match.}
"""


def test_digests_of_a_list_in_a_region_are_held_before_what_it_unpacks_to_is_gone(tmp_path):
    (tmp_path / "listed.yaml").write_text(LISTED, encoding="utf-8")
    (format,) = pipeline.formats(tmp_path)
    with opened({format.name: pipeline.emit(format)}) as modules:
        codec = modules[format.name].CODEC
        if engines.available():
            assert codec.decode_path().native
        data = codec.build({"items": [{"text": "one"}, {"text": "two"}]})
        assert codec.decode([data]).records.to_pylist() == [{"items": [{"text": "one"}, {"text": "two"}]}]


RATIO = """
wireloom: 1
format: swelling
title: Two regions that are unpacked, the second within the first
encoding: binary
parameters: {most: {type: int, default: null, doc: How many times its bytes}}
limits: {ratio: most}
root: R
types:
  R: {fields: [{length: uint32}, {a: {type: A, size: length, unpack: zlib}}]}
  A: {fields: [{length: uint32}, {b: {type: B, size: length, unpack: zlib}}]}
  B: {fields: [{rest: bytes}]}
"""


def swelling(size: int, beside: int) -> bytes:
    """So many zeros, and random bytes beside them that no codec makes smaller."""
    inner = zlib.compress(bytes(size) + random.Random(3).randbytes(beside))
    outer = zlib.compress(len(inner).to_bytes(4, "big") + inner)
    return len(outer).to_bytes(4, "big") + outer


@pytest.mark.parametrize(
    ("size", "beside", "most", "code"),
    [
        (1 << 20, 0, 2, "size_limit"),  # the bytes of the first region count, too
        ((1 << 20) - 10_000, 0, 2, None),
        (1 << 20, 50_000, 3, None),  # each level has these bytes
        (1 << 20, 50_000, 1, "size_limit"),
        (1 << 21, 0, 100_000, None),
        (1 << 21, 0, 0, "size_limit"),
        (1 << 21, 0, None, None),
    ],
)
def test_a_record_unpacks_to_so_many_times_its_bytes(tmp_path, size, beside, most, code):
    (tmp_path / "swelling.yaml").write_text(RATIO, encoding="utf-8")
    (format,) = pipeline.formats(tmp_path)
    data = swelling(size, beside)
    with opened({format.name: pipeline.emit(format)}) as modules:
        codec = modules[format.name].CODEC
        decoded = codec.decode(pa.array([data], pa.binary()), most=most)
        assert decoded.errors.field("code").to_pylist() == [code]
        try:
            codec.parse(data, most=most)
        except DecodeError as error:
            assert (error.code, error.path, error.offset) == (code, "a.b", 4)
            assert "ratio" in error.expected
        else:
            assert (code, decoded.reread) == (None, 0)

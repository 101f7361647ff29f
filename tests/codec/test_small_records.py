"""Records of one or two fields, for keys and types that no case covers."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import pytest
import yaml

from wireloom import pipeline
from wireloom.examples.memory import opened
from wireloom.runtime.errors import DecodeError


@contextmanager
def record(tmp_path: Path, *fields: object, encoding: str = "binary", **types: object) -> Iterator[ModuleType]:
    """The module of a format whose root has these fields."""
    document = {"wireloom": 1, "format": "record", "title": "A record", "encoding": encoding, "root": "Record"}
    path = tmp_path / "record.yaml"
    content = document | {"types": {"Record": {"fields": list(fields)}} | types}
    path.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    (format,) = pipeline.formats(tmp_path)
    with opened({format.name: pipeline.emit(format)}) as modules:
        yield modules[format.name]


def test_an_ext_value_by_itself_is_its_content(tmp_path):
    with record(tmp_path, {"at": "ext(-1, bytes(2))"}, {"words": "list(ext(5, str)?)"}, encoding="msgpack") as format:
        data = bytes.fromhex("92 d5ffaabb 92 d4 05 78 c0")
        value = {"at": b"\xaa\xbb", "words": ["x", None]}
        assert format.parse(data) == value
        assert format.build(value) == data
        with pytest.raises(DecodeError, match="type_mismatch at at, byte 1"):
            format.parse(bytes.fromhex("92 d50600aabb 90"))


def test_an_ext_value_among_closed_alternatives_is_its_content(tmp_path):
    with record(tmp_path, {"value": "int | ext(5, str) | ext(6, bytes)"}, encoding="msgpack") as format:
        for data, value in (("9107", 7), ("91d40578", "x"), ("91d40678", b"x")):
            assert format.parse(bytes.fromhex(data)) == {"value": value}
            assert format.build({"value": value}) == bytes.fromhex(data)


@pytest.mark.parametrize("keys", [{"as": "other"}, {"hidden": True, "derive": "index"}], ids=["renamed", "hidden"])
def test_a_member_that_must_not_repeat_may_have_another_name_for_readers_or_none(tmp_path, keys):
    item = {"fields": [{"code": {"type": "uint8"} | keys}, {"value": "uint8"}]}
    with record(tmp_path, {"items": {"type": "list(Item)", "unique": "code"}}, Item=item) as format:
        assert [each["value"] for each in format.parse(b"\0\7\1\7")["items"]] == [7, 7]
        with pytest.raises(DecodeError, match=r"duplicate_element at items\[1\], byte 2"):
            format.parse(b"\1\7\1\7")


def test_a_checksum_that_the_record_lacks_is_not_verified(tmp_path):
    fields = (
        {"summed": "uint8"},
        {"sum": {"type": "bytes(16)", "when": "summed == 1", "checksum": "md5", "over": "0 .. 1"}},
        {"verify": {"field": "sum"}},
    )
    with record(tmp_path, *fields) as format:
        assert format.parse(b"\0") == {"summed": 0, "sum": None}
        assert format.build({"summed": 0}) == b"\0"


@pytest.mark.parametrize(
    ("field", "code"),
    [
        ({"rest": {"type": "bytes", "size": "length"}}, "bad_region"),
        ({"rest": {"type": "bytes", "at": "length"}}, "truncated"),
        ({"need": {"bytes": "length"}}, "truncated"),
        ({"frame": "length"}, "truncated"),
    ],
    ids=["size", "at", "need", "frame"],
)
def test_a_size_or_an_offset_that_is_null_is_an_error_of_the_record(tmp_path, field, code):
    fields = ({"kind": "uint8"}, {"length": {"type": "uint8", "when": "kind == 1"}}, field)
    with record(tmp_path, *fields) as format, pytest.raises(DecodeError) as raised:
        format.parse(b"\0\0")
    assert raised.value.code == code


def test_base64_that_no_column_wants_is_refused_where_it_would_be_if_one_did(tmp_path):
    plain = {"plain": {"type": "bytes", "optional": True}}
    lines = {"lines": {"type": "bytes", "optional": True, "lineFeeds": True}}
    with record(tmp_path, {"n": "int32"}, plain, lines, encoding="json") as format:
        full = "QUJDREVGR0hJSktMTU5PUFFSU1RVVldY" * 4
        texts = [full[:size] + end for size in range(0, 128, 4) for end in ("", "QQ==", "QUI=", "QR==", "Q")]
        texts += [full[:place] + other + full[place + 1 :] for place in range(len(full)) for other in "=@[`{/:,.+-_ é"]
        texts += [full[:76] + "\\n" + full[:rest] + end for rest in range(0, 80, 4) for end in ("", "QQ==", "\\n")]
        texts += [full[:place] + "\\n" + full[place:] for place in range(len(full))]
        data = [f'{{"n": 1, "{name}": "{text}"}}'.encode() for text in texts for name in ("plain", "lines")]
        whole, part = (format.CODEC.decode(data, columns) for columns in (None, ["n"]))
        assert format.CODEC.decode_path(["n"]).native
        assert part.errors == whole.errors
        assert 500 < whole.errors.null_count < len(data) - 500

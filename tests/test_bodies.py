"""Bodies of JSON within other encodings, and bodies whose places count from their own start."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import yaml

from wireloom import pipeline
from wireloom.examples.memory import opened
from wireloom.runtime import engine as engines
from wireloom.runtime.errors import DecodeError


@contextmanager
def codec(folder: Any, encoding: str, types: str) -> Iterator[Any]:
    """The codec of a record in an encoding."""
    document = {"wireloom": 1, "format": "probe", "title": "Probe", "encoding": encoding, "root": "Record"}
    (folder / "probe.yaml").write_text(yaml.safe_dump(document | yaml.safe_load(types)), encoding="utf-8")
    (format,) = pipeline.formats(folder)
    with opened({format.name: pipeline.emit(format)}) as modules:
        yield modules[format.name].CODEC


OUTER = {
    "binary": "{body: {type: Extra, size: uint8}}, {bodies: {type: list(Sized), count: uint8}}",
    "msgpack": "{body: Extra}, {bodies: list(Extra)}",
    "protobuf": "{body: {type: Extra, tag: 1}}, {bodies: {type: list(Extra), tag: 2}}",
}
EXTRA = """
types:
  Record: {{fields: [{fields}]}}
  {sized}
  Extra: {{encoding: json, fields: [{{key: str}}, {{more: {{type: list(float), optional: true}}}}]}}
"""
SIZED = "Sized: {encoding: binary, fields: [{inner: {type: Extra, size: uint8, flatten: true}}]}"


@pytest.mark.parametrize("encoding", OUTER)
def test_json_stands_in_other_encodings(tmp_path, encoding):
    value = {"body": {"key": "é"}, "bodies": [{"key": "k", "more": [1.5]}, {"key": "l"}]}
    with codec(
        tmp_path, encoding, EXTRA.format(fields=OUTER[encoding], sized=SIZED if encoding == "binary" else "")
    ) as found:
        data = found.build(value)
        assert b'{"key":"k","more":[1.5]}' in data
        parsed = found.parse(data)
        assert [parsed["body"]["key"], *(each["key"] for each in parsed["bodies"])] == ["é", "k", "l"]
        decoded = found.decode([data])
        assert found.encode(decoded.records).to_pylist() == [data]
        if engines.available():
            assert found.decode_path().reason == "JSON within another encoding"
        at = data.index(b"key")
        for refused, code in ((b"kez", "missing_key"), (b'"ey', "json_syntax")):
            with pytest.raises(DecodeError) as caught:
                found.parse(data[:at] + refused + data[at + 3 :])
            assert (caught.value.code, caught.value.path[:4]) == (code, "body")


ELSEWHERE = """
types:
  Record: {fields: [{before: str}, {body: Names}, {after: list(Names)}]}
  Names: {encoding: binary, fields: [{names: list(Name)}]}
  Name:
    encoding: binary
    fields: [{labels: {type: list(str(uint8)), terminator: "00", jump: {type: uint16, range: "0xC000 .."}}}]
"""


def test_lists_of_a_body_go_on_at_places_that_count_from_its_start(tmp_path):
    with codec(tmp_path, "msgpack", ELSEWHERE) as found:
        body = b"\xc4\x08\x01a\x01b\x00\xc0\x02\x00"
        names = {"names": [{"labels": ["a", "b"]}, {"labels": ["b"]}, {"labels": []}]}
        data = b"\x93\xa3xyz" + body + b"\x92" + body + body
        wanted = {"before": "xyz", "body": names, "after": [names, names]}
        decoded = found.decode([data])
        assert decoded.records.to_pylist() == [wanted]
        assert decoded.reread == 0 or not found.decode_path().native
        beyond = data.replace(b"\xc0\x02", b"\xc0\x05")
        assert decoded.errors.to_pylist() == [None]
        assert found.decode([beyond]).errors.to_pylist()[0]["code"] == "bad_pointer"

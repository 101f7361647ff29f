"""Bodies of JSON in other encodings and of others in JSON: the parser's, but for those in a region of binary."""

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import yaml

from wireloom import pipeline
from wireloom.examples.memory import opened
from wireloom.runtime import engine as engines
from wireloom.runtime.errors import DecodeError

native = pytest.mark.skipif(not engines.available(), reason="the native engine is not built")


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
            assert found.decode_path().reason == found.encode_path().reason == f"a body of json in {encoding}"
        at = data.index(b"key")
        for refused, code in ((b"kez", "missing_key"), (b'"ey', "json_syntax")):
            with pytest.raises(DecodeError) as caught:
                found.parse(data[:at] + refused + data[at + 3 :])
            assert (caught.value.code, caught.value.path[:4]) == (code, "body")


def agreed(found: Any, records: list[bytes], **parameters: Any) -> list[str | None]:
    """The error codes, on which engine and parser must agree."""
    decoded = found.decode(records, **parameters)
    codes = [None if error is None else error["code"] for error in decoded.errors.to_pylist()]
    for record, row, code in zip(records, decoded.records.to_pylist(), codes, strict=True):
        try:
            found.parse(record, **parameters)
        except DecodeError as error:
            assert (row, error.code) == (None, code)
        else:
            assert code is None
    return codes


def sized(text: bytes) -> bytes:
    return bytes([len(text)]) + text


KEPT = """
types:
  Record:
    fields:
      - first: {type: Named, size: uint8}
      - second: {type: Named, size: uint8}
      - all: {compute: "concat(first.name, '/', second.name)", type: str}
      - same: {compute: first.name == second.name, type: bool}
      - name: {compute: first.name, type: str}
  Named: {encoding: json, fields: [{name: str}]}
"""


def test_texts_of_a_body_are_there_behind_others(tmp_path):
    with codec(tmp_path, "binary", KEPT) as found:
        first, second = b'{"name":"a\\n\\u00e9"}', b'{"name":"' + b"\\t" * 60 + b'"}'
        decoded = found.decode([sized(first) + sized(second), sized(first) + sized(first)])
        apart, alike = decoded.records.to_pylist()
        assert (apart["all"], apart["same"], apart["name"]) == ("a\né/" + "\t" * 60, False, "a\né")
        assert (alike["all"], alike["same"]) == ("a\né/a\né", True)


def test_bodies_of_a_stream_end_where_their_sizes_say(tmp_path):
    with codec(tmp_path, "binary", "framing: concatenated\n" + KEPT) as found:
        records = [sized(b'{"name":"%d"}' % n) + sized(b'{"name":"\\n"}') for n in range(200)]
        parts = list(found.decode_stream(b"".join(records)))
        assert [row["name"] for part in parts for row in part.records.to_pylist()] == [str(n) for n in range(200)]


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


CHOSEN = """
types:
  Record: {fields: [{n: uint8}, {body: Tried}]}
  Tried:
    attempt:
      - {name: text, type: Text, fallback: [{codes: [json_syntax]}]}
      - {name: rest, type: Rest}
    kind: null
    reason: null
  Text: {encoding: json, fields: [{a: uint8}]}
  Rest: {fields: [{b: bytes}]}
"""
MELTED = """
errors: {small: Small.}
types:
  Record:
    fields:
      - body: {type: Body, size: uint8, flatten: true}
      - n: {type: uint8, derive: level + 1, hidden: true}
      - check: {that: level > 1, else: small}
  Body: {encoding: json, fields: [{level: uint8}]}
"""


def test_builders_know_what_a_body_has(tmp_path):
    with codec(tmp_path, "binary", CHOSEN) as found:
        for body, data in (({"a": 7}, b'\0{"a":7}'), ({"b": b"\2"}, b"\0\2")):
            assert found.build({"n": 0, "body": body}) == data
            assert {name: each for name, each in found.parse(data)["body"].items() if each is not None} == body
    (tmp_path / "probe.yaml").unlink()
    with codec(tmp_path, "binary", MELTED) as found:
        assert found.build({"level": 5}) == b'\x0b{"level":5}\x06'
        assert found.encode(found.decode([b'\x0b{"level":5}\x06']).records).to_pylist() == [b'\x0b{"level":5}\x06']


WITHIN_JSON = """
types:
  Record:
    fields:
      - before: str
      - body: {type: Extra, optional: true}
      - bodies: {type: list(Extra), optional: true}
      - named: {type: "map(str, Extra)", optional: true}
      - maybe: Extra?
      - melted: {type: Inner, flatten: true}
      - after: {compute: "concat(before, '/', key, '/', body.text)", type: str}
      - last: str
  Extra: %s
  Inner: {encoding: binary, fields: [{key: str(uint8)}, {text: {type: Text, size: size - here}}]}
  Text: {encoding: json, fields: [{deep: Deepest}, {word: str}]}
  Deepest: {encoding: msgpack, fields: [{n: uint16}, {open: Value}]}
  Value: {oneOf: {nothing: nil, number: int, name: str, items: list(Value), entries: "map(Value, Value)"}}
"""
EXTRAS = {
    "binary": "{encoding: binary, fields: [{text: str(uint8)}, {rest: bytes}]}",
    "msgpack": "{encoding: msgpack, fields: [{text: str}, {rest: bytes}]}",
    "protobuf": "{encoding: protobuf, fields: [{text: {type: str, tag: 1}}, {rest: {type: bytes, tag: 2}}]}",
}


@pytest.mark.parametrize("encoding", EXTRAS)
def test_other_encodings_stand_in_json(tmp_path, encoding):
    extra = [{"text": "é\n" * n, "rest": bytes(range(n))} for n in range(5)]
    inner = {"key": "k\\", "text": {"deep": {"n": 300, "open": ["x", None, -1]}, "word": 'w"'}}
    values = [
        {"before": 'a"', "body": extra[n], "bodies": extra[:n], "named": {"x": extra[n], "é": extra[0]}, "maybe": maybe}
        | inner
        | {"last": "\t" * n}
        for n in range(5)
        for maybe in (extra[1], None)
    ]
    with codec(tmp_path, "json", WITHIN_JSON % EXTRAS[encoding]) as found:
        records = [found.build(value) for value in values]
        decoded = found.decode(records)
        assert agreed(found, records) == [None] * len(records)
        rows = decoded.records.to_pylist()
        assert [row["after"] for row in rows] == [f'a"/k\\/{value["body"]["text"]}' for value in values]
        assert [row["last"] for row in rows] == [value["last"] for value in values]
        assert found.encode(decoded.records).to_pylist() == records
        if engines.available():
            assert found.decode_path().reason == found.encode_path().reason == f"a body of {encoding} in json"
        for projected in (["last"], ["body.text", "after"], ["named"]):
            assert found.decode(records, columns=projected).errors.null_count == len(records)
        cut = [record.replace(b'"bodies":["', b'"bodies":["AAAA', 1) for record in records]
        assert None in agreed(found, [*cut, *(record[: len(record) // 2] for record in records)])


SEALED = """
errors: {bad: Bad.}
types:
  Record: {fields: [%s]}
  Sealed:
    encoding: binary
    fields:
      - inner: Text
      - mark: end
      - outer: {type: bytes(16), checksum: md5, over: 0 .. end, else: bad, hidden: true}
      - verify: {field: outer}
  Text:
    encoding: binary
    fields:
      - text: str(uint8)
      - mark: end
      - digest: {type: bytes(16), checksum: md5, over: 0 .. end, else: bad, hidden: true}
      - verify: {field: digest}
"""


@native
def test_digests_within_what_becomes_other_bytes(tmp_path):
    with codec(tmp_path, "binary", SEALED % "{body: {type: Sealed, size: uint16, unpack: zlib}}") as found:
        records = [found.build({"body": {"inner": {"text": "t" * (n % 40)}}}) for n in range(120)]
        damaged = [change(record) if n % 5 == 2 else record for n, record in enumerate(records)]
        codes = agreed(found, damaged)
        assert codes == ["bad" if n % 5 == 2 else None for n in range(120)]
        assert found.encode(found.decode(records).records).to_pylist() == records
        assert found.engine.rebuilt == 0


def change(record: bytes) -> bytes:
    """A record with another last byte in its body."""
    content = zlib.decompress(record[2:])
    packed = zlib.compress(content[:-1] + bytes([content[-1] ^ 1]))
    return len(packed).to_bytes(2, "big") + packed


OPEN = """
types:
  Record: {fields: [{n: uint8}, %s]}
  Body: {encoding: msgpack, fields: [{a: Value}, {b: list(Value)}]}
  Value: {oneOf: {nothing: nil, number: int, name: str, items: list(Value), entries: "map(Value, Value)"}}
"""


@native
def test_open_values_within_what_becomes_other_bytes_are_written_by_the_engine(tmp_path):
    with codec(tmp_path, "binary", OPEN % "{body: {type: Body, size: uint16, unpack: gzip}}") as found:
        opened_ = (None, 7, "s" * 40, [1, [None]], {"k": -1})
        records = [found.build({"n": n, "body": {"a": opened_[n % 5], "b": [opened_[n % 4]]}}) for n in range(40)]
        assert found.encode(found.decode(records).records).to_pylist() == records
        assert (found.encode_path(), found.engine.rebuilt) == (engines.Path(native=True), 0)


MIXED = """
types:
  Record: {fields: [{packed: uint8}, {items: list(Item)}]}
  Item:
    fields:
      - length: {type: uint16, derive: end - start, hidden: true}
      - mark: start
      - body: {type: Body, size: length, unpack: {select: packed, cases: {0: none, 1: zlib}}}
      - mark: end
  Body: {encoding: msgpack, fields: [{a: Value}]}
  Value: {oneOf: {nothing: nil, number: int, name: str, items: list(Value), entries: "map(Value, Value)"}}
"""


@native
def test_open_values_that_stand_in_packed_regions_and_in_others(tmp_path):
    with codec(tmp_path, "binary", MIXED) as found:
        values = [{"packed": n % 2, "items": [{"body": {"a": [k, "x" * k]}} for k in range(n)]} for n in range(30)]
        records = [found.build(value) for value in values]
        assert found.encode(found.decode(records).records).to_pylist() == records
        assert (found.encode_path(), found.engine.rebuilt) == (engines.Path(native=True), 0)

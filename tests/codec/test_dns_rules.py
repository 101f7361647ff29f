"""Limits of DNS: names and labels of any bytes up to their limits, updates without data, TTLs, OPT records."""

import struct

import pyarrow as pa
import pytest

from wireloom.runtime import engine
from wireloom.runtime.errors import DecodeError, EncodeError
from wireloom_formats import dns_message

QUERY = {"id": 1, "response": False, "opcode": 0, "authoritative": False, "truncated": False}
QUERY |= {"recursionDesired": False, "recursionAvailable": False, "reserved": False, "authenticData": False}
QUERY |= {"checkingDisabled": False, "responseCode": 0, "questions": [], "answers": [], "authority": []}
QUERY |= {"additional": []}
ROOT_OPT = bytes.fromhex("00 0029 04d0 80008000 0000")


def name(*labels: bytes) -> bytes:
    return b"".join(bytes([len(label)]) + label for label in labels) + b"\0"


def message(*, questions=(), answers=(), authority=(), additional=(), flags: int = 0) -> bytes:
    sections = (questions, answers, authority, additional)
    return struct.pack(">6H", 1, flags, *map(len, sections)) + b"".join(map(b"".join, sections))


def question(labels: bytes) -> bytes:
    return labels + bytes.fromhex("0001 0001")


def record(kind: int, kind_class: int = 1, ttl: int = 0, data: bytes = b"", labels: bytes = b"\0") -> bytes:
    return labels + struct.pack(">HHIH", kind, kind_class, ttl, len(data)) + data


LONGEST = name(b"a" * 63, b"b" * 63, b"c" * 63, b"d" * 61)
TOO_LONG = name(b"a" * 63, b"b" * 63, b"c" * 63, b"d" * 62)
KNOWN = (1, 2, 5, 6, 12, 15, 16, 28, 33)
UPDATES = [
    message(flags=0x2800, questions=[question(name(b"example"))], **{section: [record(kind, kind_class)]})
    for section in ("answers", "authority")
    for kind in (*KNOWN, 255, 65280)
    for kind_class in (254, 255)
]
READ = [
    *(message(questions=[question(name(label))]) for label in (b"\xff\xfe", b"\0", b".", bytes(range(1, 64)))),
    *(message(questions=[question(name(bytes(range(low, low + 32))))]) for low in range(0, 256, 32)),
    *(message(questions=[question(labels)]) for labels in (LONGEST, name(*[b"a"] * 127), name())),
    *(message(answers=[record(5, data=labels)]) for labels in (LONGEST, name(b"\xc3\xa9"))),
    *(message(additional=[each]) for each in (ROOT_OPT, record(41, 4096, 0, bytes.fromhex("000a0002abcd")))),
    message(answers=[record(1, ttl=0x7FFFFFFF, data=bytes(4))]),
    *UPDATES,
]
POINTED = message(questions=[question(LONGEST), question(b"\x01x\xc0\x0c")])
REFUSED = {
    "bad_size": [
        *(message(questions=[question(labels)]) for labels in (TOO_LONG, name(*[b"a"] * 128))),
        *(POINTED, message(answers=[record(15, data=b"\0\1" + TOO_LONG)])),
    ],
    "no_data": [
        *(message(answers=[record(kind)], flags=0x8000) for kind in KNOWN if kind != 16),
        *(message(answers=[record(1, 1)], flags=0x2800), message(answers=[record(1, 255)])),
    ],
    "bad_opt": [
        message(additional=[ROOT_OPT, ROOT_OPT]),
        *(message(**{section: [ROOT_OPT]}) for section in ("answers", "authority")),
        message(additional=[record(41, labels=name(b"a"))]),
    ],
    "bad_pointer": [message(questions=[question(b"\x40" + b"a" * 64 + b"\0")])],
    "bad_region": [message(answers=[record(1, data=bytes(3))]), message(answers=[record(1, data=bytes(5))])],
    "size_limit": [message(answers=[record(65280, data=bytes(65000)), record(65280, data=bytes(600))])],
}


def test_messages_at_the_limits_are_read_and_written_again():
    assert [data.hex() for data in READ if dns_message.build(dns_message.parse(data)) != data] == []


def test_messages_beyond_the_limits_are_refused():
    for code, messages in REFUSED.items():
        for data in messages:
            with pytest.raises(DecodeError) as raised:
                dns_message.parse(data)
            assert raised.value.code == code, data.hex()


@pytest.mark.skipif(not engine.available(), reason="the native engine is not built")
def test_the_engine_has_the_same_limits():
    bad = [data for messages in REFUSED.values() for data in messages]
    decoded = dns_message.CODEC.decode(pa.array([*READ, *bad], pa.binary()))
    codes = [code for code, messages in REFUSED.items() for _ in messages]
    assert [error and error["code"] for error in decoded.errors.to_pylist()] == [*[None] * len(READ), *codes]
    assert decoded.reread == len(bad)  # of which the parser says what is wrong
    assert dns_message.CODEC.encode(decoded.records[: len(READ)]).to_pylist() == READ


@pytest.mark.parametrize("number", [0x80000000, 0xFFFFFFFF])
def test_a_time_to_live_with_its_highest_bit_counts_as_none_and_is_not_written(number):
    data = message(answers=[record(1, ttl=number, data=bytes(4))])
    value = dns_message.parse(data)
    assert value["answers"][0]["ttl"] == 0
    assert dns_message.parse(dns_message.build(value)) == value
    answer = {"name": [], "type": 1, "class": 1, "ttl": number, "data": {"address": "0.0.0.0"}}  # noqa: S104
    with pytest.raises(EncodeError):
        dns_message.build({**QUERY, "answers": [answer]})


@pytest.mark.parametrize("labels", [["a" * 64], [""], ["a" * 63] * 4, ["a"] * 128, ["\u20ac"]])
def test_builders_refuse_names_that_there_are_not(labels):
    with pytest.raises(EncodeError):
        dns_message.build({**QUERY, "questions": [{"name": labels, "type": 1, "class": 1}]})


def test_a_stream_over_tcp_is_read_by_its_framing():
    messages = [message(questions=[question(name(b"a"))]), message(flags=0x8000)]
    data = b"".join(len(each).to_bytes(2, "big") + each for each in messages)
    found = [record.value for record in dns_message.iter_parse(data, framing="prefix:uint16")]
    assert found == [dns_message.parse(each) for each in messages]

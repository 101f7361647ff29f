"""Readers and builders refuse the malformed packets and protocol errors of MQTT 5."""

from collections.abc import Iterator

import pyarrow as pa
import pytest

from wireloom.runtime import engine
from wireloom.runtime.errors import DecodeError, EncodeError
from wireloom_formats import mqtt_packet


def packet(head: str, body: str = "") -> bytes:
    """A packet of a first byte and what comes after its length, of up to 127 bytes."""
    rest = bytes.fromhex(body)
    return bytes.fromhex(head) + bytes([len(rest)]) + rest


def text(characters: bytes) -> str:
    return f"{len(characters):04x} {characters.hex()} "


def connect(properties: str = "", flags: str = "02", rest: str = "0000", protocol: str = "00044d515454 05") -> bytes:
    return packet("10", f"{protocol} {flags} 003c {section(properties)} {rest}")


def connack(properties: str = "", start: str = "0000") -> bytes:
    return packet("20", f"{start} {section(properties)}")


def publish(properties: str = "", topic: bytes = b"a", head: str = "30", identifier: str = "") -> bytes:
    return packet(head, f"{text(topic)} {identifier} {section(properties)}")


def subscribe(options: str = "00", topic: bytes = b"a", properties: str = "", identifier: str = "0001") -> bytes:
    return packet("82", f"{identifier} {section(properties)} {text(topic)} {options}")


def unsubscribe(topic: bytes = b"a", properties: str = "", identifier: str = "0001") -> bytes:
    return packet("a2", f"{identifier} {section(properties)} {text(topic)}")


def section(properties: str) -> str:
    return f"{len(bytes.fromhex(properties)):02x} {properties}"


METHOD = f"15 {text(b'm')} "
BAD_FILTERS = (
    b"|a+|+a|#/a|a/#/b|a/b+/c|\0|$share//a|$share/g|$share/g/|$share/+/a|$share/g#/a|$share/|$share/g/a+".split(b"|")
)
GOOD_FILTERS = b"a|/|a/|+|#|a/#|+/+|/+/#|$SYS/#|$share/g/a|$share/g/#|$share/g/+/b|$shared/+|$share|$s|a//b|sha".split(
    b"|"
)
STRINGS = ("03", "12", "15", "1a", "1c", "1f")  # properties that are texts
FLAGS = {"01": publish, "17": connect, "19": connect, **dict.fromkeys(("24", "25", "28", "29", "2a"), connack)}

REFUSED = {
    "bad_length": [bytes.fromhex(each) for each in ("c0ffffffff01", "c08080808001")],
    "overlong": [
        *(bytes.fromhex(each) for each in ("c08000", "c080808000", "c08080808000", "308500000161008000")),
        *(packet("30", f"{text(b'a')} {each}") for each in ("8000", "80808000")),
        *(subscribe(properties=each) for each in ("0b8100", "0b81808000", "0b8180808000")),
    ],
    "unknown_type": [packet("00"), packet("00", "61")],
    "bad_flags": [
        *(packet(f"{type:x}{bits:x}", "0001") for type in (4, 5, 7, 9, 11, 12, 13, 14, 15) for bits in (1, 2, 4, 8)),
        *(packet(f"{type:x}{bits:x}", "0001") for type in (6, 8, 10) for bits in (0, 3, 10, 4)),
        *(packet(f"{type:x}{bits:x}", "0001") for type in (1, 2) for bits in (1, 2, 8)),
        *(connect(flags="03"), connack(start="0200"), connack(start="8000")),
        *(subscribe(options=each) for each in ("40", "80", "30")),
    ],
    "bad_duplicate": [publish(head="38")],
    "bad_qos": [
        *(publish(head=each, identifier="0001") for each in ("36", "3e")),
        *(subscribe(options="03"), connect(flags="1e", rest=f"0000 00 {text(b'w')} 0000")),
    ],
    "bad_packet_id": [
        *(publish(head=head, identifier="0000") for head in ("32", "34")),
        *(packet(head, "0000") for head in ("40", "50", "62", "70")),
        *(subscribe(identifier="0000"), unsubscribe(identifier="0000")),
        *(packet(head, "0000 00 00") for head in ("90", "b0")),
    ],
    "bad_string": [
        *(connect(rest=text(b"a\0b")), connect(flags="82", rest=f"0000 {text(b'u' + bytes(1))}")),
        *(connack(f"{identifier} {text(bytes(1))}") for identifier in STRINGS if identifier != "03"),
        *(publish(f"26 {key} {value}") for key, value in ((text(b"\0"), text(b"v")), (text(b"k"), text(b"v\0")))),
        publish(f"03 {text(bytes(1))}"),
    ],
    "bad_topic": [
        *(publish(topic=each) for each in (b"+", b"a/#", b"\0", b"a/+/b")),
        *(publish(f"08 {text(each)}") for each in (b"", b"a/+", b"#", b"a\0")),
        *(connect(flags="06", rest=f"0000 00 {text(each)} 0000") for each in (b"", b"+", b"a#", b"\0")),
    ],
    "bad_filter": [
        *(subscribe(topic=each) for each in (*BAD_FILTERS, b"a#", b"a/b#")),
        *(unsubscribe(topic=each) for each in BAD_FILTERS),
    ],
    "bad_protocol": [
        *(connect(protocol=f"00044d515454 {version}") for version in ("03", "04", "06", "85")),
        *(connect(protocol=f"{text(name)} 05") for name in (b"MQIsdp", b"mqtt", b"")),
    ],
    "bad_will": [connect(flags=each) for each in ("0a", "12", "22", "2a")],
    "bad_session": [connack(start="0180")],
    "bad_reason": [
        *(connack(start=f"00{each}") for each in ("01", "8b", "ff")),
        *(packet(head, f"0001 {each}") for head in ("40", "50") for each in ("01", "92", "ff")),
        *(packet(head, f"0001 {each}") for head in ("62", "70") for each in ("10", "80")),
        *(packet("90", f"0001 00 {each}") for each in ("03", "00 11", "92")),
        *(packet("b0", f"0001 00 {each}") for each in ("01", "97")),
        *(packet("e0", each) for each in ("01", "18", "a3")),
        *(packet("f0", f"{each} {section(METHOD)}") for each in ("01", "80")),
    ],
    "unknown_property": [publish("0401"), publish("810001"), publish("00")],
    "misplaced_property": [
        *(publish(each) for each in ("2401", "1100000001", "1800000001", f"1f {text(b'r')}")),
        *(connect(each) for each in ("0101", "0b01", "1800000001", "2401", f"1f {text(b'r')}", "230001")),
        *(connack(each) for each in ("1701", "0b01", "230001")),
        *(packet(head, f"0001 00 {section('0b01')}") for head in ("40", "50", "62", "70")),
        *(subscribe(properties="230001"), unsubscribe(properties="0b01"), unsubscribe(properties=f"1f {text(b'r')}")),
        *(packet("e0", f"00 {section(METHOD)}"), packet("f0", f"00 {section('1c 000173')}")),
        connect(flags="06", rest=f"0000 {section('1100000001')} {text(b'w')} 0000"),
    ],
    "duplicate_element": [
        *(publish(each * 2) for each in ("0101", "0200000001", "230001", f"08 {text(b'r')}", "09 0000")),
        *(connect(each * 2) for each in ("1100000001", "210001", "1701")),
        *(subscribe(properties="0b010b02"), connack("24002401"), packet("40", f"0001 00 {section('1f0000' * 2)}")),
        connect(flags="06", rest=f"0000 {section('1800000001' * 2)} {text(b'w')} 0000"),
    ],
    "bad_property": [
        *(make(f"{identifier}02") for identifier, make in FLAGS.items()),
        *(connect("210000"), connack("210000"), connect("2700000000"), publish("230000"), publish("0b00")),
        *(subscribe(properties="0b00"), subscribe(properties="0b8080808001")),
    ],
    "missing_alias": [publish(topic=b""), publish("0101", topic=b"")],
    "missing_method": [
        *(connect("16 0001 00"), packet("f0", "1800"), packet("f0", f"18 {section('16000100')}")),
    ],
    "bad_region": [
        packet("f0", "18"),
        publish("0b"),
        packet("82", "0001 05"),
        connect("11000001"),
        packet("30", "0005 61"),
        packet("82", "0001 00 0003 61 00"),
    ],
    "no_local_shared": [subscribe(options="04", topic=b"$share/g/a")],
    "nothing_asked": [packet(head, "0001 00") for head in ("82", "90", "a2", "b0")],
    "invalid_utf8": [
        publish(topic=each) for each in (b"\xed\xa0\x80", b"\xed\xbf\xbf", b"\xc0\x80", b"\xff", b"\xf4\x90\x80\x80")
    ],
    "trailing_bytes": [packet("c0", "00"), packet("d0", "00")],
}
"""Packets by the code with which they are refused."""

ACCEPTED = [
    *(connect(), connect("1701 1900 210001 2700000001 220000 11ffffffff"), connect(f"15 {text(b'm')} 16 0000")),
    *(connect(flags=each, rest="0000 0000") for each in ("42", "82")),
    connect(flags="36", rest=f"0000 {section('1800000000')} {text(b'w')} 0000"),
    *(connack(), connack(start="0100"), connack("2401 2500 2800 2900 2a00 130000")),
    *(publish(), publish(head="31"), publish(head="3a", identifier="ffff"), publish("230001", topic=b"")),
    *(publish("0b01 0b02 0bffffff7f"), publish(f"26 {text(b'k')} 0000" * 3), publish(topic=b"\xef\xbb\xbf$a/\x01 ")),
    *(packet(head, each) for head in ("40", "50") for each in ("0001", "000110", "00018000")),
    *(packet(head, each) for head in ("62", "70") for each in ("0001", "000192", "00010000")),
    *(subscribe(topic=each) for each in GOOD_FILTERS),
    *(unsubscribe(topic=each) for each in GOOD_FILTERS),
    *(subscribe(options="2e"), subscribe(properties="0b01")),
    *(packet("90", "0001 00 0001028083"), packet("b0", "0001 00 001180")),
    *(packet("c0"), packet("d0"), packet("e0"), packet("e0", "81"), packet("e0", "0400"), packet("f0")),
    packet("f0", f"18 {section(METHOD + '16 0000')}"),
]


def refused() -> Iterator[tuple[str, bytes]]:
    return ((code, data) for code, packets in REFUSED.items() for data in packets)


def test_every_rule_that_a_packet_breaks_refuses_it():
    found = {}
    for code, data in refused():
        with pytest.raises(DecodeError) as raised:
            mqtt_packet.parse(data)
        found[data.hex()] = raised.value.code, code
    assert {data: codes for data, codes in found.items() if codes[0] != codes[1]} == {}


def test_packets_at_the_edge_of_the_rules_are_read_and_written_again():
    assert [data.hex() for data in ACCEPTED if mqtt_packet.build(mqtt_packet.parse(data)) != data] == []


@pytest.mark.skipif(not engine.available(), reason="the native engine is not built")
def test_the_engine_holds_packets_to_the_same_rules():
    codes, packets = zip(*refused(), strict=True)
    decoded = mqtt_packet.CODEC.decode(pa.array([*packets, *ACCEPTED], pa.binary()))
    assert [error and error["code"] for error in decoded.errors.to_pylist()] == [*codes, *[None] * len(ACCEPTED)]
    assert decoded.reread == len(packets)  # of which the parser says what is wrong
    assert mqtt_packet.CODEC.encode(decoded.records[len(packets) :]).to_pylist() == ACCEPTED


BASE = {"duplicate": False, "qos": 0, "retain": False}
MESSAGE = {"topic": "a", "properties": [], "payload": b""}
TOPIC = {"filter": "a", "qos": 0, "noLocal": False, "retainAsPublished": False, "retainHandling": "send"}
TWICE = [{"name": "topicAlias", "value": 1}] * 2


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ({**BASE, "type": "reserved", "body": {}}, "reserved"),
        ({**BASE, "type": "publish", "qos": 3, "body": {**MESSAGE, "packetId": 1}}, "bad_qos"),
        ({**BASE, "type": "publish", "duplicate": True, "body": MESSAGE}, "bad_duplicate"),
        ({**BASE, "type": "pingreq", "retain": True, "body": {}}, "bad_flags"),
        ({**BASE, "type": "publish", "qos": 1, "body": {**MESSAGE, "packetId": 0}}, "bad_packet_id"),
        ({**BASE, "type": "publish", "body": {**MESSAGE, "topic": "a/#"}}, "bad_topic"),
        ({**BASE, "type": "publish", "body": {**MESSAGE, "topic": ""}}, "missing_alias"),
        ({**BASE, "type": "publish", "body": {**MESSAGE, "properties": TWICE}}, "duplicate_element"),
        (
            {**BASE, "type": "publish", "body": {**MESSAGE, "properties": [{"name": "willDelay", "value": 1}]}},
            "misplaced_property",
        ),
        *(
            (
                {
                    **BASE,
                    "type": "publish",
                    "body": {**MESSAGE, "properties": [{"name": "subscriptionId", "value": number}]},
                },
                "bad_property",
            )
            for number in (0, 268435456)
        ),
        (
            {**BASE, "type": "subscribe", "qos": 1, "body": {"packetId": 1, "properties": [], "topics": []}},
            "nothing_asked",
        ),
        (
            {
                **BASE,
                "type": "subscribe",
                "qos": 1,
                "body": {"packetId": 1, "properties": [], "topics": [{**TOPIC, "filter": "a#"}]},
            },
            "bad_filter",
        ),
        ({**BASE, "type": "puback", "body": {"packetId": 1, "reason": 1}}, "bad_reason"),
    ],
)
def test_builders_refuse_what_readers_refuse(value, code):
    with pytest.raises(EncodeError, match=code):
        mqtt_packet.build(value)


def test_a_bad_packet_costs_itself_alone():
    data = bytes.fromhex("3006000161027f01 c000 000161 c000 c08000 d000")
    found = list(mqtt_packet.iter_parse(data, on_error="skip"))
    assert [record.error.code if record.error else record.value["type"] for record in found] == [
        *("unknown_property", "pingreq", "unknown_type", "pingreq", "overlong", "pingresp")
    ]

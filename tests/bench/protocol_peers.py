"""The same work with the usual libraries of two protocols: dnspython and kafka-python, and pyarrow for columns."""

from collections.abc import Iterator, Sequence
from typing import Any

import dns.message
import dns.name
import dns.rdatatype
import dns.rrset
import pyarrow as pa
from kafka.record.default_records import DefaultRecordBatch, DefaultRecordBatchBuilder

_RECORDS = 100  # of a batch
_FLAGS = {"response": 15, "authoritative": 10, "truncated": 9, "recursionDesired": 8, "recursionAvailable": 7}


# --- DNS -----------------------------------------------------------------------------------------------------------


def dns_messages(count: int, different: int = 2000) -> list[bytes]:
    """Answers as resolvers get them; `different` distinct ones."""
    made = [_answer(number) for number in range(min(count, different))]
    return [made[number % len(made)] for number in range(count)]


def _answer(number: int) -> bytes:
    host, zone = f"host{number % 97}", f"zone{number % 31}.example.com."
    kind = ("A", "AAAA", "MX", "TXT", "SRV", "PTR")[number % 6]
    question = dns.message.make_query(f"{host}.{zone}", kind)
    question.id = number & 0xFFFF
    answer = dns.message.make_response(question, recursion_available=True)
    data = {
        "A": [f"192.0.2.{number % 250}", f"198.51.100.{number % 250}"],
        "AAAA": [f"2001:db8::{number:x}"],
        "MX": [f"10 mail.{zone}", f"20 mail2.{zone}"],
        "TXT": ['"v=spf1 -all"', f'"{number}"'],
        "SRV": [f"0 5 389 ldap.{zone}"],
        "PTR": [f"web.{zone}"],
    }[kind]
    alias = dns.rrset.from_text(f"{host}.{zone}", 300, "IN", "CNAME", f"real.{zone}")
    answer.answer += [alias, dns.rrset.from_text(f"real.{zone}", 60, "IN", kind, *data)]
    answer.authority.append(dns.rrset.from_text(zone, 86400, "IN", "NS", f"ns1.{zone}", f"ns2.{zone}"))
    answer.additional.append(dns.rrset.from_text(f"ns1.{zone}", 3600, "IN", "A", "192.0.2.53"))
    return answer.to_wire()


def dnspython(messages: Sequence[bytes], types: pa.StructType) -> pa.Table:
    """from_wire for each message, rows of columns, pyarrow at the end."""
    columns: dict[str, list[Any]] = {name: [] for name in ("id", "responseCode", *_FLAGS, "questions", *_SECTIONS)}
    for data in messages:
        message = dns.message.from_wire(data)
        columns["id"].append(message.id)
        columns["responseCode"].append(message.rcode())
        for name, bit in _FLAGS.items():
            columns[name].append(bool(message.flags >> bit & 1))
        columns["questions"].append(
            [{"name": _labels(each.name), "type": each.rdtype, "class": each.rdclass} for each in message.question]
        )
        for section in _SECTIONS:
            columns[section].append([row for each in getattr(message, section) for row in _rows(each)])
    return pa.table({name: pa.array(values, types.field(name).type) for name, values in columns.items()})


_SECTIONS = ("answers", "authority", "additional")
dns.message.Message.answers = property(lambda message: message.answer)  # type: ignore[attr-defined]


def _labels(name: dns.name.Name) -> list[str]:
    return [label.decode() for label in name.labels[:-1]]


def _rows(records: dns.rrset.RRset) -> Iterator[dict[str, Any]]:
    name = _labels(records.name)
    for record in records:
        yield {
            "name": name,
            "type": records.rdtype,
            "class": records.rdclass,
            "ttl": records.ttl,
            "data": _data(record),
        }


def _data(record: Any) -> dict[str, Any]:
    match record.rdtype:
        case dns.rdatatype.A:
            return {"address": record.address}
        case dns.rdatatype.AAAA:
            return {"address6": record.address}
        case dns.rdatatype.MX:
            return {"preference": record.preference, "target": _labels(record.exchange)}
        case dns.rdatatype.TXT:
            return {"texts": list(record.strings)}
        case dns.rdatatype.SRV:
            found = {"priority": record.priority, "weight": record.weight, "port": record.port}
            return {**found, "target": _labels(record.target)}
        case _:
            return {"target": _labels(record.target)}


# --- Kafka ---------------------------------------------------------------------------------------------------------


def kafka_batches(count: int) -> list[bytes]:
    """Batches of a hundred small records, with a header each."""
    return [_batch(number) for number in range(count)]


def _batch(number: int) -> bytes:
    builder = DefaultRecordBatchBuilder(
        magic=2,
        compression_type=0,
        is_transactional=0,
        producer_id=-1,
        producer_epoch=-1,
        base_sequence=-1,
        batch_size=1_000_000,
    )
    for place in range(_RECORDS):
        builder.append(
            place,
            timestamp=1_700_000_000_000 + number + place,
            key=b"pump-%d" % (place % 7),
            value=b"%d.%d" % (place, number) * 3,
            headers=[("unit", b"celsius")],
        )
    return bytes(builder.build())


def kafka_python(batches: Sequence[bytes]) -> pa.Table:
    """The record parser of kafka-python, its checksum verified; one row for each record."""
    columns: dict[str, list[Any]] = {name: [] for name in ("offset", "timestamp", "key", "value", "headers")}
    for data in batches:
        batch = DefaultRecordBatch(data)
        if not batch.validate_crc():
            raise ValueError(data)
        for record in batch:
            columns["offset"].append(record.offset)
            columns["timestamp"].append(record.timestamp)
            columns["key"].append(record.key)
            columns["value"].append(record.value)
            columns["headers"].append([{"key": key, "value": value} for key, value in record.headers])
    return pa.table(columns)

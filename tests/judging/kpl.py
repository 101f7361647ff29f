"""Judges `vectors[]` of Kinesis records by the results of the Kinesis Client Library, except for intended differences.

We differ where it loses data: an aggregate with a right digest and broken content is an error by default, an index is
compared as 64 bits, and the text of an explicit hash key is always kept. For these, `kpl_message`, an independent
reader, gives the right record.
"""

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from judging.kpl_message import Message, Record, message_of
from judging.verdicts import (
    Manifest,
    Verdict,
    accepted,
    differences,
    first,
    name_of,
    objects,
    read,
    refused_with,
    require,
    verdict,
)
from wireloom_formats import kpl_record

FAMILY = "kpl"
_MAGIC = bytes.fromhex("f3899ac2")
_SHORTEST = 21
_HASH_KEYS = 1 << 128
_HALVES = {
    "lower_half_records": (0, _HASH_KEYS // 2 - 1),
    "upper_half_records": (_HASH_KEYS // 2, _HASH_KEYS - 1),
}
_OUTCOME = re.compile(r"passthrough|records_(?P<all>\d+)|partial_(?P<kept>\d+)_of_(?P<of>\d+)")
_INDEX_CODES = ("pk_index", "ehk_index")


def recognises(manifest: Manifest) -> bool:
    """Whether the manifest has this form: vectors with a class and the client library's results."""
    return any("class" in vector and "kcl" in vector for vector in objects(manifest.get("vectors")))


def judge(folder: Path, manifest: Manifest) -> Iterator[Verdict]:
    """A verdict for each vector."""
    for number, vector in enumerate(manifest["vectors"]):
        yield verdict(FAMILY, name_of(vector, number), partial(_findings, folder, vector))


def _findings(folder: Path, vector: Mapping[str, Any]) -> Iterator[str]:
    require(vector, "file", "class", "kcl")
    data = read(folder, vector, "size")
    kind, _, code = vector["class"].partition(":")
    message = message_of(data) if kind == "aggregated" or code in _INDEX_CODES else None
    yield from _client_library_findings(vector, data, message)
    match kind, code:
        case "not_aggregated", "":
            yield from _plain(data)
        case "aggregated", "" | "empty" if message is not None:
            yield from _aggregated(vector, data, message)
        case "corrupt", code if code in _INDEX_CODES and message is not None:
            yield from _corrupt_index(vector, data, message, code)
        case "corrupt", code if code:
            yield from _corrupt(data, code)
        case _:
            yield f"the runner does not know the class {vector['class']!r}"
    yield from _halves(vector, data, message)


# --- plain ---------------------------------------------------------------------------------------------------------


def _plain(data: bytes) -> Iterator[str]:
    for policy in ("error", "passthrough", "prefix"):
        value, findings = accepted(partial(kpl_record.parse, data, on_corrupt=policy))
        yield from findings
        if not findings:
            yield from first(differences(_plain_value(data, _reason(data)), _seen(value)))
            yield from _rebuilds(value, data)


def _reason(data: bytes) -> str:
    if data[:4] != _MAGIC:
        return "no_magic"
    return "digest_mismatch" if len(data) >= _SHORTEST else "too_short"


def _plain_value(data: bytes, reason: str) -> dict[str, object]:
    record = {"sub": 0, "partition_key": None, "explicit_hash_key": None, "data": data}
    return {"kind": "plain", "class": "plain", "reason": reason, "lost": 0, "records": [record]}


def _seen(value: Mapping[str, Any]) -> dict[str, Any]:
    """Our value in the form of the manifest."""
    return {
        "kind": value["kind"],
        "class": value["class"],
        "reason": value["reason"],
        "lost": value["lost"],
        "records": [
            {
                "sub": record["subSequenceNumber"],
                "partition_key": record["partitionKey"],
                "explicit_hash_key": record["explicitHashKey"],
                "data": record["data"],
            }
            for record in value["records"]
        ],
    }


# --- aggregates ----------------------------------------------------------------------------------------------------


def _aggregated(vector: Mapping[str, Any], data: bytes, message: Message) -> Iterator[str]:
    replacing = partial(kpl_record.parse, data, invalid_utf8="replace")
    if message.keys_are_utf8 and message.tags_are_utf8:
        yield from _aggregate(data, message.records)
    elif not message.keys_are_utf8:
        yield from refused_with(("invalid_utf8",), partial(kpl_record.parse, data))
    value, findings = accepted(replacing)
    yield from findings
    if not findings:
        yield from first(differences(_merged(_shown(message.records)), _merged(_seen(value)["records"])))
        yield from _as_the_client_library(vector, message, value)


def _as_the_client_library(vector: Mapping[str, Any], message: Message, value: Mapping[str, Any]) -> Iterator[str]:
    """Its records are ours, as far as it and we interpret the aggregate alike."""
    theirs = vector["kcl"].get("records")
    if theirs is not None:
        agreed = message.readable()
        wanted, came = _client_library(theirs)[:agreed], _seen(value)["records"]
        yield from first(differences(_merged(wanted), _merged(came[: len(wanted)])))


def _merged(records: Any) -> list[dict[str, object]]:
    """Collapse runs of U+FFFD, whose length depends on the program that replaced broken text."""
    return [
        {name: re.sub("\ufffd+", "\ufffd", each) if isinstance(each, str) else each for name, each in record.items()}
        for record in records
    ]


def _client_library_findings(vector: Mapping[str, Any], data: bytes, message: Message | None) -> Iterator[str]:
    """The client library's result in the manifest must be possible for a record of this class."""
    kcl, name = vector["kcl"], vector["class"]
    records, outcome = kcl.get("records"), kcl["outcome"]
    match = _OUTCOME.fullmatch(outcome)
    if match is None:
        yield f"the runner does not know the outcome {outcome!r}"
        return
    if message is None:
        if outcome != "passthrough":
            yield f"the outcome of {name} is passthrough, the manifest says {outcome}"
        elif records and (len(records) != 1 or _bytes(records[0]["data_b64"]) != data):
            yield "what passes through is one record with all bytes"
        return
    count, kept = len(message.records), int(match["all"] or match["kept"] or 0)
    counted = vector.get("protobuf_record_count")
    if outcome == "passthrough":
        yield f"nothing of {name} passes through the client library"
    elif int(match["all"] or match["of"] or 0) != count:
        yield f"the message has {count} records, the manifest says {outcome}"
    elif match["kept"] and (kept >= count or message.is_sound()):
        yield f"nothing explains {outcome}"
    elif match["all"] and any(record.broken and not record.wraps for record in message.records):
        yield f"an index leads nowhere, and the manifest says {outcome}"
    if (count == 0) != name.endswith(":empty"):
        yield f"the message has {count} records, the manifest says {name}"
    if counted is not None and counted != count:
        yield f"the message has {count} records, the manifest says {counted}"
    if records is not None and len(records) != kept:
        yield f"the manifest says {outcome} and gives {len(records)}"


def _aggregate(data: bytes, records: Sequence[Record]) -> Iterator[str]:
    """Every policy gives these records, and they build the same bytes if those are in canonical form."""
    expected = {
        "kind": "aggregated",
        "class": "aggregated" if records else "aggregated_empty",
        "reason": None,
        "lost": 0,
        "records": _shown(records),
    }
    for policy in ("error", "passthrough", "prefix"):
        value, findings = accepted(partial(kpl_record.parse, data, on_corrupt=policy))
        yield from findings or first(differences(expected, _seen(value)))
        if not findings and policy == "error" and records:
            yield from _rebuilds(value, data, canonical=_canonical(records, value) == data)


def _shown(records: Sequence[Record]) -> list[dict[str, object]]:
    return [
        {
            "sub": index,
            "partition_key": _replaced(record.partition_key),
            "explicit_hash_key": _replaced(record.explicit_hash_key),
            "data": record.data,
        }
        for index, record in enumerate(records)
    ]


def _replaced(text: bytes | None) -> str | None:
    return None if text is None else text.decode(errors="replace")


def _client_library(records: Sequence[Mapping[str, Any]]) -> list[dict[str, object]]:
    return [
        {
            "sub": record["sub"],
            "partition_key": _text(record["partition_key"]),
            "explicit_hash_key": _text(record["explicit_hash_key"]),
            "data": _bytes(record["data_b64"]),
        }
        for record in records
    ]


def _text(encoded: Mapping[str, str] | None) -> str | None:
    return None if encoded is None else _bytes(encoded["b64"]).decode()


def _bytes(encoded: str) -> bytes:
    return base64.b64decode(encoded, validate=True)


# --- building ------------------------------------------------------------------------------------------------------


def _rebuilds(value: Mapping[str, Any], data: bytes, *, canonical: bool = True) -> Iterator[str]:
    wrap = value["kind"] == "aggregated"
    built = kpl_record.build(value, wrap_single=wrap)
    if canonical and built != data:
        yield f"built again: expected {data.hex()[:200]}, came {built.hex()[:200]}"
    yield from first(f"built again: {finding}" for finding in differences(_seen(value), _seen(kpl_record.parse(built))))


def _canonical(records: Sequence[Record], value: Mapping[str, Any]) -> bytes:
    """The records as every correct producer writes them; with tags, which none writes, there is no canonical form."""
    if any(record["tags"] for record in value["records"]):
        return b""
    keys = _places(record.partition_key or b"" for record in records)
    hash_keys = _places(r.explicit_hash_key for r in records if r.explicit_hash_key is not None)
    parts = [_delimited(1, key) for key in keys] + [_delimited(2, key) for key in hash_keys]
    for record in records:
        index = b"\x08" + _varint(keys[record.partition_key or b""])
        hashed = record.explicit_hash_key
        hash_index = b"" if hashed is None else b"\x10" + _varint(hash_keys[hashed])
        parts.append(_delimited(3, index + hash_index + _delimited(3, record.data)))
    message = b"".join(parts)
    return _MAGIC + message + hashlib.md5(message, usedforsecurity=False).digest()


def _places(keys: Iterable[bytes]) -> dict[bytes, int]:
    return {key: place for place, key in enumerate(dict.fromkeys(keys))}


def _delimited(number: int, content: bytes) -> bytes:
    return bytes([number << 3 | 2]) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


# --- corrupt -------------------------------------------------------------------------------------------------------


def _corrupt(data: bytes, code: str) -> Iterator[str]:
    """The message itself is broken, and nothing of it can be kept."""
    yield from refused_with((code,), partial(kpl_record.parse, data))
    for policy in ("passthrough", "prefix"):
        value, findings = accepted(partial(kpl_record.parse, data, on_corrupt=policy))
        yield from findings or first(differences(_plain_value(data, code), _seen(value)))


def _corrupt_index(vector: Mapping[str, Any], data: bytes, message: Message, code: str) -> Iterator[str]:
    """Records before the first one with an invalid index can be kept."""
    text = message.keys_are_utf8 and message.tags_are_utf8
    parse = partial(kpl_record.parse, data, invalid_utf8="error" if text else "replace")
    if code not in message.broken_codes():
        yield f"no index of the message makes it {code}"
    yield from refused_with(message.broken_codes(), parse)
    value, findings = accepted(partial(parse, on_corrupt="passthrough"))
    if not findings:
        reason = value["reason"] if value["reason"] in message.broken_codes() else code
        findings = tuple(first(differences(_plain_value(data, reason), _seen(value))))
    yield from findings
    value, findings = accepted(partial(parse, on_corrupt="prefix"))
    yield from findings
    if not findings:
        seen = _seen(value)
        yield from first(differences(_prefix(message), seen | {"records": _merged(seen["records"])}))
        yield from _as_the_client_library(vector, message, value)


def _prefix(message: Message) -> dict[str, object]:
    kept = next((index for index, record in enumerate(message.records) if record.broken), len(message.records))
    return {
        "kind": "aggregated",
        "class": "aggregated",
        "reason": None,
        "lost": len(message.records) - kept,
        "records": _merged(_shown(message.records[:kept])),
    }


# --- shards --------------------------------------------------------------------------------------------------------


def _halves(vector: Mapping[str, Any], data: bytes, message: Message | None) -> Iterator[str]:
    """The records in half of a hash range, if the client library uses the same rules as we do."""
    if message is not None and not message.hashes_as_the_client_library():
        return
    broken = message is None or bool(message.broken_codes())
    odd = message is not None and any(not record.hash_key_is_a_number() for record in message.records)
    for name, count in vector.get("kcl_hash_range", {}).items():
        decode = partial(
            kpl_record.parse,
            data,
            shard_range=_HALVES[name],
            on_corrupt="prefix" if broken else "error",
            invalid_utf8="replace",
        )
        if odd and not broken:
            yield from refused_with(("ehk_value",), decode)
            continue
        value, findings = accepted(decode)
        yield from (f"{name}: {finding}" for finding in findings)
        if not findings and len(value["records"]) != count:
            yield f"{name}: expected {count}, came {len(value['records'])}"

"""Judges `cases[]`, `streams[]`, JSON lines and `crc[]` of Databus by the results of the original Java accessors.

Damaged and doubtful events are judged by `databus_rules`, since we refuse some that the original accepts; events that
the original refuses must be refused.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from judging import databus_rules
from judging.verdicts import (
    Manifest,
    Verdict,
    accepted,
    differences,
    first,
    name_of,
    objects,
    read,
    refusal,
    refused_with,
    require,
    verdict,
)
from wireloom.runtime.errors import DecodeError
from wireloom.runtime.parsers.checksums import Crc
from wireloom_formats import databus_event, databus_json

FAMILY = "databus"
EVENTS, STREAMS, LINES, CRC = "databus-events", "databus-streams", "databus-json", "databus-crc"
Value = Mapping[str, Any]
_V2_MAGIC_SIGNED = -889266451
_ENCODINGS = ("json", "json_plain")  # events.<encoding>.jsonl, <stream>.<encoding>.jsonl


def recognises(manifest: Manifest) -> bool:
    """Whether the manifest has this form: cases with a byte order, streams or checksum values."""
    events = [*objects(manifest.get("cases")), *objects(manifest.get("streams"))]
    return any("byteOrder" in each for each in events) or any("crc" in each for each in objects(manifest.get("crc")))


def judge(folder: Path, manifest: Manifest) -> Iterator[Verdict]:
    """A verdict for each event, stream, line and checksum value."""
    cases, streams = manifest.get("cases", ()), manifest.get("streams", ())
    for number, case in enumerate(cases):
        yield verdict(EVENTS, name_of(case, number), partial(_event, folder, case))
    for number, stream in enumerate(streams):
        yield verdict(STREAMS, name_of(stream, number), partial(_stream, folder, stream))
    yield from _line_verdicts(folder, objects(cases), objects(streams))
    yield from _crc_verdicts(folder, manifest)


# --- events --------------------------------------------------------------------------------------------------------


def _event(folder: Path, case: Mapping[str, Any]) -> Iterator[str]:
    require(case, "name", "file", "kind", "byteOrder")
    data, order = read(folder, case, "length"), case["byteOrder"]
    codes = () if case["kind"] == "good" else databus_rules.event(data, order).codes
    if not codes and case.get("scanEvent") in ("ERR", "PARTIAL"):
        yield f"the runner's own rules accept what the original finds {case['scanEvent']}"
    parse = partial(databus_event.parse, data, byteOrder=order)
    if codes:
        yield from refused_with(codes, parse)
        yield from _unchecked(case.get("expected", {}), codes, data, order)
        return
    value, findings = accepted(parse)
    yield from findings
    if not findings:
        yield from _accessors(case.get("expected", {}), value, data, order)
        yield from _rebuilt(value, data, order)
        found = refusal(partial(databus_event.parse, data, byteOrder="auto"))
        if found != value:
            yield f"byteOrder auto: came {found!r}"


_CHECKSUMS = ("header_crc", "value_crc")


def _unchecked(expected: Mapping[str, Any], codes: Sequence[str], data: bytes, order: Any) -> Iterator[str]:
    """The accessors' results if only a checksum is wrong: `verifyCrc=False` must read the same."""
    if not expected or not set(codes) <= set(_CHECKSUMS):
        return
    found = refusal(partial(databus_event.parse, data, byteOrder=order, verifyCrc=False))
    if isinstance(found, DecodeError):  # the data that the checksum protects may be broken too
        if "value_crc" in codes and found.code in _CHECKSUMS:
            yield f"verifyCrc=False: came {found}"
        return
    for finding in _accessors(expected, found, data, order, verify=False):
        yield f"verifyCrc=False: {finding}"


def _rebuilt(value: Value, data: bytes, order: Any) -> Iterator[str]:
    built = databus_event.build(value, byteOrder=order)
    if built != data:
        yield f"built again: expected {data.hex()[:240]}, came {built.hex()[:240]}"


def _accessors(
    expected: Mapping[str, Any], value: Any, data: bytes, order: str, *, verify: bool = True
) -> Iterator[str]:
    """Every accessor that returned a value; one that threw tells nothing about the bytes."""
    for name, wanted in expected.items():
        throws = isinstance(wanted, dict) and "throws" in wanted
        if throws or (name == "calculatedBodyCrc" and not verify):
            continue
        if name not in _ACCESSORS:
            yield f"the runner does not know the accessor {name}"
            continue
        actual = _schema_version(value, data, order, verify) if name == "schemaVersion" else _ACCESSORS[name](value)
        yield from differences(wanted, actual, name)


def _schema_version(value: Value, data: bytes, order: Any, verify: bool) -> object:
    """V1 has it only if its schema id is read as a version; V2's absent part counts as version 0."""
    if value["version"] == 0:
        other = databus_event.parse(data, byteOrder=order, schemaField="version", verifyCrc=verify)
        return other["schemaVersion"]
    return value["schemaVersion"] or 0


def _hex(data: bytes | None) -> str | None:
    return None if data is None else data.hex()


def _sha256(data: bytes | None) -> str | None:
    return None if data is None else hashlib.sha256(data).hexdigest()


def _part(part: Mapping[str, Any] | None, wanted_hash: bool) -> dict[str, object] | None:
    if part is None:
        return None
    shown = {"data_sha256": _sha256(part["value"])} if wanted_hash else {"data_hex": _hex(part["value"])}
    return {
        "schemaDigestType": part["schemaDigestType"],
        "schemaDigest_hex": _hex(part["schemaId"]),
        "schemaVersion": part["schemaVersion"],
        "data_len": len(part["value"]),
    } | shown


_LARGE = 2048  # longer parts are in the manifest as a hash


def _shown_part(part: Mapping[str, Any] | None) -> dict[str, object] | None:
    return _part(part, wanted_hash=part is not None and len(part["value"]) > _LARGE)


def _payload_part(value: Value) -> dict[str, object] | None:
    return None if value["value"] is None else _shown_part(value)


def _payload_length(value: Value) -> int:
    if value["version"] == 0:  # V1 counts the byte[] key as payload
        return int(value["length"]) - (61 if value["keyBytes"] is None else 57)
    return len(value["value"] or b"")


def _is(source_class: str) -> Callable[[Value], object]:
    return lambda value: value["sourceClass"] == source_class


def _is_control(value: Value) -> object:
    return value["sourceClass"] != "data"


def _key_length(value: Value) -> object:
    return len(value["keyBytes"])


def _value_length(value: Value) -> object:
    return len(value["value"] or b"")


_ACCESSORS: Mapping[str, Callable[[Value], object]] = {
    "javaClass": lambda v: {0: "DbusEventV1", 2: "DbusEventV2"}[v["version"]],
    "version": lambda v: v["version"],
    "magic": lambda v: _V2_MAGIC_SIGNED if v["version"] == 2 else 0,
    "size": lambda v: v["length"],
    "headerCrc": lambda v: v["headerCrc"],
    "bodyCrc": lambda v: v["valueCrc"],
    "calculatedBodyCrc": lambda v: v["valueCrc"],
    "attributesRaw": lambda v: v["attributes"],
    "opcode": lambda v: v["opcode"],
    "isTraceEnabled": lambda v: v["trace"],
    "isExtReplicatedEvent": lambda v: v["replicated"],
    "isKeyNumber": lambda v: v["key"] is not None,
    "isKeyString": lambda v: v["keyBytes"] is not None,
    "isKeySchema": lambda v: v["keySchema"] is not None,
    "key": lambda v: v["key"],
    "keyBytesLength": _key_length,
    "keyBytes_len": _key_length,
    "keyBytes_hex": lambda v: _hex(v["keyBytes"]),
    "keyBytes_sha256": lambda v: _sha256(v["keyBytes"]),
    "keyPart": lambda v: _shown_part(v["keySchema"]),
    "sequence": lambda v: v["sequence"],
    "physicalPartitionId": lambda v: v["physicalPartitionId"],
    "logicalPartitionId": lambda v: v["logicalPartitionId"],
    "timestampInNanos": lambda v: v["timestampInNanos"],
    "srcId": lambda v: v["srcId"],
    "schemaId_hex": lambda v: _hex(v["schemaId"]),
    "schemaVersion": lambda v: v["schemaVersion"],  # see _schema_version
    "payloadLength": _payload_length,
    "valueLength": _value_length,
    "value_len": _value_length,
    "value_hex": lambda v: _hex(v["value"]),
    "value_sha256": lambda v: _sha256(v["value"]),
    "payloadPart": _payload_part,
    "metadataPart": lambda v: _shown_part(v["metadata"]),
    "isControlMessage": _is_control,
    "isControlSrcId": _is_control,
    "isPrivateControlMessage": _is("private"),
    "isEndOfPeriodMarker": _is("end_of_period"),
    "isCheckpointMessage": _is("checkpoint"),
    "isSCNRegressMessage": _is("scn_regress"),
    "isErrorEvent": _is("error"),
}


# --- streams -------------------------------------------------------------------------------------------------------


def _stream(folder: Path, stream: Mapping[str, Any]) -> Iterator[str]:
    require(stream, "name", "file", "byteOrder", "numEvents", "walkEnd")
    data, order = read(folder, stream, "length"), stream["byteOrder"]
    walk = list(databus_rules.stream(data, order))
    yield from _agrees_with_count(walk, stream)
    yield from _agrees_with_scan(walk, stream)
    iterate = partial(databus_event.iter_parse, data, framing="concatenated", byteOrder=order)
    framed = list(iterate(on_error="skip"))
    yield from first(_agrees_with_walk(walk, framed))
    for event, found in zip(stream.get("events", ()), framed, strict=False):
        if event["offset"] != found.offset:
            yield f"expected an event at {event['offset']}, came one at {found.offset}"
        elif found.error is None:
            yield from _accessors(event.get("expected", {}), found.value, bytes(found.data), order)
            yield from _rebuilt(found.value, bytes(found.data), order)
        else:
            end = walk[found.index][1].end if found.index < len(walk) else None
            event_bytes = data[found.offset :][:end]
            yield from _unchecked(event.get("expected", {}), (found.error.code,), event_bytes, order)
    yield from _stops_at_the_first_bad(walk, iterate)


def _agrees_with_count(walk: Sequence[tuple[int, databus_rules.Outcome]], stream: Mapping[str, Any]) -> Iterator[str]:
    """An event without a known end is the last. The original may or may not count it."""
    whole, number = sum(outcome.end is not None for _, outcome in walk), stream["numEvents"]
    complete = stream["walkEnd"] == "complete"
    if complete and whole != len(walk):
        yield f"the original walks to the end, the runner's own rules no further than {walk[-1][0]}"
    if number not in ({len(walk)} if complete else {whole, len(walk)}):
        yield f"the runner's own rules find {whole} events and {len(walk) - whole} broken off, the original {number}"
    for name in ("events", "scan"):
        if name in stream and len(stream[name]) < number:
            yield f"the manifest counts {number} events and describes {len(stream[name])} in {name}"


def _agrees_with_scan(walk: Sequence[tuple[int, databus_rules.Outcome]], stream: Mapping[str, Any]) -> Iterator[str]:
    """The original's walk: its `offset:header/event` lines, and the scans of each event."""
    lines = [str(line).partition(":") for line in stream.get("scan", ())]
    scans = [(int(offset), tuple(found.split("/"))) for offset, _, found in lines]
    scans.extend(
        (event["offset"], tuple(event[name] for name in ("scanHeader", "scanEvent") if name in event))
        for event in stream.get("events", ())
    )
    ours = {offset: outcome.codes for offset, outcome in walk}
    for offset, found in scans:
        codes, good = ours.get(offset), set(found) <= {"OK"}
        if codes == () and not good:
            yield f"the runner's own rules accept what the original finds {'/'.join(found)} at {offset}"
        elif found and good and codes and set(codes) <= set(_CHECKSUMS):  # otherwise we may refuse more
            yield f"the runner's own rules find {codes[0]} in what the original accepts at {offset}"


def _agrees_with_walk(walk: Sequence[tuple[int, databus_rules.Outcome]], framed: Sequence[Any]) -> Iterator[str]:
    if len(framed) != len(walk):
        yield f"expected {len(walk)} events, came {len(framed)}"
    for index, ((offset, outcome), found) in enumerate(zip(walk, framed, strict=False)):
        code = None if found.error is None else found.error.code
        if (found.index, found.offset) != (index, offset):
            yield f"expected event {index} at {offset}, came {found.index} at {found.offset}"
        if code not in (outcome.codes or (None,)):
            yield f"event {index}: expected {' or '.join(outcome.codes) or 'a value'}, came {found.error or 'a value'}"


def _stops_at_the_first_bad(
    walk: Sequence[tuple[int, databus_rules.Outcome]], iterate: Callable[..., Iterator[Any]]
) -> Iterator[str]:
    """`stop` yields the bad event and ends; `raise` raises instead. Earlier results stay valid."""
    good = next((index for index, (_, outcome) in enumerate(walk) if outcome.codes), len(walk))
    bad = good < len(walk)
    stopped = list(iterate(on_error="stop"))
    if len(stopped) != good + bad or (bad and stopped[-1].error is None):
        yield f"on_error stop: expected {good} good events and {int(bad)} bad, came {len(stopped)}"
    seen, raised = 0, False
    try:
        for _ in iterate(on_error="raise"):
            seen += 1
    except DecodeError:
        raised = True
    if (seen, raised) != (good, bad):
        yield f"on_error raise: expected {good} events and {int(bad)} errors, came {seen} and {int(raised)}"


# --- JSON lines ----------------------------------------------------------------------------------------------------


def _line_verdicts(
    folder: Path, cases: Sequence[Mapping[str, Any]], streams: Sequence[Mapping[str, Any]]
) -> Iterator[Verdict]:
    """Lines are compared with the event that they were written from."""
    for encoding in _ENCODINGS:
        path = folder / f"events.{encoding}.jsonl"
        if any("jsonLine" in case for case in cases):
            lines = _lines(path)
            for number, case in enumerate(cases):
                if "jsonLine" in case:
                    name = f"{path.name}[{case['jsonLine']}], {name_of(case, number)}"
                    yield verdict(LINES, name, partial(_case_line, folder, case, lines))
        for stream in streams:
            path = (folder / str(stream.get("file", "no file"))).with_suffix(f".{encoding}.jsonl")
            if path.exists():
                yield verdict(LINES, path.name, partial(_stream_lines, folder, stream, path))


def _lines(path: Path) -> list[bytes]:
    return path.read_bytes().removesuffix(b"\n").split(b"\n") if path.exists() else []


def _case_line(folder: Path, case: Mapping[str, Any], lines: Sequence[bytes]) -> Iterator[str]:
    event = databus_event.parse(read(folder, case, "length"), byteOrder=case["byteOrder"])
    yield from first(_line(lines[case["jsonLine"]], event))


def _stream_lines(folder: Path, stream: Mapping[str, Any], path: Path) -> Iterator[str]:
    events = databus_event.iter_parse(read(folder, stream, "length"), byteOrder=stream["byteOrder"])
    written = path.read_bytes()
    lines, framed = _lines(path), list(databus_json.iter_parse(written, on_error="skip"))
    if len(framed) != len(lines):
        yield f"iter_parse: expected {len(lines)} lines, came {len(framed)}"
    for number, (line, found, event) in enumerate(zip(lines, framed, events, strict=True)):
        if bytes(found.data).rstrip(b"\n") != line:
            yield f"line {number}: iter_parse gives other bytes"
        yield from (f"line {number}: {finding}" for finding in first(_line(line, event.value)))


def _line(line: bytes, event: Value) -> Iterator[str]:
    value, findings = accepted(partial(databus_json.parse, line))
    yield from findings
    if findings:
        return
    document = json.loads(line)
    yield from differences(_as_read_from_json(event, document), _shown(value))
    built = json.loads(databus_json.build(value))
    lossy = "\ufffd" in str(value)
    wanted, came = _reversible(document, lossy=lossy), _reversible(built, lossy=lossy)
    yield from (f"built again: {finding}" for finding in differences(wanted, came))


# Shown by both encodings; the rest (raw attributes, length, V1's checksums) is only in the bytes.
_SHARED = (
    "version",
    "opcode",
    "key",
    "keyBytes",
    "keyText",
    "sequence",
    "physicalPartitionId",
    "logicalPartitionId",
    "timestampInNanos",
    "srcId",
    "sourceClass",
    "trace",
    "replicated",
    "schemaId",
    "value",
    "valueText",
)
_SHARED_V2 = ("headerCrc", "valueCrc", "schemaVersion", "metadata")


def _shown(value: Value) -> dict[str, object]:
    names = (*_SHARED, *_SHARED_V2) if value["version"] == 2 else _SHARED
    shown = {name: value[name] for name in names}
    if shown.get("metadata") is not None:
        shown["metadata"] = {name: part for name, part in shown["metadata"].items() if name != "schemaDigestType"}
    return _merged(shown)


def _as_read_from_json(event: Value, document: Mapping[str, Any]) -> dict[str, object]:
    """The event in the form of its JSON line: values as text if the line has text, a schema key as its debug text."""
    plain = document["valueEnc"] == "JSON_PLAIN_VALUE"
    shown = {**event, "keyText": _debug_text(event["keySchema"]), **_in_text(event, plain)}
    if event["metadata"] is not None:
        shown["metadata"] = {**event["metadata"], **_in_text(event["metadata"], plain)}
    return _shown(shown)


def _in_text(part: Mapping[str, Any], plain: bool) -> dict[str, object]:
    data = part["value"]
    if not plain or data is None:
        return {"value": data, "valueText": None}
    return {"value": None, "valueText": data.decode(errors="replace")}


def _debug_text(part: Mapping[str, Any] | None) -> str | None:
    """V2's JSON shows a schema key as text, with its data cut at 64 bytes."""
    if part is None:
        return None
    identity, data = part["schemaId"].hex(), part["value"][:64].hex()
    return f"Length={len(part['value'])};SchemaVersion={part['schemaVersion']};SchemaId=0x{identity};Value=0x{data}"


def _merged(shown: dict[str, Any]) -> dict[str, object]:
    """Collapse runs of U+FFFD, whose length depends on the program that replaced broken text."""
    return {
        name: re.sub("\ufffd+", "\ufffd", value) if isinstance(value, str) else value for name, value in shown.items()
    }


def _reversible(document: Mapping[str, Any], *, lossy: bool) -> dict[str, object]:
    """The parts of a line that its value determines.

    A member of V1 that means false if absent may be present or not. In a V2 line without a value, the encoding of
    values means nothing. The length of bytes is lost if their text is only an approximation (U+FFFD).
    """
    if "version" not in document:
        return {"isReplicated": False, "endOfPeriod": False, "traceEnabled": False, **document}
    empty = not (document["hasPayload"] or document["hasPayloadMetadata"])
    lost = {"valueEnc"} if empty else {"payloadLength", "metadataLength"} if lossy else set()
    return {name: member for name, member in document.items() if name not in lost}


# --- checksums -----------------------------------------------------------------------------------------------------


def _crc_verdicts(folder: Path, manifest: Manifest) -> Iterator[Verdict]:
    """A verdict for each checksum with an available input; some inputs are known only by their hash."""
    entries = manifest.get("crc", ())
    lengths = {entry.get("len") for entry in objects(entries) if "input_hex" not in entry}
    by_hash = _parts_by_hash(folder, manifest, {length for length in lengths if isinstance(length, int)})
    for number, entry in enumerate(entries):
        hashed = isinstance(entry, dict) and "input_hex" not in entry and "input_sha256" in entry
        if not hashed or entry["input_sha256"] in by_hash:
            name = f"crc[{number}], {entry.get('len', '?') if isinstance(entry, dict) else '?'} bytes"
            yield verdict(CRC, name, partial(_crc, entry, by_hash))


def _crc(entry: Mapping[str, Any], by_hash: Mapping[str, bytes]) -> Iterator[str]:
    require(entry, "crc")
    data = bytes.fromhex(entry["input_hex"]) if "input_hex" in entry else by_hash[entry["input_sha256"]]
    if len(data) != entry.get("len", len(data)):
        yield f"the manifest says {entry['len']} bytes and gives {len(data)}"
    dbus_crc = Crc(width=32, poly=0x04C11DB7, init=0, xorout=0, reflected=True)
    if dbus_crc(data) != entry["crc"]:
        yield f"expected {entry['crc']:#010x}, came {dbus_crc(data):#010x}"


def _parts_by_hash(folder: Path, manifest: Manifest, lengths: set[int]) -> dict[str, bytes]:
    """The possible inputs of checksums among the folder's files: files, and ends of events, of these lengths."""
    if not lengths:
        return {}
    listed = {each.get("file") for each in (*objects(manifest.get("cases")), *objects(manifest.get("streams")))}
    on_disk = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    parts: dict[str, bytes] = {}
    for name in sorted(on_disk | {str(file) for file in listed if file}):
        path = folder / name
        for whole in _events_of(path.read_bytes()) if path.is_file() else ():
            for length in lengths:
                if length <= len(whole):
                    part = whole[len(whole) - length :]
                    parts[hashlib.sha256(part).hexdigest()] = part
    return parts


def _events_of(data: bytes) -> Iterator[bytes]:
    """The bytes themselves, and each event in them."""
    yield data
    for order in ("big", "little"):
        for offset, outcome in databus_rules.stream(data, order):
            if outcome.end is not None:
                yield data[offset : offset + outcome.end]

"""Judges `vectors[]` of Aerospike messages; values are compared in tagged form, so that 1, 1.0, "1" and true differ.

Tagged form: {"t": kind, "v": content}, floats by their IEEE 754 bits. The manifest's `outcome` says what must happen;
if it is `policy`, `recommended` does.
"""

import base64
import json
import math
import re
import struct
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import jsonschema

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
from wireloom.runtime.values import Extension, Pairs
from wireloom_formats import aerospike_json, aerospike_msgpack

FAMILY = "aerospike"
_MODULES: Mapping[str, Any] = {"msgpack": aerospike_msgpack, "json": aerospike_json}
_LAYOUTS = ("current", "legacy", "any")
_SCHEMA_WORDS = ("accepts", "rejects", "n/a")
_TYPE_CODES = {
    "INTEGER": 1,
    "DOUBLE": 2,
    "STRING": 3,
    "BLOB": 4,
    "JAVA_OBJ": 7,
    "CSHARP_BLOB": 8,
    "PYTHON_BLOB": 9,
    "RUBY_BLOB": 10,
    "PHP_BLOB": 11,
    "ERLANG_BLOB": 12,
    "BOOLEAN": 17,
    "HLL": 18,
    "MAP": 19,
    "LIST": 20,
    "GEOJSON": 23,
}
_GEOJSON_EXTENSION = 23
# For JSON text, a plain json_syntax is also right for these.
_SYNTAX_TOO = ("truncated", "trailing_bytes", "json_nonfinite")
_PREFIX_PROPERTY = re.compile(r"every proper prefix of (\S+) must fail with `(\w+)`")


def recognises(manifest: Manifest) -> bool:
    """Whether the manifest has this form: vectors with an encoding and an outcome."""
    return any("outcome" in vector and "encoding" in vector for vector in objects(manifest.get("vectors")))


def judge(folder: Path, manifest: Manifest) -> Iterator[Verdict]:
    """A verdict for each vector of these formats, and for each property in the manifest."""
    for number, vector in enumerate(manifest["vectors"]):
        if not (isinstance(vector, dict) and vector.get("outcome") == "reference_only"):
            yield verdict(FAMILY, name_of(vector, number), partial(_findings, folder, vector))
    files = {vector.get("file"): vector for vector in objects(manifest["vectors"])}
    for text in manifest.get("properties", ()):
        match = _PREFIX_PROPERTY.search(str(text))
        if match and match[1] in files:  # the file of a property may be elsewhere
            yield verdict(f"{FAMILY}-prefixes", match[1], partial(_prefixes, folder, files[match[1]], match[2]))


def _findings(folder: Path, vector: Mapping[str, Any]) -> Iterator[str]:
    require(vector, "file", "encoding", "layout", "kind", "outcome")
    if vector["layout"] not in _LAYOUTS:
        yield f"the runner does not know the layout {vector['layout']!r}"
    data = read(folder, vector, "bytes")
    outcome = vector["recommended"] if vector["outcome"] == "policy" else vector["outcome"]
    match outcome:
        case "ok":
            yield from _must_decode(folder, vector, data)
        case "error":
            yield from refused_with(_codes(vector, data), partial(_parse, vector, data))
        case _:
            yield f"the runner does not know the outcome {outcome!r}"
    if vector["encoding"] == "json":
        yield from _schema_findings(vector, data)


def _parse(vector: Mapping[str, Any], data: bytes) -> object:
    return _MODULES[vector["encoding"]].parse(data, root=vector["kind"], **_parameters(vector))


def _parameters(vector: Mapping[str, Any]) -> dict[str, str]:
    legacy = vector["encoding"] == "msgpack" and vector["layout"] == "legacy"
    return {"variant": "legacy"} if legacy else {}


def _codes(vector: Mapping[str, Any], data: bytes) -> tuple[str, ...]:
    codes = (vector["error"], *vector.get("error_also_ok", ()))
    wide = data[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in data[:2]
    if vector["encoding"] == "json" and (vector["error"] in _SYNTAX_TOO or wide):
        return (*codes, "json_syntax")
    return codes


def _prefixes(folder: Path, vector: Mapping[str, Any], code: str) -> Iterator[str]:
    data = read(folder, vector, "bytes")
    for size in range(len(data)):
        for finding in refused_with((code,), partial(_parse, vector, data[:size])):
            yield f"{size} bytes: {finding}"


# --- values --------------------------------------------------------------------------------------------------------


def _must_decode(folder: Path, vector: Mapping[str, Any], data: bytes) -> Iterator[str]:
    value, findings = accepted(partial(_parse, vector, data))
    yield from findings
    if findings:
        return
    expected = vector["expected"] if "expected" in vector else _read_json(folder / vector["expected_file"])
    yield from first(_compare(vector["encoding"], vector["kind"], expected, value))
    yield from first(_rebuilt(vector, value))


def _read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _rebuilt(vector: Mapping[str, Any], value: Any) -> Iterator[str]:
    """Building and parsing again gives the same value; the bytes may differ (number widths)."""
    data = _MODULES[vector["encoding"]].build(value, root=vector["kind"], **_parameters(vector))
    again = _parse(vector, data)
    kind, encoding = vector["kind"], vector["encoding"]
    for finding in differences(_shape(encoding, kind, value), _shape(encoding, kind, again)):
        yield f"built again: {finding}"


def _compare(encoding: str, kind: str, expected: Any, value: Any) -> Iterator[str]:
    actual = _shape(encoding, kind, value)
    if not kind.startswith("batch_"):
        return differences(_expected(kind, expected), actual)
    return differences([_expected(kind, each) for each in expected], actual)


def _expected(kind: str, expected: Mapping[str, Any]) -> object:
    """The manifest's record or key in the form of `_shape`."""
    if kind in ("key", "batch_keys"):
        return _expected_key(expected)
    record: dict[str, object] = {
        "msg": expected["msg"],
        "key": _expected_key(expected["key"]),
        "gen": expected["gen"],
        "exp": expected["exp"],
        "lut": expected["lut"],
        "durable": expected.get("durable"),
        "bins": [_expected_bin(bin) for bin in expected["bins"]] if "bins" in expected else None,
    }
    # Derived, so not shown to readers: the version (always 1), the flags of a delete, its arity.
    nil = expected["gen"] is expected["exp"] is expected["lut"] is None
    arities = (None, 2, 5) if nil else (None, 5)  # two elements have no place for the three numbers
    implied = {
        "version": (1,),
        "flags": (int(bool(expected.get("durable"))),),
        "delete_arity": arities if expected["msg"] == "delete" else (None,),
    }
    return record | {
        name: expected[name] for name, right in implied.items() if expected.get(name, right[0]) not in right
    }


def _expected_key(key: Mapping[str, Any]) -> dict[str, object]:
    return {
        "namespace": key["namespace"],
        "set": key["set"],
        "digest": _plain(key["digest"]),
        "user_key": _plain(key["user_key"]),
    }


def _expected_bin(bin: Mapping[str, Any]) -> dict[str, object]:
    type = {"type": bin["type"], "type_code": bin["type_code"]}
    return {"name": bin["name"], **type, "flags": bin["flags"], "value": _plain(bin["value"])}


def _plain(tagged: Mapping[str, Any]) -> object:
    """A tagged value in comparable form: floats by their bits, NaN as NaN."""
    match tagged["t"]:
        case "float":
            nan = math.isnan(struct.unpack(">d", bytes.fromhex(tagged["hex"]))[0])
            return {"t": "float", "hex": "nan" if nan else tagged["hex"]}
        case "list":
            return {"t": "list", "v": [_plain(element) for element in tagged["v"]]}
        case "map":
            return {"t": "map", "v": [[_plain(key), _plain(value)] for key, value in tagged["v"]]}
        case "geojson_obj":
            return {"t": "geojson_obj", "v": _plain(tagged["v"])}
        case _:
            return dict(tagged)


def _shape(encoding: str, kind: str, value: Any) -> object:
    """Our value in the form of the manifest."""
    match kind:
        case "batch_records" | "batch_keys":
            return [_shape(encoding, kind.removeprefix("batch_").removesuffix("s"), each) for each in value]
        case "key":
            return _key(value)
        case _:
            return _record(encoding, value)


def _record(encoding: str, value: Mapping[str, Any]) -> dict[str, object]:
    bins = value["bins"]
    return {
        "msg": value["msg"],
        "key": _key(value["key"]),
        "gen": value["generation"],
        "exp": value["expiry"],
        "lut": value["lut"],
        "durable": value["durable"],
        "bins": None if bins is None else [_bin(encoding, bin) for bin in bins],
    }


def _key(value: Mapping[str, Any]) -> dict[str, object]:
    return {
        "namespace": value["namespace"],
        "set": value["set"],
        "digest": _tagged(value["digest"]),
        "user_key": _tagged(value["userKey"]),
    }


def _bin(encoding: str, bin: Mapping[str, Any]) -> dict[str, object]:
    value = _geojson(encoding, bin["value"]) if bin["type"] == "GEOJSON" else _tagged(bin["value"])
    type = {"type": bin["type"], "type_code": _TYPE_CODES[bin["type"]]}
    return {"name": bin["name"], **type, "flags": bin["flags"], "value": value}


def _geojson(encoding: str, text: Any) -> dict[str, object]:
    if encoding == "msgpack":
        return {"t": "geojson", "v": text}
    return {"t": "geojson_obj", "v": _tagged(json.loads(text, object_pairs_hook=Pairs))}


def _tagged(value: object) -> dict[str, object]:
    match value:
        case None:
            return {"t": "nil"}
        case bool():
            return {"t": "bool", "v": value}
        case int():
            return {"t": "int", "v": str(value)}
        case float():
            return {"t": "float", "hex": "nan" if math.isnan(value) else struct.pack(">d", value).hex()}
        case str():
            return {"t": "str", "v": value}
        case bytes():
            return {"t": "bytes", "b64": base64.b64encode(value).decode()}
        case Pairs():
            return {"t": "map", "v": [[_tagged(key), _tagged(each)] for key, each in value]}
        case list():
            return {"t": "list", "v": [_tagged(element) for element in value]}
        case Extension(code=code, value=str() as text) if code == _GEOJSON_EXTENSION:
            return {"t": "geojson", "v": text}
        case Extension(code=code, value=bytes() as data):
            return {"t": "blob_ext", "ext": code, "b64": base64.b64encode(data).decode()}
        case _:
            raise TypeError(f"no tag for {value!r}")


# --- the JSON Schema -----------------------------------------------------------------------------------------------


def _schema_findings(vector: Mapping[str, Any], data: bytes) -> Iterator[str]:
    """A document that decodes and fits the manifest's schema must fit ours; one that it rejects, ours must reject."""
    wanted = vector.get("json_schema", "n/a")
    if wanted not in _SCHEMA_WORDS:
        yield f"the runner does not know what {wanted!r} says of the JSON Schema"
    decodes = (vector.get("recommended") or vector["outcome"]) == "ok"
    if wanted == "n/a" or (wanted == "accepts" and not decodes):
        return
    error = jsonschema.exceptions.best_match(_validator(vector["kind"]).iter_errors(json.loads(data)))
    if wanted == "accepts" and error is not None:
        yield f"JSON Schema refuses it: {error.json_path}: {error.message}"
    if wanted == "rejects" and error is None:
        yield "JSON Schema accepts it, and must not"


def _validator(root: str) -> jsonschema.Draft202012Validator:
    schema = aerospike_json.JSON_SCHEMA
    if root != "record":
        schema = {**schema["$defs"][root], "$defs": schema["$defs"]}
    return jsonschema.Draft202012Validator(schema)

"""JSON Schemas of the canonical rendering of logical types (`wireloom.runtime.columns.canonical`)."""

import math
from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import assert_never

from wireloom.emit.frames import described
from wireloom.emit.jsonschema.base64 import pattern
from wireloom.emit.jsonschema.constants import Schema
from wireloom.model.types import Spelling
from wireloom.runtime.columns import logical
from wireloom.runtime.columns.logical import (
    Alternatives,
    BigInteger,
    ExtensionType,
    Float,
    Integer,
    LogicalType,
    Meant,
    Open,
    Record,
    Scaled,
)
from wireloom.runtime.columns.meanings import EXPECTED
from wireloom.runtime.errors import amount
from wireloom.runtime.patterns import NAMED as NAMED_PATTERNS
from wireloom.runtime.patterns import decimals, worded
from wireloom.runtime.primitives.packing import BASE64
from wireloom.runtime.values import float32, kind_of

OPEN = "OpenValue"
_END = "(?!\\n)$"  # the end of the text, not of its last line
_NUMBER_WORDS = ["NaN", "Infinity", "-Infinity"]


def schema(type: LogicalType) -> Schema:
    """The schema of the rendering of a value of this type."""
    match type:
        case logical.Boolean():
            return {"type": "boolean"}
        case Integer():
            return {"type": "integer", "minimum": type.minimum, "maximum": type.maximum}
        case BigInteger():
            return _texts("(?:0|-?[1-9][0-9]{0,38})", "an integer of up to 39 digits as decimal text")
        case Float():
            return {"oneOf": [{"type": "number"}, {"enum": _NUMBER_WORDS}]}
        case logical.Text(symbols):
            return {"enum": list(symbols)} if symbols else {"type": "string"}
        case logical.Binary(size):
            return binary(size)
        case logical.List(element, nullable):
            return {"type": "array", "items": perhaps_null(schema(element), nullable=nullable)}
        case logical.Map(key, value, nullable):
            return {"type": "array", "items": pair(schema(key), perhaps_null(schema(value), nullable=nullable))}
        case Record():
            return _record(type)
        case Alternatives():
            return {"oneOf": [tagged(name, schema(option)) for name, option in logical.alternatives(type)]}
        case Open():
            return {"$ref": f"#/$defs/{OPEN}"}
        case Meant():
            return _with_meaning(type)
        case _:
            assert_never(type)


def _with_meaning(type: Meant) -> Schema:
    match type.shown:
        case None:
            return schema(type.wire)
        case Scaled("integer"):
            return _whole(type.wire, type.shown) if isinstance(type.wire, Integer) else {"type": "integer"}
        case Scaled("decimal", digits=digits):
            fraction = f"\\.[0-9]{{{digits}}}" if digits else ""
            return _texts(f"-?(?:0|[1-9][0-9]*){fraction}", _decimal(digits))
        case Scaled(kind):
            return dict(_TIMES[kind])
        case logical.Said(Scaled("decimal", precision=precision, digits=digits)):
            return _texts(f"(?:{decimals(precision, digits, padded=True)})", _decimal(digits))
        case logical.Said():
            return schema(type.shown.plain)
        case logical.Measured():
            return {"type": "number"}
        case logical.Written(kind):
            return dict(_ADDRESSES[kind])
        case logical.Encoded():
            return {"type": "string"}
        case logical.Named(names):
            return {"enum": list(dict.fromkeys(name for _, name in names))}
        case _:
            assert_never(type.shown)


def _whole(wire: Integer, scaled: Scaled) -> Schema:
    """The range of integers that the wire's range is scaled to."""
    ends = sorted(end * scaled.multiplier + scaled.offset for end in (wire.minimum, wire.maximum))
    return {"type": "integer", "minimum": ends[0], "maximum": ends[1]}


def _texts(pattern: str, words: str, format: str | None = None) -> Schema:
    """The schema of texts that match a pattern; `words` describes them in the schema's comment."""
    named = {} if format is None else {"format": format}
    return {"type": "string", **named, "pattern": f"^{pattern}{_END}", "$comment": words}


def _decimal(digits: int) -> str:
    return f"decimal text with {digits} digits after the point" if digits else "decimal text without a fraction"


_TIMES: Mapping[str, Schema] = {
    "timestamp": _texts(
        "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\\.[0-9]{6})?Z", EXPECTED["timestamp"], "date-time"
    ),
    "date": _texts("[0-9]{4}-[0-9]{2}-[0-9]{2}", EXPECTED["date"], "date"),
    "duration": _texts("-?PT(?:0|[1-9][0-9]*)(?:\\.[0-9]{6})?S", EXPECTED["duration"]),
}
_ADDRESSES: Mapping[str, Schema] = {
    "uuid": _texts("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", worded("uuid", ""), "uuid"),
    "ipv4": _texts("[0-9]{1,3}(?:\\.[0-9]{1,3}){3}", "an IPv4 address such as 192.0.2.1", "ipv4"),
    "ipv6": _texts("[0-9a-f:]{2,39}", "an IPv6 address such as 2001:db8::1", "ipv6"),
    "mac": _texts("[0-9a-f]{2}(?::[0-9a-f]{2}){5}", "a MAC address such as 02:00:5e:10:00:01"),
}


def integer(lowest: int, highest: int, minimum: int | None = None, maximum: int | None = None) -> Schema:
    """The schema of an integer within a type's limits, in a narrower range if one is given."""
    return {
        "type": "integer",
        "minimum": lowest if minimum is None else max(lowest, minimum),
        "maximum": highest if maximum is None else min(highest, maximum),
    }


def spelled(spelling: Spelling) -> Schema:
    """The keywords for the length and pattern of a text."""
    keywords = {
        "minLength": spelling.minimum,
        "maxLength": spelling.maximum,
        "format": spelling.known if spelling.known in NAMED_PATTERNS else None,
        "pattern": f"^(?:{spelling.pattern}){_END}" if spelling.pattern else None,
        "$comment": worded(spelling.known, spelling.pattern) if spelling.pattern else None,
    }
    return {name: value for name, value in keywords.items() if value is not None}


def binary(size: int | None = None, *, line_feeds: bool = False) -> Schema:
    """The schema of bytes as base64 text."""
    words = BASE64 if size is None else f"{BASE64}, of {amount(size)}"
    spelled = pattern(size, line_feeds=line_feeds)
    return {"type": "string", "contentEncoding": "base64", "pattern": spelled, "$comment": words}


def tagged(name: str, content: Schema) -> Schema:
    """The schema of an object with the single member `name`."""
    return {"type": "object", "properties": {name: content}, "required": [name], "additionalProperties": False}


def described_schema(schema: Schema, doc: str, unit: str) -> Schema:
    """The schema with a description as its first keyword, if there is one."""
    description = described(doc, unit)
    return {"description": description, **schema} if description else schema


def _record(record: Record) -> Schema:
    """The schema of a record; null members are omitted, so nullable members are not required."""
    return {
        "type": "object",
        "properties": {member.name: _member(member) for member in record.fields},
        "required": [member.name for member in record.fields if not member.nullable],
        "additionalProperties": False,
    }


def _member(member: logical.LogicalField) -> Schema:
    return described_schema(schema(member.type), member.doc, member.unit)


def constant(value: object, type: LogicalType) -> object:
    """The rendering of a constant as this type."""
    match type, value:
        case Alternatives(), _:
            kind = kind_of(value)
            option = dict(logical.alternatives(type)).get(kind, Open())
            return {kind: constant(value, option)}
        case Meant(shown=logical.Encoded(charset)), bytes():
            return value.decode(charset)
        case _, bytes():
            return b64encode(value).decode()
        case BigInteger(), int():
            return str(value)
        case Float(), int() | float() if not math.isfinite(value):
            return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        case Float(bits), int() | float():
            return float(value) if bits == 64 else float32(float(value))
        case _:
            return value


def perhaps_null(schema: Schema, *, nullable: bool) -> Schema:
    """The schema of a list's element or a map's value, where null is written out."""
    takes_null = schema == {"$ref": f"#/$defs/{OPEN}"}
    return {"oneOf": [{"type": "null"}, schema]} if nullable and not takes_null else schema


def pair(key: Schema, value: Schema) -> Schema:
    """The schema of a map's entry."""
    return {"type": "array", "prefixItems": [key, value], "items": False, "minItems": 2}


def open_value(extensions: Sequence[ExtensionType]) -> Schema:
    """The schema of open values, which are tagged with their kind, extensions included."""
    itself: Schema = {"$ref": f"#/$defs/{OPEN}"}
    text: Schema = {"type": "string"}
    contents: dict[str, Schema] = {
        "bool": {"type": "boolean"},
        "int": {"type": "integer"},
        "float": schema(Float(64)),
        "str": text,
        "bytes": binary(),
        "list": {"type": "array", "items": itself},
        "map": {"type": "array", "items": pair(itself, itself)},
        **{each.name: text if each.text else binary() for each in extensions},
    }
    options: list[Schema] = [{"type": "null"}, *(tagged(name, content) for name, content in contents.items())]
    return {"description": "A value of any type, tagged with its kind", "oneOf": options}

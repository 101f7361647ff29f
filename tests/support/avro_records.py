"""Random values of Avro schemas: in the form that fastavro writes, and as the spec of the schema reads them."""

import struct
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any, assert_never
from uuid import UUID

from wireloom.importing.avsc.schemas import (
    Array,
    Enum,
    Fixed,
    Logical,
    Map,
    Primitive,
    Record,
    Schema,
    Union,
    branch_name,
)

Pair = tuple[Any, Any]  # fastavro's value, and the spec's value
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LEVELS = 2  # of nested records
_TEXTS = ("", "a", "text", "ä€😀", "x" * 200)


def drawn(schema: Schema, random: Random, depth: int = 0) -> Pair:
    """A random value of a schema."""
    match schema:
        case Primitive(logical=None):
            return _plain(schema.name, random)
        case Primitive() | Fixed() if schema.logical is not None:
            return _meant(schema, schema.logical, random)
        case Primitive():
            raise AssertionError(schema)
        case Fixed():
            return (random.randbytes(schema.size),) * 2
        case Enum():
            return (random.choice(schema.symbols),) * 2
        case Array():
            times = 0 if depth >= LEVELS and isinstance(schema.items, Record) else random.randint(0, 3)
            pairs = [drawn(schema.items, random, depth) for _ in range(times)]
            wraps = isinstance(schema.items, Array | Map | Union) or _has_meaning(schema.items)
            read = [_wrapped(schema.items, each) if wraps else each[1] for each in pairs]
            return [each[0] for each in pairs], read
        case Map():
            times = 0 if depth >= LEVELS and isinstance(schema.values, Record) else random.randint(0, 3)
            entries = {key: drawn(schema.values, random, depth) for key in random.sample(_TEXTS, times)}
            is_wrapped = isinstance(schema.values, Union) and not is_nullable(schema.values)
            seen = {key: _wrapped(schema.values, each) if is_wrapped else each[1] for key, each in entries.items()}
            return {key: each[0] for key, each in entries.items()}, seen
        case Union():
            return _branch(schema, random, depth)
        case Record():
            members = [(each, drawn(each.type, random, depth + 1)) for each in schema.fields]
            told: dict[str, Any] = {}
            for each, pair in members:
                told |= _told(each.name, each.type, pair)
            return {each.name: pair[0] for each, pair in members}, told
        case _:
            assert_never(schema)


def is_nullable(union: Union) -> bool:
    """Whether a union has one type, and null."""
    return len(union.branches) == 1 or (len(union.branches) == 2 and Primitive("null") in union.branches)


def _told(name: str, schema: Schema, pair: Pair) -> dict[str, Any]:
    """The members that hold a value."""
    beside = {}
    if isinstance(schema, Union) and not is_nullable(schema):
        written = pair[0]
        beside = {f"{name}_branch": written[0].rpartition(".")[2] if isinstance(written, tuple) else "null"}
    return {name: pair[1]} | beside


def _wrapped(schema: Schema, pair: Pair) -> dict[str, Any]:
    return _told("value", schema, pair)


def _has_meaning(schema: Schema) -> bool:
    logical = getattr(schema, "logical", None)
    return logical is not None and logical.name not in ("uuid", "duration", "unknown")


def _branch(union: Union, random: Random, depth: int) -> Pair:
    branches = [each for each in union.branches if depth < LEVELS or not isinstance(each, Record)]
    branch = random.choice(branches)
    written, read = drawn(branch, random, depth)
    return (written if branch == Primitive("null") else (branch_name(branch), written)), read


def _plain(name: str, random: Random) -> Pair:
    match name:
        case "null":
            value: Any = None
        case "boolean":
            value = random.random() < 0.5
        case "int":
            value = random.choice((0, -1, 1, 63, 64, -65, (1 << 31) - 1, -(1 << 31), random.randint(-(10**6), 10**6)))
        case "long":
            value = random.choice((0, -1, (1 << 63) - 1, -(1 << 63), random.randint(-(10**15), 10**15)))
        case "float":
            value = struct.unpack("f", struct.pack("f", random.choice((0.0, float("inf"), random.gauss(0, 9)))))[0]
        case "double":
            value = random.choice((0.0, float("-inf"), random.gauss(0, 1e9)))
        case "bytes":
            value = random.randbytes(random.choice((0, 1, 9)))
        case "string":
            value = random.choice(_TEXTS)
        case _:
            raise AssertionError(name)
    return value, value


def _meant(schema: Primitive | Fixed, logical: Logical, random: Random) -> Pair:
    day, millis = random.randint(-700_000, 2_000_000), random.randint(0, 86_399_999)
    moment = EPOCH + timedelta(days=random.randint(-700_000, 2_900_000), milliseconds=millis)
    match logical.name:
        case "date":
            return (date(1970, 1, 1) + timedelta(days=day),) * 2
        case "time-millis" | "time-micros":
            span = timedelta(milliseconds=millis)
            return (EPOCH + span).time(), span
        case "timestamp-millis" | "timestamp-micros":
            return moment, moment
        case "local-timestamp-millis" | "local-timestamp-micros":
            return moment.replace(tzinfo=None), moment
        case "uuid":
            identity = UUID(int=random.getrandbits(128))
            return identity, str(identity)
        case "duration":
            numbers = [random.getrandbits(32) for _ in range(3)]
            return struct.pack("<3I", *numbers), dict(zip(("months", "days", "millis"), numbers, strict=True))
        case "decimal" if logical.precision <= 18:
            most = 10**logical.precision - 1
            bound = most if isinstance(schema, Primitive) else min(most, (1 << 8 * schema.size - 1) - 1)
            value = (
                Decimal(random.choice((0, -1, 127, 128, -bound, random.randint(-bound, bound)))) if bound > 128 else 0
            )
            value = Decimal(value).scaleb(-logical.scale)
            return value, value
        case _:
            raise AssertionError(logical)

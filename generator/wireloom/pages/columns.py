"""Describes the columns that readers see: a table for each record, nested ones by path, and the DDL of a root."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import assert_never

import pyarrow as pa

from wireloom.emit.frames import described
from wireloom.escapes import code_span, inline
from wireloom.pages.markdown import blocks, table
from wireloom.pages.rules import ADDRESSES
from wireloom.runtime.columns.arrow import arrow_type
from wireloom.runtime.columns.logical import (
    Alternatives,
    BigInteger,
    Binary,
    Boolean,
    Encoded,
    Float,
    Integer,
    List,
    LogicalField,
    LogicalType,
    Map,
    Meant,
    Measured,
    Named,
    Open,
    Record,
    Said,
    Scaled,
    Text,
    Written,
    alternatives,
)

_SPARK: Mapping[pa.DataType, str] = {
    pa.bool_(): "boolean",
    pa.int8(): "tinyint",
    pa.int16(): "smallint",
    pa.int32(): "int",
    pa.int64(): "bigint",
    pa.float32(): "float",
    pa.float64(): "double",
    pa.string(): "string",
    pa.binary(): "binary",
    pa.date32(): "date",
    pa.timestamp("us", "UTC"): "timestamp",
    pa.duration("us"): "interval day to second",
}
"""Spark's DDL names of Arrow types; the command that makes pages does not need PySpark."""
_HEAD = ("column", "type", "Arrow", "Spark", "JSON", "null", "meaning")


def columns(record: Record) -> str:
    """The tables of a root's columns."""
    same: dict[str, list[str]] = {}
    for path, rows in tables(record):
        same.setdefault(table(_HEAD, rows), []).append(code_span(path) if path else "")
    return blocks(*(blocks(", ".join(paths), rows) for rows, paths in same.items()))


def ddl(record: Record) -> str:
    """The columns as Spark DDL."""
    return ",\n".join(f"{_quoted(field.name)} {_ddl(field.type)}{_not_null(field)}" for field in record.fields)


def _ddl(type: LogicalType) -> str:
    return _type_text(type, "array", " ", _spark_scalar, _struct)


def _struct(record: Record) -> str:
    inner = (f"{_quoted(field.name)}: {_ddl(field.type)}{_not_null(field)}" for field in record.fields)
    return f"struct<{', '.join(inner)}>"


def _not_null(field: LogicalField) -> str:
    return "" if field.nullable else " not null"


def _quoted(name: str) -> str:
    return name if name.isidentifier() and name.isascii() else "`" + name.replace("`", "``") + "`"


def tables(record: Record, path: str = "") -> Iterator[tuple[str, list[Sequence[str]]]]:
    """The path and rows of the record's table, then those of inner records."""
    yield path, [_row(field) for field in record.fields]
    for field in record.fields:
        for inner, suffix in _records(field.type):
            place = f"{path}.{field.name}" if path else field.name
            yield from tables(inner, place + suffix)


def _row(field: LogicalField) -> Sequence[str]:
    kinds = (arrow_text(field.type), spark_type(field.type))
    null = "yes" if field.nullable else ""
    meaning = inline(described(field.doc, field.unit))
    return code_span(field.name), type_text(field.type), *map(code_span, kinds), json_form(field.type), null, meaning


def arrow_text(type: LogicalType) -> str:
    """The Arrow type of a column; inner records have their own tables."""
    return _type_text(type, "list", " ", lambda scalar: str(arrow_type(scalar)))


def spark_type(type: LogicalType) -> str:
    """The Spark type of a column; inner records have their own tables."""
    return _type_text(type, "array", "", _spark_scalar)


def _spark_scalar(type: LogicalType) -> str:
    found = arrow_type(type)
    return f"decimal({found.precision},{found.scale})" if pa.types.is_decimal(found) else _SPARK[found]


def _type_text(
    type: LogicalType,
    listed: str,
    gap: str,
    scalar: Callable[[LogicalType], str],
    record: Callable[[Record], str] = lambda _: "struct",
) -> str:
    """The text of a type, with the word for lists and the separator that the notation uses."""

    def inner(part: LogicalType) -> str:
        return _type_text(part, listed, gap, scalar, record)

    match type:
        case Record():
            return record(type)
        case List(element):
            return f"{listed}<{inner(element)}>"
        case Map(key, value):
            return f"map<{inner(key)},{gap}{inner(value)}>"
        case Alternatives():
            return f"struct<{f',{gap}'.join(f'{name}:{gap}{inner(option)}' for name, option in alternatives(type))}>"
        case Open():
            return "variant"
        case _:
            return scalar(type)


def json_form(type: LogicalType) -> str:
    """How the canonical JSON shows a value."""
    match type:
        case Boolean():
            return "boolean"
        case Integer():
            return "number"
        case BigInteger():
            return "decimal string"
        case Float() | Meant(shown=Measured()):
            return "number"
        case Binary():
            return "base64 string"
        case Text():
            return "string"
        case List():
            return "array"
        case Map():
            return "array of [key, value]"
        case Record():
            return "object"
        case Alternatives():
            return "object of one kind"
        case Open():
            return "tagged value"
        case Meant(wire=wire, shown=None):
            return json_form(wire)
        case Meant(shown=Scaled("integer") | Said(Integer() | Scaled("integer"))):
            return "number"
        case Meant():
            return "string"
        case _:
            assert_never(type)


def _records(type: LogicalType) -> Iterator[tuple[Record, str]]:
    """The records directly inside a type, and what a path to them appends."""
    match type:
        case Record():
            yield type, ""
        case List(element):
            yield from ((record, f"[]{suffix}") for record, suffix in _records(element))
        case Map(_, value):
            yield from ((record, f"{{}}{suffix}") for record, suffix in _records(value))
        case Alternatives(options):
            for option in options:
                yield from _records(option)
        case Boolean() | Integer() | BigInteger() | Float() | Text() | Binary() | Open() | Meant():
            return
        case _:
            assert_never(type)


def type_text(type: LogicalType) -> str:
    """A type in words, as Markdown."""
    match type:
        case Boolean():
            return "boolean"
        case Integer(bits=65):
            return "integer, 64 bits, signed or unsigned"
        case Integer(bits, signed):
            return f"{'' if signed else 'unsigned '}integer, {bits} bits"
        case BigInteger():
            return "big integer"
        case Float(bits):
            return f"float, {bits} bits"
        case Text(symbols):
            return " or ".join(map(code_span, symbols)) or "text"
        case Binary(size):
            return "bytes" if size is None else f"{size} bytes"
        case List(element):
            return f"list of {type_text(element)}"
        case Map(key, value):
            return f"map of {type_text(key)} to {type_text(value)}"
        case Record():
            return "record"
        case Alternatives(options):
            return " or ".join(type_text(option) for option in options)
        case Open():
            return "any value"
        case Meant():
            return _meaning_text(type)
        case _:
            assert_never(type)


def _meaning_text(type: Meant) -> str:
    match type.shown:
        case None:
            return type_text(type.wire)
        case Scaled("decimal", digits=digits):
            return f"decimal, {digits} digits after the point"
        case Scaled(kind):
            return kind
        case Said():
            return type_text(type.shown.plain)
        case Measured():
            return "float, 64 bits"
        case Written(kind):
            return f"text, {ADDRESSES[kind]}"
        case Encoded(charset):
            return f"text, in {charset}"
        case Named(names, raw):
            words = " or ".join(map(code_span, dict.fromkeys(name for _, name in names)))
            return f"{words}, or null where {code_span(raw)} is another"
        case _:
            assert_never(type.shown)

"""The Spark types of columns, as DDL has them; the fields of records within have tables of their own."""

from typing import assert_never

from wireloom.model.logical import (
    Alternatives,
    BigInteger,
    Binary,
    Boolean,
    Encoded,
    Float,
    Integer,
    List,
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

_SIGNED = {8: "tinyint", 16: "smallint", 32: "int", 64: "bigint"}
_UNSIGNED = {8: "smallint", 16: "int", 32: "bigint"}
_LONGEST = "decimal(20,0)"
_SCALED = {"timestamp": "timestamp", "date": "date", "duration": "interval day to second", "integer": "bigint"}


def spark_type(type: LogicalType) -> str:
    """The type of a column."""
    match type:
        case Boolean():
            return "boolean"
        case Integer(bits, signed):
            return (_SIGNED if signed else _UNSIGNED).get(bits, _LONGEST)
        case Float(bits):
            return "float" if bits == 32 else "double"
        case Text() | BigInteger():
            return "string"
        case Binary():
            return "binary"
        case List(element):
            return f"array<{spark_type(element)}>"
        case Map(key, value):
            return f"map<{spark_type(key)},{spark_type(value)}>"
        case Record():
            return "struct"
        case Alternatives():
            return f"struct<{','.join(f'{name}:{spark_type(option)}' for name, option in alternatives(type))}>"
        case Open():
            return "variant"
        case Meant():
            return _meant(type)
        case _:
            assert_never(type)


def _meant(type: Meant) -> str:
    match type.shown:
        case None:
            return spark_type(type.wire)
        case Scaled("decimal", precision=precision, digits=digits):
            return f"decimal({precision},{digits})"
        case Scaled(kind):
            return _SCALED[kind]
        case Said():
            return spark_type(type.shown.plain)
        case Measured():
            return "double"
        case Written() | Encoded() | Named():
            return "string"
        case _:
            assert_never(type.shown)

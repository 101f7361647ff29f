"""A format's columns as explicit Arrow schemas: what Spark's own mapping makes of the StructType of the same format."""

from typing import assert_never

from wireloom.emit.code import Braces, Brackets, Call, Code, Prose, call, literal, mapping, render
from wireloom.emit.frames import described, framed, heading
from wireloom.emit.shape.rows import constants
from wireloom.model.format import Format
from wireloom.model.logical import (
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
    kind_name,
)

KINDS = ("bool", "int", "float", "str", "bytes", "list", "map", "record", "variant")
"""The order of the columns of alternatives."""

_INTEGERS: dict[tuple[int, bool], Code] = {
    (8, True): "pa.int8()",
    (16, True): "pa.int16()",
    (32, True): "pa.int32()",
    (64, True): "pa.int64()",
    (8, False): "pa.int16()",
    (16, False): "pa.int32()",
    (32, False): "pa.int64()",
    (64, False): call("pa.decimal128", "20", "0"),
    (65, True): call("pa.decimal128", "20", "0"),
}


_SCALED = {
    "timestamp": 'pa.timestamp("us", "UTC")',
    "date": "pa.date32()",
    "duration": 'pa.duration("us")',
    "integer": "pa.int64()",
}


def emit(format: Format) -> str:
    """The text of `columns.py`: a schema for each record and flat row, SCHEMAS and ROW_SCHEMAS by root name."""
    records, roots, rows = constants(format)
    schemas = [_assigned(f"{name}: Final = ", schema(record)) for name, record in records.items()]
    return framed(
        __file__,
        "columns.py.jinja",
        format,
        docstring=heading(f"The Arrow columns of {format.name}: {format.title}"),
        variant=any("VARIANT" in text for text in schemas),
        schemas=schemas,
        roots=_assigned("SCHEMAS: Final[Mapping[str, pa.Schema]] = ", _names(roots)),
        rows=_assigned("ROW_SCHEMAS: Final[Mapping[str, pa.Schema]] = ", _names(rows)),
    )


def _assigned(target: str, value: Code) -> str:
    return target + render(value, lead=len(target))


def _names(constants: dict[str, str]) -> Braces:
    return mapping({literal(root): name for root, name in constants.items()})


def schema(record: Record) -> Call:
    """The expression that makes the schema of a record."""
    return call("pa.schema", _fields(record))


def _fields(record: Record) -> Brackets:
    return Brackets(tuple(_field(member) for member in record.fields))


def _field(member: LogicalField) -> Call:
    comment = described(member.doc, member.unit)
    metadata = mapping({'"comment"': Prose(comment)}) if comment else None
    return call("pa.field", literal(member.name), arrow_type(member.type), metadata=metadata)


def arrow_type(type: LogicalType) -> Code:
    """The expression that makes the Arrow type."""
    match type:
        case Boolean():
            return "pa.bool_()"
        case Integer(bits, signed):
            return _INTEGERS[bits, signed]
        case Float(bits):
            return f"pa.float{bits}()"
        case Text() | BigInteger():
            return "pa.string()"
        case Binary():
            return "pa.binary()"
        case List(element):
            return call("pa.list_", call("pa.field", '"element"', arrow_type(element)))
        case Map(key, value):
            key_field = call("pa.field", '"key"', arrow_type(key), nullable="False")
            return call("pa.map_", key_field, call("pa.field", '"value"', arrow_type(value)))
        case Record():
            return call("pa.struct", _fields(type))
        case Alternatives():
            fields = (call("pa.field", literal(name), arrow_type(option)) for name, option in kinds(type))
            return call("pa.struct", Brackets(tuple(fields)))
        case Open():
            return "VARIANT"
        case Meant():
            return _meant_type(type)
        case _:
            assert_never(type)


def _meant_type(type: Meant) -> Code:
    match type.shown:
        case None:
            return arrow_type(type.wire)
        case Scaled("decimal", precision=precision, digits=digits):
            return f"pa.decimal128({precision}, {digits})"
        case Scaled(kind):
            return _SCALED[kind]
        case Said():
            return arrow_type(type.shown.plain)
        case Measured():
            return "pa.float64()"
        case Written() | Encoded() | Named():
            return "pa.string()"
        case _:
            assert_never(type.shown)


def kinds(type: Alternatives) -> list[tuple[str, LogicalType]]:
    """The options by the names of their columns, in the order of the columns."""
    named = ((kind_name(option), option) for option in type.options)
    return sorted(named, key=lambda pair: KINDS.index(pair[0]))

"""A format's columns as explicit Spark types, in functions, so that nothing imports pyspark before it is wanted."""

from typing import assert_never

from wireloom.emit.arrow.module import kinds
from wireloom.emit.code import Brackets, Call, Code, Prose, call, literal, mapping, render
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
)

_INTEGERS: dict[tuple[int, bool], Code] = {
    (8, True): "t.ByteType()",
    (16, True): "t.ShortType()",
    (32, True): "t.IntegerType()",
    (64, True): "t.LongType()",
    (8, False): "t.ShortType()",
    (16, False): "t.IntegerType()",
    (32, False): "t.LongType()",
    (64, False): call("t.DecimalType", "20", "0"),
    (65, True): call("t.DecimalType", "20", "0"),
}
_SCALED = {
    "timestamp": "t.TimestampType()",
    "date": "t.DateType()",
    "duration": "t.DayTimeIntervalType()",
    "integer": "t.LongType()",
}
_FLOATS = {32: "t.FloatType()", 64: "t.DoubleType()"}
_OPEN = "open_type"
_BODY = 4  # columns before a function's body


def emit(format: Format) -> str:
    """The text of `spark.py`: `struct_type(*, root, explode)` and a function for each record and flat row."""
    records, roots, rows = constants(format)
    return framed(
        __file__,
        "spark.py.jinja",
        format,
        docstring=heading(f"The Spark columns of {format.name}: {format.title}"),
        default=literal(format.roots[0].name),
        roots=_functions("roots", roots),
        rows=_functions("rows", rows),
        records=[_function(name.lower(), _returned(record)) for name, record in records.items()],
    )


def _functions(name: str, constants: dict[str, str]) -> str:
    target = f"{name} = "
    functions = mapping({literal(root): f"_{constant.lower()}" for root, constant in constants.items()})
    return target + render(functions, indent=_BODY, lead=len(target))


def _function(name: str, body: str) -> tuple[str, str, str]:
    """The name, parameter and body of a record's function; the parameter is the type of open values."""
    return name, _OPEN if _OPEN in body else "_", body


def _returned(record: Record) -> str:
    return "return " + render(struct_type(record), indent=_BODY, lead=len("return "))


def struct_type(record: Record) -> Call:
    """The expression that makes the StructType of a record."""
    return call("t.StructType", Brackets(tuple(_field(member) for member in record.fields)))


def _field(member: LogicalField) -> Call:
    comment = described(member.doc, member.unit)
    metadata = mapping({'"comment"': Prose(comment)}) if comment else None
    return call("t.StructField", literal(member.name), spark_type(member.type), metadata=metadata)


def spark_type(type: LogicalType) -> Code:
    """The expression that makes the Spark type."""
    match type:
        case Boolean():
            return "t.BooleanType()"
        case Integer(bits, signed):
            return _INTEGERS[bits, signed]
        case Float(bits):
            return _FLOATS[bits]
        case Text() | BigInteger():
            return "t.StringType()"
        case Binary():
            return "t.BinaryType()"
        case List(element):
            return call("t.ArrayType", spark_type(element))
        case Map(key, value):
            return call("t.MapType", spark_type(key), spark_type(value))
        case Record():
            return struct_type(type)
        case Alternatives():
            fields = (call("t.StructField", literal(name), spark_type(option)) for name, option in kinds(type))
            return call("t.StructType", Brackets(tuple(fields)))
        case Open():
            return _OPEN
        case Meant():
            return _meant_type(type)
        case _:
            assert_never(type)


def _meant_type(type: Meant) -> Code:
    match type.shown:
        case None:
            return spark_type(type.wire)
        case Scaled("decimal", precision=precision, digits=digits):
            return f"t.DecimalType({precision}, {digits})"
        case Scaled(kind):
            return _SCALED[kind]
        case Said():
            return spark_type(type.shown.plain)
        case Measured():
            return _FLOATS[64]
        case Written() | Encoded() | Named():
            return "t.StringType()"
        case _:
            assert_never(type.shown)

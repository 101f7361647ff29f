"""A format's logical records as values of `runtime.columns.logical`: pure Python, importing only the classes."""

from typing import assert_never

from wireloom.emit.code import Call, Code, Prose, Tuple, call, literal, mapping, render
from wireloom.emit.frames import framed, heading
from wireloom.emit.shape.extensions import extensions
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


def emit(format: Format) -> str:
    """The text of `shape.py`: a constant for each record, ROOTS by root name, and EXTENSIONS of open values."""
    records, roots = _constants(format)
    return framed(
        __file__,
        "shape.py.jinja",
        format,
        docstring=heading(f"The logical shape of {format.name}: {format.title}"),
        records=[_assigned(f"{name}: Final = ", logical(record)) for name, record in records.items()],
        roots=_assigned(_ROOTS, mapping({literal(root): name for root, name in roots.items()})),
        extensions=_assigned(_EXTENSIONS, Tuple(tuple(_extension(*each) for each in extensions(format)))),
    )


_ROOTS = "ROOTS: Final[Mapping[str, logical.Record]] = "
_EXTENSIONS = "EXTENSIONS: Final[tuple[logical.ExtensionType, ...]] = "


def _constants(format: Format) -> tuple[dict[str, Record], dict[str, str]]:
    """The distinct records of the roots by constant name, and the constant of each root."""
    names: dict[Record, str] = {}
    roots = {root.name: names.setdefault(root.logical, root.name.upper()) for root in format.roots}
    return {name: record for record, name in names.items()}, roots


def _assigned(target: str, value: Code) -> str:
    return target + render(value, lead=len(target))


def _extension(code: int, name: str, text: bool) -> Call:  # noqa: FBT001  # the members of an ExtensionType, in order
    return call("logical.ExtensionType", literal(code), literal(name), text=literal(text))


def logical(type: LogicalType) -> Call:
    """The expression that makes the type."""
    match type:
        case Boolean():
            return call("logical.Boolean")
        case Integer(bits, signed):
            return call("logical.Integer", literal(bits), signed=literal(signed))
        case BigInteger():
            return call("logical.BigInteger")
        case Float(bits):
            return call("logical.Float", literal(bits))
        case Text(symbols):
            return call("logical.Text", *([Tuple(tuple(literal(symbol) for symbol in symbols))] if symbols else []))
        case Binary(size):
            return call("logical.Binary", *([] if size is None else [literal(size)]))
        case List(element, nullable):
            return call("logical.List", logical(element), nullable="True" if nullable else None)
        case Map(key, value, nullable):
            return call("logical.Map", logical(key), logical(value), nullable="True" if nullable else None)
        case Record(fields):
            return call("logical.Record", Tuple(tuple(_member(member) for member in fields)))
        case Alternatives(options):
            return call("logical.Alternatives", Tuple(tuple(logical(option) for option in options)))
        case Open():
            return call("logical.Open")
        case Meant(wire, shown, null):
            meaning = None if shown is None else _meaning(shown)
            return call("logical.Meant", logical(wire), shown=meaning, null=None if null is None else literal(null))
        case _:
            assert_never(type)


def _meaning(shown: Scaled | Measured | Written | Said | Encoded | Named) -> Call:
    match shown:
        case Scaled("decimal", multiplier, offset, precision, digits):
            numbers = map(str, (multiplier, offset, precision, digits))
            return call("logical.Scaled", '"decimal"', *numbers)
        case Scaled(kind, multiplier, offset):
            return call("logical.Scaled", literal(kind), str(multiplier), str(offset))
        case Measured(scale, offset):
            return call("logical.Measured", repr(scale), repr(offset))
        case Written(kind):
            return call("logical.Written", literal(kind))
        case Said(counted, raw):
            integers = logical(counted) if isinstance(counted, Integer) else _meaning(counted)
            return call("logical.Said", integers, *([literal(raw)] if raw else []))
        case Encoded(charset):
            return call("logical.Encoded", literal(charset))
        case Named(names, raw):
            pairs = (Tuple((literal(wire), literal(name))) for wire, name in names)
            return call("logical.Named", Tuple(tuple(pairs)), literal(raw))
        case _:
            assert_never(shown)


def _member(member: LogicalField) -> Call:
    doc = " ".join(member.doc.split())
    return call(
        "logical.LogicalField",
        literal(member.name),
        logical(member.type),
        nullable="True" if member.nullable else None,
        doc=Prose(doc) if doc else None,
        unit=Prose(member.unit) if member.unit else None,
    )

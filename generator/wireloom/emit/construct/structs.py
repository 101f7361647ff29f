"""Emit structs as construct declarations: one call for each step, in the order of the spec."""

from collections import ChainMap
from collections.abc import Iterator, Mapping, Sequence
from typing import assert_never

from wireloom.emit.code import Code, call, display, literal, mapping, tuple_of
from wireloom.emit.construct.encodings import PARSERS
from wireloom.emit.construct.expressions import Fields, function
from wireloom.emit.construct.types import Scope, amount, mapped, notated, optional_condition, size, spelled, subcon
from wireloom.encodings import Form
from wireloom.expr.ast import Call, Expression, Kind, Literal, Membership, fields_in, parts
from wireloom.expr.extents import Extent, extent
from wireloom.expr.text import text_of
from wireloom.expr.types import kind as expression_kind
from wireloom.expr.types import makes_text, may_be_fraction
from wireloom.model.extents import StructExtents
from wireloom.model.presence import presence_condition
from wireloom.model.types import (
    Amount,
    Array,
    Bit,
    Boolean,
    Bytes,
    Check,
    Discard,
    End,
    Extra,
    Field,
    Float,
    Frame,
    Integer,
    Mark,
    Need,
    Packing,
    Presence,
    Step,
    Struct,
    Text,
    Type,
    Verify,
    Version,
    charset_of,
    not_null,
    stated,
)
from wireloom.runtime.primitives.numerals import format_of

_KINDS: dict[type, Kind] = {Integer: Kind.INTEGER, Boolean: Kind.BOOLEAN, Text: Kind.TEXT, Bytes: Kind.BYTES}
_KIND_NAMES = {Kind.INTEGER: "int", Kind.BOOLEAN: "bool", Kind.TEXT: "str", Kind.BYTES: "bytes"}
_DIGESTS = frozenset({"md5", "sha1", "sha256", "sha512"})


def struct(declared: Struct, scope: Scope) -> Code:
    """Declare a struct."""
    extents = StructExtents(declared, scope.format.named)
    return call(
        "structure.Struct",
        literal(declared.name),
        *(_step(step, declared, scope, extents) for step in declared.steps),
        form=_form(declared, scope),
        versions=tuple_of(_version(version) for version in declared.versions) if declared.versions else None,
        needs=display(declared.needs) if declared.needs else None,
        doc=_document(declared.doc),
    )


def _form(declared: Struct, scope: Scope) -> Code | None:
    parameter = scope.format.unknown_members
    unknown = f"lambda ctx: ctx._params[{literal(parameter)}]" if parameter else "None"
    return PARSERS[declared.encoding.name].form(declared.form, unknown)


def _version(version: Version) -> Code:
    arity = None if version.arity is None else str(version.arity)
    return call("structure.Version", literal(version.name), arity=arity, when=optional_condition(version.when))


def _step(step: Step, declared: Struct, scope: Scope, extents: StructExtents) -> Code:
    match step:
        case Field():
            return _field(step, declared, scope, extents)
        case Check(that, code, name, when):
            return call(
                "structure.Check",
                function(that, extents.under(when), condition=True),
                literal(code),
                field=literal(name) if name else None,
                when=optional_condition(when, extents.always),
                expected=literal(text_of(that)),
                looks=_fields_of_check(that, name, declared),
                **_operands(that, extents.under(when)),
            )
        case Verify(name, when):
            return call("structure.Verify", literal(name), when=optional_condition(when, extents.always))
        case Mark(name):
            return call("structure.Mark", literal(name))
        case Need(count, name):
            return call("structure.Need", function(count, extents.always), field=literal(name) if name else None)
        case Frame(count, name):
            return call("structure.Frame", function(count, extents.always), field=literal(name) if name else None)
        case End(code):
            return call("structure.End", literal(code))
        case Discard(name, keep, count, when):
            return call(
                "structure.Discard",
                literal(name),
                keep=function(keep, condition=True),
                count=literal(count),
                when=optional_condition(when, extents.always),
            )
        case _:
            assert_never(step)


def _fields_of_check(that: Expression, name: str, declared: Struct) -> Code | None:
    """The fields to look for an error's location in, if the field that the check names may be absent.

    These are the fields that the check depends on, directly or through computed fields. None if the named field is
    always present.
    """
    fields = [step for step in declared.steps if isinstance(step, Field)]
    if any(name in _names(each) and each.in_struct and not _may_be_absent(each) for each in fields):
        return None
    own = _own_names(that, {each.wire_name: each.compute for each in fields if each.compute is not None})
    names = [each for field in fields if field.in_struct for each in _names(field) if each in own]
    return tuple_of(map(literal, dict.fromkeys(names))) if names else None


def _may_be_absent(field: Field) -> bool:
    return field.is_conditional or field.flatten or field.presence is not Presence.REQUIRED


def _own_names(expression: Expression, computed: Mapping[str, Expression]) -> set[str]:
    """The struct's own fields that an expression depends on, directly or through computed fields."""
    found, left = set[str](), [expression]
    while left:
        for each in fields_in(left.pop()):
            if not each.up and each.name not in found:
                found.add(each.name)
                left += [computed[each.name]] if each.name in computed else []
    return found


def _operands(that: Expression, known: Fields) -> dict[str, Code | None]:
    """The operands of a check by their text in the spec, and the notation of its integers, to show in errors."""
    seen = {text_of(each): each for each in _operands_of(that)}
    operands = tuple(tuple_of((literal(text), function(each, known))) for text, each in seen.items())
    return {
        "operands": tuple_of(operands) if operands else None,
        "notation": notated(next(filter(None, _notations(that)), "")),
    }


def _operands_of(that: Expression) -> Iterator[Expression]:
    """The operands that an error of a check shows: names, positions, and the count or sum of a list."""
    if isinstance(that, Call) and that.function in ("count", "sum"):
        yield that
    elif not isinstance(that, Literal):
        inner = parts(that)
        yield from (that,) if not inner else (each for part in inner for each in _operands_of(part))


def _notations(expression: Expression) -> Iterator[str]:
    """The notations of an expression's integers."""
    if isinstance(expression, Literal | Membership):
        yield expression.notation
    for part in parts(expression):
        yield from _notations(part)


def _names(field: Field) -> tuple[str, ...]:
    """The names that expressions use for a field and its bits."""
    return (field.wire_name, *(bit.name for bit in field.bits))


def _field(field: Field, declared: Struct, scope: Scope, extents: StructExtents) -> Code:
    title = literal(field.name) if field.name != field.wire_name else None
    doc = _document(field.doc, field.unit)
    if field.counted:
        return call("structure.Counted", literal(field.wire_name), doc=doc)
    known = extents.under(field.when)
    when = optional_condition(presence_condition(field, declared), _with_version(extents.always, declared))
    condition = None if field.when is None else literal(text_of(field.when))
    if field.compute is not None:
        low, high = _computed_bounds(field, field.compute, known)
        return call(
            "structure.Computed",
            literal(field.wire_name),
            function(field.compute, known),
            kind=_computed_kind(field.type, field.compute),
            lowest=low,
            highest=high,
            title=title,
            when=when,
            condition=condition,
            hidden=_flag(field.hidden),
            made=_flag(makes_text(field.compute)),
            given=_flag(field.given),
            derive=None if field.derive is None else function(field.derive, known),
            agrees=_flag(field.agrees),
            doc=doc,
        )
    inner = Scope(scope.format, declared.encoding, scope.declared, is_within=True, fields=known)
    return call(
        "structure.Field",
        literal(field.wire_name),
        subcon(field.type, inner) if field.besides is None else _rest(field, field.besides, inner),
        title=title,
        tag=str(field.tag) if field.tag else None,
        one_of=literal(field.one_of) if field.one_of else None,
        group=_flag(field.group),
        member=_member(field, declared),
        at=size(field.at, known),
        base=literal(field.base) if field.base else None,
        size=_region(field.size, inner),
        packing=_packing(field.packing, known),
        when=when,
        condition=condition,
        circular=_flag(field.circular),
        const=None if field.const is None else literal(field.const),
        null=_null(field),
        mapped=mapped(field.mappings, field.code, charset_of(field.type)),
        minimum=None if field.minimum is None else str(field.minimum),
        maximum=None if field.maximum is None else str(field.maximum),
        notation=notated(field.notation or (charset_of(field.type) if isinstance(field.const, bytes) else "")),
        spelling=_spelling(field),
        code=_code(field),
        bits=tuple_of(_bit(bit, known) for bit in field.bits) if field.bits else None,
        shared=_flag(field.shared),
        checksum=_checksum(field, known),
        refers=_refers(field),
        derive=None if field.derive is None else function(field.derive, known),
        optional=_flag(field.presence is Presence.OPTIONAL),
        default=literal(field.default) if field.has_default else None,
        table=_flag(field.table),
        flatten=_flag(field.flatten),
        inline=_flag(field.inline),
        hidden=_flag(field.hidden),
        doc=doc,
    )


def _rest(field: Field, besides: tuple[str, ...], scope: Scope) -> Code:
    """Declare the map that receives all members without a field of their own."""
    return scope.parsers.call("Rest", subcon(field.type, scope), *(literal(name) for name in besides))


def _region(given: Amount | None, scope: Scope) -> Code | None:
    """The size of a field's region: a number before it, or a lambda."""
    expression = stated(given)
    return amount(given, scope) if expression is None else function(expression, scope.fields)


def _packing(packing: Packing | None, known: Fields) -> Code | None:
    if packing is None:
        return None
    code = literal(packing.code) if packing.code else None
    if packing.tag is None:
        return call("regions.Packing", mapping({"None": literal(packing.cases[0][1])}), code=code)
    cases = mapping({literal(value): literal(codec) for values, codec in packing.cases for value in values})
    unknown = literal(packing.unknown) if packing.unknown != "unknown_case" else None
    return call("regions.Packing", cases, function(packing.tag, known), code=code, unknown=unknown)


def _spelling(field: Field) -> Code | None:
    """The allowed length and pattern of a field's text."""
    return None if field.spelling is None else spelled(field.spelling, charset_of(field.type) or "")


def _null(field: Field) -> str | None:
    """The wire value that builders write for null; lists replace null elements before they are built."""
    null = None if field.meaning is None or isinstance(field.type, Array) else field.meaning.null
    return None if null is None else literal(null)


def _member(field: Field, declared: Struct) -> str | None:
    """The name of the JSON member, if it differs from the field's."""
    return literal(field.key) if declared.form is Form.OBJECT and field.key != field.wire_name else None


def _code(field: Field) -> str | None:
    """The error code of the field's own checks, if it has checks."""
    constraints = (field.const, field.minimum, field.maximum, field.spelling, field.size)
    return literal(field.code) if any(each is not None for each in constraints) else None


def _with_version(known: dict[str, Extent], declared: Struct) -> Fields:
    return ChainMap({"_version": Extent(0, len(declared.versions), nullable=False)}, known)


def _computed_kind(type: Type, compute: Expression) -> str | None:
    """The kind to check a computed value against; None if the expression can have no other."""
    match not_null(type):
        case Float(bits):
            return f'"float{bits}"'
        case plain:
            wanted = _KINDS.get(plain.__class__)
            found = expression_kind(compute)
            exact = found in (wanted, Kind.NULL) and not (wanted is Kind.INTEGER and may_be_fraction(compute))
            return None if wanted is None or exact else literal(_KIND_NAMES[wanted])


def _computed_bounds(field: Field, compute: Expression, known: Fields) -> tuple[str | None, str | None]:
    """The bounds to check a computed integer against; None if the expression cannot exceed them."""
    plain, found = not_null(field.type), extent(compute, known)
    if not isinstance(plain, Integer):
        return None, None
    if not field.given and found.low >= plain.minimum and found.high <= plain.maximum:
        return None, None
    return str(plain.minimum), str(plain.maximum)


def _bit(bit: Bit, known: Fields) -> Code:
    return call(
        "structure.Bit",
        literal(bit.name),
        str(bit.low),
        title=literal(bit.title) if bit.title != bit.name else None,
        width=str(bit.width) if bit.width != 1 else None,
        signed=_flag(bit.signed),
        mapped=mapped(bit.mappings, bit.code),
        derive=None if bit.derive is None else function(bit.derive, known),
        hidden=_flag(bit.hidden),
        null=None if bit.meaning is None or bit.meaning.null is None else literal(bit.meaning.null),
    )


def _checksum(field: Field, known: Fields) -> Code | None:
    checksum = field.checksum
    if checksum is None:
        return None
    return call(
        "structure.Checksum",
        _algorithm(checksum.algorithm, field.type),
        start=function(checksum.start, known),
        end=function(checksum.end, known),
        code=literal(checksum.code),
        octets=str(_octets(field.type)),
        shown=_shown(field.type),
        stored=None if checksum.stored is None else function(checksum.stored, known),
        ahead=_extras(checksum.ahead, known),
        after=_extras(checksum.after, known),
    )


def _extras(extras: Sequence[Extra], known: Fields) -> Code | None:
    """The parts that a checksum covers in addition to its range, each with its number of bytes."""
    found = (tuple_of((str(each.octets), function(each.value, known))) for each in extras)
    return tuple_of(found) if extras else None


def _octets(type: Type) -> int:
    """The number of bytes of a field that holds a checksum."""
    match type:
        case Bytes(size=Literal(int(octets))) | Text(size=Literal(int(octets))) | Integer(width=int(octets)):
            return octets
        case _:
            raise AssertionError(type)


def _shown(type: Type) -> Code | None:
    """The format in which errors show a checksum written in digits."""
    if not isinstance(type, Integer) or not type.digits:
        return None
    return literal(format_of(type.form.value, type.digits))


def _algorithm(name: str, type: Type) -> Code:
    """The checksum's constant, or a digest of hashlib; in a text field, the digits of it."""
    found = f"checksums.digest({literal(name)})" if name in _DIGESTS else constant_of(name)
    return call("checksums.Digits", found) if isinstance(type, Text) else found


def constant_of(name: str) -> str:
    """The name of the constant of a checksum that the format declares."""
    return f"CRC_{name.upper()}"


def _refers(field: Field) -> Code | None:
    if field.refers is None:
        return None
    return call("structure.Reference", literal(field.refers.table), literal(field.refers.code))


def _flag(flag: bool) -> str | None:  # noqa: FBT001 - a flag of the model, as a keyword of the output
    return "True" if flag else None


def _document(doc: str, unit: str = "") -> str | None:
    text = " ".join(doc.split())
    if unit:
        text = f"{text} ({unit})" if text else unit
    return literal(text) if text else None

"""Emit wire types as construct declarations; the parts that depend on the encoding are in `encodings`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import assert_never

from wireloom.emit.code import Code, Lambda, call, display, literal, mapping, tuple_of
from wireloom.emit.construct.encodings import PARSERS, Elements, Parsers
from wireloom.emit.construct.expressions import function
from wireloom.encodings import Encoding
from wireloom.expr.ast import Conditional, Expression, Literal, integer_of
from wireloom.expr.extents import Extent
from wireloom.expr.text import text_of
from wireloom.model import types
from wireloom.model.format import Format
from wireloom.model.meanings import calculates, integer_type, repeating
from wireloom.model.traversal import parts
from wireloom.model.types import Mapping as ValueMapping
from wireloom.model.types import charset_of, not_null


@dataclass(frozen=True, slots=True)
class Scope:
    """The context of a type's declaration: its format and encoding, the declared names, the struct's fields."""

    format: Format
    encoding: Encoding
    declared: frozenset[str]
    is_within: bool = False  # whether the type is part of a struct
    fields: Mapping[str, Extent] = field(default_factory=dict)

    @property
    def parsers(self) -> Parsers:
        """The emitter for the encoding."""
        return PARSERS[self.encoding.name]


def spelled(spelling: types.Spelling, charset: str = "") -> Code:
    """Declare the allowed length and pattern of a text."""
    return call(
        "structure.Spelling",
        minimum=None if spelling.minimum is None else str(spelling.minimum),
        maximum=None if spelling.maximum is None else str(spelling.maximum),
        pattern=literal(spelling.pattern) if spelling.pattern else None,
        known=literal(spelling.known) if spelling.known else None,
        charset=literal(charset) if charset else None,
    )


def mapped(mappings: tuple[ValueMapping, ...] | None, code: str, charset: str = "") -> Code | None:
    """Declare a value table; texts in a character set are bytes on the wire, which errors show as text."""
    if mappings is None:
        return None
    entries = tuple_of(tuple_of((literal(entry.wire), function(entry.value))) for entry in mappings)
    type, made = integer_type(mappings) if calculates(mappings) else None, repeating(mappings)
    return call(
        "structure.Mapped",
        entries,
        literal(code),
        lowest=None if type is None else str(type.minimum),
        highest=None if type is None else str(type.maximum),
        made=tuple_of(literal(wire) for wire in made) if made else None,
        notation=notated(next((entry.notation for entry in mappings if entry.notation), charset)),
    )


def notated(notation: str) -> Code | None:
    """The notation of integers, or the charset of texts, if errors would not show them as the spec does."""
    return literal(notation) if notation else None


def _keys(map: types.Map) -> Code | None:
    """The checks of a map's keys."""
    return None if map.spelling is None else call("structure.Keys", spelled(map.spelling), literal(map.misspelled))


def subcon(type: types.Type, scope: Scope) -> Code:
    """Declare a wire type."""
    match type:
        case types.Integer():
            return scope.parsers.integer(type, _order(type.form, scope))
        case types.Float():
            return scope.parsers.float(type, _order(type.form, scope))
        case types.Boolean():
            return scope.parsers.call("Boolean")
        case types.Null():
            return scope.parsers.call("Null")
        case types.Text(length):
            return scope.parsers.call("Text", amount(length, scope), invalid=_invalid(scope))
        case types.Bytes(length):
            return scope.parsers.bytes(type, amount(length, scope))
        case types.JsonText(kind):
            return call("json.JsonText", literal(kind))
        case types.Array():
            return _array(type, scope)
        case types.Map(key, value):
            inner = subcon(key, scope), subcon(value, scope)
            return scope.parsers.map(*inner, depth=_depth(type, scope), keys=_keys(type))
        case types.Extension(code, content):
            return call("msgpack.Extension", str(code), literal(""), subcon(content, scope))
        case types.Nullable(inner):
            return scope.parsers.nullable(subcon(inner, scope))
        case types.Reference(name):
            return _reference(name, scope)
        case types.OneOf():
            return _one_of(type, scope)
        case types.Select():
            return _select(type, scope)
        case types.Attempt(trials, kind_field, reason_field):
            parts = (_trial(trial, scope) for trial in trials)
            return call("unions.Attempt", *parts, kind=literal(kind_field), reason=literal(reason_field))
        case types.Struct(name):
            return _reference(name, scope)
        case _:
            assert_never(type)


def optional_condition(expression: Expression | None, fields: Mapping[str, Extent] | None = None) -> Lambda | None:
    """The lambda of a condition that may be missing."""
    return None if expression is None else function(expression, fields, condition=True)


def size(expression: Expression | None, fields: Mapping[str, Extent]) -> Code | None:
    """A size or count: a number if it is constant, else a lambda."""
    if expression is None:
        return None
    number = integer_of(expression)
    return function(expression, fields) if number is None else str(number)


def amount(given: types.Amount | None, scope: Scope) -> Code | None:
    """Declare the number of bytes or elements: a number, a lambda, or a construct that reads or finds it."""
    match given:
        case types.Prefix(number, null):
            return call("binary.Prefix", subcon(number, scope), null="True" if null else None)
        case types.Blocks(number, behind):
            return call("binary.Blocks", subcon(number, scope), size=None if behind is None else subcon(behind, scope))
        case types.Delimiter(data, code, unit, escape, escaped, others, kept):
            return call(
                "binary.Delimiter",
                *map(literal, (data, *others)),
                code=literal(code) if code else None,
                unit=None if unit == 1 else str(unit),
                escape=None if escape is None else str(escape),
                escaped=literal(escaped) if escaped else None,
                kept="True" if kept else None,
            )
        case types.Padded(length, fill):
            return call("binary.Padded", str(length), literal(fill))
        case types.Last(holds):
            return call("binary.Last", function(holds, condition=True), literal(text_of(holds)))
        case types.Terminator(data, jump, behind):
            written = optional_condition(behind, scope.fields)
            return call("binary.Terminator", literal(data), jump=_jump(jump, scope), behind=written)
        case _:
            return size(given, scope.fields)


def _jump(jump: types.Jump | None, scope: Scope) -> Code | None:
    if jump is None:
        return None
    numbers = (str(number) for number in (jump.minimum, jump.maximum, jump.start))
    most = None if jump.most is None else str(jump.most)
    return call("binary.Jump", subcon(jump.number, scope), *numbers, most=most)


def _reference(name: str, scope: Scope) -> Code:
    target = scope.format.type(name)
    if not has_declaration(target):
        return subcon(target, scope)
    declared = constant(name) if name in scope.declared else call("unions.Deferred", f"lambda: {constant(name)}")
    if not isinstance(target, types.Struct):
        return declared
    own, is_other = PARSERS[target.encoding.name], target.encoding != scope.encoding
    if not (is_other or (own.has_bodies and not scope.is_within)):
        return declared
    body = own.body(declared, f"{scope.format.name}.{name}", structural_depth(types.Reference(name), scope.format))
    return scope.parsers.carried(body) if is_other else body


def has_declaration(type: types.Type) -> bool:
    """Whether a named type has its own declaration in the module; other types are repeated where they are used."""
    return isinstance(type, types.Struct | types.OneOf | types.Select | types.Attempt)


def constant(name: str) -> str:
    """The module-level name of a type; a trailing underscore avoids a clash with constants, which are in capitals."""
    return f"{name}_" if name.isupper() else name


def _order(form: types.NumberForm, scope: Scope) -> Code | None:
    """The byte order of a number: its own, or the format's."""
    return None if not scope.encoding.laid_out else literal(form.value) if form in types.ORDERED else "ORDER"


def _invalid(scope: Scope) -> str | None:
    parameter = scope.format.invalid_text
    if parameter is None or scope.encoding.text:
        return None
    return f"lambda ctx: ctx._params[{literal(parameter)}]"


def _array(type: types.Array, scope: Scope) -> Code:
    count = amount(type.count, scope)
    if type.packed and isinstance(type.element, types.Integer | types.Boolean):
        return _packed(type.element, type.packed, count, scope)
    unique = {"unique": literal(type.unique), "unique_code": literal(type.unique_code)} if type.unique else {}
    salvage = _salvage(type.salvage, scope.fields)
    elements = Elements(_element(type, scope), count, _depth(type, scope), salvage, unique)
    return scope.parsers.array("Entries" if type.entries else "Array", elements)


def _element(type: types.Array, scope: Scope) -> Code:
    """Declare the elements of a list, wrapped in their checks if there are any."""
    if type.held is None:
        return subcon(type.element, scope)
    charset = charset_of(type.element)
    held = call(
        "structure.Held",
        subcon(not_null(type.element), scope),
        literal(type.held.code),
        mapped=mapped(type.held.mappings, type.held.code, charset),
        minimum=None if type.held.minimum is None else str(type.held.minimum),
        maximum=None if type.held.maximum is None else str(type.held.maximum),
        spelling=None if type.held.spelling is None else spelled(type.held.spelling, charset),
    )
    return scope.parsers.nullable(held) if isinstance(type.element, types.Nullable) else held


def _packed(element: types.Integer | types.Boolean, bits: int, count: Code | None, scope: Scope) -> Code:
    """Declare a list whose elements are bit fields."""
    signed = "True" if isinstance(element, types.Integer) and element.signed else None
    positional = (str(bits),) if count is None else (str(bits), count)
    return call("packed.List", *positional, signed=signed, order=_order(element.form, scope))


def _salvage(salvage: types.Salvage | None, fields: Mapping[str, Extent]) -> Code | None:
    if salvage is None:
        return None
    return call(
        "elements.Salvage",
        codes=display(salvage.codes),
        when=function(salvage.when, fields, condition=True),
        lost=literal(salvage.lost),
    )


def _depth(type: types.Array | types.Map, scope: Scope) -> str | None:
    """The limit of nesting, if the elements are open values."""
    return "DEPTH" if is_open(type, scope.format) else None


def is_open(type: types.Type, format: Format) -> bool:
    """Whether a type is a recursive union or contains one; its values are then shown as open values."""
    match type:
        case types.Reference(name):
            return is_open(format.type(name), format)
        case types.Nullable(inner):
            return is_open(inner, format)
        case types.OneOf():
            return type.open
        case types.Array() | types.Map():
            return any(is_open(part, format) for part in parts(type))
        case _:
            return False


def _one_of(type: types.OneOf, scope: Scope) -> Code:
    alternatives = mapping({literal(item.name): _alternative(item, type, scope) for item in type.alternatives})
    code = literal(type.code) if type.code != "type_mismatch" else None
    extension = literal(type.extension_code) if type.extension_code != "type_mismatch" else None
    open_ = "True" if type.open else None
    return scope.parsers.call("OneOf", alternatives, code=code, extension_code=extension, open=open_)


def _alternative(item: types.Alternative, union: types.OneOf, scope: Scope) -> Code:
    if isinstance(item.type, types.Extension) and union.open:  # in a closed union its content tells it apart
        content = subcon(item.type.content, scope)
        return call("msgpack.Extension", str(item.type.code), literal(item.name), content)
    return subcon(item.type, scope)


def _select(type: types.Select, scope: Scope) -> Code:
    cases = mapping({literal(value): _case(case, scope) for case in type.cases for value in case.values})
    code = literal(type.code) if type.code != "unknown_case" else None
    otherwise = None if type.otherwise is None else _case(type.otherwise, scope)
    match type.tag:
        case types.FieldTag(expression):
            chosen, real_tag = function(expression, scope.fields), expression
            while isinstance(real_tag, Conditional) and real_tag.then == Literal(None):
                real_tag = real_tag.otherwise
            shown = None if real_tag is expression else function(real_tag, scope.fields)
            kept = {"code": code, "otherwise": otherwise, "notation": notated(type.notation), "told": shown}
            return call("unions.Select", chosen, cases, **kept)
        case types.PeekTag(tag, octets):
            size = literal(tag.bits // 8) if octets else None
            return call("unions.Peek", subcon(tag, scope), cases, code=code, otherwise=otherwise, octets=size)
        case types.MemberTag(member, presence, default, required):
            return call(
                "json.SelectMember",
                literal(member),
                cases,
                literal(type.code),
                presence="True" if presence else None,
                default=None if default is None else literal(default),
                required=None if required and not presence else "False",
            )
        case _:
            assert_never(type.tag)


def _case(case: types.Case, scope: Scope) -> Code:
    if isinstance(case.type, types.Refusal):
        return call("unions.Refusal", literal(case.type.code))
    return subcon(case.type, scope)


def _trial(trial: types.Trial, scope: Scope) -> Code:
    return call(
        "unions.Trial",
        literal(trial.name),
        subcon(trial.type, scope),
        fallbacks=tuple_of(_fallback(item) for item in trial.fallbacks) if trial.fallbacks else None,
        build_when=optional_condition(trial.build_when),
    )


def _fallback(item: types.Fallback) -> Code:
    return call("unions.Fallback", display(item.codes), when=optional_condition(item.when))


def structural_depth(type: types.Type, format: Format) -> int:
    """The number of nested containers that the declared structure has at most, not counting open values."""

    def depth(part: types.Type, above: frozenset[str]) -> int:
        match part:
            case types.Reference(name):
                target = format.type(name)
                return 0 if name in above else depth(target, above | {name})
            case types.Struct(encoding=encoding) if not encoding.text:
                return 0  # a separate body inside of a string
            case types.Struct():
                return 1 + max((depth(field.type, above) for field in part.fields if field.compute is None), default=0)
            case types.Array() | types.Map():
                return 1 + max(depth(inner, above) for inner in parts(part))
            case _:
                return max((depth(inner, above) for inner in parts(part)), default=0)

    return depth(type, frozenset())

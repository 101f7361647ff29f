"""Translate wire types and steps of the model into nodes of the layout."""

from dataclasses import replace
from typing import assert_never

from wireloom.emit.layout.expressions import formula, optional, tree
from wireloom.model import types
from wireloom.model.traversal import with_fields
from wireloom.model.types import charset_of
from wireloom.runtime.engine import nodes


def node(type: types.Type) -> nodes.Type:
    """The node of a wire type."""
    match type:
        case types.Integer():
            return _integer(type)
        case types.Float(bits, form):
            return nodes.Float(bits, _form(form))
        case types.Boolean():
            return nodes.Bool()
        case types.Null():
            return nodes.Null()
        case types.Text(size):
            return nodes.Text(_amount(size))
        case types.Bytes(charset=str(charset)) if charset:
            return nodes.Charset(node(replace(type, charset="")), charset)
        case types.Bytes(size, code, line_feeds):
            return nodes.Bytes(_amount(size), code, line_feeds, type.pieces)
        case types.JsonText(kind):
            return nodes.Json((kind,))
        case types.Array(element, count, unique, unique_code, salvage, held, entries):
            inner = _element(element) if held is None else _checked(element, held)
            return nodes.ListOf(inner, _amount(count), unique, unique_code, _salvage(salvage), entries)
        case types.Map(key, value, spelling, misspelled):
            known = _spelling(spelling)
            written = node(key) if known is None else nodes.Spelled(node(key), known, misspelled)
            return nodes.MapOf(written, node(value))
        case types.Extension(code, content):
            ext = nodes.Ext(code, "text" if isinstance(content, types.Text) else "bytes")
            return nodes.Charset(ext, charset) if (charset := charset_of(content)) else ext
        case types.Nullable(inner):
            return nodes.Nullable(node(inner))
        case types.Reference(name):
            return nodes.Ref(name)
        case types.OneOf(alternatives, open):
            return nodes.OneOf(open, tuple(node(item.type) for item in alternatives))
        case types.Select(tag, cases, code):
            return _select(tag, cases, code)
        case types.Attempt(trials, kind_field, reason_field):
            return nodes.Attempt(tuple(map(_trial, trials)), kind_field, reason_field)
        case types.Struct():
            return _struct(type)
        case _:
            assert_never(type)


def _integer(type: types.Integer) -> nodes.Int:
    bits, signed, form = type.bits, type.signed, _form(type.form)
    if type.markers is not None:
        return nodes.Int(bits, signed, "extended", nodes.Markers(type.markers.first, type.markers.widths, form))
    if type.ending:
        return nodes.Int(bits, signed, "ended", nodes.Ending(type.form.value, type.ending))
    return nodes.Int(bits, signed, form, type.digits or None)


def _checked(element: types.Type, held: types.Held) -> nodes.Type:
    """An element with its checks, which do not apply to null."""
    if isinstance(element, types.Nullable):
        return nodes.Nullable(_checked(element.type, held))
    return nodes.Held(
        node(element), held.code, _mappings(held.mappings), held.minimum, held.maximum, _spelling(held.spelling)
    )


def _element(type: types.Type) -> nodes.Type:
    """The node of a list's elements, which may be single bits."""
    return nodes.Bit(_form(type.form)) if isinstance(type, types.Boolean) and type.bit else node(type)


def _amount(amount: types.Amount | None) -> nodes.Amount:
    """The node of a number of bytes or elements."""
    match amount:
        case types.Prefix(number, null):
            return nodes.Prefix(_integer(number), null)
        case types.Blocks(number, behind):
            return nodes.Blocks(_integer(number), None if behind is None else _integer(behind))
        case types.Delimiter(data, code, unit) if amount.is_plain:
            return nodes.Delimiter(data, code, unit)
        case types.Delimiter(data, code, unit, escape, escaped, others, kept):
            return nodes.Delimited((data, *others), code, unit, escape, escaped, kept)
        case types.Padded(size, fill):
            return nodes.Padded(size, fill)
        case types.Last(holds):
            return nodes.Last(tree(holds))
        case types.Terminator(data, jump, None):
            return nodes.Terminator(data, _jump(jump))
        case types.Terminator(data, _, behind):
            return nodes.Terminated(data, optional(behind))
        case _:
            return optional(amount)


def _jump(jump: types.Jump | None) -> nodes.Jump | None:
    if jump is None:
        return None
    return nodes.Jump(_integer(jump.number), jump.minimum, jump.maximum, jump.start, jump.most)


def _form(form: types.NumberForm) -> str:
    """The name of a number's form, or empty for the encoding's own form."""
    return "" if form is types.NumberForm.OWN else form.value


def _salvage(salvage: types.Salvage | None) -> nodes.Salvage | None:
    return None if salvage is None else nodes.Salvage(salvage.codes, tree(salvage.when), salvage.lost)


def _select(
    tag: types.FieldTag | types.PeekTag | types.MemberTag, cases: tuple[types.Case, ...], code: str
) -> nodes.Type:
    listed = tuple(nodes.Case(case.values, _arm(case.type)) for case in cases)
    match tag:
        case types.FieldTag(expression):
            return nodes.Select(tree(expression), listed, code)
        case types.PeekTag(type):
            return nodes.Peek(node(type), listed, code)
        case types.MemberTag(member, presence, default, required):
            return nodes.Tagged(member, presence, default, required, listed, code)
        case _:
            assert_never(tag)


def _arm(type: types.Type | types.Refusal) -> nodes.Arm:
    return nodes.Refuse(type.code) if isinstance(type, types.Refusal) else node(type)


def _trial(trial: types.Trial) -> nodes.Trial:
    fallbacks = tuple(nodes.Fallback(item.codes, optional(item.when)) for item in trial.fallbacks)
    return nodes.Trial(trial.name, node(trial.type), fallbacks, optional(trial.build_when))


def _struct(struct: types.Struct) -> nodes.Struct:
    versions = tuple(nodes.Version(version.name, version.arity, optional(version.when)) for version in struct.versions)
    form: nodes.Form = struct.form.value
    if not versions:
        struct = with_fields(struct, lambda field: replace(field, since="", until=""))
    return nodes.Struct(struct.name, struct.encoding.name, form, versions, tuple(map(_step, struct.steps)))


def _step(step: types.Step) -> nodes.Step:
    match step:
        case types.Field():
            return _field(step)
        case types.Check(that, code, _, when):
            return nodes.Check(tree(that), code, optional(when))
        case types.Verify(field, when):
            return nodes.Verify(field, optional(when))
        case types.Mark(name):
            return nodes.Mark(name)
        case types.Need(count):
            return nodes.Need(tree(count))
        case types.Frame(count):
            return nodes.Frame(tree(count))
        case types.End(code):
            return nodes.End(code)
        case types.Discard(name, keep, count, when):
            return nodes.Discard(name, tree(keep), count, optional(when))
        case _:
            assert_never(step)


def _field(field: types.Field) -> nodes.Field:
    type, derive = node(field.type), formula(field.derive)
    return nodes.Field(
        field.wire_name,
        nodes.Inline(type) if field.inline and field.besides is None else type,
        renamed=field.name if field.name != field.wire_name else None,
        code=field.code,
        at=optional(field.at),
        base=field.base,
        size=_amount(field.size),
        packing=_packing(field.packing),
        when=optional(field.when),
        optional=field.presence is types.Presence.OPTIONAL,
        default=field.default if field.has_default else nodes.ABSENT,
        const=field.const,
        values=_mappings(field.mappings),
        minimum=field.minimum,
        maximum=field.maximum,
        spelling=_spelling(field.spelling),
        bits=tuple(map(_bit, field.bits)),
        shared=field.shared,
        compute=formula(field.compute),
        given=field.given,
        derive=derive if field.on_wire else None,
        build=None if field.on_wire else derive,
        checksum=_checksum(field.checksum),
        stored=None if field.checksum is None else formula(field.checksum.stored),
        covers=_covers(field.checksum),
        refers=None if field.refers is None else nodes.TableRef(field.refers.table, field.refers.code),
        flatten=field.flatten,
        counted=field.counted,
        table=field.table,
        hidden=field.hidden,
        tag=field.tag,
        one_of=field.one_of,
        group=field.group,
        besides=field.besides,
        member=None if field.besides is not None else field.member,
        since=field.since,
        until=field.until,
    )


def _spelling(spelling: types.Spelling | None) -> nodes.Spelling | None:
    return None if spelling is None else nodes.Spelling(spelling.minimum, spelling.maximum, spelling.pattern)


def _packing(packing: types.Packing | None) -> nodes.Packing | None:
    return None if packing is None else nodes.Packing(optional(packing.tag), packing.cases, packing.unknown)


def _mappings(mappings: tuple[types.Mapping, ...] | None) -> tuple[nodes.Meaning, ...] | None:
    return None if mappings is None else tuple(nodes.Meaning(each.wire, tree(each.value)) for each in mappings)


def _bit(bit: types.Bit) -> nodes.Bits:
    return nodes.Bits(
        bit.name,
        bit.low,
        bit.width,
        bit.signed,
        _mappings(_unsigned(bit)),
        bit.code,
        bit.hidden,
        optional(bit.derive),
        None if bit.meaning is None else bit.meaning.null,
        None if bit.title == bit.name else bit.title,
    )


def _unsigned(bit: types.Bit) -> tuple[types.Mapping, ...] | None:
    """The value table of a bit field as unsigned numbers, which the engine compares with."""
    if bit.mappings is None:
        return None
    mask = (1 << bit.width) - 1
    return tuple(replace(each, wire=each.wire & mask) for each in bit.mappings if isinstance(each.wire, int))


def _covers(sum: types.Checksum | None) -> tuple[nodes.Cover, ...]:
    extras = () if sum is None else (*((0, each) for each in sum.ahead), *((1, each) for each in sum.after))
    return tuple(nodes.Cover(after, each.octets or 0, tree(each.value)) for after, each in extras)


def _checksum(sum: types.Checksum | None) -> nodes.Checksum | None:
    if sum is None:
        return None
    at = sum.at if sum.hole else None
    return nodes.Checksum(sum.algorithm, tree(sum.start), tree(sum.end), sum.code, sum.hole, at)

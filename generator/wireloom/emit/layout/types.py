"""Wire types and steps as nested tuples, kind first; what a field has beyond name and type stands in a dict."""

from dataclasses import replace
from typing import assert_never

from wireloom.emit.code import Code, Tuple, display, literal, mapping
from wireloom.emit.layout.expressions import optional, source
from wireloom.model.types import (
    Amount,
    Array,
    Attempt,
    Bit,
    Blocks,
    Boolean,
    Bytes,
    Case,
    Check,
    Delimiter,
    Discard,
    End,
    Extension,
    Field,
    FieldTag,
    Float,
    Frame,
    Held,
    Integer,
    JsonText,
    Jump,
    Last,
    Map,
    Mapping,
    Mark,
    Markers,
    MemberTag,
    Need,
    Null,
    Nullable,
    NumberForm,
    OneOf,
    Packing,
    Padded,
    PeekTag,
    Prefix,
    Presence,
    Reference,
    Refusal,
    Salvage,
    Select,
    Spelling,
    Step,
    Struct,
    Terminator,
    Text,
    Trial,
    Type,
    Verify,
    charset_of,
)

_NOTHING = "None"


def _node(kind: str, *parts: Code | None) -> Tuple:
    return Tuple((literal(kind), *(_NOTHING if part is None else part for part in parts)))


def node(type: Type) -> Code:
    """A wire type."""
    match type:
        case Integer(bits, signed, form, markers=Markers(first, widths)):
            return _node("int", str(bits), str(signed), literal("extended"), str(first), literal(widths), *_form(form))
        case Integer(bits, signed, form, ending=bytes(ending)) if ending:
            return _node("int", str(bits), str(signed), literal("ended"), literal(form.value), literal(ending))
        case Integer(bits, signed, form, digits):
            return _node("int", str(bits), str(signed), *_form(form), *((str(digits),) if digits else ()))
        case Float(bits, form):
            return _node("float", str(bits), *_form(form))
        case Boolean():
            return _node("bool")
        case Null():
            return _node("null")
        case Text(size):
            return _node("text", _amount(size))
        case Bytes(charset=str(charset)) if charset:
            return _node("charset", node(replace(type, charset="")), literal(charset))
        case Bytes(size, code, line_feeds):
            said = (("lineFeeds", line_feeds), ("pieces", type.pieces))
            return _node("bytes", _amount(size), literal(code), *(literal(word) for word, holds in said if holds))
        case JsonText(kind):
            return _node("json", literal(kind))
        case Array(element, count, unique, unique_code, salvage, held, entries):
            inner = _element(element) if held is None else _held(element, held)
            differ = (literal(unique), literal(unique_code))
            return _node("list", inner, _amount(count), *differ, _salvage(salvage), str(entries))
        case Map():
            return _map(type)
        case Extension(code, content):
            written = _node("ext", str(code), literal("text" if isinstance(content, Text) else "bytes"))
            return _node("charset", written, literal(charset)) if (charset := charset_of(content)) else written
        case Nullable(inner):
            return _node("nullable", node(inner))
        case Reference(name):
            return _node("ref", literal(name))
        case OneOf(alternatives, open):
            return _node("oneOf", str(open), Tuple(tuple(node(item.type) for item in alternatives)))
        case Select(tag, cases, code):
            return _select(tag, cases, code)
        case Attempt(trials, kind_field, reason_field):
            parts = Tuple(tuple(_trial(trial) for trial in trials))
            return _node("attempt", parts, literal(kind_field), literal(reason_field))
        case Struct():
            return _struct(type)
        case _:
            assert_never(type)


def _held(element: Type, held: Held) -> Code:
    """An element, around which stands what it is held against; null is not."""
    if isinstance(element, Nullable):
        return _node("nullable", _held(element.type, held))
    return _node("held", node(element), _given({"code": literal(held.code), **_said(held)}))


def _element(type: Type) -> Code:
    """The type of a list's elements, which may share bytes with one another."""
    return _node("bit", *_form(type.form)) if isinstance(type, Boolean) and type.bit else node(type)


def _amount(amount: Amount | None) -> Code | None:
    """How many bytes or elements there are."""
    match amount:
        case Prefix(number, null):
            return _node("prefix", node(number), str(null))
        case Blocks(number, behind):
            return _node("blocks", node(number), *(() if behind is None else (node(behind),)))
        case Delimiter(data, code, unit) if amount.is_plain:
            return _node("delimiter", literal(data), literal(code), *(() if unit == 1 else (str(unit),)))
        case Delimiter(data, code, unit, escape, escaped, others, kept):
            said = (literal((data, *others)), literal(code), str(unit), str(escape), literal(escaped))
            return _node("delimited", *said, *(("True",) if kept else ()))
        case Padded(size, fill):
            return _node("padded", str(size), literal(fill))
        case Last(holds):
            return _node("last", source(holds))
        case Terminator(data, jump, None):
            return _node("terminator", literal(data), *_jump(jump))
        case Terminator(data, _, behind):
            return _node("terminated", literal(data), optional(behind))
        case _:
            return optional(amount)


def _jump(jump: Jump | None) -> tuple[Code, ...]:
    """Which numbers in place of an element say where the list goes on, and which of them means the record's start."""
    if jump is None:
        return ()
    return (node(jump.number), str(jump.minimum), str(jump.maximum), str(jump.start), str(jump.most))


def _form(form: NumberForm) -> tuple[Code, ...]:
    """How a number is written, where that is not as the encoding has it."""
    return () if form is NumberForm.OWN else (literal(form.value),)


def _salvage(salvage: Salvage | None) -> Code | None:
    return None if salvage is None else Tuple((display(salvage.codes), source(salvage.when), literal(salvage.lost)))


def _select(tag: FieldTag | PeekTag | MemberTag, cases: tuple[Case, ...], code: str) -> Code:
    listed = Tuple(tuple(Tuple((display(case.values), _case(case))) for case in cases))
    match tag:
        case FieldTag(expression):
            return _node("select", source(expression), listed, literal(code))
        case PeekTag(type):
            return _node("peek", node(type), listed, literal(code))
        case MemberTag(member, presence, default, required):
            told = (literal(member), str(presence), literal(default), str(required))
            return _node("tagged", *told, listed, literal(code))
        case _:
            assert_never(tag)


def _case(case: Case) -> Code:
    return _node("refuse", literal(case.type.code)) if isinstance(case.type, Refusal) else node(case.type)


def _trial(trial: Trial) -> Code:
    fallbacks = Tuple(tuple(Tuple((display(item.codes), optional(item.when) or _NOTHING)) for item in trial.fallbacks))
    return Tuple((literal(trial.name), node(trial.type), fallbacks, optional(trial.build_when) or _NOTHING))


def _struct(struct: Struct) -> Code:
    versions = Tuple(
        tuple(
            Tuple((literal(version.name), literal(version.arity), optional(version.when) or _NOTHING))
            for version in struct.versions
        )
    )
    steps = Tuple(tuple(_step(step) for step in struct.steps))
    return _node(
        "struct", literal(struct.name), literal(struct.encoding.value), literal(struct.form.value), versions, steps
    )


def _step(step: Step) -> Code:
    match step:
        case Field():
            is_within = step.inline and step.besides is None
            type = _node("inline", node(step.type)) if is_within else node(step.type)
            return _node("field", literal(step.wire_name), type, _attributes(step))
        case Check(that, code, _, when):
            return _node("check", source(that), literal(code), optional(when))
        case Verify(field, when):
            return _node("verify", literal(field), optional(when))
        case Mark(name):
            return _node("mark", literal(name))
        case Need(count):
            return _node("need", source(count))
        case Frame(count):
            return _node("frame", source(count))
        case End(code):
            return _node("end", literal(code))
        case Discard(name, keep, count, when):
            return _node("discard", literal(name), source(keep), literal(count), optional(when))
        case _:
            assert_never(step)


def _attributes(field: Field) -> Code:
    """What is not the default of a field."""
    parts: dict[str, Code | None] = {
        "as": literal(field.name) if field.name != field.wire_name else None,
        "code": literal(field.code) if field.code else None,
        "at": optional(field.at),
        "from": literal(field.base) if field.base else None,
        "size": _amount(field.size),
        "packing": _packing(field.packing),
        "when": optional(field.when),
        "optional": _flag(field.presence is Presence.OPTIONAL),
        "default": literal(field.default) if field.has_default else None,
        "const": literal(field.const) if field.const is not None else None,
        **_said(field),
        "bits": Tuple(tuple(_bit(bit) for bit in field.bits)) if field.bits else None,
        "shared": _flag(field.shared),
        "compute": None if field.compute is None else _node("is", source(field.compute)),
        "given": _flag(field.given),
        "derive" if field.on_wire else "build": None if field.derive is None else _node("is", source(field.derive)),
        "checksum": _checksum(field),
        "stored": _stored(field),
        "covers": _covers(field),
        "refers": Tuple((literal(field.refers.table), literal(field.refers.code))) if field.refers else None,
        "flatten": _flag(field.flatten),
        "counted": _flag(field.counted),
        "table": _flag(field.table),
        "hidden": _flag(field.hidden),
        "tag": str(field.tag) if field.tag else None,
        "oneOf": literal(field.one_of) if field.one_of else None,
        "group": _flag(field.group),
        "besides": None if field.besides is None else display(field.besides),
        "member": None if field.member is None or field.besides is not None else literal(field.member),
        "since": literal(field.since) if field.since else None,
        "until": literal(field.until) if field.until else None,
    }
    return _given(parts)


def _said(said: Field | Held) -> dict[str, Code | None]:
    """What a value is held against, and what it means."""
    return {
        "values": _mappings(said.mappings),
        "minimum": literal(said.minimum) if said.minimum is not None else None,
        "maximum": literal(said.maximum) if said.maximum is not None else None,
        "spelling": _spelling(said.spelling),
    }


def _given(parts: dict[str, Code | None]) -> Code:
    """The parts that there are, by their names."""
    return mapping({literal(name): part for name, part in parts.items() if part is not None})


def _map(map: Map) -> Code:
    """A map; a key that is held against a spelling has that around it."""
    spelling, key = _spelling(map.spelling), node(map.key)
    held = key if spelling is None else _node("spelled", key, spelling, literal(map.misspelled))
    return _node("map", held, node(map.value))


def _spelling(spelling: Spelling | None) -> Code | None:
    """The least and the greatest length, and the pattern."""
    return None if spelling is None else display((spelling.minimum, spelling.maximum, spelling.pattern))


def _packing(packing: Packing | None) -> Code | None:
    """The tag, the codec of each case, and the code of a tag that has none."""
    if packing is None:
        return None
    cases = Tuple(tuple(Tuple((display(values), literal(codec))) for values, codec in packing.cases))
    return Tuple((optional(packing.tag) or _NOTHING, cases, literal(packing.unknown)))


def _flag(flag: bool) -> str | None:  # noqa: FBT001 - a flag of the model, as a keyword of the output
    return "True" if flag else None


def _mappings(mappings: tuple[Mapping, ...] | None) -> Code | None:
    if mappings is None:
        return None
    return Tuple(tuple(Tuple((literal(entry.wire), source(entry.value))) for entry in mappings))


def _unsigned(bit: Bit) -> tuple[Mapping, ...] | None:
    """What the bits mean, which are numbers without a sign to the engine."""
    if bit.mappings is None:
        return None
    mask = (1 << bit.width) - 1
    return tuple(replace(each, wire=each.wire & mask) for each in bit.mappings if isinstance(each.wire, int))


def _bit(bit: Bit) -> Code:
    null = None if bit.meaning is None else bit.meaning.null
    title = None if bit.title == bit.name else bit.title
    return _node(
        bit.name,
        str(bit.low),
        str(bit.width),
        str(bit.signed),
        _mappings(_unsigned(bit)),
        literal(bit.code),
        str(bit.hidden),
        optional(bit.derive),
        *(() if null is None and title is None else (literal(null),)),
        *(() if title is None else (literal(title),)),
    )


def _covers(field: Field) -> Code | None:
    """What a checksum covers beside its range: whether behind it, the bytes of a number (0: bytes), and the value."""
    sum = field.checksum
    if sum is None or not (sum.ahead or sum.after):
        return None
    extras = [(behind, each) for behind, them in ((0, sum.ahead), (1, sum.after)) for each in them]
    parts = (Tuple((str(behind), str(each.octets or 0), source(each.value))) for behind, each in extras)
    return _node("are", Tuple(tuple(parts)))


def _stored(field: Field) -> Code | None:
    """What stands for the checksum."""
    stored = None if field.checksum is None else field.checksum.stored
    return None if stored is None else _node("is", source(stored))


def _checksum(field: Field) -> Code | None:
    sum = field.checksum
    if sum is None:
        return None
    hole = (literal(sum.at),) if sum.hole else ()
    return Tuple((literal(sum.algorithm), source(sum.start), source(sum.end), literal(sum.code), *hole))

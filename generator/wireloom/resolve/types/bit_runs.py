"""Fields of any number of bits. Neighbours that share bytes form a run, which ends at a byte boundary.

While the spec is checked, each of them is an ordinary field, and the last one of a run stands for all of its bytes.
Afterwards a run becomes one hidden integer with named bits.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from wireloom.expr.ast import Binary, Expression, FieldRef, Kind, Literal
from wireloom.model.traversal import NamedTypes, with_structs
from wireloom.model.types import Bit, Boolean, Check, Discard, Field, Integer, Mapping, NumberForm, Step, Struct
from wireloom.resolve.types.notations import Surroundings
from wireloom.spec.documents import Place
from wireloom.spec.language import ByteOrderByParameter, StructType
from wireloom.spec.language.combinations import OF_WHOLE_BYTES

_BYTE = 8
_REGISTER = 64
_LONGEST = 64  # bytes of a run


# --- checks ----------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Run:
    """The indexes of the fields in a run, and their number of bits."""

    bits: int = 0
    places: list[int] = field(default_factory=list)

    @property
    def open(self) -> bool:
        return self.bits % _BYTE > 0


def runs(around: Surroundings, place: Place, document: StructType, steps: Sequence[Step]) -> tuple[Step, ...]:
    """The steps of a struct; in each run of fields that share bytes, the last one has the run's size."""
    found, run = list(steps), _Run()
    for position, step in enumerate(steps):
        width = _width(step, within=run.open)
        if width is None:
            if run.open and not _has_no_bytes(step):
                _report_open(around, place, document, run, position)
                run = _Run()
            continue
        run.places.append(position)
        run.bits += width
        _check_keys(around, place / position, document, position, first=position == run.places[0])
        if not run.open:
            _check_run(around, place, document, run)
            for each in run.places:
                share = run.bits // _BYTE if each == run.places[-1] else 0
                found[each] = _shared(found[each], share, _order(document, run.places[0]))
            run = _Run()
    if run.open:
        _report_open(around, place, document, run, None)
    return tuple(found)


def _width(step: Step, *, within: bool) -> int | None:
    """The bits of a field that is not a whole number of bytes, or begins within a byte; None for other fields."""
    match step:
        case Field(type=Integer() as type, on_wire=True) if type.is_partial or (within and type.is_plain):
            return type.bits if type.bits <= _REGISTER else None
        case Field(type=Boolean(bit=True), on_wire=True):
            return 1
        case _:
            return None


def _has_no_bytes(step: Step) -> bool:
    """Whether a step has no bytes of its own."""
    return isinstance(step, Check | Discard) or (isinstance(step, Field) and not step.on_wire)


def _shared(step: Step, share: int, order: NumberForm) -> Step:
    match step:
        case Field(type=Integer() | Boolean() as type):
            return replace(step, type=replace(type, share=share, form=order))
        case _:
            return step


def _order(document: StructType, position: int) -> NumberForm:
    order = document.fields[position].full.byte_order or document.byte_order
    return NumberForm.OWN if order is None else NumberForm(order)


def _report_open(around: Surroundings, place: Place, document: StructType, run: _Run, position: int | None) -> None:
    first, last = (document.fields[each].key for each in (run.places[0], run.places[-1]))
    bits = "1 bit" if run.bits == 1 else f"{run.bits} bits"
    what = f"{first} is {bits}" if first == last else f"{first} to {last} are {bits}"
    before = "" if position is None else f", but {document.fields[position].key} begins with a byte"
    rest = -run.bits % _BYTE
    hint = f"add `- reserved: {{type: {'bit' if rest == 1 else f'uint{rest}'}, hidden: true}}` to fill the byte"
    where = place / run.places[-1] / last
    around.refuses(where, "split-byte", f"{what}, not a whole number of bytes{before}", hint)


def _check_keys(around: Surroundings, place: Place, document: StructType, position: int, *, first: bool) -> None:
    entry = document.fields[position]
    hint = "put the optional bits into a struct, and write it there"
    for key in (*OF_WHOLE_BYTES, *(() if first else ("at",))):
        if key in entry.full.given:
            message = f"`{key}` at a field that shares its bytes with others"
            around.refuses(place / entry.key / key, "wrong-shape", message, hint)


def _check_run(around: Surroundings, place: Place, document: StructType, run: _Run) -> None:
    first = place / run.places[0] / document.fields[run.places[0]].key
    order = _order(document, run.places[0])
    if any(_order(document, each) is not order for each in run.places):
        message = "fields that share bytes have different byte orders"
        hint = "give `byteOrder` to all of them, or to their struct"
        around.refuses(first, "wrong-shape", message, hint)
    if order is NumberForm.OWN and isinstance(around.scope.draft.content.byte_order, ByteOrderByParameter):
        message = "the position of these bits depends on the byte order, which is a parameter here"
        hint = "give their struct a `byteOrder`: big takes the highest bits first"
        around.refuses(first, "wrong-shape", message, hint)
    if run.bits > _LONGEST * _BYTE:
        message = f"{run.bits} bits in which no field ends with a byte"
        around.refuses(first, "wrong-shape", message, f"at most {_LONGEST} bytes")


# --- lowering --------------------------------------------------------------------------------------------------------


def with_runs(named: NamedTypes, order: str) -> NamedTypes:
    """The types, where each run of fields that share bytes is a hidden integer with named bits.

    `order` is the format's.
    """
    return with_structs(named, lambda struct: _lowered(struct, order))


def _lowered(struct: Struct, order: str) -> Struct:
    steps: list[Step] = []
    open: list[Field] = []
    within: list[Step] = []
    for step in struct.steps:
        if isinstance(step, Field) and isinstance(step.type, Integer | Boolean) and step.type.share is not None:
            open.append(step)
            within += _range(step)
            if step.type.share:
                steps += [_whole(open, step.type.share, order), *within]
                open, within = [], []
        else:
            (within if open else steps).append(step)
    return replace(struct, steps=tuple(steps))


def _whole(fields: Sequence[Field], size: int, order: str) -> Field:
    """The integer of a run; no expression can use its name."""
    first, last = fields[0], fields[-1]
    form = first.type.form if isinstance(first.type, Integer | Boolean) else NumberForm.OWN
    big = order == "big" if form is NumberForm.OWN else form is NumberForm.BIG
    low, bits = _BYTE * size if big else 0, []
    for each in fields:
        width = each.type.bits if isinstance(each.type, Integer) else 1
        low -= width if big else 0
        bits.append(_bit(each, low, width))
        low += 0 if big else width
    return Field(
        name=f"{first.wire_name} .. {last.wire_name}",
        wire_name=f"{first.wire_name} .. {last.wire_name}",
        type=Integer(_BYTE * size, size == _REGISTER // _BYTE, form),  # 64 bits are signed, as in registers
        at=first.at,
        bits=tuple(bits),
        shared=True,
        hidden=True,
    )


def _bit(field: Field, low: int, width: int) -> Bit:
    mappings, derive = field.mappings, field.derive
    if isinstance(field.const, int):
        derive = Literal(field.const)
        mappings = (Mapping(field.const, derive),)
    return Bit(
        name=field.wire_name,
        low=low,
        width=width,
        signed=isinstance(field.type, Integer) and field.type.signed,
        mappings=mappings,
        code=field.code or "unknown_value",
        derive=derive,
        hidden=field.hidden,
        doc=field.doc,
        unit=field.unit,
        meaning=field.meaning,
    )


def _range(field: Field) -> Iterator[Check]:
    """The range of a number as a check of its own."""
    value = FieldRef(0, field.wire_name, kind=Kind.INTEGER)
    ends: list[Expression] = []
    if field.minimum is not None:
        ends.append(Binary(">=", value, Literal(field.minimum)))
    if field.maximum is not None:
        ends.append(Binary("<=", value, Literal(field.maximum)))
    if ends:
        yield Check(ends[0] if len(ends) == 1 else Binary("and", *ends), field.code, field.wire_name)

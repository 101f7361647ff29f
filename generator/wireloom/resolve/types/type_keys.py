"""Keys of a field that change its type: counts and ends of lists, base64, protobuf's integer forms, packed regions."""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from wireloom.expr.ast import Expression, Kind, Literal, Position, references
from wireloom.model import types
from wireloom.model.traversal import parts
from wireloom.model.types import Array, Bytes, Integer, Jump, Last, NumberForm, Packing, Salvage, Terminator, Text, Type
from wireloom.problems import nearest
from wireloom.resolve.bind import constants
from wireloom.resolve.bind.expressions import BROKEN, expression
from wireloom.resolve.types.notations import UNKNOWN, Surroundings, amount_of, chosen_by, prefix_of, with_inner
from wireloom.resolve.types.value_limits import bounds_of
from wireloom.spec.documents import Place
from wireloom.spec.language import FieldDocument, StructType
from wireloom.spec.language import Jump as JumpDocument
from wireloom.spec.language import Salvage as SalvageDocument

_NOUNS = {Integer: "an integer", Bytes: "bytes", Array: "a list"}
GROUP = "group"  # the value of `wire` for messages; all others are for integers
_LONGEST_ENDING = 16  # bytes of a delimiter or a terminator
_Changed = TypeVar("_Changed", Integer, Bytes, Array)


def adorned(around: Surroundings, place: Place, document: FieldDocument, type: Type) -> Type:
    """The type with the changes that the field's keys make."""
    if type is UNKNOWN:
        return type
    if document.wire not in ("varint", GROUP):
        form = NumberForm(document.wire)
        _check_zigzag(around, place / "wire", form, type)
        type = _changed(around, place / "wire", type, Integer, lambda integer: replace(integer, form=form))
    if document.line_feeds:
        type = _changed(around, place / "lineFeeds", type, Bytes, lambda bytes: replace(bytes, line_feeds=True))
    if document.else_ is not None and _is_sized(type):
        code = document.else_
        type = _changed(around, place / "else", type, Bytes, lambda bytes: replace(bytes, code=code))
    return _adorned_list(around, place, document, type)


def _check_zigzag(around: Surroundings, place: Place, form: NumberForm, type: Type) -> None:
    """Report zigzag for an unsigned integer; it is a way to write negative numbers."""
    inner = type.element if isinstance(type, Array) else type
    if form is NumberForm.ZIGZAG and isinstance(inner, Integer) and not inner.signed:
        hint = "drop `wire`, or give the field int32 or int64"
        around.reports(place, "wrong-shape", "zigzag is only for signed integers", hint)


def _is_sized(type: Type) -> bool:
    plain = types.not_null(type)
    return isinstance(plain, Bytes) and plain.size is not None


def _adorned_list(around: Surroundings, place: Place, document: FieldDocument, type: Type) -> Type:
    if document.count is not None:
        count = amount_of(around, place / "count", document.count)
        type = _changed(around, place / "count", type, Array, lambda array: _counted(array, count))
    if document.terminator is not None:
        written = (place / "terminator").text
        data = constants.hexadecimal(written.removesuffix("?"))
        jump = None if document.jump is None else _jump(around, place / "jump", document.jump)
        behind = Literal(True) if written.endswith("?") else None  # noqa: FBT003 - a value
        if jump is not None and behind is not None:
            message = "a list with `jump` must have its terminator"
            around.reports(place / "terminator", "conflicting-keys", message, "drop the `?`, or `jump`")
        terminator = Terminator(data if isinstance(data, bytes) else b"", jump, behind)
        check_ending(around, place / "terminator", terminator.data)
        type = _changed(around, place / "terminator", type, Array, lambda array: replace(array, count=terminator))
    if document.last_when is not None:
        last = Last(_last(around, place / "lastWhen", document.last_when, type))
        type = _changed(around, place / "lastWhen", type, Array, lambda array: replace(array, count=last))
    if document.unique is not None:
        unique, code = document.unique, document.else_ or "duplicate_element"
        type = _changed(
            around, place / "unique", type, Array, lambda array: replace(array, unique=unique, unique_code=code)
        )
        if not isinstance(type, Array) or type.element is not UNKNOWN:
            _check_unique(around, place / "unique", unique)
    if document.salvage is not None:
        salvage = _salvage(around, place / "salvage", document.salvage)
        type = _changed(around, place / "salvage", type, Array, lambda array: replace(array, salvage=salvage))
    _check_packed(around, place, type)
    return type


def _check_packed(around: Surroundings, place: Place, type: Type) -> None:
    """Report lists of bit fields in blocks or with a terminator; their number must be known."""
    plain = types.not_null(type)
    if not isinstance(plain, Array) or not plain.packed:
        return
    hint = "give their number: `count: 16`, or the type of a number before them, `count: uint8`"
    if isinstance(plain.count, types.Blocks):
        around.reports(place / "count", "wrong-shape", "elements that share bytes cannot be in blocks", hint)
    elif isinstance(plain.count, Terminator):
        message = "elements that share bytes cannot have a terminator"
        around.reports(place / "terminator", "wrong-shape", message, hint)


def _counted(array: Array, count: types.Amount) -> Array:
    """The list with its count, unless it already has a prefix."""
    return array if isinstance(array.count, types.Prefix) else replace(array, count=count)


def check_ending(around: Surroundings, place: Place, data: bytes) -> None:
    """Report a delimiter or terminator that is not allowed."""
    if not 0 < len(data) <= _LONGEST_ENDING:
        message = f"{place.text or 'nothing'} is not 1 to {_LONGEST_ENDING} bytes in hexadecimal"
        around.reports(place, "bad-const", message, "write 00, 0d0a ...")


def _jump(around: Surroundings, place: Place, document: JumpDocument) -> Jump | None:
    """The pointers in place of elements, which lead to where the list continues."""
    found = prefix_of(around, document.type)
    if found is None or found.number.signed or found.number.width is None:
        message = f"{document.type} is not an unsigned integer of fixed width"
        around.reports(place / "type", "wrong-shape", message, "write uint8, uint16 ... uint64")
        return None
    low, high = bounds_of(around, place / "range", document.range, found.number)
    number = found.number
    low, high = number.minimum if low is None else low, number.maximum if high is None else high
    start = low if document.start is None else document.start
    if low <= high and not low <= start <= high:
        around.reports(place / "start", "bad-range", f"{start} is not one of the pointers", f"they are {low} to {high}")
    return Jump(number, low, high, start, document.most)


def _last(around: Surroundings, place: Place, written: object, type: Type) -> Expression:
    """The condition that marks the last element of a list."""
    forms = around.scope.draft.content.types
    match type:
        case Array(element=types.Reference(name)) if isinstance(forms.get(name), StructType):
            return expression(around.scope.within((name,)), place, written, Kind.BOOLEAN)
        case Array():
            message = "`lastWhen` needs a list of structs"
            around.refuses(place, "wrong-shape", message, "make it a list of structs")
        case _:
            pass
    return BROKEN


def _changed(
    around: Surroundings, place: Place, type: Type, wanted: type[_Changed], change: Callable[[_Changed], Type]
) -> Type:
    changed = with_inner(type, wanted, change)
    if changed is not None:
        return changed
    key = place.path[-1]
    message = f"`{key}` is only for {_NOUNS[wanted]}"
    around.refuses(place, "wrong-shape", message, f"drop `{key}`")
    return type


def _check_unique(around: Surroundings, place: Place, name: str) -> None:
    scope = around.scope
    member = scope.outlines.types[scope.type].members.get(_field_name(place))
    known = [scope.outlines.types[struct].members for struct in (member.elements if member else ())]
    if member is not None and (member.broken or member.kind is not Kind.LIST):
        return  # reported at its type
    if not known or any(name not in members for members in known):
        candidates = [each for members in known for each in members]
        around.reports(place, "unknown-field", f"the elements have no field {name}", nearest(name, candidates))


def _field_name(place: Place) -> str:
    """The field's name in `types.T.fields[i].NAME.key`."""
    return str(place.path[-2])


def _salvage(around: Surroundings, place: Place, document: SalvageDocument) -> Salvage:
    when = expression(around.scope, place / "when", document.when, Kind.BOOLEAN)
    require_counted(around, place / "lost", document.lost)
    return Salvage(tuple(document.codes), when, document.lost)


def require_counted(around: Surroundings, place: Place, name: str) -> None:
    """Report a name that is not a `counted` field of the struct."""
    members = around.scope.outlines.types[around.scope.type].members
    counted = [member.name for member in members.values() if member.counted]
    if name not in counted and not around.scope.is_open:
        hint = nearest(name, counted) or f"declare it: `- {name}: {{type: int64, counted: true}}`"
        around.reports(place, "unknown-field", f"there is no counted field {name}", hint)


def packing_of(around: Surroundings, place: Place, document: FieldDocument, type: Type) -> Packing | None:
    """How a field's region is packed."""
    if document.unpack is None:
        return None
    if _depends_on_position(type):
        message = "`here` and `size` would be those of other bytes"
        around.reports(place, "wrong-shape", message, "put the type into a struct of its own")
    code = document.else_ or ""
    if isinstance(document.unpack, str):
        return Packing((((), document.unpack),), code=code)
    tag, cases = chosen_by(around, place, document.unpack.select, document.unpack.cases)
    return Packing(cases, tag, code, document.unpack.else_ or "unknown_case")


def _depends_on_position(type: Type) -> bool:
    """Whether a size or count in the type, outside of structs, uses `here` or `size`."""
    amount = type.count if isinstance(type, Array) else type.size if isinstance(type, Text | Bytes) else None
    expression = types.stated(amount)
    looks = expression is not None and any(isinstance(part, Position) for part in references(expression))
    return looks or any(_depends_on_position(part) for part in parts(type))
